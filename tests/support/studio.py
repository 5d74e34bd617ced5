"""A browser without a window: it keeps cookies, reads forms and sends them; for the application or a real server."""

import asyncio
import re
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Any

import httpx

from labelworth.campaign.campaign import Campaign
from labelworth.studio.doors import Place, Studio
from labelworth.studio.limits import Limits

HERE = "http://127.0.0.1:8000"


@dataclass
class Form:
    """A form of a page, as it would be sent."""

    action: str
    fields: dict[str, str] = field(default_factory=dict)
    selects: list[str] = field(default_factory=list)
    buttons: list[tuple[str, str]] = field(default_factory=list)


class _Forms(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.forms: list[Form] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if tag == "form":
            self.forms.append(Form(given["action"]))
        elif self.forms and tag == "input" and "name" in given and given.get("type") != "checkbox":
            self.forms[-1].fields[given["name"]] = given.get("value", "")
        elif self.forms and tag == "select":
            self.forms[-1].selects.append(given["name"])
        elif self.forms and tag == "button" and "name" in given:
            self.forms[-1].buttons.append((given["name"], given["value"]))


def forms_of(page: str) -> dict[str, Form]:
    """The forms of a page by where they go."""
    parser = _Forms()
    parser.feed(page)
    return {form.action: form for form in parser.forms}


_ASKED = re.compile(r'name="(proof|request|key)" value="([^"]*)"')


def task_fields(page: str) -> dict[str, str] | None:
    """What the form of a task sends beside the answer, for who answers hundreds a second; None: there is no task."""
    fields = dict(_ASKED.findall(page)[:3])
    return fields if len(fields) == 3 else None


class Direct(httpx.BaseTransport):
    """Requests that go to an ASGI application without a network."""

    def __init__(self, app: Any) -> None:
        self._app = app

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        parts = [{"type": "http.request", "body": part, "more_body": True} for part in request.stream]
        return self.send(
            {
                "type": "http",
                "asgi": {"version": "3.0"},
                "http_version": "1.1",
                "method": request.method,
                "scheme": request.url.scheme,
                "path": request.url.path,
                "raw_path": request.url.raw_path.partition(b"?")[0],
                "query_string": request.url.query,
                "root_path": "",
                "headers": [(name.lower(), value) for name, value in request.headers.raw],
                "client": ("203.0.113.7", 50000),
                "server": ("127.0.0.1", 8000),
            },
            [*parts, {"type": "http.request", "body": b"", "more_body": False}],
        )

    def send(self, scope: dict[str, Any], messages: list[dict[str, Any]]) -> httpx.Response:
        """What the application answers to a request as servers hand it over."""
        waiting = iter(messages)
        heard: list[dict[str, Any]] = []

        async def receive() -> dict[str, Any]:
            message = next(waiting, None)
            if message is None and not messages[-1].get("more_body", False):
                # All was sent, and whoever sent it waits for the answer.
                await asyncio.Event().wait()
            return message or {"type": "http.disconnect"}

        async def send(message: dict[str, Any]) -> None:
            heard.append(message)

        asyncio.run(self._app(scope, receive, send))
        body = b"".join(message.get("body", b"") for message in heard[1:])
        return httpx.Response(heard[0]["status"], headers=heard[0]["headers"], content=body)


class Browser:
    """Somebody who came in by their link."""

    def __init__(self, client: httpx.Client, token: str | None = None) -> None:
        self.client = client
        if token is not None:
            self.post("/enter", {"token": token}, follow_redirects=False)

    def get(self, path: str, **options: Any) -> httpx.Response:
        return self.client.get(path, **options)

    def post(self, path: str, fields: dict[str, str], **options: Any) -> httpx.Response:
        return self.client.post(path, data=fields, **options)

    def form(self, action: str, page: str = "/") -> Form:
        return forms_of(self.get(page).text)[action]

    def send(self, action: str, page: str = "/", **fields: str) -> httpx.Response:
        """Fill in and send a form of a page."""
        return self.post(action, {**self.form(action, page).fields, **fields})

    def label(self, said: str) -> httpx.Response:
        """Answer the task that is shown."""
        form = self.form("/answer")
        given = dict.fromkeys(form.selects, said) if form.selects else {"said": said}
        return self.post("/answer", {**form.fields, **given})


def studio_of(campaign: Campaign, *, url: str = HERE, **limits: Any) -> Studio:
    return Studio(campaign, Place(url), Limits(**limits))


def browser(studio: Studio, token: str | None = None, *, url: str = HERE) -> Browser:
    return Browser(httpx.Client(transport=Direct(studio.app), base_url=url, follow_redirects=True), token)


def token_of(page: str) -> str:
    """The token of a link that a page shows."""
    found = re.search(r"/enter#([A-Za-z0-9_-]+)", page)
    assert found is not None
    return found[1]
