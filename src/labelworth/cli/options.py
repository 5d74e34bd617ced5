"""Options that several commands share, spelled once."""

from pathlib import Path
from typing import Annotated

import typer

Json = Annotated[bool, typer.Option("--json", help="Print one JSON record on stdout instead of words and tables.")]
Seed = Annotated[int, typer.Option(min=0, max=2**32 - 1, help="Seed of everything left to chance.")]
Output = Annotated[Path | None, typer.Option("--output", "-o", help="Write here instead of stdout.")]
