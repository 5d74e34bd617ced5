"""Which of several ways to learn does best on the pilot's own folds, and how far that choice flatters itself."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from types import MappingProxyType
from typing import Any

import numpy as np

from labelworth.arrays import FloatArray, IntArray
from labelworth.simulation.basis import ForecastBasis, Points
from labelworth.simulation.learner import Mode
from labelworth.simulation.pilot_points import N_FOLDS, PilotPoints
from labelworth.simulation.scales import Measure

LOG_LOSS_WEIGHT = 0.5
"""What a nat of log-loss counts beside the error, as it varies less from pilot to pilot. Tuned on our corpora: regret
of the choice 0.53 points with it and 0.72 without on the pilots it was tuned on, 0.61 and 0.83 on others; any weight
from 0.1 to 1 does about as well (docs/studies/model_choice.md)."""
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
    log_loss: float
    # Error less that of the chosen model, unit by unit: mean and standard error.
    difference: float
    difference_se: float
    forecast: float | None = None  # Of the plan's criterion at the plan's size, where it was simulated.

    @property
    def kind(self) -> str:
        """The model without its settings."""
        return self.name.partition(" (")[0].removeprefix("EM ")


@dataclass(frozen=True)
class ModelChoice:
    """How a model was chosen."""

    chosen: ComparedModel
    others: tuple[ComparedModel, ...]  # The best first.
    n_labels: int  # Labels of the pilot that were predicted, each without having been learned from.
    n_fits: int
    optimism: dict[Measure, Optimism]
    crossing: int | None = None  # From how many labels on the rival is forecast to be better.

    @property
    def rivals(self) -> tuple[ComparedModel, ...]:
        """The best of every other kind of model, whatever its settings."""
        kinds: dict[str, ComparedModel] = {}
        for model in self.others:
            kinds.setdefault(model.kind, model)
        kinds.pop(self.chosen.kind, None)
        return tuple(kinds.values())

    def with_forecasts(self, chosen: float, rival: float, crossing: int | None) -> "ModelChoice":
        """With what the chosen model and its first rival are forecast to reach."""
        first = self.rivals[0]
        others = tuple(replace(model, forecast=rival) if model == first else model for model in self.others)
        return replace(self, chosen=replace(self.chosen, forecast=chosen), others=others, crossing=crossing)

    def best(self, *, uses_unlabeled: bool) -> ComparedModel | None:
        """The best of those that learn from samples without a label, or of those that do not."""
        return next((one for one in (self.chosen, *self.others) if one.uses_unlabeled == uses_unlabeled), None)


@dataclass(frozen=True, eq=False)
class Trials:
    """Losses of the pilot's units under every candidate, none of which learned from the unit."""

    n_labels: FloatArray  # (n_units,)
    errors: FloatArray  # (n_candidates, n_units)
    log_losses: FloatArray

    @classmethod
    def of(cls, points: Sequence[PilotPoints]) -> "Trials":
        """The largest sub-samples of points from the same folds."""
        errors, log_losses = (
            np.array([getattr(own, name)[-1] for own in points]) for name in ("errors", "log_losses")
        )
        return cls(points[0].n_labels, errors, log_losses)

    @property
    def _even(self) -> FloatArray:
        return np.ones((1, len(self.n_labels)))

    def means(self, losses: FloatArray, times: FloatArray) -> FloatArray:
        """Mean losses when unit i is there ``times[b, i]`` times, (n_candidates, n_resamples)."""
        counted = times * self.n_labels
        means: FloatArray = losses @ counted.T / counted.sum(axis=1)
        return means

    def scores(self, times: FloatArray) -> FloatArray:
        """Less is better, (n_candidates, n_resamples)."""
        return self.means(self.errors + LOG_LOSS_WEIGHT * self.log_losses, times)

    @cached_property
    def order(self) -> IntArray:
        """Candidates, the best first."""
        return np.argsort(self.scores(self._even)[:, 0], kind="stable")

    @property
    def chosen(self) -> int:
        return int(self.order[0])

    def optimism(self, losses: FloatArray, rng: np.random.Generator) -> Optimism:
        """By choosing again among resampled units.

        What is chosen on the units drawn is tested on the units that were not (Tsamardinos et al. 2018): in the mean
        over resamples, given the pilot, what the drawn units flatter the others take back in the same measure. Where
        all candidates are alike that undoes the whole optimism, where one is best by far it changes nothing.
        """
        n_units = len(self.n_labels)
        times = rng.multinomial(n_units, np.full(n_units, 1 / n_units), size=_N_RESAMPLES).astype(np.float64)
        left_out = (times == 0).astype(np.float64)
        usable = left_out @ self.n_labels > 0
        times, left_out = times[usable], left_out[usable]
        winners = self.scores(times).argmin(axis=0)
        tested = self.means(losses, left_out)[winners, np.arange(len(winners))]
        whole = self.means(losses, self._even)[:, 0]
        return Optimism(float(tested.mean() - whole[self.chosen]), float(whole[winners].var()))

    def choice(self, names: Sequence[str], uses_unlabeled: Sequence[bool], seed: int) -> ModelChoice:
        """What was chosen, beside the others."""
        errors, log_losses = (self.means(losses, self._even)[:, 0] for losses in (self.errors, self.log_losses))
        shares = self.n_labels / self.n_labels.sum()
        models = []
        for index in self.order.tolist():
            gaps = self.errors[index] - self.errors[self.chosen]
            gap = float(gaps @ shares)
            spread = float(np.sqrt(np.sum((shares * (gaps - gap)) ** 2)))
            models.append(
                ComparedModel(
                    names[index], uses_unlabeled[index], float(errors[index]), float(log_losses[index]), gap, spread
                )
            )
        optimism: dict[Measure, Optimism] = {
            "error": self.optimism(self.errors, np.random.default_rng([seed, 11])),
            "log_loss": self.optimism(self.log_losses, np.random.default_rng([seed, 11])),
        }
        return ModelChoice(
            models[0], tuple(models[1:]), int(self.n_labels.sum()), N_FOLDS * len(self.errors), optimism
        )


def without_optimism(basis: ForecastBasis, mode: Mode, choice: ModelChoice) -> ForecastBasis:
    """The same basis with the points of the chosen model where they would be had nobody chosen it.

    The choice was made at the largest sub-samples. Points at other sizes, tested on the same units, share a part of
    its luck: the part that their covariance with the largest says.
    """
    points: dict[Any, Points] = dict(basis.points)
    for measure, optimism in choice.optimism.items():
        own = points[mode, measure]
        last = own.covariance[-1, -1]
        shares = own.covariance[:, -1] / last if last > 0 else np.ones(len(own.means))
        means = np.maximum(own.means + optimism.shift * shares, 0.0)
        points[mode, measure] = Points(
            own.sizes, means, own.covariance + optimism.variance * np.outer(shares, shares)
        )
    return replace(basis, points=MappingProxyType(points))
