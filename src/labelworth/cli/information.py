"""`labelworth information SPEC`: the theory with given parameters, for anyone to check."""

from pathlib import Path
from typing import Annotated

import typer

from labelworth.cli.application import INFEASIBLE
from labelworth.cli.console import answer, working
from labelworth.cli.options import Json
from labelworth.cli.options.table import Between


def information(
    spec: Annotated[
        Path, typer.Argument(metavar="SPEC", help="A JSON file with the model's parameters; - for standard input.")
    ],
    matrices: Annotated[bool, typer.Option("--matrices", help="Add the information matrices to the record.")] = False,
    seed: Annotated[
        int | None, typer.Option(help="Seed of the sampling, instead of the one in SPEC."), Between(0, 2**32 - 1)
    ] = None,
    as_json: Json = False,
) -> None:
    """Say what labeled and unlabeled samples of a model with given parameters are worth.

    Examples
    --------
    labelworth information model.json
    labelworth information - --json < model.json
    """
    from labelworth.report.information_spec import read_spec, spec_table
    from labelworth.report.tables import show_table

    specification = read_spec(spec)
    with working() as progress:
        record, table = specification.record(matrices=matrices, seed=seed, progress=progress)
    answer(record, lambda console: show_table(console, spec_table(table)), as_json=as_json)
    if not table.is_identifiable:
        raise typer.Exit(INFEASIBLE)
