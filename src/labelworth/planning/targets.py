"""Targets as people say them: a number, or a sentence such as "recall of spam >= 95% at precision 90%"."""

import re

from labelworth.errors import InvalidInputError
from labelworth.simulation.metrics import FIGURE, PERCENT, metric_of, share_of
from labelworth.tradeoff.costs import is_finite_number
from labelworth.tradeoff.direction import direction_of
from labelworth.wording import exact_percent

_SENTENCE = re.compile(
    rf"(?P<name>.+?)(?: +of)? *(?P<sign>>=|<=|≥|≤|>|<|\bat least\b|\bat most\b) *{FIGURE}"
    r"(?P<rest> +at +(?:precision|recall)\b.*)?",
    re.IGNORECASE,
)
_PERCENT = re.compile(rf"(?P<figure>[0-9.]+) ?(?:{PERCENT})", re.IGNORECASE)
_AT_LEAST = (">=", "≥", ">", "at least")


def read_target(target: float | str | None, criterion: str | None) -> tuple[float | None, str | None]:
    """The target as an error, and the criterion that it is of; of a metric the error is what is missing to one.

    >>> read_target("recall of spam >= 95% at precision 90%", None)
    (0.05, 'recall of spam at precision 0.9')
    >>> read_target(0.9, "macro-F1"), read_target("5%", None), read_target(0.3, "log_loss")
    ((0.1, 'macro_f1'), (0.05, None), (0.3, 'log_loss'))
    >>> read_target("accuracy >= 95%", None)
    (0.05, 'error')

    Raises
    ------
    InvalidInputError
        If a sentence cannot be read, speaks of another criterion than the one named, or asks a metric to be small.
    """
    if criterion is not None:
        criterion = canonical(criterion)
    if isinstance(target, str):
        target, named, is_least = _read(target)
        if named is not None:
            criterion = _same(named, criterion)
            _require_direction(named, is_least=is_least)
    metric = None if criterion is None else metric_of(criterion)
    # What is no number is refused where all questions are.
    if metric is None or target is None or not is_finite_number(target):
        return target, criterion
    if not 0 < target < 1:
        raise InvalidInputError(
            f"target, a {metric.words}, must be above 0 % and below 100 %, as 0.9 or '90%'. Got {target:g}, which is "
            f"{exact_percent(float(target))}."
        )
    # Decimals as they were typed: 1 - 0.95 is 0.05.
    return float(f"{1 - float(target):.12g}"), criterion


def canonical(criterion: str) -> str:
    """The name of a criterion, of metrics in the one way in which records keep it."""
    metric = metric_of(criterion)
    return criterion if metric is None else metric.spec


def _read(text: str) -> tuple[float, str | None, bool]:
    """The figure, the criterion if one is named, and whether the figure is the least of it."""
    try:
        return float(text), None, False
    except ValueError:
        pass
    if (match := _PERCENT.fullmatch(text.strip())) is not None:
        return share_of(match["figure"], "%", text), None, False
    match = _SENTENCE.fullmatch(text.strip())
    if match is None:
        raise InvalidInputError(
            "target must be a number, or say what is to be reached: 'error <= 5%', 'macro-F1 >= 90%', 'recall of "
            f"spam >= 95% at precision 90%'. Got {text!r}."
        )
    name = canonical((match["name"] + (match["rest"] or "")).strip())
    if metric_of(name) is None:
        name = re.sub(r"[- ]", "_", name.lower())
    if name == "log_loss" and match["percent"]:
        nats = f"{float(match['figure']) / 100:.12g}"
        raise InvalidInputError(
            f"Log-loss is in nats per prediction, and no share: 'log-loss <= {nats}' asks for {nats} nats. Got "
            f"{text!r}."
        )
    value = float(match["figure"]) if name == "log_loss" else share_of(match["figure"], match["percent"], text)
    is_least = match["sign"].lower() in _AT_LEAST
    if name == "accuracy":
        return float(f"{1 - value:.12g}"), "error", not is_least
    if is_least and metric_of(name) is None and name not in ("error", "log_loss"):
        raise InvalidInputError(
            f"What is to be at least so much is accuracy, macro-F1, or recall or precision of a class. Got {text!r}."
        )
    return value, name, is_least


def _same(named: str, criterion: str | None) -> str:
    if criterion is not None and criterion != named:
        raise InvalidInputError(
            f"The target is of {_said(named)}, and criterion={criterion!r}. Leave one of them out."
        )
    return named


def _require_direction(criterion: str, *, is_least: bool) -> None:
    is_rising = direction_of(criterion).is_rising
    if is_least == is_rising:
        return
    how, sign = ("at least", ">=") if is_rising else ("at most", "<=")
    raise InvalidInputError(f"A target says what is to be reached: {_said(criterion)} {how} so much ({sign}).")


def _said(criterion: str) -> str:
    metric = metric_of(criterion)
    return criterion if metric is None else metric.words
