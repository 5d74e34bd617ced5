"""The three problems: optima, certificates, shadow prices and refusals."""

from dataclasses import dataclass, replace

import numpy as np
import pytest

from labelworth.data.lengths import LengthDistribution
from labelworth.errors import InfeasiblePlanError, InvalidInputError, NotIdentifiableError
from labelworth.fisher.criteria import CRITERIA
from labelworth.fisher.documents.population import enumerated_information
from labelworth.fisher.information import over_fractions
from labelworth.models.classes.multinomial import MultinomialModel
from labelworth.tradeoff.asymptotic_accuracy import AsymptoticAccuracy
from labelworth.tradeoff.certificate import Minorant, most_gain
from labelworth.tradeoff.convex import solve_convex
from labelworth.tradeoff.costs import ArmPrices
from labelworth.tradeoff.problem import Question, Solution
from support.menus import accuracy_of, by_matrices, crossed_menu, fitting_grid, plain_error, plain_errors, random_menu

MONEY, POOL = 90.0, 60.0


@dataclass
class Setting:
    menu: object
    accuracy: AsymptoticAccuracy
    prices: ArmPrices
    held: np.ndarray | None

    def ask(self, **question) -> Solution:
        return solve_convex(self.accuracy, self.prices, Question.of(**{"pool": POOL, **question}))


SEEDS = {2: 5, 3: 7, 4: 10, 5: 10}
"""Of menus on which three arms are used at the optimum."""


def setting(criterion: str, *, n_arms: int = 3, is_held: bool = False, fixed: float = 0.0) -> Setting:
    menu = random_menu(np.random.default_rng(SEEDS[n_arms]), n_arms, 4, n_blind=1)
    held = 6 * menu.matrices[0] + 5 * menu.matrices[-1] if is_held else None
    prices = ArmPrices(menu.rules, menu.expected_labels * 0.4 + 0.05, fixed)
    return Setting(menu, accuracy_of(menu, criterion, held=held), prices, held)


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("is_held", [False, True])
@pytest.mark.parametrize(("n_arms", "steps"), [(2, 2000), (3, 200), (4, 70)])
def test_the_optimum_is_that_of_a_fine_grid_over_all_designs(criterion, is_held, n_arms, steps) -> None:
    case = setting(criterion, n_arms=n_arms, is_held=is_held)
    solution = case.ask(budget=MONEY)
    designs = fitting_grid(case.prices.per_sample, MONEY, POOL, steps)
    # What leaves a direction open has no error.
    totals = np.tensordot(designs, case.menu.matrices, axes=1) + (0 if case.held is None else case.held)
    designs = designs[np.linalg.eigvalsh(totals)[:, 0] > 1e-6]
    best = plain_errors(case.menu, criterion, designs, case.held).min()
    slack = 0.02 if criterion == "log_volume" else 0.01 * best
    assert best - slack <= solution.error <= best + 1e-9 * abs(best)
    assert solution.error == pytest.approx(plain_error(case.menu, criterion, solution.counts, case.held), rel=1e-9)
    assert solution.cost <= MONEY * (1 + 1e-12)
    assert solution.counts.sum() <= POOL * (1 + 1e-12)
    assert solution.counts.min() >= 0


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("question", [{"budget": 70.0}, {"target": None}, {"alpha": None}])
@pytest.mark.parametrize("is_held", [False, True])
def test_every_gap_is_below_a_hundred_millionth(criterion: str, question: dict, is_held: bool) -> None:
    case = setting(criterion, n_arms=5, is_held=is_held)
    reference = case.ask(budget=70.0)
    values = {"budget": 70.0, "target": reference.error, "alpha": 1 / reference.shadow_price_of_money}
    kind = next(iter(question))
    solution = case.ask(**{kind: values[kind]})
    figures = {
        "budget": 1.0 if criterion == "log_volume" else solution.error,
        "target": solution.cost,
        "alpha": values["alpha"] if criterion == "log_volume" else solution.cost + values["alpha"] * solution.error,
    }
    assert 0 <= solution.gap <= 1e-8 * figures[kind]
    assert solution.is_certified
    # All three are the same design, seen from three sides.
    assert solution.cost == pytest.approx(70.0, rel=1e-6)
    assert solution.error == pytest.approx(reference.error, rel=1e-7)


