"""How often somebody may ask."""

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass

_MOST = 10_000
"""So many askers are remembered; who asked longest ago is forgotten first."""


@dataclass(frozen=True)
class Rate:
    """So many a second in the long run, and so many at once."""

    per_second: float
    at_once: float


@dataclass(frozen=True)
class Limits:
    """What the studio puts up with."""

    body: int = 1_000_000
    """Bytes of a request."""
    address: Rate = Rate(500, 2000)
    """Requests of any kind from one address; a whole office may stand behind it."""
    strangers: Rate = Rate(1, 60)
    """Requests from one address that no token opens: wrong links, pages without a session."""
    person: Rate = Rate(50, 200)
    """Requests of one person."""


class Meter:
    """Counts askers against a rate: a bucket each, that fills by the second and is emptied by requests.

    >>> now = [0.0]
    >>> meter = Meter(Rate(per_second=2, at_once=2), clock=lambda: now[0])
    >>> [meter.wait("ann") for _ in range(3)]
    [0.0, 0.0, 0.5]
    >>> now[0] = 0.5
    >>> meter.wait("ann"), meter.wait("bob")
    (0.0, 0.0)
    """

    def __init__(self, rate: Rate, clock: Callable[[], float] = time.monotonic) -> None:
        self._rate, self._clock = rate, clock
        self._buckets: OrderedDict[Hashable, tuple[float, float]] = OrderedDict()
        self._lock = threading.Lock()

    def wait(self, asker: Hashable) -> float:
        """Count a request; says for how many seconds it is too many, 0: it is not."""
        now, rate = self._clock(), self._rate
        with self._lock:
            left, then = self._buckets.pop(asker, (rate.at_once, now))
            left = min(rate.at_once, left + (now - then) * rate.per_second)
            too_many = left < 1
            self._buckets[asker] = (left if too_many else left - 1, now)
            if len(self._buckets) > _MOST:
                self._buckets.popitem(last=False)
        return (1 - left) / rate.per_second if too_many else 0.0
