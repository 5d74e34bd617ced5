"""The covariance of an estimate whose model is wrong: bread and meat."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from labelworth.arrays import FloatArray, require_between, require_shape
from labelworth.errors import NotIdentifiableError
from labelworth.fisher.directions import most_changed
from labelworth.models.coordinates import Coordinates
from labelworth.robust.misspecified.moments import Moments, ScoreMoments


@dataclass(frozen=True, eq=False)
class Sandwich:
    r"""The asymptotic covariance :math:`H^{-1} J H^{-1}` of :math:`\sqrt n (\hat\theta - \theta^*)`.

    Examples
    --------
    >>> from labelworth.models.coordinates import FreeTable
    >>> line = Coordinates((FreeTable("mean", [""], ["x"]),))
    >>> Sandwich(line, np.array([[4.0]]), np.array([[8.0]])).total_variance
    0.5
    """

    coordinates: Coordinates  # Of the model.
    # (d, d): H, minus the expected Hessian of the objective of one sample, the prior's share included.
    bread: FloatArray
    meat: FloatArray  # (d, d): J, the variance of the score of one sample.

    def __post_init__(self) -> None:
        d = self.coordinates.n_free
        require_shape("bread", self.bread, (d, d))
        require_shape("meat", self.meat, (d, d))

    @cached_property
    def _factor(self) -> Any:
        try:
            return cho_factor(self.bread, lower=True)
        except LinAlgError as error:
            _, vectors = np.linalg.eigh(self.bread)
            (weak,) = most_changed(self.coordinates, vectors[:, :1])
            raise NotIdentifiableError(
                "The objective is not curved downwards in every direction where the fit stopped, so the estimate has "
                f"no asymptotic covariance; the weakest direction moves {weak} most. Label more, smooth more (raise "
                "the penalty), or lower unlabeled_weight.",
                [weak],
            ) from error

    def solve(self, right: FloatArray) -> FloatArray:
        """H^-1 times vectors.

        Raises
        ------
        NotIdentifiableError
            If H is not positive definite: theta is not an isolated maximum.
        """
        return np.asarray(cho_solve(self._factor, right))

    @cached_property
    def covariance(self) -> FloatArray:
        """H^-1 J H^-1 in free coordinates, (d, d); that of theta_hat once divided by n."""
        return self.solve(self.solve(self.meat).T)

    @cached_property
    def total_variance(self) -> float:
        """Its trace in the named tables."""
        return self.trace_with_named(self.covariance)

    def trace_with_named(self, matrix: FloatArray) -> float:
        """trace(G matrix), G = Jacobian' Jacobian of the named tables."""
        return float(np.trace(self.coordinates.pull(self.coordinates.push(matrix))))


def sandwich(
    coordinates: Coordinates,
    moments: ScoreMoments,
    fraction: float,
    *,
    unlabeled_weight: float = 1.0,
    prior_curvature: FloatArray | None = None,
    n_samples: float = np.inf,
    random_labels: bool = True,
) -> Sandwich:
    r"""Combine the moments of labeled and hidden rows at one labeled fraction.

    A sample is labeled with probability f; an unlabeled one counts :math:`\beta`:

    .. math::

        H &= f H_{XY} + (1-f)\,\beta\, H_X - \nabla^2 \log \text{prior} / n \\
        J &= f \operatorname{Var}(s_{XY}) + (1-f)\,\beta^2 \operatorname{Var}(s_X)
            + f(1-f)\, g g', \qquad g = E s_{XY} - \beta\, E s_X

    The last term is there when a coin decides for every sample whether it is labeled; with a fixed number of labels
    (`random_labels` False) it is not.

    Parameters
    ----------
    moments : ScoreMoments
        At the pseudo-true theta of this fraction.
    fraction : float
        f, in [0, 1].
    prior_curvature : array of shape (d, d), optional
        Minus the Hessian of the log prior; shared by `n_samples`.

    Notes
    -----
    At f, the mean score :math:`f E s_{XY} + (1-f) \beta E s_X` is minus the prior's gradient over n, not zero;
    J is a variance around it, so nothing is left out. If the model is right, there is no prior and :math:`\beta = 1`,
    H = J = I(f): the sandwich is the inverse information. Paper: prop:efficiency1.
    """
    require_between("The labeled fraction", fraction, 0.0, 1.0)
    require_between("unlabeled_weight", unlabeled_weight, 0.0, float(np.finfo(float).max))
    mixed = Moments.mixture(
        (moments.labeled, moments.hidden.counting(unlabeled_weight)),
        (fraction, 1 - fraction),
        is_random=random_labels,
    )
    prior = 0.0 if prior_curvature is None else prior_curvature / n_samples
    return Sandwich(coordinates, mixed.curvature + prior, mixed.variance)
