r"""Exact information of answers to documents of two classes, for any vocabulary.

Given an answer z a document's class has the probabilities :math:`\pi_y q(z|y) / P(z)` before its words are read, so
what z leaves missing is the integral of `two_class_moments` at these. What answers say of a channel's own parameters
needs the same moments: with :math:`t_z = T(1, z) - T(2, z)`,

.. math::

    E[\operatorname{Cov}(S, T \mid x, z)] = \sum_z P(z)\, E_z[p(1-p)\, d]\, t_z', \qquad
    E[\operatorname{Var}(T \mid x, z)] = \sum_z P(z)\, E_z[p(1-p)]\, t_z t_z'

All arms share one basis of low rank. docs/derivations/channels.md derives it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from scipy.linalg import block_diag

from labelworth.arrays import FloatArray
from labelworth.channels.arm import Outcomes
from labelworth.fisher.criteria import CRITERIA, Criterion, Weight
from labelworth.fisher.directions import WeakDirection
from labelworth.fisher.documents.channels import ArmSet, OfArms
from labelworth.fisher.documents.two_class_contrasts import Contrasts
from labelworth.fisher.documents.two_class_formula import two_classes
from labelworth.fisher.documents.two_class_moments import MissingMoments, TwoClasses, missing_moments
from labelworth.fisher.information import Figures
from labelworth.fisher.whitened import BLIND, NUISANCE_BLIND, FigurePoint, followed, inverse_on_range, rounding_share
from labelworth.linalg.low_rank import DiagonalPlusLowRank, compress, constrained_inverse
from labelworth.linalg.symmetric import largest_eigenvalue
from labelworth.models.classes.multinomial import MultinomialModel

_SAME_TILT = 13
"""Answers that move the odds alike, to so many digits, share their integrals."""


@dataclass(frozen=True, eq=False)
class ArmMoments:
    """What one arm leaves missing, in the coordinates (u, x, e) of `Contrasts` and the channels' own."""

    missing: MissingMoments
    crossed: FloatArray  # (V + 2, p): Minus E[Cov(S, T | x, z)], the block of information between the two.
    own: FloatArray  # (p, p): The information of the channels' parameters.


@dataclass(frozen=True, eq=False)
class Evaluated:
    """A design: M = 1 n - .. on the coordinates of `Contrasts`, inverted, and what slopes are made of."""

    n: float
    inverse: DiagonalPlusLowRank
    log_determinant: float
    follow: FloatArray  # (p, V + 2): By how much channels' parameters follow.


