"""Who hears what: answers go to stdout, everything else to stderr."""

import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TextIO

from labelworth.errors import LabelworthWarning

if TYPE_CHECKING:
    from rich.console import Console

    from labelworth.report.progress_bar import ProgressBar
    from labelworth.report.record import Record


def tell(message: str) -> None:
    """Say one line or paragraph on stderr."""
    sys.stderr.write(message + "\n")
    sys.stderr.flush()


def stdout_console() -> "Console":
    """Where tables are shown to people."""
    from rich.console import Console

    return Console(highlight=False)


@contextmanager
def working() -> "Iterator[ProgressBar]":
    """Show progress on stderr while the block runs, and turn our warnings into plain lines there."""
    from rich.console import Console

    from labelworth.kernels.compilation import telling_of_compilation
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
    if as_json:
        sys.stdout.write(record.to_json())
        sys.stdout.flush()
    else:
        show(stdout_console())
