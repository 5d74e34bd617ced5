"""Every command ends with one of four codes, and says why on stderr."""

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from typing import Any

import typer

from labelworth.cli.console import tell
from labelworth.cli.options.table import flags
from labelworth.errors import (
    InfeasiblePlanError,
    LabelworthError,
    MoreSamplesNeededError,
    NotIdentifiableError,
)

DONE = 0
INFEASIBLE = 1
BAD_INPUT = 2
INTERRUPTED = 130

_CANNOT_BE_DONE = (NotIdentifiableError, InfeasiblePlanError, MoreSamplesNeededError)


def in_options(message: str, flag_of: Mapping[str, str]) -> str:
    """Say a message of the library in the words of the command line.

    A keyword is rewritten where it stands as an argument (``labels=``) or begins the message (``budget must be``),
    if the command has an option for it; what is quoted stays as it is.

    Parameters
    ----------
    flag_of : mapping
        Option by keyword; see `labelworth.cli.options.table.flags`.

    Examples
    --------
    >>> flag_of = {"label_column": "--label-column", "unlabeled": "--unlabeled", "per_label": "--price-label"}
    >>> in_options("Use label_column='unlabeled=3', or unlabeled=None; see labels= and unlabeled=.", flag_of)
    "Use --label-column 'unlabeled=3', or --unlabeled none; see labels= and --unlabeled."
    >>> in_options("per_label must be a non-negative number. Got -1.0 instead.", flag_of)
    '--price-label must be a non-negative number. Got -1.0 instead.'
    """
    if not flag_of:
        return message
    names = "|".join(map(re.escape, flag_of))
    parts = rf"(?<!\w)'[^']*'(?!\w)|\b(?P<argument>{names})=(?P<none>None\b)?|^(?P<subject>{names})(?= must\b)"

    def option(match: re.Match[str]) -> str:
        if match["subject"]:
            return flag_of[match["subject"]]
        if not match["argument"]:
            return match[0]
        flag = flag_of[match["argument"]]
        if match["none"]:
            return f"{flag} none"
        return f"{flag} " if message[match.end() :][:1].strip(" .,;:)") else flag

    return re.sub(parts, option, message)


def guarded(command: Callable[..., None]) -> Callable[..., None]:
    """Turn the errors raised on purpose into a line on stderr and an exit code; any other keeps its traceback."""

    @wraps(command)
    def guarded_command(*arguments: Any, **options: Any) -> None:
        try:
            command(*arguments, **options)
        except LabelworthError as error:
            tell(f"Error: {in_options(str(error), flags(command))}")
            raise typer.Exit(INFEASIBLE if isinstance(error, _CANNOT_BE_DONE) else BAD_INPUT) from None
        except KeyboardInterrupt as interrupt:
            tell(str(interrupt) or "Stopped. Nothing was written.")
            raise typer.Exit(INTERRUPTED) from None

    return guarded_command


@contextmanager
def resumable(checkpoint: Path | None) -> Iterator[None]:
    """Say, after Ctrl-C, how many finished steps were kept, or how to keep them."""
    try:
        yield
    except KeyboardInterrupt:
        said = "Nothing was written. With --checkpoint FOLDER the same command goes on where it was stopped."
        if checkpoint is not None:
            said = "No step was finished yet; the same command begins again."
        n_kept = 0 if checkpoint is None else sum(1 for _ in checkpoint.glob("*.json"))
        if n_kept:
            steps = "1 finished step is" if n_kept == 1 else f"{n_kept:,} finished steps are"
            said = f"{steps} kept in {checkpoint}; the same command goes on from there."
        raise KeyboardInterrupt(f"Stopped. {said}") from None
