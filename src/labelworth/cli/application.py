"""How commands become an application: options from the table, one of four exit codes with the reason, plain help."""

import copy
import inspect
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperArgument, TyperCommand, TyperGroup, TyperOption

from labelworth.cli.console import standard_streams, tell
from labelworth.cli.options.table import COMMON, flags, in_options, options_of, with_options
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


_EXAMPLES = "Examples\n--------\n"


def _without_type(parameter: Any) -> Any:
    """Show a parameter by its name alone: flags and arguments need no type behind it, and no braces around it."""
    if parameter is not None:
        parameter.display_type_rich = lambda ctx: ""
    if isinstance(parameter, TyperArgument):
        shown = str(parameter.metavar) if parameter.required else f"[{parameter.metavar}]"
        parameter._usage_display_name = lambda: shown  # type: ignore[method-assign]  # Typer has no door for it.
    return parameter


class _Group(TyperGroup):
    def get_help_option(self, ctx: Any) -> Any:
        return _without_type(super().get_help_option(ctx))


class _Command(TyperCommand):
    """A command whose help explains the common options and names the others, which `--help-all` explains too."""

    def get_help_option(self, ctx: Any) -> Any:
        return _without_type(super().get_help_option(ctx))

    def get_params(self, ctx: Any) -> Any:
        return [
            _without_type(parameter) if parameter.param_type_name == "argument" else parameter
            for parameter in super().get_params(ctx)
        ]

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Refuse two files where one is read: the first would be left out without a word."""
        _, _, given = self.make_parser(ctx).parse_args(args=list(args))
        for option in dict.fromkeys(given):
            is_file = isinstance(option, TyperOption) and option.metavar == "FILE" and not option.multiple
            if is_file and given.count(option) > 1:
                ctx.fail(
                    f"{option.opts[0]} takes one value, and was given {given.count(option)} times. Give it once."
                )
        return list(super().parse_args(ctx, args))

    def format_help(self, ctx: Any, formatter: Any) -> None:
        others: dict[str, list[str]] = {}
        for parameter in () if _ALL_EXPLAINED in ctx.meta else self.params:
            panel = getattr(parameter, "rich_help_panel", None) or COMMON
            if parameter.param_type_name == "option" and panel != COMMON:
                others.setdefault(panel, []).append(parameter.opts[0])
        named = {name for names in others.values() for name in names}
        shown = copy.copy(self)
        shown.params = [parameter for parameter in self.params if parameter.opts[0] not in named]
        shown.epilog = None
        TyperCommand.format_help(shown, ctx, formatter)
        _show_more(others, (self.epilog or "").splitlines())


def _show_more(others: Mapping[str, Sequence[str]], examples: Sequence[str]) -> None:
    """Options that are named only, by heading, and lines to type."""
    from rich.console import Console
    from rich.panel import Panel
    from rich.table import Table

    console = Console(highlight=False)
    if others:
        table = Table.grid(padding=(0, 2))
        for panel, names in others.items():
            table.add_row(panel, "  ".join(names))
        title = "More options, which --help-all explains"
        console.print(Panel(table, title=title, title_align="left", border_style="dim"))
    if examples:
        console.print("\n Examples:")
        for line in examples:
            console.print(f"   {line}", markup=False, soft_wrap=True)


_ALL_EXPLAINED = "labelworth.help_all"


def _explain_all(ctx: typer.Context, asked: bool) -> None:
    if asked:
        ctx.meta[_ALL_EXPLAINED] = True
        ctx.get_help()  # Which shows it.
        raise typer.Exit


_HELP_ALL = inspect.Parameter(
    "help_all",
    inspect.Parameter.KEYWORD_ONLY,
    default=False,
    annotation=Annotated[
        bool,
        typer.Option(
            "--help-all", metavar="", is_eager=True, callback=_explain_all, help="Explain every option, and exit."
        ),
    ],
)


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
    """Add a command; `settings` are those of Typer.

    Its docstring is its help, and what stands there under "Examples" is shown at the end.
    """
    text, _, examples = (inspect.getdoc(command) or "").partition(_EXAMPLES)
    paragraphs = [" ".join(paragraph.split()) for paragraph in text.strip().split("\n\n")]
    run = guarded(with_options(command))
    if any(option.heading != COMMON for option in options_of(command)):
        signature = inspect.signature(run)
        run.__dict__["__signature__"] = signature.replace(parameters=[*signature.parameters.values(), _HELP_ALL])
    app.command(name, cls=_Command, help="\n\n".join(paragraphs), epilog=examples, **settings)(run)


def guarded(command: Callable[..., None]) -> Callable[..., None]:
    """Turn the errors raised on purpose into a line on stderr and an exit code; any other keeps its traceback."""

    @wraps(command)
    def guarded_command(*arguments: Any, **options: Any) -> None:
        options.pop(_HELP_ALL.name, None)
        try:
            with standard_streams(options, flags(command)):
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
