"""The door to the three problems: with a certificate where there can be one, by search elsewhere."""

from labelworth.data.lengths import LengthDistribution
from labelworth.errors import InfeasiblePlanError
from labelworth.tradeoff.accuracy import Accuracy, ConvexAccuracy
from labelworth.tradeoff.convex import is_stationary, solve_convex
from labelworth.tradeoff.costs import ArmPrices, PolicyCost, Prices
from labelworth.tradeoff.problem import Question, Solution
from labelworth.tradeoff.search import search


def solve(
    accuracy: Accuracy,
    prices: Prices | ArmPrices | PolicyCost,
    *,
    budget: float | None = None,
    target: float | None = None,
    alpha: float | None = None,
    pool: float | None = None,
    lengths: LengthDistribution | None = None,
) -> Solution:
    r"""The best design for exactly one of a budget, a target error, or a price of error.

    .. math::

        \min_w error(w) \;:\; cost(w) \le budget, \qquad
        \min_w cost(w) \;:\; error(w) \le target, \qquad
        \min_w cost(w) + alpha \cdot error(w)

    over counts :math:`w \ge 0` of samples per arm, with :math:`\sum_j w_j \le pool`.

    Parameters
    ----------
    accuracy : Accuracy
        What is held already is counted in there.
    prices : Prices, ArmPrices or PolicyCost
        Per label, token, sequence and unlabeled sample; per sample of every arm; or a user's function.
    budget, target, alpha : float
        Exactly one of them.
    pool : float, optional
        How many samples can still be assigned to an arm; no limit when absent.
    lengths : LengthDistribution, optional
        Of the sequences, for prices that depend on it.

    Returns
    -------
    Solution
        With the gap and shadow prices where the error is convex and the cost linear; "no certificate" elsewhere.

    Raises
    ------
    InvalidInputError, InfeasiblePlanError, NotIdentifiableError
        If the question is not one, cannot be met, or leaves the model open.

    Notes
    -----
    Paper: eq:tradeoff1, eq:tradeoff2, eq:tradeoff3 (which leave out n; see docs/derivations/tradeoff.md).
    """
    question = Question.of(budget=budget, target=target, alpha=alpha, pool=pool)
    costs = (
        prices.of_arms(accuracy.arms, accuracy.labels_per_sample, lengths) if isinstance(prices, Prices) else prices
    )
    if not (isinstance(costs, ArmPrices) and isinstance(accuracy, ConvexAccuracy) and _can_be_followed(accuracy)):
        return search(accuracy, costs, question)
    if accuracy.is_convex:
        return solve_convex(accuracy, costs, question)
    try:
        followed = solve_convex(accuracy, costs, question)
    except InfeasiblePlanError:
        # Without convexity what the slope does not find may still be there.
        return search(accuracy, costs, question)
    return followed if is_stationary(followed, costs) else _better(followed, search(accuracy, costs, question))


def _can_be_followed(accuracy: ConvexAccuracy) -> bool:
    """A curve that sampling bent a little still has a slope to follow; one with kinks and no planes has not."""
    return accuracy.is_convex or accuracy.criterion != "worst_direction"


def _better(one: Solution, other: Solution) -> Solution:
    """Of two answers to one question."""
    weights = {"budget": (0.0, 1.0), "target": (1.0, 0.0), "alpha": (1.0, one.question.value)}[one.question.kind]
    ranks = [weights[0] * solution.cost + weights[1] * solution.error for solution in (one, other)]
    return one if ranks[0] <= ranks[1] else other
