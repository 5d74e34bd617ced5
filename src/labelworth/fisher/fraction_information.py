"""Complete and missing information as matrices: every labeled fraction from one decomposition."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from labelworth.arrays import BoolArray, FloatArray, require_between, require_shape
from labelworth.errors import InvalidInputError, MoreSamplesNeededError, NotIdentifiableError
from labelworth.fisher.curve import Estimate, Weight
from labelworth.fisher.eigen_figures import EigenFigures, Figure
from labelworth.fisher.identifiability import most_changed
from labelworth.fisher.jackknife import require_batches
from labelworth.fisher.spectral_sums import relative_information
from labelworth.linalg.pencil import Pencil
from labelworth.linalg.symmetric import SingularMatrixError
from labelworth.models.coordinates import Coordinates

_BLIND = 1e-10
"""Without labels, a direction with 1 - mu below this cannot be told from one of which nothing is known."""

_ROUNDING = 1e-12
"""A share of weights that were added in another order is the same share."""


@dataclass(frozen=True, eq=False)
class FractionInformation:
    r"""The information of one sample, labeled with probability f.

    .. math::

        I(f) = I_{XY} - (1-f)\, I_{miss}, \qquad I_{miss} = E[\operatorname{Var}(S \mid X)]

    where S is the score of (x, y). The generalized eigenproblem
    :math:`I_{miss} W = I_{XY} W \operatorname{diag}(\mu)`, solved once, gives every fraction at O(d):
    :math:`I(f)^{-1} = W \operatorname{diag}(1/(1-(1-f)\mu)) W'`.

    Attributes
    ----------
    coordinates : Coordinates
        Of the model; criteria of "named" tables are carried there by its Jacobian.
    complete, missing : array of shape (d, d)
        In free coordinates.
    method : str
        How the missing information was computed.
    missing_batches : array of shape (n_batches, d, d), optional
        Independent estimates whose mean is `missing`; with them every figure has a standard error.
    lowest_fraction : float
        The smallest labeled fraction for which the matrices may be used.

    Notes
    -----
    An eigenvalue of one is normal: unlabeled samples do not see that direction at all. It is then open at f = 0,
    where criteria are NaN, and pinned by the labels at every f > 0.

    Paper: prop:efficiency1.

    Examples
    --------
    >>> from labelworth.models.coordinates import FreeTable
    >>> line = Coordinates((FreeTable("mean", [""], ["x"]),))
    >>> information = FractionInformation(line, np.array([[4.0]]), np.array([[3.0]]), "enumeration")
    >>> information.trace(Weight.NAMED, np.array([1.0, 0.25])).values
    array([0.25      , 0.57142857])
    """

    coordinates: Coordinates
    complete: FloatArray
    missing: FloatArray
    method: str
    missing_batches: FloatArray | None = None
    lowest_fraction: float = 0.0

    def __post_init__(self) -> None:
        d = self.coordinates.n_free
        require_shape("complete", self.complete, (d, d))
        require_shape("missing", self.missing, (d, d))
        require_batches("missing_batches", self.missing_batches, (d, d))

    @property
    def n_parameters(self) -> int:
        """The number of free coordinates, d."""
        return self.coordinates.n_free

    @cached_property
    def pencil(self) -> Pencil:
        """Missing against complete information; its values are mu, ascending."""
        try:
            return Pencil.of(self.missing, self.complete)
        except SingularMatrixError as error:
            open_directions = most_changed(self.coordinates, error.null_vectors)
            raise NotIdentifiableError(
                "Even complete labels do not pin the model down: the information of (x, y) is singular along "
                f"{', '.join(open_directions)}. Remove a parameter, or give it a prior.",
                open_directions,
            ) from error

    def at(self, fraction: float) -> FloatArray:
        """I(f), shape (d, d)."""
        self._require_fraction(fraction)
        return self.complete - (1 - fraction) * self.missing

    def covariance(self, n_samples: float, fraction: float) -> FloatArray:
        """Of theta_hat in free coordinates, I(f)^-1 / n, (d, d); see `covariance_root` for what it may raise."""
        root = self.covariance_root(n_samples, fraction)
        return root @ root.T

    def covariance_root(self, n_samples: float, fraction: float) -> FloatArray:
        """R with R R' = I(f)^-1 / n, shape (d, d); a standard normal vector times R is an estimate's error.

        Raises
        ------
        NotIdentifiableError
            If I(f) is singular.
        """
        if not self.identified(np.array([fraction]))[0]:
            raise NotIdentifiableError(
                f"At labeled fraction {fraction:g} the information is singular, so there is no covariance. "
                "Label some samples.",
                most_changed(self.coordinates, self.pencil.vectors[:, -self.n_open :]),
            )
        return self.pencil.vectors / np.sqrt(n_samples * relative_information(self.pencil.values, fraction))

    @property
    def n_open(self) -> int:
        """How many directions unlabeled samples do not see at all: eigenvalues mu that are one up to rounding."""
        return int((1 - self.pencil.values <= self._blind).sum())

    def convergence_rates(self, fraction: float) -> FloatArray:
        """How much of an error one EM step leaves, (1-f) mu, slowest direction first."""
        self._require_fraction(fraction)
        return (1 - fraction) * self.pencil.values[::-1]

    def identified(self, fractions: FloatArray) -> BoolArray:
        """At which fractions I(f) is positive definite, shape (n_fractions,).

        Raises
        ------
        MoreSamplesNeededError
            If noise made it indefinite.
        """
        largest = self.pencil.values[-1:]
        smallest = np.array([relative_information(largest, fraction)[0] for fraction in self._checked(fractions)])
        indefinite = smallest < -self.pencil.tolerance
        if indefinite.any():
            raise MoreSamplesNeededError(
                f"The {self.method} information is not positive definite at labeled fraction "
                f"{fractions[indefinite].max():g} (smallest relative eigenvalue {smallest[indefinite].min():.3g}): "
                "take more samples, or ask for larger fractions."
            )
        # Where there are labels rounding decides nothing: I(f) is at least f times the complete information.
        positive: BoolArray = smallest > np.where(fractions > 0, 0.0, self._blind)
        return positive

    @property
    def _blind(self) -> float:
        return max(_BLIND, self.pencil.tolerance)

    def trace(self, weight: Weight, fractions: FloatArray) -> Estimate:
        """trace(G I(f)^-1), shape (n_fractions,); NaN where I(f) is singular."""
        return self._estimate(fractions, lambda fraction: self._figures.trace(weight, fraction))

    def trace_slope(self, weight: Weight, fractions: FloatArray) -> Estimate:
        """Its derivative in f, -trace(G I(f)^-1 missing I(f)^-1); NaN where I(f) is singular."""
        return self._estimate(fractions, lambda fraction: self._figures.trace_slope(weight, fraction))

    def log_volume(self, fractions: FloatArray) -> Estimate:
        """log det I(f)^-1 in free coordinates; NaN where I(f) is singular."""
        return self._estimate(fractions, self._figures.log_volume)

    def worst_direction(self, fractions: FloatArray) -> Estimate:
        """The largest eigenvalue of J I(f)^-1 J', J the Jacobian of the named tables; NaN where I(f) is singular."""
        return self._estimate(fractions, self._figures.worst_direction)

    def exchange_rate(self, weight: Weight, fractions: FloatArray) -> Estimate:
        """How many unlabeled samples take as much off trace(G I(f)^-1) as a labeled one; see `criteria.exchange`."""
        return self._estimate(fractions, lambda fraction: self._figures.exchange_rate(weight, fraction))

    @cached_property
    def _figures(self) -> EigenFigures:
        return EigenFigures(self.pencil, self.coordinates)

    @cached_property
    def _deviations(self) -> FloatArray | None:
        """What each batch says beyond the mean, in the eigenbasis, (n_batches, d, d)."""
        if self.missing_batches is None:
            return None
        vectors = self.pencil.vectors
        return np.stack([vectors.T @ (batch - self.missing) @ vectors for batch in self.missing_batches])

    def _estimate(self, fractions: FloatArray, figure_at: Callable[[float], Figure]) -> Estimate:
        """Evaluate one criterion at every fraction, with the delta method's standard errors if there are batches."""
        identified = self.identified(fractions)
        values = np.full(len(identified), np.nan)
        errors = None if self._deviations is None else np.full(len(identified), np.nan)
        for place in np.flatnonzero(identified):
            figure = figure_at(float(fractions[place]))
            values[place] = figure.value
            if errors is not None and self._deviations is not None:
                shifts = figure.shifts(self._deviations)
                errors[place] = shifts.std(ddof=1) / np.sqrt(len(shifts))
        return Estimate(values, errors)

    def _checked(self, fractions: FloatArray) -> FloatArray:
        for fraction in fractions:
            self._require_fraction(float(fraction))
        return fractions

    def _require_fraction(self, fraction: float) -> None:
        require_between("labeled_fraction", fraction, 0.0, 1.0)
        if fraction < self.lowest_fraction * (1 - _ROUNDING):
            raise InvalidInputError(
                f"This information holds for labeled fractions from {self.lowest_fraction:g} up, the one that was "
                f"fitted. Got {fraction:g}."
            )
