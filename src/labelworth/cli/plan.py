"""`labelworth plan DATA --budget | --target | --alpha`: how many more labels, of which kind, for what."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from labelworth.cli import options
from labelworth.cli import planning_options as own
from labelworth.cli.console import answer, tell, working
from labelworth.cli.guard import in_options, resumable
from labelworth.cli.options import Covariance, RareWords
from labelworth.cli.planning_data import Data
from labelworth.cli.planning_options import FigureSource, Unlabeled

if TYPE_CHECKING:
    from rich.console import Console

    from labelworth.planning.answer import Plan
    from labelworth.report.record import Record
    from labelworth.report.values import Table

_ASKED = ("budget", "target", "alpha")
_N_ROWS = 6


def plan(
    data: Annotated[Path | None, typer.Argument(help="As for the other commands; not needed with --again.")] = None,
    budget: Annotated[
        float | None, typer.Option(help="The least error for this much money, labels held included.")
    ] = None,
    target: Annotated[float | None, typer.Option(help="The least cost for this error.")] = None,
    alpha: Annotated[float | None, typer.Option(help="The least cost + alpha x error.")] = None,
    again: Annotated[Path | None, typer.Option(help="A plan file: ask the same of the data as it is now.")] = None,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Where to write the plan file.")] = None,
    report: Annotated[Path | None, typer.Option(help="Where to write a page that shows the plan.")] = None,
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
    """Say how many more samples to label, of which kind, and what accuracy that buys."""
    from labelworth.errors import InvalidInputError

    question: dict[str, Any] = {"budget": budget, "target": target, "alpha": alpha}
    if again is not None:
        if data is not None or any(value is not None for value in question.values()):
            raise InvalidInputError("--again takes everything from the plan file; leave DATA and the question out.")
        asked, question, seed = _read_again(again)
    else:
        asked = _data(locals())
    with resumable(checkpoint):
        _run(asked, question, seed=seed, output=output, report=report, checkpoint=checkpoint, as_json=as_json)


def _data(given: dict[str, Any]) -> Data:
    """The options of a command as what a plan is made from."""
    from labelworth.errors import InvalidInputError

    if given["data"] is None:
        raise InvalidInputError("Name the file to plan from, or a plan file with --again.")
    known = {name: given[name] for name in Data.__dataclass_fields__ if name in given}
    return Data(path=given["data"], **known)


def _read_again(path: Path) -> tuple[Data, dict[str, Any], int]:
    from labelworth.errors import InvalidInputError
    from labelworth.report.record import Record

    record = Record.read(path)
    if record.command != "plan":
        raise InvalidInputError(f"{str(path)!r} is the record of {record.command!r}, not of a plan.")
    data = Data.from_record(dict(record.asked))
    if data.digest() != record.data_digest:
        tell(f"{data.path} has changed since that plan: this one is for the data as it is now.")
    return data, {name: record.asked.get(name) for name in _ASKED}, int(record.seed or 0)


def _run(
    data: Data,
    question: dict[str, Any],
    *,
    seed: int,
    output: Path | None,
    report: Path | None,
    checkpoint: Path | None,
    as_json: bool,
) -> None:
    from labelworth.data.files import require_writable
    from labelworth.planning.plan import plan as make_plan
    from labelworth.report.record import Record, Stopwatch
    from labelworth.tradeoff.problem import Question

    Question.of(**question)
    for path in (output, report):
        if path is not None:
            require_writable(path)
    watch = Stopwatch()
    with working() as progress:
        with watch.timing("read"):
            arguments = data.arguments(seed)
        with watch.timing("plan"):
            found = make_plan(**arguments, **question, checkpoint=checkpoint, progress=progress)
    figures = found.to_dict()
    del figures["seed"]
    record = Record("plan", {**data.to_dict(), **question}, figures, seed, data.digest(), watch.durations)
    if output is not None:
        record.write(output)
    if report is not None:
        _write_page(found, report, record)
    answer(record, lambda console: _show(console, found), as_json=as_json)
    for path in (output, report):
        if path is not None:
            tell(f"Wrote {path}")


def _write_page(found: "Plan", path: Path, record: "Record") -> None:
    from labelworth.report.page import write_page

    document = record.document()
    names = ("command", "asked", "seed", "versions", "data_digest", "durations", "schema_version")
    write_page(found, path, {name: document[name] for name in names})


def _show(console: "Console", found: "Plan") -> None:
    from rich.text import Text

    from labelworth.report.tables import show_table

    first, *others = found.lines()
    console.print(Text(in_options(first), style="bold"))
    for line in (*others, *(f"Note: {note}" for note in found.notes)):
        console.print(Text(in_options(line)))
    console.print()
    show_table(console, _table(found))


def _table(found: "Plan") -> "Table":
    """What other amounts of money would buy."""
    from labelworth.planning.words import number
    from labelworth.report.values import Table

    design = found.recommended
    recommended = (design.cost_in_all, design.labels, design.error)
    budgets = [one for one in found.solutions.budgets if one.counts is not None]
    # Budgets that buy the same are one row.
    bought = dict.fromkeys((one.cost_in_all, one.labels, one.error) for one in budgets)
    others = [row for row in bought if row != recommended]
    step = max(1, -(-len(others) // _N_ROWS))
    chosen = dict.fromkeys([*others[::step], *others[-1:]])
    rows = sorted([*((*row, "") for row in chosen), (*recommended, "recommended")], key=lambda row: row[0] or 0.0)
    note = f"{found.held.n_labels:,} labels are held; {found.held.n_pool:,} {found.held.kind} have none."
    if found.source == "simulated" and len({one.counts for one in budgets[-2:]}) == 1:
        note += f" Beyond {number(budgets[-1].cost_in_all)} more money buys nothing, by this forecast."
    return Table(
        "What money buys", ("cost in all", "labels to buy", found.criterion_words, ""), tuple(rows), note=note
    )
