"""Many independent fits, in threads: kernels let go of the interpreter, and nothing has to be copied.

Fits by other code may hold on to it. Where many of those are left to do, they go to processes (`Processes`). Where a
cluster is at work (`labelworth.engines.runner.working`), all fits go there.
"""

import time
import warnings
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import BrokenExecutor, CancelledError, ThreadPoolExecutor
from contextlib import closing
from contextvars import copy_context
from dataclasses import dataclass
from pickle import PicklingError
from threading import Event, Lock
from typing import Any, Generic, TypeVar

from threadpoolctl import threadpool_limits

from labelworth.engines.processes import stop, submit
from labelworth.engines.runner import at_work, n_workers
from labelworth.errors import LabelworthWarning
from labelworth.progress import Progress, tracking

_WORTH_PROCESSES = 10.0
"""Seconds that all fits still take, from which on processes are started: that alone takes two to five."""
_NOT_SENT = (PicklingError, BrokenExecutor)

JobT = TypeVar("JobT")
ResultT = TypeVar("ResultT")

Keep = Callable[[str, Callable[[], Any]], Any]
"""The name of a piece of work and how to do it -> its answer as JSON values: the one kept before, or a new one."""


@dataclass(frozen=True, eq=False)
class Refit(Generic[ResultT]):
    """One fit, that may be done elsewhere: a function of what many fits share, and of what is its own."""

    function: Callable[..., ResultT]  # Of a module, or a method of what is shared.
    shared: Any  # Large: it travels once.
    own: tuple[Any, ...] = ()

    def __call__(self) -> ResultT:
        return self.function(self.shared, *self.own)


def refitted(shared: Any, item: tuple[Callable[..., ResultT], tuple[Any, ...]]) -> ResultT:
    """The same where it was sent to."""
    function, own = item
    # One thread, as where plans are made: then products add up in the same order.
    with warnings.catch_warnings(), threadpool_limits(limits=1, user_api="blas"):
        warnings.simplefilter("ignore")
        return function(shared, *own)


def keep_nothing(name: str, compute: Callable[[], Any]) -> Any:
    """Do it now; the name would be that of what is kept."""
    return compute()


def run_jobs(
    function: Callable[[JobT], ResultT],
    jobs: Sequence[JobT],
    *,
    workers: int | None,
    title: str,
    progress: Progress,
    work: Callable[[JobT], int] = lambda job: 1,
    stop: Callable[[], None] = lambda: None,
) -> list[ResultT]:
    """Results in the order of the jobs; the same bits whatever the number of workers.

    What the fits have to say about few labels is not repeated a hundred times: their warnings are left out.

    Parameters
    ----------
    work : function
        How many steps of the progress a job is: what it takes, relative to others.
    stop : function
        Called where work ends before its time.
    """
    at_once = max(1, min(_at_once(workers), len(jobs)))
    around = copy_context()

    def timed(job: JobT) -> tuple[ResultT, float]:
        started = time.perf_counter()
        # Threads know of nothing that was set around them: who is at work.
        return around.copy().run(function, job), (time.perf_counter() - started) / at_once

    results: list[ResultT] = []
    with (
        warnings.catch_warnings(),
        tracking(progress, title, sum(map(work, jobs))) as task,
        closing(_computed(timed, jobs, at_once)) as finished,
    ):
        warnings.simplefilter("ignore", LabelworthWarning)
        # What others' code says; filters of single fits do not hold where fits run in threads.
        warnings.filterwarnings("ignore", module=r"(?!labelworth)")
        try:
            for job, (result, seconds) in zip(jobs, finished, strict=True):
                results.append(result)
                task.advance(work(job), seconds=seconds)
        except BaseException:
            stop()
            raise
    return results


