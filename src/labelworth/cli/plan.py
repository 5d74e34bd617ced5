"""`labelworth plan DATA --budget | --target | --alpha`: how many more labels, of which kind, for what."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from labelworth.cli.application import INFEASIBLE, resumable
from labelworth.cli.console import answer, tell, working, wrote
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
    Question,
    Seed,
    Without,
)
from labelworth.cli.options.table import flags, in_options

if TYPE_CHECKING:
    from rich.console import Console

    from labelworth.planning.answer import Plan
    from labelworth.report.values import Table

_N_ROWS = 6
_N_MODELS = 4


def plan(
    *,
    question: Question,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="The plan file to write, - for standard output.")
    ] = None,
    report: Annotated[Path | None, typer.Option(help="A page to write that shows the plan.")] = None,
    again: Annotated[
        Path | None,
        typer.Option(metavar="PLAN", help="A plan file, instead of DATA: ask the same of the data as it is now."),
    ] = None,
    data: DataOptions | None,
    model: Annotated[ModelOptions, Without("unlabeled_weight")],
    plan: PlanOptions,
    held: AnswerFileOptions,
    checkpoint: Checkpoint = None,
    prices: PriceOptions,
    walkers: EngineOptions,
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Say how many more samples to label, of which kind, and what accuracy that buys.

    Examples
    --------
    labelworth plan mails.csv --budget 500 -o plan.json
    labelworth plan mails.csv --target 'error <= 5%' --report plan.html
    labelworth plan --again plan.json
    """
    from labelworth.errors import InvalidInputError

    if again is not None:
        others = replace(model, model=None) if model.is_imported else model
        if (
            data is not None
            or seed
            or any(group != type(group)() for group in (question, others, plan, prices, held))
        ):
            raise InvalidInputError(
                "--again takes everything from the plan file; leave DATA, the question and other options out."
            )
        inquiry, question = Inquiry.read_again(again, model.model)
    elif data is None:
        raise InvalidInputError("Name the file to plan from, or a plan file with --again.")
    else:
        inquiry = Inquiry(data, model, prices, plan, seed, held)
    question.require_valid()
    with resumable(checkpoint), walkers.at_work():
        _answer(inquiry, question, output=output, report=report, checkpoint=checkpoint, as_json=as_json)


def _answer(
    inquiry: Inquiry,
    question: Question,
    *,
    output: Path | None,
    report: Path | None,
    checkpoint: Path | None,
    as_json: bool,
) -> None:
    from labelworth.data.files import require_writable
    from labelworth.errors import InfeasiblePlanError, InvalidInputError
    from labelworth.planning.plan import plan as make_plan
    from labelworth.report.record import Record, Stopwatch

    paths = [path for path in (output, report) if path is not None]
    for path in paths:
        require_writable(path, (*inquiry.data.files, *inquiry.model.files, inquiry.plan.kinds, inquiry.held.answers))
    if output is not None and report is not None and output.resolve() == report.resolve():
        raise InvalidInputError(
            f"The plan file and the page cannot both be {str(output)!r}: name another file for one."
        )
    watch = Stopwatch()
    with working() as progress:
        with watch.timing("read"):
            arguments, notes = inquiry.arguments(progress.say)
        with watch.timing("plan"):
            try:
                plan = make_plan(**arguments, **question.asked(), checkpoint=checkpoint, progress=progress)
            except InfeasiblePlanError as refused:
                if refused.plan is None:
                    raise
                plan = refused.plan
    # What was said of the data is on stderr already; who reads the record or the page has not seen that.
    complete = replace(plan, notes=(*notes, *plan.notes))
    figures = complete.to_dict()
    del figures["seed"]
    record = Record(
        "plan", {**inquiry.asked(), **question.asked()}, figures, inquiry.seed, inquiry.data.digest(), watch.durations
    )
    if output is not None:
        record.write(output)
    if report is not None:
        from labelworth.report.page import write_page

        write_page(complete, report, record.provenance())
    if plan.refusal is not None:
        _refuse(plan.refusal)
    answer(record, lambda console: _show(console, plan, inquiry.data), as_json=as_json)
    if paths:
        wrote(*paths)
    if plan.refusal is not None:
        raise typer.Exit(INFEASIBLE)


def _refuse(why: str) -> None:
    """On stderr, as all that is refused; the best that can be had follows on stdout."""
    tell(f"Error: {in_options(why, flags(plan))}")


