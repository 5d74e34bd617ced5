"""Kills workers and the scheduler of a real cluster of processes in the middle of work, and compares every bit.

`python tests/chaos/cluster.py --kills 50`: SIGKILL of workers at random moments of EM, of the training of a CRF, of
Lanczos and of a forecast; then of the scheduler in the middle of each, which are begun again with their checkpoints.
Every answer must be that of one thread without a cluster, to the last bit, and none may take for ever. A runner that
adds results as they arrive is the control: it must be told by its bits.
"""

import argparse
import json
import os
import random
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import scipy.sparse as sp
from distributed import Client, as_completed

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1]))

import labelworth as lw
from labelworth.data.evidence import Evidence
from labelworth.data.samples import Samples
from labelworth.data.sequences import Sequences
from labelworth.data.shards.folder import Shards
from labelworth.engines.cluster import Cluster
from labelworth.engines.runner import Threads, plus
from labelworth.errors import LabelworthError
from labelworth.estimation.conditional_fit import fit_conditional
from labelworth.estimation.fit import fit, settled
from labelworth.fisher.documents.probing import matrix_free_information
from labelworth.models.classes.multinomial import MultinomialFamily
from support.kept_figures import keep

LONGEST = 600.0
"""Seconds after which a piece of work counts as hanging."""
QUICK = {"DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT": "5s", "DASK_DISTRIBUTED__COMM__TIMEOUTS__TCP": "15s"}
"""A dead scheduler is told as lost after seconds, not after a minute."""
Work = Callable[[Any, Path | None], bytes]
"""(engine, folder of the checkpoint or None) -> all bits of the answer."""


def say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


class ClusterOfProcesses:
    """A scheduler and workers, each a process of its own, on loopback alone."""

    def __init__(self, n_workers: int, folder: Path) -> None:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.address = f"tcp://127.0.0.1:{self.port}"
        environment = {**os.environ, **QUICK, "DASK_TEMPORARY_DIRECTORY": str(folder / "dask")}
        self._log = (folder / "cluster.log").open("ab")
        options: dict[str, Any] = {"env": environment, "stdout": self._log, "stderr": self._log}
        dask = [sys.executable, "-m", "distributed.cli"]
        scheduler = ["dask_scheduler", "--host", "127.0.0.1", "--port", str(self.port), "--no-dashboard"]
        workers = ["dask_worker", self.address, "--host", "127.0.0.1", "--no-dashboard", "--nthreads", "1"]
        self.scheduler = subprocess.Popen([*dask[:2], f"{dask[2]}.{scheduler[0]}", *scheduler[1:]], **options)
        self.nannies = subprocess.Popen(
            [*dask[:2], f"{dask[2]}.{workers[0]}", *workers[1:], "--nworkers", str(n_workers)], **options
        )
        self.client: Client | None = None
        try:
            self.client = Client(self.address, timeout=120)
            self.client.wait_for_workers(n_workers, timeout=240)
        except BaseException:
            self.close()
            raise

    def workers(self) -> list[psutil.Process]:
        """Those that do the work; their nannies are threads of the process that has started them."""
        with suppress(psutil.NoSuchProcess):
            children = psutil.Process(self.nannies.pid).children(recursive=True)
            return [child for child in children if _is_worker(child)]
        return []

    def close(self) -> None:
        with suppress(Exception):
            if self.client is not None:
                self.client.close(timeout=5)
        workers = self.workers()
        for process in (self.nannies, self.scheduler):
            process.kill()
            process.wait()
        for worker in workers:
            with suppress(psutil.NoSuchProcess):
                worker.kill()
        self._log.close()


def _is_worker(process: psutil.Process) -> bool:
    try:
        return process.is_running() and any("spawn_main" in part for part in process.cmdline())
    except (psutil.NoSuchProcess, psutil.AccessDenied):
        return False


@contextmanager
def cluster(n_workers: int, folder: Path) -> Iterator[ClusterOfProcesses]:
    made = ClusterOfProcesses(n_workers, folder)
    try:
        yield made
    finally:
        made.close()


