"""Bayes' rule with evidence, against the formula written out."""

import numpy as np
import pytest

from labelworth.data.evidence import Evidence
from labelworth.models.classes.responsibilities import condition, normalize
from support.oracles import dense_evidence


def test_responsibilities_are_bayes_rule_with_evidence(seed: int) -> None:
    rng = np.random.default_rng(seed)
    log_joint = rng.standard_normal((5, 3)) - 3
    weights = np.array([[1.0, 0.0, 1.0], [0.2, 0.7, 0.4]])
    codes = np.array([1, -1, -2, 0, -3])
    joint = np.exp(log_joint) * dense_evidence(codes, 3, weights)
    responsibilities, log_evidence = condition(log_joint, Evidence(codes, ("a", "b", "c"), weights))
    np.testing.assert_allclose(responsibilities, joint / joint.sum(axis=1, keepdims=True), rtol=1e-13)
    np.testing.assert_allclose(log_evidence, np.log(joint.sum(axis=1)), rtol=1e-13)


def test_the_given_log_joint_is_left_alone() -> None:
    log_joint = np.zeros((1, 2))
    condition(log_joint, Evidence(np.array([0]), ("a", "b")))
    np.testing.assert_array_equal(log_joint, 0.0)


def test_very_small_probabilities_do_not_underflow() -> None:
    log_weights = np.array([[-5000.0, -5001.0], [-np.inf, -1e6]])
    log_sums = normalize(log_weights)
    np.testing.assert_allclose(log_weights[0], [1 / (1 + np.exp(-1)), 1 / (1 + np.e)], rtol=1e-12)
    np.testing.assert_allclose(log_sums, [-5000 + np.log1p(np.exp(-1)), -1e6], rtol=1e-12)


def test_an_impossible_row_belongs_to_no_class() -> None:
    log_weights = np.full((1, 3), -np.inf)
    assert np.isneginf(normalize(log_weights)).all()
    np.testing.assert_array_equal(log_weights, 0.0)


@pytest.mark.parametrize("code", [0, 1])
def test_a_gold_label_is_certain_whatever_the_features_say(code: int) -> None:
    responsibilities, log_evidence = condition(np.array([[-700.0, 0.0]]), Evidence(np.array([code]), ("a", "b")))
    np.testing.assert_array_equal(responsibilities, [np.eye(2)[code]])
    assert log_evidence[0] == [-700.0, 0.0][code]
