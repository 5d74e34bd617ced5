"""`labelworth campaign status`, `plan` and `export`: how far it is, what is worth asking for, and what comes out."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from labelworth.cli.application import resumable
from labelworth.cli.campaigns.opening import Where, opened, tell_result
from labelworth.cli.console import name_of, tell, working
from labelworth.cli.options import Checkpoint, Json, Only, PlanOptions, Question, Seed
from labelworth.cli.options.table import Keywords

if TYPE_CHECKING:
    from rich.console import Console

    from labelworth.campaign.values import PlanJob, Status


def status(*, campaign: Where, as_json: Json = False) -> None:
    """Say how far a campaign is: progress, people, money, and forecasts against what came true.

    Examples
    --------
    labelworth campaign status mails.db
    """
    with opened(campaign) as own:
        own.count()
        now, plans = own.status(), own.plans(limit=5)
    figures = {**_plain_status(now), "plans": [_plain_plan(job) for job in plans]}
    tell_result("status", campaign, {}, figures, lambda console: _show(console, now, plans), as_json=as_json)


def plan(
    *,
    campaign: Where,
    question: Question,
    model: Annotated[
        str | None, typer.Option(metavar="NAME", help="By name; chosen by cross-validation unless given.")
    ] = None,
    options: Annotated[
        PlanOptions, Only("criterion", "source", "rules", "pool", "use_unlabeled", "max_time", "kind", "by")
    ],
    realise: Annotated[
        int | None,
        typer.Option(metavar="NUMBER", help="Instead: measure what came true of this plan with the labels of now."),
    ] = None,
    checkpoint: Checkpoint = None,
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Say how many more labels to ask for, and what accuracy that buys; kept beside what comes true of it.

    Examples
    --------
    labelworth campaign plan mails.db --budget 10
    """
    from labelworth.errors import InvalidInputError
    from labelworth.report.tables import show_lines

    asked: dict[str, Any] = {**question.asked(), "model": model, **options.asked(), "seed": seed}
    if realise is not None:
        if any(value is not None for value in question.asked().values()):
            raise InvalidInputError("--realise measures a plan that was made; leave the question out.")
        with opened(campaign) as own:
            measured = own.realise(realise)
            job = own.plan_job(realise)
        if measured is None:
            raise InvalidInputError(f"What came true of plan {realise} is not told by labels, or by too few of them.")
    else:
        question.require_valid()
        given = {name: value for name, value in asked.items() if value is not None and name not in ("kind", "kinds")}
        if options.kind:
            given["kinds"] = options.kind
        if options.rules is not None:
            given["rules"] = options.rules.split(",")
        with opened(campaign) as own, working() as progress, resumable(checkpoint):
            job = own.plan(**given, checkpoint=checkpoint, progress=progress)
    figures = _plain_plan(job)
    lines = [*job.lines[1:], *_came_true(job)]
    if job.advice == "label":
        lines.append(f"To ask for it: labelworth campaign assign CAMPAIGN --plan {job.id}")
    tell_result(
        "plan",
        campaign,
        {**asked, "realise": realise},
        figures,
        lambda console: show_lines(console, lines, f"Plan {job.id}: {job.lines[0]}"),
        as_json=as_json,
    )


def export(
    *,
    campaign: Where,
    output: Annotated[
        Path,
        typer.Option(
            "--output",
            "-o",
            help="The file to write: .jsonl, .csv, .tsv; tags also .conll. With -, JSON lines on standard output.",
        ),
    ],
    what: Annotated[
        Literal["labels", "answers", "requests"],
        typer.Option(help="The data with labels, every answer that stands, or who was asked what and why."),
    ] = "labels",
    to: Annotated[
        str | None,
        typer.Option(metavar="FORMAT", help="As a tool reads it: label-studio, prodigy, ..."),
        Keywords("format"),
    ] = None,
    accept_losses: Annotated[
        bool, typer.Option("--accept-losses", help="Write what the tool's format can hold where that is not all.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Write what a campaign holds to a file.

    Examples
    --------
    labelworth campaign export mails.db -o labeled.csv
    labelworth campaign export mails.db -o - --what answers
    """
    from labelworth.report.tables import show_lines
    from labelworth.wording import count

    with opened(campaign) as own:
        written = own.export(output, what, format=to, accept_losses=accept_losses)
    for loss in written.losses:
        tell(f"Lost: {loss}.")
    asked = {"output": output, "what": what, "format": to, "accept_losses": accept_losses}
    line = f"{count(written.n_rows, 'row')} written to {name_of(output)}."
    figures = {"n_rows": written.n_rows, "losses": [str(loss) for loss in written.losses]}
    tell_result("export", campaign, asked, figures, lambda console: show_lines(console, [line]), as_json=as_json)


def _plain_status(now: "Status") -> dict[str, Any]:
    figures = asdict(now)
    for person, own in zip(figures["people"], now.people, strict=True):
        person["gold_agreement"], person["others_agreement"] = own.gold_agreement, own.others_agreement
    return figures


def _plain_plan(job: "PlanJob") -> dict[str, Any]:
    figures = asdict(job)
    figures["question"] = figures.pop("asked")  # which a record has for what was typed
    return {**figures, "lines": list(job.lines)}


def _show(console: "Console", now: "Status", plans: "list[PlanJob]") -> None:
    from labelworth.report.tables import show_lines, show_table
    from labelworth.report.values import Amount, Table
    from labelworth.wording import money, percent

    currency = now.settings.currency
    headline = f"{now.given:,} of {now.wanted:,} answers are given; {money(now.spent, currency)} spent."
    lines = [
        f"{now.n_items:,} items, {now.n_labeled:,} with a gold label; {now.held:,} tasks are being worked on, "
        f"{now.due:,} answers are due."
    ]
    for job in plans[:1]:
        lines += [f"Plan {job.id} ({job.state}): {job.lines[0] if job.lines else job.error or job.doing}"]
        lines += _came_true(job)
    show_lines(console, lines, headline)
    rows = tuple(
        (
            one.person.name,
            one.person.channel,
            one.n_answers,
            "" if one.gold_agreement is None else f"{percent(one.gold_agreement)} of {one.gold_compared:,}",
            "" if one.others_agreement is None else f"{percent(one.others_agreement)} of {one.others_compared:,}",
            "" if one.seconds is None else f"{one.seconds:.1f} s",
            Amount(one.spent, currency),
        )
        for one in now.people
    )
    if rows:
        console.print()
        heads = ("name", "kind", "answers", "as gold", "as others", "each", "spent")
        show_table(console, Table("People", heads, rows))


def _came_true(job: "PlanJob") -> list[str]:
    """The last time it was measured."""
    from labelworth.planning.units import in_units

    if not job.realised or job.record is None:
        return []
    last, criterion = job.realised[-1], job.record["question"]["criterion"]
    told = f"Came true with {last.labels:,.0f} labels: {in_units(last.error, criterion)}"
    if last.forecast is None or last.low is None or last.high is None:
        return [f"{told}; the plan said nothing of so many."]
    inside = "inside" if last.low <= last.error <= last.high else "outside"
    return [
        f"{told}; forecast was {in_units(last.forecast, criterion)} ({in_units(last.low, criterion)} to "
        f"{in_units(last.high, criterion)}), {inside} its interval."
    ]
