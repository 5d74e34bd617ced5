"""Which of several ways to learn does best on the pilot's own folds, and how far that choice flatters itself."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from types import MappingProxyType
from typing import Any

import numpy as np

from labelworth.arrays import BoolArray, FloatArray, IntArray
from labelworth.simulation.basis import ForecastBasis, Points
from labelworth.simulation.learner import Mode
from labelworth.simulation.pilot_points import N_FOLDS, PilotPoints
from labelworth.simulation.scales import Measure

WRONG_PROBABILITY_WEIGHT = 1.0
"""What the probability given to wrong classes counts beside the error. Both are shares of the same labels; the first
varies less from pilot to pilot. Any weight from 0.5 to 2 does about as well on our corpora; nats of log-loss in its
place are too many where there are many classes (docs/studies/model_choice.md)."""
_N_RESAMPLES = 400


@dataclass(frozen=True)
class Optimism:
    """How far the cross-validated figure of a chosen model lies below that of a model nobody chose."""

    shift: float  # To be added.
    variance: float  # Of the figures of the models that other pilots would have chosen.


@dataclass(frozen=True)
class ComparedModel:
    """A model beside the others, cross-validated on the same folds."""

    name: str
    uses_unlabeled: bool
    error: float  # Learned from the training part of a fold.
    wrong_probability: float  # The probability given to wrong classes, in the mean.
    log_loss: float
    # Error less that of the chosen model, unit by unit: mean and standard error.
    difference: float
    difference_se: float
    forecast: float | None = None  # Of the plan's criterion at the plan's size, where it was simulated.
    is_slow: bool = False  # Whether it is taken only where it is better than all others by more than chance.

    @property
    def kind(self) -> str:
        """The model without its settings."""
        return _kind(self.name)


def _kind(name: str) -> str:
    return name.partition(" (")[0].removeprefix("EM ")


@dataclass(frozen=True)
class ModelChoice:
    """How a model was chosen."""

    chosen: ComparedModel
    others: tuple[ComparedModel, ...]  # The best first.
    n_labels: int  # Labels of the pilot that were predicted, each without having been learned from.
    n_fits: int
    optimism: dict[Measure, Optimism]
    # Whether the pilot lacks classes: then models that learn from samples without a label, among which those of other
    # classes are, have to be better by more than chance.
    lacks_classes: bool = False
    # Whether the chosen model is not the best of the comparison but was forecast to be better at the plan's size.
    by_forecast: bool = False
    # From about how many labels on another is forecast to be better than the best of the comparison: the chosen model
    # where that is chosen by forecast, else its rival.
    crossing: int | None = None
    # Whether that rival is forecast to be better at the plan's size, though by no more than forecasts may be off.
    is_close: bool = False
    # What the chosen model is fitted with: its name, and what is set otherwise than usual.
    settings: dict[str, Any] = field(default_factory=dict)

    @property
    def rivals(self) -> tuple[ComparedModel, ...]:
        """The best of every other kind of model, whatever its settings."""
        kinds: dict[str, ComparedModel] = {}
        for model in self.others:
            kinds.setdefault(model.kind, model)
        kinds.pop(self.chosen.kind, None)
        return tuple(kinds.values())

    @property
    def rival(self) -> ComparedModel | None:
        """Whom the chosen model is forecast beside: the best of the comparison, or the best of another kind whose
        refits are quick.
        """
        models = self.others if self.by_forecast else [model for model in self.rivals if not model.is_slow]
        return models[0] if models else None

    def with_forecasts(
        self, chosen: float, rival: float, crossing: int | None, *, is_close: bool = False
    ) -> "ModelChoice":
        """With what the chosen model and its rival are forecast to reach."""
        others = tuple(replace(model, forecast=rival) if model == self.rival else model for model in self.others)
        own = replace(self.chosen, forecast=chosen)
        return replace(self, chosen=own, others=others, crossing=crossing, is_close=is_close)

    def best(self, *, uses_unlabeled: bool) -> ComparedModel | None:
        """The best of those that learn from samples without a label, or of those that do not."""
        return next((model for model in (self.chosen, *self.others) if model.uses_unlabeled == uses_unlabeled), None)


@dataclass(frozen=True, eq=False)
class Trials:
    """Losses of the pilot's units under every candidate, none of which learned from the unit."""

    n_labels: FloatArray  # (n_units,)
    errors: FloatArray  # (n_candidates, n_units)
    log_losses: FloatArray
    uses_unlabeled: BoolArray  # (n_candidates,)
    is_slow: BoolArray  # (n_candidates,): Their refits take long, so that they have to be better by more than chance.
    lacks_classes: bool = False  # See `ModelChoice`.

    @classmethod
    def of(
        cls,
        points: Sequence[PilotPoints],
        uses_unlabeled: Sequence[bool],
        is_slow: Sequence[bool],
        *,
        lacks_classes: bool = False,
    ) -> "Trials":
        """The largest sub-samples of points from the same folds."""
        errors, log_losses = (
            np.array([getattr(own, name)[-1] for own in points]) for name in ("errors", "log_losses")
        )
        return cls(points[0].n_labels, errors, log_losses, np.array(uses_unlabeled), np.array(is_slow), lacks_classes)

    @cached_property
    def wrong_probabilities(self) -> FloatArray:
        """The probability given to wrong classes, (n_candidates, n_units)."""
        return np.asarray(-np.expm1(-self.log_losses))

    @property
    def _even(self) -> FloatArray:
        return np.ones((1, len(self.n_labels)))

    def means(self, losses: FloatArray, times: FloatArray) -> FloatArray:
        """Mean losses when unit i is there ``times[b, i]`` times, (n_candidates, n_resamples)."""
        counted = times * self.n_labels
        means: FloatArray = losses @ counted.T / counted.sum(axis=1)
        return means

    @cached_property
    def _unit_scores(self) -> FloatArray:
        return self.errors + WRONG_PROBABILITY_WEIGHT * self.wrong_probabilities

    def winners(self, times: FloatArray) -> IntArray:
        """Which candidate is chosen in every resample, (n_resamples,).

        The one of the least error and probability given to wrong classes. Where the pilot lacks classes, a model that
        learns from samples without a label is taken only where it is surely better than the best of the others; so is
        a slow one, whatever the pilot has.
        """
        scores = self.means(self._unit_scores, times)

        def best(among: BoolArray) -> IntArray:
            return np.asarray(np.where(among[:, None], scores, np.inf).argmin(axis=0))

        quick, slow, uses = ~self.is_slow, self.is_slow, self.uses_unlabeled
        chosen = best(quick if quick.any() else slow)
        if self.lacks_classes and (quick & uses).any() and (quick & ~uses).any():
            chosen = self._surely_better(best(quick & uses), best(quick & ~uses), times)
        if quick.any() and slow.any():
            chosen = self._surely_better(best(slow), chosen, times)
        return chosen

    def _surely_better(self, bold: IntArray, safe: IntArray, times: FloatArray) -> IntArray:
        """The bold candidates where they are better by more than one standard error of the paired difference, else
        the safe ones, (n_resamples,).
        """
        each = self.n_labels / (times @ self.n_labels)[:, None]  # What a unit counts every time it is there.
        gaps = self._unit_scores[bold] - self._unit_scores[safe]
        gap = (times * each * gaps).sum(axis=1)
        standard_error = np.sqrt((times * (each * (gaps - gap[:, None])) ** 2).sum(axis=1))
        return np.asarray(np.where(gap < -standard_error, bold, safe))

    @cached_property
    def chosen(self) -> int:
        return int(self.winners(self._even)[0])

    @cached_property
    def order(self) -> IntArray:
        """Candidates, the chosen one first, then the best first."""
        order = np.argsort(self.means(self._unit_scores, self._even)[:, 0], kind="stable")
        return np.asarray(_with_first(order, self.chosen))

    def rivals(self, times: FloatArray, names: Sequence[str]) -> IntArray:
        """The best quick candidate of other kinds than the chosen one's in every resample, (n_resamples,)."""
        kinds = np.unique([_kind(name) for name in names], return_inverse=True)[1]
        is_other = (kinds[:, None] != kinds[self.winners(times)]) & ~self.is_slow[:, None]
        return np.asarray(np.where(is_other, self.means(self._unit_scores, times), np.inf).argmin(axis=0))

    def optimism(
        self, losses: FloatArray, rng: np.random.Generator, choose: Callable[[FloatArray], IntArray] | None = None
    ) -> Optimism:
        """By choosing again among resampled units.

        What is chosen on the units drawn is tested on the units that were not (Tsamardinos et al. 2018): in the mean
        over resamples, given the pilot, what the drawn units flatter the others take back in the same measure. Where
        all candidates are alike that undoes the whole optimism, where one is best by far it changes nothing.
        Both are compared with what the model that was chosen on all units does on those left out: nothing is added
        where no other is ever chosen.

        Parameters
        ----------
        choose : function
            Says which candidate is chosen in every resample; `winners` when absent.
        """
        n_units = len(self.n_labels)
        times = rng.multinomial(n_units, np.full(n_units, 1 / n_units), size=_N_RESAMPLES).astype(np.float64)
        left_out = (times == 0).astype(np.float64)
        usable = left_out @ self.n_labels > 0
        times, left_out = times[usable], left_out[usable]
        choose = choose or self.winners
        chosen, tested = choose(times), self.means(losses, left_out)
        shift = tested[chosen, np.arange(len(chosen))] - tested[choose(self._even)[0]]
        return Optimism(float(shift.mean()), float(self.means(losses, self._even)[chosen, 0].var()))

    def choice(self, names: Sequence[str], seed: int, planned: int | None = None) -> ModelChoice:
        """What was chosen, beside the others.

        Parameters
        ----------
        planned : int, optional
            The candidate that is taken for its forecast instead: the best of another kind than the chosen one's. It
            is flattered by having been found so, not as the chosen one is.
        """
        chosen = self.chosen if planned is None else planned
        errors, wrong, log_losses = (
            self.means(losses, self._even)[:, 0]
            for losses in (self.errors, self.wrong_probabilities, self.log_losses)
        )
        shares = self.n_labels / self.n_labels.sum()
        models = []
        for index in _with_first(self.order, chosen).tolist():
            gaps = self.errors[index] - self.errors[chosen]
            gap = float(gaps @ shares)
            spread = float(np.sqrt(np.sum((shares * (gaps - gap)) ** 2)))
            models.append(
                ComparedModel(
                    names[index],
                    bool(self.uses_unlabeled[index]),
                    float(errors[index]),
                    float(wrong[index]),
                    float(log_losses[index]),
                    gap,
                    spread,
                    is_slow=bool(self.is_slow[index]),
                )
            )
        choose = self.winners if planned is None else partial(self.rivals, names=names)
        optimism: dict[Measure, Optimism] = {
            "error": self.optimism(self.errors, np.random.default_rng([seed, 11]), choose),
            "log_loss": self.optimism(self.log_losses, np.random.default_rng([seed, 11]), choose),
        }
        return ModelChoice(
            models[0],
            tuple(models[1:]),
            int(self.n_labels.sum()),
            N_FOLDS * len(self.errors),
            optimism,
            self.lacks_classes,
            by_forecast=planned is not None,
        )


