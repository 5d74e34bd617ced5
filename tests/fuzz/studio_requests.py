"""Damaged and random requests for every door of the studio: `python tests/fuzz/studio_requests.py --count 20000`.

They go to the application without a network. None may end in a traceback or a status of 500 and more, take long, or
leave memory behind.
"""

import argparse
import asyncio
import logging
import random
import resource
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any
from urllib.parse import quote_from_bytes, urlencode

sys.path.insert(0, str(Path(__file__).parents[1]))

from labelworth.campaign.campaign import Campaign
from labelworth.studio.doors import DOORS, Place, Studio
from labelworth.studio.limits import Limits, Rate
from labelworth.studio.visits import proof_of
from support.kept_figures import keep

SECONDS, MOST_MEGABYTES = 20.0, 200.0
"""Of processor time that a request may take, and of memory that all after the first fifth may leave behind."""
NAMES = (
    "proof", "request", "key", "seconds", "said", "answer", "person", "name", "role", "channel", "price", "count",
    "votes", "after", "plan", "policy", "why", "question0", "audit", "problem", "value", "token", "t0", "t1", "t99",
)  # fmt: skip
VALUES = (
    "", "0", "1", "2", "-1", "99999999999999999999", "9" * 400, "1e308", "nan", "inf", "?", "yes", "no", "on", "\x00",
    "\ud7ff", "'\"><x>", "annotator", "manager", "gold", "crowd", "target", "budget", "../../etc/passwd", "{{7*7}}",
    "٣", "½", "lease 1", "a" * 300, "window:2", "everything", "0.5*nothing", "macro-F1 >= 90%", "5 %",
    "x'; DROP TABLE lw_items; --", "\r\nSet-Cookie: a=b", "\u202e", "🙂",
)  # fmt: skip
FORM = "application/x-www-form-urlencoded"


class Sender:
    """Makes requests that are nearly right, and hands them to the application."""

    def __init__(self, studio: Studio, tokens: list[str], chance: random.Random) -> None:
        self._studio, self._tokens, self._chance = studio, tokens, chance

    def request(self) -> tuple[dict[str, object], bytes]:
        chance = self._chance
        door = chance.choice(DOORS)
        path = door.path
        for part in ("{name}", "{number}"):
            path = path.replace(part, chance.choice([*VALUES, "studio.js", "labels.csv", "answers.csv"]))
        if chance.random() < 0.1:
            path = chance.choice(
                ["/", "//", "/%00", "/manage/../", "/" + "x" * 3000, "*", "/manage//live", path + "/"]
            )
        method = (
            door.method
            if chance.random() < 0.9
            else chance.choice(["GET", "POST", "HEAD", "PUT", "OPTIONS", "\u00df"])
        )
        token = chance.choice([*self._tokens, *self._tokens, "A" * 43, "", "=;=", "\u00ff"])
        fields = {chance.choice(NAMES): chance.choice(VALUES) for _ in range(chance.randrange(10))}
        if token and chance.random() < 0.8:
            fields["proof"] = proof_of(token)
        body = self._damaged(urlencode(fields, errors="replace").encode())
        headers = [
            (b"host", chance.choice([b"127.0.0.1"] * 12 + [b"", b"evil.org", b"[::1", b"\xff", b"localhost:x"])),
            (b"content-type", chance.choice([FORM] * 8 + ["", "text/plain", "multipart/form-data"]).encode()),
            (b"cookie", f"{self._studio.pages.cookie}={token}".encode("latin-1")),
        ]
        if chance.random() < 0.1:
            size = chance.choice([b"-1", b"x", b"9" * 30, "٣".encode(), b"0"])
            headers.append((b"content-length", size))
        if chance.random() < 0.2:
            headers.append((b"x-requested-with", b"labelworth"))
        if chance.random() < 0.05:
            headers.append((b"sec-fetch-site", chance.choice([b"cross-site", b"\xff", b"none"])))
        query = chance.choice(["", "task=1", "task=", "task=99999999999999999999", "=&&;", "task=%ff"])
        return {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": method,
            "scheme": "http",
            "path": path,
            "raw_path": quote_from_bytes(path.encode(errors="replace")).encode(),
            "query_string": query.encode(),
            "root_path": "",
            "headers": headers,
            "client": chance.choice([("10.0.0.1", 1), ("::1", 1), ("unix", 0), None]),
            "server": ("127.0.0.1", 8000),
        }, body

    def _damaged(self, body: bytes) -> bytes:
        chance = self._chance
        if chance.random() < 0.7 or not body:
            return body
        at = chance.randrange(len(body))
        return chance.choice(
            [body[:at], body[:at] + bytes([chance.randrange(256)]) + body[at:], body * 40, b"%" * 99]
        )

    async def send(self) -> tuple[int, float]:
        """The status, and how long it took."""
        scope, body = self.request()
        messages = [{"type": "http.request", "body": body, "more_body": False}]
        if self._chance.random() < 0.03:
            messages = [{"type": "http.disconnect"}]
        heard: list[int] = []

        async def receive() -> dict[str, object]:
            return messages.pop(0) if messages else {"type": "http.disconnect"}

        async def answer(message: dict[str, object]) -> None:
            if message["type"] == "http.response.start":
                heard.append(int(str(message["status"])))

        begun = time.process_time()
        await self._studio.app(scope, receive, answer)
        return heard[0] if heard else 0, time.process_time() - begun


