"""What stands before every handler: who is meant by Host, how much may be sent, headers, errors that tell nothing."""

import logging
import traceback
from collections.abc import Iterable
from functools import lru_cache
from ipaddress import ip_address

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from labelworth.studio.limits import Limits, Meter

LOG = logging.getLogger("labelworth.studio")

CONTENT_POLICY = "; ".join(
    [
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self'",
        "connect-src 'self'",
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
    ]
)
_REMEMBERED = 1000
"""So many addresses are not taken apart again: every request names two."""
_LONGEST_ADDRESS = 45
_HEADERS = {
    "Content-Security-Policy": CONTENT_POLICY,
    "X-Frame-Options": "DENY",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=()",
}


class Guard:
    """Lets a request through that is meant for us, and dresses what comes back.

    Parameters
    ----------
    app : ASGI application
    hosts : iterable of str
        Names under which we are reached. Addresses of digits are always allowed: a foreign page that points its own
        name at this machine (DNS rebinding) sends that name.
    is_https : bool
        Whether browsers reach us by TLS.
    """

    def __init__(self, app: ASGIApp, *, hosts: Iterable[str], is_https: bool, limits: Limits) -> None:
        self._app, self._limits = app, limits
        self._hosts = {host.lower() for host in hosts} | {"localhost"}
        headers = _HEADERS | ({"Strict-Transport-Security": "max-age=31536000"} if is_https else {})
        self._headers = [(name.lower().encode(), value.encode()) for name, value in headers.items()]
        self._addresses = Meter(limits.address)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self._app(scope, receive, send)
            elif scope["type"] == "websocket":
                await send({"type": "websocket.close", "code": 1008})
            return
        begun = False

        async def dressed(message: Message) -> None:
            nonlocal begun
            if message["type"] == "http.response.start":
                begun = True
                MutableHeaders(scope=message).setdefault("Cache-Control", "no-store")
                message["headers"] += self._headers
            await send(message)

        try:
            refused = self._refused(scope)
            await (refused or self._app)(scope, self._bounded(receive), dressed)
        except _TooLargeError:
            if not begun:
                await _too_large()(scope, receive, dressed)
        except Exception as error:
            # Where, and what kind: messages of errors may hold texts of the campaign.
            frames = [f"{one.filename}:{one.lineno} {one.name}" for one in traceback.extract_tb(error.__traceback__)]
            LOG.error("%s at\n%s", type(error).__name__, "\n".join(frames))
            if not begun:
                await PlainTextResponse("Something went wrong here.", 500)(scope, receive, dressed)

    def _refused(self, scope: Scope) -> Response | None:
        headers = Headers(scope=scope)
        if not self._is_ours(headers.getlist("host")):
            return PlainTextResponse("This is not the address of this studio.", 421)
        wait = self._addresses.wait(address_of(scope))
        if wait:
            return too_often(wait)
        length = headers.get("content-length", "0")
        if not (length.isascii() and length.isdigit()):
            return PlainTextResponse("Content-Length is a number.", 400)
        return _too_large() if len(length) > 12 or int(length) > self._limits.body else None

    def _is_ours(self, named: list[str]) -> bool:
        if len(named) != 1:
            return False
        host = named[0].strip().lower()
        name = host[1:].partition("]")[0] if host.startswith("[") else host.partition(":")[0]
        return name in self._hosts or (len(name) <= _LONGEST_ADDRESS and _is_address(name))

    def _bounded(self, receive: Receive) -> Receive:
        seen = 0

        async def bounded() -> Message:
            nonlocal seen
            message = await receive()
            seen += len(message.get("body", b""))
            if seen > self._limits.body:
                raise _TooLargeError
            return message

        return bounded


class _TooLargeError(Exception):
    """More came than was said."""


def address_of(scope: Scope) -> str:
    """Whence a request comes; of IPv6 the network that one subscriber gets."""
    client = scope.get("client")
    if client is None:
        return ""
    return _network(str(client[0]))


@lru_cache(_REMEMBERED)
def _network(client: str) -> str:
    try:
        address = ip_address(client)
    except ValueError:
        return client[:100]
    return address.exploded[:19] if address.version == 6 else str(address)


def too_often(wait: float) -> Response:
    return PlainTextResponse("Too many requests; wait a moment.", 429, {"Retry-After": str(int(wait) + 1)})


def _too_large() -> Response:
    return PlainTextResponse("That is too large.", 413, {"Connection": "close"})


@lru_cache(_REMEMBERED)
def _is_address(name: str) -> bool:
    try:
        ip_address(name)
    except ValueError:
        return False
    return True
