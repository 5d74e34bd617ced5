"""Processes of this machine, by loky; one that dies is replaced, and its work done again."""

import pickle
import signal
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import BrokenExecutor
from functools import lru_cache
from pathlib import Path
from typing import Any

from joblib.externals.loky import ProcessPoolExecutor

from labelworth.engines.runner import Piecework, Sums, added, n_workers
from labelworth.errors import LabelworthError

_IDLE = 60
"""Seconds after which processes without work end."""
_ONE_THREAD = {f"{library}_NUM_THREADS": "1" for library in ("OMP", "OPENBLAS", "MKL", "BLIS", "NUMBA")}
_MOST_DEATHS = 20
"""In one pass: a process that always dies, as of too little memory, is not started for ever."""


class Processes:
    """So many processes of one thread each."""

    is_elsewhere = False

    def __init__(self, workers: int | None = None) -> None:
        self.workers = n_workers(workers)

    def map(self, function: Piecework, shared: Any, items: Sequence[Any]) -> Iterator[Any]:
        with tempfile.TemporaryDirectory(prefix="labelworth-") as folder:
            # Once for all pieces, not once each: processes read it when they first need it.
            path = Path(folder) / "shared"
            path.write_bytes(pickle.dumps(shared, protocol=pickle.HIGHEST_PROTOCOL))
            yield from self._results(function, str(path), items)

    def total(self, function: Piecework, shared: Any, items: Sequence[Any]) -> Sums:
        return added(self.map(function, shared, items))

    def _results(self, function: Piecework, path: str, items: Sequence[Any]) -> Iterator[Any]:
        """In order, with twice as many under way as there are processes."""
        under_way: dict[int, Any] = {}
        deaths = 0
        for wanted in range(len(items)):
            while True:
                try:
                    for number in range(wanted, min(wanted + 2 * self.workers, len(items))):
                        if number not in under_way:
                            under_way[number] = submit(self.workers, _done, function, path, items[number])
                    result = under_way.pop(wanted).result()
                    break
                except BrokenExecutor as error:
                    deaths += 1
                    if deaths > _MOST_DEATHS:
                        raise LabelworthError(
                            f"Processes died {deaths} times in one pass ({error}). Is there too little memory? Use "
                            "fewer workers, or smaller shards."
                        ) from error
                    # Whatever finished before the death stays; the rest is sent again.
                    under_way = {number: future for number, future in under_way.items() if _is_whole(future)}
            yield result


def _is_whole(future: Any) -> bool:
    return bool(future.done() and not future.cancelled() and future.exception() is None)


def _done(function: Piecework, path: str, item: Any) -> Any:
    return function(_shared(path), item)


@lru_cache(maxsize=1)
def _shared(path: str) -> Any:
    return pickle.loads(Path(path).read_bytes())


_EXECUTORS: dict[int, Any] = {}
"""Processes that idle, by their number. Not joblib's reusable ones: it expects those to be of a kind of its own."""


def submit(workers: int, function: Any, *arguments: Any) -> Any:
    """The answer to be of ``function(*arguments)``, in the processes of before if they are still there."""
    if workers in _EXECUTORS:
        try:
            return _EXECUTORS[workers].submit(function, *arguments)
        except (RuntimeError, BrokenExecutor):  # ended, or one of them died
            del _EXECUTORS[workers]
    executor = ProcessPoolExecutor(workers, timeout=_IDLE, initializer=_ignore_interrupts, env=_ONE_THREAD)
    _EXECUTORS[workers] = executor
    return executor.submit(function, *arguments)


def stop(workers: int) -> None:
    """End them in the middle of their work."""
    executor = _EXECUTORS.pop(workers, None)
    if executor is not None:
        executor.shutdown(wait=False, kill_workers=True)


def _ignore_interrupts() -> None:
    """Ctrl-C is for who has started a process; it ends it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
