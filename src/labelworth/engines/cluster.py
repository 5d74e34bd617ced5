"""A cluster of `dask.distributed`, reached through a client of the user's. The only module that knows dask.

What all pieces share is sent once per pass, as a task: where its worker dies it is made again, which scattered data
are not. Partial sums stay with the workers and are tasks too. So a dead worker costs the work that it held.
"""

import time
import warnings
from collections.abc import Iterator, Sequence
from typing import Any

from distributed import CancelledError, Client, KilledWorker, wait
from distributed.comm.core import CommClosedError

from labelworth.engines.runner import Piecework, Sums, plus
from labelworth.errors import LabelworthError

_LOST = (KilledWorker, CancelledError, CommClosedError, TimeoutError, OSError)
_RETRIES = 3
_ATTEMPTS = 5
_LOOK = 1.0
"""Seconds between looks at how far the work is."""
_AT_ONCE = 4
"""Pieces under way per thread of the cluster, where results are fetched one by one."""


class Cluster:
    """The workers of a client; they must see the shards under the same path.

    Parameters
    ----------
    client : distributed.Client
    patience : float
        Seconds without any finished piece after which the workers that hold the rest are started anew.
    """

    def __init__(self, client: Client, patience: float = 600.0) -> None:
        self._client, self._patience = client, patience

    def map(self, function: Piecework, shared: Any, items: Sequence[Any]) -> Iterator[Any]:
        n_threads = max(1, sum(self._client.nthreads().values()))
        for first in range(0, len(items), _AT_ONCE * n_threads):
            yield from self._tried(function, shared, items[first : first + _AT_ONCE * n_threads], is_total=False)

    def total(self, function: Piecework, shared: Any, items: Sequence[Any]) -> Sums:
        (total,) = self._tried(function, shared, items, is_total=True)
        sums: Sums = total
        return sums

    def _tried(self, function: Piecework, shared: Any, items: Sequence[Any], *, is_total: bool) -> list[Any]:
        for attempt in range(_ATTEMPTS):
            try:
                leaves = self._leaves(function, shared, items)
                wanted = [self._sum(leaves)] if is_total else leaves
                self._wait(leaves, wanted)
                return list(self._client.gather(wanted))
            except _LOST as error:
                if self._client.status not in ("running", "connecting") or attempt == _ATTEMPTS - 1:
                    raise LabelworthError(
                        f"The cluster was lost ({type(error).__name__}: {error}). Start it again and run the same: "
                        "with a checkpoint it goes on where it was."
                    ) from error
        raise AssertionError

    def _leaves(self, function: Piecework, shared: Any, items: Sequence[Any]) -> list[Any]:
        with warnings.catch_warnings():
            # Parameters may be large; they travel once.
            warnings.filterwarnings("ignore", "Sending large graph", UserWarning)
            common = self._client.submit(_itself, shared, pure=False, retries=_RETRIES)
        return [self._client.submit(function, common, item, pure=False, retries=_RETRIES) for item in items]

    def _sum(self, futures: list[Any]) -> Any:
        """In the pairs of `labelworth.engines.runner.added`, by the workers."""
        while len(futures) > 1:
            pairs = [futures[first : first + 2] for first in range(0, len(futures), 2)]
            futures = [
                self._client.submit(plus, *pair, pure=False, retries=_RETRIES) if len(pair) == 2 else pair[0]
                for pair in pairs
            ]
        return futures[0]

    def _wait(self, leaves: list[Any], wanted: list[Any]) -> None:
        """Until all is done; where nothing moves for long, the workers at fault are started anew."""
        moved, n_done = time.monotonic(), -1
        while True:
            try:
                wait(wanted, timeout=_LOOK)
                return
            except TimeoutError:
                now_done = sum(future.done() for future in leaves)
                if now_done != n_done:
                    moved, n_done = time.monotonic(), now_done
                elif time.monotonic() - moved > self._patience:
                    keys = {str(future.key) for future in (*leaves, *wanted)}
                    held = self._client.processing()
                    hanging = [name for name, tasks in held.items() if keys & {str(task) for task in tasks}]
                    self._client.restart_workers(hanging, raise_for_error=False)
                    moved = time.monotonic()


def connected(address: str) -> Client:
    """A client of the scheduler at that address.

    Raises
    ------
    LabelworthError
        If nobody answers there.
    """
    try:
        return Client(address)
    except (OSError, TimeoutError, ValueError) as error:
        raise LabelworthError(f"No scheduler of Dask answers at {address} ({error}).") from error


def _itself(shared: Any) -> Any:
    return shared