def documents(n_samples: int, n_words: int, seed: int) -> Samples:
    """Of four classes, drawn from multinomials over words with Zipf's frequencies; a twentieth is labeled."""
    rng = np.random.default_rng(seed)
    usual = 1.0 / np.arange(1, n_words + 1)
    words = np.array([rng.permutation(usual[: n_words // 4]) for _ in range(4)])
    words = np.concatenate([words, np.tile(usual[n_words // 4 :], (4, 1))], axis=1)
    words /= words.sum(axis=1, keepdims=True)
    truth = rng.integers(0, 4, size=n_samples)
    counts = np.zeros((n_samples, n_words))
    for code in range(4):
        rows = np.flatnonzero(truth == code)
        counts[rows] = rng.multinomial(15, words[code], size=len(rows))
    codes = np.where(rng.random(n_samples) < 0.05, truth, -1)
    return Samples(sp.csr_array(counts), Evidence(codes, ("a", "b", "c", "d")))


def sentences(n_sequences: int, n_words: int, seed: int) -> Sequences:
    """Of five labels in a chain, each with words of its own; two fifths of the tokens are labeled."""
    rng = np.random.default_rng(seed)
    moves, words = rng.dirichlet(np.full(5, 0.5), size=5), rng.dirichlet(np.full(n_words, 0.05), size=5)
    offsets = np.concatenate([[0], np.cumsum(rng.integers(5, 20, size=n_sequences))])
    labels = np.zeros(offsets[-1], dtype=np.int64)
    uniforms, jumps, turns = rng.random(offsets[-1]), moves.cumsum(axis=1), words.cumsum(axis=1)
    for token in range(1, len(labels)):
        labels[token] = min(4, int((uniforms[token] > jumps[labels[token - 1]]).sum()))
    spoken = np.array([np.searchsorted(turns[label], rng.random() * turns[label, -1]) for label in labels])
    codes = np.where(rng.random(len(labels)) < 0.4, labels, -1)
    names = tuple(f"word {number}" for number in range(n_words))
    return Sequences(np.minimum(spoken, n_words - 1), offsets, Evidence(codes, tuple("ABCDE")), names)


@dataclass(frozen=True)
class Works:
    """The four kinds of work, over shards in a folder."""

    folder: Path
    size: int  # How much there is to do, in thousands of documents.

    def make(self) -> None:
        counts = self._documents
        Shards.write(self.folder / "documents", counts, stored_per_shard=int(counts.counts.nnz // 12))
        tokens = sentences(400 * self.size, 400, seed=2)
        Shards.write(self.folder / "sentences", tokens, stored_per_shard=tokens.n_tokens // 8)

    @cached_property
    def _documents(self) -> Samples:
        return documents(1000 * self.size, 600, seed=1)

    @cached_property
    def _settled(self) -> Any:
        return settled(MultinomialFamily.for_samples(self._documents, smoothing=0.1), self._documents)

    def all(self) -> dict[str, Work]:
        return {"EM": self.em, "CRF": self.crf, "Lanczos": self.lanczos, "forecast": self.forecast}

    def em(self, engine: Any, kept: Path | None) -> bytes:
        data = self._opened("documents", engine, kept)
        fitted = fit(MultinomialFamily.for_samples(data, smoothing=0.1), data, tolerance=1e-9)
        return fitted.objective_path.tobytes() + b"".join(_tables(fitted.model))

    def crf(self, engine: Any, kept: Path | None) -> bytes:
        fitted = fit_conditional(self._opened("sentences", engine, kept), c2=0.3, tolerance=1e-4)
        return fitted.objective_path.tobytes() + b"".join(_tables(fitted.model))

    def lanczos(self, engine: Any, kept: Path | None) -> bytes:
        # Where it is asked, EM has settled in memory.
        data, fitted = self._opened("documents", engine, kept), self._settled
        told = matrix_free_information(
            fitted.model, fitted.family, data, np.random.default_rng(3), quadrature_tolerance=1e-8, max_steps=40
        )
        rules = (told.plain.low, told.plain.high, told.named.low, told.named.high)
        return b"".join(rule.nodes.tobytes() + rule.weights.tobytes() for rule in rules)

    def forecast(self, engine: Any, kept: Path | None) -> bytes:
        data = documents(300 * self.size, 300, seed=4)
        plan = lw.plan(
            data,
            model="multinomial",
            target=0.2,
            source="simulated",
            n_draws=20,
            seed=5,
            checkpoint=None if kept is None else kept / "forecast",
            engine=None if isinstance(engine, Threads) else engine,
        )
        return json.dumps(plan.to_dict(), sort_keys=True, default=str).encode()

    def _opened(self, name: str, engine: Any, kept: Path | None) -> Any:
        return Shards.open(self.folder / name, engine=engine, checkpoint=kept).data


def _tables(model: Any) -> list[bytes]:
    return [np.ascontiguousarray(table).tobytes() for table in model.tables.values()]


@dataclass
class Killer:
    """SIGKILL of a worker that is at work, at random moments."""

    cluster: ClusterOfProcesses
    chance: random.Random
    slowest: float  # Seconds between two of them at most.
    killed: list[int] = field(default_factory=list)
    over: threading.Event = field(default_factory=threading.Event)
    wanted: int = 0

    def run(self) -> None:
        while not self.over.is_set():
            if len(self.killed) >= self.wanted or self.over.wait(self.chance.uniform(0.05, self.slowest)):
                self.over.wait(0.05)
                continue
            # One that has been there for a moment: who is still starting holds nothing that could be lost.
            alive = [worker for worker in self.cluster.workers() if _age(worker) > 2.0]
            if alive:
                chosen = self.chance.choice(alive)
                with suppress(psutil.NoSuchProcess):
                    os.kill(chosen.pid, signal.SIGKILL)
                    self.killed.append(chosen.pid)


def _age(process: psutil.Process) -> float:
    with suppress(psutil.NoSuchProcess):
        return time.time() - float(process.create_time())
    return 0.0


class Hanging(AssertionError):
    """Work that takes for ever."""


def in_time(work: Callable[[], bytes], longest: float = LONGEST) -> bytes:
    """What it answers, or an error where it does not."""
    answers: list[Any] = []

    def run() -> None:
        try:
            answers.append(work())
        except BaseException as error:
            answers.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(longest)
    if not answers:
        raise Hanging(f"no answer after {longest:g} s")
    if isinstance(answers[0], BaseException):
        raise answers[0]
    return bytes(answers[0])


@dataclass
class Told:
    """What happened to one kind of work."""

    name: str
    kills: int = 0
    runs: int = 0
    wrong: int = 0
    seconds: float = 0.0
    longest: float = 0.0

    def line(self) -> str:
        return (
            f"{self.name}: {self.kills} workers killed in {self.runs} runs, {self.wrong} answers of other bits; "
            f"{self.seconds:.0f} s in all, the longest run {self.longest:.0f} s"
        )


def kill_workers(
    works: Works, expected: dict[str, bytes], n_kills: int, n_workers: int, chance: random.Random, slowest: float
) -> list[Told]:
    """So many kills, dealt over the kinds of work; every run that met one is compared."""
    told = []
    with cluster(n_workers, works.folder) as own:
        for number, (name, work) in enumerate(works.all().items()):
            share = n_kills // 4 + (number < n_kills % 4)
            killer = Killer(own, chance, slowest, wanted=share)
            thread = threading.Thread(target=killer.run, daemon=True)
            thread.start()
            case = Told(name)
            while len(killer.killed) < share:
                before, started = len(killer.killed), time.monotonic()
                answer = in_time(lambda work=work: work(Cluster(own.client, patience=60.0), None))  # type: ignore[misc]
                took = time.monotonic() - started
                case.runs += len(killer.killed) > before
                case.wrong += answer != expected[name]
                case.seconds, case.longest = case.seconds + took, max(case.longest, took)
            killer.over.set()
            thread.join()
            case.kills = len(killer.killed)
            say(case.line())
            told.append(case)
    return told


class ByArrival(Cluster):
    """Adds results as they come: what must not be."""

    def total(self, function: Any, shared: Any, items: Any) -> Any:
        futures = [self._client.submit(function, shared, item, pure=False) for item in items]
        arrived = [result for _, result in as_completed(futures, with_results=True)]
        total = arrived[0]
        for result in arrived[1:]:
            total = plus(total, result)
        return total


def is_control_caught(works: Works, expected: bytes, n_workers: int, n_runs: int = 5) -> bool:
    with cluster(n_workers, works.folder) as own:
        return any(works.em(ByArrival(own.client), None) != expected for _ in range(n_runs))


class Counted(Cluster):
    """Counts passes that were begun, and lets the scheduler be killed in the middle of one of them."""

    def __init__(self, client: Any, kill_in: int | None, scheduler: Any) -> None:
        super().__init__(client, patience=60.0)
        self.begun, self._kill_in, self._scheduler = 0, kill_in, scheduler

    def _tried(self, function: Any, shared: Any, items: Any, *, is_total: bool) -> list[Any]:
        # Passes are totals and refits are maps of one; a look at every shard before the first pass is neither.
        self.begun += is_total or len(items) == 1
        if self.begun == self._kill_in:
            threading.Timer(0.05, self._scheduler.kill).start()
        return super()._tried(function, shared, items, is_total=is_total)


def kill_scheduler(
    works: Works, expected: dict[str, bytes], n_workers: int, kill_in: int
) -> dict[str, dict[str, Any]]:
    """Passes (of a forecast: refits) that were lost with a scheduler, by kind of work; all bits must be as before."""
    told = {}
    for name, work in works.all().items():
        with tempfile.TemporaryDirectory(dir=works.folder) as kept:
            with cluster(n_workers, works.folder) as own:
                first = Counted(own.client, kill_in, own.scheduler)
                started = time.monotonic()
                try:
                    in_time(lambda: work(first, Path(kept)))  # noqa: B023
                    raise AssertionError(f"{name}: the scheduler was killed too late")
                except LabelworthError as error:
                    said = str(error)
                told_after = time.monotonic() - started
            with cluster(n_workers, works.folder) as own:
                second = Counted(own.client, None, None)
                answer = in_time(lambda: work(second, Path(kept)))  # noqa: B023
                whole = Counted(own.client, None, None)
                in_time(lambda: work(whole, None))  # noqa: B023
        lost = first.begun + second.begun - whole.begun
        same = answer == expected[name]
        line = (
            f"{name}: scheduler killed in step {kill_in} of {whole.begun}; told after {told_after:.0f} s "
            f"({said[:60]}..); begun again, {lost} step(s) were done twice; bits {'the same' if same else 'DIFFER'}"
        )
        say(line)
        # Of refits each worker may lose the one that it had in hand.
        most = 1 if name != "forecast" else n_workers
        if not same or lost > most:
            raise AssertionError(line)
        told[name] = {
            "killed_in": kill_in,
            "steps": whole.begun,
            "done_again": lost,
            "told_after_seconds": told_after,
        }
    return told


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--workers", type=int, default=3)
    parser.add_argument("--size", type=int, default=8)
    parser.add_argument("--slowest", type=float, default=6.0, help="Seconds between two kills at most.")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", choices=["workers", "scheduler", "control"], default=None)
    parser.add_argument("--keep", action="store_true", help="write what was found to results/")
    asked = parser.parse_args()
    os.environ.update(QUICK)
    import dask

    dask.config.refresh()
    with tempfile.TemporaryDirectory(prefix="labelworth-chaos-") as name:
        works = Works(Path(name), asked.size)
        works.make()
        expected = {}
        for kind, work in works.all().items():
            started = time.monotonic()
            expected[kind] = work(Threads(1), None)
            again = work(Threads(1), None) == expected[kind]
            say(f"{kind}: one thread, {time.monotonic() - started:.1f} s twice; repeats itself: {again}")
        wrong, found = 0, {kind: {"load_of_the_machine": os.getloadavg()[0]} for kind in expected}
        if asked.only in (None, "workers"):
            told = kill_workers(works, expected, asked.kills, asked.workers, random.Random(asked.seed), asked.slowest)
            wrong = sum(case.wrong for case in told)
            say(f"{sum(case.kills for case in told)} kills, {wrong} answers of other bits, no hang")
            for case in told:
                found[case.name]["workers"] = asdict(case)
        if asked.only in (None, "control"):
            caught = is_control_caught(works, expected["EM"], asked.workers)
            say(f"A runner that adds by arrival is {'told by its bits' if caught else 'NOT TOLD'}")
            wrong += not caught
            found["EM"]["control_is_caught"] = caught
        if asked.only in (None, "scheduler"):
            for kind, lost in kill_scheduler(works, expected, asked.workers, kill_in=6).items():
                found[kind]["scheduler"] = lost
    if asked.keep:
        for kind, figures in found.items():
            keep("cluster-kills", kind, figures, packages=("dask", "distributed", "numpy", "numba"))
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
