"""What is asked of a trade-off, which targets are within reach, and what is answered."""

import math
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from labelworth.arrays import FloatArray
from labelworth.errors import InfeasiblePlanError, InvalidInputError
from labelworth.fisher.criteria import CRITERIA
from labelworth.simulation.metrics import is_metric, metric_of
from labelworth.tradeoff.accuracy import Accuracy
from labelworth.tradeoff.costs import Costs, is_finite_number, shown
from labelworth.tradeoff.direction import direction_of
from labelworth.wording import count, exact_percent

Problem = Literal["budget", "target", "alpha"]

LOGARITHMIC = tuple(name for name, criterion in CRITERIA.items() if criterion.is_logarithmic)
"""Criteria in nats, of any sign: differences of them mean something, ratios do not."""

SHARES = ("error", "excess_error")
"""Criteria that are shares of predictions: in words they are percent, and their differences points. Metrics are, too
(`in_percent`)."""

Rank = tuple[float, float]
"""What is to be small: first the one, and where that is equal the other."""

UNMET: Rank = (np.inf, np.inf)
_FITS = 1e-12

TOLERANCE = 1e-8
"""A certified gap is at most this share of the figure; of a figure in nats, at most this."""

UNSEEN = 1e-3
"""A fall of an error by a smaller part of it is none to speak of: a test would take millions of labels to see it."""

_DIGITS = 6
_MORE_DIGITS = 12


@dataclass(frozen=True)
class Question:
    """One of three: least error within a budget, least cost within an error ceiling, least cost plus alpha x error.

    Notes
    -----
    Paper: eq:tradeoff1, eq:tradeoff2, eq:tradeoff3.
    """

    kind: Problem
    value: float
    pool: float = np.inf  # How many samples can still be assigned to an arm; infinite if there is no limit.

    @classmethod
    def of(
        cls,
        *,
        budget: float | None = None,
        target: float | None = None,
        alpha: float | None = None,
        pool: float | None = None,
    ) -> "Question":
        """Read what was asked.

        Raises
        ------
        InvalidInputError
            If not exactly one of budget, target and alpha is given, or a number is none.
        """
        asked: dict[Problem, float | None] = {"budget": budget, "target": target, "alpha": alpha}
        given = {name: value for name, value in asked.items() if value is not None}
        if len(given) != 1:
            named = ", ".join(f"{name}={value!r}" for name, value in given.items())
            raise InvalidInputError(f"Give exactly one of budget, target and alpha. Got {named or 'none of them'}.")
        kind, value = next(iter(given.items()))
        _require_number(kind, value)
        if kind == "budget" and value < 0:
            raise InvalidInputError(f"budget must be non-negative. Got {value!r} instead.")
        if kind == "alpha" and value <= 0:
            raise InvalidInputError(f"alpha, the price of a unit of error, must be positive. Got {value!r} instead.")
        if pool is not None:
            _require_number("pool", pool)
            if pool < 0:
                raise InvalidInputError(f"pool must be non-negative. Got {pool!r} instead.")
        return cls(kind, float(value), np.inf if pool is None else float(pool))

    def figure(self, cost: float, error: float) -> float:
        """What is minimized: the error, the cost, or cost + alpha x error."""
        return {"budget": error, "target": cost, "alpha": cost + self.value * error}[self.kind]

    def rank(self, cost: float, error: float) -> Rank:
        """What is to be small, of a design of that cost and error; `UNMET` where it is no answer."""
        is_paid = self.kind != "budget" or cost <= self.value * (1 + _FITS)
        is_met = self.kind != "target" or error <= self.value
        if not (is_paid and is_met and np.isfinite(error)):
            return UNMET
        return self.figure(cost, error), cost if self.kind == "budget" else error


@dataclass(frozen=True, eq=False)
class Solution:
    """The best design, with how much better any other could be."""

    question: Question
    criterion: str
    counts: FloatArray  # (n_arms,): How many samples go to each arm, not yet whole.
    cost: float
    error: float
    # No other design can be better by more: in error for a budget, in money for a target, in money plus alpha
    # times error for alpha. None where nothing is known.
    gap: float | None = None
    # Whether the gap is a theorem and below 1e-8 of the figure (of the log volume, below 1e-8 nats).
    is_certified: bool = False
    # By how much one more unit of money, and one more sample in the pool, would lower the error.
    shadow_price_of_money: float | None = None
    shadow_price_of_sample: float | None = None


def in_percent(criterion: str | None) -> bool:
    """Whether a criterion is told in percent."""
    return criterion in SHARES or is_metric(criterion)


def size_of_errors(criterion: str, error: float) -> float:
    """What a difference of errors is small against: the error, or one nat."""
    return 1.0 if criterion in LOGARITHMIC else abs(error)


def gap_scale(question: Question, criterion: str, cost: float, error: float) -> float:
    """What a gap is small against: the figure that is minimized, or one nat; `cost` without its fixed part."""
    if question.kind == "alpha" and criterion in LOGARITHMIC:
        return question.value
    return question.figure(cost, size_of_errors(criterion, error))


def is_small(gap: float, scale: float) -> bool:
    """Whether a gap is one to rely on."""
    return gap <= TOLERANCE * scale


def require_paid(question: Question, fixed: float) -> None:
    """Refuse a budget that does not even pay for what is paid whatever is labeled."""
    if question.kind == "budget" and fixed > question.value:
        raise InfeasiblePlanError(
            f"The fixed cost of {fixed:g} alone is above the budget of {question.value:g}.", fixed
        )