def run_fits(
    bind: Callable[[JobT], Refit[ResultT]],
    jobs: Sequence[JobT],
    *,
    name: Callable[[JobT], str],
    keep: Keep,
    in_processes: bool,
    workers: int | None,
    title: str,
    progress: Progress,
    work: Callable[[JobT], int],
) -> list[ResultT]:
    """The same for fits that are kept one by one.

    Parameters
    ----------
    bind : function
        A job -> how to do it.
    name, keep : function
        Asked here, wherever fits run.
    in_processes : bool
        Whether fits are by code that may hold on to the interpreter.
    """
    runner = at_work()
    is_elsewhere = runner is not None and runner.is_elsewhere
    processes = Processes(_at_once(workers), sum(map(work, jobs)))

    def run(job: JobT) -> ResultT:
        def compute() -> ResultT:
            refit = bind(job)
            if runner is not None and is_elsewhere:
                (result,) = runner.map(refitted, refit.shared, [(refit.function, refit.own)])
                answer: ResultT = result
                return answer
            return processes.do(refit, work(job)) if in_processes else refit()

        kept: ResultT = keep(name(job), compute)
        return kept

    # The slow ones first: they tell how long all will take, and none of them is left to wait for at the end.
    order = sorted(range(len(jobs)), key=lambda index: -work(jobs[index]))
    results = run_jobs(
        run,
        [jobs[index] for index in order],
        workers=workers,
        title=title,
        progress=progress,
        work=work,
        stop=processes.stop,
    )
    of_job = dict(zip(order, results, strict=True))
    return [of_job[index] for index in range(len(jobs))]


class Processes:
    """Does tasks here until it is known that enough is left for processes to pay, and then sends them there.

    Parameters
    ----------
    n_workers : int
        How many tasks are done at once.
    work : int
        What all of them take, in the units of `do`.
    """

    def __init__(self, n_workers: int, work: int) -> None:
        self._n_workers, self._left = n_workers, work
        self._seconds, self._done = 0.0, 0
        self._is_here, self._is_stopped = n_workers < 2, False
        self._has_sent = False
        self._lock = Lock()

    def do(self, task: Callable[[], ResultT], work: int) -> ResultT:
        """The answer of a task, the same bits wherever it is done."""
        with self._lock:
            pays = self._done > 0 and self._seconds / self._done * self._left / self._n_workers > _WORTH_PROCESSES
            self._left -= work
            is_elsewhere = pays and not self._is_here
        if is_elsewhere:
            try:
                return self._elsewhere(task)
            except _NOT_SENT:
                if self._is_stopped:
                    raise
                # It cannot be sent, or the other side cannot read it: an estimator of a script, say.
                self._is_here = True
        started = time.perf_counter()
        result = task()
        with self._lock:
            self._seconds += time.perf_counter() - started
            self._done += work
        return result

    def stop(self) -> None:
        """End processes in the middle of their work."""
        self._is_stopped = True
        if self._has_sent:
            stop(self._n_workers)

    def _elsewhere(self, task: Callable[[], ResultT]) -> ResultT:
        with self._lock:
            self._has_sent = True
            answering = submit(self._n_workers, task)
        answer: ResultT = answering.result()
        return answer


def _at_once(workers: int | None) -> int:
    """How many jobs are under way: as many as asked for, or as whoever is at work can do."""
    runner = at_work()
    if runner is None or (workers is not None and not runner.is_elsewhere):
        return n_workers(workers)
    return runner.workers


def _computed(
    function: Callable[[JobT], ResultT], jobs: Sequence[JobT], at_once: int
) -> Generator[ResultT, None, None]:
    if at_once == 1:
        yield from map(function, jobs)
        return
    pool, failed = ThreadPoolExecutor(at_once), Event()

    def unless_failed(job: JobT) -> ResultT:
        # Not when its turn comes to be told: a cluster that is gone is given no more to do. Jobs begin in their
        # order, so whoever waits meets the one that failed before any that was refused.
        if failed.is_set():
            raise CancelledError
        try:
            return function(job)
        except BaseException:
            failed.set()
            raise

    try:
        for answer in [pool.submit(unless_failed, job) for job in jobs]:
            yield answer.result()
    finally:
        # Whoever stops in the middle waits for what runs: an interpreter that ends under a kernel is aborted.
        pool.shutdown(cancel_futures=True)