def _show(console: "Console", advice: "Plan", data: DataOptions) -> None:
    from labelworth.report.tables import kinds_table, models_table, show_lines, show_table

    flag_of = flags(plan)
    # A refusal was told already.
    told = advice.lines()[0 if advice.refusal is None else 1 :]
    headline, *others = (in_options(line, flag_of) for line in told)
    notes = (f"Note: {in_options(note, flag_of)}" for note in advice.notes)
    show_lines(console, [*others, *notes], headline)
    console.print()
    bought = kinds_table(advice)
    if bought is not None and advice.advice == "label":
        show_table(console, bought)
    show_table(console, _table(advice))
    compared = models_table(advice)
    if compared is not None:
        show_table(console, _best_of(compared))
        show_lines(console, [_how_to_fit(advice.models.settings, data)] if advice.models else [])


def _best_of(compared: "Table") -> "Table":
    """The chosen model, the best others and those that are forecast; the page and the record have all."""
    is_forecast = compared.columns[-1].startswith("forecast")
    rows = [
        row for place, row in enumerate(compared.rows) if place < _N_MODELS or (is_forecast and row[-1] is not None)
    ]
    left = len(compared.rows) - len(rows)
    more = f" {left} more are in --report and --json." if left else ""
    return replace(compared, rows=tuple(rows), note=f"{compared.note}{more}")


def _how_to_fit(settings: Mapping[str, Any], data: DataOptions) -> str:
    """What to type for a classifier of the kind that was chosen."""
    from labelworth.estimators.automatic import FEWEST_DOCUMENTS
    from labelworth.estimators.others.named_classifiers import NAMED

    if settings["model"] in NAMED:
        return f"To fit this model, in Python: labelworth.AnyClassifier({settings['model']!r}).fit(X, y)"
    # Rare words were left out where models were compared; of shards the words were settled when they were made.
    if settings["model"] == "multinomial" and not data.is_sharded:
        data = replace(data, min_documents=max(data.min_documents, FEWEST_DOCUMENTS))
    words = ["labelworth", "fit", *data.typed(), *ModelOptions.of_settings(settings).typed(), "-o", "model.lw"]
    return f"To fit this model: {' '.join(words)}"


def _table(plan: "Plan") -> "Table":
    """What other amounts of money would buy."""
    from labelworth.planning.kinds import words as kind_words
    from labelworth.planning.units import flat_beyond, in_units
    from labelworth.report.values import Amount, Table

    design = plan.recommended
    recommended = (design.cost_in_all, design.labels, design.error)
    budgets = [solution for solution in plan.solutions.budgets if solution.counts is not None]
    # Budgets that buy the same are one row.
    bought = {(own.cost_in_all, own.labels, own.error): own.counts for own in budgets}
    others = [row for row in bought if row != recommended]
    step = max(1, -(-len(others) // _N_ROWS))
    chosen = dict.fromkeys([*others[::step], *others[-1:]])
    # Where a larger pilot comes first, the forecast's best is not what is recommended.
    mark = "best forecast" if plan.advice == "larger pilot" else "recommended"
    rows = sorted([*((*row, "") for row in chosen), (*recommended, mark)], key=lambda row: row[0] or 0.0)
    note = f"{plan.held.n_labels:,} labels are held; {plan.held.n_pool:,} {plan.held.samples} have none."
    if plan.source == "simulated" and len({solution.counts for solution in budgets[-2:]}) == 1:
        far = budgets[-1]
        is_less = far.error is not None and far.error < design.error
        labels = far.labels if is_less and far.labels is not None else design.labels
        note += f" {flat_beyond(plan.source, plan.held.n_labels + labels, plan.question.criterion)}."
    bought[recommended] = tuple(arm.count for arm in design.arms)
    if plan.menu:
        mixes = tuple(
            (
                Amount(row[0], plan.currency),
                kind_words.mix(plan, bought[row[:3]] or ()),
                in_units(row[2], plan.question.criterion),
                row[3],
            )
            for row in rows
        )
        return Table("What money buys", ("cost in all", "what to buy", plan.criterion_words, ""), mixes, note=note)
    shown = tuple(
        (Amount(cost, plan.currency), round(labels or 0.0), in_units(error, plan.question.criterion), mark)
        for cost, labels, error, mark in rows
    )
    return Table("What money buys", ("cost in all", "labels to buy", plan.criterion_words, ""), shown, note=note)
