r"""Which error a design may have if a target is asked for.

A solver knows the least error there is only up to its tolerance, :math:`least - r \le \inf error \le least`. A target
in that interval cannot be told from the least error, so the design of the least error answers it; a lower one is out
of reach.
"""

from labelworth.errors import InfeasiblePlanError
from labelworth.tradeoff.problem import Question, size_of_errors

_DIGITS = 6
_MORE_DIGITS = 12


def error_ceiling(question: Question, criterion: str, least: float, tolerance: float, *, among: str) -> float:
    """The target, or the least error where that is above it by no more than a solver can tell.

    Parameters
    ----------
    question : Question
        Whose value is the target.
    criterion : str
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
