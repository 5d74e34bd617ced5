"""Whether anybody else is using the machine: timings want it quiet, and readers want to know if it was not."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

_ACCOUNT = Path("/proc/stat")
_TICKS_PER_SECOND = 100  # what the kernel counts in, whatever the machine
_LOOK = 0.1
_QUIET = 0.15


@dataclass
class Disturbance:
    """How many processors others kept busy, on average, while something was timed; None where nobody can tell."""

    seconds: float = 0.0
    busy_elsewhere: float | None = None

    @property
    def processors(self) -> float | None:
        """Processors busy with other work."""
        if self.busy_elsewhere is None or self.seconds == 0:
            return None
        return max(0.0, self.busy_elsewhere / self.seconds)

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Watch while the block runs."""
        before, own, begun = _busy_seconds(), time.process_time(), time.monotonic()
        yield
        after = _busy_seconds()
        if before is not None and after is not None:
            elsewhere = after - before - (time.process_time() - own)
            self.busy_elsewhere = (self.busy_elsewhere or 0.0) + elsewhere
        self.seconds += time.monotonic() - begun


def wait_for_quiet(patience: float) -> None:
    """Wait until the machine is idle, but not longer than `patience` seconds; not at all where nobody can tell."""
    deadline = time.monotonic() + patience
    while time.monotonic() < deadline:
        watch = Disturbance()
        with watch.watching():
            time.sleep(_LOOK)
        if watch.processors is None or watch.processors <= _QUIET:
            return


def _busy_seconds() -> float | None:
    """Seconds that all processors together were busy since the machine was started."""
    if not _ACCOUNT.exists():
        return None
    user, nice, system, _, _, interrupt, soft_interrupt, stolen, *_ = map(
        int, _ACCOUNT.read_text(encoding="ascii").splitlines()[0].split()[1:]
    )
    return (user + nice + system + interrupt + soft_interrupt + stolen) / _TICKS_PER_SECOND
