"""What a forecast rests on: the pilot's points and simulated curves, as plain values that can be kept."""

import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.special import xlogy

from labelworth.arrays import FloatArray, IntArray
from labelworth.data.protocol import Data, DataT
from labelworth.errors import InvalidInputError, LabelworthWarning
from labelworth.policies.choosing import Choosing
from labelworth.policies.policy import Policy
from labelworth.progress import SILENT, Progress
from labelworth.simulation.jobs import Keep, keep_nothing
from labelworth.simulation.learner import MODES, Learner, LearnerKind, Mode, Source, known_codes
from labelworth.simulation.metrics import Metric, pilot_units
from labelworth.simulation.open_labels import OpenLabels, class_shares, open_labels
from labelworth.simulation.pilot_points import PilotPoints, labeled_units, pilot_points, pilot_work, point_sizes
from labelworth.simulation.simulator import SMALLEST_HELD_OUT, CurveDesign, LabelSource, held_out_units, simulate

N_REPEATS: Mapping[Mode, int] = {"labels-only": 3, "semi-supervised": 1}
"""How often the pilot is dealt into folds: without EM a fit costs next to nothing."""
NODE_RATIO = 3.0
"""Simulated sizes lie at most this factor apart; curves are smooth between."""
_ENOUGH_TESTED, _MOST_REPLICATES = 1000, 16  # positions in all: shares are then known to about a point
_CHANCE = 1.5  # standard errors
_SHARP = 0.05  # the temperature at which the drawn labels are the predicted ones


@dataclass(frozen=True, eq=False)
class Points:
    """Cross-validated means of one measure in one mode."""

    sizes: IntArray  # (n_points,)
    means: FloatArray  # (n_points,)
    covariance: FloatArray  # (n_points, n_points): Of the means; all sizes are tested on the same units.


@dataclass(frozen=True, eq=False)
class Simulated:
    """Simulated values of one measure in one mode, with labels from one source."""

    sizes: IntArray  # (n_nodes,)
    values: FloatArray  # (n_replicates, n_nodes)
    # (n_replicates,): Of how many units a metric is a mean, about; empty of means over all units kept out.
    n_tested: FloatArray = field(default_factory=lambda: np.empty(0))

    @property
    def is_known(self) -> bool:
        """Whether anything was tested; a source may name no unit of a class."""
        return not self.n_tested.size or bool(self.n_tested.any())


@dataclass(frozen=True)
class Comparison:
    """Semi-supervised less labels-only, unit by unit, at the largest sub-samples: mean and standard error."""

    difference: float
    standard_error: float


