"""What a plan says in one place never contradicts what it says in another, over plans of many kinds."""

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from labelworth.data.kept import Checkpoint
from labelworth.planning.answer import Held, Interval, Plan, PlanQuestion
from labelworth.planning.assembly import Background, assemble
from labelworth.planning.landscape import ForecastCurve
from labelworth.planning.simulated import ForecastLine, SimulatedAccuracy
from labelworth.planning.situation import Band, Situation
from labelworth.simulation.asking import MOST_TIMES
from labelworth.tradeoff.costs import ArmPrices

HELD = 60
SIZES = np.array([60.0, 100.0, 200.0, 700.0, 3060.0])
CURVES = {
    "falling": np.array([0.20, 0.17, 0.14, 0.11, 0.09]),
    "slow": np.array([0.20, 0.199, 0.197, 0.195, 0.193]),
    "flat": np.full(5, 0.05),
    "dipping": np.array([0.20, 0.18, 0.17, 0.19, 0.20]),
    "rising": np.array([0.10, 0.101, 0.102, 0.104, 0.105]),
}
QUESTIONS = (
    ("budget", 60.0),
    ("budget", 200.0),
    ("budget", 5000.0),
    ("target", 0.03),
    ("target", 0.12),
    ("target", 0.18),
    ("target", 0.4),
    ("alpha", 10.0),
    ("alpha", 3000.0),
    ("alpha", 1e6),
)


def accuracy(values: np.ndarray, slope_error: float) -> SimulatedAccuracy:
    line, slope = ForecastLine(SIZES, values), ForecastLine(SIZES, np.full(5, slope_error))
    return SimulatedAccuracy(("everything",), (line,), np.ones(1), line.at(HELD), np.array([HELD]), "error", (slope,))


def planned(values: np.ndarray, spread: float, pool: int, problem: str, value: float) -> Plan:
    held = Held("documents", HELD + pool, HELD, HELD, pool, 9, ("a", "b"), float(HELD), None)
    band = Band(accuracy(values * (1 - spread), 1e-5), accuracy(np.minimum(values * (1 + spread), 0.9), 1e-5))
    prices = ArmPrices(("everything",), np.ones(1))
    own = accuracy(values, 1e-4 * spread)
    situation = Situation(held, own, prices, float(pool), keeps_rest=True, doubt=band).with_error_of_today()
    sizes = np.unique(np.rint(np.geomspace(HELD, HELD + pool, 12)))
    curve = ForecastCurve(
        tuple(sizes.tolist()),
        *(tuple(part.lines[0].at(size) for size in sizes) for part in (own, band.low, band.high)),
    )
    question = PlanQuestion(problem, value, "error")
    background = Background(True, "asked for", (), (), {}, "multinomial", 0)
    return assemble(situation, question, background, checkpoint=Checkpoint(None, {}), forecast=curve)


def answers() -> Iterator[tuple[float, Plan]]:
    """How many can be asked for at most, and the plan, or the one for the nearest that can be had."""
    for values, spread, pool, question in product(CURVES.values(), (0.05, 0.6), (8, 3000), QUESTIONS):
        yield min(pool, MOST_TIMES * HELD), planned(values, spread, pool, *question)


_BARE = re.compile(r"(?<!worth )(?<!cost )(?<![\d.,=-])0\.\d+(?![\d.]*(-[\d.]+)? (%|points?))")
"""A share that is not percent; what an error is worth, or costs, is money."""


