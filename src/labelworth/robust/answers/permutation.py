"""Exact tests by permuting answers within strata, and how many of them are held against each other."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy.special import gammaln

from labelworth.arrays import FloatArray, IntArray

_FEWEST = 999  # permutations
_PER_TEST = 40  # permutations for every test beside this one, so that the smallest p-value is half of what it takes
_SECOND_LOOK = 0.01
_NUMBERS_AT_ONCE = 4_000_000
_TIED = 1e-9
_DIGITS = 9  # of scores in standard deviations, so that sums in another order are equal


class Statistic(Protocol):
    """What large values of speak against exchangeable answers."""

    def drawn(self, count: int, rng: np.random.Generator) -> FloatArray:
        """As observed, then of so many permutations, (1 + count, n): where a column is equal, the next one decides.

        A handful of errors can be arranged in few ways, and what is equal counts as large: a second look at them
        keeps a test from being more careful than it has to be.
        """


def permutation_p(statistic: Statistic, rng: np.random.Generator, *, n_tests: int = 1) -> float:
    """P(the statistic is as large as it is), exact under exchangeable answers: (1 + as large) / (1 + permutations).

    Where a first round gives less than 0.01, a second one, longer the more tests there are, has the word alone: then
    P(p <= t) <= t still, for t < 0.01 by the second round, above it by the first.
    """
    first = _p(statistic, _FEWEST, rng)
    enough = _PER_TEST * n_tests - 1
    return first if first > _SECOND_LOOK or enough <= _FEWEST else _p(statistic, enough, rng)


def _p(statistic: Statistic, count: int, rng: np.random.Generator) -> float:
    values = statistic.drawn(count, rng)
    is_larger, is_equal = np.zeros(len(values), dtype=bool), np.ones(len(values), dtype=bool)
    for column in values.T:
        margin = _TIED * abs(column[0])
        is_larger |= is_equal & (column > column[0] + margin)
        is_equal &= np.abs(column - column[0]) <= margin
    return float((is_larger | is_equal).mean())


def strata_of(*codes: IntArray) -> IntArray:
    """One code for every combination that occurs, (m,)."""
    return np.unique(np.stack(codes, axis=1), axis=0, return_inverse=True)[1].ravel()


def centered(values: FloatArray, strata: IntArray) -> FloatArray:
    """Take the mean of its stratum off every entry, (m, ..)."""
    counts = np.maximum(np.bincount(strata), 1)
    sums = np.zeros((len(counts), *values.shape[1:]))
    np.add.at(sums, strata, values)
    return values - (sums / counts.reshape(-1, *[1] * (values.ndim - 1)))[strata]


def within_strata(strata: IntArray, count: int, numbers_each: int, rng: np.random.Generator) -> Iterator[IntArray]:
    """Permutations of the entries within their strata, in parts of shape (b, m) that fit into memory."""
    order = np.argsort(strata, kind="stable")
    ordered, back = strata[order].astype(np.float64), np.argsort(order, kind="stable")
    part = max(1, _NUMBERS_AT_ONCE // max(1, numbers_each))
    for first in range(0, count, part):
        keys = rng.random((min(part, count - first), len(strata)))
        yield order[np.argsort(ordered + keys, axis=1)][:, back]


@dataclass(frozen=True, eq=False)
class LinearSums:
    r"""Sums :math:`T_d = \sum_i \langle a_i, \phi_{id} \rangle` over answers a and directions d, self-normalised.

    Among permutations of a within strata with n entries T has mean zero and variance
    :math:`\sum_s \operatorname{tr}(A_s \Phi_{sd}) / (n_s - 1)`, A and Phi the scatter matrices. In these units
    directions count alike.
    """

    answers: FloatArray  # (m, K): Centered in their strata.
    directions: FloatArray  # (m, K, D): Centered too.
    strata: IntArray  # (m,)
    scales: FloatArray  # (D,): The standard deviation of every sum among permutations.
    sums: FloatArray  # (D,): As observed.
    is_one_sided: bool = False  # Whether only large sums speak against exchangeability, not small ones.

    @classmethod
    def of(
        cls, answers: FloatArray, directions: FloatArray, strata: IntArray, *, one_sided: bool = False
    ) -> "LinearSums":
        """Center, and compute the spread that permutations have."""
        answers, directions = centered(answers, strata), centered(directions, strata)
        variances = np.zeros(directions.shape[2])
        for stratum in np.unique(strata):
            own = strata == stratum
            if own.sum() > 1:
                root = np.linalg.qr(answers[own], mode="r")
                turned = np.einsum("lk,mkd->mld", root, directions[own])
                variances += np.square(turned).sum(axis=(0, 1)) / (own.sum() - 1)
        sums = np.einsum("mk,mkd->d", answers, directions)
        return cls(answers, directions, strata, np.sqrt(variances), sums, one_sided)

    @property
    def is_open(self) -> bool:
        """Whether permutations differ at all."""
        return bool((self._scores_of(self.scales) > 0).any())

    @property
    def scores(self) -> FloatArray:
        """Every sum in standard deviations, (D,); zero where permutations do not move it."""
        return self._scores_of(self.sums)

    @property
    def correlations(self) -> FloatArray:
        """Between answers and directions within the strata, (D,)."""
        spread = np.sqrt(np.square(self.answers).sum() * np.square(self.directions).sum(axis=(0, 1)))
        return np.asarray(np.divide(self.sums, spread, out=np.zeros_like(self.sums), where=spread > 0))

    def drawn(self, count: int, rng: np.random.Generator) -> FloatArray:
        """Every sum in standard deviations, as observed and of so many permutations, (1 + count, D).

        As a statistic: the first direction decides, the next one among equals, and so on.
        """
        flat = self.directions.reshape(-1, self.directions.shape[2])
        parts = [self.sums[None]]
        for orders in within_strata(self.strata, count, self.answers.size, rng):
            parts.append(self.answers[orders].reshape(len(orders), -1) @ flat)
        scores = self._sided(self._scores_of(np.concatenate(parts)))
        return np.asarray(np.round(scores, _DIGITS))

    def _sided(self, scores: FloatArray) -> FloatArray:
        return scores if self.is_one_sided else np.abs(scores)

    def _scores_of(self, sums: FloatArray) -> FloatArray:
        moves = self.scales > _TIED * self.scales.max(initial=0.0)
        return np.divide(sums, self.scales, out=np.zeros_like(sums), where=np.broadcast_to(moves, sums.shape))


@dataclass(frozen=True, eq=False)
class LeastP:
    """The smallest p-value of groups of directions, each by its largest sum; itself held against permutations.

    The same permutations tell how often one of the p-values is so small (Westfall and Young, 1993), so groups that
    tell the same are not paid for twice. Among equals the sum of the squares of all directions decides.
    """

    sums: LinearSums
    groups: tuple[IntArray, ...]  # Which directions.

    def drawn(self, count: int, rng: np.random.Generator) -> FloatArray:
        scores = self.sums.drawn(count, rng)
        least = np.min([_p_of_each(scores[:, group].max(axis=1)) for group in self.groups], axis=0)
        return np.stack([-least, np.square(scores).sum(axis=1)], axis=1)


def _p_of_each(values: FloatArray) -> FloatArray:
    """The share of values that are as large, (n,)."""
    return np.asarray(1 - np.searchsorted(np.sort(values), values, side="left") / len(values))


def log_arrangements(answers: FloatArray, strata: IntArray) -> float:
    """The logarithm of how many permutations within strata are distinct: below log 20 nothing can be told at 5 %."""
    total = 0.0
    for stratum in np.unique(strata):
        _, counts = np.unique(answers[strata == stratum], axis=0, return_counts=True)
        total += float(gammaln(counts.sum() + 1) - gammaln(counts + 1).sum())
    return total


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm's adjusted p-values: those below alpha are rejected, with probability alpha at most for any false alarm.

    >>> [round(p, 3) for p in holm([0.01, 0.04, 0.03])]
    [0.03, 0.06, 0.06]
    """
    values = np.asarray(p_values, dtype=np.float64)
    order = np.argsort(values, kind="stable")
    adjusted = np.maximum.accumulate(values[order] * (len(values) - np.arange(len(values))))
    result = np.empty(len(values))
    result[order] = np.minimum(adjusted, 1.0)
    return [float(value) for value in result]