def require_same_arms(accuracy: Accuracy, costs: Costs) -> None:
    """Refuse prices of other arms."""
    if tuple(costs.arms) != tuple(accuracy.arms):
        raise InvalidInputError(
            f"The prices are of the arms {', '.join(costs.arms)}; the accuracy is of {', '.join(accuracy.arms)}. "
            "Give the same arms in the same order."
        )


def _require_number(name: str, value: Any) -> None:
    if not is_finite_number(value):
        raise InvalidInputError(f"{name} must be a finite number. Got {shown(value)} instead.")


def require_target(target: float, criterion: str | None, *, is_share: bool = False) -> None:
    """Refuse what no error can be; a log volume can be any number.

    Parameters
    ----------
    criterion : str or None
        None: one of those that are taken when none is named.
    is_share : bool
        Whether that one will be a share.
    """
    if (criterion in SHARES or is_share) and target >= 1:
        raise InvalidInputError(
            f"target must be a share of predictions, below 1: a target of {target:g} % is {target / 100:g}. "
            f"Got {target:g}, which is {exact_percent(target)}."
        )
    if criterion not in LOGARITHMIC and not target > 0:
        raise InvalidInputError(
            f"target, an error, must be positive. Got {target:g}: no number of labels brings an error to that."
        )


def error_ceiling(question: Question, criterion: str, least: float, tolerance: float, *, among: str) -> float:
    r"""The target, or the least error where that is above it by no more than a solver can tell.

    A solver knows the least error there is only up to its tolerance, :math:`least - r \le \inf error \le least`. A
    target in that interval cannot be told from the least error, so the design of the least error answers it; a lower
    one is out of reach.

    Parameters
    ----------
    question : Question
        Whose value is the target.
    least : float
        The least error that was found, whatever it costs.
    tolerance : float
        As a share of it; of a figure in nats, in nats.
    among : str
        Which designs were looked at, in words.

    Raises
    ------
    InfeasiblePlanError
        If the target is lower, with the least error.
    """
    target = question.value
    if target >= least - tolerance * size_of_errors(criterion, least):
        return max(target, least)
    digits = _DIGITS if f"{target:.{_DIGITS}g}" != f"{least:.{_DIGITS}g}" else _MORE_DIGITS
    raise InfeasiblePlanError(
        f"No design {among} reaches {_named(criterion, f'{target:.{digits}g}')}. The nearest is "
        f"{_named(criterion, f'{least:.{digits}g}', is_nearest=True)}: {direction_of(criterion).ease} the target, or "
        "get more samples.",
        least,
    )


def infeasible_target(
    criterion: str,
    target: float,
    nearest: float,
    labels: float | None,
    other_ways: str = "",
    *,
    has_answers: bool = False,
) -> InfeasiblePlanError:
    """That a target cannot be met, with the nearest that can be: as printed it is feasible.

    Parameters
    ----------
    labels : float or None
        How many more labels meet the nearest; None: too many to be asked for.
    other_ways : str
        What else is known and can be done, in sentences.
    has_answers : bool
        Whether answers are counted among labels.
    """
    named = _named(criterion, rounded_up(nearest), is_nearest=True)
    words = ("more label or answer", "more labels and answers") if has_answers else ("more label",)
    at = "" if labels is None else f", at {count(round(labels), *words)}"
    return InfeasiblePlanError(
        f"No number of labels reaches {_named(criterion, f'{target:g}')}: the nearest that this pool allows is "
        f"{named}{at}. {direction_of(criterion).ease.capitalize()} the target, or get more samples.{other_ways}",
        nearest,
    )


def _named(criterion: str, figure: str, *, is_nearest: bool = False) -> str:
    """A target as people say it, shares in percent; the nearest one also as it is typed."""
    metric = metric_of(criterion)
    if metric is not None:
        level = f"{1 - float(figure):.12g}"
        share = exact_percent(float(level))
        # Alone, a number would be read as an error.
        return f"{share} (target={metric.at_least(share)!r})" if is_nearest else metric.at_least(share)
    if criterion not in SHARES:
        return figure if is_nearest else f"a target of {figure}"
    share = exact_percent(float(figure))
    return f"{share} (target={figure})" if is_nearest else f"{criterion} {share}"


def rounded_up(value: float, digits: int = _DIGITS) -> str:
    """A figure with so many digits that is no less than `value` when it is read back.

    >>> rounded_up(0.12345611), rounded_up(0.25), rounded_up(-3.14159265)
    ('0.123457', '0.25', '-3.14159')
    """
    if value == 0 or not math.isfinite(value):
        return f"{value:g}"
    text = f"{value:.{digits}g}"
    if float(text) >= value:
        return text
    unit = 10.0 ** (math.floor(math.log10(abs(value))) - digits + 1)
    return f"{value + unit:.{digits}g}"


def dominators(costs: ArrayLike, errors: ArrayLike) -> list[int | None]:
    """For every design the index of the one with the least error among those that dominate it; None if none does.

    A design dominates another if it costs and errs no more, and one of both less: equal ones do not.

    >>> dominators([2.0, 1.0, 2.0, 1.0], [1.0, 2.0, 1.0, 3.0])
    [None, None, None, 1]
    """
    costs, errors = np.asarray(costs, dtype=np.float64), np.asarray(errors, dtype=np.float64)
    answers: list[int | None] = []
    for cost, error in zip(costs, errors, strict=True):
        better = np.flatnonzero((costs <= cost) & (errors <= error) & ((costs < cost) | (errors < error)))
        answers.append(int(better[np.lexsort((costs[better], errors[better]))[0]]) if better.size else None)
    return answers
