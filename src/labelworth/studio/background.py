"""Planning beside the pages: in a process of its own, so that nobody waits for it.

What is to be done stands in the store. A studio that finds plans that wait, also those of one that was killed, starts
a worker, which makes them and measures what came true of the last one; its progress is kept in the store as well.
"""

import contextlib
import shutil
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path

from labelworth.campaign.campaign import Campaign
from labelworth.campaign.values import PlanJob
from labelworth.errors import LabelworthError

_EVERY = 3.0
_GROWN = 1.1
"""What came true is measured again where there are so many times the labels of the last time."""


class Background:
    """Starts a worker where there is something to do; used as a context."""

    def __init__(self, campaign: Campaign, where: str) -> None:
        self._campaign, self._where = campaign, where
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._worker: subprocess.Popen[str] | None = None
        self._measured = 0  # How many items had a label when the last plan was measured.

    def __enter__(self) -> "Background":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Whoever comes next goes on with what was not finished."""
        self._stopped.set()
        self._thread.join()
        if self._worker is not None:
            self._worker.terminate()
            self._worker.wait()

    def _watch(self) -> None:
        while not self._stopped.wait(_EVERY):
            if self._worker is not None and self._worker.poll() is None:
                continue
            with contextlib.suppress(LabelworthError):  # A store that is away is looked at again.
                if self._is_due():
                    self._worker = self._started()

    def _is_due(self) -> bool:
        """Whether a plan waits, or enough labels came since the last one was made or measured."""
        plans = self._campaign.plans(limit=10)
        if any(job.state == "waiting" for job in plans):
            return True
        made = last_made(plans)
        if made is None or made.record is None:
            return False
        labeled = self._campaign.status().n_labeled
        if labeled <= _GROWN * max(self._measured, int(made.record["held"]["n_labeled"])):
            return False
        self._measured = labeled
        return True

    def _started(self) -> "subprocess.Popen[str]":
        worker = subprocess.Popen(
            [sys.executable, "-m", "labelworth.studio.background"],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        if worker.stdin is not None:
            # An address may hold a password, and what stands on a command line is seen by everybody.
            worker.stdin.write(self._where)
            worker.stdin.close()
        return worker


def last_made(plans: Sequence[PlanJob]) -> PlanJob | None:
    """The last plan that there is."""
    return next((job for job in plans if job.record is not None), None)


def work(campaign: Campaign, where: str) -> None:
    """Make the plans that wait, and measure the last one."""
    waiting = [job.id for job in campaign.plans(limit=10) if job.state == "waiting"]
    for number in reversed(waiting):
        folder = None if "://" in where else Path(f"{where}-plan-{number}")
        campaign.work(number, checkpoint=folder)
        if folder is not None:
            shutil.rmtree(folder, ignore_errors=True)
    made = last_made(campaign.plans(limit=10))
    if made is not None and not waiting:
        campaign.realise(made.id)


if __name__ == "__main__":
    address = sys.stdin.read()
    with Campaign.open(address) as opened:
        work(opened, address)
