"""Many independent fits, in threads: kernels let go of the interpreter, and nothing has to be copied."""

import time
import warnings
from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from typing import Any, TypeVar

from joblib import Parallel, cpu_count, delayed

from labelworth.errors import InvalidInputError, LabelworthWarning
from labelworth.progress import Progress, tracking

JobT = TypeVar("JobT")
ResultT = TypeVar("ResultT")

Keep = Callable[[str, Callable[[], Any]], Any]
"""The name of a piece of work and how to do it -> its answer as JSON values: the one kept before, or a new one."""


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
) -> list[ResultT]:
    """Results in the order of the jobs; the same bits whatever the number of workers.

    What the fits have to say about few labels is not repeated a hundred times: their warnings are left out.

    Parameters
    ----------
    work : function
        How many steps of the progress a job is: what it takes, relative to others.
    """
    n_workers = cpu_count() if workers is None else workers
    if n_workers < 1:
        raise InvalidInputError(f"There must be at least one worker. Got {workers}.")
    at_once = max(1, min(n_workers, len(jobs)))

    def timed(job: JobT) -> tuple[ResultT, float]:
        started = time.perf_counter()
        return function(job), (time.perf_counter() - started) / at_once

    results: list[ResultT] = []
    with (
        warnings.catch_warnings(),
        tracking(progress, title, sum(map(work, jobs))) as task,
        closing(_computed(timed, jobs, at_once)) as finished,
    ):
        warnings.simplefilter("ignore", LabelworthWarning)
        # joblib counts the results that nobody takes where work is stopped.
        warnings.filterwarnings("ignore", r"\d+ tasks ", UserWarning)
        for job, (result, seconds) in zip(jobs, finished, strict=True):
            results.append(result)
            task.advance(work(job), seconds=seconds)
    return results


def _computed(
    function: Callable[[JobT], ResultT], jobs: Sequence[JobT], at_once: int
) -> Generator[ResultT, None, None]:
    if at_once == 1:
        yield from map(function, jobs)
        return
    pool = Parallel(n_jobs=at_once, backend="threading", return_as="generator")
    yield from pool(delayed(function)(job) for job in jobs)
