"""The command line of the laboratory: `labelworth-studies reproduce` and `labelworth-studies bench`.

`labelworth reproduce` and `labelworth bench` are doors to the same commands.
"""

import typer

from labelworth.cli.guard import guarded
from labelworth_studies.commands.bench import bench
from labelworth_studies.commands.reproduce import reproduce

app = typer.Typer(
    name="labelworth-studies",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
    help="The studies that earn labelworth's claims, and its benchmarks.",
)
for _command in (reproduce, bench):
    app.command()(guarded(_command))
