"""Targets: what can be one, which are within reach, and what to say of one that is not."""

import math

from labelworth.errors import InfeasiblePlanError, InvalidInputError
from labelworth.tradeoff.problem import LOGARITHMIC, Question, size_of_errors

_DIGITS = 6
_MORE_DIGITS = 12


def require_target(target: float, criterion: str | None) -> None:
    """Refuse what no error can be; a log volume can be any number.

    Parameters
    ----------
    criterion : str or None
        None: one of those that are taken when none is named.
    """
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
        f"No design {among} reaches {criterion} {target:.{digits}g}. The nearest is {least:.{digits}g}: raise "
        "the target, or get more samples.",
        least,
    )


def infeasible_target(criterion: str, target: float, nearest: float, labels: float) -> InfeasiblePlanError:
    """That a target cannot be met, with the nearest that can be: as printed it is feasible."""
    named = rounded_up(nearest)
    return InfeasiblePlanError(
        f"No number of labels reaches {criterion} {target:g}: the nearest that this pool allows is {named}, at "
        f"{labels:,.0f} more {'label' if labels == 1 else 'labels'}. Raise the target, or get more samples.",
        nearest,
    )


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
