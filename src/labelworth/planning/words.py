"""A plan in plain words: what to label, what it buys, what it costs, what the next label is worth, and why."""

import math
from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

from labelworth.fisher.criteria import CRITERIA
from labelworth.planning.answer import NORMAL_95

if TYPE_CHECKING:
    from labelworth.planning.answer import ArmCount, Interval, Plan, Worth

CRITERION_WORDS: Mapping[str, str] = MappingProxyType(
    {
        "error": "share of wrong predictions",
        "log_loss": "log-loss of predictions (nats)",
        "excess_error": "share of wrong predictions beyond those of the best possible model",
        **{name: criterion.words for name, criterion in CRITERIA.items()},
    }
)
"""What every criterion is, in words."""

UNLABELED_DATA = "unlabeled data"
"""The check that has a line of its own."""

_ROUNDING = 1e-13


def lines(plan: "Plan") -> list[str]:
    """Six lines, then a line per warning."""
    warned = [
        f"Warning: {check.words}"
        for check in plan.checks
        if check.state in ("warning", "bad") and check.name != UNLABELED_DATA
    ]
    return [
        _action(plan),
        _expectation(plan),
        _money(plan),
        _worth(plan),
        _unlabeled(plan),
        _source(plan),
        *warned,
    ]


def number(value: float | None) -> str:
    """A figure as people read it.

    >>> number(412.0), number(0.14312), number(1.2e-6), number(None)
    ('412', '0.1431', '1.2e-06', '-')
    """
    if value is None or not math.isfinite(value):
        return "-"
    if float(value).is_integer() and abs(value) < 1e9:
        return f"{int(value):,}"
    return f"{value:,.0f}" if abs(value) >= 10_000 else f"{value:.4g}"


def count(amount: float, one: str, many: str | None = None) -> str:
    """So many of them.

    >>> count(1, "document"), count(1200, "document")
    ('1 document', '1,200 documents')
    """
    return f"{number(amount)} {one if amount == 1 else many or one + 's'}"


def percent(share: float) -> str:
    """A share as people read it.

    >>> percent(0.9)
    '90 %'
    """
    return f"{100 * share:.0f} %"


def _between(interval: "Interval | None", *, whole: bool = False) -> str:
    if interval is None:
        return ""
    low, high = (round(end) if whole else end for end in (interval.low, interval.high))
    if low == high:
        return ""
    return f" ({percent(interval.level)}: {number(low)}-{number(high)})"


def _action(plan: "Plan") -> str:
    if plan.advice == "stop":
        return f"Stop labeling: {plan.why_stop}"
    if plan.advice == "larger pilot":
        return f"By this forecast no more labels are needed: {plan.why_stop} {_first(plan)}"
    design, interval = plan.recommended, _between(plan.labels_interval, whole=True)
    if plan.held.kind == "documents":
        return (
            f"Label {number(design.labels)} more {'document' if design.labels == 1 else 'documents'}{interval}: "
            f"{number(design.labels_in_all)} labels in all."
        )
    chosen = [arm for arm in design.arms if arm.labels > 0 and arm.count > 0]
    parts = " and ".join(_arm(arm) for arm in chosen)
    return (
        f"Label {parts}: {count(round(design.labels), 'more label')}{interval}, "
        f"{number(round(design.labels_in_all))} in all."
    )


def _first(plan: "Plan") -> str:
    more = plan.more_pilot or 0
    return (
        f"But the pilot of {count(plan.held.n_labels, 'label')} is too small to stop on it: label about "
        f"{count(more, 'more ' + plan.held.kind[:-1])} drawn at random (`labelworth next --count {more}`), then plan "
        "again."
    )


def _arm(arm: "ArmCount") -> str:
    samples = count(arm.count, "sequence")
    return f"{samples} whole" if arm.arm == "everything" else f"{samples} by {arm.arm}"


def _expectation(plan: "Plan") -> str:
    now = "" if plan.held.error is None else f"; with the labels held, {number(plan.held.error)}"
    criterion = plan.criterion_words[:1].upper() + plan.criterion_words[1:]
    return f"{criterion} to expect then: {number(plan.recommended.error)}{_between(plan.error_interval)}{now}."


def _money(plan: "Plan") -> str:
    design, question = plan.recommended, plan.question
    paid = f"That costs {number(design.cost)}, {number(design.cost_in_all)} with what is held"
    if question.problem == "budget":
        left = question.value - design.cost_in_all
        return f"{paid}, of a budget of {number(question.value)} ({number(max(left, 0.0))} left over)."
    if question.problem == "target":
        return f"{paid}: the least for a target of {number(question.value)}."
    return f"{paid}; one unit of error was taken to cost {number(question.value)}."


def _worth(plan: "Plan") -> str:
    labeled = [worth for worth in plan.worth if worth.arm != "nothing"]
    if not labeled:
        return "What the next label is worth is not known."
    best = max(labeled, key=lambda worth: worth.gain_per_money or worth.gain)
    sample = _next_sample(plan, best.arm)
    money = "" if best.gain_per_money is None else f", {number(best.gain_per_money)} per unit of money"
    more = ""
    if best.unlabeled_samples is not None:
        more = f"; {number(best.unlabeled_samples)} more unlabeled ones would do as much"
    opening = "After that the" if plan.advice == "label" else "The"
    if not best.is_clear:
        return f"{opening} next {sample} is forecast to buy nothing: {_no_worth(best)}."
    return f"{opening} next {sample} lowers it by {number(best.gain)}{money}{more}."


def _no_worth(worth: "Worth") -> str:
    if worth.gain <= 0:
        return "the forecast does not fall any further"
    return (
        f"its worth of {number(worth.gain)} is within the forecast's own error of {number(worth.noise)} "
        f"({NORMAL_95:g} standard errors)"
    )


def _next_sample(plan: "Plan", arm: str) -> str:
    if plan.held.kind == "documents":
        return "labeled document"
    return "sequence labeled whole" if arm == "everything" else f"sequence labeled by {arm}"


def _unlabeled(plan: "Plan") -> str:
    if plan.held.kind == "documents" and not plan.held.n_pool:
        return "There is no unlabeled data: every document has a label."
    verdict = next((check for check in plan.checks if check.name == UNLABELED_DATA), None)
    opening = "Use the unlabeled data" if plan.uses_unlabeled else "Do not use the unlabeled data"
    return f"{opening}." if verdict is None else f"{opening}: {verdict.words}"


def _source(plan: "Plan") -> str:
    proof = plan.certificate
    if proof is None:
        proved = "found by search, no certificate"
    elif proof.if_convex:
        proved = (
            "found along the slope, no certificate: sampling may have bent the curve; were it convex, no other "
            f"design would be {_better(plan, proof.gap)}"
        )
    else:
        proved = f"no other design is {_better(plan, proof.gap)}"
    return f"Figures are {plan.source} ({plan.reason}); {proved}."


def _better(plan: "Plan", gap: float) -> str:
    """By more than a gap, or at all where the gap is rounding."""
    error, cost = abs(plan.recommended.error), plan.recommended.cost_in_all
    figure = {"budget": error, "target": cost, "alpha": cost + plan.question.value * error}[plan.question.problem]
    return "better" if gap <= _ROUNDING * figure else f"better by more than {number(gap)}"