@dataclass(frozen=True, eq=False)
class ForecastBasis:
    """Everything that was computed for a forecast."""

    kind: LearnerKind  # Of the learner.
    n_labeled: int  # Labeled units in the pilot.
    n_units: int  # Units in the pilot and the pool.
    points: Mapping[tuple[Mode, str], Points]
    # By the source of the labels that took the place of the truth, the mode, and the policy: the spec of what is
    # labeled, `WHOLE` where units are labeled whole.
    simulated: Mapping[tuple[str, Mode, str, str], Simulated]
    comparisons: Mapping[str, Comparison]  # Empty when only one mode was asked for.
    source_errors: Mapping[str, float]  # Share of the pilot's labels that every source missed, cross-validated.
    # By source and measure: what no learner could predict of its labels, where they are drawn; none of metrics, which
    # have no such share (their simulated curves hold what overlaps all the same).
    source_overlaps: Mapping[tuple[str, str], float]
    class_counts: IntArray  # (K,): Of the pilot's labels.
    # By metric: of how many units of the pilot it is a mean, about; of all where it is not named.
    metric_units: Mapping[str, int] = field(default_factory=dict)

    def n_tested(self, measure: str) -> int:
        """Of how many units the points of a measure are means, about."""
        return self.metric_units.get(measure, self.n_labeled)

    def chance(self, measure: str) -> float:
        """What it costs to know no features: to name the most frequent class always, or the shares of the classes.

        Of metrics it is all there is.
        """
        shares = class_shares(self.class_counts)
        if measure == "log_loss":
            return float(-xlogy(shares, shares).sum())
        return float(1 - shares.max()) if measure == "error" else 1.0

    @property
    def open_labels(self) -> OpenLabels:
        """Which shares of the labels may not follow from the features."""
        return open_labels(self.class_counts, self.n_labeled, min(self.source_errors.values()))

    @property
    def n_replicates(self) -> int:
        return min(len(curve.values) for curve in self.simulated.values())

    @property
    def modes(self) -> tuple[Mode, ...]:
        return tuple(mode for mode in MODES if (mode, "error") in self.points)

    def to_dict(self) -> dict[str, Any]:
        """As JSON knows it; keys are joined by a slash."""
        return {
            "kind": self.kind,
            "n_labeled": self.n_labeled,
            "n_units": self.n_units,
            "points": {"/".join(key): _lists(points) for key, points in self.points.items()},
            "simulated": {"/".join(key): _lists(curves) for key, curves in self.simulated.items()},
            "source_errors": dict(self.source_errors),
            "source_overlaps": {"/".join(key): value for key, value in self.source_overlaps.items()},
            "class_counts": self.class_counts.tolist(),
            "comparisons": {key: [value.difference, value.standard_error] for key, value in self.comparisons.items()},
            **({"metric_units": dict(self.metric_units)} if self.metric_units else {}),
        }

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> "ForecastBasis":
        points: dict[Any, Points] = {
            # The name of a metric may hold that of a class, with any signs.
            tuple(key.split("/", 1)): Points(**_arrays(lists))
            for key, lists in stored["points"].items()
        }
        simulated: dict[Any, Simulated] = {
            tuple(key.split("/", 3)): Simulated(**_arrays(lists)) for key, lists in stored["simulated"].items()
        }
        comparisons = {key: Comparison(*value) for key, value in stored["comparisons"].items()}
        kind, n_labeled, n_units = stored["kind"], stored["n_labeled"], stored["n_units"]
        overlaps: dict[Any, float] = {
            tuple(key.split("/")): value for key, value in stored["source_overlaps"].items()
        }
        return cls(
            kind,
            n_labeled,
            n_units,
            points,
            simulated,
            comparisons,
            stored["source_errors"],
            overlaps,
            np.array(stored["class_counts"]),
            stored.get("metric_units", {}),
        )


def _lists(value: Points | Simulated) -> dict[str, Any]:
    return {name: array.tolist() for name, array in vars(value).items() if array.size}


def _arrays(lists: Mapping[str, Any]) -> dict[str, Any]:
    return {name: np.array(values) for name, values in lists.items()}


