"""A studio in a process of its own, as people start it."""

import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import httpx

from labelworth.campaign.campaign import Campaign

CLASSES = ["a", "b", "c"]
RUN = "from labelworth.cli.main import run; run()"


def begun(where: str, n_items: int, n_people: int, *, lease_minutes: float = 30.0) -> list[str]:
    """A campaign of documents with so much to do; the tokens of its annotators."""
    with Campaign.create(where, name="busy", classes=CLASSES, lease_minutes=lease_minutes) as campaign:
        campaign.add([f"text number {index}" for index in range(n_items)])
        campaign.assign(count=n_items)
        return [campaign.invite(f"annotator {index}").token for index in range(n_people)]


def free_port() -> int:
    """A port on which nobody listens now."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


@contextmanager
def started(campaign: str, *words: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Start `labelworth studio campaign --port 0 --link boss`; the process, and the link of the manager."""
    process = subprocess.Popen(
        [sys.executable, "-c", RUN, "studio", campaign, "--port", "0", "--link", "boss", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        link = process.stdout.readline().strip()
        assert link, process.stderr and process.stderr.read()
        yield process, link
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGKILL)
        process.communicate()


def client(link: str) -> httpx.Client:
    return httpx.Client(base_url=link.partition("/enter")[0], follow_redirects=True, timeout=60)
