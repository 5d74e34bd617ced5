"""Every command ends with one of four codes, and says why on stderr."""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from typing import ParamSpec, TypeVar

import typer

from labelworth.cli.console import tell
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

Arguments = ParamSpec("Arguments")
Returned = TypeVar("Returned")

_CANNOT_BE_DONE = (NotIdentifiableError, InfeasiblePlanError, MoreSamplesNeededError)

# A message names the Python keyword; on the command line it is an option.
_KEYWORDS = (
    "alpha", "binarize", "c2", "classes", "document_length", "encoding", "format", "label_column",
    "label_smoothing", "labels", "min_count", "rare_words", "seed", "template", "text_column", "unlabeled",
    "unlabeled_weight", "budget", "criterion", "pool", "rules", "seconds_column", "source", "target",
    "use_unlabeled",
)  # fmt: skip
# What readers call otherwise.
_OTHERWISE = {
    "max_features": "max_words",
    "min_df": "min_documents",
    "tags_column": "label_column",
    "tokens_column": "text_column",
    "word_column": "text_column",
}
# Prices have another name in Python, and need no sign of equality to be told from other words.
_PRICE = re.compile(r"\b(?:per_(label|token|sequence|unlabeled)|(fixed)(?= must be))\b")
_KEYWORD = re.compile(rf"\b({'|'.join((*_KEYWORDS, *_OTHERWISE))})=(None\b)?")


def in_options(message: str) -> str:
    """Say a message in the words of the command line.

    >>> in_options("Use label_column='topic', or unlabeled=None; see labels=.")
    "Use --label-column 'topic', or --unlabeled none; see --labels."
    >>> in_options("per_label must be a non-negative number. Got -1.0 instead.")
    '--price-label must be a non-negative number. Got -1.0 instead.'
    """

    def option(found: re.Match[str]) -> str:
        name = f"--{_OTHERWISE.get(found[1], found[1]).replace('_', '-')}"
        if found[2]:
            return f"{name} none"
        return f"{name} " if message[found.end() :][:1].strip(" .,;:)") else name

    return _PRICE.sub(lambda found: f"--price-{found[1] or found[2]}", _KEYWORD.sub(option, message))


def guarded(command: Callable[Arguments, Returned]) -> Callable[Arguments, Returned]:
    """Turn the errors raised on purpose into a line on stderr and an exit code; any other keeps its traceback."""

    @wraps(command)
    def guarded_command(*arguments: Arguments.args, **options: Arguments.kwargs) -> Returned:
        try:
            return command(*arguments, **options)
        except LabelworthError as error:
            tell(f"Error: {in_options(str(error))}")
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
