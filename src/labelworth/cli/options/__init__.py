"""The options of commands, each declared once."""

from labelworth.cli.options.data import DataOptions as DataOptions
from labelworth.cli.options.model import ModelOptions as ModelOptions
from labelworth.cli.options.planning import Checkpoint as Checkpoint
from labelworth.cli.options.planning import PlanOptions as PlanOptions
from labelworth.cli.options.planning import PriceOptions as PriceOptions
from labelworth.cli.options.planning import Question as Question
from labelworth.cli.options.shared import Json as Json
from labelworth.cli.options.shared import Seed as Seed
from labelworth.cli.options.table import Only as Only
from labelworth.cli.options.table import Without as Without
