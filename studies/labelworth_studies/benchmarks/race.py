"""Races: the same work by us and by a peer, in turns, so that both meet the same disturbances.

Short work is done many times in a turn, as an EM fit does it: otherwise each side would pay for the caches that the
other has just filled, and a few milliseconds of that can be half of what is measured.
"""

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from labelworth.progress import SILENT, Progress, tracking
from labelworth_studies.benchmarks.quietness import Disturbance, wait_for_quiet

_TURN_SECONDS = 0.5


@dataclass(frozen=True, eq=False)
class Contender:
    """Somebody who does the work."""

    name: str
    run: Callable[[], Any]  # Does the work once and returns its result.
    share: float = 1.0  # What part of the whole work `run` does, where the whole would take too long.


@dataclass(frozen=True, eq=False)
class Race:
    """The work, who does it, and what is expected."""

    name: str
    title: str
    ours: Contender
    peer: Contender
    floor: float  # How many times faster than the peer we must be, and want to be.
    goal: float
    difference: Callable[[Any, Any], float]  # How far they are apart, relatively.
    tolerance: float  # What is allowed of it.
    most_repeats: int | None = None  # Turns at most, where one takes minutes.


@dataclass(frozen=True)
class RaceResult:
    """How a race went; seconds are of the whole work."""

    name: str
    title: str
    ours: str
    peer: str
    n_repeats: int
    ours_median: float
    ours_minimum: float
    peer_median: float
    peer_minimum: float
    ratio_of_medians: float  # The peer's over ours; the medians decide.
    ratio_of_minima: float
    floor: float
    goal: float
    difference: float  # Between the two results.
    tolerance: float
    disturbance: float | None = None  # How many processors others kept busy meanwhile; None where nobody can tell.

    @property
    def is_met(self) -> bool:
        """Whether we are fast enough, and right."""
        return self.ratio_of_medians >= self.floor and self.difference <= self.tolerance


def run_race(race: Race, n_repeats: int, progress: Progress = SILENT, *, patience: float = 0.0) -> RaceResult:
    """Let both warm up and compare what they found; then time them in turns, every run of a turn by itself.

    Each turn waits up to `patience` seconds for a quiet machine.
    """
    n_repeats = min(n_repeats, race.most_repeats or n_repeats)
    difference = race.difference(race.ours.run(), race.peer.run())
    seconds: dict[str, list[float]] = {"ours": [], "peer": []}
    disturbance = Disturbance()
    with tracking(progress, race.title, n_repeats) as task:
        for _ in range(n_repeats):
            for side, contender in (("ours", race.ours), ("peer", race.peer)):
                wait_for_quiet(patience)
                with disturbance.watching():
                    seconds[side] += [spent / contender.share for spent in _turn(contender.run)]
            task.advance()
    medians = {side: statistics.median(times) for side, times in seconds.items()}
    minima = {side: min(times) for side, times in seconds.items()}
    return RaceResult(
        race.name,
        race.title,
        race.ours.name,
        race.peer.name,
        n_repeats,
        medians["ours"],
        minima["ours"],
        medians["peer"],
        minima["peer"],
        medians["peer"] / medians["ours"],
        minima["peer"] / minima["ours"],
        race.floor,
        race.goal,
        float(difference),
        race.tolerance,
        disturbance.processors,
    )


def _turn(run: Callable[[], Any]) -> list[float]:
    """The seconds of run after run, until the turn is over; at least one."""
    runs: list[float] = []
    left = _TURN_SECONDS
    while not runs or left > 0:
        begun = time.perf_counter()
        run()
        runs.append(time.perf_counter() - begun)
        left -= runs[-1]
    return runs
