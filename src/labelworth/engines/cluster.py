"""A cluster of `dask.distributed`, reached through a client of the user's. The only module that knows dask.

What all pieces share is sent once per pass, as a task: where its worker dies it is made again, which scattered data
are not. Partial sums stay with the workers and are tasks too. So a dead worker costs the work that it held.
"""

import time
import warnings
import weakref
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from importlib.metadata import version
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
_QUIET = 5.0
"""Seconds without any finished piece after which the scheduler is asked whether it knows who waits."""
_ANSWERING = 5.0
"""Seconds that new workers have to say which labelworth they run; then they are asked again at the next look."""
_STARTING = 60.0
"""Seconds that a worker may take to start, and the scheduler to give it work."""
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
        Seconds without any finished piece after which the workers that hold the rest are started anew; and, a minute
        at least, for which a cluster without any worker is waited for.
    """

    is_elsewhere = True

    def __init__(self, client: Client, patience: float = 600.0) -> None:
        self._client, self._patience = client, patience
        self._address = client.scheduler.address
        self._alike: set[str] = set()
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
                self._wait_for_workers()
                # The parameters of a pass are sent for that pass alone; what many maps share stays where it is.
                common = self._submitted(shared) if is_total else self._common(shared)
                leaves = [self._client.submit(function, common, item, pure=False, retries=_RETRIES) for item in items]
                sums = self._sums(leaves) if is_total else []
                wanted = [sums[-1]] if is_total else leaves
                self._wait(wanted, [common, *leaves, *sums])
                return list(self._client.gather(wanted))
            except _LOST as error:
                if attempt == _ATTEMPTS - 1:
                    raise _lost(error) from error
                self._connect_anew()
        raise AssertionError

    def _connect_anew(self) -> None:
        """Go on with a client of our own to the same scheduler.

        A client that connects again under its name can be struck off by the scheduler, which only then sees that the
        old connection is gone: pieces are done, and nobody is told.
        """
        with self._lock:
            self._sent.clear()
        self._alike = set()
        try:
            self._client = Client(self._address, security=self._client.security, set_as_default=False)
        except (OSError, TimeoutError) as error:
            raise _lost(error) from error
        weakref.finalize(self, self._client.close)

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

    def _sums(self, futures: list[Any]) -> list[Any]:
        """In the pairs of `labelworth.engines.runner.added`, by the workers; the last one is that of all."""
        sums = []
        while len(futures) > 1:
            pairs = [futures[first : first + 2] for first in range(0, len(futures), 2)]
            futures = [
                self._client.submit(plus, *pair, pure=False, retries=_RETRIES) if len(pair) == 2 else pair[0]
                for pair in pairs
            ]
            sums += futures
        return sums or futures

    def _wait(self, wanted: list[Any], submitted: list[Any]) -> None:
        """Until what is wanted is done; where nothing moves for long, the workers at fault are started anew."""
        moved, n_done, n_restarts, is_done = time.monotonic(), -1, 0, False
        while not is_done:
            try:
                wait(wanted, timeout=_LOOK)
                is_done = True
            except TimeoutError:
                if self._client.status not in ("running", "connecting"):
                    raise CommClosedError("the scheduler does not answer") from None
                now_done = sum(future.done() for future in submitted)
                quiet = time.monotonic() - moved
                if now_done != n_done:
                    moved, n_done = time.monotonic(), now_done
                elif quiet > _QUIET and not self._would_be_told():
                    raise CommClosedError("the scheduler does not know this client any more") from None
                elif quiet > self._patience and (names := self._at_fault(submitted)):
                    n_restarts += 1
                    self._start_anew(names, n_restarts)
                    moved = time.monotonic()
                elif quiet > max(self._patience, _STARTING):
                    if not self._client.nthreads():
                        raise _no_worker(quiet) from None
                    raise CommClosedError("no worker was given what is left to do") from None
            # Workers may have come meanwhile.
            self._require_alike(self._client.nthreads())

    def _wait_for_workers(self) -> None:
        """Until there is one, and all that answer are alike: what they do not know kills them when it is sent."""
        begun, waking = time.monotonic(), None
        while not (there := self._client.nthreads()):
            waited = time.monotonic() - begun
            if waited > max(self._patience, _STARTING):
                raise _no_worker(waited)
            # A cluster that starts workers by need starts none before something waits; int is known to all of them.
            waking = waking or self._client.submit(int, pure=False)
            time.sleep(_LOOK)
        self._require_alike(there)

    def _require_alike(self, there: Iterable[str]) -> None:
        """Refuse workers with another labelworth than the head's, or none: their sums would be others."""
        self._alike &= set(there)  # Another one may come back under the same address.
        own = version("labelworth")
        for name in sorted(set(there) - self._alike):
            try:
                # A function of no module: who has no labelworth can be asked too.
                answer = self._client.run(
                    lambda: __import__("labelworth").__version__,
                    workers=[name],
                    on_error="return",
                    callback_timeout=_ANSWERING,
                )[name]
            except (TimeoutError, KeyError):
                continue
            if isinstance(answer, OSError):
                continue  # It went, or was not to be reached.
            if answer != own:
                held = f"labelworth {answer}" if isinstance(answer, str) else f"none that can be imported ({answer})"
                raise LabelworthError(
                    f"The worker {name} has {held}, where this is labelworth {own}. Install the same for all workers "
                    "and start them anew: the bits of a result are those of one version."
                )
            self._alike.add(name)

    def _would_be_told(self) -> bool:
        """Whether the scheduler would tell the client what is done."""
        name = self._client.id
        # A function of no module: the scheduler need not know ours.
        return bool(self._client.run_on_scheduler(lambda dask_scheduler: name in dask_scheduler.client_comms))

    def _at_fault(self, submitted: Sequence[Any]) -> list[str]:
        """The workers that hold what is not done."""
        keys = {str(future.key) for future in submitted}
        return [name for name, tasks in self._client.processing().items() if keys & {str(task) for task in tasks}]

    def _start_anew(self, workers: list[str], n_restarts: int) -> None:
        """End them; their nannies start others."""
        waited, names = f"Nothing was done for {self._patience:g} s", ", ".join(workers)
        if n_restarts > _ATTEMPTS:
            raise LabelworthError(
                f"{waited}, though workers were started anew {_ATTEMPTS} times (at fault: {names})."
            )
        try:
            self._client.restart_workers(workers, raise_for_error=False)
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


def _no_worker(seconds: float) -> LabelworthError:
    return LabelworthError(
        f"Nothing was done for {seconds:.0f} s: the cluster has no worker. Start some, and run the same."
    )


def connected(address: str) -> Client:
    """A client of the scheduler at that address.

    Raises
    ------
    LabelworthError
        If nobody answers there, or Dask has no certificates for an address that wants them.
    """
    try:
        return Client(address)
    except (OSError, TimeoutError, ValueError) as error:
        raise LabelworthError(f"No scheduler of Dask answers at {address!r} ({error}).") from error
    except TypeError as error:
        raise LabelworthError(
            f"{address!r} wants certificates: name them in Dask's settings (distributed.comm.tls.ca-file, "
            f"distributed.comm.tls.client.key and .cert), or leave tls:// out ({error})."
        ) from error


def _itself(shared: Any) -> Any:
    return shared
