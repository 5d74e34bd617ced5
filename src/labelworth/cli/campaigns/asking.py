"""`labelworth campaign assign` and `answer`: what is asked next, and what people say."""

import sys
import time
import uuid
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from labelworth.cli.campaigns.opening import Where, opened, tell_result
from labelworth.cli.console import tell
from labelworth.cli.options import Json
from labelworth.cli.options.choosing import CHOOSING
from labelworth.cli.options.table import Between

if TYPE_CHECKING:
    from labelworth.campaign.campaign import Campaign
    from labelworth.campaign.values import Person, Task

_CANNOT_SAY, _UNDO, _QUIT = "?", "undo", "quit"


def assign(
    *,
    campaign: Where,
    count: Annotated[int | None, typer.Option(help="How many items to ask about."), Between(1)] = None,
    plan: Annotated[int | None, typer.Option(metavar="NUMBER", help="Ask for what this plan recommends.")] = None,
    by: Annotated[Literal["random", "uncertainty", "worth"], CHOOSING] = "random",
    votes: Annotated[
        int | None, typer.Option(help="How many different annotators answer; as in `new` unless given."), Between(1)
    ] = None,
    kind: Annotated[str, typer.Option(metavar="NAME", help="Which kind of annotators is asked.")] = "gold",
    question: Annotated[
        str | None, typer.Option(metavar="CLASSES", help="Ask yes or no: is it one of these? As 'spam,news'.")
    ] = None,
    policy: Annotated[
        str | None,
        typer.Option(metavar="POLICY", help="Of sequences, which tokens: as '0.5*window:5 + 0.5*everything'."),
    ] = None,
    audit: Annotated[
        bool, typer.Option("--audit", help="Ask about items with a gold label: shows how often people are right.")
    ] = False,
    model: Annotated[str | None, typer.Option(metavar="NAME", help="By which items are chosen.")] = None,
    why: Annotated[str | None, typer.Option(metavar="WORDS", help="Kept with the requests.")] = None,
    seed: Annotated[int | None, typer.Option(help="Of the draw; the batch's number unless given.")] = None,
    as_json: Json = False,
) -> None:
    """Ask for answers about items that nobody was asked about yet.

    Examples
    --------
    labelworth campaign assign mails.db --count 20
    labelworth campaign assign mails.db --plan 1
    """
    from labelworth.report.tables import show_lines
    from labelworth.wording import count as amount
    from labelworth.wording import money

    asked: dict[str, Any] = {"count": count, "plan": plan, "by": by, "votes": votes, "policy": policy, "audit": audit}
    asked |= {"model": model, "why": why, "seed": seed}
    about = () if question is None else tuple(one.strip() for one in question.split(","))
    with opened(campaign) as own:
        assigned = own.assign(**asked, channel=kind, question=about)
        currency = own.settings.currency
    for note in assigned.notes:
        tell(note)
    labels, items = amount(assigned.n_labels, "label"), amount(assigned.n_items, "item")
    line = f"Batch {assigned.batch}: {labels} asked for, of {items}, about {money(assigned.cost, currency)}."
    asked |= {"kind": kind, "question": list(about)}
    tell_result(
        "assign", campaign, asked, asdict(assigned), lambda console: show_lines(console, [line]), as_json=as_json
    )


def answer(
    *,
    campaign: Where,
    annotator: Annotated[str, typer.Argument(metavar="NAME", help="Who answers.")],
    count: Annotated[int | None, typer.Option(help="Stop after so many answers."), Between(1)] = None,
    as_json: Json = False,
) -> None:
    """Answer on the terminal, or from lines on standard input: a class, or several with | between, yes or no.

    Of sequences a tag per token asked, with blanks between. "?" says that one cannot say, "undo" takes the last
    answer back, "quit" or the end of the input stops. Every answer is kept when the next question is asked.

    Examples
    --------
    labelworth campaign answer mails.db ann
    """
    from labelworth.report.tables import show_lines
    from labelworth.wording import count as amount

    with opened(campaign) as own:
        person = own.person(annotator)
        n_kept = _answer_all(own, person, count)
        due = own.status().due
    line = f"{amount(n_kept, 'answer')} kept; {due:,} are due."
    figures = {"n_kept": n_kept, "due": due}
    asked = {"annotator": annotator, "count": count}
    tell_result("answer", campaign, asked, figures, lambda console: show_lines(console, [line]), as_json=as_json)


def _answer_all(campaign: "Campaign", person: "Person", most: int | None) -> int:
    from labelworth.errors import InvalidInputError, NotWantedError

    n_kept, task = 0, None
    try:
        while most is None or n_kept < most:
            task = task or next(iter(campaign.lease(person)), None)
            if task is None:
                break
            began = time.monotonic()
            _show(task, campaign.settings.classes)
            line = sys.stdin.readline()
            word = line.strip()
            if not line or word.casefold() == _QUIT:
                break
            try:
                if word.casefold() == _UNDO:
                    task = campaign.undo(person, key=uuid.uuid4().hex).task
                    n_kept -= 1
                    continue
                said = _said(word, task, campaign.settings.classes)
                seconds = round(time.monotonic() - began, 3)
                campaign.answer(person, task.request.id, said, key=uuid.uuid4().hex, seconds=seconds)
                n_kept, task = n_kept + 1, None
            except (InvalidInputError, NotWantedError) as error:
                tell(str(error))
    finally:
        campaign.release(person)
    return n_kept


def _show(task: "Task", classes: tuple[str, ...]) -> None:
    if task.request.positions is None:
        tell(f"\n{task.item.text}")
    else:
        asked = set(task.request.positions)
        words = [f"[{word}]" if index in asked else word for index, word in enumerate(task.item.tokens or ())]
        tell("\n" + " ".join(words))
    choices = "yes, no" if task.request.question else ", ".join(classes)
    tell(f"{task.request.words} ({choices}; {_CANNOT_SAY} cannot say, {_UNDO}, {_QUIT})")


def _said(word: str, task: "Task", classes: tuple[str, ...]) -> Any:
    words = [word] if task.request.positions is None else word.split()
    if word == _CANNOT_SAY:
        return None
    units = [_unit(one, bool(task.request.question), classes) for one in words]
    return units[0] if task.request.positions is None else units


def _unit(word: str, is_question: bool, classes: tuple[str, ...]) -> Any:
    from labelworth.errors import InvalidInputError

    if word == _CANNOT_SAY:
        return None
    if is_question:
        said = {"yes": True, "y": True, "no": False, "n": False}.get(word.casefold())
        if said is None:
            raise InvalidInputError(f"The answer is yes, no, or {_CANNOT_SAY}. Got {word!r:.40}.")
        return said
    return word if word in classes or "|" not in word else [one.strip() for one in word.split("|")]
