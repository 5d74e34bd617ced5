r"""Exact information of the two-class multinomial at every labeled fraction, for any vocabulary.

In whitened coordinates the complete information is the identity and the missing information is a diagonal plus a
matrix of low rank, acting only on how the two classes *differ*: one coordinate for the class probabilities, one per
word, and one that ties the words together. docs/derivations/two_class_formula.md has the derivation.

Paper: prop:efficiency1.
"""

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from scipy.sparse.linalg import LinearOperator, eigsh

from labelworth.arrays import FloatArray, as_floats, require_between, require_probabilities, require_shape
from labelworth.errors import InvalidInputError, NotIdentifiableError
from labelworth.information.curve import Estimate, Weight
from labelworth.information.two_class_moments import MissingMoments, TwoClasses, missing_moments
from labelworth.linalg.low_rank import ConstrainedInverse, DiagonalPlusLowRank, compress, constrained_inverse

_DENSE_SIZE = 600  # eigenvalues of matrices up to here are computed directly
_BLIND = 1e-10  # without labels, a direction with 1 - mu below this cannot be told from one nothing is known of


@dataclass(frozen=True)
class _Figures:
    """Everything asked at one fraction: traces and their slopes by weight, and the log-determinant."""

    traces: dict[Weight, float]
    slopes: dict[Weight, float]
    log_determinant: float


@dataclass(frozen=True)
class _Contrasts:
    r"""The whitened coordinates (u, x_1 .. x_V, e) in which labels matter.

    u moves the class probabilities, x_w moves word w apart between the classes, e moves the pooled words along
    `together`; pooled directions orthogonal to it are known as well without labels. Probabilities that sum to one
    leave the directions orthogonal to `normal`.
    """

    normal: FloatArray  # (V + 2,)
    together: FloatArray  # (V,) unit vector, or zero if the classes are alike
    apart_weights: FloatArray  # (V,) named squared error of x_w
    pooled_weights: FloatArray  # (V,) named squared error of the pooled coordinate of word w
    mixed_weights: FloatArray  # (V,) and of both at once

    @classmethod
    def of(cls, classes: TwoClasses) -> "_Contrasts":
        first, second = classes.class_probabilities
        theta_first, theta_second = classes.word_probabilities
        pooled, geometric = classes.pooled, np.sqrt(theta_first * theta_second)
        apart = geometric / np.sqrt(pooled)
        root = np.sqrt(pooled)
        gap = np.sqrt(first * second) * (theta_first - theta_second) / root
        size = float(np.linalg.norm(gap))
        together = gap / size if size > 0 else gap
        # Where the classes are alike up to rounding any pooled direction will do, if it respects the sum.
        together = together - root * (root @ together) / (root @ root)
        together = together / np.linalg.norm(together) if size > 0 else together
        normal = np.concatenate([[0.0], apart, [size]])
        scale = classes.mean_length * pooled
        return cls(
            normal / np.linalg.norm(normal),
            together,
            geometric**2 * (second / first + first / second) / scale,
            (theta_first**2 + theta_second**2) / scale,
            geometric * np.sqrt(first * second) * (theta_first / first - theta_second / second) / scale,
        )

    def named_weight(self, classes: TwoClasses) -> DiagonalPlusLowRank:
        """The named squared error as a quadratic form of (u, x, e)."""
        size = len(self.normal)
        shared = float(self.pooled_weights @ self.together**2)
        diagonal = np.concatenate([[2 * classes.class_probabilities.prod()], self.apart_weights, [shared]])
        factor = np.zeros((size, 2))
        factor[-1, 0] = 1.0
        factor[1:-1, 1] = self.mixed_weights * self.together
        return DiagonalPlusLowRank(diagonal, factor, np.array([[0.0, 1.0], [1.0, 0.0]]))


