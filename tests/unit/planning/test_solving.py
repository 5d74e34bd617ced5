"""Questions answered in whole counts, against all whole numbers there are; grids of answers agree with them."""

from functools import cache
from itertools import pairwise

import numpy as np
import pytest

import labelworth as lw
from labelworth.errors import InfeasiblePlanError
from labelworth.fisher.documents.population import enumerated_information
from labelworth.planning.answer import Held
from labelworth.planning.grids import grid_solutions
from labelworth.planning.outcome import cloud, surface, worth
from labelworth.planning.situation import Situation
from labelworth.planning.solving import solved
from labelworth.planning.trust.stop import why_stop
from labelworth.tradeoff.asymptotic_accuracy import AsymptoticAccuracy
from labelworth.tradeoff.costs import ArmPrices
from labelworth.tradeoff.problem import Problem
from support.pilots import true_model

N_HELD, POOL = 30, 300


@cache
def situation(*, unlabeled_price: float = 0.0) -> Situation:
    accuracy = AsymptoticAccuracy.of(
        enumerated_information(true_model()), "excess_log_loss", held={"everything": float(N_HELD)}
    )
    held = Held("documents", N_HELD + POOL, N_HELD, N_HELD, POOL, 9, ("a", "b"), 2.0 * N_HELD, None)
    return Situation(held, accuracy, ArmPrices(("everything", "nothing"), np.array([2.0, unlabeled_price])), POOL)


@cache
def error(labels: float) -> float:
    """With the rest of the pool unlabeled."""
    return situation().accuracy.error(np.array([labels, POOL - labels]))


def brute(problem: Problem, value: float) -> int:
    """The best of all whole numbers of labels."""
    everyone = np.arange(POOL + 1)
    errors, costs = np.array([error(float(labels)) for labels in everyone]), 2.0 * everyone
    if problem == "budget":
        return int(everyone[costs <= value - 2.0 * N_HELD][-1])
    if problem == "target":
        return int(everyone[errors <= value][0])
    return int(everyone[np.argmin(costs + value * errors)])


@pytest.mark.parametrize(
    ("problem", "value"),
    [("budget", 60.0), ("budget", 161.0), ("budget", 5000.0), ("target", 0.02), ("target", 0.0137), ("alpha", 3e4)],
)
def test_whole_counts_are_the_best_there_are(problem: Problem, value: float) -> None:
    found = solved(situation(), problem, value)
    assert found.counts.tolist() == [brute(problem, value), POOL - brute(problem, value)]
    assert found.certificate is not None
    assert found.certificate.gap < 1e-6


def test_an_empty_text_among_the_classes_is_asked_about_where_it_used_a_budget_up() -> None:
    rows, labels = np.eye(40), ["a", "b"] * 10 + [""] * 20
    with pytest.raises(InfeasiblePlanError, match=r"say unlabeled=''\.$"):
        lw.plan(rows, labels, model="gaussian", budget=30)
    with pytest.raises(InfeasiblePlanError, match=r"Raise it\.$"):
        lw.plan(rows, ["a", "b"] * 20, model="gaussian", budget=30)


def test_a_budget_below_what_is_held_is_infeasible() -> None:
    with pytest.raises(InfeasiblePlanError, match="have cost 60 already") as caught:
        solved(situation(), "budget", 59.0)
    assert caught.value.nearest == 60.0


def test_priced_unlabeled_samples_are_bought_only_as_far_as_they_pay() -> None:
    dear, free = solved(situation(unlabeled_price=1.9), "budget", 200.0), solved(situation(), "budget", 200.0)
    assert dear.counts @ np.array([2.0, 1.9]) <= 140.0
    assert dear.counts[1] < free.counts[1] == POOL - 70


def test_answers_along_a_grid_are_those_of_the_questions() -> None:
    grids = grid_solutions(situation())
    for problem, answers in (("budget", grids.budgets), ("target", grids.targets), ("alpha", grids.alphas)):
        for one in answers[::4]:
            assert one.counts is not None
            exact = solved(situation(), problem, one.value).counts
            assert abs(one.counts[0] - exact[0]) <= 0.02 * POOL
            assert one.error == pytest.approx(error(one.counts[0]), rel=1e-9)
    errors = [one.error for one in grids.budgets]
    assert all(later <= earlier for earlier, later in pairwise(errors))


def test_the_worth_of_a_label_is_the_next_difference() -> None:
    counts = np.array([100.0, 200.0])
    label, unlabeled = worth(situation(), counts)
    assert label.gain == pytest.approx(error(100.0) - error(101.0), rel=0.02)
    assert label.gain_per_money == pytest.approx(label.gain / 2)
    more = situation().accuracy.error(counts) - situation().accuracy.error(counts + np.array([0.0, 1.0]))
    assert unlabeled.gain == pytest.approx(more, rel=0.02)
    assert label.unlabeled_samples == pytest.approx(label.gain / unlabeled.gain)


def test_no_point_on_the_frontier_is_beaten_and_every_other_is() -> None:
    points = cloud(situation())
    for point in points:
        beaten = [one for one in points if one.cost <= point.cost and one.error <= point.error and one != point]
        better = [one for one in beaten if one.cost < point.cost or one.error < point.error]
        assert bool(better) == (point.dominated_by is not None)
        if point.dominated_by is not None:
            assert points[point.dominated_by] in better


def test_the_surface_is_the_accuracy_of_that_many_samples() -> None:
    found = surface(situation())
    assert found is not None
    information = enumerated_information(true_model())
    for row, fraction in ((3, found.labeled_fractions[3]), (20, found.labeled_fractions[20])):
        n = found.n_samples[7]
        alone = AsymptoticAccuracy.of(information, "excess_log_loss")
        assert found.error[row][7] == pytest.approx(alone.error(n * np.array([fraction, 1 - fraction])))


@pytest.mark.parametrize(
    ("problem", "value", "labels", "word"),
    [("target", 1.0, 0.0, "is met"), ("budget", 61.0, 0.0, "does not pay"), ("alpha", 1.0, 0.0, "less than its")],
)
def test_the_reason_to_stop_is_told(problem: Problem, value: float, labels: float, word: str) -> None:
    counts = np.array([labels, POOL - labels])
    found = why_stop(situation(), problem, value, counts)
    assert found is not None
    assert word in found.words
    assert found.is_forecast == (problem != "budget")
    assert why_stop(situation(), problem, value, np.array([1.0, POOL - 1])) is None
