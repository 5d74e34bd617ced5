"""A disk that fills up under a real studio while annotators answer: `python tests/chaos/full_disk.py [--keep]`.

As root the campaign lies on a small file system of its own, which is filled and emptied again; else its files may not
grow any further, which is the nearest that a system gives to anybody.
"""

import os
import random
import resource
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from chaos.kills import FAULTS, LEASE_MINUTES, Annotator, counted
from support.kept_figures import keep
from support.studio_server import begun, free_port, started

_SIZE = 64 << 20
_ROOM = 64 << 10
_SOME = 50


@dataclass
class Disk:
    """Where a campaign lies, and how its disk is filled."""

    folder: Path
    is_real: bool

    def fill(self, pid: int) -> None:
        """Leave no room, or hardly any."""
        if self.is_real:
            with suppress(OSError), (self.folder / "filler").open("wb", buffering=0) as filler:
                while filler.write(b"x" * _ROOM):
                    pass
        else:
            largest = max(path.stat().st_size for path in self.folder.iterdir())
            resource.prlimit(pid, resource.RLIMIT_FSIZE, (largest + _ROOM, resource.RLIM_INFINITY))

    def make_room(self, pid: int) -> None:
        if self.is_real:
            (self.folder / "filler").unlink()
        else:
            resource.prlimit(pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))


@contextmanager
def small_disk() -> Iterator[Disk]:
    with tempfile.TemporaryDirectory() as name:
        words = ["mount", "-t", "tmpfs", "-o", f"size={_SIZE}", "tmpfs", name]
        is_real = os.geteuid() == 0 and subprocess.run(words, check=False, capture_output=True).returncode == 0
        try:
            yield Disk(Path(name), is_real)
        finally:
            if is_real:
                subprocess.run(["umount", name], check=True)


def filled(disk: Disk, *, n_annotators: int = 4) -> dict[str, float]:
    """Answer, fill the disk until that is told, make room, answer on; what was lost."""
    where = str(disk.folder / "campaign.db")
    tokens = begun(where, 4000, n_annotators, lease_minutes=LEASE_MINUTES)
    stop, port = threading.Event(), free_port()
    people = [Annotator(token, port, stop, random.Random(index)) for index, token in enumerate(tokens)]
    threads = [threading.Thread(target=person.run) for person in people]

    def kept() -> int:
        return sum(len(person.acknowledged) for person in people)

    def told() -> int:
        return sum(person.unavailable for person in people)

    with started(where, "--port", str(port)) as (process, _):
        for thread in threads:
            thread.start()
        try:
            _wait(lambda: kept() >= _SOME)
            disk.fill(process.pid)
            _wait(lambda: told() >= _SOME)
            disk.make_room(process.pid)
            before = kept()
            _wait(lambda: kept() >= before + _SOME)
        finally:
            stop.set()
            for thread in threads:
                thread.join()
    return {**counted(where, people), "told": told(), "kept before": before}


def _wait(is_so: Callable[[], bool], seconds: float = 120.0) -> None:
    end = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < end, "nothing happens any more"
        time.sleep(0.05)


def main() -> int:
    with small_disk() as disk:
        found = filled(disk)
    kind = "a file system of 64 MB" if disk.is_real else "files that may not grow"
    sys.stdout.write(f"A full disk ({kind}): {', '.join(f'{name} {value:,}' for name, value in found.items())}\n")
    if "--keep" in sys.argv[1:]:
        keep("studio-kills", "full disk", {"disk": kind, **found})
    return int(any(found[name] for name in FAULTS))


if __name__ == "__main__":
    sys.exit(main())