@dataclass(frozen=True)
class TwoClassCurve:
    """Information of a two-class multinomial at every labeled fraction, exactly; see `FractionCurve`.

    Build it with `two_class_information`. The cost is O(V r^2) per fraction, r the numerical rank (at most a few
    tens), and every fraction is computed once.
    """

    classes: TwoClasses
    moments: MissingMoments
    _known: dict[float, _Figures] = field(default_factory=dict, repr=False, compare=False)

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
        return int(self.classes.word_probabilities.shape[1])

    @cached_property
    def _contrasts(self) -> _Contrasts:
        return _Contrasts.of(self.classes)

    @cached_property
    def _missing(self) -> DiagonalPlusLowRank:
        """The missing information of (u, x, e); directions along the normal do not matter."""
        classes, moments = self.classes, self.moments
        prior = classes.class_probabilities.prod()
        weights = classes.whitening / np.exp(classes.log_tilted(0.0))
        diagonal = np.concatenate([[0.0], moments.first * weights**2, [0.0]])
        rank = len(moments.pair_core)
        factor = np.zeros((self.n_words + 2, rank + 2))
        factor[0, 0] = 1.0
        factor[1:-1, 1] = moments.first * weights
        factor[1:-1, 2:] = moments.pair_factor
        core = np.zeros((rank + 2, rank + 2))
        core[0, 0] = moments.zeroth / prior
        core[0, 1] = core[1, 0] = 1 / np.sqrt(prior)
        core[2:, 2:] = moments.pair_core
        normal = self._contrasts.normal
        factor -= np.outer(normal, normal @ factor)
        return DiagonalPlusLowRank(diagonal, *compress(factor, core))

    @cached_property
    def missing_shares(self) -> FloatArray:
        """The generalized eigenvalues mu in descending order, the unseen share of every direction; for small V."""
        normal = self._contrasts.normal
        projector = np.eye(len(normal)) - np.outer(normal, normal)
        values = np.linalg.eigvalsh(projector @ self._missing.dense() @ projector)[::-1]
        known = np.zeros(self.n_parameters - min(len(values), self.n_parameters))
        return np.concatenate([values[: self.n_parameters], known])

    def trace(self, weight: Weight, fractions: FloatArray) -> Estimate:
        """trace(G I(f)^-1)."""
        return Estimate(np.array([self._figures(fraction).traces[weight] for fraction in _checked(fractions)]))

    def trace_slope(self, weight: Weight, fractions: FloatArray) -> Estimate:
        """Its derivative in f, -trace(G I(f)^-1 missing I(f)^-1)."""
        return Estimate(np.array([self._figures(fraction).slopes[weight] for fraction in _checked(fractions)]))

    def log_volume(self, fractions: FloatArray) -> Estimate:
        """log det I(f)^-1 in free coordinates."""
        priors = np.log(self.classes.class_probabilities)
        words = np.log(self.classes.word_probabilities)
        sizes = (self.n_words - 1) * (np.log(self.classes.mean_length) + priors)
        complete = float(np.sum(sizes) - np.sum(priors) - np.sum(words))
        determinants = [self._figures(fraction).log_determinant for fraction in _checked(fractions)]
        return Estimate(-(complete + np.array(determinants)))

    def worst_direction(self, fractions: FloatArray) -> Estimate:
        """The largest eigenvalue of J I(f)^-1 J', the asymptotic covariance of the named tables."""
        return Estimate(np.array([self._largest_eigenvalue(fraction) for fraction in _checked(fractions)]))

    def complete_dense(self) -> FloatArray:
        """Complete information in free coordinates, (d, d); for small V."""
        blocks = [_simplex_information(self.classes.class_probabilities)]
        for prior, words in zip(self.classes.class_probabilities, self.classes.word_probabilities, strict=True):
            blocks.append(self.classes.mean_length * prior * _simplex_information(words))
        return _block_diagonal(blocks)

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

    def _inverse(self, fraction: float) -> ConstrainedInverse:
        if fraction == 0 and self._largest_share() > 1 - _BLIND:
            raise NotIdentifiableError(
                "Without labels some direction carries no information at all; ask for a labeled fraction above 0."
            )
        ones = np.ones(self.n_words + 2)
        lost = self._missing.scaled(-(1 - fraction))
        return constrained_inverse(
            DiagonalPlusLowRank(ones + lost.diagonal, lost.factor, lost.core), self._contrasts.normal
        )

    def _largest_share(self) -> float:
        normal = self._contrasts.normal
        size = len(normal)
        if size <= _DENSE_SIZE:
            return float(self.missing_shares[0])
        start = np.random.default_rng(0).standard_normal(size)

        def product(vector: FloatArray) -> FloatArray:
            inside = vector - normal * (normal @ vector)
            image = self._missing.times(inside)
            return image - normal * (normal @ image)

        return _top_eigenvalue(LinearOperator((size, size), matvec=product, dtype=np.float64), start)

    def _figures(self, fraction: float) -> _Figures:
        if fraction not in self._known:
            self._known[fraction] = self._compute(fraction)
        return self._known[fraction]

    def _compute(self, fraction: float) -> _Figures:
        solved = self._inverse(fraction)
        inverse, missing, contrasts = solved.inverse, self._missing, self._contrasts
        named = contrasts.named_weight(self.classes)
        root = self.classes.pooled
        pooled = float(contrasts.pooled_weights @ (1 - root - contrasts.together**2))
        loss = inverse.around(missing)
        complete = self.n_words - 2 + float(inverse.entries_on_diagonal().sum())
        conditional = inverse.trace_with(missing)
        complete_slope = -float(loss.entries_on_diagonal().sum())
        conditional_slope = -loss.trace_with(missing)
        traces = {
            Weight.NAMED: pooled + inverse.trace_with(named),
            Weight.COMPLETE: complete,
            Weight.MISSING: conditional,
            Weight.MARGINAL: complete - conditional,
        }
        slopes = {
            Weight.NAMED: -loss.trace_with(named),
            Weight.COMPLETE: complete_slope,
            Weight.MISSING: conditional_slope,
            Weight.MARGINAL: complete_slope - conditional_slope,
        }
        return _Figures(traces, slopes, solved.log_determinant)

    def _largest_eigenvalue(self, fraction: float) -> float:
        inverse = self._inverse(fraction).inverse
        classes, together = self.classes, self._contrasts.together
        priors, words = classes.class_probabilities, classes.word_probabilities
        size = 2 + 2 * self.n_words
        prior_axis = np.array([1.0, -1.0]) * np.sqrt(priors.prod())
        scales = np.sqrt(words / (classes.mean_length * priors[:, None]))
        toward = np.sqrt(priors[:, None] * words / classes.pooled)
        root = np.sqrt(classes.pooled)

        def product(vector: FloatArray) -> FloatArray:
            table = scales * vector[2:].reshape(2, -1)
            apart = toward[1] * table[0] - toward[0] * table[1]
            pooled = toward[0] * table[0] + toward[1] * table[1]
            shared = together @ pooled
            image = inverse.times(np.concatenate([[prior_axis @ vector[:2]], apart, [shared]]))
            seen = pooled - root * (root @ pooled) - together * shared + together * image[-1]
            rows = np.stack([toward[1] * image[1:-1] + toward[0] * seen, -toward[0] * image[1:-1] + toward[1] * seen])
            return np.concatenate([image[0] * prior_axis, (scales * rows).ravel()])

        if size <= _DENSE_SIZE:
            covariance = np.array([product(unit) for unit in np.eye(size)])
            return float(np.linalg.eigvalsh((covariance + covariance.T) / 2)[-1])
        start = np.random.default_rng(0).standard_normal(size)
        return _top_eigenvalue(LinearOperator((size, size), matvec=product, dtype=np.float64), start)


