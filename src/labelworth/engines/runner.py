"""Work cut into pieces: one function of what all pieces share and of one piece, done by whoever there is.

Functions are pure and results are added in pairs whose order the pieces fix, so that who did what leaves no trace.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Protocol

import numpy as np
from joblib import Parallel, cpu_count, delayed

from labelworth.arrays import FloatArray
from labelworth.errors import InvalidInputError

Sums = Mapping[str, FloatArray]
"""What adds up, by name."""

Piecework = Callable[[Any, Any], Any]
"""(what all pieces share, a piece) -> its result, which nobody else holds; a function of a module, so that it can be
sent."""


class Runner(Protocol):
    """Does the pieces, in whatever order and place."""

    @property
    def workers(self) -> int:
        """How many pieces are done at once."""

    @property
    def is_elsewhere(self) -> bool:
        """Whether that is on other machines: then whatever can be sent is."""

    def map(self, function: Piecework, shared: Any, items: Sequence[Any]) -> Iterator[Any]:
        """The results, in the order of the items."""

    def total(self, function: Piecework, shared: Any, items: Sequence[Any]) -> Sums:
        """The results added up as `added` does."""


def added(results: Iterable[Sums]) -> Sums:
    """Add up in pairs: 0 + 1, 2 + 3, .., then those sums in pairs, and so on; one left over goes to the next round.

    At most one sum per round is held: every result is given away by who made it, and the first of two is added to.

    Examples
    --------
    >>> import numpy as np
    >>> added({"n": np.full(1, float(number))} for number in range(5))["n"].tolist()
    [10.0]
    """
    waiting: list[tuple[int, Sums]] = []
    for result in results:
        height, total = 0, result
        while waiting and waiting[-1][0] == height:
            height, total = height + 1, _plus_in_place(waiting.pop()[1], total)
        waiting.append((height, total))
        del result, total
    if not waiting:
        raise InvalidInputError("There is nothing to add up: no rows are left.")
    total = waiting.pop()[1]
    while waiting:
        total = _plus_in_place(waiting.pop()[1], total)
    return total


def _plus_in_place(first: Sums, second: Sums) -> Sums:
    # A sum of one number may be no array, and becomes one.
    return {name: np.add(value, second[name], out=np.asarray(value)) for name, value in first.items()}


def plus(first: Sums, second: Sums) -> Sums:
    """A sum that leaves both as they are: who holds them may be asked for them again."""
    return {name: value + second[name] for name, value in first.items()}


class Threads:
    """Threads of this process: nothing is copied, and kernels let go of the interpreter."""

    is_elsewhere = False

    def __init__(self, workers: int | None = None) -> None:
        self.workers = n_workers(workers)

    def map(self, function: Piecework, shared: Any, items: Sequence[Any]) -> Iterator[Any]:
        at_once = min(self.workers, len(items))
        if at_once < 2:
            yield from (function(shared, item) for item in items)
            return
        pool = Parallel(n_jobs=at_once, backend="threading", return_as="generator", pre_dispatch="n_jobs")
        yield from pool(delayed(function)(shared, item) for item in items)

    def total(self, function: Piecework, shared: Any, items: Sequence[Any]) -> Sums:
        return added(self.map(function, shared, items))


def n_workers(workers: int | None) -> int:
    """As many as there are processors unless given."""
    if workers is not None and workers < 1:
        raise InvalidInputError(f"There must be at least one worker. Got {workers}.")
    return int(cpu_count()) if workers is None else workers


_AT_WORK: ContextVar[Runner | None] = ContextVar("at work", default=None)


@contextmanager
def working(engine: Any = None, workers: int | None = None) -> Iterator[None]:
    """Let an engine do what is done inside, as far as it can be sent; without one nothing changes.

    Who works is said once, at a door, and not handed through all rooms behind it: no answer depends on it.
    """
    if engine is None and workers is None:
        yield
        return
    before = _AT_WORK.set(runner_of(engine, workers))
    try:
        yield
    finally:
        _AT_WORK.reset(before)


def at_work() -> Runner | None:
    """The runner of the innermost `working` around."""
    return _AT_WORK.get()


def runner_of(engine: Any = None, workers: int | None = None) -> Runner:
    """Who does the work.

    Parameters
    ----------
    engine : None, "threads", "processes", a client of dask.distributed, or a Runner
        None: who is at work, see `working`; threads unless somebody is.
    workers : int, optional
        How many threads or processes; a cluster has its own.

    Raises
    ------
    InvalidInputError
        If it is none of these, or has workers of its own and is told how many.
    """
    if engine is None and workers is None:
        return at_work() or Threads()
    if engine is None or engine == "threads":
        return Threads(workers)
    if engine == "processes":
        from labelworth.engines.processes import Processes

        return Processes(workers)
    if workers is not None:
        raise InvalidInputError(
            "workers= is for threads and processes: who was given as engine has workers of its own. Leave it out."
        )
    if type(engine).__module__.split(".")[0] == "distributed":
        from labelworth.engines.cluster import Cluster

        return Cluster(engine)
    if hasattr(engine, "map") and hasattr(engine, "total"):
        runner: Runner = engine
        return runner
    raise InvalidInputError(
        f"engine must be 'threads', 'processes' or a dask.distributed.Client. Got {engine!r:.60} instead."
    )
