"""Who hears what: answers go to stdout, everything else to stderr."""

import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from labelworth.errors import InvalidInputError, LabelworthWarning, OutputError

if TYPE_CHECKING:
    from rich.console import Console

    from labelworth.report.progress_bar import ProgressBar
    from labelworth.report.record import Record


STANDARD = Path("-")
"""Standard input where a file is read, standard output where one is written."""
_WRITTEN = ("output", "report", "sheet", "recovered", "converted")
_IS_TAKEN: ContextVar[bool] = ContextVar("a file goes to standard output", default=False)


@contextmanager
def standard_streams(options: Mapping[str, Any], flag_of: Mapping[str, str]) -> Iterator[None]:
    """While a command runs with these options: what it tells goes to stderr where a file goes to standard output.

    Raises
    ------
    InvalidInputError
        If a stream is wanted twice.
    """
    named = [name for name, value in options.items() if value == STANDARD]
    written = [name for name in named if name in _WRITTEN]
    read = [name for name in named if name not in _WRITTEN]
    if len(read) > 1:
        raise InvalidInputError(f"Standard input can be read once, and - stands for {len(read)} files. Name others.")
    if len(written) > 1 or (written and options.get("as_json")):
        asked = " and ".join([*(f"{flag_of.get(name, name)} -" for name in written), "--json"][:2])
        raise InvalidInputError(f"Standard output takes one thing, and {asked} are two. Name a file for one.")
    token = _IS_TAKEN.set(bool(written))
    try:
        yield
    finally:
        _IS_TAKEN.reset(token)


def name_of(output: Path) -> str:
    """What to call a file that was written."""
    return "standard output" if output == STANDARD else str(output)


def wrote(*paths: Path | None) -> None:
    """Say on stderr which files were written."""
    tell(f"Wrote {' and '.join(name_of(path) for path in paths if path is not None)}")


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

            show(Console(highlight=False, stderr=_IS_TAKEN.get()))
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
