"""Functions of one length."""

import numpy as np
import pytest

from labelworth.tradeoff.line_search import farthest, first_met, golden_section


@pytest.mark.parametrize("scale", [1e-12, 1.0, 1e12])
@pytest.mark.parametrize("ceiling", [0.011, 0.1, 1.0, 50.0])
@pytest.mark.parametrize("power", [0.5, 1.0, 4.0])
def test_a_ceiling_is_first_met_where_the_curve_crosses_it(scale: float, ceiling: float, power: float) -> None:
    def excess(length: float) -> float:
        return np.inf if length <= 0 else (length / scale) ** -power - ceiling

    for low in (0.0, 1e-4 * scale):
        length = first_met(excess, low, 1e5 * scale)
        assert excess(length) <= 0
        assert length == pytest.approx(scale * ceiling ** (-1 / power), rel=1e-9)


def test_few_questions_where_the_curve_is_nearly_a_line() -> None:
    asked = []

    def excess(length: float) -> float:
        asked.append(length)
        return 1 / length - 1 / 1.37

    assert first_met(excess, 1.0, 2.0) == pytest.approx(1.37, rel=1e-12)
    assert len(asked) < 16


def test_what_is_met_from_the_start_takes_nothing() -> None:
    assert first_met(lambda length: -1.0, 0.0, 5.0) == 0.0
    assert first_met(lambda length: 1.0 if length < 5.0 else 0.0, 0.0, 5.0) == 5.0


def test_the_farthest_that_fits() -> None:
    assert farthest(lambda length: length**2 <= 7.0, 100.0) == pytest.approx(np.sqrt(7.0), rel=1e-9)
    assert farthest(lambda length: length**2 <= 7.0, 2.0) == 2.0


@pytest.mark.parametrize("place", [0.0, 0.3, 2.0, 5.0])
def test_the_valley_is_found_also_at_an_end(place: float) -> None:
    assert golden_section(lambda x: (x - place) ** 2, 0.0, 5.0) == pytest.approx(place, abs=1e-4)
