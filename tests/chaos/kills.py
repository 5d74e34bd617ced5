"""Kills a real studio at random moments while annotators answer as fast as they can, and counts what was lost.

`python tests/chaos/kills.py --kills 100` on SQLite; `--postgres` on a PostgreSQL that is started for it.
"""

import argparse
import os
import random
import re
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from contextlib import ExitStack
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from urllib.parse import urlencode

sys.path.insert(0, str(Path(__file__).parents[1]))

import sqlalchemy as sa

from labelworth.campaign.campaign import Campaign
from labelworth.campaign.schema import answers, leases, requests, standing
from support.studio import forms_of
from support.studio_server import RUN

CLASSES = ["a", "b", "c"]
LEASE_MINUTES = 0.1
FORM = {"Content-Type": "application/x-www-form-urlencoded", "X-Requested-With": "labelworth"}


@dataclass
class Annotator:
    """Answers what is shown, and sends an answer again until it is acknowledged or refused."""

    token: str
    port: int
    stop: threading.Event
    chance: random.Random
    acknowledged: dict[str, tuple[int, str]] = field(default_factory=dict)  # By key: the request, and what was said.
    refused: int = 0
    again: int = 0
    connection: HTTPConnection | None = None
    cookie: str = ""

    def run(self) -> None:
        try:
            self._work()
        finally:
            if self.connection is not None:
                self.connection.close()

    def _work(self) -> None:
        self._enter()
        page = self._ask("GET", "/")[1]
        while not self.stop.is_set():
            form = forms_of(page).get("/answer")
            if form is None:
                time.sleep(0.05)
                page = self._ask("GET", "/")[1]
                continue
            said = str(self.chance.randrange(len(CLASSES)))
            fields = {**form.fields, "said": said, "seconds": "1"}
            for _ in range(1 + (self.chance.random() < 0.1)):  # Some click twice.
                status, page = self._ask("POST", "/answer", fields)
                if status == 200:
                    self.acknowledged[fields["key"]] = (int(fields["request"]), CLASSES[int(said)])
                elif status == 409:
                    self.refused += 1

    def _enter(self) -> None:
        while not self.cookie and not self.stop.is_set():
            self._ask("POST", "/enter", {"token": self.token})

    def _ask(self, method: str, path: str, fields: dict[str, str] | None = None) -> tuple[int, str]:
        while not self.stop.is_set():
            try:
                self.connection = self.connection or HTTPConnection("127.0.0.1", self.port, timeout=20)
                body = None if fields is None else urlencode(fields)
                self.connection.request(method, path, body, {**FORM, "Cookie": self.cookie})
                answer = self.connection.getresponse()
                page = answer.read().decode()
                self.cookie = self.cookie or (answer.getheader("Set-Cookie") or "").partition(";")[0]
                if answer.status < 500 and answer.status != 429:
                    return answer.status, page
            except (OSError, HTTPException):
                if self.connection is not None:
                    self.connection.close()
                self.connection = None
            self.again += 1
            time.sleep(0.1)
        return 0, ""