def forecast_basis(
    learner: Learner[DataT],
    data: DataT,
    largest: int,
    *,
    policies: Sequence[Policy] = (),
    choosings: Sequence[Choosing] = (),
    seed: int = 0,
    metrics: Sequence[Metric] = (),
    sources: Mapping[str, Source] | None = None,
    has_time: Callable[[int], bool] = lambda work: True,
    workers: int | None = 1,
    progress: Progress = SILENT,
    keep: Keep = keep_nothing,
) -> ForecastBasis:
    """Cross-validate sub-samples of the pilot, and simulate learning curves with labels from fits to it.

    Parameters
    ----------
    learner, data
        The labeled units of `data` are the pilot, drawn at random; all others are the pool.
    largest : int
        The largest number of labels that forecasts will be asked for; beyond what the pool can simulate, curves are
        extended on their own slope.
    policies : sequence of Policy
        What else may be labeled of sequences, beside all of it.
    choosings : sequence of Choosing
        How else units may be found than at random, once the pilot's are labeled.
    metrics : sequence of Metric
        What else is to be forecast, beside error and log-loss.
    sources : mapping, optional
        Where simulated labels come from; asked of the learner when absent.
    has_time : function
        Asked, once the pilot is done, whether replicates that take so much work (`forecast_work`) may be simulated;
        one of them is in any case.
    keep : function
        Asked for the pieces one by one, under names of their own: numbers are the same whether a piece is computed
        now or was kept by an earlier call with the same arguments.
    """
    modes = learner.modes
    metric_units = {metric.spec: _metric_units(metric, data) for metric in metrics}
    pilot = pilot_points(
        learner,
        data,
        modes,
        seed=seed,
        n_repeats=N_REPEATS,
        metrics=metrics,
        workers=workers,
        progress=progress,
        keep=keep,
    )
    n_units, n_labeled = data.n_samples, labeled_units(data).size
    # From where on the learner can be fitted.
    sizes = simulated_sizes(next(iter(pilot.values())).sizes, largest, n_units)
    work = forecast_work(learner, data, largest, policies, choosings)
    n_replicates = next((n for n in range(work.n_replicates, 1, -1) if has_time(n * work.replicate)), 1)
    points, simulated, source_errors, overlaps = _points(pilot), {}, {}, {}
    designs = [CurveDesign(mode, policy) for mode in modes for policy in (None, *policies)]
    designs += [
        CurveDesign(mode, choosing=choosing, start=n_labeled)
        for mode in modes
        for choosing in choosings
        if choosing.by != "worth" or mode in learner.worth_modes
    ]
    labels: dict[str, LabelSource] = {}
    asked = sources or sources_of(learner, data, workers)
    for name, source in asked.items():
        # A fit of the learner itself errs as its points say.
        own: Any = name
        source_errors[name] = float(points[own, "error"].means[-1] if source.error is None else source.error)
        labels[name] = label_source(source, source_errors[name], n_labeled)
        overlaps[name, "error"], overlaps[name, "log_loss"] = labels[name].overlap
    curves = simulate(
        learner,
        data,
        labels,
        designs,
        sizes,
        n_replicates=n_replicates,
        seed=seed,
        firsts={name: first_replicate(asked, name) for name in asked},
        metrics=metrics,
        workers=workers,
        progress=progress,
        keep=_under("simulated", keep),
    )
    for name, of_source in curves.items():
        for curve in of_source:
            key = (name, curve.design.mode, curve.design.name)
            simulated[*key, "error"] = Simulated(sizes, curve.errors)
            simulated[*key, "log_loss"] = Simulated(sizes, curve.log_losses)
            for metric, values in curve.shortfalls.items():
                simulated[*key, metric] = Simulated(sizes, values, curve.n_tested[metric])
    comparisons = _comparisons(pilot)
    counts = class_counts(data)
    return ForecastBasis(
        learner.kind,
        n_labeled,
        n_units,
        points,
        simulated,
        comparisons,
        source_errors,
        overlaps,
        counts,
        metric_units,
    )


@dataclass(frozen=True)
class ForecastWork:
    """What the refits of a forecast take; see `Learner.work`."""

    pilot: int  # Parts of the pilot.
    replicate: int  # One replicate of every simulated curve.
    n_replicates: int  # As many as it takes to test on some thousand positions.

    @property
    def whole(self) -> int:
        return self.pilot + self.n_replicates * self.replicate

    @property
    def least(self) -> int:
        """With a single replicate."""
        return self.pilot + self.replicate


def forecast_work(
    learner: Learner[DataT],
    data: DataT,
    largest: int,
    policies: Sequence[Policy] = (),
    choosings: Sequence[Choosing] = (),
) -> ForecastWork:
    """Of `forecast_basis` with the same arguments."""
    n_units, n_labeled = data.n_samples, labeled_units(data).size
    points = point_sizes(n_labeled)
    learners = [learner.in_mode(mode) for mode in learner.modes]
    parts = [pilot_work(own, int(size), n_units, N_REPEATS[own.mode]) for own in learners for size in points]
    sizes = simulated_sizes(points, largest, n_units)
    curves = [own.work(int(size), n_units) for own in learners for size in sizes]
    # Every round of choosing takes a fit, and scores that take about as long.
    rounds = [2 * int(np.ceil(np.log2(size / n_labeled))) + 1 for size in sizes if size > n_labeled]
    chosen = sum(rounds) * sum(own.work(n_labeled, n_units) for own in learners)
    n_tested = held_out_units(n_units, int(sizes.max())) * float(np.mean(data.lengths))
    return ForecastWork(
        sum(parts),
        (len(learners) + learner.n_other_sources) * ((1 + len(policies)) * sum(curves) + len(choosings) * chosen),
        int(np.clip(np.ceil(_ENOUGH_TESTED / n_tested), 1, _MOST_REPLICATES)),
    )


