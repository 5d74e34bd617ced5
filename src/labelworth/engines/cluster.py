"""A cluster of `dask.distributed`, reached through a client of the user's. The only module that knows dask.

What all pieces share is sent once per pass, as a task: where its worker dies it is made again, which scattered data
are not. Partial sums stay with the workers and are tasks too. So a dead worker costs the work that it held.
"""

import time
import warnings
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from threading import Lock
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
_SENT = 16
"""How many things that pieces share are remembered as sent."""


class Cluster:
    """The workers of a client; they must see the shards under the same path.

    Parameters
    ----------
    client : distributed.Client
    patience : float
        Seconds without any finished piece after which the workers that hold the rest are started anew; and for which
        a cluster without any worker is waited for.
    """

    is_elsewhere = True

    def __init__(self, client: Client, patience: float = 600.0) -> None:
        self._client, self._patience = client, patience
        self._sent: OrderedDict[int, tuple[Any, Any]] = OrderedDict()
        self._lock = Lock()

    @property
    def workers(self) -> int:
        """Threads of all workers that are there now; two at least, as some may be about to come."""
        try:
            return max(2, int(sum(self._client.nthreads().values())))
        except _LOST as error:
            raise _lost(error) from error

    def map(self, function: Piecework, shared: Any, items: Sequence[Any]) -> Iterator[Any]:
        if len(items) == 1:
            # One of many maps that share something, as refits do: it stays where it was sent.
            yield from self._tried(function, shared, items, is_total=False)
            return
        at_once = _AT_ONCE * self.workers
        try:
            for first in range(0, len(items), at_once):
                yield from self._tried(function, shared, items[first : first + at_once], is_total=False)
        finally:
            with self._lock:
                self._sent.pop(id(shared), None)

    def total(self, function: Piecework, shared: Any, items: Sequence[Any]) -> Sums:
        (total,) = self._tried(function, shared, items, is_total=True)
        sums: Sums = total
        return sums

    def _tried(self, function: Piecework, shared: Any, items: Sequence[Any], *, is_total: bool) -> list[Any]:
        for attempt in range(_ATTEMPTS):
            try:
                # The parameters of a pass are sent for that pass alone; what many maps share stays where it is.
                common = self._submitted(shared) if is_total else self._common(shared)
                leaves = [self._client.submit(function, common, item, pure=False, retries=_RETRIES) for item in items]
                wanted = [self._sum(leaves)] if is_total else leaves
                self._wait(leaves, wanted)
                return list(self._client.gather(wanted))
            except _LOST as error:
                if attempt == _ATTEMPTS - 1 or not self._is_there():
                    raise _lost(error) from error
                with self._lock:
                    self._sent.clear()
        raise AssertionError

    def _is_there(self) -> bool:
        """Whether the scheduler answers, or the client still tries to reach it again."""
        until = time.monotonic() + self._patience
        while self._client.status == "connecting" and time.monotonic() < until:
            time.sleep(_LOOK / 10)
        return bool(self._client.status == "running")

    def _submitted(self, shared: Any) -> Any:
        """What pieces share, as a task."""
        with warnings.catch_warnings():
            # Parameters may be large; they travel once.
            warnings.filterwarnings("ignore", "Sending large graph", UserWarning)
            return self._client.submit(_itself, shared, pure=False, retries=_RETRIES)

    def _common(self, shared: Any) -> Any:
        """The same, sent once however often it is asked for."""
        with self._lock:
            if id(shared) not in self._sent:
                # The thing itself is held too: as long as it is there, no other has its id.
                self._sent[id(shared)] = shared, self._submitted(shared)
            self._sent.move_to_end(id(shared))
            while len(self._sent) > _SENT:
                self._sent.popitem(last=False)
            return self._sent[id(shared)][1]

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
        moved, n_done, n_restarts = time.monotonic(), -1, 0
        while True:
            try:
                wait(wanted, timeout=_LOOK)
                return
            except TimeoutError:
                if self._client.status not in ("running", "connecting"):
                    raise CommClosedError("the scheduler does not answer") from None
                now_done = sum(future.done() for future in (*leaves, *wanted))
                if now_done != n_done:
                    moved, n_done = time.monotonic(), now_done
                elif time.monotonic() - moved > self._patience:
                    n_restarts += 1
                    self._start_anew((*leaves, *wanted), n_restarts)
                    moved = time.monotonic()

    def _start_anew(self, futures: Sequence[Any], n_restarts: int) -> None:
        """End the workers that hold what is not done; their nannies start others."""
        keys = {str(future.key) for future in futures}
        waited = f"Nothing was done for {self._patience:g} s"
        if not self._client.nthreads():
            raise LabelworthError(f"{waited}: the cluster has no worker. Start some, and run the same.")
        held = self._client.processing()
        hanging = [name for name, tasks in held.items() if keys & {str(task) for task in tasks}]
        names = ", ".join(hanging) or "none"
        if n_restarts > _ATTEMPTS:
            raise LabelworthError(
                f"{waited}, though workers were started anew {_ATTEMPTS} times (at fault: {names})."
            )
        try:
            self._client.restart_workers(hanging, raise_for_error=False)
        except ValueError as error:
            raise LabelworthError(
                f"{waited} by these workers: {names}. They have no nanny to start them anew: end them, start others, "
                "and run the same."
            ) from error


def _lost(error: BaseException) -> LabelworthError:
    return LabelworthError(
        f"The cluster was lost ({type(error).__name__}: {error}). Start it again and run the same: with a checkpoint "
        "it goes on where it was."
    )


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
