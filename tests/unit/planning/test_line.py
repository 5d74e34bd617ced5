"""The three problems on a line, against closed forms."""

import numpy as np
import pytest

from labelworth.errors import InfeasiblePlanError, NotIdentifiableError
from labelworth.planning.line import LabelLine, OneArm, best_arm, on_line, solve_line


class Hyperbola:
    """error(k, u) = scale / (held + k + 0.1 u): labels and, a tenth as good, unlabeled samples."""

    criterion = "excess_log_loss"
    reason = ""

    def __init__(self, scale: float = 40.0, held: float = 20.0, source: str = "asymptotic", n_arms: int = 2) -> None:
        self.scale, self.held, self.source = scale, held, source
        self.arms = ("everything", "nothing")[:n_arms]
        self.labels_per_sample = np.array([1.0, 0.0])[:n_arms]

    def error(self, counts: np.ndarray) -> float:
        unlabeled = 0.1 * counts[1] if len(counts) > 1 else 0.0
        return float(self.scale / (self.held + counts[0] + unlabeled))

    def standard_error(self, counts: np.ndarray) -> float | None:
        return None


POOL = 1000.0


def weight(labels: float) -> float:
    return 20.0 + labels + 0.1 * (POOL - labels)


@pytest.mark.parametrize("source", ["asymptotic", "simulated"])
def test_a_target_takes_just_enough_labels(source: str) -> None:
    found = solve_line(LabelLine(Hyperbola(source=source), POOL), 1.0, "target", 0.1)
    # 40 / (120 + 0.9 k) = 0.1
    assert found == pytest.approx(280 / 0.9, abs=2e-3)


@pytest.mark.parametrize("source", ["asymptotic", "simulated"])
def test_a_budget_is_spent(source: str) -> None:
    assert solve_line(LabelLine(Hyperbola(source=source), POOL), 2.0, "budget", 300.0) == pytest.approx(150.0)
    assert solve_line(LabelLine(Hyperbola(source=source), POOL), 2.0, "budget", 1e9) == POOL


def test_alpha_balances_money_and_error() -> None:
    # d/dk (k + alpha 40 / (120 + 0.9 k)) = 0
    expected = (np.sqrt(0.9 * 40 * 5000.0) - 120) / 0.9
    found = solve_line(LabelLine(Hyperbola(), POOL), 1.0, "alpha", 5000.0)
    assert found == pytest.approx(expected, rel=1e-4)
    assert solve_line(LabelLine(Hyperbola(), POOL), 1.0, "alpha", 1.0) == 0


def test_a_target_that_is_met_already_needs_no_label() -> None:
    assert solve_line(LabelLine(Hyperbola(), POOL), 1.0, "target", 1.0) == 0


def test_a_target_out_of_reach_is_told_with_the_nearest() -> None:
    with pytest.raises(InfeasiblePlanError, match="nearest") as caught:
        solve_line(LabelLine(Hyperbola(), POOL), 1.0, "target", 0.01)
    assert caught.value.nearest == pytest.approx(40 / 1020)


def test_nothing_that_identifies_is_told() -> None:
    hopeless = Hyperbola()
    hopeless.error = lambda counts: float("inf")
    with pytest.raises(NotIdentifiableError):
        solve_line(LabelLine(hopeless, POOL), 1.0, "budget", 10.0)


def test_the_rest_of_the_pool_stays_unlabeled() -> None:
    line = LabelLine(Hyperbola(), POOL)
    assert line.counts_inside(np.array([250.0])).tolist() == [250.0, 750.0]
    assert line.error(np.array([250.0])) == pytest.approx(40 / weight(250.0))
    assert LabelLine(Hyperbola(n_arms=1), POOL).counts_inside(np.array([250.0])).tolist() == [250.0]


def test_a_line_needs_free_unlabeled_samples() -> None:
    assert on_line(Hyperbola(), np.array([1.0, 0.0]))
    assert on_line(Hyperbola(n_arms=1), np.array([1.0]))
    assert not on_line(Hyperbola(), np.array([1.0, 0.1]))


class TwoRules(Hyperbola):
    """Two arms that label, the second half as good; source simulated."""

    def __init__(self) -> None:
        super().__init__(source="simulated")
        self.arms = ("everything", "window:2")
        self.labels_per_sample = np.array([4.0, 2.0])

    def error(self, counts: np.ndarray) -> float:
        return float(self.scale / (self.held + counts[0] + 0.5 * counts[1]))


@pytest.mark.parametrize(("prices", "best"), [([4.0, 1.0], "window:2"), ([1.5, 1.0], "everything")])
@pytest.mark.parametrize(("problem", "value"), [("budget", 100.0), ("target", 0.5), ("alpha", 1000.0)])
def test_the_better_value_for_money_is_chosen(prices: list[float], best: str, problem: str, value: float) -> None:
    arm, count = best_arm(TwoRules(), np.array(prices), POOL, problem, value)
    assert arm.arms == (best,)
    assert arm.counts_inside(np.array([count])).sum() == count > 0


def test_one_arm_leaves_the_others_alone() -> None:
    arm = OneArm(TwoRules(), 1)
    assert arm.error(np.array([40.0])) == pytest.approx(1.0)
    assert arm.labels_per_sample.tolist() == [2.0]
