"""How long a large campaign takes to answer: `python tests/support/campaign_size.py [ITEMS [VOTES [WHERE]]]`.

A campaign of 100,000 items with ten answers each, written straight to its tables; then every question that a page
asks of it, some times over, wall clock and processor time.
"""

import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import sqlalchemy as sa

from labelworth.campaign import schema
from labelworth.campaign.campaign import Campaign

N_PEOPLE = 200
CLASSES = [f"class {number}" for number in range(10)]
_CHUNK = 20_000


def filled(where: str, n_items: int, votes: int) -> Campaign:
    """A campaign of which all but the last hundred items are answered."""
    campaign = Campaign.create(where, name="large", classes=CLASSES)
    campaign.add([{"id": str(number), "text": f"text {number} " + "word " * 40} for number in range(n_items)])
    people = [campaign.invite(f"w{number}", price=0.01).person for number in range(N_PEOPLE)]
    campaign.assign(count=n_items, votes=votes)
    rng, rows = random.Random(0), []
    number = 0
    with campaign._store.engine.connect() as connection:
        asked = connection.execute(sa.select(schema.requests.c.id, schema.requests.c.item_id)).all()
    for request, item in asked[:-100]:
        truth = rng.randrange(len(CLASSES))
        for person in rng.sample(people, votes):
            number += 1
            code = truth if rng.random() < 0.8 else rng.randrange(len(CLASSES))
            rows.append((number, request, item, person.id, f'["{CLASSES[code]}"]'))
    for start in range(0, len(rows), _CHUNK):
        part = rows[start : start + _CHUNK]
        campaign._store.write(lambda connection, part=part: _write(connection, part))
    campaign._store.write(lambda connection: _end(connection, votes, asked[-100][0], number))
    return campaign


def _write(connection: sa.Connection, part: list[tuple[int, int, int, int, str]]) -> None:
    names = ("id", "request_id", "item_id", "annotator_id", "said")
    said = [dict(zip(names, row, strict=True)) | {"key": str(row[0]), "seconds": 5.0} for row in part]
    more = {"price": 0.01, "given_at": 1e9}
    connection.execute(sa.insert(schema.answers), [row | more for row in said])
    stands = [{"answer_id": row[0], "request_id": row[1], "item_id": row[2], "annotator_id": row[3]} for row in part]
    connection.execute(sa.insert(schema.standing), stands)
    connection.execute(sa.insert(schema.unfolded), [{"answer_id": row[0]} for row in part])


def _end(connection: sa.Connection, votes: int, first_open: int, last: int) -> None:
    connection.execute(sa.update(schema.requests).where(schema.requests.c.id < first_open).values(given=votes))
    if connection.dialect.name == "postgresql":
        connection.execute(sa.text(f"SELECT setval('lw_answers_id_seq', {last})"))


def timed(what: str, work: Callable[[], object], times: int) -> None:
    """Tell the median and the longest."""
    walls, begun = [], time.process_time()
    for _ in range(times):
        start = time.perf_counter()
        work()
        walls.append(time.perf_counter() - start)
    cpu = (time.process_time() - begun) / times
    tell(f"{what:28s} median {statistics.median(walls) * 1e3:8.1f} ms, longest {max(walls) * 1e3:8.1f} ms, "
         f"processor {cpu * 1e3:8.1f} ms")  # fmt: skip


def tell(words: str) -> None:
    sys.stdout.write(words + "\n")
    sys.stdout.flush()


def main() -> None:
    n_items = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    votes = int(sys.argv[2]) if len(sys.argv) > 2 else 10
    with tempfile.TemporaryDirectory() as folder:
        where = sys.argv[3] if len(sys.argv) > 3 else str(Path(folder) / "large.db")
        timed(f"filled: {n_items:,} x {votes}", lambda: filled(where, n_items, votes).close(), 1)
        campaign = Campaign.open(where)
        timed("counting all answers once", campaign.count, 1)
        status = campaign.status()
        sizes = f"{status.n_items:,} items, {status.n_answers:,} answers, {len(status.people)} people"
        tell(f"{sizes}, {status.behind} not counted")
        ann = campaign.person("w7")
        timed("status", campaign.status, 20)
        timed("confusion", lambda: campaign.confusion("w7", "others"), 20)
        timed("people", campaign.people, 20)
        timed("last answers", lambda: campaign.answers(ann), 20)
        timed("who", lambda: campaign.who("x"), 20)
        timed("lease and answer", lambda: _one(campaign, ann), 50)
        timed("status after answers", campaign.status, 1)
        campaign.close()


def _one(campaign: Campaign, ann: object) -> None:
    (task,) = campaign.lease(ann)  # type: ignore[arg-type]
    campaign.answer(ann, task.request.id, CLASSES[0], key=f"{time.time_ns()}")  # type: ignore[arg-type]


if __name__ == "__main__":
    main()