@dataclass(frozen=True, eq=False)
class TwoClassChannels(OfArms):
    """Information of every arm of a two-class multinomial, exactly; see `Information`."""

    model: MultinomialModel
    arms: ArmSet
    classes: TwoClasses
    moments: tuple[ArmMoments, ...]
    n_replicates = 0
    method = "formula"
    _last: dict[bytes, Evaluated | None] = field(default_factory=dict, init=False, repr=False)

    @property
    def n_parameters(self) -> int:
        """Of the model: one class probability and V - 1 word probabilities per class."""
        return 2 * self.model.n_features - 1

    @property
    def n_estimable(self) -> int:
        return self.n_parameters

    def require_criterion(self, criterion: Criterion) -> None:
        """All of them."""

    def is_convex(self, criterion: Criterion) -> bool:
        """Yes, but for the worst direction, whose slope is not given."""
        return criterion.form != "largest"

    @cached_property
    def _contrasts(self) -> Contrasts:
        return Contrasts(self.classes)

    @cached_property
    def _missing(self) -> tuple[DiagonalPlusLowRank, ...]:
        """What every arm leaves missing, on one orthonormal basis."""
        each = [self._contrasts.missing(arm.missing) for arm in self.moments]
        sizes = block_diag(*(np.abs(matrix.core) for matrix in each))
        basis, _ = compress(np.concatenate([matrix.factor for matrix in each], axis=1), sizes)
        moved = [basis.T @ matrix.factor for matrix in each]
        return tuple(
            DiagonalPlusLowRank(matrix.diagonal, basis, turn @ matrix.core @ turn.T)
            for matrix, turn in zip(each, moved, strict=True)
        )

    @cached_property
    def _crossed(self) -> FloatArray:
        """(n_arms, V + 2, p)."""
        return np.stack([arm.crossed for arm in self.moments])

    @cached_property
    def _own(self) -> FloatArray:
        """(n_arms, p, p)."""
        return np.stack([arm.own for arm in self.moments])

    def _evaluated(self, counts: FloatArray) -> Evaluated | None:
        """None where the design leaves something open."""
        key = np.asarray(counts, dtype=np.float64).tobytes()
        if key not in self._last:
            self._last.clear()
            self._last[key] = self._computed(counts) if counts.sum() > 0 else None
        return self._last[key]

    def _computed(self, counts: FloatArray) -> Evaluated | None:
        n, missing = float(counts.sum()), self._missing
        diagonal = n - counts @ np.stack([matrix.diagonal for matrix in missing])
        core = -np.tensordot(counts, np.stack([matrix.core for matrix in missing]), axes=1)
        mixed, own = np.tensordot(counts, self._crossed, axes=1), np.tensordot(counts, self._own, axes=1)
        inverse, null = inverse_on_range(own)
        factor = np.concatenate([missing[0].factor, mixed], axis=1)
        told = DiagonalPlusLowRank(diagonal, factor, block_diag(core, -inverse))
        follow = inverse @ mixed.T
        blind = max(NUISANCE_BLIND if self.nuisance else BLIND, rounding_share(follow, own, n))
        if not counts[self.everything] > 0 and self._smallest_share(told, n) <= blind:
            return None
        solved = constrained_inverse(told, self._contrasts.normal)
        follow = followed(follow, null, self._crossed.mean(axis=0).T, self._own.mean(axis=0))
        return Evaluated(n, solved.inverse, solved.log_determinant, follow)

    def _smallest_share(self, told: DiagonalPlusLowRank, n: float) -> float:
        """Of what complete labels tell, in the weakest direction."""
        normal = self._contrasts.normal[:, None]

        def lost(vectors: FloatArray) -> FloatArray:
            inside = vectors - normal * (normal.T @ vectors)
            image = inside - told.times(inside) / n
            return np.asarray(image - normal * (normal.T @ image))

        return 1 - largest_eigenvalue(lost, len(normal))[0]

    def _weighed(self, weight: Weight) -> tuple[DiagonalPlusLowRank, float]:
        """G on the coordinates of `Contrasts`, and its trace on all other directions, which need no labels."""
        size, elsewhere = len(self._contrasts.normal), float(self.model.n_features - 2)
        identity = DiagonalPlusLowRank(np.ones(size), np.empty((size, 0)), np.empty((0, 0)))
        lost = self._missing[self.nothing]
        if weight is Weight.NAMED:
            return self._contrasts.named_weight, self._contrasts.named_elsewhere
        if weight is Weight.COMPLETE:
            return identity, elsewhere
        if weight is Weight.MISSING:
            return lost, 0.0
        return replace(lost.scaled(-1.0), diagonal=1 - lost.diagonal), elsewhere

    def point(self, criterion: Criterion, counts: FloatArray) -> FigurePoint | None:
        """The figure of a design with its slope; None where the model is not identified."""
        design = self._evaluated(counts)
        if design is None:
            return None
        elsewhere = float(self.model.n_features - 2)
        if criterion.form == "log det":
            value = -design.log_determinant - elsewhere * np.log(design.n) - self._log_complete
            return FigurePoint(value, -self._rates(design, design.inverse) - elsewhere / design.n)
        if criterion.form == "largest" or criterion.weight is None:
            product = self._contrasts.named_covariance(design.inverse.scaled(design.n))
            return FigurePoint(largest_eigenvalue(product, 2 + 2 * self.model.n_features)[0] / design.n, None)
        weight, others = self._weighed(criterion.weight)
        value = criterion.factor * (design.inverse.trace_with(weight) + others / design.n)
        rates = self._rates(design, design.inverse.around(weight)) + others / design.n**2
        return FigurePoint(value, -criterion.factor * rates)

    def _rates(self, design: Evaluated, middle: DiagonalPlusLowRank) -> FloatArray:
        """tr(D (1, -K') I_j (1, -K')') of every arm, (n_arms,)."""
        whole = float(middle.entries_on_diagonal().sum())
        rates = whole - np.array([middle.trace_with(matrix) for matrix in self._missing])
        if len(design.follow):
            followed = middle.times(design.follow.T)
            rates -= 2 * np.einsum("vp,jvp->j", followed, self._crossed)
            rates += np.einsum("pq,jpq->j", design.follow @ followed, self._own)
        return rates

    @cached_property
    def _log_complete(self) -> float:
        """log det of the complete information in free coordinates."""
        priors = np.log(self.classes.class_probabilities)
        sizes = (self.model.n_features - 1) * (np.log(self.classes.mean_length) + priors)
        return float(np.sum(sizes) - np.sum(priors) - np.sum(np.log(self.classes.word_probabilities)))

    def left_out(self, criterion: Criterion, counts: FloatArray) -> FloatArray:
        """There are no batches."""
        return np.empty(0)

    def standard_error(self, criterion: Criterion, counts: FloatArray) -> float | None:
        """None: it is exact."""
        return np.inf if self._evaluated(counts) is None else None

    def estimate(self, criterion: Criterion, weights: FloatArray) -> tuple[float, float | None]:
        point = self.point(criterion, weights)
        return (np.nan if point is None else point.value), None

    def exchange_rate(self, criterion: Criterion, weights: FloatArray) -> tuple[float, float | None]:
        """How many unlabeled samples take as much off a trace as one with gold."""
        point = self.point(criterion, weights)
        if point is None or point.slope is None:
            return np.nan, None
        labeled, unlabeled = point.slope[self.everything], point.slope[self.nothing]
        return (float(labeled / unlabeled) if unlabeled else np.inf), None

    def figures(self, weights: FloatArray) -> Figures:
        values = {name: self.estimate(criterion, weights)[0] for name, criterion in CRITERIA.items()}
        return Figures(bool(np.isfinite(values["total_variance"])), None, values, {}, None)

    def notes(self, figures: Sequence[Figures], relative_error: float) -> list[str]:
        """Nothing: figures are exact."""
        return []

    def weak_directions(self, weights: FloatArray) -> tuple[WeakDirection, ...] | None:
        """They are not looked for."""
        return None

    def open_directions(self, counts: FloatArray) -> tuple[str, ...]:
        return ()


