"""What the page of a plan draws, as JSON values: all numbers are computed before, the page moves through them."""

from collections.abc import Iterable, Sequence
from math import isfinite
from typing import Any

from labelworth.planning.answer import Plan
from labelworth.planning.kinds import words as kind_words
from labelworth.planning.landscape import FrontierDesign, GridAnswer
from labelworth.planning.words import next_samples
from labelworth.simulation.asking import MOST_TIMES
from labelworth.tradeoff.direction import direction_of
from labelworth.tradeoff.problem import Problem, in_percent

_WIDE = 8.0
_TITLES: dict[Problem, str] = {"budget": "Budget", "target": "Target", "alpha": "Money per unit of error"}


def _reached(plan: Plan, error: float) -> float:
    return direction_of(plan.question.criterion).reached(error)


def _all_reached(plan: Plan, errors: Iterable[float | None]) -> list[float | None]:
    """Errors as the page shows them: of a metric, what is reached."""
    return [None if error is None else _reached(plan, error) for error in errors]


def page_data(plan: Plan) -> dict[str, Any]:
    """Everything the page's script needs; None stands for a picture that there is no data for."""
    answers = {problem: _with_question(plan, problem) for problem in _TITLES}
    asked = plan.question
    index = [answer.value for answer in answers[asked.problem]].index(asked.value)
    return {
        "problem": {"name": asked.problem, "index": index},
        "control": {
            problem: {
                "title": _title(plan, problem),
                "solutions": [_moved(plan, problem, answer) for answer in answers[problem]],
            }
            for problem in _TITLES
        },
        "axes": {
            "cost": "cost in all",
            "error": plan.criterion_words,
            "labels": "labels in all",
            "bought": "labels and answers" if plan.menu else "labels",
            "is_share": in_percent(asked.criterion),
            "is_metric": direction_of(asked.criterion).is_rising,
            "currency": plan.currency,
            "most_bought": _most_bought(plan),
            "error_scale": _scale([_reached(plan, point.error) for point in plan.frontier if isfinite(point.error)]),
        },
        "frontier": _frontier(plan),
        "surface": _surface(plan),
        "forecast": _forecast(plan),
        "worth": _worth(plan),
    }


def _most_bought(plan: Plan) -> float:
    """Labels up to which the control says to buy: no more than come before planning again."""
    held = plan.held
    if plan.more_pilot is not None:
        return plan.more_pilot * held.n_labels / held.n_labeled
    return float(MOST_TIMES * held.n_labels)


def _title(plan: Plan, problem: Problem) -> str:
    if problem == "alpha" and direction_of(plan.question.criterion).is_rising:
        return f"Money per unit of {plan.criterion_words}"
    return _TITLES[problem]


def _scale(errors: Sequence[float]) -> str:
    """Logarithmic where errors are positive and far apart; a narrow logarithmic axis has hardly a tick."""
    spread = errors and min(errors) > 0 and max(errors) > _WIDE * min(errors)
    return "log" if spread else "linear"


def _with_question(plan: Plan, problem: Problem) -> list[GridAnswer]:
    """The feasible answers to one kind of question, by value, the one that was asked among them."""
    grids = {"budget": plan.solutions.budgets, "target": plan.solutions.targets, "alpha": plan.solutions.alphas}
    answers = {answer.value: answer for answer in grids[problem] if answer.counts is not None}
    if problem == plan.question.problem:
        design = plan.recommended
        counts = tuple(arm.count for arm in design.arms)
        value = plan.question.value
        answers[value] = GridAnswer(value, counts, design.labels, design.cost_in_all, design.error)
    return [answers[value] for value in sorted(answers)]


