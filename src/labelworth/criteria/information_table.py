"""The figures of a model at every labeled fraction, as values to read, print and store."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from labelworth.arrays import FloatArray
from labelworth.criteria.plain_figures import plain_figures, plain_table
from labelworth.errors import InvalidInputError
from labelworth.fisher.choice import AnyCurve
from labelworth.fisher.fraction_information import FractionInformation
from labelworth.fisher.identifiability import WeakDirection
from labelworth.fisher.matrix_free_curve import MatrixFreeCurve
from labelworth.fisher.sampled_information import SampledInformation

_DENSE_LIMIT = 1500
"""Up to so many parameters matrices are written out and weak directions looked for."""


@dataclass(frozen=True)
class InformationPoint:
    """Everything about one labeled fraction.

    Attributes
    ----------
    labeled_fraction : float
    is_identifiable : bool
        Whether the information is positive definite.
    figures : mapping
        Criteria of Cov = I(f)^-1 / n by name; None where the model is not identifiable, or a figure is infinite.
    standard_errors : mapping
        Of the sampled figures; empty if they are exact.
    weak_directions : tuple of WeakDirection or None
        What the labels leave open or nearly so; None for models too large to look.
    """

    labeled_fraction: float
    is_identifiable: bool
    figures: Mapping[str, float | None]
    standard_errors: Mapping[str, float | None]
    weak_directions: tuple[WeakDirection, ...] | None

    def to_dict(self) -> dict[str, Any]:
        """Plain values; a sampled figure ``x`` stands beside ``x_se``."""
        return {
            "labeled_fraction": self.labeled_fraction,
            "expected_labels_per_sample": self.labeled_fraction,
            "identifiable": self.is_identifiable,
            **plain_figures(self.figures, self.standard_errors, self.weak_directions),
        }


@dataclass(frozen=True)
class InformationTable:
    """The answer of `information`.

    Attributes
    ----------
    points : tuple of InformationPoint
        One per labeled fraction, in the order asked for.
    n_samples : float
    method : str
        How the information was computed.
    reason : str
        Why so.
    notes : tuple of str
        What a reader should know.
    curve : FractionCurve
        For further questions; see `labelworth.criteria.asymptotic`.
    """

    points: tuple[InformationPoint, ...]
    n_samples: float
    method: str
    reason: str
    notes: tuple[str, ...]
    curve: AnyCurve

    @property
    def is_identifiable(self) -> bool:
        """Whether at least one point is."""
        return any(point.is_identifiable for point in self.points)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        return plain_table(self, n_parameters=self.curve.n_parameters)

    def matrices(self) -> dict[str, Any]:
        """Complete, missing and marginal information with the names of the parameters, in free coordinates."""
        dense = self._matrices
        return {
            "parameters": dense.coordinates.names(),
            "complete": dense.complete.tolist(),
            "missing": dense.missing.tolist(),
            "marginal": (dense.complete - dense.missing).tolist(),
        }

    def information_at(self, fraction: float) -> FloatArray:
        """I(f) in free coordinates, (d, d)."""
        return self._matrices.at(fraction)

    @cached_property
    def _matrices(self) -> FractionInformation:
        dense = dense_information(self.curve)
        if dense is None:
            raise InvalidInputError(
                f"The matrices would have {self.curve.n_parameters} rows; they are written out up to {_DENSE_LIMIT}, "
                "and never if the information was computed without them."
            )
        return dense


def dense_information(curve: AnyCurve) -> FractionInformation | None:
    """The curve as matrices; None if they would be too large."""
    if isinstance(curve, FractionInformation):
        return curve
    if isinstance(curve, SampledInformation):
        return curve.information
    if isinstance(curve, MatrixFreeCurve) or curve.n_parameters > _DENSE_LIMIT:
        return None
    return FractionInformation(curve.model.coordinates, curve.complete_dense(), curve.missing_dense(), curve.method)
