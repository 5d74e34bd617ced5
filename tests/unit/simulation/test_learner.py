"""Errors and log-losses, known or expected."""

import numpy as np
import pytest

from labelworth.estimators.pools.documents import ClassPrediction
from labelworth.simulation.learner import (
    code_errors,
    code_losses,
    expected_error,
    expected_log_loss,
    honest_temperature,
)


def test_places_without_label_do_not_count() -> None:
    logs = np.log([[0.2, 0.8], [0.5, 0.5], [0.9, 0.1]])
    codes = np.array([0, -1, 0])
    np.testing.assert_allclose(code_losses(logs, codes), [-np.log(0.2), np.nan, -np.log(0.9)])
    np.testing.assert_allclose(code_errors(np.array([1, 0, 0]), codes), [1.0, np.nan, 0.0])


def test_the_honest_temperature_undoes_a_wrong_one() -> None:
    rng = np.random.default_rng(0)
    honest = ClassPrediction(rng.normal(size=(4000, 3)))
    codes = honest.draw(1.0, rng)
    boastful = ClassPrediction(7.0 * honest.log_joint)
    assert honest_temperature([boastful], [codes]) == pytest.approx(7.0, rel=0.1)
    halves = [ClassPrediction(boastful.log_joint[part]) for part in (slice(0, 1500), slice(1500, None))]
    together = honest_temperature(halves, [codes[:1500], codes[1500:]])
    assert together == pytest.approx(honest_temperature([boastful], [codes]), rel=1e-9)


def test_expectations_by_enumeration_over_the_labels() -> None:
    probabilities = np.array([[0.7, 0.3], [0.0, 1.0]])
    best = np.array([0, 0])
    wrong = [
        ((best != np.array(labels)).mean(), probabilities[0, labels[0]] * probabilities[1, labels[1]])
        for labels in ((0, 0), (0, 1), (1, 0), (1, 1))
    ]
    assert expected_error(best, probabilities) == pytest.approx(sum(value * chance for value, chance in wrong))


def test_the_expected_log_loss_is_least_over_temperatures() -> None:
    rng = np.random.default_rng(1)
    truth = ClassPrediction(rng.normal(size=(500, 3)))
    probabilities = np.exp(truth.log_posteriors(1.0))
    entropy = float(-(probabilities * np.log(probabilities)).sum(axis=1).mean())
    boastful = ClassPrediction(3.0 * truth.log_joint)
    assert expected_log_loss(boastful, probabilities) == pytest.approx(entropy, rel=1e-4)
    worse = ClassPrediction(rng.normal(size=(500, 3)))
    assert expected_log_loss(worse, probabilities) > entropy + 0.05
