r"""Lanczos quadrature: quadratic forms :math:`z' f(A) z` of a symmetric operator for any function f, with bounds.

A few products with A turn each start z into a small tridiagonal matrix whose eigenvalues and eigenvectors are the
nodes and weights of Gauss' rule for the spectrum of A as seen from z. One run serves every f. For functions whose
derivatives are all positive - 1/(1-x), -log(1-x) and their like - Gauss' rule is a lower bound, and the Gauss-Radau
rule with a node at or above the largest eigenvalue an upper bound (Golub and Meurant, "Matrices, Moments and
Quadrature with Applications", 2010).
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from labelworth.arrays import FloatArray

Operator = Callable[[FloatArray, FloatArray], None]
"""(block, out): write the product with a block of vectors (d, b) into `out` of the same shape."""

_CHUNK_BYTES = 1 << 20
_EXHAUSTED = 1e-13  # a step this small relative to the first one has left the space that the start spans


@dataclass(frozen=True, eq=False)
class Quadrature:
    """A rule for each start: z' f(A) z is about the sum of weights times f at the nodes."""

    nodes: FloatArray  # (n_starts, n_nodes): The weights of a start add up to its squared length.
    weights: FloatArray

    def of(self, function: Callable[[FloatArray], FloatArray]) -> FloatArray:
        """z' f(A) z for every start, shape (n_starts,).

        Nodes without weight are echoes of rounding and may lie outside the domain of f: it is not asked there.
        """
        has_weight = self.weights > 0
        values = np.zeros_like(self.nodes)
        values[has_weight] = function(self.nodes[has_weight])
        figures: FloatArray = np.einsum("bm,bm->b", self.weights, values)
        return figures

    def take(self, starts: slice) -> "Quadrature":
        """The rules of some of the starts."""
        return Quadrature(self.nodes[starts], self.weights[starts])


class LockstepLanczos:
    """The three-term recurrence for a block of starts, one product with the whole block per step, no stored basis.

    Parameters
    ----------
    operator : callable
        A symmetric positive semi-definite operator.
    starts : array of shape (d, b)
        Taken over and overwritten. With two more blocks of this size it is all the memory used here.

    Notes
    -----
    Without reorthogonalization eigenvalues that have converged come back as copies. Sums over the rule do not
    notice: the copies share the weight of the one.
    """

    def __init__(self, operator: Operator, starts: FloatArray) -> None:
        self._operator = operator
        self._current = starts
        self._previous = np.zeros_like(starts)
        self._product = np.empty_like(starts)
        self.squared_lengths = column_products(starts, starts)
        _scale_columns(starts, _reciprocal(np.sqrt(self.squared_lengths)))
        self._diagonal: list[FloatArray] = []
        self._beside: list[FloatArray] = []

    @property
    def n_steps(self) -> int:
        """Products taken so far."""
        return len(self._diagonal)

    def advance(self, n_steps: int) -> None:
        for _ in range(n_steps):
            self._step()

    def _step(self) -> None:
        self._operator(self._current, self._product)
        before = self._beside[-1] if self._beside else np.zeros_like(self.squared_lengths)
        _subtract(self._product, self._previous, before)
        along = column_products(self._product, self._current)
        _subtract(self._product, self._current, along)
        size = np.sqrt(column_products(self._product, self._product))
        reach = np.maximum(np.max([np.abs(entry) for entry in (*self._diagonal, along)], axis=0), size)
        size = np.where(size > _EXHAUSTED * reach, size, 0.0)
        _scale_columns(self._product, _reciprocal(size))
        self._diagonal.append(along)
        self._beside.append(size)
        self._previous, self._current, self._product = self._current, self._product, self._previous

    def gauss(self) -> Quadrature:
        """Gauss' rule, with as many nodes as steps."""
        return self._rule(self._tridiagonal(), self.squared_lengths)

    def radau(self, end: float) -> Quadrature:
        """The Gauss-Radau rule with one more node, prescribed at `end`, which no eigenvalue may exceed."""
        matrix = self._tridiagonal()
        n_steps, last = self.n_steps, self._beside[-1]
        right = np.zeros((len(matrix), n_steps, 1))
        right[:, -1, 0] = last**2
        shift = np.linalg.solve(matrix - end * np.eye(n_steps), right)[:, -1, 0]
        larger = np.zeros((len(matrix), n_steps + 1, n_steps + 1))
        larger[:, :-1, :-1] = matrix
        larger[:, -1, -2] = larger[:, -2, -1] = last
        larger[:, -1, -1] = end + shift
        return self._rule(larger, self.squared_lengths)

    def largest(self) -> float:
        """The largest eigenvalue as far as it was found; never above the true one but by rounding."""
        return float(np.linalg.eigvalsh(self._tridiagonal())[:, -1].max())

    def _tridiagonal(self) -> FloatArray:
        matrix = np.zeros((len(self.squared_lengths), self.n_steps, self.n_steps))
        positions = np.arange(self.n_steps)
        matrix[:, positions, positions] = np.transpose(self._diagonal)
        if self.n_steps > 1:
            beside = np.transpose(self._beside[:-1])
            matrix[:, positions[1:], positions[:-1]] = beside
            matrix[:, positions[:-1], positions[1:]] = beside
        return matrix

    @staticmethod
    def _rule(matrix: FloatArray, squared_lengths: FloatArray) -> Quadrature:
        nodes, vectors = np.linalg.eigh(matrix)
        return Quadrature(nodes, squared_lengths[:, None] * np.square(vectors[:, 0, :]))


