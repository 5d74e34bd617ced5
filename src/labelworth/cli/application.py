"""How commands become an application: options from the table, exit codes from the guard, plain help."""

from collections.abc import Callable
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from labelworth.cli.guard import guarded
from labelworth.cli.options.table import with_options


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
