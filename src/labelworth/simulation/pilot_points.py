"""How well sub-samples of the pilot predict the rest of it: the points that forecasts are calibrated on."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic

import numpy as np

from labelworth.arrays import FloatArray, IntArray
from labelworth.errors import InvalidInputError
from labelworth.progress import SILENT, Progress
from labelworth.simulation.jobs import run_jobs
from labelworth.simulation.learner import DataT, Learner, Mode, Prediction
from labelworth.simulation.losses import code_errors, code_losses, honest_temperature

SHARES = (1 / 8, 1 / 4, 1 / 2)
"""Sizes of sub-samples beside the training part of a fold, as shares of the pilot."""
N_FOLDS = 5
_FEWEST_UNITS = 10


@dataclass(frozen=True, eq=False)
class PilotPoints:
    """Losses of every pilot unit at every size of the sub-sample learned from, none of which it was in.

    Attributes
    ----------
    sizes : integer array of shape (n_sizes,)
        Labeled units learned from; the last is the training part of a fold.
    n_units : int
        Labeled units in the pilot.
    places : array of shape (n_units,)
        How many labels each of them has.
    errors, log_losses : arrays of shape (n_sizes, n_units)
        Mean over the places of the unit, and over repeats; log-losses with honest log-odds.
    temperatures : array of shape (n_sizes,)
        What log-odds were divided by to make them honest.
    """

    sizes: IntArray
    n_units: int
    places: FloatArray
    errors: FloatArray
    log_losses: FloatArray
    temperatures: FloatArray

    def means(self, losses: FloatArray) -> FloatArray:
        """Mean over all places, (n_sizes,)."""
        means: FloatArray = losses @ self.places / self.places.sum()
        return means

    def covariance(self, losses: FloatArray) -> FloatArray:
        """Of those means, from the spread over units, which all sizes share, (n_sizes, n_sizes)."""
        scaled = (losses - self.means(losses)[:, None]) * self.places / self.places.sum()
        covariance: FloatArray = scaled @ scaled.T * self.n_units / (self.n_units - 1)
        return covariance


@dataclass(frozen=True)
class _Job:
    mode: Mode
    repeat: int
    fold: int
    size: int


class _SubSampling(Generic[DataT]):
    """Which units are learned from and tested in every fold of every repeat; larger samples contain smaller ones."""

    def __init__(self, learner: Learner[DataT], data: DataT, seed: int) -> None:
        self.learner, self.data, self.seed = learner, data, seed
        self.codes = learner.codes(data)
        lengths = learner.places_per_unit(data)
        self.owner = np.repeat(np.arange(len(lengths)), lengths)
        known = np.bincount(self.owner[self.codes >= 0], minlength=len(lengths))
        self.pilot = labeled_units(learner, data)
        self.places = known[self.pilot].astype(np.float64)

    def fold(self, repeat: int, fold: int) -> tuple[IntArray, IntArray]:
        """Units to learn from, in random order, and units to test."""
        order = np.random.default_rng([self.seed, repeat]).permutation(self.pilot)
        test = order[fold::N_FOLDS]
        rest = np.setdiff1d(order, test)
        return np.random.default_rng([self.seed, repeat, fold]).permutation(rest), np.sort(test)

    def predicted(self, job: _Job) -> tuple[Prediction, IntArray, IntArray]:
        """Predictions of the tested units, their labels, and the unit of every place."""
        train, test = self.fold(job.repeat, job.fold)
        n_units = int(self.owner[-1]) + 1
        others = np.setdiff1d(np.arange(n_units), test)
        kept = np.searchsorted(others, train[: job.size])
        learner = self.learner.in_mode(job.mode)
        shown = learner.hide(learner.take(self.data, others), kept)
        tested = learner.take(self.data, test)
        places = np.isin(self.owner, test)
        return learner.predict(learner.fit(shown), tested), self.codes[places], self.owner[places]


def pilot_points(
    learner: Learner[DataT],
    data: DataT,
    modes: Sequence[Mode],
    *,
    seed: int,
    n_repeats: Mapping[Mode, int],
    sizes: IntArray | None = None,
    workers: int | None = 1,
    progress: Progress = SILENT,
) -> dict[Mode, PilotPoints]:
    """Learn from nested sub-samples of the pilot's folds, and test on the fold that was left out.

    A tested unit is nowhere in the fit, the other labeled units beyond the sub-sample are in it without their labels,
    so that the pool keeps its size. All modes learn from the same sub-samples.

    Parameters
    ----------
    learner, data
        The labeled units of `data` are the pilot; all others are the pool.
    modes : sequence of "labels-only", "semi-supervised"
    n_repeats : mapping
        How often the pilot is dealt into five folds, per mode.
    sizes : integer array, optional
        Of the sub-samples, rising; `point_sizes` when None.
    """
    sampling = _SubSampling(learner, data, seed)
    sizes = point_sizes(sampling.pilot.size) if sizes is None else sizes
    jobs = [
        _Job(mode, repeat, fold, int(size))
        for mode in modes
        for repeat in range(n_repeats[mode])
        for fold in range(N_FOLDS)
        for size in sizes[::-1]
    ]
    found = run_jobs(
        sampling.predicted, jobs, workers=workers, title="learning from parts of the pilot", progress=progress
    )
    return {
        mode: _points(sampling, sizes, [(j, f) for j, f in zip(jobs, found, strict=True) if j.mode == mode])
        for mode in modes
    }


def labeled_units(learner: Learner[DataT], data: DataT) -> IntArray:
    """The units with a known label at one place at least: the pilot.

    Raises
    ------
    InvalidInputError
        If there are fewer than ten.
    """
    lengths = learner.places_per_unit(data)
    owner = np.repeat(np.arange(len(lengths)), lengths)
    pilot = np.unique(owner[learner.codes(data) >= 0])
    if pilot.size < _FEWEST_UNITS:
        raise InvalidInputError(
            f"A forecast needs at least {_FEWEST_UNITS} labeled examples. Got {pilot.size}; label more."
        )
    return pilot


def point_sizes(n_units: int) -> IntArray:
    """Sizes of the sub-samples of a pilot: an eighth, a quarter, a half, and four fifths."""
    whole = n_units - -(-n_units // N_FOLDS)
    return np.unique([*(max(1, round(share * n_units)) for share in SHARES), whole])


def _points(sampling: _SubSampling[Any], sizes: IntArray, found: Sequence[tuple[_Job, Any]]) -> PilotPoints:
    errors, log_losses, temperatures = [], [], []
    for size in sizes:
        here = [result for job, result in found if job.size == size]
        predictions, codes = [result[0] for result in here], [result[1] for result in here]
        units = np.concatenate([result[2] for result in here])
        temperature = honest_temperature(predictions, codes)
        wrong = np.concatenate([code_errors(one.best, known) for one, known in zip(predictions, codes, strict=True)])
        losses = np.concatenate(
            [
                code_losses(one.log_posteriors(temperature), known)
                for one, known in zip(predictions, codes, strict=True)
            ]
        )
        errors.append(_by_unit(wrong, units, sampling.pilot))
        log_losses.append(_by_unit(losses, units, sampling.pilot))
        temperatures.append(temperature)
    return PilotPoints(
        sizes, sampling.pilot.size, sampling.places, np.array(errors), np.array(log_losses), np.array(temperatures)
    )


def _by_unit(losses: FloatArray, units: IntArray, pilot: IntArray) -> FloatArray:
    """Means over the known places of every pilot unit."""
    known = ~np.isnan(losses)
    place = np.searchsorted(pilot, units[known])
    sums = np.bincount(place, losses[known], minlength=pilot.size)
    means: FloatArray = sums / np.bincount(place, minlength=pilot.size)
    return means
