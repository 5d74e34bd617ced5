"""Grid and refinement, where there is no certificate."""

from dataclasses import dataclass

import numpy as np
import pytest

from labelworth.errors import InfeasiblePlanError, InvalidInputError, NotIdentifiableError
from labelworth.tradeoff.asymptotic_accuracy import AsymptoticAccuracy
from labelworth.tradeoff.cost_functions import PolicyCost
from labelworth.tradeoff.costs import ArmPrices
from labelworth.tradeoff.problem import Question
from labelworth.tradeoff.search import search
from support.menus import accuracy_of, random_menu, solved


@dataclass(frozen=True)
class Drawn:
    """An error that unlabeled samples raise in the end: more of them is not always better."""

    arms: tuple[str, ...] = ("everything", "nothing")
    criterion: str = "error"
    source: str = "simulated"

    @property
    def labels_per_sample(self) -> np.ndarray:
        return np.array([1.0, 0.0])

    def error(self, counts) -> float:
        labeled, unlabeled = counts
        if labeled <= 0:
            return np.inf
        return float(0.1 + 1 / np.sqrt(labeled) * (1 + 3 * np.exp(-unlabeled / 50)) + 2e-4 * unlabeled)

    def standard_error(self, counts) -> float:
        return 0.01


COSTS = ArmPrices(("everything", "nothing"), np.array([1.0, 0.02]))


@pytest.mark.parametrize("question", [{"budget": 60.0}, {"target": None}, {"alpha": None}])
@pytest.mark.parametrize("n_arms", [2, 3])
def test_it_comes_close_to_the_certified_optimum(question: dict, n_arms: int) -> None:
    menu = random_menu(np.random.default_rng(7), n_arms, 4, n_blind=1)
    accuracy = accuracy_of(menu, "total_variance")
    prices = ArmPrices(menu.rules, 0.4 * menu.expected_labels + 0.05)
    best = solved(accuracy, prices, budget=60.0, pool=50.0)
    values = {"budget": 60.0, "target": best.error, "alpha": 1 / best.shadow_price_of_money}
    kind = next(iter(question))
    found = search(accuracy, prices, Question.of(**{kind: values[kind], "pool": 50.0}))
    if kind == "target":
        assert found.cost <= best.cost * (1 + (1e-3 if n_arms == 2 else 0.03))
        assert best.error >= found.error
    if kind == "budget":
        assert best.error * (1 - 1e-9) <= found.error <= best.error * (1 + 1e-3)
    if kind == "alpha":
        ranks = [solution.cost + values["alpha"] * solution.error for solution in (best, found)]
        assert ranks[0] * (1 - 1e-9) <= ranks[1] <= ranks[0] * (1 + 1e-3)
    assert not found.is_certified
    assert found.gap is None
    assert not found.is_certified


def brute_force(cost_of, fits, rank):
    designs = [np.array([one, other]) for one in np.linspace(0.5, 100, 200) for other in np.linspace(0, 600, 151)]
    return min((rank(design) for design in designs if design.sum() <= 600 and fits(design)), default=np.inf)


@pytest.mark.parametrize("is_function", [False, True])
def test_an_error_that_unlabeled_samples_raise_does_not_take_them_all(is_function: bool) -> None:
    accuracy = Drawn()
    costs = PolicyCost(COSTS.arms, lambda policy, n: (policy["everything"] + 0.02 * policy["nothing"]) * n)
    chosen = costs if is_function else COSTS
    solution = solved(accuracy, chosen, budget=40.0, pool=600.0)
    best = brute_force(costs.cost, lambda design: COSTS.cost(design) <= 40.0, accuracy.error)
    assert solution.error <= best * (1 + 1e-3)
    assert solution.cost <= 40.0 * (1 + 1e-9)
    assert 50 < solution.counts[1] < 500
    cheapest = solved(accuracy, chosen, target=0.4, pool=600.0)
    least = brute_force(costs.cost, lambda design: accuracy.error(design) <= 0.4, COSTS.cost)
    assert cheapest.error <= 0.4
    assert cheapest.cost <= least * (1 + 1e-2)
    weighted = solved(accuracy, chosen, alpha=100.0, pool=600.0)
    least = brute_force(
        costs.cost, lambda design: True, lambda design: COSTS.cost(design) + 100 * accuracy.error(design)
    )
    assert weighted.cost + 100 * weighted.error <= least * (1 + 1e-3)


