"""Targets: what can be one, and what to say of one that cannot be met."""

import math

from labelworth.errors import InfeasiblePlanError, InvalidInputError
from labelworth.tradeoff.problem import LOGARITHMIC

_DIGITS = 6


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
