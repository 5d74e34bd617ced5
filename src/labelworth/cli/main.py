"""The command line: `labelworth COMMAND`. Command modules import what computes only when they run."""

import sys
from collections.abc import Callable
from io import TextIOWrapper
from typing import Annotated

import typer

from labelworth.cli.application import INTERRUPTED, add_command, application
from labelworth.cli.batches.merge import merge
from labelworth.cli.batches.next import next_batch
from labelworth.cli.campaigns import commands as campaigns
from labelworth.cli.check import check
from labelworth.cli.completion import answer_the_shell, completion
from labelworth.cli.console import tell
from labelworth.cli.convert import convert
from labelworth.cli.demo import demo
from labelworth.cli.doctor import doctor
from labelworth.cli.fit import fit
from labelworth.cli.frontier import frontier
from labelworth.cli.information import information
from labelworth.cli.laboratory import bench, data, reproduce
from labelworth.cli.plan import plan
from labelworth.cli.predict import predict
from labelworth.cli.shard import shard
from labelworth.cli.studio import studio

app = application("labelworth", epilog="Begin with: labelworth demo, then labelworth plan mails.csv --budget 500")


def _version(asked: bool) -> None:
    if asked:
        import labelworth

        typer.echo(f"labelworth {labelworth.__version__}")
        raise typer.Exit


@app.callback()
def labelworth_command(
    version: Annotated[
        bool, typer.Option("--version", metavar="", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """How many examples to label, what accuracy that buys, and whether unlabeled data helps."""


_COMMANDS: dict[str, tuple[Callable[..., None], ...]] = {
    "Labels": (demo, plan, next_batch, merge, check, frontier),
    "Models": (fit, predict, information),
    "People": (studio,),
    "Files": (convert, shard),
    "This machine": (doctor, completion),
}
"""By the heading under which help shows them."""
for _heading, _commands in _COMMANDS.items():
    for _command in _commands:
        add_command(app, _command, "next" if _command is next_batch else None, rich_help_panel=_heading)
app.add_typer(campaigns.app, rich_help_panel="People")
# Options of a door, and its help, are those of the command behind it.
for _door in (reproduce, bench, data):
    add_command(
        app,
        _door,
        rich_help_panel="Laboratory",
        context_settings={"allow_extra_args": True, "ignore_unknown_options": True},
        add_help_option=False,
    )


def run() -> None:
    """Run the command line; the entry point of the `labelworth` script."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            # A label that the locale has no letters for is shown with question marks, not with a traceback.
            stream.reconfigure(errors="replace")
    answer_the_shell()
    try:
        app()
    except KeyboardInterrupt:
        tell("Stopped. Nothing was written.")
        sys.exit(INTERRUPTED)