def test_a_cost_that_is_not_linear() -> None:
    # The first hundred labels are dear, a discount follows.
    costs = PolicyCost(
        COSTS.arms, lambda policy, n: 10 * np.sqrt(policy["everything"] * n) + 0.1 * policy["nothing"] * n
    )
    solution = solved(Drawn(), costs, budget=80.0, pool=400.0)
    designs = [np.array([one, other]) for one in np.linspace(0.5, 64, 128) for other in np.linspace(0, 400, 101)]
    fitting = [design for design in designs if design.sum() <= 400 and costs.cost(design) <= 80]
    assert solution.error <= min(Drawn().error(design) for design in fitting) * (1 + 1e-3)
    assert solution.cost <= 80 * (1 + 1e-9)


def test_what_cannot_be_met_is_told() -> None:
    with pytest.raises(InfeasiblePlanError, match="The nearest is") as caught:
        solved(Drawn(), COSTS, target=0.01, pool=600.0)
    assert 0.1 < caught.value.nearest < 0.3
    with pytest.raises(InfeasiblePlanError, match="fixed cost of 5") as caught:
        solved(Drawn(), ArmPrices(COSTS.arms, COSTS.per_sample, 5.0), budget=4.0, pool=600.0)
    assert caught.value.nearest == 5.0
    with pytest.raises(InvalidInputError, match="needs a limit"):
        solved(Drawn(), COSTS, target=0.4)
    free = ArmPrices(COSTS.arms, np.array([1.0, 0.0]))
    with pytest.raises(NotIdentifiableError, match="none that was tried"):
        solved(Drawn(), free, budget=0.0, pool=600.0)


@pytest.mark.parametrize("budget", [5.0, 5.0 + 40.0, 5.0 + 60.0, 5.0 + 1000.0])
@pytest.mark.parametrize("criterion", ["total_variance", "log_volume"])
def test_the_error_of_a_budget_is_a_target_within_it(budget: float, criterion: str) -> None:
    # No money beside the fixed part; some; exactly as much as the pool can use; more.
    menu = random_menu(np.random.default_rng(3), 2, 3, n_blind=1)
    accuracy = accuracy_of(menu, criterion, held=4 * menu.matrices[0])
    costs = ArmPrices(menu.rules, np.array([1.0, 0.1]), 5.0)
    there = search(accuracy, costs, Question.of(budget=budget, pool=60.0))
    back = search(accuracy, costs, Question.of(target=there.error, pool=60.0))
    assert there.cost <= budget * (1 + 1e-12)
    assert back.error <= there.error + 1.1e-6 * abs(there.error)
    assert back.cost <= there.cost * (1 + 1e-3)


@dataclass(frozen=True)
class Needle(Drawn):
    """An error that only even mixtures of some size make small; the grid does not meet the best of them."""

    def error(self, counts) -> float:
        if counts.sum() <= 0:
            return np.inf
        away = counts[0] / counts.sum() - 0.37
        return float(0.1 + 40 * away**2 + 1e-6 * (counts.sum() - 200) ** 2)


def test_a_target_that_the_grid_does_not_meet_is_found_by_refinement() -> None:
    directions = list(np.eye(2)) + [np.array([share, 1 - share]) for share in (0.5, 0.1, 0.9)]
    sizes = np.linspace(1, 600, 1200)
    assert min(Needle().error(size * one) for one in directions for size in sizes) > 0.2
    solution = search(Needle(), COSTS, Question.of(target=0.1001, pool=600.0))
    assert solution.error <= 0.1001
    with pytest.raises(InfeasiblePlanError) as caught:
        search(Needle(), COSTS, Question.of(target=0.0999, pool=600.0))
    # The nearest is not at the end of the pool.
    assert caught.value.nearest == pytest.approx(0.1, rel=1e-5)


class Bent(AsymptoticAccuracy):
    """Not known to be convex: a slope that shows the wrong way."""

    @property
    def is_convex(self) -> bool:
        return False

    def slope(self, counts):
        return super().slope(counts) * np.array([0.0, 1.0])


def test_what_a_bent_slope_does_not_reach_is_searched_for() -> None:
    menu = random_menu(np.random.default_rng(3), 2, 3, n_blind=1)
    held = 4 * menu.matrices[0]
    true, bent = (accuracy_of(menu, "total_variance", held=held, make=make) for make in (AsymptoticAccuracy, Bent))
    costs = ArmPrices(menu.rules, np.array([1.0, 0.1]))
    target = solved(true, costs, budget=50.0, pool=60.0).error
    found = solved(bent, costs, target=target, pool=60.0)
    assert found.error <= target
    assert found.cost == pytest.approx(50.0, rel=1e-3)
