"""Kills a real studio at random moments while annotators answer as fast as they can, and counts what was lost.

`python tests/chaos/kills.py --kills 100` on SQLite; `--postgres` on a PostgreSQL that is started for it, with
`--servers 2` as two studios on one database, each killed by itself.
"""

import argparse
import os
import random
import statistics
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
from support.kept_figures import keep
from support.postgres import programs, server, version
from support.studio import task_fields
from support.studio_server import CLASSES, begun, free_port, started

LEASE_MINUTES = 0.1
FAULTS = ("lost", "changed", "doubled", "leases left", "requests left")
"""What is to be 0."""
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
    unavailable: int = 0  # How often the studio said that it cannot keep anything now.
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
            asked = task_fields(page)
            if asked is None:
                time.sleep(0.05)
                page = self._ask("GET", "/")[1]
                continue
            said = str(self.chance.randrange(len(CLASSES)))
            fields = {**asked, "said": said, "seconds": "1"}
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
                self.unavailable += answer.status == 503
                if answer.status < 500 and answer.status != 429:
                    return answer.status, page
            except (OSError, HTTPException):
                if self.connection is not None:
                    self.connection.close()
                self.connection = None
            self.again += 1
            time.sleep(0.1)
        return 0, ""


def chaos(
    where: str, kills: int, *, n_annotators: int = 8, n_servers: int = 1, seed: int = 0, longest: float = 4.0
) -> dict[str, float]:
    """Kill, start, kill ..; what was lost, doubled, and left behind. Annotators are shared out among the servers."""
    n_items = int(200 * longest * kills) + 300
    tokens = begun(where, n_items, n_annotators, lease_minutes=LEASE_MINUTES)
    stop = threading.Event()
    ports = [free_port() for _ in range(n_servers)]
    people = [
        Annotator(token, ports[index % n_servers], stop, random.Random(index)) for index, token in enumerate(tokens)
    ]
    threads = [threading.Thread(target=person.run) for person in people]
    start = time.monotonic()
    for thread in threads:
        thread.start()
    between: list[int] = []
    killing = [
        threading.Thread(
            target=_kill,
            args=(where, port, kills // n_servers, random.Random(seed + index), longest, people[index::n_servers]),
            kwargs={"between": between},
        )
        for index, port in enumerate(ports)
    ]
    for thread in killing:
        thread.start()
    for thread in killing:
        thread.join()
    stop.set()
    for thread in threads:
        thread.join()
    seconds = time.monotonic() - start
    return {
        **counted(where, people),
        "kills": len(between),
        "fewest between kills": min(between),
        "median between kills": statistics.median(between),
        "servers": n_servers,
        "annotators": n_annotators,
        "seconds": round(seconds, 1),
    }


def _kill(
    where: str,
    port: int,
    kills: int,
    chance: random.Random,
    longest: float,
    people: list[Annotator],
    *,
    between: list[int],
) -> None:
    """Kill the server of some people; how many answers it acknowledged before each kill is added to `between`."""

    def kept() -> int:
        return sum(len(person.acknowledged) for person in people)

    for _ in range(kills):
        before = kept()
        with started(where, "--port", str(port)):  # It ends by SIGKILL.
            time.sleep(chance.uniform(0.0, longest))
        between.append(kept() - before)
    with started(where, "--port", str(port)):
        time.sleep(1.0)


def counted(where: str, people: list[Annotator]) -> dict[str, float]:
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
        _take_over(campaign)
        held, open_leases, twice, left = campaign._store.read(_left)
    return {
        "acknowledged": len(expected),
        "lost": sum(key not in said for key in expected),
        "changed": sum(said.get(key, value) != value for key, value in expected.items()),
        "doubled": sum(n > 1 for n in kept.values()) + twice,
        "sent again": sum(person.again for person in people),
        "refused": sum(person.refused for person in people),
        "leases left": held + open_leases,
        "requests left": left,
    }


def _take_over(campaign: Campaign) -> None:
    """Once leases of the others ran out, one more person gets what they held before anything else, and answers it."""
    time.sleep(60 * LEASE_MINUTES + 0.5)
    last = campaign.invite("last").person
    for task in campaign.lease(last, 100):
        campaign.answer(last, task.request.id, CLASSES[0], key=f"last {task.request.id}")


def _left(connection: sa.Connection) -> tuple[int, int, int, int]:
    """Requests and leases that count as held, requests with two answers, and those that were passed over."""
    twice = sa.select(standing.c.request_id).group_by(standing.c.request_id).having(sa.func.count() > 1).subquery()
    newest = sa.select(sa.func.max(standing.c.request_id)).scalar_subquery()
    queries = (
        sa.select(sa.func.sum(requests.c.held)),
        sa.select(sa.func.count()).where(leases.c.ended_at.is_(None)),
        sa.select(sa.func.count()).select_from(twice),
        sa.select(sa.func.count()).where(requests.c.given < requests.c.votes, requests.c.id < newest),
    )
    held, open_leases, doubled, passed = (int(connection.execute(query).scalar_one()) for query in queries)
    return held, open_leases, doubled, passed


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--annotators", type=int, default=8)
    parser.add_argument("--servers", type=int, choices=[1, 2], default=1)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--postgres", action="store_true")
    parser.add_argument("--keep", action="store_true", help="write what was found to results/")
    options = parser.parse_args()
    with ExitStack() as stack:
        if options.postgres:
            if programs() is None:
                sys.stderr.write("PostgreSQL is not installed here: skipped.\n")
                return 0
            where = stack.enter_context(server())
        else:
            where = str(Path(stack.enter_context(tempfile.TemporaryDirectory())) / "chaos.db")
        found = chaos(
            where,
            options.kills,
            n_annotators=options.annotators,
            n_servers=options.servers,
            seed=options.seed,
        )
    case = f"{'PostgreSQL' if options.postgres else 'SQLite'}{', two servers' if options.servers == 2 else ''}"
    said = ", ".join(f"{name} {value:,}" for name, value in found.items())
    sys.stdout.write(f"{case}: {said} (load of the machine {os.getloadavg()[0]:.1f})\n")
    if options.keep:
        keep("studio-kills", case, found, **({"postgresql": version()} if options.postgres else {}))
    return int(any(found[name] for name in FAULTS))


if __name__ == "__main__":
    sys.exit(main())
