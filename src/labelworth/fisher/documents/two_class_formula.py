r"""Exact information of the two-class multinomial at every labeled fraction, for any vocabulary.

In whitened coordinates the complete information is the identity and the missing information is a diagonal plus a
matrix of low rank; see `labelworth.fisher.documents.two_class_contrasts` and docs/derivations/two_class_formula.md.
"""

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from labelworth.arrays import BoolArray, FloatArray, as_floats, require_between
from labelworth.errors import InvalidInputError
from labelworth.fisher.by_fraction import FractionInformation
from labelworth.fisher.criteria import Criterion, Estimate, Weight
from labelworth.fisher.dense import DENSE_LIMIT, DenseInformation
from labelworth.fisher.documents.two_class_contrasts import Contrasts
from labelworth.fisher.documents.two_class_moments import MissingMoments, TwoClasses, missing_moments
from labelworth.linalg.low_rank import ConstrainedInverse, DiagonalPlusLowRank, constrained_inverse
from labelworth.linalg.symmetric import largest_eigenvalue
from labelworth.models.classes.multinomial import MultinomialModel
from labelworth.models.probability_rows import require_interior

_BLIND = 1e-10  # without labels, a direction with 1 - mu below this cannot be told from one nothing is known of


@dataclass(frozen=True)
class _Figures:
    """What is remembered of one fraction: traces by weight, and the log-determinant of the whitened information."""

    traces: dict[Weight, float]
    log_determinant: float


@dataclass(frozen=True, eq=False)
class TwoClassInformation(FractionInformation):
    r"""Information of a two-class multinomial at every labeled fraction, exactly; see `FractionInformation`.

    Build it with `two_class_information`. The cost is O(V r^2) per fraction, r the numerical rank (at most a few
    tens), and every fraction is computed once. Figures are NaN at f = 0 where unlabeled samples leave a direction
    open.
    """

    model: MultinomialModel
    classes: TwoClasses
    moments: MissingMoments
    _known: dict[float, _Figures] = field(default_factory=dict, repr=False)
    _known_slopes: dict[float, dict[Weight, float]] = field(default_factory=dict, repr=False)

    @property
    def method(self) -> str:
        """The formula of the two-class multinomial."""
        return "formula"

    @property
    def n_parameters(self) -> int:
        """One class probability and V - 1 word probabilities per class."""
        return 2 * self.n_words - 1

    @property
    def n_words(self) -> int:
        """The size of the vocabulary, V."""
        return self.model.n_features

    def is_convex(self, criterion: Criterion) -> bool:
        """Yes, but for the worst direction, whose slope is not given."""
        return criterion.form != "largest"

    @cached_property
    def dense(self) -> DenseInformation | None:
        """The same as matrices; None if they would be too large."""
        if self.n_parameters > DENSE_LIMIT:
            return None
        return DenseInformation.of_labels(
            self.model.coordinates, self.complete_dense(), self.missing_dense(), self.method
        )

    @cached_property
    def _contrasts(self) -> Contrasts:
        return Contrasts(self.classes)

    @cached_property
    def _missing(self) -> DiagonalPlusLowRank:
        return self._contrasts.missing(self.moments)

    @cached_property
    def largest_missing_share(self) -> float:
        """The largest generalized eigenvalue mu: the share of its slowest direction that EM leaves without labels."""
        normal = self._contrasts.normal[:, None]

        def product(vectors: FloatArray) -> FloatArray:
            image = self._missing.times(vectors - normal * (normal.T @ vectors))
            inside: FloatArray = image - normal * (normal.T @ image)
            return inside

        return largest_eigenvalue(product, len(normal))[0]

    def identified(self, fractions: FloatArray) -> BoolArray:
        """At which fractions I(f) is positive definite, shape (n_fractions,): at all with labels."""
        open_without_labels = any(fraction == 0 for fraction in _checked(fractions)) and (
            1 - self.largest_missing_share <= _BLIND
        )
        positive: BoolArray = (np.asarray(fractions) > 0) | (not open_without_labels)
        return positive

    def trace(self, weight: Weight, fractions: FloatArray) -> Estimate:
        return Estimate(np.array([self._figures(fraction).traces[weight] for fraction in _checked(fractions)]))

    def trace_slope(self, weight: Weight, fractions: FloatArray) -> Estimate:
        return Estimate(np.array([self._slopes(fraction)[weight] for fraction in _checked(fractions)]))

    def log_volume(self, fractions: FloatArray) -> Estimate:
        priors = np.log(self.classes.class_probabilities)
        sizes = (self.n_words - 1) * (np.log(self.classes.mean_length) + priors)
        complete = float(np.sum(sizes) - np.sum(priors) - np.sum(np.log(self.classes.word_probabilities)))
        determinants = [self._figures(fraction).log_determinant for fraction in _checked(fractions)]
        return Estimate(-(complete + np.array(determinants)))

    def worst_direction(self, fractions: FloatArray) -> Estimate:
        return Estimate(np.array([self._largest_eigenvalue(fraction) for fraction in _checked(fractions)]))

    def complete_dense(self) -> FloatArray:
        """Complete information in free coordinates, (d, d); for small V."""
        return self.model.complete_information()

    def missing_dense(self) -> FloatArray:
        """Missing information in free coordinates, (d, d); for small V."""
        classes, moments = self.classes, self.moments
        weights = classes.whitening / np.exp(classes.log_tilted(0.0))
        pairs = (moments.pair_factor @ moments.pair_core @ moments.pair_factor.T) / np.outer(weights, weights)
        second = np.zeros((self.n_words + 1, self.n_words + 1))
        second[0, 0], second[1:, 1:] = moments.zeroth, pairs + np.diag(moments.first)
        second[0, 1:] = second[1:, 0] = moments.first
        # The difference of the two classes' scores is linear in (1, counts).
        difference = np.zeros((self.n_parameters, self.n_words + 1))
        difference[0, 0] = 1 / classes.class_probabilities.prod()
        for sign, start, words in zip((1, -1), (1, self.n_words), classes.word_probabilities, strict=True):
            rows = slice(start, start + self.n_words - 1)
            difference[rows, 1:-1] = sign * np.diag(1 / words[:-1])
            difference[rows, -1] = -sign / words[-1]
        return difference @ second @ difference.T

    def _inverse(self, fraction: float) -> ConstrainedInverse | None:
        if not self.identified(np.array([fraction]))[0]:
            return None
        lost = self._missing.scaled(-(1 - fraction))
        return constrained_inverse(
            DiagonalPlusLowRank(1 + lost.diagonal, lost.factor, lost.core), self._contrasts.normal
        )

    def _figures(self, fraction: float) -> _Figures:
        if fraction not in self._known:
            self._known[fraction] = self._computed_figures(self._inverse(fraction))
        return self._known[fraction]

    def _computed_figures(self, solved: ConstrainedInverse | None) -> _Figures:
        if solved is None:
            return _Figures(dict.fromkeys(Weight, np.nan), np.nan)
        # All pooled directions but e and the sum are known as well without labels as with them.
        complete = self.n_words - 2 + float(solved.inverse.entries_on_diagonal().sum())
        conditional = solved.inverse.trace_with(self._missing)
        traces = {
            Weight.NAMED: self._contrasts.named_elsewhere + solved.inverse.trace_with(self._contrasts.named_weight),
            Weight.COMPLETE: complete,
            Weight.MISSING: conditional,
            Weight.MARGINAL: complete - conditional,
        }
        return _Figures(traces, solved.log_determinant)

    def _slopes(self, fraction: float) -> dict[Weight, float]:
        if fraction not in self._known_slopes:
            self._known_slopes[fraction] = self._computed_slopes(self._inverse(fraction))
        return self._known_slopes[fraction]

    def _computed_slopes(self, solved: ConstrainedInverse | None) -> dict[Weight, float]:
        if solved is None:
            return dict.fromkeys(Weight, np.nan)
        loss = solved.inverse.around(self._missing)
        complete = -float(loss.entries_on_diagonal().sum())
        conditional = -loss.trace_with(self._missing)
        return {
            Weight.NAMED: -loss.trace_with(self._contrasts.named_weight),
            Weight.COMPLETE: complete,
            Weight.MISSING: conditional,
            Weight.MARGINAL: complete - conditional,
        }

    def _largest_eigenvalue(self, fraction: float) -> float:
        solved = self._inverse(fraction)
        if solved is None:
            return float("nan")
        return largest_eigenvalue(self._contrasts.named_covariance(solved.inverse), 2 + 2 * self.n_words)[0]


