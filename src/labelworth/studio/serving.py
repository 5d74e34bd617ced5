"""Serving a studio: where it listens, what it is called, and how the first manager comes in."""

import ipaddress
import signal
import socket
from contextlib import suppress
from urllib.parse import urlsplit

import uvicorn

from labelworth.campaign.campaign import Campaign
from labelworth.errors import InvalidInputError, OutputError
from labelworth.studio.background import Background
from labelworth.studio.doors import Place, Studio

MANAGER = "manager"
"""What the first manager is called, unless somebody says otherwise."""
CONNECTIONS = 1000
"""So many at once; others are told to come later."""


def listening(host: str, port: int) -> socket.socket:
    """A socket that takes requests; port 0 is any that is free.

    Raises
    ------
    OutputError
        If somebody else listens there, or we may not.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
    except OSError as error:
        listener.close()
        raise OutputError(
            f"Cannot listen on {host}, port {port}: {error.strerror or error}. Name another with --port or --host."
        ) from error
    listener.listen(2048)
    return listener


def place_of(listener: socket.socket, url: str | None) -> Place:
    """What browsers call a studio that listens there.

    Parameters
    ----------
    url : str, optional
        How people reach it, where a proxy stands before it: ``https://labels.example.org``.
    """
    host, port = listener.getsockname()[:2]
    own = socket.gethostname().lower()
    if url is None:
        shown = "127.0.0.1" if is_loopback(host) else own if host in ("0.0.0.0", "::") else host
        return Place(f"http://{f'[{shown}]' if ':' in shown else shown}:{port}", (own,))
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.path not in ("", "/") or parts.query:
        raise InvalidInputError(f"The address of a studio is written https://labels.example.org. Got {url!r:.80}.")
    return Place(url.rstrip("/"), (own, parts.hostname))


def is_loopback(host: str) -> bool:
    """Whether nothing beyond this machine reaches an address."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def manager_link(campaign: Campaign, studio: Studio, name: str | None) -> str | None:
    """A link for a manager: one of this name, else the first there ever is; None: managers have theirs.

    Tokens are kept as hashes alone, so a link that was made before cannot be shown again.
    """
    people = {person.name: person for person in campaign.people()}
    if name is None:
        if any(person.role == "manager" and not person.is_withdrawn for person in people.values()):
            return None
        name = next(own for own in (MANAGER, *(f"{MANAGER} {n}" for n in range(2, 1000))) if own not in people)
    invited = campaign.renew_token(name) if name in people else campaign.invite(name, role="manager")
    return studio.pages.link(invited.token)


def serve(studio: Studio, listener: socket.socket, *, where: str, behind_proxy: bool) -> None:
    """Take requests until the process is told to stop.

    Parameters
    ----------
    where : str
        Where the campaign is kept: plans are made by another process.
    """
    config = uvicorn.Config(
        studio.app,
        # Requests are not logged, so neither are texts; what goes wrong is, without texts.
        access_log=False,
        log_level="warning",
        server_header=False,
        lifespan="off",
        ws="none",
        # Who comes through a proxy on this machine is who the proxy says; from elsewhere nobody is believed.
        proxy_headers=behind_proxy,
        forwarded_allow_ips="127.0.0.1,::1",
        timeout_keep_alive=30,
        limit_concurrency=CONNECTIONS,
        backlog=2048,
        timeout_graceful_shutdown=5,
    )
    # Told to end by others, as by Ctrl-C: who makes a plan for us ends too, and the next studio goes on with it.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with suppress(KeyboardInterrupt), Background(studio.campaign, where):
        uvicorn.Server(config).run(sockets=[listener])