def contradictions(plan: Plan) -> list[str]:
    """What is said in one place and denied in another, in short."""
    lines, held, design = plan.lines()[0 if plan.refusal is None else 1 :], plan.held, plan.recommended
    headlines = ("Label ", "Stop labeling:")
    if plan.refusal is not None:
        headlines = ("The best that can be had: label ", "The labels held are the best that can be had:")
    text = "\n".join([*lines, *plan.notes])
    most = min(held.n_pool, MOST_TIMES * held.n_labeled)
    limit = plan.limit
    numbers = re.findall(r"(?:Label|--count) (\d[\d,]*)", lines[0]) + re.findall(r"(\d[\d,]*) more would make", text)
    asked = [int(number.replace(",", "")) for number in numbers]
    curve = plan.forecast
    bands = [] if curve is None else list(zip(curve.low, curve.error, curve.high, strict=True))
    said_nothing = "more labels buy nothing" in text or "more labels buy next to nothing" in text
    wrong = {
        "the headline is not the advice": not lines[0].startswith(headlines[plan.advice == "stop"]),
        "stop beside labels to buy": plan.advice == "stop" and (design.labels > 0 or "plan again" in text),
        "label beside nothing to buy": plan.advice == "label" and not design.labels > 0,
        "a pilot beside another advice": (plan.more_pilot is not None) != (plan.advice == "larger pilot"),
        "odds beside another advice": plan.odds is not None and plan.advice != "larger pilot",
        "more than there are, or ten times the pilot": max(asked, default=0) > most,
        "more money than there is": plan.question.problem == "budget"
        and plan.advice == "label"
        and design.cost_in_all > plan.question.value + 1e-9,
        "a target that is not met": plan.question.problem == "target"
        and not plan.is_open
        and design.error > plan.question.value,
        "an open target that is met or refused": plan.is_open
        and (design.error <= plan.question.value or plan.refusal is not None or plan.advice != "larger pilot"),
        "two things to do": plan.advice == "larger pilot" and len(re.findall("plan again", text)) > 1,
        "an interval beside its figure": any(
            interval is not None and not interval.low <= figure <= interval.high
            for interval, figure in (
                (plan.error_interval, design.error),
                (plan.labels_interval, design.labels),
                (None if limit is None else limit.interval, 0.0 if limit is None else limit.error),
            )
        )
        or any(None not in band and not band[0] <= band[1] <= band[2] for band in bands),
        "an error that is no percent": _BARE.search(text) is not None,
        "labels to buy that buy nothing": plan.advice == "label" and said_nothing,
        "odds out of range": plan.odds is not None and not 0 <= plan.odds.odds <= 1,
    }
    return [what for what, is_so in wrong.items() if is_so]


def test_plans_do_not_contradict_themselves() -> None:
    kinds, opened = set(), 0
    for most, plan in answers():
        refused = plan.refusal
        if refused is not None:
            assert "reaches error" in refused
            assert _BARE.search(refused) is None
            assert all(int(number.replace(",", "")) <= most for number in re.findall(r"(\d[\d,]*) more", refused))
        assert contradictions(plan) == [], (plan.question, plan.lines())
        kinds.add((plan.advice, plan.question.problem, plan.odds is not None, refused is not None))
        opened += plan.is_open
    assert {advice for advice, *_, refused in kinds if not refused} == {"label", "stop", "larger pilot"}
    # A forecast that stops to fall where the labels held are, with an interval that misses the target.
    assert {advice for advice, *_, refused in kinds if refused} >= {"stop", "larger pilot"}
    assert opened
    assert ("larger pilot", "target", True, False) in kinds


LABEL = planned(CURVES["falling"], 0.05, 500, "budget", 200.0)
STOP = planned(CURVES["falling"], 0.05, 500, "target", 0.4)
PILOT = planned(CURVES["falling"], 0.6, 500, "alpha", 10.0)


@pytest.mark.parametrize(
    ("plan", "what"),
    [
        (replace(STOP, recommended=LABEL.recommended), "stop beside labels to buy"),
        (replace(LABEL, recommended=STOP.recommended), "label beside nothing to buy"),
        (replace(LABEL, more_pilot=5), "a pilot beside another advice"),
        (replace(PILOT, more_pilot=501), "more than there are, or ten times the pilot"),
        (replace(LABEL, question=replace(LABEL.question, value=100.0)), "more money than there is"),
        (replace(STOP, question=replace(STOP.question, value=0.1)), "a target that is not met"),
        (replace(LABEL, error_interval=Interval(0.3, 0.4)), "an interval beside its figure"),
        (replace(LABEL, notes=("The error is 0.14.",)), "an error that is no percent"),
    ],
)
def test_contradictions_are_found(plan: Plan, what: str) -> None:
    assert what in contradictions(plan)
    assert what not in [*contradictions(LABEL), *contradictions(STOP), *contradictions(PILOT)]
