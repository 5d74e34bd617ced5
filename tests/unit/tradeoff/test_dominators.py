"""Who dominates whom."""

import numpy as np

from labelworth.tradeoff.problem import dominators


def dominates(design: tuple[float, float], other: tuple[float, float]) -> bool:
    return design[0] <= other[0] and design[1] <= other[1] and design != other


def test_who_dominates_is_undominated_and_has_the_least_error() -> None:
    rng = np.random.default_rng(0)
    costs, errors = rng.uniform(0, 9, 300).round(1).tolist(), rng.uniform(0, 1, 300).round(2).tolist()
    designs = list(zip(costs, errors, strict=True))
    dominated_by = dominators(costs, errors)
    for design, by in zip(designs, dominated_by, strict=True):
        beaten = [other for other in designs if dominates(other, design)]
        assert (by is None) == (not beaten)
        if by is not None:
            assert dominates(designs[by], design)
            assert dominated_by[by] is None
            assert errors[by] == min(error for _, error in beaten)
    costs, errors = zip(*sorted({designs[i] for i, by in enumerate(dominated_by) if by is None}), strict=True)
    assert (np.diff(costs) > 0).all()
    assert (np.diff(errors) < 0).all()
    assert dominators(costs, errors) == [None] * len(costs)


def test_equal_designs_do_not_dominate_each_other() -> None:
    assert dominators([2, 1, 2, 1], [1, 2, 1, 3]) == [None, None, None, 1]
