"""`labelworth frontier DATA`: what can be had for what."""

from typing import TYPE_CHECKING, Annotated

from labelworth.cli.application import resumable
from labelworth.cli.console import answer, working
from labelworth.cli.inquiry import Inquiry
from labelworth.cli.options import (
    AnswerFileOptions,
    Checkpoint,
    DataOptions,
    EngineOptions,
    Json,
    ModelOptions,
    PlanOptions,
    PriceOptions,
    Seed,
    Without,
)

if TYPE_CHECKING:
    from rich.console import Console

    from labelworth.planning.frontier import PlanFrontier


def frontier(
    *,
    data: DataOptions,
    model: Annotated[ModelOptions, Without("unlabeled_weight")],
    plan: Annotated[PlanOptions, Without("by")],
    held: AnswerFileOptions,
    checkpoint: Checkpoint = None,
    prices: PriceOptions,
    walkers: EngineOptions,
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Show the undominated ways to go on: what every amount of money buys, and by what.

    Examples
    --------
    labelworth frontier mails.csv --price-label 0.25 --currency EUR
    """
    from labelworth.planning.frontier import frontier as make_frontier
    from labelworth.report.record import Record, Stopwatch

    inquiry = Inquiry(data, model, prices, plan, seed, held)
    watch = Stopwatch()
    with resumable(checkpoint), walkers.at_work(), working() as progress:
        with watch.timing("read"):
            arguments, notes = inquiry.arguments(progress.say)
        with watch.timing("frontier"):
            plan_frontier = make_frontier(**arguments, checkpoint=checkpoint, progress=progress)
    figures = {**plan_frontier.to_dict(), "notes": notes}
    record = Record("frontier", inquiry.asked(), figures, seed, data.digest(), watch.durations)
    answer(record, lambda console: _show(console, plan_frontier), as_json=as_json)


def _show(console: "Console", frontier: "PlanFrontier") -> None:
    from labelworth.planning.units import in_units
    from labelworth.report.tables import show_lines, show_table
    from labelworth.report.values import Amount, Table

    show_lines(console, frontier.lines())
    console.print()
    rows = tuple(
        (
            Amount(point.cost, frontier.currency),
            point.labels,
            in_units(point.error, frontier.criterion),
            point.name,
        )
        for point in frontier.boundary
    )
    note = f"{frontier.held.n_labels:,} labels are held and counted in; costs are those still to be paid."
    columns = ("more cost", "more labels", frontier.criterion_words, "design")
    show_table(console, Table("Frontier", columns, rows, note))
