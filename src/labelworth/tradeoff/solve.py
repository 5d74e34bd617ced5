"""The doors to the three problems: with a certificate where there can be one, by search elsewhere; whole counts."""

from labelworth.arrays import FloatArray
from labelworth.errors import InfeasiblePlanError
from labelworth.tradeoff.accuracy import Accuracy, ConvexAccuracy
from labelworth.tradeoff.convex import is_stationary, solve_convex
from labelworth.tradeoff.costs import ArmPrices, Costs
from labelworth.tradeoff.line import best_on_lines, lines_of, whole_near
from labelworth.tradeoff.problem import Question, Solution
from labelworth.tradeoff.search import search
from labelworth.tradeoff.whole_counts import best_whole, whole_counts


def solve(accuracy: Accuracy, costs: Costs, question: Question) -> Solution:
    r"""The best design of all, whole or not.

    .. math::

        \min_w error(w) \;:\; cost(w) \le budget, \qquad
        \min_w cost(w) \;:\; error(w) \le target, \qquad
        \min_w cost(w) + alpha \cdot error(w)

    over counts :math:`w \ge 0` of samples per arm, with :math:`\sum_j w_j \le pool`. What is held already is part
    of the accuracy. The gap and shadow prices are there where the error is convex and the cost linear; elsewhere the
    answer says "no certificate".

    Raises
    ------
    InvalidInputError, InfeasiblePlanError, NotIdentifiableError
        If the question cannot be met, or leaves the model open.

    Notes
    -----
    Paper: eq:tradeoff1, eq:tradeoff2, eq:tradeoff3 (which leave out n; see docs/derivations/tradeoff.md).
    """
    if not (isinstance(costs, ArmPrices) and isinstance(accuracy, ConvexAccuracy) and _can_be_followed(accuracy)):
        return search(accuracy, costs, question)
    if accuracy.is_convex:
        return solve_convex(accuracy, costs, question)
    try:
        followed = solve_convex(accuracy, costs, question)
    except InfeasiblePlanError:
        # Without convexity what the slope does not find may still be there.
        return search(accuracy, costs, question)
    if is_stationary(followed, costs):
        return followed
    return min(
        followed,
        search(accuracy, costs, question),
        key=lambda solution: question.figure(solution.cost, solution.error),
    )


def best_counts(accuracy: Accuracy, costs: Costs, question: Question) -> FloatArray:
    """The best of the sensible designs (`labelworth.tradeoff.line.lines_of`); whole only where costs have steps.

    Raises
    ------
    InfeasiblePlanError, NotIdentifiableError
        If nothing meets what was asked, or nothing that fits pins the model down.
    """
    if not isinstance(costs, ArmPrices):
        return best_whole(accuracy, costs, question, thorough=False)
    lines = lines_of(accuracy, costs, question.pool)
    if not lines:
        return solve(accuracy, costs, question).counts
    line, x = best_on_lines(lines, question)
    return line.counts(x)


def best_whole_counts(accuracy: Accuracy, costs: Costs, question: Question) -> tuple[FloatArray, Solution | None]:
    """The best of the sensible designs in whole counts, and the solution of any counts that proves how good it is.

    Where there is no proof, and nothing like it, that is None.

    Raises
    ------
    InfeasiblePlanError, NotIdentifiableError
        As `best_counts`.
    """
    if not isinstance(costs, ArmPrices):
        return best_whole(accuracy, costs, question), None
    lines = lines_of(accuracy, costs, question.pool)
    is_convex = isinstance(accuracy, ConvexAccuracy) and accuracy.is_convex
    proof = solve(accuracy, costs, question) if is_convex or not lines else None
    if not lines and proof is not None:
        return whole_counts(accuracy, costs, proof), proof
    line, x = best_on_lines(lines, question)
    return whole_near(line, question, x), proof


def _can_be_followed(accuracy: ConvexAccuracy) -> bool:
    """A curve that sampling bent a little still has a slope to follow; one with kinks and no planes has not."""
    return accuracy.is_convex or accuracy.criterion != "worst_direction"
