"""Learning curves where the truth is known: labels drawn for the real pool, hidden, refitted, evaluated."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Generic

import numpy as np
from scipy.special import xlogy

from labelworth.arrays import FloatArray, IntArray
from labelworth.data.evidence import Evidence
from labelworth.data.protocol import DataT
from labelworth.errors import InvalidInputError, NotIdentifiableError
from labelworth.policies.choosing import Choosing
from labelworth.policies.policy import Policy
from labelworth.progress import SILENT, Progress
from labelworth.simulation.jobs import Keep, Refit, keep_nothing, run_fits
from labelworth.simulation.learner import Learner, Mode, Prediction, expected_error, expected_log_loss, keep_labels
from labelworth.simulation.metrics import Metric

WHOLE = "everything"
"""The policy of units that are labeled whole."""
LARGEST_HELD_OUT, SMALLEST_HELD_OUT = 0.2, 0.05
"""Shares of the units kept out of a refit to be tested on: the larger one, unless so many labels are asked for."""


@dataclass(frozen=True, eq=False)
class LabelSource:
    """What takes the place of the truth: p(labels | x) of a fitted model at a temperature."""

    prediction: Prediction
    temperature: float

    @property
    def probabilities(self) -> FloatArray:
        """p(label | x) at every position, (n_positions, K); made anew, as few ask and it may be large."""
        probabilities: FloatArray = np.exp(self.prediction.log_posteriors(self.temperature))
        return probabilities

    @property
    def overlap(self) -> tuple[float, float]:
        """What even the best prediction misses of drawn labels: share of errors, and nats."""
        probabilities = self.probabilities
        nats = -xlogy(probabilities, probabilities).sum(axis=1)
        return float(1.0 - probabilities.max(axis=1).mean()), float(nats.mean())

    def draw(self, rng: np.random.Generator) -> IntArray:
        """Labels for all positions."""
        return self.prediction.draw(self.temperature, rng)


@dataclass(frozen=True)
class CurveDesign:
    """One curve: a way to learn and a way to label."""

    mode: Mode
    policy: Policy | None = None
    choosing: Choosing | None = None  # How units are chosen once `start` of them are labeled; None: at random.
    start: int = 0

    @property
    def name(self) -> str:
        """The spec of the policy, or how units are chosen; `WHOLE` where they are drawn and labeled whole."""
        if self.choosing is not None:
            return self.choosing.name
        return WHOLE if self.policy is None else self.policy.spec


@dataclass(frozen=True, eq=False)
class LearningCurve:
    """Simulated errors and log-losses over the number of labeled units."""

    design: CurveDesign
    sizes: IntArray  # (n_sizes,)
    errors: FloatArray  # (n_replicates, n_sizes)
    log_losses: FloatArray
    shortfalls: Mapping[str, FloatArray] = field(default_factory=dict)  # The same of metrics, by their names.
    # (n_replicates,) by metric: Of how many units kept out it is a mean, about.
    n_tested: Mapping[str, FloatArray] = field(default_factory=dict)


@dataclass(frozen=True)
class _Job:
    source: str
    replicate: int
    design: int
    size: int


class Replicate(Generic[DataT]):
    """One draw of labels for the pool, of the units to test on, and of the order in which the others are labeled.

    Of the data it holds which units are meant: many replicates share the features, and a refit takes its own.
    """

    def __init__(self, data: DataT, source: LabelSource, n_held_out: int, seed: int, replicate: int) -> None:
        rng = np.random.default_rng([seed, replicate])
        lengths = data.lengths
        order = rng.permutation(len(lengths))
        self._held_out, self._others = np.sort(order[:n_held_out]), np.sort(order[n_held_out:])
        self._data = data
        self._drawn = Evidence(source.draw(rng), data.evidence.classes)
        self.order = rng.permutation(len(self._others))
        self.policy_seed = int(rng.integers(2**32))
        is_held_out = np.zeros(len(lengths), dtype=bool)
        is_held_out[self._held_out] = True
        is_tested = np.repeat(is_held_out, lengths)
        self.probabilities = source.probabilities[is_tested]
        self.codes = self._drawn.codes[is_tested]

    @property
    def pool(self) -> DataT:
        """The units that may be learned from, with the labels that were drawn; taken anew each time."""
        return self._data.with_evidence(self._drawn).take(self._others)

    @property
    def tested(self) -> DataT:
        """The units that are kept out; taken anew each time."""
        return self._data.take(self._held_out)

    def losses(
        self,
        learner: Learner[DataT],
        design: CurveDesign,
        size: int,
        used: int | None = None,
        metrics: Sequence[Metric] = (),
    ) -> tuple[float, ...]:
        """Error, log-loss, shortfalls of a refit to `size` labeled units, and the next up to `used`, or all others.

        Metrics are of the labels drawn for the units kept out: they are no means of which to take expectations.
        """
        if used is None:
            kept = self.order[:size] if design.choosing is None else self._chosen(learner, design, size)
            shown = keep_labels(self.pool, kept, design.policy, self.policy_seed)
        else:
            part = self._data.with_evidence(self._drawn).take(self._others[self.order[:used]])
            shown = keep_labels(part, np.arange(size), design.policy, self.policy_seed)
        return self.judged(learner, shown, metrics)

    def judged(self, learner: Learner[DataT], shown: DataT, metrics: Sequence[Metric] = ()) -> tuple[float, ...]:
        """The same of a refit to what is shown."""
        prediction = learner.predict(learner.fit(shown), self.tested)
        shortfalls = [metric.shortfall(prediction, self.codes, self._drawn.classes) for metric in metrics]
        error = expected_error(prediction.best, self.probabilities)
        return error, expected_log_loss(prediction, self.probabilities), *shortfalls

    def _chosen(self, learner: Learner[DataT], design: CurveDesign, size: int) -> IntArray:
        """The first `start` units at random, the others chosen in rounds, each of which doubles the labels."""
        choosing = design.choosing or Choosing()
        return chosen_units(
            learner, self.pool, self.order[: min(design.start, size)], size, choosing, self.policy_seed
        )

    def n_tested(self, metric: Metric) -> int:
        """Of how many units kept out a metric is a mean, about."""
        lengths = self._data.lengths[self._held_out]
        return metric.n_units(self.codes, np.repeat(np.arange(len(lengths)), lengths), self._drawn.classes)


def chosen_units(
    learner: Learner[DataT], data: DataT, start: IntArray, size: int, choosing: Choosing, seed: int
) -> IntArray:
    """Units to label, those of `start` first, then `size` in all: in rounds, each of which doubles the labels.

    Labels of `data` are looked at once their unit is chosen. Where a fit leaves the worth of rows open, that round
    goes by uncertainty, as `labelworth next` advises there.
    """
    kept = start
    while len(kept) < size:
        shown = keep_labels(data, kept)
        fitted = learner.fit(shown)
        try:
            scores = learner.scores(choosing.by, fitted, shown)
        except NotIdentifiableError:
            scores = learner.scores("uncertainty", fitted, shown)
        rest = np.setdiff1d(np.arange(data.n_samples), kept)
        rng = np.random.default_rng([seed, len(kept)])
        drawn = choosing.draw(scores[rest], min(len(kept), size - len(kept)), rng)
        kept = np.concatenate([kept, rest[drawn.rows]])
    return kept


def simulate(
    learner: Learner[DataT],
    data: DataT,
    sources: Mapping[str, LabelSource],
    designs: Sequence[CurveDesign],
    sizes: IntArray,
    *,
    n_replicates: int,
    seed: int,
    firsts: Mapping[str, int] = MappingProxyType({}),
    metrics: Sequence[Metric] = (),
    workers: int | None = 1,
    progress: Progress = SILENT,
    keep: Keep = keep_nothing,
) -> dict[str, list[LearningCurve]]:
    """Learning curves on the real pool with labels drawn from every one of `sources`, by its name.

    Replicate by replicate: labels are drawn for all units, a fifth of the units is kept out, and of the others the
    first L of a random order keep their labels. Designs and sizes share all of this, so that their differences are
    far less noisy than they are; larger sets of labels contain smaller ones. Errors and log-losses on the units kept
    out are expectations over their labels, not drawn.

    Parameters
    ----------
    learner, data
        Labels in `data` are not looked at.
    sizes : integer array
        Numbers of labeled units.
    firsts : mapping
        Number of the first replicate of a source, 0 where none is said; replicates of other numbers draw otherwise.
    metrics : sequence of Metric
        What else to tell of every refit.
    keep : function
        Asked for the losses of every single refit.

    Raises
    ------
    InvalidInputError
        If a size exceeds what the pool holds beside the units kept out.
    """
    n_held_out = held_out_units(data.n_samples, int(np.max(sizes)))
    replicates = {
        name: [
            Replicate(data, source, n_held_out, seed, firsts.get(name, 0) + index) for index in range(n_replicates)
        ]
        for name, source in sources.items()
    }
    # All in one go: none of the sources waits for the last fit of another.
    jobs = [
        _Job(source, replicate, design, int(size))
        for source in sources
        for replicate in range(n_replicates)
        for design in range(len(designs))
        for size in sizes
    ]

    def fit(job: _Job) -> Refit[Sequence[float]]:
        design = designs[job.design]
        own = (learner.in_mode(design.mode), design, job.size, None, tuple(metrics))
        return Refit(Replicate.losses, replicates[job.source][job.replicate], own)

    def name(job: _Job) -> str:
        design = designs[job.design]
        return f"{job.source}/{job.replicate}/{design.mode}/{design.name}/{job.size}"

    def work(job: _Job) -> int:
        return learner.in_mode(designs[job.design].mode).work(job.size, data.n_samples)

    def as_drawn(job: _Job) -> _Job:
        """Up to the start of a choice, units are those drawn at random: one fit for both."""
        design = designs[job.design]
        drawn = CurveDesign(design.mode, design.policy)
        if design.choosing is None or job.size > design.start or drawn not in designs:
            return job
        return replace(job, design=designs.index(drawn))

    distinct = list(dict.fromkeys(map(as_drawn, jobs)))
    outcomes = dict(
        zip(
            distinct,
            run_fits(
                fit,
                distinct,
                name=name,
                keep=keep,
                in_processes=learner.in_processes,
                workers=workers,
                title="simulating labels",
                progress=progress,
                work=work,
            ),
            strict=True,
        )
    )
    losses = np.array([outcomes[as_drawn(job)] for job in jobs])
    cubes = losses.reshape(len(sources), n_replicates, len(designs), len(sizes), 2 + len(metrics))
    curves: dict[str, list[LearningCurve]] = {}
    for (source, own), cube in zip(replicates.items(), cubes, strict=True):
        n_tested = {metric.spec: np.array([one.n_tested(metric) for one in own], float) for metric in metrics}
        curves[source] = [
            LearningCurve(
                design,
                np.asarray(sizes),
                cube[:, index, :, 0],
                cube[:, index, :, 1],
                {metric.spec: cube[:, index, :, 2 + position] for position, metric in enumerate(metrics)},
                n_tested,
            )
            for index, design in enumerate(designs)
        ]
    return curves


def held_out_units(n_units: int, n_labels: int) -> int:
    """How many units are kept out: a fifth, or what so many labels leave, but no less than a twentieth.

    Raises
    ------
    InvalidInputError
        If there are not enough units for so many labels.
    """
    most = most_labels(n_units)
    if n_labels > most:
        raise InvalidInputError(
            f"{n_labels} labels cannot be simulated: there are {n_units} examples, and {n_units - most} of them are "
            f"kept out to be tested on. Ask for {most} labels at most."
        )
    return max(n_units - most, min(round(LARGEST_HELD_OUT * n_units), n_units - n_labels))


def most_labels(n_units: int) -> int:
    """How many units can be labeled in a simulation: all but the fewest that are kept out."""
    return n_units - max(1, round(SMALLEST_HELD_OUT * n_units))
