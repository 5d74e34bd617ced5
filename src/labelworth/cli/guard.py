"""Every command ends with one of four codes, and says why on stderr."""

from collections.abc import Callable
from functools import wraps
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


def guarded(command: Callable[Arguments, Returned]) -> Callable[Arguments, Returned]:
    """Turn the errors raised on purpose into a line on stderr and an exit code; any other keeps its traceback."""

    @wraps(command)
    def guarded_command(*arguments: Arguments.args, **options: Arguments.kwargs) -> Returned:
        try:
            return command(*arguments, **options)
        except LabelworthError as error:
            tell(f"Error: {error}")
            raise typer.Exit(INFEASIBLE if isinstance(error, _CANNOT_BE_DONE) else BAD_INPUT) from None
        except KeyboardInterrupt as interrupt:
            tell(str(interrupt) or "Stopped. Nothing was written.")
            raise typer.Exit(INTERRUPTED) from None

    return guarded_command
