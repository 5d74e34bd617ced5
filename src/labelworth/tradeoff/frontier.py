"""The cloud of what can be had for what, its undominated boundary, and who dominates whom."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from labelworth.arrays import FloatArray, as_floats
from labelworth.data.lengths import LengthDistribution
from labelworth.errors import InvalidInputError, NotIdentifiableError
from labelworth.tradeoff.accuracy import Accuracy, Source
from labelworth.tradeoff.costs import ArmPrices, PolicyCost, Prices
from labelworth.tradeoff.problem import require_same_arms

_N_SIZES = 24
_N_FRACTIONS = 16
_SMALLEST_SHARE = 1e-3
_MIXED_SHARES = (0.25, 0.5, 0.75)


@dataclass(frozen=True, eq=False)
class FrontierPoint:
    """One design.

    Attributes
    ----------
    cost, error : float
    standard_error : float or None
        Of the error, where it was sampled.
    counts : array of shape (n_arms,)
        New samples of every arm.
    shares : array of shape (n_arms,)
        The policy.
    n_samples : float
        All new samples.
    """

    cost: float
    error: float
    standard_error: float | None
    counts: FloatArray
    shares: FloatArray
    n_samples: float


@dataclass(frozen=True, eq=False)
class Frontier:
    """The points that were looked at; one is dominated if another costs and errs no more, and one of both less.

    Attributes
    ----------
    arms : tuple of str
    points : tuple of FrontierPoint
        The cloud, in the order in which it was looked at, without designs that do not pin the model down.
    criterion : str
    source : str
        Where the errors come from.
    n_open : int
        How many designs were left out because they do not pin the model down.
    """

    arms: tuple[str, ...]
    points: tuple[FrontierPoint, ...]
    criterion: str
    source: Source
    n_open: int = 0

    @cached_property
    def boundary_places(self) -> tuple[int, ...]:
        """The places of the undominated points, by rising cost; of equal ones the first."""
        order = sorted(range(len(self.points)), key=lambda place: (self.points[place].cost, self.points[place].error))
        kept, least = [], np.inf
        for place in order:
            if self.points[place].error < least:
                kept.append(place)
                least = self.points[place].error
        return tuple(kept)

    @property
    def boundary(self) -> tuple[FrontierPoint, ...]:
        """The undominated points: cost rises, error falls."""
        return tuple(self.points[place] for place in self.boundary_places)

    @cached_property
    def dominated_by(self) -> tuple[int | None, ...]:
        """For every point the place of the undominated one with the least error at no higher cost; None on top."""
        costs = np.array([point.cost for point in self.boundary])
        kept = set(self.boundary_places)
        return tuple(
            None if place in kept else self.boundary_places[int(np.searchsorted(costs, point.cost, side="right")) - 1]
            for place, point in enumerate(self.points)
        )

    def error_at(self, cost: float) -> float:
        """The least error of the points that cost at most so much; infinite below the cheapest."""
        return min((point.error for point in self.boundary if point.cost <= cost), default=np.inf)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        return {
            "arms": list(self.arms),
            "criterion": self.criterion,
            "source": self.source,
            "n_not_identified": self.n_open,
            "points": [
                {
                    "cost": point.cost,
                    "error": point.error,
                    "error_se": point.standard_error,
                    "n_samples": point.n_samples,
                    "counts": dict(zip(self.arms, point.counts.tolist(), strict=True)),
                    "dominated_by": place,
                }
                for point, place in zip(self.points, self.dominated_by, strict=True)
            ],
            "boundary": list(self.boundary_places),
        }


def frontier(
    accuracy: Accuracy,
    prices: Prices | ArmPrices | PolicyCost,
    *,
    pool: float,
    n_samples: ArrayLike | None = None,
    labeled_fractions: ArrayLike | None = None,
    policies: Sequence[ArrayLike] | None = None,
    lengths: LengthDistribution | None = None,
) -> Frontier:
    """Look at many designs.

    Parameters
    ----------
    accuracy : Accuracy
        What is held already is counted in there.
    prices : Prices, ArmPrices or PolicyCost
    pool : float
        The most samples.
    n_samples : sequence of float, optional
        Numbers of new samples; evenly in their logarithm up to the pool when absent.
    labeled_fractions : sequence of float, optional
        For the arms "everything" and "nothing": the shares to label.
    policies : sequence, optional
        For any arms: a share per arm each. When absent, every arm alone and all mixtures of two.
    lengths : LengthDistribution, optional
        Of the sequences, for prices that depend on it.

    Raises
    ------
    InvalidInputError
        If both fractions and policies are given, or fractions for other arms.
    NotIdentifiableError
        If no design pins the model down.
    """
    costs = (
        prices.of_arms(accuracy.arms, accuracy.labels_per_sample, lengths) if isinstance(prices, Prices) else prices
    )
    require_same_arms(accuracy, costs)
    if not (np.isfinite(pool) and pool > 0):
        raise InvalidInputError(f"pool must be a positive number. Got {pool!r} instead.")
    mixtures = list(_mixtures(accuracy.arms, labeled_fractions, policies))
    points, n_open = [], 0
    for size in _sizes(n_samples, pool):
        for shares in mixtures:
            counts = size * shares
            error = accuracy.error(counts)
            if np.isfinite(error):
                cost = costs.cost(counts)
                points.append(FrontierPoint(cost, error, accuracy.standard_error(counts), counts, shares, size))
            else:
                n_open += 1
    if not points:
        raise NotIdentifiableError("None of the designs pins the model down: label more.")
    return Frontier(accuracy.arms, tuple(points), accuracy.criterion, accuracy.source, n_open)


def _sizes(n_samples: ArrayLike | None, pool: float) -> list[float]:
    if n_samples is None:
        return [float(size) for size in np.geomspace(min(max(pool / 1e4, 1.0), pool), pool, _N_SIZES)]
    sizes = as_floats("n_samples", n_samples, ndim=1)
    if not sizes.size or float(sizes.min()) <= 0 or float(sizes.max()) > pool:
        raise InvalidInputError(f"n_samples must lie between 0 and the pool of {pool:g}. Got {sizes.tolist()}.")
    return [float(size) for size in sizes]


def _mixtures(
    arms: Sequence[str], labeled_fractions: ArrayLike | None, policies: Iterable[ArrayLike] | None
) -> Iterator[FloatArray]:
    is_classification = tuple(arms) == ("everything", "nothing")
    if labeled_fractions is not None and (policies is not None or not is_classification):
        raise InvalidInputError(
            f'Labeled fractions are for the arms "everything" and "nothing", instead of policies. Got arms '
            f"{', '.join(arms)}."
        )
    if policies is not None:
        for policy in policies:
            yield _checked("The shares of a policy", policy, len(arms))
    elif is_classification:
        default = np.geomspace(_SMALLEST_SHARE, 1.0, _N_FRACTIONS)
        for fraction in as_floats(
            "labeled_fractions", default if labeled_fractions is None else labeled_fractions, ndim=1
        ):
            yield _checked("A labeled fraction and its complement", [fraction, 1 - fraction], 2)
    else:
        corners = np.eye(len(arms))
        yield from corners
        for one, other in combinations(range(len(arms)), 2):
            for share in _MIXED_SHARES:
                yield share * corners[one] + (1 - share) * corners[other]


def _checked(name: str, shares: ArrayLike, n_arms: int) -> FloatArray:
    values = as_floats(name, shares, ndim=1)
    if values.shape != (n_arms,) or float(values.min()) < 0 or abs(float(values.sum()) - 1) > 1e-9:
        raise InvalidInputError(f"{name} must be {n_arms} non-negative numbers that sum to 1. Got {values.tolist()}.")
    return values
