"""Scales, and curves of labels that follow from the features only in part."""

import numpy as np
import pytest

from labelworth.simulation.scales import FLOORS, from_scale, lifted, to_scale

VALUES = np.array([0.01, 0.3, 0.9])


@pytest.mark.parametrize("measure", ["error", "log_loss"])
def test_scales_are_undone(measure: str) -> None:
    np.testing.assert_allclose(from_scale(measure, to_scale(measure, VALUES)), VALUES)


@pytest.mark.parametrize("measure", ["error", "log_loss"])
def test_without_a_floor_a_curve_stays(measure: str) -> None:
    scaled = to_scale(measure, VALUES)
    np.testing.assert_allclose(lifted(measure, scaled, np.array(FLOORS[measure]))[0], scaled)


def test_labels_by_chance_add_to_the_error(seed: int) -> None:
    """A share of labels that is never what is predicted: simulated, within 5 standard errors."""
    rng, n, floor, error = np.random.default_rng(seed), 100_000, 0.2, 0.3
    follows, finds = rng.random(n) >= floor, rng.random(n) >= error
    realized = 1 - np.mean(follows & finds)
    told = from_scale("error", lifted("error", to_scale("error", np.array([error])), np.array([floor])))[0, 0]
    assert abs(realized - told) < 5 * np.sqrt(told * (1 - told) / n)


def test_log_losses_add_up() -> None:
    told = from_scale("log_loss", lifted("log_loss", to_scale("log_loss", VALUES), np.array([0.5])))
    np.testing.assert_allclose(told[0], VALUES + 0.5)