def started(where: str, port: int) -> "subprocess.Popen[bytes]":
    """A studio that answers."""
    process = subprocess.Popen(
        [sys.executable, "-c", RUN, "studio", where, "--port", str(port)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    while process.poll() is None:
        connection = HTTPConnection("127.0.0.1", port, timeout=5)
        try:
            connection.request("GET", "/enter")
            connection.getresponse().read()
            return process
        except (OSError, HTTPException):
            time.sleep(0.02)
        finally:
            connection.close()
    raise SystemExit(f"The studio ended by itself, with {process.returncode}.")


def chaos(where: str, kills: int, *, n_annotators: int = 8, seed: int = 0, longest: float = 1.5) -> dict[str, float]:
    """Kill, start, kill ..; what was lost, doubled, and left behind."""
    chance = random.Random(seed)
    n_items = 100 * kills + 300
    with Campaign.create(where, name="chaos", classes=CLASSES, lease_minutes=LEASE_MINUTES) as campaign:
        campaign.add([f"item {index}" for index in range(n_items)])
        campaign.assign(count=n_items)
        campaign.invite("boss", role="manager")
        tokens = [campaign.invite(f"annotator {index}").token for index in range(n_annotators)]
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    stop = threading.Event()
    people = [Annotator(token, port, stop, random.Random(index)) for index, token in enumerate(tokens)]
    process = started(where, port)
    threads = [threading.Thread(target=person.run) for person in people]
    begun = time.monotonic()
    for thread in threads:
        thread.start()
    for _ in range(kills):
        time.sleep(chance.uniform(0.0, longest))
        process.send_signal(signal.SIGKILL)
        process.wait()
        process = started(where, port)
    time.sleep(1.0)
    stop.set()
    for thread in threads:
        thread.join()
    seconds = time.monotonic() - begun
    process.send_signal(signal.SIGKILL)
    process.wait()
    return {**_counted(where, people), "kills": kills, "seconds": round(seconds, 1)}


def _counted(where: str, people: list[Annotator]) -> dict[str, float]:
    with Campaign.open(where) as campaign:
        rows = campaign._store.read(lambda connection: connection.execute(sa.select(answers)).all())
        names = {person.id: person.name for person in campaign.people()}
        kept = Counter((names[row.annotator_id], row.key) for row in rows)
        said = {(names[row.annotator_id], row.key): (row.request_id, row.said) for row in rows}
        expected = {
            (f"annotator {index}", key): (request, f'["{word}"]')
            for index, person in enumerate(people)
            for key, (request, word) in person.acknowledged.items()
        }
        _drain(campaign)
        left = campaign.status()
        held = campaign._store.read(
            lambda connection: (
                connection.execute(sa.select(sa.func.sum(requests.c.held))).scalar_one(),
                connection.execute(sa.select(sa.func.count()).where(leases.c.ended_at.is_(None))).scalar_one(),
                connection.execute(
                    sa.select(sa.func.count()).select_from(
                        sa.select(standing.c.request_id)
                        .group_by(standing.c.request_id)
                        .having(sa.func.count() > 1)
                        .subquery()
                    )
                ).scalar_one(),
            )
        )
    return {
        "acknowledged": len(expected),
        "lost": sum(key not in said for key in expected),
        "changed": sum(said.get(key, value) != value for key, value in expected.items()),
        "doubled": sum(n > 1 for n in kept.values()) + held[2],
        "sent again": sum(person.again for person in people),
        "refused": sum(person.refused for person in people),
        "leases left": int(held[0]) + int(held[1]),
        "requests left": left.wanted - left.given,
    }


def _drain(campaign: Campaign) -> None:
    """Let one more person answer whatever is left, once leases of the others ran out."""
    time.sleep(60 * LEASE_MINUTES + 0.5)
    last = campaign.invite("last").person
    while tasks := campaign.lease(last, 100):
        for task in tasks:
            campaign.answer(last, task.request.id, CLASSES[0], key=f"last {task.request.id}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--annotators", type=int, default=8)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--postgres", action="store_true")
    options = parser.parse_args()
    with ExitStack() as stack:
        if options.postgres:
            from support.postgres import programs, server

            if programs() is None:
                sys.stderr.write("PostgreSQL is not installed here: skipped.\n")
                return 0
            where = stack.enter_context(server())
        else:
            where = str(Path(stack.enter_context(tempfile.TemporaryDirectory())) / "chaos.db")
        found = chaos(where, options.kills, n_annotators=options.annotators, seed=options.seed)
    load = os.getloadavg()[0]
    said = ", ".join(f"{re.sub('_', ' ', name)} {value:,}" for name, value in found.items())
    sys.stdout.write(f"{'PostgreSQL' if options.postgres else 'SQLite'}: {said} (load of the machine {load:.1f})\n")
    return int(any(found[name] for name in ("lost", "changed", "doubled", "leases left", "requests left")))


if __name__ == "__main__":
    sys.exit(main())
