"""The cloud and its undominated boundary."""

import json

import numpy as np
import pytest

from labelworth.criteria.asymptotic import total_variance
from labelworth.data.lengths import LengthDistribution
from labelworth.errors import InvalidInputError, NotIdentifiableError
from labelworth.fisher.by_enumeration import enumerated_information
from labelworth.models.classes.multinomial import MultinomialModel
from labelworth.tradeoff.costs import ArmPrices, PolicyCost, Prices
from labelworth.tradeoff.curve_accuracy import CurveAccuracy
from labelworth.tradeoff.frontier import Frontier, FrontierPoint, frontier
from labelworth.tradeoff.matrix_accuracy import MatrixAccuracy
from labelworth.tradeoff.solve import solve
from support.menus import random_menu

PRICES = Prices(per_label=1.0, per_unlabeled=0.05)


@pytest.fixture(scope="module")
def accuracy() -> CurveAccuracy:
    model = MultinomialModel(
        ("ham", "spam"),
        np.array([0.4, 0.6]),
        np.array([[0.5, 0.3, 0.2], [0.2, 0.2, 0.6]]),
        LengthDistribution.single(4),
    )
    return CurveAccuracy(enumerated_information(model), "total_variance", held_labeled=5)


@pytest.fixture(scope="module")
def cloud(accuracy) -> Frontier:
    return frontier(accuracy, PRICES, pool=500.0)


def dominates(one: FrontierPoint, other: FrontierPoint) -> bool:
    return one.cost <= other.cost and one.error <= other.error and (one.cost, one.error) != (other.cost, other.error)


def test_the_points_are_those_of_number_and_fraction(accuracy, cloud) -> None:
    for point in cloud.points[::37]:
        labeled = 5 + point.counts[0]
        n = point.n_samples + 5
        expected = total_variance(accuracy.curve, n, np.array([labeled / n])).values[0]
        assert point.error == pytest.approx(expected)
        assert point.cost == pytest.approx(point.counts[0] + 0.05 * point.counts[1])
    assert max(point.n_samples for point in cloud.points) == pytest.approx(500.0)


def test_the_boundary_is_what_nobody_dominates(cloud) -> None:
    for place, point in enumerate(cloud.points):
        beaten = [other for other in cloud.points if dominates(other, point)]
        assert (place in cloud.boundary_places) == (not beaten)
        by = cloud.dominated_by[place]
        assert (by is None) == (not beaten)
        if by is not None:
            assert dominates(cloud.points[by], point)
            assert by in cloud.boundary_places
            assert cloud.points[by].error == min(other.error for other in beaten)
    costs, errors = zip(*[(point.cost, point.error) for point in cloud.boundary], strict=True)
    assert (np.diff(costs) > 0).all()
    assert (np.diff(errors) < 0).all()


def test_the_boundary_of_the_boundary_is_itself(cloud) -> None:
    again = Frontier(cloud.arms, cloud.boundary, cloud.criterion, cloud.source)
    assert again.boundary == cloud.boundary
    assert again.dominated_by == (None,) * len(cloud.boundary)


def test_of_equal_points_the_first_is_kept() -> None:
    points = tuple(
        FrontierPoint(cost, error, None, np.ones(1), np.ones(1), 1.0)
        for cost, error in [(2, 1), (1, 2), (2, 1), (1, 3)]
    )
    cloud = Frontier(("everything",), points, "error", "simulated")
    assert cloud.boundary_places == (1, 0)
    assert cloud.dominated_by == (None, None, 0, 1)
    assert cloud.error_at(1.5) == 2
    assert cloud.error_at(0.5) == np.inf


def test_no_point_is_better_than_the_solver_and_the_boundary_comes_close(accuracy, cloud) -> None:
    for point in cloud.boundary[5::6]:
        best = solve(accuracy, PRICES, budget=point.cost, pool=500.0).error
        assert best * (1 - 1e-9) <= point.error <= best * 1.3


def test_policies_of_any_menu() -> None:
    menu = random_menu(np.random.default_rng(2), 3, 4, n_blind=1)
    accuracy = MatrixAccuracy.of_rules(menu, "excess_log_loss")
    prices = ArmPrices(menu.rules, 0.4 * menu.expected_labels + 0.05)
    cloud = frontier(accuracy, prices, pool=50.0, n_samples=[10.0, 50.0])
    # Three pure arms and three mixtures of each pair; "nothing" alone leaves something open.
    assert len(cloud.points) + cloud.n_open == 2 * (3 + 3 * 3)
    assert cloud.n_open == 2
    chosen = frontier(accuracy, prices, pool=50.0, n_samples=[10.0], policies=[[0.2, 0.3, 0.5]])
    np.testing.assert_allclose(chosen.points[0].counts, [2.0, 3.0, 5.0])


def test_any_cost_and_plain_values(accuracy) -> None:
    costs = PolicyCost(accuracy.arms, lambda policy, n: 5 + n**0.5)
    cloud = frontier(accuracy, costs, pool=100.0, n_samples=[10.0, 100.0], labeled_fractions=[0.1, 1.0])
    plain = json.loads(json.dumps(cloud.to_dict()))
    assert plain["boundary"] == list(cloud.boundary_places)
    assert [point["cost"] for point in plain["points"]] == pytest.approx([5 + 10**0.5] * 2 + [15.0] * 2)
    assert plain["points"][0]["dominated_by"] == 1


def test_bad_input_is_told(accuracy) -> None:
    with pytest.raises(InvalidInputError, match="pool must be a positive number"):
        frontier(accuracy, PRICES, pool=np.inf)
    with pytest.raises(InvalidInputError, match="between 0 and the pool"):
        frontier(accuracy, PRICES, pool=10.0, n_samples=[20.0])
    with pytest.raises(InvalidInputError, match="instead of policies"):
        frontier(accuracy, PRICES, pool=10.0, labeled_fractions=[0.1], policies=[[1.0, 0.0]])
    with pytest.raises(InvalidInputError, match="sum to 1"):
        frontier(accuracy, PRICES, pool=10.0, policies=[[0.4, 0.4]])
    with pytest.raises(InvalidInputError, match="sum to 1"):
        frontier(accuracy, PRICES, pool=10.0, labeled_fractions=[1.2])
    menu = random_menu(np.random.default_rng(2), 3, 4, n_blind=1)
    blind = MatrixAccuracy.of_rules(menu, "total_variance")
    with pytest.raises(NotIdentifiableError, match="None of the designs"):
        frontier(blind, ArmPrices(menu.rules, np.ones(3)), pool=10.0, policies=[[0.0, 0.0, 1.0]])
