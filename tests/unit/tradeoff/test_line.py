"""The three problems on a line, against closed forms."""

import numpy as np
import pytest

from labelworth.errors import InfeasiblePlanError, NotIdentifiableError
from labelworth.tradeoff.cost_functions import PolicyCost
from labelworth.tradeoff.costs import ArmPrices
from labelworth.tradeoff.line import Line, best_on_lines, lines_of
from labelworth.tradeoff.problem import Question


class Hyperbola:
    """error(k, u) = scale / (held + k + 0.1 u): labels and, a tenth as good, unlabeled samples."""

    criterion = "excess_log_loss"

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


def label_line(accuracy: Hyperbola, price: float = 1.0) -> tuple[Line, ...]:
    return lines_of(accuracy, ArmPrices(accuracy.arms, np.array([price, 0.0])[: len(accuracy.arms)]), POOL)


def solve_line(accuracy: Hyperbola, price: float, kind: str, value: float) -> float:
    return best_on_lines(label_line(accuracy, price), Question(kind, value, POOL))[1]


def weight(labels: float) -> float:
    return 20.0 + labels + 0.1 * (POOL - labels)


@pytest.mark.parametrize("source", ["asymptotic", "simulated"])
def test_a_target_takes_just_enough_labels(source: str) -> None:
    found = solve_line(Hyperbola(source=source), 1.0, "target", 0.1)
    # 40 / (120 + 0.9 k) = 0.1
    assert found == pytest.approx(280 / 0.9, abs=2e-3)


@pytest.mark.parametrize("source", ["asymptotic", "simulated"])
def test_a_budget_is_spent(source: str) -> None:
    assert solve_line(Hyperbola(source=source), 2.0, "budget", 300.0) == pytest.approx(150.0)
    assert solve_line(Hyperbola(source=source), 2.0, "budget", 1e9) == POOL


def test_alpha_balances_money_and_error() -> None:
    # d/dk (k + alpha 40 / (120 + 0.9 k)) = 0
    expected = (np.sqrt(0.9 * 40 * 5000.0) - 120) / 0.9
    found = solve_line(Hyperbola(), 1.0, "alpha", 5000.0)
    assert found == pytest.approx(expected, rel=1e-4)
    assert solve_line(Hyperbola(), 1.0, "alpha", 1.0) == 0


def test_a_target_that_is_met_already_needs_no_label() -> None:
    assert solve_line(Hyperbola(), 1.0, "target", 1.0) == 0


def test_a_target_out_of_reach_is_told_with_the_nearest() -> None:
    with pytest.raises(InfeasiblePlanError, match="nearest") as caught:
        solve_line(Hyperbola(), 1.0, "target", 0.01)
    assert caught.value.nearest == pytest.approx(40 / 1020)


def test_nothing_that_identifies_is_told() -> None:
    hopeless = Hyperbola()
    hopeless.error = lambda counts: float("inf")
    with pytest.raises(NotIdentifiableError):
        solve_line(hopeless, 1.0, "budget", 10.0)


def test_the_rest_of_the_pool_stays_unlabeled() -> None:
    (line,) = label_line(Hyperbola())
    assert line.counts(250.0).tolist() == [250.0, 750.0]
    assert line.error(250.0) == pytest.approx(40 / weight(250.0))
    assert label_line(Hyperbola(n_arms=1))[0].counts(250.0).tolist() == [250.0]


def test_a_line_needs_free_unlabeled_samples() -> None:
    assert len(label_line(Hyperbola())) == 1
    assert len(label_line(Hyperbola(n_arms=1))) == 1
    assert lines_of(Hyperbola(), ArmPrices(("everything", "nothing"), np.array([1.0, 0.1])), POOL) == ()


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
    accuracy = TwoRules()
    lines = lines_of(accuracy, ArmPrices(accuracy.arms, np.array(prices)), POOL)
    line, count = best_on_lines(lines, Question(problem, value, POOL))
    assert line.step.tolist() == [float(arm == best) for arm in accuracy.arms]
    assert line.counts(count).sum() == count > 0


def test_simulated_arms_leave_the_others_alone() -> None:
    accuracy = TwoRules()
    first, second = lines_of(accuracy, ArmPrices(accuracy.arms, np.ones(2)), POOL)
    assert second.error(40.0) == pytest.approx(1.0)
    assert first.counts(3.0).tolist() == [3.0, 0.0]


@pytest.mark.parametrize("scale", [1e-12, 1.0, 1e12])
@pytest.mark.parametrize("ceiling", [0.011, 0.1, 1.0, 50.0])
@pytest.mark.parametrize("power", [0.5, 1.0, 4.0])
def test_a_ceiling_is_first_met_where_the_curve_crosses_it(scale: float, ceiling: float, power: float) -> None:
    accuracy = Hyperbola(n_arms=1)
    accuracy.error = lambda counts: np.inf if counts[0] <= 0 else (float(counts[0]) / scale) ** -power
    (line,) = label_line(accuracy)
    for low in (0.0, 1e-4 * scale):
        length = line.first_met(ceiling, low, 1e5 * scale, 1e-12 * scale)
        assert length == pytest.approx(scale * ceiling ** (-1 / power), rel=1e-9)


def test_what_is_met_from_the_start_takes_nothing() -> None:
    accuracy = Hyperbola(n_arms=1)
    assert label_line(accuracy)[0].first_met(3.0, 0.0, 5.0, 1e-9) == 0.0
    accuracy.error = lambda counts: 1.0 if counts[0] < 5.0 else 0.0
    assert label_line(accuracy)[0].first_met(0.0, 0.0, 5.0, 1e-9) == pytest.approx(5.0, abs=1e-8)


def test_the_farthest_that_a_budget_pays() -> None:
    accuracy = Hyperbola(n_arms=1)
    costs = PolicyCost(accuracy.arms, lambda policy, n: n**2)
    for most, farthest in ((100.0, np.sqrt(7.0)), (2.0, 2.0)):
        line = Line(accuracy, costs, np.zeros(1), np.ones(1), most)
        assert line.within(Question("budget", 7.0)).most == pytest.approx(farthest, rel=1e-9)


@pytest.mark.parametrize("valley", [0.0, 0.3, 2.0, 5.0])
def test_the_valley_is_found_also_at_an_end(valley: float) -> None:
    accuracy = Hyperbola(n_arms=1)
    accuracy.error = lambda counts: float(1 + (counts[0] - valley) ** 2)
    (line,) = label_line(accuracy)
    for lengths in ([0.0, 5.0], [0.0, 1.0, 5.0]):
        assert line.best(Question("budget", 1e9), np.array(lengths))[1] == pytest.approx(valley, abs=1e-4)
