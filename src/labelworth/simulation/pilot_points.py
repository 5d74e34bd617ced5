"""How well sub-samples of the pilot predict the rest of it: the points that forecasts are calibrated on."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic

import numpy as np

from labelworth.arrays import FloatArray, IntArray
from labelworth.data.copies import first_copies
from labelworth.data.protocol import Data, DataT
from labelworth.errors import InvalidInputError
from labelworth.progress import SILENT, Progress
from labelworth.simulation.asking import label_at_random
from labelworth.simulation.jobs import Keep, Refit, keep_nothing, run_fits
from labelworth.simulation.learner import (
    Learner,
    Mode,
    Prediction,
    code_errors,
    code_losses,
    honest_temperature,
    keep_labels,
    known_codes,
)
from labelworth.simulation.metrics import Metric, resampled_covariance, resampled_times

SHARES = (1 / 8, 1 / 4, 1 / 2)
"""Sizes of sub-samples beside the training part of a fold, as shares of the pilot."""
N_FOLDS = 5
FEWEST_UNITS = 10
_FEWEST_AMONG, _MOST_AMONG = 50, 1000
"""Units without a label among which scores are ranked: shares are then known to a point or two."""


@dataclass(frozen=True, eq=False)
class PilotPoints:
    """Losses of every pilot unit at every size of the sub-sample learned from, none of which it was in."""

    sizes: IntArray  # (n_sizes,): Labeled units learned from; the last is the training part of a fold.
    n_units: int  # Labeled units in the pilot.
    n_labels: FloatArray  # (n_units,): How many labels each of them has, or what these count where they are judged.
    # (n_sizes, n_units): Mean over the labels of the unit, and over repeats; log-losses with honest log-odds.
    errors: FloatArray
    log_losses: FloatArray
    # (n_sizes, 1 + n_resamples) by metric: What is missing to one, for all units and for resampled ones.
    shortfalls: Mapping[str, FloatArray] = field(default_factory=dict)

    def means(self, losses: FloatArray) -> FloatArray:
        """Mean over all labels, (n_sizes,)."""
        means: FloatArray = losses @ self.n_labels / self.n_labels.sum()
        return means

    def covariance(self, losses: FloatArray) -> FloatArray:
        """Of those means, from the spread over units, which all sizes share, (n_sizes, n_sizes)."""
        scaled = (losses - self.means(losses)[:, None]) * self.n_labels / self.n_labels.sum()
        covariance: FloatArray = scaled @ scaled.T * self.n_units / (self.n_units - 1)
        return covariance

    def shortfall_covariance(self, metric: str) -> FloatArray:
        """Of the shortfalls of all units, from resampled ones, which all sizes share, (n_sizes, n_sizes)."""
        return resampled_covariance(self.shortfalls[metric][:, 1:], self.n_units)


@dataclass(frozen=True, eq=False)
class _Fold:
    """What a fit says of the units that were left out."""

    prediction: Prediction
    codes: IntArray  # (n_positions,): Their labels.
    units: IntArray  # (n_positions,): Of which unit every position is.
    among: Prediction | None = None  # Of other units without a label, where scores are to be compared between fits.
    has_failed: bool = False  # Whether it could not be fitted or asked, so that the shares of the classes answered.


@dataclass(frozen=True)
class _Part:
    """All sub-samples of one size in one mode: log-odds are made honest over all of them together."""

    mode: Mode
    size: int

    @property
    def name(self) -> str:
        return f"pilot/{self.mode}/{self.size}"


class _SubSampling(Generic[DataT]):
    """Which units are learned from and tested in every fold of every repeat; larger samples contain smaller ones."""

    def __init__(self, learner: Learner[DataT], data: DataT, seed: int) -> None:
        self.learner, self.data, self.seed = learner, data, seed
        self.codes = known_codes(data)
        lengths = data.lengths
        self.owner = np.repeat(np.arange(len(lengths)), lengths)
        known = np.bincount(self.owner[self.codes >= 0], minlength=len(lengths))
        self.pilot = labeled_units(data)
        judged = data.evidence.judged
        self.judged = np.ones(self.pilot.size) if judged is None else judged[data.positions_of(self.pilot)]
        self.n_labels = known[self.pilot] * self.judged
        firsts = first_copies(data, self.pilot)
        # Where nearly all are copies of a few, there is nothing to be dealt.
        self.firsts = firsts if np.unique(firsts).size >= FEWEST_UNITS else np.arange(self.pilot.size)

    def fold(self, repeat: int, fold: int) -> tuple[IntArray, IntArray]:
        """Units to learn from, in random order, and units to test; copies are in the same fold."""
        order = np.random.default_rng([self.seed, repeat]).permutation(self.pilot.size)
        # Units are dealt one by one, copies with the first of them that comes.
        _, first_at, group = np.unique(self.firsts[order], return_index=True, return_inverse=True)
        turns = np.argsort(np.argsort(first_at))[group]
        test = self.pilot[order[turns % N_FOLDS == fold]]
        rest = np.setdiff1d(self.pilot, test)
        return np.random.default_rng([self.seed, repeat, fold]).permutation(rest), np.sort(test)

    def predicted(self, part: _Part, repeat: int, fold: int, *, compares_scores: bool = False) -> _Fold:
        """Predictions of the tested units; and, to compare scores, of others that are there without a label."""
        train, test = self.fold(repeat, fold)
        n_units = int(self.owner[-1]) + 1
        others = np.setdiff1d(np.arange(n_units), test)
        kept = np.searchsorted(others, train[: part.size])
        learner = self.learner.in_mode(part.mode)
        shown = keep_labels(self.data.take(others), kept)
        tested = self.data.take(test)
        is_tested = np.isin(self.owner, test)
        fitted, among = learner.fit(shown), None
        free = np.flatnonzero(~shown.is_labeled) if compares_scores else np.empty(0, dtype=np.int64)
        if free.size >= _FEWEST_AMONG:
            drawn = np.random.default_rng([self.seed, repeat, fold, 1]).permutation(free)[:_MOST_AMONG]
            among = learner.predict(fitted, shown.take(np.sort(drawn)))
        failed = bool(learner.failure(tested, fitted))
        return _Fold(learner.predict(fitted, tested), self.codes[is_tested], self.owner[is_tested], among, failed)


def pilot_points(
    learner: Learner[DataT],
    data: DataT,
    modes: Sequence[Mode],
    *,
    seed: int,
    n_repeats: Mapping[Mode, int],
    sizes: IntArray | None = None,
    metrics: Sequence[Metric] = (),
    workers: int | None = 1,
    progress: Progress = SILENT,
    keep: Keep = keep_nothing,
) -> dict[Mode, PilotPoints]:
    """Learn from nested sub-samples of the pilot's folds, and test on the fold that was left out.

    A tested unit is nowhere in the fit, the other labeled units beyond the sub-sample are in it without their labels,
    so that the pool keeps its size. All modes learn from the same sub-samples. Sizes at which a learner could not be
    fitted are left out, but for the largest: what stands for its predictions there says nothing of its curve.

    Parameters
    ----------
    learner, data
        The labeled units of `data` are the pilot; all others are the pool.
    modes : sequence of "labels-only", "semi-supervised"
    n_repeats : mapping
        How often the pilot is dealt into five folds, per mode.
    sizes : integer array, optional
        Of the sub-samples, rising; `point_sizes` when None.
    metrics : sequence of Metric
        What else to tell, of all tested units together.
    keep : function
        Asked for the losses at every size in every mode, as they are finished.

    Raises
    ------
    InvalidInputError
        If a single size is left of a curve.
    """
    sampling = _SubSampling(learner, data, seed)
    is_curve, sizes = sizes is None, point_sizes(sampling.pilot.size) if sizes is None else sizes
    # The slow ones first: they tell how long all will take.
    parts = [_Part(mode, int(size)) for mode in modes[::-1] for size in sizes[::-1]]

    def work(part: _Part) -> int:
        return pilot_work(learner.in_mode(part.mode), part.size, data.n_samples, n_repeats[part.mode])

    results = run_fits(
        lambda part: Refit(_losses, sampling, (part, n_repeats[part.mode], tuple(metrics))),
        parts,
        name=lambda part: part.name,
        keep=keep,
        in_processes=learner.in_processes,
        workers=workers,
        title="learning from parts of the pilot",
        progress=progress,
        work=work,
    )
    of_part = dict(zip(parts, results, strict=True))
    fitted = [
        size
        for size in sizes.tolist()
        # Kept by a run that did not ask, it is not there.
        if size == sizes[-1] or not any(of_part[_Part(mode, size)].get("has_failed") for mode in modes)
    ]
    if is_curve and len(fitted) < 2:
        held = int(sampling.pilot.size)
        # What can be fitted to four fifths of these can be to half of twice as many.
        _, step = label_at_random(held, held, data.n_samples - held)
        raise InvalidInputError(
            f"A forecast is a curve, and the model cannot always be fitted to the half of {held:,} labels. {step}."
        )
    return {
        mode: _points(sampling, np.array(fitted), [of_part[_Part(mode, size)] for size in fitted]) for mode in modes
    }


def pilot_work(learner: Learner[Any], size: int, n_units: int, n_repeats: int) -> int:
    """What all refits to sub-samples of one size take; see `Learner.work`."""
    return N_FOLDS * n_repeats * learner.work(size, n_units)


def labeled_units(data: Data) -> IntArray:
    """The units with a known label at one position at least: the pilot.

    Raises
    ------
    InvalidInputError
        If there are fewer than ten.
    """
    owner = np.repeat(np.arange(data.n_samples), data.lengths)
    pilot = np.unique(owner[known_codes(data) >= 0])
    if pilot.size < FEWEST_UNITS:
        held = int(pilot.size)
        _, step = label_at_random(FEWEST_UNITS - held, held, data.n_samples - held)
        raise InvalidInputError(f"A forecast needs at least {FEWEST_UNITS} labeled examples. Got {held}. {step}.")
    return pilot


def point_sizes(n_units: int) -> IntArray:
    """Sizes of the sub-samples of a pilot: an eighth, a quarter, a half, and four fifths."""
    whole = n_units - -(-n_units // N_FOLDS)
    return np.unique([*(max(1, round(share * n_units)) for share in SHARES), whole])


def _losses(
    sampling: _SubSampling[Any], part: _Part, n_repeats: int, metrics: Sequence[Metric] = ()
) -> dict[str, Any]:
    """Losses of every pilot unit at one size in one mode, and shortfalls of metrics, as JSON values."""
    compares_scores = any(metric.needs_scores for metric in metrics)
    folds = [
        sampling.predicted(part, repeat, fold, compares_scores=compares_scores)
        for repeat in range(n_repeats)
        for fold in range(N_FOLDS)
    ]
    temperature = honest_temperature([fold.prediction for fold in folds], [fold.codes for fold in folds])
    wrong = np.concatenate([code_errors(fold.prediction.best, fold.codes) for fold in folds])
    losses = np.concatenate([code_losses(fold.prediction.log_posteriors(temperature), fold.codes) for fold in folds])
    units = np.concatenate([fold.units for fold in folds])
    return {
        "errors": _by_unit(wrong, units, sampling.pilot).tolist(),
        "log_losses": _by_unit(losses, units, sampling.pilot).tolist(),
        "shortfalls": {metric.spec: _shortfalls(sampling, folds, metric).tolist() for metric in metrics},
        "has_failed": any(fold.has_failed for fold in folds),
    }


def _shortfalls(sampling: _SubSampling[Any], folds: Sequence[_Fold], metric: Metric) -> FloatArray:
    """What is missing to one for all units, then for every resample of them, (1 + n_resamples,).

    A fold is too small for a metric of its own: in every repeat the predictions of all folds are taken together, so
    that every unit of the pilot is predicted once; repeats are averaged.
    """
    times, classes = resampled_times(sampling.pilot.size, sampling.seed), sampling.data.evidence.classes
    of_repeats = []
    for first in range(0, len(folds), N_FOLDS):
        repeat = folds[first : first + N_FOLDS]
        codes = np.concatenate([fold.codes for fold in repeat])
        known = codes >= 0
        seen = np.concatenate([metric.seen(fold.prediction, classes, fold.among) for fold in repeat])[known]
        index = np.searchsorted(sampling.pilot, np.concatenate([fold.units for fold in repeat])[known])
        of_repeats.append(metric.shortfalls(seen, codes[known], classes, (times * sampling.judged)[:, index]))
    return np.asarray(np.mean(of_repeats, axis=0))


def _points(sampling: _SubSampling[Any], sizes: IntArray, losses: Sequence[Mapping[str, Any]]) -> PilotPoints:
    return PilotPoints(
        sizes,
        sampling.pilot.size,
        sampling.n_labels,
        np.array([of_size["errors"] for of_size in losses]),
        np.array([of_size["log_losses"] for of_size in losses]),
        # Kept by a run that knew of no metrics, they are not there.
        {
            name: np.array([of_size["shortfalls"][name] for of_size in losses])
            for name in losses[0].get("shortfalls", {})
        },
    )


def _by_unit(losses: FloatArray, units: IntArray, pilot: IntArray) -> FloatArray:
    """Means over the labels of every pilot unit."""
    known = ~np.isnan(losses)
    index = np.searchsorted(pilot, units[known])
    sums = np.bincount(index, losses[known], minlength=pilot.size)
    means: FloatArray = sums / np.bincount(index, minlength=pilot.size)
    return means
