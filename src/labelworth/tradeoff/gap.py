"""What a gap says: in which unit, whether it is small, and in words."""

from labelworth.tradeoff.problem import LOGARITHMIC, NO_CERTIFICATE, Question, size_of_errors

TOLERANCE = 1e-8
"""A certified gap is at most this share of the figure; of a figure in nats, at most this."""

_UNITS = {"budget": "error", "target": "cost", "alpha": "cost plus weighted error"}


def gap_scale(question: Question, criterion: str, cost: float, error: float) -> float:
    """What a gap is small against: the figure that is minimized, or one nat; `cost` without its fixed part."""
    if question.kind == "target":
        return cost
    if question.kind == "budget":
        return size_of_errors(criterion, error)
    return question.value if criterion in LOGARITHMIC else cost + question.value * error


def is_small(gap: float, scale: float) -> bool:
    """Whether a gap is one to rely on."""
    return gap <= TOLERANCE * scale


def at_most_less(question: Question, gap: float, *, of: str = "any other design") -> str:
    """The gap in words, without a full stop."""
    return f"{of} has at most {gap:.2g} less {_UNITS[question.kind]}"


def gap_in_words(question: Question, gap: float, scale: float, *, is_convex: bool) -> str:
    """The certificate of a design, or why there is none."""
    best = at_most_less(question, gap)
    if not is_convex:
        return f"{NO_CERTIFICATE}: sampling may have bent the curve; were it convex, {best}."
    share = f" ({gap / scale:.1g} of it)" if scale > 0 else ""
    if is_small(gap, scale):
        return f"{best[0].upper()}{best[1:]}{share}."
    return f"{NO_CERTIFICATE} below {TOLERANCE:g}: {best}{share}."
