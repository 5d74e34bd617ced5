"""What an answer is worth in money: the most that one may cost before a design without it is as good."""

from collections.abc import Callable, Sequence
from itertools import combinations

import numpy as np
from scipy.optimize import minimize_scalar

from labelworth.arrays import FloatArray
from labelworth.errors import InvalidInputError
from labelworth.tradeoff.accuracy import ConvexAccuracy
from labelworth.tradeoff.problem import Solution

_FEW = 1e-9
"""As a share of all samples: so few of an arm change nothing but that it is used."""


def worths(accuracy: ConvexAccuracy, counts: FloatArray) -> FloatArray:
    """By how much one more sample of every arm lowers the error, d_j, (n_arms,).

    Of an arm that is not used it is the derivative of that arm alone: where several unused arms would learn the same
    unknown confusion, the slope at zero is one for all of them together.
    """
    total = float(np.sum(counts))
    moved = [
        counts if count > 0 else counts + _FEW * total * unit
        for count, unit in zip(counts, np.eye(len(counts)), strict=True)
    ]
    return np.array([-float(accuracy.slope(at)[index]) for index, at in enumerate(moved)])


def shares_of(accuracy: ConvexAccuracy, counts: FloatArray, *, gold: int, nothing: int) -> FloatArray:
    r"""What every arm adds to a sample without answers, as a share of what gold adds, (n_arms,).

    .. math:: \frac{d_a - d_{nothing}}{d_{gold} - d_{nothing}}

    With free unlabeled samples an arm is worth buying instead of gold where its price is a smaller share of gold's.
    """
    each = worths(accuracy, counts)
    gained = float(each[gold] - each[nothing])
    if not gained > 0:
        raise InvalidInputError(
            "Gold labels lower the error no more than unlabeled samples do: nothing is worth a price."
        )
    return np.asarray((each - each[nothing]) / gained)


def break_even_prices(accuracy: ConvexAccuracy, solution: Solution) -> FloatArray:
    r"""The most that one sample of every arm may cost to be bought at this optimum, (n_arms,).

    .. math:: c_a^* = (d_a - \nu) / \mu

    with :math:`\mu` and :math:`\nu` what one more unit of money and one more sample are worth. Of an arm that is
    used it is its price; of one that is not, the price at which it comes in. Infinite where money is worth nothing.
    """
    money, sample = solution.shadow_price_of_money, solution.shadow_price_of_sample
    if money is None or sample is None:
        raise InvalidInputError("Break-even prices need the shadow prices of an optimum with a certificate.")
    gained = worths(accuracy, solution.counts) - sample
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.where(gained > 0, gained / money, 0.0))


def switch_price(
    accuracy: ConvexAccuracy,
    solution: Solution,
    arms: Sequence[int],
    answers: FloatArray,
    beside: FloatArray,
    of_pool: FloatArray | None = None,
) -> float:
    r"""The most that one answer may cost for arms that are made of such answers to come into an optimum without them.

    With u samples of these arms, h(u) what they lower the error by, :math:`v' u` answers, :math:`b' u` money for
    all else that is bought with them (gold, of an audited row), and :math:`p' u` samples of the pool,

    .. math:: c^* = \max_u \frac{h(u) - \nu \, p'u - \mu \, b'u}{\mu \, v'u}

    Where the confusion of the answers is known h is linear, and the best arm alone has the ratio. Where it is not,
    arms that learn it together are worth more than each by itself; h is concave, and every two arms are mixed.

    Parameters
    ----------
    solution : Solution
        With none of these arms.
    arms : sequence of int
        Their indices.
    answers, beside : arrays of shape (n_arms,)
        v and b of each.
    of_pool : array of shape (n_arms,), optional
        p: 0 of arms that ask more about samples that are held, else 1, as of all when absent.

    Returns
    -------
    float
        Infinite where money is worth nothing; zero where no price pays.
    """
    money, sample = solution.shadow_price_of_money, solution.shadow_price_of_sample
    if money is None or sample is None:
        raise InvalidInputError("Break-even prices need the shadow prices of an optimum with a certificate.")
    if money <= 0:
        return np.inf
    counts, hair = solution.counts, _FEW * float(np.sum(solution.counts))

    def ratio(shares: FloatArray) -> float:
        unit = np.zeros(len(counts))
        unit[list(arms)] = shares
        gain = -float(accuracy.slope(counts + hair * unit) @ unit)
        drawn = 1.0 if of_pool is None else float(shares @ of_pool)
        return (gain - sample * drawn - money * float(shares @ beside)) / (money * float(shares @ answers))

    corners = np.eye(len(arms))
    best = max(ratio(corner) for corner in corners)
    if accuracy.has_kinks:
        best = max((best, *(_best_between(ratio, *pair) for pair in combinations(corners, 2))))
    # Of equals the first: a zero has no minus sign.
    return max(0.0, best)


def _best_between(ratio: Callable[[FloatArray], float], first: FloatArray, last: FloatArray) -> float:
    """A concave gain over a linear cost has one top."""
    top = minimize_scalar(
        lambda share: -ratio((1 - share) * first + share * last), bounds=(0.0, 1.0), method="bounded"
    )
    return -float(top.fun)
