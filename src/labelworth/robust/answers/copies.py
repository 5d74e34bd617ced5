"""Are annotators wrong on the same rows? Votes that copy each other, taken for independent ones, count too much."""

from dataclasses import asdict, dataclass
from itertools import combinations
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp
from scipy.stats import norm

from labelworth.arrays import FloatArray, IntArray
from labelworth.data.answers import Answers
from labelworth.robust.answers.audits import Audits
from labelworth.robust.answers.permutation import (
    LinearSums,
    centered,
    holm,
    log_arrangements,
    permutation_p,
    strata_of,
    within_strata,
)

LEVEL = 0.05
"""How often independent annotators are said to err together, over all pairs and tests."""
_FEWEST_SHARED = 5  # audited rows of a pair
_FEWEST_BY_MODEL = 50  # rows of a pair where the class is only a model's guess


@dataclass(frozen=True)
class Pair:
    """Two annotators on the rows that both answered."""

    names: tuple[str, str]
    n_shared: int
    correlation: float  # Of their answers given the class.
    p_value: float
    adjusted: float  # The same, held against the level of all tests together.

    @property
    def err_together(self) -> bool:
        return self.adjusted <= LEVEL


@dataclass(frozen=True)
class CopiesTest:
    """Whether annotators are independent of each other given the class."""

    # "gold": exact, on rows whose class is known. "model": by what a model takes the rows for, which is only as good
    # as its probabilities.
    by: Literal["gold", "model"]
    pairs: tuple[Pair, ...]  # Those with enough rows between them.
    p_together: float | None  # Of all annotators at once, held against the level; None where they never met.

    @property
    def failing(self) -> tuple[tuple[str, str], ...]:
        return tuple(pair.names for pair in self.pairs if pair.err_together)

    @property
    def least_p(self) -> float:
        """The smallest p-value, held against the level of all tests together; 1 where there is none."""
        every = [pair.adjusted for pair in self.pairs] + [1.0 if self.p_together is None else self.p_together]
        return min(every)

    @property
    def answer(self) -> Literal["err together", "no sign of it", "cannot be told"]:
        if self.failing or (self.p_together is not None and self.p_together <= LEVEL):
            return "err together"
        return "no sign of it" if self.pairs or self.p_together is not None else "cannot be told"

    def to_dict(self) -> dict[str, Any]:
        return {
            "answer": self.answer,
            "by": self.by,
            "level": LEVEL,
            "p_together": self.p_together,
            "pairs": [asdict(pair) for pair in self.pairs],
        }


@dataclass(frozen=True, eq=False)
class SharedErrors:
    """How far all annotators deviate from their habits the same way: the sum over rows of |sum of deviations|^2."""

    deviations: FloatArray  # (m, K): Of answers from what the annotator says of the class on average.
    strata: IntArray  # (m,): Annotator and class.
    incidence: sp.csr_array  # (n_rows, m): Which answers are to which row.

    @classmethod
    def of(cls, audits: Audits, entries: IntArray) -> "SharedErrors":
        strata = strata_of(audits.annotators[entries], audits.classes[entries])
        row = np.unique(audits.rows[entries], return_inverse=True)[1].ravel()
        ones = (np.ones(len(entries)), (row, np.arange(len(entries))))
        return cls(centered(audits.shares[entries], strata), strata, sp.csr_array(ones))

    @property
    def observed(self) -> float:
        return float(np.square(self.incidence @ self.deviations).sum())

    def drawn(self, count: int, rng: np.random.Generator) -> FloatArray:
        parts = [np.array([self.observed])]
        for orders in within_strata(self.strata, count, self.deviations.size, rng):
            columns = self.deviations[orders].transpose(1, 0, 2).reshape(len(self.strata), -1)
            squares = np.square(self.incidence @ columns).sum(axis=0)
            parts.append(squares.reshape(len(orders), -1).sum(axis=1))
        return np.concatenate(parts)[:, None]


def copies_test(audits: Audits, rng: np.random.Generator) -> CopiesTest:
    """Test annotators against each other on audited rows, exactly.

    Half of the false-alarm rate is for the pairs, by Holm, half for all together; a single pair has all of it.
    """
    shared = _shared(audits.rows, audits.annotators)
    pairs = [
        (codes, left, right)
        for codes, (left, right) in shared.items()
        if len(left) >= _FEWEST_SHARED
        and log_arrangements(audits.shares[right], audits.classes[right]) >= np.log(1 / LEVEL)
    ]
    single = len(shared) == 1
    n_tests = 1 if single else 2 * max(1, len(pairs))
    p_values, correlations = [], []
    for _, left, right in pairs:
        sums = agreement(audits.shares[left], audits.shares[right], audits.classes[right])
        p_values.append(permutation_p(sums, rng, n_tests=n_tests) if sums.is_open else 1.0)
        correlations.append(float(sums.correlations[0]))
    share = 1 if single else 2
    found = tuple(
        Pair((audits.names[a], audits.names[b]), len(left), correlation, p, min(1.0, share * adjusted))
        for ((a, b), left, _), correlation, p, adjusted in zip(
            pairs, correlations, p_values, holm(p_values), strict=True
        )
    )
    return CopiesTest("gold", found, None if single else _together(audits, rng, share))