@pytest.mark.parametrize("n_free", [2, 3, 5])
def test_an_optimum_with_a_multiple_eigenvalue_is_certified(n_free: int) -> None:
    menu = crossed_menu(n_free)
    accuracy = accuracy_of(menu, "worst_direction")
    prices = ArmPrices(menu.rules, menu.expected_labels)
    solution = solve_convex(accuracy, prices, Question.of(budget=40.0, pool=100.0))
    eigenvalues = np.linalg.eigvalsh(np.linalg.inv(np.tensordot(solution.counts, menu.matrices, axes=1)))
    assert eigenvalues[0] == pytest.approx(eigenvalues[-1], rel=1e-4)
    assert solution.is_certified
    # By symmetry: the money goes to all directions alike.
    information = 40.0 * (0.02 + 0.9 / n_free)
    assert solution.error == pytest.approx(1 / information, rel=1e-8)
    reached = solve_convex(accuracy, prices, Question.of(target=solution.error, pool=100.0))
    assert reached.cost == pytest.approx(40.0, rel=1e-7)
    assert reached.is_certified


def test_the_gap_of_another_design_is_large_and_true() -> None:
    case = setting("total_variance", n_arms=4)
    solution = case.ask(budget=MONEY)
    corner = np.array([MONEY / case.prices.per_sample[0], 0.0, 0.0, 0.0])
    for counts in (solution.counts * 0.8, solution.counts * 0.99, 0.9 * solution.counts + 0.1 * corner):
        error, slope = case.accuracy.error(counts), case.accuracy.slope(counts)
        plane = Minorant.tangent(counts, error, slope)
        gap = error - plane.intercept + most_gain(plane.worth, case.prices.per_sample, MONEY, POOL).value
        assert gap > 1e-4 * error
        assert gap >= error - solution.error


def test_a_wrong_slope_is_caught_by_the_grid() -> None:
    case = setting("total_variance", n_arms=4)

    class Crooked(AsymptoticAccuracy):
        def slope(self, counts):
            return super().slope(counts) * np.array([3.0, 1.0, 1.0, 1.0])

    crooked = solve_convex(Crooked(case.menu, "total_variance"), case.prices, Question.of(budget=MONEY, pool=POOL))
    designs = fitting_grid(case.prices.per_sample, MONEY, POOL, 30)
    best = np.nanmin(plain_errors(case.menu, "total_variance", designs[designs[:, 0] > 0]))
    assert crooked.error > best * (1 + 1e-3)


@pytest.mark.parametrize("criterion", CRITERIA)
def test_bigger_budgets_and_pools_are_never_worse(criterion: str) -> None:
    case = setting(criterion, n_arms=4, is_held=True)
    errors = [case.ask(budget=money).error for money in (5.0, 20.0, 60.0, 150.0, 1000.0)]
    assert (np.diff(errors) <= 1e-9 * np.abs(errors[:-1])).all()
    errors = [case.ask(budget=30.0, pool=pool).error for pool in (10.0, 40.0, 200.0)]
    assert (np.diff(errors) <= 1e-9 * np.abs(errors[:-1])).all()


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("is_held", [False, True])
def test_shadow_prices_are_finite_differences(criterion: str, is_held: bool) -> None:
    case = setting(criterion, n_arms=4, is_held=is_held)
    solution = case.ask(budget=MONEY)
    money = (case.ask(budget=MONEY - 0.02).error - case.ask(budget=MONEY + 0.02).error) / 0.04
    sample = (case.ask(budget=MONEY, pool=POOL - 0.02).error - case.ask(budget=MONEY, pool=POOL + 0.02).error) / 0.04
    scale = 1e-6 * abs(solution.error)
    assert solution.shadow_price_of_money == pytest.approx(money, rel=2e-3, abs=scale)
    assert solution.shadow_price_of_sample == pytest.approx(sample, rel=2e-3, abs=scale)
    assert solution.shadow_price_of_money > scale
    assert solution.cost == pytest.approx(MONEY, rel=1e-7)


def test_shadow_prices_of_a_target_and_of_a_weight_are_those_of_the_budget() -> None:
    case = setting("excess_log_loss", n_arms=4)
    solution = case.ask(budget=MONEY)
    for other in (case.ask(target=solution.error), case.ask(alpha=1 / solution.shadow_price_of_money)):
        assert other.shadow_price_of_money == pytest.approx(solution.shadow_price_of_money, rel=1e-5)
        assert other.shadow_price_of_sample == pytest.approx(
            solution.shadow_price_of_sample, rel=1e-4, abs=1e-6 * solution.error
        )


