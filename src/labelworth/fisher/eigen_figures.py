"""Figures of dense information at one labeled fraction, and how they move with the missing information.

In the eigenbasis W of the pencil, I(f)^-1 is diagonal with entries 1 / (1 - (1-f) mu), and a figure's derivative in
the missing information is what the delta method needs.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from labelworth.arrays import FloatArray
from labelworth.fisher.curve import Weight
from labelworth.fisher.spectral_sums import (
    SpectralTerms,
    exchange_terms,
    log_volume_terms,
    relative_information,
    slope_terms,
    trace_terms,
)
from labelworth.linalg.pencil import Pencil
from labelworth.linalg.symmetric import largest_eigenvalue
from labelworth.models.coordinates import Coordinates

Shifts = Callable[[FloatArray], FloatArray]


@dataclass(frozen=True)
class Figure:
    """A criterion at one fraction.

    Attributes
    ----------
    value : float
    shifts : function
        Maps changes of the missing information in the eigenbasis, (n, d, d), to changes of the value, (n,).
    """

    value: float
    shifts: Shifts


@dataclass(frozen=True, eq=False)
class EigenFigures:
    """All figures that the pencil of missing against complete information gives."""

    pencil: Pencil
    coordinates: Coordinates

    def trace(self, weight: Weight, fraction: float) -> Figure:
        """trace(G I(f)^-1)."""
        if weight is not Weight.NAMED:
            return _spectral(trace_terms(weight, self.pencil.values, fraction))
        inverse = self._inverse(fraction)
        return Figure(
            float(self._named_weights @ inverse),
            lambda changes: _inner(changes, (1 - fraction) * self._named_gram * inverse * inverse[:, None]),
        )

    def trace_slope(self, weight: Weight, fraction: float) -> Figure:
        """Its derivative in f, -trace(G I(f)^-1 missing I(f)^-1)."""
        if weight is not Weight.NAMED:
            return _spectral(slope_terms(weight, self.pencil.values, fraction))
        inverse = self._inverse(fraction)
        share = (1 - fraction) * self.pencil.values * inverse

        def shifts(changes: FloatArray) -> FloatArray:
            return -_inner(changes, self._named_gram * inverse * inverse[:, None] * (1 + share + share[:, None]))

        return Figure(-float(self._named_weights @ (self.pencil.values * inverse**2)), shifts)

    def log_volume(self, fraction: float) -> Figure:
        """log det I(f)^-1 in free coordinates."""
        relative = _spectral(log_volume_terms(self.pencil.values, fraction))
        return Figure(relative.value - self.pencil.log_determinant, relative.shifts)

    def worst_direction(self, fraction: float) -> Figure:
        """The largest eigenvalue of J I(f)^-1 J'."""
        root = np.sqrt(self._inverse(fraction))
        half = self._named_vectors * root
        value, vector = largest_eigenvalue(lambda block: half.T @ (half @ block), len(root))

        def shifts(changes: FloatArray) -> FloatArray:
            # `vector` belongs to half' half; I^-1 J' u in the eigenbasis is root * vector * sqrt(value).
            direction = np.sqrt(value) * root * vector
            moved: FloatArray = (changes @ direction) @ direction
            return (1 - fraction) * moved

        return Figure(value, shifts)

    def exchange_rate(self, weight: Weight, fraction: float) -> Figure:
        """tr(G I^-1 I_XY I^-1) / tr(G I^-1 I_X I^-1), what a labeled sample is worth in unlabeled ones."""
        if weight is not Weight.NAMED:
            labeled, unlabeled = (_spectral(terms) for terms in exchange_terms(weight, self.pencil.values, fraction))
        else:
            labeled, unlabeled = self._named_worths(fraction)
        if unlabeled.value <= self.pencil.tolerance * labeled.value:
            return Figure(np.inf, lambda changes: np.full(len(changes), np.nan))
        rate = labeled.value / unlabeled.value
        return Figure(
            rate, lambda changes: (labeled.shifts(changes) - rate * unlabeled.shifts(changes)) / unlabeled.value
        )

    def _named_worths(self, fraction: float) -> tuple[Figure, Figure]:
        """What a labeled and an unlabeled sample take off the total variance."""
        inverse, rest = self._inverse(fraction), 1 - self.pencil.values

        def labeled_shifts(changes: FloatArray) -> FloatArray:
            twice = inverse + inverse[:, None]
            return (1 - fraction) * _inner(changes, self._named_gram * inverse * inverse[:, None] * twice)

        def unlabeled_shifts(changes: FloatArray) -> FloatArray:
            seen = (1 - fraction) * rest * inverse
            return _inner(changes, self._named_gram * inverse * inverse[:, None] * (seen + seen[:, None] - 1))

        weights = self._named_weights * inverse**2
        return Figure(float(weights.sum()), labeled_shifts), Figure(float(weights @ rest), unlabeled_shifts)

    def _inverse(self, fraction: float) -> FloatArray:
        return 1 / relative_information(self.pencil.values, fraction)

    @cached_property
    def _named_vectors(self) -> FloatArray:
        """J W: the eigenvectors as changes of the named tables."""
        return self.coordinates.push(self.pencil.vectors)

    @cached_property
    def _named_weights(self) -> FloatArray:
        """The diagonal of W' J'J W."""
        return np.asarray(np.square(self._named_vectors).sum(axis=0))

    @cached_property
    def _named_gram(self) -> FloatArray:
        """W' J'J W; only standard errors need all of it."""
        return self._named_vectors.T @ self._named_vectors


def _spectral(terms: SpectralTerms) -> Figure:
    return Figure(
        float(terms.values.sum()), lambda changes: np.diagonal(changes, axis1=1, axis2=2) @ terms.derivatives
    )


def _inner(changes: FloatArray, gradient: FloatArray) -> FloatArray:
    return np.tensordot(changes, gradient, axes=2)
