"""The three problems in a situation: whole counts, with certificates where there can be one."""

from dataclasses import dataclass

from labelworth.arrays import FloatArray
from labelworth.errors import InfeasiblePlanError, NotIdentifiableError
from labelworth.planning.answer import Certificate, Interval
from labelworth.planning.situation import Band, Situation
from labelworth.planning.trust.odds import is_settled
from labelworth.planning.units import ends_in_units
from labelworth.simulation.asking import MOST_TIMES
from labelworth.tradeoff.accuracy import Accuracy, ConvexAccuracy
from labelworth.tradeoff.costs import Costs
from labelworth.tradeoff.problem import Problem, Question, Solution, infeasible_target, rounded_up
from labelworth.tradeoff.solve import best_counts, best_whole_counts
from labelworth.wording import count, money

_ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class Solved:
    """The best design."""

    counts: FloatArray  # (n_arms,): Whole numbers.
    certificate: Certificate | None


def solved(situation: Situation, problem: Problem, value: float) -> Solved:
    """Answer one question in whole counts.

    Parameters
    ----------
    situation : Situation
    problem, value
        A budget is for all that is paid, what is held included.

    Raises
    ------
    InfeasiblePlanError
        If nothing meets what was asked, with the nearest that does.
    NotIdentifiableError
        If nothing that fits pins the model down.
    """
    value = money_left(situation, value) if problem == "budget" else value
    try:
        return _answered(situation, problem, value)
    except InfeasiblePlanError as refusal:
        if problem != "target":
            raise
        raise _nearest_target(situation, value, refusal) from None


def _nearest_target(situation: Situation, target: float, refusal: InfeasiblePlanError) -> InfeasiblePlanError:
    """The nearest target that whole samples meet, as it is printed, and with how many labels."""
    money = situation.prices.most(situation.pool) * (1 + _ROUNDING)
    least = situation.accuracy.error(_answered(situation, "budget", money).counts)
    criterion = situation.accuracy.criterion
    # Nobody knows a forecast to six digits.
    for digits in (3,) if isinstance(situation.doubt, Band) else (6, 5, 4, 3):
        named = rounded_up(least, digits)
        try:
            met = _answered(situation, "target", float(named))
        except InfeasiblePlanError:
            # A search may miss what lies within the last digit; one digit less is reported then.
            continue
        labels = float(met.counts @ situation.accuracy.labels_per_sample)
        is_near = labels <= MOST_TIMES * situation.held.n_labels
        other_ways = _how_surely(situation, target, met.counts)
        has_answers = situation.kinds is not None
        return infeasible_target(
            criterion, target, float(named), labels if is_near else None, other_ways, has_answers=has_answers
        )
    return refusal


def _how_surely(situation: Situation, target: float, counts: FloatArray) -> str:
    """How surely a forecast refuses a target."""
    criterion, doubt = situation.accuracy.criterion, situation.doubt
    if not isinstance(doubt, Band):
        return ""
    error, low, high = (own.error(counts) for own in (situation.accuracy, doubt.low, doubt.high))
    interval = Interval(min(low, error), max(high, error), method="forecast")
    known = f" That is a forecast ({ends_in_units(interval, criterion)})"
    if is_settled(interval, target):
        return f"{known}, all of it short of the target: a better model may help more than more samples."
    return f"{known}, and there is nothing left to label that would tell more."


def may_be_met(situation: Situation, target: float) -> bool:
    """Whether a target that a forecast does not reach lies within its interval at some size that can still be had."""
    doubt = situation.doubt
    if not isinstance(doubt, Band) or situation.is_used_up:
        return False
    try:
        continuous(doubt.low, situation.prices, situation.pool, "target", target)
    except (InfeasiblePlanError, NotIdentifiableError):
        return False
    return True


def _answered(situation: Situation, problem: Problem, value: float) -> Solved:
    """In whole counts; `value` of a budget is what is left of it."""
    question = Question(problem, value, situation.pool)
    counts, proof = best_whole_counts(situation.accuracy, situation.prices, question)
    return Solved(counts, None if proof is None else _certificate(situation.accuracy, proof))


def _certificate(accuracy: Accuracy, proof: Solution) -> Certificate | None:
    """What is proved; or, of an error that is not known to be convex, what following the slope would prove."""
    is_convex = isinstance(accuracy, ConvexAccuracy) and accuracy.is_convex
    if proof.gap is None or (is_convex and not proof.is_certified):
        return None
    return Certificate(proof.gap, proof.shadow_price_of_money, proof.shadow_price_of_sample, if_convex=not is_convex)


def continuous(accuracy: Accuracy, prices: Costs, pool: float, problem: Problem, value: float) -> FloatArray:
    """The best counts, not yet whole unless costs have steps; `value` of a budget is what is left of it."""
    return best_counts(accuracy, prices, Question(problem, value, pool))


def money_left(situation: Situation, budget: float) -> float:
    """What a budget leaves beside what is held."""
    held = situation.held
    require_budget(budget, held.n_labels, held.cost, situation.currency, n_answers=held.n_answers)
    return max(budget - situation.held.cost, 0.0)


def require_budget(
    budget: float,
    n_labels: int,
    held_cost: float,
    currency: str,
    *,
    n_answers: int = 0,
    has_blank: bool = False,
) -> None:
    """Refuse a budget that what is held has used up.

    Parameters
    ----------
    has_blank : bool
        Whether one of the classes is the empty text, which may be meant to be no label.

    Raises
    ------
    InfeasiblePlanError
    """
    if budget - held_cost < -_ROUNDING * max(abs(budget), 1.0):
        cost, limit = (money(amount, currency) for amount in (held_cost, budget))
        also = f" and {count(n_answers, 'answer')}" if n_answers else ""
        raise InfeasiblePlanError(
            f"The {n_labels:,} labels{also} held have cost {cost} already, more than the budget of {limit}: "
            f"a budget is for all labels{also and ' and answers'}, the pilot's included. Raise it."
            + (" One class is the empty text: where that is no label, say unlabeled=''." if has_blank else ""),
            held_cost,
        )