def _moved(plan: Plan, problem: Problem, answer: GridAnswer) -> dict[str, Any]:
    """One answer as the control shows it."""
    counts, labels = answer.counts or (), answer.labels or 0.0
    asked = answer.value == plan.question.value
    interval = plan.open_labels if asked else None
    if interval is not None and round(interval.low) == round(interval.high):
        interval = None
    # A simulated plan learns from all documents that it does not label, or from none of them.
    keeps_rest = plan.source == "simulated" and plan.uses_unlabeled
    new = [offer.onto == "new" for offer in plan.menu] or [True] * len(counts)
    n_new = sum(count for count, is_new in zip(counts, new, strict=True) if is_new)
    n_samples = plan.held.n_samples if keeps_rest else plan.held.n_labeled + n_new
    total = plan.held.n_labels + labels
    return {
        "amount": _reached(plan, answer.value) if problem == "target" else answer.value,
        "labels": labels,
        "labels_low": None if interval is None else interval.low,
        "labels_high": None if interval is None else interval.high,
        "total_labels": total,
        "cost": answer.cost_in_all,
        "error": None if answer.error is None else _reached(plan, answer.error),
        "design": _words(plan, counts),
        "n_samples": n_samples,
        "labeled_fraction": total / n_samples if plan.held.kind == "documents" else None,
    }


def _words(plan: Plan, counts: Sequence[float]) -> str:
    """Which samples go where."""
    if plan.menu:
        return kind_words.mix(plan, counts)
    sample = plan.held.samples
    parts = [
        f"{count:,.0f} {sample} {'without a label' if arm == 'nothing' else 'whole' if arm == 'everything' else arm}"
        for arm, count in zip(plan.arms, counts, strict=True)
        if count > 0
    ]
    return ", ".join(parts) if parts else "nothing more"


def _frontier(plan: Plan) -> dict[str, Any]:
    def drawn(points: Iterable[FrontierDesign]) -> list[dict[str, Any]]:
        in_order = sorted(points, key=lambda point: point.cost)
        return [
            {"name": point.name, "cost": plan.held.cost + point.cost, "error": _reached(plan, point.error)}
            for point in in_order
        ]

    identified = [point for point in plan.frontier if isfinite(point.error)]
    return {
        "cloud": drawn(point for point in identified if point.dominated_by is not None),
        "boundary": drawn(point for point in identified if point.dominated_by is None),
    }


def _surface(plan: Plan) -> dict[str, Any] | None:
    surface = plan.surface
    if surface is None:
        return None
    return {
        "n_samples": surface.n_samples,
        "labeled_fractions": surface.labeled_fractions,
        "errors": [_all_reached(plan, row) for row in surface.error],
    }


def _forecast(plan: Plan) -> dict[str, Any] | None:
    curve = plan.forecast
    if curve is None:
        return None
    return {
        "labels": curve.labels,
        "value": _all_reached(plan, curve.error),
        "low": _all_reached(plan, curve.low),
        "high": _all_reached(plan, curve.high),
        "power_law": _all_reached(plan, curve.power_law) or None,
        "asymptotic": _all_reached(plan, curve.asymptotic) or None,
        "measured": {"labels": curve.measured_labels, "value": _all_reached(plan, curve.measured_error)},
    }


def _worth(plan: Plan) -> dict[str, Any] | None:
    """What the next labels buy along the forecast, in the units of the axis; None: it is not known."""
    curve = plan.forecast
    if curve is None or all(gain is None for gain in curve.gain):
        return None
    n_next = next_samples(plan)
    unit = 100.0 if in_percent(plan.question.criterion) else 1.0
    falls = curve.falls(n_next)

    def scaled(gains: Sequence[float | None]) -> list[float | None]:
        """Ends of the interval of a slope, around what the next labels buy."""
        known = zip(gains, curve.gain, falls, strict=True)
        return [
            None if gain is None or slope is None or fall is None else unit * (fall + n_next * (gain - slope))
            for gain, slope, fall in known
        ]

    is_known = not all(gain is None for gain in (*curve.gain_low, *curve.gain_high))
    return {
        "labels": curve.labels,
        "value": scaled(curve.gain),
        "low": scaled(curve.gain_low) if is_known else None,
        "high": scaled(curve.gain_high) if is_known else None,
    }
