"""The options of commands, each declared once: groups, and those that stand alone in several commands."""

from typing import Annotated

import typer

from labelworth.cli.options.answers import AnsweredFitOptions as AnsweredFitOptions
from labelworth.cli.options.answers import AnswerFileOptions as AnswerFileOptions
from labelworth.cli.options.choosing import ChoosingOptions as ChoosingOptions
from labelworth.cli.options.data import OF_EXPORTS as OF_EXPORTS
from labelworth.cli.options.data import DataOptions as DataOptions
from labelworth.cli.options.engine import EngineOptions as EngineOptions
from labelworth.cli.options.model import ModelOptions as ModelOptions
from labelworth.cli.options.planning import Checkpoint as Checkpoint
from labelworth.cli.options.planning import PlanOptions as PlanOptions
from labelworth.cli.options.planning import PriceOptions as PriceOptions
from labelworth.cli.options.planning import Question as Question
from labelworth.cli.options.table import Between as Between
from labelworth.cli.options.table import Only as Only
from labelworth.cli.options.table import Option
from labelworth.cli.options.table import Without as Without

Json = Annotated[bool, typer.Option("--json", help="Print one JSON record instead of words and tables.")]
Seed = Annotated[int, typer.Option(help="Seed of everything left to chance."), Between(0, 2**32 - 1)]
SEED = Option("seed", Seed, 0)
"""To read a seed back from a record."""