def sources_of(learner: Learner[DataT], data: DataT, workers: int | None = 1) -> dict[str, Source]:
    """What takes the place of the truth, by name."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LabelworthWarning)
        return learner.sources(data, workers)


def label_source(source: Source, error: float, n_labeled: int) -> LabelSource:
    """The most probable labels of a source, or draws where it says how far classes overlap and the pilot agrees.

    Classes that overlap make even the best prediction err. A source that misses fewer of the pilot's labels than it
    says it must, by more than chance explains, takes its classes to overlap more than they do.
    """
    drawn = LabelSource(source.prediction, 1.0)
    if source.is_drawn:
        overlap = drawn.overlap[0]
        if error >= overlap - _CHANCE * np.sqrt(overlap * (1 - overlap) / n_labeled):
            return drawn
    return LabelSource(source.prediction, _SHARP)


def first_replicate(sources: Iterable[str], name: str) -> int:
    """The number of a source's first replicate.

    Every source has draws of its own: what one order of few labels happens to teach is averaged out over them.
    """
    return _MOST_REPLICATES * sorted(sources).index(name)


def _under(prefix: str, keep: Keep) -> Keep:

    def keep_under(name: str, compute: Callable[[], Any]) -> Any:
        return keep(f"{prefix}/{name}", compute)

    return keep_under


def simulated_sizes(points: IntArray, largest: int, n_units: int) -> IntArray:
    """From the smallest sub-sample to the largest number of labels, or what can be simulated, in equal ratios."""
    smallest, most = int(points[0]), n_units - max(1, round(SMALLEST_HELD_OUT * n_units))
    end = min(max(largest, int(points[-1])), most)
    if end <= smallest:
        raise InvalidInputError(f"There are only {n_units} examples, too few to simulate more labels than there are.")
    n_nodes = 1 + int(np.ceil(np.log(end / smallest) / np.log(NODE_RATIO) - 1e-9))
    return np.unique(np.rint(np.geomspace(smallest, end, max(n_nodes, 2))).astype(np.int64))


def class_counts(data: Data) -> IntArray:
    """Of the labels that are known, (K,)."""
    codes = known_codes(data)
    return np.bincount(codes[codes >= 0], minlength=data.evidence.n_classes)


def _points(pilots: Mapping[Mode, PilotPoints]) -> dict[tuple[Mode, str], Points]:
    points = {}
    for mode, pilot in pilots.items():
        for measure, losses in (("error", pilot.errors), ("log_loss", pilot.log_losses)):
            points[mode, measure] = Points(pilot.sizes, pilot.means(losses), pilot.covariance(losses))
        for metric, shortfalls in pilot.shortfalls.items():
            points[mode, metric] = Points(pilot.sizes, shortfalls[:, 0], pilot.shortfall_covariance(metric))
    return points


def _metric_units(metric: Metric, data: Data) -> int:
    owner = np.repeat(np.arange(data.n_samples), data.lengths)
    return pilot_units(metric, known_codes(data), owner, data.evidence.classes)


def _comparisons(pilots: Mapping[Mode, PilotPoints]) -> dict[str, Comparison]:
    if len(pilots) < 2:
        return {}
    alone, together = pilots["labels-only"], pilots["semi-supervised"]
    comparisons = {}
    for measure, gaps in (
        ("error", together.errors - alone.errors),
        ("log_loss", together.log_losses - alone.log_losses),
    ):
        spread = float(np.sqrt(alone.covariance(gaps)[-1, -1]))
        comparisons[measure] = Comparison(float(alone.means(gaps)[-1]), spread)
    return comparisons
