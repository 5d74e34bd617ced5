"""How far probabilities can be believed."""

import numpy as np
import pytest

from labelworth.errors import InvalidInputError
from labelworth.evaluation.calibration import calibration


def drawn(rng: np.random.Generator, n_rows: int, power: float) -> tuple[np.ndarray, np.ndarray]:
    """True classes drawn from probabilities, and what is said of these: their power."""
    honest = rng.dirichlet(np.full(3, 0.5), size=n_rows)
    truth = (rng.random(n_rows)[:, None] >= np.cumsum(honest, axis=1)).sum(axis=1)
    said = honest**power
    return said / said.sum(axis=1, keepdims=True), truth


def test_honest_probabilities_are_believed_and_sharpened_ones_are_not() -> None:
    rng = np.random.default_rng(3)
    honest = calibration(*drawn(rng, 20_000, 1.0))
    assert abs(honest.overconfidence) < 5 * honest.accuracy_se
    for group in honest.groups:
        assert group.low <= group.confidence <= group.high
        assert abs(group.right - group.confidence) < 5 * max(group.right_se, 0.5 / np.sqrt(group.n_rows))
    assert sum(group.n_rows for group in honest.groups) == 20_000
    sharpened = calibration(*drawn(rng, 20_000, 3.0))
    assert sharpened.overconfidence > 10 * sharpened.accuracy_se
    assert "surer than right" in sharpened.words
    flattened = calibration(*drawn(rng, 20_000, 0.3))
    assert "less sure than they could be" in flattened.words


def test_figures_are_those_of_a_sum_by_hand() -> None:
    found = calibration(np.array([[0.9, 0.1], [0.6, 0.4], [0.5, 0.5]]), np.array([0, 1, 0]))
    assert found.accuracy == pytest.approx(2 / 3)
    assert found.confidence == pytest.approx(2 / 3)
    assert found.log_loss == pytest.approx(-(np.log(0.9) + np.log(0.4) + np.log(0.5)) / 3)
    assert [group.n_rows for group in found.groups] == [2, 1]
    assert "can be believed as they are" in found.words


def test_nothing_is_held_against_no_rows() -> None:
    with pytest.raises(InvalidInputError, match="no row whose class is known"):
        calibration(np.empty((0, 2)), np.empty(0, dtype=int))
