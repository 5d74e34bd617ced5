"""Scales, and curves of labels that follow from the features only in part."""

import numpy as np
import pytest

from labelworth.simulation.scales import from_scale, lifted, to_scale

SHARES = np.array([0.0, 0.2, 0.9])
VALUES = np.array([0.01, 0.3, 0.9])


@pytest.mark.parametrize("measure", ["error", "log_loss"])
def test_scales_are_undone(measure: str) -> None:
    np.testing.assert_allclose(from_scale(measure, to_scale(measure, VALUES)), VALUES)


@pytest.mark.parametrize("measure", ["error", "log_loss"])
def test_without_a_floor_a_curve_stays(measure: str) -> None:
    scaled = to_scale(measure, VALUES)
    np.testing.assert_allclose(lifted(measure, scaled, SHARES, 0.4)[0], scaled)


def error_of(error: float, share: float, chance: float) -> float:
    told = from_scale("error", lifted("error", to_scale("error", np.array([error])), np.array([share]), chance))
    return float(told[0, 0])


def test_labels_that_ignore_the_features_are_as_wrong_as_chance(seed: int) -> None:
    """The most frequent class is named where a label does not follow: simulated, within 5 standard errors."""
    rng, n, share, error, most = np.random.default_rng(seed), 100_000, 0.4, 0.3, 0.7
    follows, finds, is_frequent = rng.random(n) >= share, rng.random(n) >= error, rng.random(n) < most
    realized = 1 - np.mean(np.where(follows, finds, is_frequent))
    told = error_of(error, share, 1 - most)
    standard_error = np.sqrt(told * (1 - told) / n)
    assert abs(realized - told) < 5 * standard_error
    # Were such labels never predicted, more errors would be told than there are.
    assert abs(realized - error_of(error, share, 1.0)) > 5 * standard_error


@pytest.mark.parametrize("measure", ["error", "log_loss"])
def test_what_is_no_better_than_chance_stays_so(measure: str) -> None:
    scaled = to_scale(measure, np.array([0.4]))
    np.testing.assert_allclose(lifted(measure, scaled, SHARES, 0.4)[:, 0], scaled[0])
