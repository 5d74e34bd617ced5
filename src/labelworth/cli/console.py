"""Who hears what: answers go to stdout, everything else to stderr."""

import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TextIO

from labelworth.errors import LabelworthWarning, OutputError

if TYPE_CHECKING:
    from rich.console import Console

    from labelworth.report.progress_bar import ProgressBar
    from labelworth.report.record import Record


def tell(message: str) -> None:
    """Say one line or paragraph on stderr."""
    sys.stderr.write(message + "\n")
    sys.stderr.flush()


@contextmanager
def working() -> "Iterator[ProgressBar]":
    """Show progress on stderr while the block runs, and turn our warnings into plain lines there."""
    from rich.console import Console

    from labelworth.kernels.machine.compilation import telling_of_compilation
    from labelworth.report.progress_bar import ProgressBar

    bar = ProgressBar(Console(stderr=True, highlight=False))
    with bar, telling_of_compilation(bar.say), warnings.catch_warnings():
        usual = warnings.showwarning

        def show(
            message: Warning | str,
            category: type[Warning],
            filename: str,
            lineno: int,
            file: TextIO | None = None,
            line: str | None = None,
        ) -> None:
            if issubclass(category, LabelworthWarning):
                bar.say(f"Warning: {message}")
            else:
                usual(message, category, filename, lineno, file, line)

        warnings.showwarning = show
        yield bar


def answer(record: "Record", show: "Callable[[Console], None]", *, as_json: bool) -> None:
    """Give the result: exactly one JSON record, or words and tables."""
    try:
        if as_json:
            write_json(record.to_json())
        else:
            from rich.console import Console

            show(Console(highlight=False))
            sys.stdout.flush()
    except BrokenPipeError:
        # Whoever reads has seen enough, as `head` has.
        raise
    except OSError as error:
        raise OutputError(f"Cannot write to standard output: {error.strerror or error}.") from error


def write_json(text: str) -> None:
    r"""Write JSON to stdout: in UTF-8, whatever the locale says; half a character as JSON writes it (``\ud800``)."""
    sys.stdout.flush()
    sys.stdout.buffer.write(text.encode(errors="backslashreplace"))
    sys.stdout.buffer.flush()
