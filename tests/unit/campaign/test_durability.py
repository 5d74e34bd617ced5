"""Processes that are killed, disks that are full, two processes at once: what was acknowledged is there, once."""

import os
import random
import resource
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from pathlib import Path

import pytest
import sqlalchemy as sa

import labelworth as lw
from labelworth.campaign.campaign import Campaign

PROGRAM = Path(__file__).parents[2] / "support" / "answering_process.py"
N_KILLS = int(os.environ.get("LABELWORTH_TEST_KILLS", "6"))
NAMES = [f"w{number}" for number in range(8)]


class Answering:
    """A process that answers, and what it said was acknowledged."""

    def __init__(self, where: str, seed: int, names: list[str]) -> None:
        words = [sys.executable, str(PROGRAM), where, str(seed), *names]
        self.process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True, env=os.environ)
        self.lines: list[list[str]] = []
        self.is_ready = threading.Event()
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def _read(self) -> None:
        for line in self.process.stdout:
            # The last line of a process that was killed may be half of one.
            if line.endswith("\n"):
                words = line.rstrip("\n").split("\t")
                self.is_ready.set() if words == ["ready"] else self.lines.append(words)

    def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        self.end()

    def end(self) -> None:
        self.process.wait()
        self._reader.join()
        self.process.stdout.close()


def begun(where: str, n_items: int, votes: int = 2) -> None:
    with Campaign.create(where, name="x", classes=["ham", "spam"], lease_minutes=0.05) as campaign:
        campaign.add([f"text {number}" for number in range(n_items)])
        campaign.assign(count=n_items, votes=votes)
        for name in NAMES:
            campaign.invite(name)


def require_whole(where: str, told: list[list[str]]) -> None:
    """Whatever was told is in the log, once; and what the log and the counters say is the same."""
    with Campaign.open(where) as campaign:
        rows = campaign._store.read(lambda one: one.execute(sa.text("SELECT * FROM lw_answers")).mappings().all())
        by_id = {row["id"]: row for row in rows}
        for kind, number, _, request, key, what in told:
            row = by_id[int(number)]
            assert (row["key"], row["request_id"]) == (key, int(request))
            assert (row["withdraws"] is not None) == (kind == "undo")
            if kind == "answer":
                assert row["said"] == ("[null]" if what == "None" else f'["{what}"]')
        assert len({(row["annotator_id"], row["key"]) for row in rows}) == len(rows)
        back = {row["withdraws"] for row in rows}
        stands = [row for row in rows if row["withdraws"] is None and row["id"] not in back]
        per_person = Counter((row["annotator_id"], row["item_id"]) for row in stands)
        assert max(per_person.values(), default=1) == 1
        given = Counter(row["request_id"] for row in stands)
        requests = campaign._store.read(
            lambda one: one.execute(sa.text("SELECT * FROM lw_requests")).mappings().all()
        )
        for request in requests:
            assert request["given"] == given[request["id"]] <= request["votes"]
        campaign.count()
        status = campaign.status()
        assert (status.given, status.behind, status.n_answers) == (len(stands), 0, len(stands))


def test_nothing_acknowledged_is_lost_when_processes_are_killed(where):
    """Eight people answer in two processes, one of which is killed again and again."""
    begun(where, 1500)
    rng, told = random.Random(0), []
    other = Answering(where, 99, NAMES[4:])
    other.is_ready.wait(120)
    for kill in range(N_KILLS):
        process = Answering(where, kill, NAMES[:4])
        process.is_ready.wait(120)
        time.sleep(rng.uniform(0.05, 0.6))
        process.kill()
        told += process.lines
    other.kill()
    assert other.lines
    told += other.lines
    assert len(told) > N_KILLS
    require_whole(where, told)
    # What the killed ones held comes back when its time ran out.
    time.sleep(3.5)
    with Campaign.open(where) as campaign:
        people = [campaign.person(name) for name in NAMES]
        while sum(_answered(campaign, person) for person in people):
            pass
        status = campaign.status()
        assert (status.due, status.held, status.given) == (0, 0, 3000)


def _answered(campaign: Campaign, person) -> int:
    tasks = campaign.lease(person, n=100)
    for task in tasks:
        campaign.answer(person, task.request.id, "ham", key=f"end-{task.request.id}")
    return len(tasks)


def test_two_processes_share_a_campaign(where):
    begun(where, 60, votes=3)
    processes = [Answering(where, seed, NAMES[4 * seed : 4 * seed + 4]) for seed in range(2)]
    for process in processes:
        process.end()
        assert process.process.returncode == 0
    require_whole(where, [line for process in processes for line in process.lines])
    with Campaign.open(where) as campaign:
        assert campaign.status().given == 180


