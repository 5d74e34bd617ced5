"""How commands become an application: options from the table, one of four exit codes with the reason, plain help."""

from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from labelworth.cli.console import tell
from labelworth.cli.options.table import flags, in_options, with_options
from labelworth.errors import (
    InfeasiblePlanError,
    LabelworthError,
    MoreSamplesNeededError,
    NotIdentifiableError,
)

INFEASIBLE = 1
BAD_INPUT = 2
INTERRUPTED = 130

_CANNOT_BE_DONE = (NotIdentifiableError, InfeasiblePlanError, MoreSamplesNeededError)


def _without_type(parameter: Any) -> Any:
    """Show a parameter by its name alone: flags and arguments need no type behind it."""
    if parameter is not None:
        parameter.display_type_rich = lambda ctx: ""
    return parameter


class _Group(TyperGroup):
    def get_help_option(self, ctx: Any) -> Any:
        return _without_type(super().get_help_option(ctx))


class _Command(TyperCommand):
    def get_help_option(self, ctx: Any) -> Any:
        return _without_type(super().get_help_option(ctx))

    def get_params(self, ctx: Any) -> Any:
        return [
            _without_type(parameter) if parameter.param_type_name == "argument" else parameter
            for parameter in super().get_params(ctx)
        ]


def application(name: str, **settings: Any) -> typer.Typer:
    """An application without commands; `settings` are those of Typer."""
    return typer.Typer(
        name=name,
        cls=_Group,
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        rich_markup_mode="rich",
        context_settings={"help_option_names": ["-h", "--help"]},
        **settings,
    )


def add_command(app: typer.Typer, command: Callable[..., None], name: str | None = None, **settings: Any) -> None:
    """Add a command; `settings` are those of Typer."""
    app.command(name, cls=_Command, **settings)(guarded(with_options(command)))


def guarded(command: Callable[..., None]) -> Callable[..., None]:
    """Turn the errors raised on purpose into a line on stderr and an exit code; any other keeps its traceback."""

    @wraps(command)
    def guarded_command(*arguments: Any, **options: Any) -> None:
        try:
            command(*arguments, **options)
        except LabelworthError as error:
            tell(f"Error: {in_options(str(error), flags(command))}")
            raise typer.Exit(INFEASIBLE if isinstance(error, _CANNOT_BE_DONE) else BAD_INPUT) from None
        except MemoryError as error:
            tell(_out_of_memory(error, {*flags(command).values()}))
            raise typer.Exit(INFEASIBLE) from None
        except KeyboardInterrupt as interrupt:
            tell(str(interrupt) or "Stopped. Nothing was written.")
            raise typer.Exit(INTERRUPTED) from None

    return guarded_command


def _out_of_memory(error: MemoryError, known: Collection[str]) -> str:
    """What was asked of the memory, as far as it is known, and what to do with the options of the command."""
    asked = f" ({error})" if str(error) else ""
    fewer = " or ".join(flag for flag in ("--max-words", "--min-documents") if flag in known)
    cure = f"keep fewer words with {fewer}, " if fewer else ""
    return (
        f"Error: The memory of this machine is not enough for this{asked}. Try a part of the "
        f"data, {cure}or use a machine with more memory."
    )


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
