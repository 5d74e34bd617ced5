"""The command line: `labelworth COMMAND`. Command modules import what computes only when they run."""

import sys
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

app = application("labelworth")


def _version(asked: bool) -> None:
    if asked:
        import labelworth

        typer.echo(f"labelworth {labelworth.__version__}")
        raise typer.Exit


@app.callback()
def labelworth_command(
    version: Annotated[
        bool, typer.Option("--version", metavar="", callback=_version, is_eager=True, help="Show it.")
    ] = False,
) -> None:
    """How many examples to label, what accuracy that buys, and whether unlabeled data helps."""


for _command in (demo, shard, fit, predict, check, information, frontier, plan):
    add_command(app, _command)
add_command(app, next_batch, "next")
add_command(app, merge)
add_command(app, studio)
app.add_typer(campaigns.app)
add_command(app, convert)
add_command(app, doctor)
add_command(app, completion)
# Options of a door, and its help, are those of the command behind it.
for _door in (reproduce, bench, data):
    add_command(
        app,
        _door,
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