@pytest.fixture(scope="module")
def information():
    model = MultinomialModel(
        ("ham", "spam"),
        np.array([0.4, 0.6]),
        np.array([[0.5, 0.3, 0.2], [0.2, 0.2, 0.6]]),
        LengthDistribution.single(4),
    )
    return enumerated_information(model)


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("make", [AsymptoticAccuracy.of, by_matrices])
def test_two_arms_give_the_best_number_of_samples_and_labeled_fraction(information, criterion: str, make) -> None:
    accuracy = make(information, criterion, held={"everything": 20, "nothing": 30})
    prices = ArmPrices(("everything", "nothing"), np.array([1.0, 0.12]))
    solution = solve_convex(accuracy, prices, Question.of(budget=100.0, pool=500.0))
    # The whole line of designs that spend the budget within the pool, from (n, labeled fraction).
    labeled = np.linspace((100 - 0.12 * 500) / 0.88, 100.0, 2001)
    unlabeled = np.minimum((100.0 - labeled) / 0.12, 500.0 - labeled)
    n = labeled + unlabeled + 50
    line = np.array(
        [
            over_fractions(information, criterion, np.array([(one + 20) / size]), n_samples=size).values[0]
            for size, one in zip(n, labeled, strict=True)
        ]
    )
    best = int(np.argmin(line))
    assert solution.error <= line[best] + 1e-12 * abs(line[best])
    assert solution.error == pytest.approx(line[best], rel=1e-6)
    assert solution.counts[0] == pytest.approx(labeled[best], abs=0.1)
    assert solution.is_certified


def test_free_unlabeled_samples_drive_the_number_of_samples_to_the_pool(information) -> None:
    accuracy = AsymptoticAccuracy.of(information, "total_variance")
    prices = ArmPrices(("everything", "nothing"), np.array([1.0, 0.0]))
    solution = solve_convex(accuracy, prices, Question.of(budget=25.0, pool=5000.0))
    np.testing.assert_allclose(solution.counts, [25.0, 4975.0], rtol=1e-9)
    assert solution.cost == pytest.approx(25.0, rel=1e-7)
    with pytest.raises(InvalidInputError, match="Nothing limits the design: nothing is free"):
        solve_convex(accuracy, prices, Question.of(budget=25.0))


def test_without_a_pool_prices_limit_the_design(information) -> None:
    accuracy = AsymptoticAccuracy.of(information, "total_variance")
    prices = ArmPrices(("everything", "nothing"), np.array([1.0, 0.12]))
    solution = solve_convex(accuracy, prices, Question.of(budget=100.0))
    # Nothing is held: the error is inverse to the money, and so is worth error / money.
    assert solution.shadow_price_of_money == pytest.approx(solution.error / 100.0, rel=1e-8)
    reached = solve_convex(accuracy, prices, Question.of(target=solution.error / 10))
    assert reached.cost == pytest.approx(1000.0, rel=1e-8)
    # min c + alpha k / c at c = sqrt(alpha k).
    weighted = solve_convex(accuracy, prices, Question.of(alpha=7.0))
    assert weighted.cost == pytest.approx(np.sqrt(7.0 * solution.error * 100.0), rel=1e-6)
    assert weighted.is_certified
    with pytest.raises(InvalidInputError, match="needs a pool"):
        solve_convex(AsymptoticAccuracy.of(information, "log_volume"), prices, Question.of(alpha=1.0))
    with pytest.raises(InvalidInputError, match="positive target"):
        solve_convex(accuracy, prices, Question.of(target=0.0))


def test_the_fixed_part_comes_off_the_budget() -> None:
    plain, fixed = setting("total_variance"), setting("total_variance", fixed=30.0)
    one, other = plain.ask(budget=MONEY), fixed.ask(budget=MONEY + 30.0)
    np.testing.assert_allclose(one.counts, other.counts, rtol=1e-9)
    assert other.cost == pytest.approx(one.cost + 30.0)
    with pytest.raises(InfeasiblePlanError, match="fixed cost of 30") as caught:
        fixed.ask(budget=29.0)
    assert caught.value.nearest == 30.0