def largest_eigenvalue_bound(
    largest: float, dimension: int, n_steps: int, n_random_starts: int, failure_rate: float = 1e-6
) -> float:
    r"""Bound the largest eigenvalue of a positive semi-definite operator from the `largest` that random starts show.

    After k steps from one start without a preferred direction in d dimensions, the relative shortfall exceeds
    :math:`\epsilon` with probability at most :math:`1.648 \sqrt{d}\, e^{-\sqrt{\epsilon}(2k-1)}` (Kuczynski and
    Wozniakowski, SIAM J. Matrix Anal. Appl. 13, 1992); all of b independent starts fall short of it with the b-th
    power of that. Infinite while k is too small to say anything.

    Examples
    --------
    >>> round(largest_eigenvalue_bound(0.9, 10**6, 30, 10), 3)
    0.92
    """
    needed = np.log(1.648 * np.sqrt(dimension)) - np.log(failure_rate) / n_random_starts
    shortfall = (needed / (2 * n_steps - 1)) ** 2
    return float(largest / (1 - shortfall)) if shortfall < 1 else float("inf")


def column_products(first: FloatArray, second: FloatArray) -> FloatArray:
    """The inner product of each column of `first` with the same column of `second`, shape (b,)."""
    total = np.zeros(first.shape[1])
    for rows in row_chunks(first):
        total += np.einsum("ij,ij->j", first[rows], second[rows])
    return total


def row_chunks(block: FloatArray) -> Iterator[slice]:
    """Cut the rows of a block so that what is computed from one piece stays in the cache, and no copy is made."""
    size = max(1, _CHUNK_BYTES // max(1, block[:1].nbytes))
    for start in range(0, len(block), size):
        yield slice(start, start + size)


def _subtract(block: FloatArray, other: FloatArray, factors: FloatArray) -> None:
    for rows in row_chunks(block):
        block[rows] -= factors * other[rows]


def _scale_columns(block: FloatArray, factors: FloatArray) -> None:
    for rows in row_chunks(block):
        block[rows] *= factors


def _reciprocal(values: FloatArray) -> FloatArray:
    """1 / x, and zero for zero: a column that has ended stays zero."""
    return np.divide(1.0, values, out=np.zeros_like(values), where=values > 0)
