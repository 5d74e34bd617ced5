"""Options that stand alone in several commands."""

from typing import Annotated

import typer

from labelworth.cli.options.table import Between, Option

Json = Annotated[bool, typer.Option("--json", help="Print one JSON record instead of words and tables.")]
Seed = Annotated[int, typer.Option(help="Seed of everything left to chance."), Between(0, 2**32 - 1)]
SEED = Option("seed", Seed, 0)
"""To read a seed back from a record."""
