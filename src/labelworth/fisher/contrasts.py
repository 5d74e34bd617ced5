"""Estimable contrasts: the directions of the parameters that complete labels can see, found numerically."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
import scipy.linalg

from labelworth.arrays import FloatArray
from labelworth.errors import NotIdentifiableError
from labelworth.fisher.directions import most_changed
from labelworth.linalg.symmetric import SingularMatrixError, equilibration, symmetrized
from labelworth.models.coordinates import Coordinates

_RANK_TOLERANCE = 1e-11
"""Relative to the largest eigenvalue at unit diagonal; what is smaller is rounding of a direction nothing can see."""


@dataclass(frozen=True, eq=False)
class Contrasts:
    r"""The range of the information of complete labels.

    An over-complete model has directions that no data can tell: a constant added to all emission weights of a
    Boltzmann chain changes no probability. Whatever is labeled, the information is zero there, so figures are those
    of the rest, :math:`Cov = U (U' I U)^{-1} U'` with U an orthonormal basis of the range of I_everything.
    """

    coordinates: Coordinates
    basis: FloatArray  # (d, rank): U; the identity where everything is estimable.

    @classmethod
    def of(cls, coordinates: Coordinates, everything: FloatArray) -> "Contrasts":
        """Find the range of I_everything.

        Raises
        ------
        NotIdentifiableError
            If complete labels tell nothing at all.
        """
        factors = equilibration(everything)
        values, vectors = scipy.linalg.eigh(symmetrized(everything * factors * factors[:, None]))
        is_null = values <= _RANK_TOLERANCE * max(float(values[-1]), 0.0)
        if is_null.all():
            raise NotIdentifiableError(
                "Even complete labels tell nothing of any parameter: the information of (x, y) is zero. "
                "Are there sequences of more than one label or word?"
            )
        if not is_null.any():
            return cls.whole(coordinates)
        null = np.linalg.qr(vectors[:, is_null] * factors[:, None])[0]
        # What is left over by the null directions, by a full QR decomposition: orthonormal to rounding.
        whole = np.linalg.qr(null, mode="complete")[0]
        return cls(coordinates, np.ascontiguousarray(whole[:, null.shape[1] :]))

    @classmethod
    def whole(cls, coordinates: Coordinates) -> "Contrasts":
        """All of them, for a model that is not over-complete."""
        return cls(coordinates, np.eye(coordinates.n_free))

    def beside(self, exact: FloatArray) -> "Contrasts":
        """The same with further parameters behind the model's, those of which `exact` tells something."""
        n_further = len(exact) - len(self.basis)
        if not n_further:
            return self
        is_told = np.append(np.ones(self.rank, dtype=bool), np.diag(exact)[len(self.basis) :] > 0)
        return Contrasts(self.coordinates, scipy.linalg.block_diag(self.basis, np.eye(n_further))[:, is_told])

    @contextmanager
    def told_apart(self) -> Iterator[None]:
        """Say which parameters even complete labels leave open, where their information cannot be inverted.

        Raises
        ------
        NotIdentifiableError
        """
        try:
            yield
        except SingularMatrixError as error:
            lifted = self.lifted(error.null_vectors)[: self.coordinates.n_free]
            names = most_changed(self.coordinates, lifted)
            raise NotIdentifiableError(
                "Even complete labels do not pin the model down: of some parameters they tell nothing, or less than "
                f"rounding hides, along {', '.join(names)}. Remove a parameter, give it a prior, or use "
                "probabilities farther from zero and weights nearer to each other.",
                names,
            ) from error

    @property
    def is_whole(self) -> bool:
        """Whether everything is estimable."""
        return self.rank == len(self.basis)

    @property
    def rank(self) -> int:
        """How many independent directions can be estimated."""
        return int(self.basis.shape[1])

    def lifted(self, vectors: FloatArray) -> FloatArray:
        """Vectors on the contrasts, (rank, n), in free coordinates, (d, n)."""
        return vectors if self.is_whole else self.basis @ vectors

    def extended(self, information: FloatArray) -> FloatArray:
        """U A U', (d, d), of a matrix on the contrasts."""
        return information if self.is_whole else self.basis @ information @ self.basis.T

    def restricted(self, information: FloatArray) -> FloatArray:
        """U' I U, (rank, rank)."""
        return symmetrized(information if self.is_whole else self.basis.T @ information @ self.basis)