def agreement(left: FloatArray, right: FloatArray, strata: IntArray) -> LinearSums:
    """How far two say the same given the class; among equals, with every answer in its own standard deviations.

    Counts of shared errors are often equal, and to agree on an answer that both give rarely tells more.
    """
    spread = np.sqrt(_variances(left, strata) * _variances(right, strata))
    rare = np.divide(left, spread, out=np.zeros_like(left), where=spread > 0)
    return LinearSums.of(right, np.stack([left, rare], axis=2), strata, one_sided=True)


def _variances(values: FloatArray, strata: IntArray) -> FloatArray:
    """Within every entry's stratum, (m, K)."""
    squares = np.square(centered(values, strata))
    return squares - centered(squares, strata)


def _together(audits: Audits, rng: np.random.Generator, share: int) -> float | None:
    _, row, counts = np.unique(audits.rows, return_inverse=True, return_counts=True)
    entries = np.flatnonzero(counts[row.ravel()] > 1)
    if not entries.size:
        return None
    errors = SharedErrors.of(audits, entries)
    if log_arrangements(audits.shares[entries], errors.strata) < np.log(share / LEVEL):
        return None
    return min(1.0, share * permutation_p(errors, rng))


def copies_by_model(answers: Answers, posteriors: FloatArray) -> CopiesTest:
    r"""The same where no class is known, by p(y | x) of a model that has seen no answer: weaker, and told so.

    With r the posterior of a row, an annotator's answers have the mean r q, so q is found by least squares; answers
    of two that are independent given y have the covariance :math:`\sum_y r_y q_y q'_y - (rq)(rq')` in a row. What
    the products of residuals have beyond that is held against its standard error, q's share in it included. A
    posterior that is surer than it should be is an alarm of its own.
    """
    entries = np.flatnonzero(~answers.evidence.is_unlabeled)
    weights = answers.evidence.take(entries).dense()
    shares = weights / weights.sum(axis=1, keepdims=True)
    rows, annotators = answers.rows[entries], answers.annotators[entries]
    found = []
    for (a, b), (left, right) in _shared(rows, annotators).items():
        r = posteriors[rows[left]]
        gram = r.T @ r
        if len(left) >= _FEWEST_BY_MODEL and np.linalg.cond(gram) < 1 / np.finfo(np.float64).eps:
            score, correlation = _shared_residuals(r, gram, shares[left], shares[right])
            found.append(((answers.names[a], answers.names[b]), len(left), correlation, float(norm.sf(score))))
    adjusted = holm([p for *_, p in found])
    pairs = (
        Pair(names, n, correlation, p, level)
        for (names, n, correlation, p), level in zip(found, adjusted, strict=True)
    )
    return CopiesTest("model", tuple(pairs), None)


def _shared_residuals(r: FloatArray, gram: FloatArray, a: FloatArray, b: FloatArray) -> tuple[float, float]:
    """The excess of shared residuals in standard errors, and as a correlation."""
    projection = np.linalg.solve(gram, r.T)  # (K, n): Turns answers into least-squares rows of q.
    q_a, q_b = projection @ a, projection @ b
    left, right = a - r @ q_a, b - r @ q_b
    between_a, between_b = q_a[None] - (r @ q_a)[:, None], q_b[None] - (r @ q_b)[:, None]  # (n, K, V)
    expected = np.einsum("ny,nyv,nyv->n", r, between_a, between_b)
    excess = (left * right).sum(axis=1) - expected
    # How the sum moves with q, (K, V): residuals are free of r, so only the expected part does.
    slope_a, slope_b = -np.einsum("ny,nyv->yv", r, between_b), -np.einsum("ny,nyv->yv", r, between_a)
    moved = np.einsum("yn,nv,yv->n", projection, left, slope_a) + np.einsum("yn,nv,yv->n", projection, right, slope_b)
    influence = excess + moved
    spread = np.sqrt(np.square(influence).sum())
    size = np.sqrt(np.square(left).sum() * np.square(right).sum())
    total = float(excess.sum())
    return total / spread if spread > 0 else 0.0, total / size if size > 0 else 0.0


def _shared(rows: IntArray, annotators: IntArray) -> dict[tuple[int, int], tuple[IntArray, IntArray]]:
    """By pair of annotators that met: the entries of either on the rows that both answered, in the same order."""
    of_row: dict[int, dict[int, int]] = {}
    for entry, (row, who) in enumerate(zip(rows.tolist(), annotators.tolist(), strict=True)):
        of_row.setdefault(row, {}).setdefault(who, entry)
    met: dict[tuple[int, int], list[tuple[int, int]]] = {}
    for entries in of_row.values():
        for a, b in combinations(sorted(entries), 2):
            met.setdefault((a, b), []).append((entries[a], entries[b]))
    return {
        pair: (np.array([first for first, _ in both]), np.array([second for _, second in both]))
        for pair, both in sorted(met.items())
    }
