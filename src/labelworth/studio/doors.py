"""Every address of the studio: who may come through, and what answers. Nothing is reached by another way."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Literal

from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route, Router
from starlette.types import ASGIApp, Receive, Scope, Send

from labelworth.campaign.campaign import Campaign
from labelworth.errors import LabelworthError, NotWantedError, StoreUnavailableError
from labelworth.studio import entering, labeling, managing
from labelworth.studio.guard import Guard, address_of, too_often
from labelworth.studio.limits import Limits, Meter
from labelworth.studio.pages import Pages
from labelworth.studio.visits import Visit, is_foreign, is_proved, read_form, token_in

Who = Literal["anybody", "person", "manager"]
_AT_ONCE = 24
"""So many requests are worked on at once; those who wait for the store share its next commit."""
_LATER = "The campaign cannot be read or written just now. Nothing that was acknowledged is lost. Try again."


@dataclass(frozen=True)
class Door:
    """One address, and who may come through."""

    method: Literal["GET", "POST"]
    path: str
    who: Who
    handler: Callable[[Visit], Response]


DOORS = (
    Door("GET", "/static/{name}", "anybody", entering.static),
    Door("GET", "/enter", "anybody", entering.ask),
    Door("POST", "/enter", "anybody", entering.enter),
    Door("POST", "/leave", "person", entering.leave),
    Door("GET", "/", "person", labeling.show),
    Door("POST", "/answer", "person", labeling.answer),
    Door("POST", "/undo", "person", labeling.undo),
    Door("POST", "/going-on", "person", labeling.go_on),
    Door("GET", "/manage", "manager", managing.show),
    Door("GET", "/manage/live", "manager", managing.live),
    Door("GET", "/manage/person/{number}", "manager", managing.person),
    Door("GET", "/manage/export/{name}", "manager", managing.export),
    Door("POST", "/manage/invite", "manager", managing.invite),
    Door("POST", "/manage/link", "manager", managing.new_link),
    Door("POST", "/manage/withdraw", "manager", managing.withdraw),
    Door("POST", "/manage/assign", "manager", managing.assign),
    Door("POST", "/manage/plan", "manager", managing.plan),
)


@dataclass(frozen=True)
class Place:
    """Where people reach a studio."""

    url: str
    """What links begin with."""
    hosts: tuple[str, ...] = ()
    """Names of this machine that browsers may ask for, beside its addresses."""

    @property
    def is_https(self) -> bool:
        return self.url.startswith("https://")


class Studio:
    """The pages of a campaign as an ASGI application."""

    def __init__(self, campaign: Campaign, place: Place, limits: Limits | None = None) -> None:
        self.campaign, self.place = campaign, place
        self.limits = limits or Limits()
        self.pages = Pages(campaign.settings, place.url)
        self._workers = ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="studio")
        self._strangers, self._people = Meter(self.limits.strangers), Meter(self.limits.person)
        routes = [Route(door.path, self._opened(door), methods=[door.method]) for door in DOORS]
        app = Router(routes, redirect_slashes=False, default=_nothing_here)
        self.app: ASGIApp = Guard(app, hosts=place.hosts, is_https=place.is_https, limits=self.limits)

    def _opened(self, door: Door) -> Callable[[Request], object]:
        async def opened(request: Request) -> Response:
            try:
                body = await request.body() if door.method == "POST" else b""
            except ClientDisconnect:
                return PlainTextResponse("", 400)
            loop = asyncio.get_running_loop()
            return await loop.run_in_executor(self._workers, self._answered, door, request, body)

        return opened

    def _answered(self, door: Door, request: Request, body: bytes) -> Response:
        """Who asks, whether they may, and what they get."""
        visit = Visit(self.campaign, self.pages, request, None, None)
        try:
            token = token_in(request, self.pages.cookie)
            visitor = None if token is None or door.path.startswith("/static") else self.campaign.who(token)
            form = read_form(request, body) if door.method == "POST" else {}
            visit = Visit(self.campaign, self.pages, request, token if visitor else None, visitor, form)
            return self._too_often(door, visit) or self._refused(door, visit) or door.handler(visit)
        except StoreUnavailableError:
            return self._told(visit, _LATER, 503)
        except NotWantedError as error:
            return self._told(visit, str(error), 409)
        except LabelworthError as error:
            # What a database says of itself is for its owner.
            return self._told(visit, _LATER if error.__cause__ is not None else str(error), 400)

    def _too_often(self, door: Door, visit: Visit) -> Response | None:
        if visit.visitor is not None:
            wait = self._people.wait(visit.visitor.id)
        elif door.path.startswith("/static") or (door.method, door.path) == ("GET", "/enter"):
            wait = 0.0
        else:
            wait = self._strangers.wait(address_of(visit.request.scope))
        return too_often(wait) if wait else None

    def _refused(self, door: Door, visit: Visit) -> Response | None:
        """What somebody gets who may not come through."""
        if door.method == "POST" and is_foreign(visit.request):
            return self._told(visit, "Another site sent that.", 403)
        if door.who == "anybody":
            return None
        if visit.visitor is None:
            return visit.render("enter.html", 401, notice=None)
        if door.who == "manager" and visit.visitor.role != "manager":
            return self._told(visit, "That page is for managers.", 403)
        if door.method == "POST" and not is_proved(visit.form, visit.token or ""):
            return self._told(visit, "That form is not from this session. Load the page again.", 403)
        return None

    def _told(self, visit: Visit, words: str, status: int) -> Response:
        response = visit.render("told.html", status, words=words)
        if status == 503:
            response.headers["Retry-After"] = "1"
        return response


async def _nothing_here(scope: Scope, receive: Receive, send: Send) -> None:
    await PlainTextResponse("There is nothing here.", 404)(scope, receive, send)
