"""Many independent fits, in threads: kernels let go of the interpreter, and nothing has to be copied."""

import warnings
from collections.abc import Callable, Iterable, Sequence
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
) -> list[ResultT]:
    """Results in the order of the jobs; the same bits whatever the number of workers.

    What the fits have to say about few labels is not repeated a hundred times: their warnings are left out.
    """
    n_workers = cpu_count() if workers is None else workers
    if n_workers < 1:
        raise InvalidInputError(f"There must be at least one worker. Got {workers}.")
    results: list[ResultT] = []
    with warnings.catch_warnings(), tracking(progress, title, len(jobs)) as task:
        warnings.simplefilter("ignore", LabelworthWarning)
        for result in _computed(function, jobs, n_workers):
            results.append(result)
            task.advance()
    return results


def _computed(function: Callable[[JobT], ResultT], jobs: Sequence[JobT], n_workers: int) -> Iterable[ResultT]:
    if n_workers == 1 or len(jobs) <= 1:
        return map(function, jobs)
    pool = Parallel(n_jobs=min(n_workers, len(jobs)), backend="threading", return_as="generator")
    finished: Iterable[ResultT] = pool(delayed(function)(job) for job in jobs)
    return finished
