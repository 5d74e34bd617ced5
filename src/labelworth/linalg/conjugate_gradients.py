r"""Conjugate gradients for many right-hand sides in lockstep, and what they tell of log determinants.

With a preconditioner C near A, the recurrence also holds the tridiagonal matrix of :math:`C^{-1/2} A C^{-1/2}` seen
from :math:`C^{-1/2} z`; its eigenvalues and first components are Gauss' rule for every function of that operator.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from labelworth.arrays import FloatArray
from labelworth.linalg.lanczos import Quadrature, column_products

_ENDED = 1e-24
"""A residual whose square is this share of the first is rounding: the column has ended."""

_NEGATIVE = 1e-9
"""A square that is so far below zero, relative to the first, is no rounding."""

BlockMap = Callable[[FloatArray], FloatArray]
"""The product with a block of vectors, (d, b) to (d, b)."""


@dataclass
class LockstepConjugateGradients:
    r"""Solves A X = Z column by column, all columns sharing the products with A.

    Parameters
    ----------
    operator : function
        The product with A, positive definite.
    preconditioner : function
        The product with :math:`C^{-1}`.
    right : array of shape (d, b)
        Z.
    """

    operator: BlockMap
    preconditioner: BlockMap
    right: FloatArray
    solutions: FloatArray = field(init=False)  # (d, b): X so far.
    residuals: FloatArray = field(init=False)  # (d, b): Z - A X, by the recurrence.
    forms: FloatArray = field(init=False)  # (b,): z' A^-1 z so far, from below.
    gains: list[FloatArray] = field(init=False, default_factory=list)  # (b,): What every step added to them.
    n_steps: int = 0

    def __post_init__(self) -> None:
        self.solutions = np.zeros_like(self.right)
        self.residuals = self.right.copy()
        # A copy: without a preconditioner it is the residuals themselves, which every step changes in place.
        self._direction = self.preconditioner(self.residuals).copy()
        self._square = column_products(self.residuals, self._direction)
        self._first_square = self._square.copy()
        self.forms = np.zeros_like(self._square)
        self._lengths: list[FloatArray] = []
        self._turns: list[FloatArray] = []

    def step(self) -> None:
        """One product with A.

        Raises
        ------
        LinAlgError
            If A is not positive definite.
        """
        product = self.operator(self._direction)
        curvature = column_products(self._direction, product)
        going = self._square > _ENDED * self._first_square
        if (curvature[going] <= 0).any():
            raise np.linalg.LinAlgError("The operator is not positive definite.")
        length = np.divide(self._square, curvature, out=np.zeros_like(curvature), where=going)
        self.solutions += length * self._direction
        self.residuals -= length * product
        self.gains.append(length * self._square)
        self.forms = self.forms + self.gains[-1]
        scaled = self.preconditioner(self.residuals)
        square = np.where(going, column_products(self.residuals, scaled), 0.0)
        if (square < -_NEGATIVE * self._first_square).any():
            raise np.linalg.LinAlgError("The preconditioner is not positive definite.")
        # What is left of a column that has ended is rounding, of any sign: it is no step.
        square[square <= _ENDED * self._first_square] = 0.0
        turn = np.divide(square, self._square, out=np.zeros_like(square), where=going)
        self._direction = scaled + turn * self._direction
        self._square = square
        self._lengths.append(length)
        self._turns.append(turn)
        self.n_steps += 1

    def remainders(self, n_blocks: int = 1) -> FloatArray:
        """About how much is still to be added to the sums of the forms, relatively: steps shrink geometrically.

        Sums are over every one of so many blocks of neighboring columns, (n_blocks,).
        """
        if self.n_steps < 2:
            return np.full(n_blocks, np.inf)
        before, last, total = (
            numbers.reshape(n_blocks, -1).sum(axis=1) for numbers in (self.gains[-2], self.gains[-1], self.forms)
        )
        left = np.divide(np.square(last), before - last, out=np.full(n_blocks, np.inf), where=last < before)
        left[last == 0] = 0.0
        return np.asarray(np.divide(left, total, out=np.zeros(n_blocks), where=left > 0))

    def of_solutions(self, of_directions: list[FloatArray]) -> FloatArray:
        """What a linear map makes of the solutions, from what it made of the direction of every step, (.., b)."""
        total = np.zeros_like(of_directions[0])
        for length, values in zip(self._lengths, of_directions, strict=True):
            total += length * values
        return total

    def gauss(self) -> Quadrature:
        """Gauss' rule of the preconditioned operator, as seen from every column."""
        n_steps, count = self.n_steps, self.right.shape[1]
        matrices = np.zeros((count, n_steps, n_steps))
        lengths, turns = np.array(self._lengths), np.array(self._turns)
        for step in range(n_steps):
            # A column that has ended keeps a node of one, which no weight belongs to.
            ended = lengths[step] == 0
            inverse = np.where(ended, 1.0, 1 / np.where(ended, 1.0, lengths[step]))
            matrices[:, step, step] = inverse
            if step:
                before = np.where(lengths[step - 1] == 0, 1.0, lengths[step - 1])
                matrices[:, step, step] += np.where(ended, 0.0, turns[step - 1] / before)
                beside = np.where(ended, 0.0, np.sqrt(turns[step - 1]) / before)
                matrices[:, step, step - 1] = matrices[:, step - 1, step] = beside
        nodes, vectors = np.linalg.eigh(matrices)
        return Quadrature(nodes, self._first_square[:, None] * np.square(vectors[:, 0, :]))