def test_a_lie_about_what_was_acknowledged_is_found(tmp_path):
    """The check above can fail."""
    where = str(tmp_path / "campaign.db")
    begun(where, 3)
    with pytest.raises(KeyError):
        require_whole(where, [["answer", "1", "w0", "1", "k", "ham"]])


class TestAFullDisk:
    @pytest.fixture
    def campaign(self, tmp_path):
        where = str(tmp_path / "campaign.db")
        begun(where, 400, votes=1)
        with Campaign.open(where) as campaign:
            yield campaign

    def test_is_told_and_nothing_acknowledged_is_lost(self, campaign):
        ann = campaign.person("w0")
        self.fill(campaign)
        told = []

        def answer_on() -> None:
            for number in range(10_000):
                (task, *_) = campaign.lease(ann)
                key = f"{number}" + "x" * 150
                told.append((task.request.id, key, campaign.answer(ann, task.request.id, "ham", key=key).answer_id))

        with pytest.raises(lw.StoreUnavailableError, match=r"full\. Nothing acknowledged is lost"):
            answer_on()
        assert told
        self.fill(campaign, pages=1_000_000)
        kept = {given.id: (given.request_id, given.key) for given in campaign.answers(limit=10_000)}
        assert kept == {number: (request, key) for request, key, number in told}
        # With room again, work goes on, and what was acknowledged counts once.
        assert not campaign.answer(ann, told[0][0], "ham", key=told[0][1]).is_new
        (task, *_) = campaign.lease(ann)
        assert campaign.answer(ann, task.request.id, "ham", key="new").is_new

    def fill(self, campaign: Campaign, pages: int | None = None) -> None:
        """Leave the file hardly any room to grow, on all connections from now on."""
        now = campaign._store.read(lambda one: one.exec_driver_sql("PRAGMA page_count").scalar_one())
        campaign._store.engine.dispose()

        def limit(connection, _):
            connection.execute(f"PRAGMA max_page_count = {pages or now + 4}")

        sa.event.listen(campaign._store.engine, "connect", limit)

    def test_by_a_limit_of_the_system_is_told_too(self, tmp_path):
        """A file that may not grow, as on a full disk; in a process of its own, whose limit it is."""
        where = str(tmp_path / "campaign.db")
        begun(where, 400, votes=1)
        size = max(path.stat().st_size for path in tmp_path.iterdir())
        program = (
            "import sys, signal, resource\n"
            "from labelworth.campaign.campaign import Campaign\n"
            "from labelworth.errors import StoreUnavailableError\n"
            "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
            "campaign = Campaign.open(sys.argv[1])\n"
            "ann = campaign.person('w0')\n"
            "resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]),) * 2)\n"
            "try:\n"
            "    for number in range(100000):\n"
            "        task = campaign.lease(ann)[0]\n"
            "        done = campaign.answer(ann, task.request.id, 'ham', key=str(number) + 'x' * 150)\n"
            "        words = 'answer', done.answer_id, 'w0', task.request.id, str(number) + 'x' * 150, 'ham'\n"
            "        print(*words, sep='\\t', flush=True)\n"
            "except StoreUnavailableError as error:\n"
            "    print(error, file=sys.stderr)\n"
            "    sys.exit(7)\n"
        )
        assert resource.getrlimit(resource.RLIMIT_FSIZE)[0] == resource.RLIM_INFINITY
        done = subprocess.run(
            [sys.executable, "-c", program, where, str(size + 16_384)], capture_output=True, text=True, check=False
        )
        assert done.returncode == 7, done.stderr
        assert "Nothing acknowledged is lost" in done.stderr
        told = [line.split("\t") for line in done.stdout.splitlines()]
        assert told
        require_whole(where, told)


def test_a_writer_that_is_interrupted_lets_others_write(tmp_path):
    """Whoever writes does so for those who wait: they are told, or done, and nobody waits for ever."""
    where = str(tmp_path / "campaign.db")
    begun(where, 3)
    with Campaign.open(where) as campaign:
        store, writing, go_on = campaign._store, threading.Event(), threading.Event()
        outcomes: list[object] = []

        def interrupted(connection: sa.Connection) -> None:
            writing.set()
            go_on.wait(60)
            raise KeyboardInterrupt

        def attempt(work) -> None:
            try:
                outcomes.append(store.write(work))
            except BaseException as error:
                outcomes.append(type(error).__name__)

        threads = [threading.Thread(target=attempt, args=(interrupted,))]
        threads[0].start()
        writing.wait(60)
        threads += [threading.Thread(target=attempt, args=(lambda _, n=n: n,)) for n in range(5)]
        for thread in threads[1:]:
            thread.start()
        go_on.set()
        for thread in threads:
            thread.join(60)
        assert sorted(map(str, outcomes)) == ["0", "1", "2", "3", "4", "KeyboardInterrupt"]
        assert store.write(lambda _: "again") == "again"