def two_class_information(model: MultinomialModel) -> TwoClassInformation:
    r"""Compute the information of a two-class multinomial exactly, without sampling and without a square matrix.

    .. math::

        I(f) = I_{XY} - (1 - f)\, E[p(1-p)\, d d'], \qquad d = \nabla \log p(x, 1) - \nabla \log p(x, 2)

    where p is the posterior of the first class.

    Parameters
    ----------
    model : MultinomialModel
        Two classes, at least two words, all probabilities positive.

    Returns
    -------
    TwoClassInformation
        Relative error about 1e-12, also where documents are long and E[p(1-p)] is tiny.

    Notes
    -----
    O(V) memory beside a factor of a few tens of columns: a vocabulary of 50 000 takes seconds.

    Paper: prop:efficiency1.

    Examples
    --------
    >>> from labelworth.data.lengths import LengthDistribution
    >>> words = [[0.8, 0.2], [0.3, 0.7]]
    >>> curve = two_class_information(MultinomialModel(("a", "b"), [0.5, 0.5], words, LengthDistribution.single(4)))
    >>> curve.trace(Weight.COMPLETE, np.array([1.0])).values.round(12)
    array([3.])
    """
    classes = two_classes(model)
    return TwoClassInformation(model, classes, missing_moments(classes))


def two_classes(model: MultinomialModel) -> TwoClasses:
    """What the integrals are made of; refuse what has no formula."""
    if model.n_classes != 2:
        raise InvalidInputError(
            f"The formula is for two classes. Got {model.n_classes}; use sampling, or enumeration for a small model."
        )
    if model.n_features < 2:
        raise InvalidInputError("A vocabulary needs at least two words. Got one.")
    require_interior("class_probabilities", model.class_probabilities)
    require_interior("word_probabilities", model.word_probabilities)
    return TwoClasses(
        model.class_probabilities / model.class_probabilities.sum(),
        model.word_probabilities / model.word_probabilities.sum(axis=1, keepdims=True),
        model.lengths.lengths.astype(np.float64),
        model.lengths.probabilities,
    )


def _checked(fractions: FloatArray) -> list[float]:
    values = [float(value) for value in as_floats("labeled fractions", fractions, ndim=1)]
    for value in values:
        require_between("A labeled fraction", value, 0.0, 1.0)
    return values