def fuzz(count: int, folder: Path, seed: int = 0) -> dict[str, Any]:
    """Send so many requests; what came back, and how much memory it took."""
    chance = random.Random(seed)
    loose = Rate(1e9, 1e9)
    statuses: Counter[int] = Counter()
    slowest, before = 0.0, 0
    logging.getLogger("labelworth.studio").setLevel(logging.ERROR)
    for kind in ("documents", "sequences"):
        with Campaign.create(folder / f"{kind}.db", name="fuzz", kind=kind, classes=["a", "<b>"]) as campaign:
            items = [{"id": f"i{n}", "text": f"text {n}", "tokens": ["one", "two", f"{n}"]} for n in range(200)]
            own = "text" if kind == "documents" else "tokens"
            campaign.add([{"id": item["id"], own: item[own]} for item in items])
            campaign.assign(count=100)
            tokens = [campaign.invite("ann").token, campaign.invite("mia", role="manager").token]
            # The manager's own actions end links: somebody always comes back in.
            limits = Limits(address=loose, strangers=loose, person=loose)
            sender = Sender(Studio(campaign, Place("http://127.0.0.1:8000"), limits), tokens, chance)

            async def many(
                sender: Sender = sender, campaign: Campaign = campaign, tokens: list[str] = tokens
            ) -> None:
                nonlocal slowest, before
                for index in range(count // 2):
                    status, seconds = await sender.send()
                    statuses[status] += 1
                    slowest = max(slowest, seconds)
                    if index % 500 == 499:
                        tokens[:] = [campaign.renew_token(name).token for name in ("ann", "mia")]
                    if index == count // 10 and not before:
                        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

            asyncio.run(many())
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    return {
        "n_inputs": statuses.total(),
        "answered_badly": sum(n for status, n in statuses.items() if status >= 500 or status == 0),
        "statuses": {str(status): n for status, n in sorted(statuses.items())},
        "slowest": round(slowest, 3),
        "megabytes": round(grown, 1),
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--count", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--record", action="store_true", help="write the counts to results/")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        found = fuzz(options.count, Path(folder), options.seed)
    sys.stdout.write(f"{found}\n")
    if options.record:
        limits = {"seconds_at_most": SECONDS, "megabytes_at_most": MOST_MEGABYTES}
        keep("fuzz", "requests to the studio", {**found, **limits})
    return int(found["answered_badly"] > 0 or found["slowest"] > SECONDS or found["megabytes"] > MOST_MEGABYTES)


if __name__ == "__main__":
    sys.exit(main())
