"""Figures of a criterion in the units of people: shares in percent, differences of them in points."""

import math
from collections.abc import Mapping
from types import MappingProxyType

from labelworth.fisher.criteria import CRITERIA
from labelworth.planning.answer import Interval
from labelworth.simulation.metrics import metric_of
from labelworth.tradeoff.direction import direction_of
from labelworth.tradeoff.problem import in_percent
from labelworth.wording import count, exact_percent, number, percent

CRITERION_WORDS: Mapping[str, str] = MappingProxyType(
    {
        "error": "share of wrong predictions",
        "log_loss": "log-loss of predictions (nats)",
        "excess_error": "share of wrong predictions beyond those of the best possible model",
        **{name: criterion.words for name, criterion in CRITERIA.items()},
    }
)
"""What every criterion is in words, but for metrics."""


def criterion_words(criterion: str) -> str:
    """What a criterion is, in words."""
    metric = metric_of(criterion)
    return CRITERION_WORDS[criterion] if metric is None else metric.words


def in_a_sentence(criterion: str) -> str:
    """What a criterion is, as a sentence goes on about it.

    >>> in_a_sentence("error"), in_a_sentence("log_loss")
    ('the error', 'log-loss of predictions (nats)')
    """
    return {"error": "the error", "excess_error": "the excess error"}.get(criterion) or criterion_words(criterion)


def in_units(value: float | None, criterion: str) -> str:
    """A figure of a criterion: shares in percent, others in their own units; a metric from what is missing to one.

    >>> in_units(0.02431, "error"), in_units(0.3, "error"), in_units(0.000631, "excess_error")
    ('2.4 %', '30 %', '0.063 %')
    >>> in_units(0.02431, "log_loss"), in_units(0.02431, "macro_f1"), in_units(0.00042, "macro_f1")
    ('0.02431', '97.6 %', '99.96 %')
    """
    if not in_percent(criterion) or value is None or not math.isfinite(value):
        return number(value)
    decimals = _decimals(value, criterion)
    return f"{100 * direction_of(criterion).reached(value):.{decimals}f}".removesuffix(".0") + " %"


def _decimals(value: float, criterion: str) -> int:
    """Of a share in percent."""
    is_small = 0 < abs(value) < 0.01
    # Of a metric that is nearly reached, the digit in which it differs from one.
    digits = 0 if direction_of(criterion).is_rising else 1
    return max(digits - math.floor(math.log10(100 * abs(value))), 1) if is_small else 1


def last_digit(value: float, criterion: str) -> float:
    """What one more in the last digit of a figure is, as people are told it.

    >>> last_digit(0.1234, "error"), last_digit(0.000376, "error"), last_digit(0.2913, "log_loss")
    (0.001, 1e-05, 0.0001)
    """
    if in_percent(criterion):
        return 10.0 ** (-_decimals(value, criterion) - 2)
    return 10.0 ** (math.floor(math.log10(abs(value))) - 3) if value else 0.0


def exactly_in_units(value: float, criterion: str) -> str:
    """A figure that somebody typed, none of its digits lost.

    >>> exactly_in_units(0.0125, "error"), exactly_in_units(0.0125, "log_loss")
    ('1.25 %', '0.0125')
    """
    return exact_percent(direction_of(criterion).reached(value)) if in_percent(criterion) else f"{value:g}"


def target_words(value: float, criterion: str, article: str = "a") -> str:
    """A target in a sentence.

    >>> target_words(0.05, "error"), target_words(0.05, "recall of spam at precision 0.9")
    ('a target of 5 %', 'recall of spam of at least 95 % at precision 90 %')
    """
    metric, level = metric_of(criterion), exactly_in_units(value, criterion)
    return f"{article} target of {level}" if metric is None else metric.at_least(level)


def range_in_units(low: float, high: float, criterion: str) -> str:
    """Between two errors, the smaller figure first.

    >>> range_in_units(0.02, 0.031, "error"), range_in_units(0.02, 0.031, "macro_f1")
    ('2-3.1 %', '96.9-98 %')
    >>> range_in_units(0.0715, math.inf, "log_loss")
    'at least 0.0715'
    """
    if not math.isfinite(high):
        return f"at least {in_units(low, criterion)}"
    first, last = (in_units(end, criterion) for end in direction_of(criterion).ends(low, high))
    return f"{first.removesuffix(' %')}-{last}"


def apart(difference: float, criterion: str) -> str:
    """A difference of two figures of a criterion: of shares in points.

    >>> apart(0.0017, "error"), apart(1.0, "error"), apart(0.0017, "log_loss")
    ('0.17 points', '100 points', '0.0017')
    """
    if not in_percent(criterion):
        return f"{difference:.2g}"
    # Two digits, and no powers of ten of what is large.
    points = f"{float(f'{100 * difference:.2g}'):g}"
    return f"{points} point{'' if points == '1' else 's'}"


def flat_beyond(source: str, labels_in_all: float, criterion: str) -> str:
    """That more labels than so many, those held included, are forecast to buy nothing."""
    what = "forecast" if source == "simulated" else "error"
    return f"The {what} does not {direction_of(criterion).goes} beyond {count(round(labels_in_all), 'label')} in all"


def ends_in_units(interval: Interval, criterion: str) -> str:
    """An interval of figures of a criterion, and how often it should hold."""
    return f"{percent(interval.level)}: {range_in_units(interval.low, interval.high, criterion)}"
