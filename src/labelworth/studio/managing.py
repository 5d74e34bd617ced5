"""The page of managers: how far it is, who agrees with whom, what it costs, and what comes next."""

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

from starlette.responses import RedirectResponse, Response, StreamingResponse

from labelworth.campaign.values import GOLD, Invitation, Person
from labelworth.errors import InvalidInputError
from labelworth.studio.background import last_made
from labelworth.studio.outlook import outlook
from labelworth.studio.visits import Visit

EXPORTS: dict[str, tuple[Literal["labels", "answers", "requests"], str | None]] = {
    "labels.jsonl": ("labels", None),
    "labels.csv": ("labels", None),
    "answers.csv": ("answers", None),
    "requests.csv": ("requests", None),
    "label-studio.json": ("labels", "label-studio"),
}
"""All files that can be had, and what stands in them."""
_PART = 1 << 16


def show(visit: Visit) -> Response:
    return visit.render("manage.html", **_figures(visit))


def live(visit: Visit) -> Response:
    """What changes of the page."""
    return visit.render("live.html", **_figures(visit))


def person(visit: Visit) -> Response:
    """What somebody said beside gold, and beside others."""
    found = _person(visit, visit.request.path_params["number"])
    tables = [visit.campaign.confusion(found.name, "gold"), visit.campaign.confusion(found.name, "others")]
    return visit.render("person.html", person=found, tables=tables)


def invite(visit: Visit) -> Response:
    form = visit.form
    role = form.get("role", "annotator")
    if role not in ("annotator", "manager"):
        raise InvalidInputError(f"A role is annotator or manager. Got {role!r:.40}.")
    invited = visit.campaign.invite(
        form.get("name", "").strip(),
        role="manager" if role == "manager" else "annotator",
        channel=form.get("channel", "").strip() or GOLD,
        price=visit.amount("price"),
    )
    return _link(visit, invited)


def new_link(visit: Visit) -> Response:
    """A new link for somebody; their old one, and whoever came in by it, is out at once."""
    return _link(visit, visit.campaign.renew_token(_person(visit, visit.form.get("person", "")).name))


def withdraw(visit: Visit) -> Response:
    found = _person(visit, visit.form.get("person", ""))
    if found.id == visit.person.id:
        raise InvalidInputError("You cannot withdraw your own link: another manager can.")
    visit.campaign.withdraw(found.name)
    return RedirectResponse("/manage#people", 303)


def plan(visit: Visit) -> Response:
    """Have a plan made, in the background."""
    value = visit.form.get("value", "").strip()
    if not value:
        raise InvalidInputError("Say how much money there is, or what is to be reached.")
    if visit.form.get("problem") == "target":
        visit.campaign.start_plan(target=value[:200])
    else:
        visit.campaign.start_plan(budget=visit.amount("value"))
    return RedirectResponse("/manage#outlook", 303)


def assign(visit: Visit) -> Response:
    form, classes = visit.form, visit.campaign.settings.classes
    question = [name for index, name in enumerate(classes) if f"question{index}" in form]
    after = visit.number("after")
    if "plan" in form:
        assigned = visit.campaign.assign(plan=visit.number("plan"), after=after)
        return visit.render("assigned.html", assigned=assigned)
    assigned = visit.campaign.assign(
        count=visit.number("count"),
        after=after,
        votes=visit.number("votes"),
        channel=form.get("channel", "").strip() or GOLD,
        question=question,
        policy=form.get("policy", "").strip() or None,
        audit="audit" in form,
        why=form.get("why", "").strip()[:200] or None,
    )
    return visit.render("assigned.html", assigned=assigned)


def export(visit: Visit) -> Response:
    """A file with what the campaign holds, as `labelworth campaign export` writes it.

    It begins at once and comes when it is written: of a million answers that takes a while.
    """
    name = visit.request.path_params["name"]
    if name not in EXPORTS:
        raise InvalidInputError("There is no such export.")
    sent = {"Content-Disposition": f'attachment; filename="{name}"'}
    return StreamingResponse(_file(visit, name), headers=sent, media_type="application/octet-stream")


def _file(visit: Visit, name: str) -> Iterator[bytes]:
    what, format = EXPORTS[name]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        visit.campaign.export(path, what, format=format, accept_losses=True)
        with path.open("rb") as content:
            while part := content.read(_PART):
                yield part


def _figures(visit: Visit) -> dict[str, Any]:
    """Where the campaign stands, the plan that is being made or failed, and the last one that was made."""
    plans = visit.campaign.plans(limit=5)
    made, status = last_made(plans), visit.campaign.status()
    return {
        "status": status,
        "exports": tuple(EXPORTS),
        "job": plans[0] if plans and plans[0].record is None else None,
        "outlook": None if made is None else outlook(made, status.settings.currency, status.batches),
    }


def _link(visit: Visit, invited: Invitation) -> Response:
    return visit.render("link.html", person=invited.person, link=visit.pages.link(invited.token))


def _person(visit: Visit, number: str) -> Person:
    found = next((one for one in visit.campaign.people() if str(one.id) == number), None)
    if found is None:
        raise InvalidInputError("There is nobody of that number in this campaign.")
    return found