def test_a_target_out_of_reach_is_told_with_the_nearest() -> None:
    case = setting("total_variance")
    with pytest.raises(InfeasiblePlanError, match="The nearest is") as caught:
        case.ask(target=1e-6)
    nearest = caught.value.nearest
    everything = np.array([POOL, 0.0, 0.0])
    assert nearest == pytest.approx(case.accuracy.error(everything), rel=1e-8)
    assert case.ask(target=nearest * (1 + 1e-6)).error <= nearest * (1 + 1e-6)


def test_a_target_that_is_met_already_costs_nothing() -> None:
    case = setting("total_variance", is_held=True)
    held = case.accuracy.error(np.zeros(3))
    solution = case.ask(target=held * 1.01)
    assert solution.cost == 0.0
    assert solution.error <= held * 1.01


def test_an_error_that_is_zero_already_is_a_target_without_a_pool_too() -> None:
    # Where nothing is learned of p(x), its log-loss has no excess.
    menu = random_menu(np.random.default_rng(7), 3, 4)
    blind = replace(menu, matrices=np.stack([*menu.matrices[:-1], 0 * menu.matrices[-1]]))
    accuracy = accuracy_of(blind, "excess_marginal_log_loss", held=2 * blind.matrices[0])
    solution = solve_convex(accuracy, ArmPrices(blind.rules, np.ones(3)), Question.of(target=0.0))
    assert solution.cost == 0.0
    assert solution.is_certified


def test_a_menu_that_cannot_tell_says_what_stays_open() -> None:
    case = setting("total_variance")
    accuracy = accuracy_of(case.menu, "total_variance", arms=["nothing"])
    prices = ArmPrices(("nothing",), np.array([1.0]))
    with pytest.raises(
        NotIdentifiableError, match="No mixture of nothing pins the model down; it leaves open"
    ) as caught:
        solve_convex(accuracy, prices, Question.of(budget=10.0, pool=10.0))
    assert caught.value.directions


def test_labels_count_beside_very_many_samples_without() -> None:
    # One label in 1e12 is lost in rounding, 1e5 of them are not.
    menu = random_menu(np.random.default_rng(7), 3, 4, n_blind=1)
    accuracy = accuracy_of(menu, "total_variance", held=1e12 * menu.matrices[-1])
    assert not np.isfinite(accuracy.error(np.ones(3)))
    prices = ArmPrices(menu.rules, menu.expected_labels * 0.4 + 0.05)
    solution = solve_convex(accuracy, prices, Question.of(budget=1e5 * prices.per_sample[0], pool=1e6))
    assert solution.is_certified
    assert solution.error <= accuracy.error(np.array([1e5, 0.0, 0.0])) * (1 + 1e-9)


def test_a_budget_that_buys_no_label_says_so() -> None:
    case = setting("total_variance")
    prices = ArmPrices(case.menu.rules, np.array([4.0, 2.0, 0.0]))
    with pytest.raises(NotIdentifiableError, match="Allow more labels"):
        solve_convex(case.accuracy, prices, Question.of(budget=0.0, pool=POOL))


def test_a_hopeless_price_of_error_buys_nothing() -> None:
    case = setting("total_variance", is_held=True)
    solution = case.ask(alpha=1e-6)
    assert solution.cost == pytest.approx(0.0, abs=1e-9)
    assert solution.is_certified


@pytest.mark.parametrize("criterion", ["total_variance", "log_volume"])
@pytest.mark.parametrize("alpha", [1e-3, 1.0, 1e3])
def test_a_pool_far_larger_than_the_best_design_does_not_matter(criterion: str, alpha: float) -> None:
    case = setting(criterion, n_arms=4)
    small, large = case.ask(alpha=alpha, pool=1e5), case.ask(alpha=alpha, pool=1e7)
    assert large.is_certified
    assert large.cost == pytest.approx(small.cost, rel=1e-4)
    assert large.counts.sum() < 1e5


def test_prices_of_other_arms_are_refused() -> None:
    case = setting("total_variance")
    prices = ArmPrices(("everything", "nothing"), np.ones(2))
    with pytest.raises(InvalidInputError, match="Give the same arms"):
        solve_convex(case.accuracy, prices, Question.of(budget=10.0, pool=POOL))
