"""Who dominates whom, and the undominated boundary."""

import numpy as np
import pytest

from labelworth.tradeoff.frontier import Frontier, FrontierPoint


def cloud_of(*pairs: tuple[float, float]) -> Frontier:
    points = tuple(FrontierPoint(cost, error, None, np.ones(1), np.ones(1), 1.0) for cost, error in pairs)
    return Frontier(("everything",), points, "error", "simulated")


@pytest.fixture(scope="module")
def cloud() -> Frontier:
    rng = np.random.default_rng(0)
    return cloud_of(*zip(rng.uniform(0, 9, 300).round(1), rng.uniform(0, 1, 300).round(2), strict=True))


def dominates(one: FrontierPoint, other: FrontierPoint) -> bool:
    return one.cost <= other.cost and one.error <= other.error and (one.cost, one.error) != (other.cost, other.error)


def test_the_boundary_is_what_nobody_dominates(cloud) -> None:
    for index, point in enumerate(cloud.points):
        beaten = [other for other in cloud.points if dominates(other, point)]
        assert (point in cloud.undominated) == (not beaten)
        by = cloud.dominated_by[index]
        assert (by is None) == (not beaten)
        if by is not None:
            assert dominates(cloud.points[by], point)
            assert cloud.points[by] in cloud.undominated
            assert cloud.points[by].error == min(other.error for other in beaten)
    costs, errors = zip(*[(point.cost, point.error) for point in cloud.boundary], strict=True)
    assert (np.diff(costs) > 0).all()
    assert (np.diff(errors) < 0).all()


def test_the_boundary_of_the_boundary_is_itself(cloud) -> None:
    again = Frontier(cloud.arms, cloud.boundary, cloud.criterion, cloud.source)
    assert again.boundary == cloud.boundary
    assert again.dominated_by == (None,) * len(cloud.boundary)


def test_of_equal_points_the_first_is_on_the_boundary_and_none_dominates_another() -> None:
    cloud = cloud_of((2, 1), (1, 2), (2, 1), (1, 3))
    assert cloud.boundary == (cloud.points[1], cloud.points[0])
    assert cloud.dominated_by == (None, None, None, 1)