def two_class_channels(model: MultinomialModel, arms: ArmSet) -> TwoClassChannels:
    """The information of every arm, by one integral per distinct answer.

    Raises
    ------
    InvalidInputError
        If there are not two classes, or probabilities of zero.
    """
    classes = two_classes(model)
    known: dict[float, MissingMoments] = {}
    return TwoClassChannels(
        model, arms, classes, tuple(_arm_moments(classes, answers, known) for answers in arms.answers)
    )


def _arm_moments(classes: TwoClasses, answers: Outcomes, known: dict[float, MissingMoments]) -> ArmMoments:
    priors, n_words = classes.class_probabilities, classes.word_probabilities.shape[1]
    contrasts = Contrasts(classes)
    weights = classes.whitening / np.exp(classes.log_tilted(0.0))
    size = answers.scores.shape[2]
    zeroth, first, crossed = 0.0, np.zeros(n_words), np.zeros((n_words + 2, size))
    own = answers.complete_information(priors)
    factors, cores = [np.empty((n_words, 0))], [np.empty((0, 0))]
    # With gold, and after an answer that only one class gives, nothing is missing.
    possible = np.zeros(len(answers.likelihood), bool) if answers.has_gold else answers.likelihood.all(axis=1)
    for likelihood, scores in zip(answers.likelihood[possible], answers.scores[possible], strict=True):
        joint = priors * likelihood
        chance = float(joint.sum())
        moments = _tilted(classes, joint / chance, known)
        zeroth += chance * moments.zeroth
        first += chance * moments.first
        factors.append(moments.pair_factor)
        cores.append(chance * moments.pair_core)
        apart = scores[0] - scores[1]
        means = np.concatenate([[moments.zeroth / np.sqrt(priors.prod())], moments.first * weights, [0.0]])
        crossed -= chance * np.outer(means, apart)
        own -= chance * moments.zeroth * np.outer(apart, apart)
    crossed -= np.outer(contrasts.normal, contrasts.normal @ crossed)
    pairs = compress(np.concatenate(factors, axis=1), block_diag(*cores))
    return ArmMoments(MissingMoments(zeroth, first, *pairs), crossed, own)


def _tilted(classes: TwoClasses, priors: FloatArray, known: dict[float, MissingMoments]) -> MissingMoments:
    """Of the same words at other class probabilities, pairs in the units of `classes`."""
    key = round(float(np.log(priors[0] / priors[1])), _SAME_TILT)
    if key not in known:
        tilted = replace(classes, class_probabilities=priors)
        moments = missing_moments(tilted)
        scale = classes.whitening / tilted.whitening
        known[key] = replace(moments, pair_factor=scale[:, None] * moments.pair_factor)
    return known[key]