def two_class_information(
    class_probabilities: FloatArray,
    word_probabilities: FloatArray,
    lengths: FloatArray,
    length_probabilities: FloatArray,
) -> TwoClassCurve:
    r"""Compute the information of a two-class multinomial exactly, without sampling and without a square matrix.

    .. math::

        I(f) = I_{XY} - (1 - f)\, E[p(1-p)\, d d'], \qquad d = \nabla \log p(x, 1) - \nabla \log p(x, 2)

    Parameters
    ----------
    class_probabilities : array of shape (2,)
    word_probabilities : array of shape (2, V), V >= 2
        Positive rows that sum to one.
    lengths, length_probabilities : arrays of shape (n_lengths,)
        How many words documents have, and how often.

    Returns
    -------
    TwoClassCurve
        Relative error about 1e-12 down to E[p(1-p)] of 1e-280.

    Examples
    --------
    >>> curve = two_class_information([0.5, 0.5], [[0.8, 0.2], [0.3, 0.7]], [4], [1.0])
    >>> curve.trace(Weight.COMPLETE, np.array([1.0])).values.round(12)
    array([3.])
    """
    priors = as_floats("class_probabilities", class_probabilities, ndim=1)
    words = as_floats("word_probabilities", word_probabilities, ndim=2)
    lengths = as_floats("lengths", lengths, ndim=1)
    shares = as_floats("length_probabilities", length_probabilities, ndim=1)
    if len(priors) != 2 or len(words) != 2:
        raise InvalidInputError(f"The formula is for two classes. Got {len(priors)}; use sampling or enumeration.")
    if words.shape[1] < 2:
        raise InvalidInputError("A vocabulary needs at least two words. Got one.")
    require_shape("length_probabilities", shares, lengths.shape)
    for name, values in (("class_probabilities", priors), ("word_probabilities", words)):
        require_probabilities(name, values, positive=True)
    require_probabilities("length_probabilities", shares)
    if np.any(lengths < 0) or np.any(lengths != np.round(lengths)) or lengths @ shares <= 0:
        raise InvalidInputError("Document lengths must be whole numbers, not all of them zero.")
    classes = TwoClasses(priors / priors.sum(), words / words.sum(axis=1, keepdims=True), lengths, shares)
    return TwoClassCurve(classes, missing_moments(classes))


def _checked(fractions: FloatArray) -> list[float]:
    values = as_floats("fractions", np.atleast_1d(fractions), ndim=1)
    for value in values:
        require_between("A labeled fraction", float(value), 0.0, 1.0)
    return [float(value) for value in values]


def _simplex_information(probabilities: FloatArray) -> FloatArray:
    return np.diag(1 / probabilities[:-1]) + 1 / probabilities[-1]


def _block_diagonal(blocks: list[FloatArray]) -> FloatArray:
    size = sum(len(block) for block in blocks)
    matrix, start = np.zeros((size, size)), 0
    for block in blocks:
        matrix[start : start + len(block), start : start + len(block)] = block
        start += len(block)
    return matrix


def _top_eigenvalue(operator: LinearOperator, start: FloatArray) -> float:
    return float(eigsh(operator, k=1, which="LA", v0=start, return_eigenvectors=False, tol=1e-12)[0])
