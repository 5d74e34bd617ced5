"""Answers at a steady rate to a real studio, and how long each takes: `tests/chaos/load.py --rate 200 --minutes 5`.

Annotators answer at fixed times, whether or not the answers of others came back: who waits makes nobody look fast.
Time counts from when an answer was to be sent until the next task is there. `--large`: in a
campaign of 100,000 items and 1,000,000 answers.
"""

import argparse
import asyncio
import json
import os
import random
import re
import sys
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path
from urllib.parse import urlencode

sys.path.insert(0, str(Path(__file__).parents[1]))

from labelworth.campaign.campaign import Campaign
from labelworth.studio.managing import EXPORTS
from support.campaign_size import filled as large_campaign
from support.kept_figures import keep
from support.studio import task_fields
from support.studio_server import begun, started

PAGES = ("/", "/manage", "/manage/live", "/manage/person/1")


class Line:
    """One connection that stays open, spoken to by hand: the one who measures costs little."""

    def __init__(self, port: int) -> None:
        self._port, self.cookie = port, ""

    async def open(self, token: str) -> str:
        """Come in; the first page."""
        self._reader, self._writer = await asyncio.open_connection("127.0.0.1", self._port)
        head, _ = await self.ask("POST", "/enter", urlencode({"token": token}))
        found = re.search(r"set-cookie: ([^;\r]*)", head, re.IGNORECASE)
        assert found is not None, head
        self.cookie = found[1]
        return (await self.ask("GET", "/"))[1]

    async def ask(self, method: str, path: str, body: str = "") -> tuple[str, str]:
        await self._say(method, path, body)
        head = (await self._reader.readuntil(b"\r\n\r\n")).decode()
        return head, (await self._rest(head)).decode()

    async def _say(self, method: str, path: str, body: str) -> None:
        head = (
            f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nCookie: {self.cookie}\r\n"
            "X-Requested-With: labelworth\r\n"
            f"Content-Type: application/x-www-form-urlencoded\r\nContent-Length: {len(body)}\r\n\r\n"
        )
        self._writer.write((head + body).encode())

    async def _rest(self, head: str) -> bytes:
        """What stands behind the head: of a known length, or in pieces, the last of which is empty."""
        length = re.search(r"content-length: (\d+)", head, re.IGNORECASE)
        if length:
            return await self._reader.readexactly(int(length[1]))
        if "chunked" not in head.lower():
            return b""
        parts = []
        while size := int((await self._reader.readline()).strip(), 16):
            parts.append((await self._reader.readexactly(size + 2))[:-2])
        await self._reader.readline()
        return b"".join(parts)


async def annotate(line: Line, page: str, times: list[float], begun: float, took: list[float]) -> None:
    for moment in times:
        await asyncio.sleep(max(begun + moment - time.perf_counter(), 0))
        fields = task_fields(page)
        assert fields is not None, page
        said = {"said": str(random.randrange(3)), "seconds": "2"}
        head, page = await line.ask("POST", "/answer", urlencode({**fields, **said}))
        assert head.startswith("HTTP/1.1 200"), head
        took.append(time.perf_counter() - begun - moment)


async def measured(port: int, tokens: list[str], rate: float, seconds: float) -> list[float]:
    lines = [Line(port) for _ in tokens]
    pages = [await line.open(token) for line, token in zip(lines, tokens, strict=True)]
    each, took = len(tokens) / rate, list[float]()
    begun = time.perf_counter() + 0.5
    work = []
    for index, (line, page) in enumerate(zip(lines, pages, strict=True)):
        times = [each * (step + index / len(tokens)) for step in range(int(seconds / each))]
        work.append(annotate(line, page, times, begun, took))
    await asyncio.gather(*work)
    return took


async def looked_at(port: int, token: str, paths: Iterable[str], looks: int = 2) -> dict[str, float]:
    """How long pages take until they are there whole, the slowest of some looks."""
    line, found = Line(port), {}
    await line.open(token)
    for path in paths:
        took = []
        for _ in range(looks):
            begun = time.perf_counter()
            head, _ = await line.ask("GET", path)
            took.append(time.perf_counter() - begun)
            assert head.startswith("HTTP/1.1 200"), head
        found[path] = round(max(took), 3)
    return found


def large(where: str) -> list[str]:
    """One of 100,000 items with ten answers each, all counted; the token of somebody who labels there."""
    with large_campaign(where, 100_000, 10) as campaign:
        campaign.count()
        return [campaign.renew_token("w0").token]


def processor(pid: int) -> float:
    """Seconds of processor time that a process took until now; NaN where the system does not say."""
    path = Path(f"/proc/{pid}/stat")
    if not path.exists():
        return float("nan")
    return sum(map(int, path.read_text().split()[13:15])) / os.sysconf("SC_CLK_TCK")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rate", type=float, default=200.0)
    parser.add_argument("--minutes", type=float, default=5.0)
    parser.add_argument("--annotators", type=int, default=50)
    parser.add_argument("--large", action="store_true")
    parser.add_argument("--keep", action="store_true", help="write what was found to results/")
    options = parser.parse_args()
    seconds = 60 * options.minutes
    n_items = int(options.rate * seconds) + 10 * options.annotators
    with tempfile.TemporaryDirectory() as folder:
        where = str(Path(folder) / "load.db")
        tokens = large(where) if options.large else begun(where, n_items, options.annotators)
        with started(where) as (process, link):
            port = int(re.findall(r":(\d+)/", link)[0])
            before = processor(process.pid)
            took = sorted(asyncio.run(measured(port, tokens, options.rate, seconds)))
            spent = processor(process.pid) - before
            token = link.partition("#")[2]
            pages = asyncio.run(looked_at(port, token, PAGES))
            files = asyncio.run(looked_at(port, token, [f"/manage/export/{name}" for name in EXPORTS], looks=1))
        with Campaign.open(where) as campaign:
            held = campaign.status()
    percentiles = {share: 1000 * took[int(share / 100 * (len(took) - 1))] for share in (50, 95, 99)}
    found = {
        "n_answers": len(took),
        "rate": options.rate,
        "seconds": seconds,
        "n_annotators": len(tokens),
        "n_items": held.n_items,
        "n_held": held.n_answers,
        "milliseconds": {f"{share} %": round(value, 1) for share, value in percentiles.items()},
        "slowest_milliseconds": round(1000 * took[-1], 1),
        "processor_milliseconds_an_answer": round(1000 * spent / max(len(took), 1), 2),
        "page_seconds": pages,
        "file_seconds": files,
        "load_of_the_machine": round(os.getloadavg()[0], 2),
    }
    sys.stdout.write(json.dumps(found, indent=1) + "\n")
    if options.keep:
        keep("studio-load", "large" if options.large else f"{options.rate:g} a second", found)
    return int(percentiles[95] >= 100 or max(pages.values()) > 1)


if __name__ == "__main__":
    sys.exit(main())
