"""`labelworth frontier DATA`: what can be had for what."""

from typing import TYPE_CHECKING

from labelworth.cli import options
from labelworth.cli import planning_options as own
from labelworth.cli.console import answer, working
from labelworth.cli.guard import resumable
from labelworth.cli.options import Covariance, RareWords
from labelworth.cli.planning_data import Data
from labelworth.cli.planning_options import FigureSource, Unlabeled

if TYPE_CHECKING:
    from rich.console import Console

    from labelworth.planning.frontier import PlanFrontier


def frontier(
    data: options.Data,
    criterion: own.Criterion = None,
    source: own.Figures = FigureSource.AUTO,
    rules: own.Rules = None,
    pool: own.Pool = None,
    use_unlabeled: own.UseUnlabeled = Unlabeled.AUTO,
    checkpoint: own.Checkpoint = None,
    price_label: own.PerLabel = 1.0,
    price_token: own.PerToken = 0.0,
    price_sequence: own.PerSequence = 0.0,
    price_unlabeled: own.PerUnlabeled = 0.0,
    price_fixed: own.Fixed = 0.0,
    seconds_column: own.SecondsColumn = None,
    price_hour: own.PerHour = own.PRICE_HOUR,
    model: options.Model = None,
    classes: options.Classes = None,
    text_column: options.TextColumn = "text",
    label_column: options.LabelColumn = "label",
    labels: options.Labels = None,
    unlabeled: options.Unlabeled = None,
    format: options.Format = None,
    encoding: options.Encoding = "utf-8",
    min_documents: options.MinDocuments = 1,
    max_words: options.MaxWords = None,
    smoothing: own.Smoothing = 1.0,
    document_length: options.DocumentLength = None,
    binarize: options.Binarize = 0.0,
    covariance: options.CovarianceShape = Covariance.SHARED,
    template: options.Template = None,
    min_count: options.MinCount = 1,
    rare_words: options.RareWordsBecome = RareWords.ENTRY,
    c2: options.SquaredPenalty = 1.0,
    label_smoothing: options.LabelSmoothing = 1.0,
    seed: options.Seed = 0,
    as_json: options.Json = False,
) -> None:
    """Show the undominated ways to go on: what every amount of money buys, and by what."""
    given = locals()
    known = {name: given[name] for name in Data.__dataclass_fields__ if name in given}
    asked = Data(path=data, **known)
    from labelworth.planning.frontier import frontier as look
    from labelworth.report.record import Record, Stopwatch

    watch = Stopwatch()
    with resumable(checkpoint), working() as progress:
        with watch.timing("read"):
            arguments = asked.arguments(seed)
        with watch.timing("frontier"):
            found = look(**arguments, checkpoint=checkpoint, progress=progress)
    record = Record("frontier", asked.to_dict(), found.to_dict(), seed, asked.digest(), watch.durations)
    answer(record, lambda console: _show(console, found), as_json=as_json)


def _show(console: "Console", found: "PlanFrontier") -> None:
    from rich.text import Text

    from labelworth.report.tables import show_table
    from labelworth.report.values import Table

    for line in found.lines():
        console.print(Text(line))
    console.print()
    rows = tuple((point.cost, point.labels, point.error, point.name) for point in found.boundary)
    note = f"{found.held.n_labels:,} labels are held and counted in; costs are those still to be paid."
    columns = ("more cost", "more labels", found.criterion_words, "design")
    show_table(console, Table("Frontier", columns, rows, note))
