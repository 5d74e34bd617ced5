"""`labelworth campaign new`, `add` and `people`: what is labeled, and by whom."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from labelworth.cli.campaigns.opening import Where, door, opened, tell_result
from labelworth.cli.console import tell
from labelworth.cli.options import OF_EXPORTS, Between, DataOptions, Json, Only

if TYPE_CHECKING:
    from rich.console import Console


def new(
    *,
    campaign: Where,
    name: Annotated[
        str | None, typer.Option(help="What people see it called; the name of the file unless given.")
    ] = None,
    classes: Annotated[str, typer.Option(metavar="NAMES", help="All classes, as 'ham,spam'; of sequences the tags.")],
    kind: Annotated[Literal["documents", "sequences"], typer.Option(help="What is labeled.")] = "documents",
    votes: Annotated[int, typer.Option(help="How many different annotators answer each question."), Between(1)] = 1,
    lease_minutes: Annotated[
        float, typer.Option(help="How long somebody may take for a task before others get it."), Between(0.01)
    ] = 30.0,
    currency: Annotated[str, typer.Option(metavar="UNIT", help="What prices are in, as EUR.")] = "",
    as_json: Json = False,
) -> None:
    """Begin a campaign, in a new file or an empty database.

    Examples
    --------
    labelworth campaign new mails.db --classes ham,spam --votes 2 --currency EUR
    """
    from labelworth.report.tables import show_lines

    named = [one.strip() for one in classes.split(",")]
    called = name or (campaign.rpartition("/")[2].partition("?")[0] if "://" in campaign else Path(campaign).stem)
    begun = door().create(
        campaign,
        name=called,
        classes=named,
        kind=kind,
        votes=votes,
        lease_minutes=lease_minutes,
        currency=currency,
    )
    begun.close()
    line = f"The campaign {called!r} has begun. Add what is to be labeled: labelworth campaign add CAMPAIGN DATA"
    figures = {"settings": asdict(begun.settings)}
    tell_result("new", campaign, {}, figures, lambda console: show_lines(console, [line]), as_json=as_json)


def add(
    *,
    campaign: Where,
    data: Annotated[DataOptions, Only("path", "text_column", "label_column", "format", "encoding", *OF_EXPORTS)],
    id_column: Annotated[str, typer.Option(metavar="NAME", help="The column of ids, which are kept.")] = "id",
    kind: Annotated[
        str,
        typer.Option(metavar="NAME", help="Where several people judged items of an export: which kind they are."),
    ] = "crowd",
    as_json: Json = False,
) -> None:
    """Add what is to be labeled; the same again changes nothing, and labels that come along are gold.

    Examples
    --------
    labelworth campaign add mails.db mails.csv
    """
    from labelworth.report.tables import show_lines
    from labelworth.wording import count

    with opened(campaign) as own:
        added = own.add(
            data.path,
            id_column=id_column,
            text_column=data.text_column,
            label_column=data.label_column,
            format=data.format,
            encoding=data.encoding,
            question=data.question,
            empty_means=data.empty_means,
            approved=data.approved,
            tokenizer=data.tokenizer,
            channel=kind,
        )
    for note in added.notes:
        tell(note)
    known = f"; {added.n_known:,} were there already" if added.n_known else ""
    answers = f" and {count(added.n_answers, 'answer')}" if added.n_answers else ""
    line = f"{count(added.n_new, 'item')} added, with {count(added.n_gold, 'label')}{answers}{known}."
    asked = {**data.asked(), "id_column": id_column, "kind": kind}
    tell_result("add", campaign, asked, asdict(added), lambda console: show_lines(console, [line]), as_json=as_json)


def people(
    *,
    campaign: Where,
    invite: Annotated[
        str | None, typer.Option(metavar="NAME", help="Let somebody in; their token is shown once.")
    ] = None,
    role: Annotated[Literal["annotator", "manager"], typer.Option(help="Of whom is invited.")] = "annotator",
    kind: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="Which kind of labels they give: gold, taken as the truth, or another name such as crowd.",
        ),
    ] = "gold",
    price: Annotated[float, typer.Option(help="Of a label of theirs."), Between(0)] = 0.0,
    withdraw: Annotated[
        str | None, typer.Option(metavar="NAME", help="Let somebody in no more; what they said stays.")
    ] = None,
    renew: Annotated[
        str | None, typer.Option(metavar="NAME", help="Give somebody a new token; the old one opens nothing.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Show who takes part, or invite somebody, withdraw them, or give them a new token.

    Examples
    --------
    labelworth campaign people mails.db --invite ann --price 0.10
    labelworth campaign people mails.db
    """
    from labelworth.errors import InvalidInputError
    from labelworth.report.tables import show_lines, show_table
    from labelworth.report.values import Amount, Table

    if sum(one is not None for one in (invite, withdraw, renew)) > 1:
        raise InvalidInputError("One at a time: --invite, --withdraw or --renew.")
    with opened(campaign) as own:
        invitation = None
        if invite is not None:
            invitation = own.invite(invite, role=role, channel=kind, price=price)
        elif renew is not None:
            invitation = own.renew_token(renew)
        elif withdraw is not None:
            own.withdraw(withdraw)
        everybody, currency = own.people(), own.settings.currency
    lines = []
    if invitation is not None:
        lines.append(f"The token of {invitation.person.name}, shown this once: {invitation.token}")
    rows = tuple(
        (one.name, one.role, one.channel, Amount(one.price, currency), "withdrawn" if one.is_withdrawn else "")
        for one in everybody
    )
    table = Table("People", ("name", "role", "kind of label", "price of a label", ""), rows)
    figures = {
        "people": [asdict(one) for one in everybody],
        **({} if invitation is None else {"token": invitation.token}),
    }

    def show(console: "Console") -> None:
        show_lines(console, lines)
        show_table(console, table)

    asked = {"invite": invite, "withdraw": withdraw, "renew": renew}
    tell_result("people", campaign, asked, figures, show, as_json=as_json)
