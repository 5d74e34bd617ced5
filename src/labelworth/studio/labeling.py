"""The page of annotators: one task at a time, an answer, and the way back."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from starlette.responses import RedirectResponse, Response

from labelworth.campaign.values import Desk, Unit
from labelworth.errors import InvalidInputError, NotWantedError
from labelworth.studio.visits import Visit

CANNOT_SAY = "?"
_WORDS: Mapping[str, Unit] = {CANNOT_SAY: None, "yes": True, "no": False}
_TOKEN = "t"
"""Before the position of a token: the field in which it is answered."""
_LONGEST = 24 * 3600.0


def show(visit: Visit) -> Response:
    """The task that somebody holds, or a new one; `?task=` of those that they hold."""
    wanted = visit.request.query_params.get("task", "")
    is_number = wanted.isascii() and wanted.isdigit() and len(wanted) < 17
    return _page(visit, _desk(visit, int(wanted) if is_number else None))


def answer(visit: Visit) -> Response:
    """Keep an answer; says so by going on to the next task."""
    said = _said(visit.form, visit.campaign.settings.kind, visit.campaign.settings.classes)
    try:
        desk = visit.campaign.answer_and_go_on(
            visit.person,
            visit.number("request"),
            said,
            key=visit.form.get("key", ""),
            seconds=_seconds(visit.form.get("seconds", "")),
        )
    except NotWantedError as error:
        return _page(visit, _desk(visit), notice=f"Your answer was not kept: {error}", status=409)
    return _page(visit, desk) if visit.by_script else RedirectResponse("/", 303)


def undo(visit: Visit) -> Response:
    """Take back an answer and show its task again."""
    number = visit.number("answer")
    back = visit.campaign.undo(visit.person, answer=number, key=f"undo {number}")
    task = None if back.task is None else back.task.request.id
    if visit.by_script:
        return _page(visit, _desk(visit, task))
    return RedirectResponse("/" if task is None else f"/?task={task}", 303)


def go_on(visit: Visit) -> Response:
    """Somebody still works on a task."""
    visit.campaign.renew(visit.person, visit.number("request"))
    return Response(status_code=204)


def _page(visit: Visit, desk: Desk, *, notice: str | None = None, status: int = 200) -> Response:
    task = desk.task
    if task is None:
        return visit.render("nothing.html", status, notice=notice, desk=desk)
    template = "document.html" if task.item.tokens is None else "sequence.html"
    # Whoever sends an answer again, sends this again: a lease is answered once.
    return visit.render(template, status, task=task, key=f"lease {task.lease_id}", notice=notice, desk=desk)


def _desk(visit: Visit, request: int | None = None) -> Desk:
    return visit.campaign.desk(visit.person, request)


def _said(form: Mapping[str, str], kind: str, classes: Sequence[str]) -> Any:
    """What a form says: of a document one thing, of a sequence one per token asked."""
    if kind == "documents":
        return _unit(form.get("said", ""), classes)
    fields = {name[1:]: text for name, text in form.items() if name[:1] == _TOKEN and name[1:].isdecimal()}
    return {position: _unit(text, classes) for position, text in fields.items()}


def _unit(text: str, classes: Sequence[str]) -> Unit:
    if text in _WORDS:
        return _WORDS[text]
    if text.isascii() and text.isdigit() and len(text) < 8 and int(text) < len(classes):
        return classes[int(text)]
    raise InvalidInputError(
        "Something was not answered. Choose a class, or 'cannot say'."
        if not text
        else f"There is no class number {text!r:.40}."
    )


def _seconds(text: str) -> float | None:
    """As the page's script measured them; None where it did not, or nobody can have worked as long."""
    try:
        seconds = float(text)
    except ValueError:
        return None
    return seconds if math.isfinite(seconds) and 0 <= seconds <= _LONGEST else None