def _with_first(order: IntArray, first: int) -> IntArray:
    return np.concatenate([[first], order[order != first]])


def without_optimism(basis: ForecastBasis, mode: Mode, choice: ModelChoice) -> ForecastBasis:
    """The same basis with the points of the chosen model where they would be had nobody chosen it.

    The choice was made at the largest sub-samples. Points at other sizes, tested on the same units, share a part of
    its luck: the part that their covariance with the largest says. Metrics, by which nothing was chosen, are taken to
    be flattered as the error is, on the scale of log-odds.
    """
    points: dict[Any, Points] = dict(basis.points)
    for measure, optimism in choice.optimism.items():
        own = points[mode, measure]
        shares = _luck_shares(own)
        # The same shift for all sizes may lead out of what an error can be: its end is the nearest there is. A
        # log-loss has no upper one.
        most = np.inf if measure == "log_loss" else 1.0
        means = np.clip(own.means + optimism.shift * shares, 0.0, most)
        points[mode, measure] = Points(
            own.sizes, means, own.covariance + optimism.variance * np.outer(shares, shares)
        )
    error = basis.points[mode, "error"]
    shares = _luck_shares(error) / _slope(error, basis.n_labeled)
    for metric in basis.metric_units:
        own, optimism = points[mode, metric], choice.optimism["error"]
        moved = shares * _slope(own, basis.n_tested(metric))
        means = np.clip(own.means + optimism.shift * moved, 0.0, 1.0)
        points[mode, metric] = Points(own.sizes, means, own.covariance + optimism.variance * np.outer(moved, moved))
    return replace(basis, points=MappingProxyType(points))


def _luck_shares(points: Points) -> FloatArray:
    """Which part of the luck of the largest sub-sample the others share."""
    last = points.covariance[-1, -1]
    return np.asarray(points.covariance[:, -1] / last if last > 0 else np.ones(len(points.means)))


def _slope(points: Points, n_units: int) -> FloatArray:
    """How many points a unit of log-odds is; half an error is added, so that none is no end of the scale."""
    means = (n_units * points.means + 0.5) / (n_units + 1)
    return np.asarray(means * (1 - means))
