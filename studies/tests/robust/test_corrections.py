"""Corrections of a finite sample: what noise and self-influence do to posteriors."""

import numpy as np
import pytest
from scipy.special import expit

from labelworth_studies.robust.corrections import Corrections, contrast_root, expected_drift, normal_nodes
from support.oracles import numerical_gradient
from support.small_models import CASES, Case, multinomial

every_model = pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)


@pytest.fixture
def rng(seed: int) -> np.random.Generator:
    return np.random.default_rng(seed)


@pytest.mark.parametrize("dimension", [1, 3])
def test_nodes_have_the_moments_of_a_standard_normal(dimension: int) -> None:
    nodes, weights = normal_nodes(dimension)
    assert weights.sum() == pytest.approx(1.0)
    np.testing.assert_allclose(weights @ nodes, 0.0, atol=1e-12)
    np.testing.assert_allclose((nodes * weights[:, None]).T @ nodes, np.eye(dimension), atol=1e-12)


def test_without_corrections_posteriors_are_bayes_rule(rng: np.random.Generator) -> None:
    log_joint = rng.standard_normal((7, 3))
    posteriors = Corrections.none(7, 3).posteriors(log_joint, normal_nodes(2)[0])
    expected = np.exp(log_joint) / np.exp(log_joint).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(posteriors, np.repeat(expected[:, :, None], posteriors.shape[2], axis=2), rtol=1e-12)


def test_in_sample_posteriors_solve_their_equation(rng: np.random.Generator) -> None:
    factors = 0.5 * rng.standard_normal((6, 2, 4))
    pull = factors @ factors.transpose(0, 2, 1)
    log_joint = rng.standard_normal((6, 2))
    corrections = Corrections(pull, np.zeros((6, 2, 1)), np.zeros((6, 2)))
    found = corrections.posteriors(log_joint, np.zeros((1, 1)))[:, :, 0]
    logits = log_joint + np.einsum("nkl,nl->nk", pull, found)
    np.testing.assert_allclose(found[:, 0], expit(logits[:, 0] - logits[:, 1]), atol=1e-3)


def test_a_strong_pull_makes_a_row_keep_the_class_it_leans_to() -> None:
    pull = np.array([[[5.0, -5.0], [-5.0, 5.0]]])
    corrections = Corrections(pull, np.zeros((1, 2, 1)), np.zeros((1, 2)))
    for lean, expected in ((0.1, 1.0), (-0.1, 0.0)):
        found = corrections.posteriors(np.array([[lean, 0.0]]), np.zeros((1, 1)))
        assert found[0, 0, 0] == pytest.approx(expected, abs=1e-3)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_responses_are_the_derivative_of_the_average_posterior(n_classes: int, rng: np.random.Generator) -> None:
    # Without pull, the answer to a shift of the log-joint is the derivative of the noise-averaged posterior.
    spread = contrast_root(np.repeat(0.3 * np.eye(n_classes)[None], 4, axis=0))
    corrections = Corrections(np.zeros((4, n_classes, n_classes)), spread, np.zeros((4, n_classes)))
    nodes, weights = normal_nodes(n_classes - 1)
    log_joint = rng.standard_normal((4, n_classes))

    def average(shift: np.ndarray) -> np.ndarray:
        return corrections.posteriors(log_joint + shift, nodes) @ weights

    expected = numerical_gradient(average, np.zeros(n_classes))
    found = corrections.responses(corrections.posteriors(log_joint, nodes), nodes, weights)
    np.testing.assert_allclose(found, expected, atol=1e-4 if n_classes == 2 else 0.02)


def test_the_pull_of_a_row_makes_it_answer_more(rng: np.random.Generator) -> None:
    # Little noise: V / (1 - g V) for posterior variance V and pull g.
    pull = np.repeat(np.array([[[0.4, -0.4], [-0.4, 0.4]]]), 5, axis=0)
    spread = contrast_root(np.repeat(1e-6 * np.eye(2)[None], 5, axis=0))
    corrections = Corrections(pull, spread, np.zeros((5, 2)))
    nodes, weights = normal_nodes(1)
    posteriors = corrections.posteriors(rng.standard_normal((5, 2)), nodes)
    share = (posteriors @ weights)[:, 0]
    variance = share * (1 - share)
    found = corrections.responses(posteriors, nodes, weights)
    np.testing.assert_allclose(found[:, 0, 0], variance / (1 - 1.6 * variance), rtol=1e-4)
    np.testing.assert_allclose(found[:, 0, 1], -found[:, 0, 0], rtol=1e-9)


@every_model
def test_drift_is_half_the_trace_of_the_curvature(case: Case, rng: np.random.Generator) -> None:
    model = case.draw(rng)
    samples = model.sample(5, rng)
    coordinates = model.coordinates
    theta = coordinates.flatten(model.tables)
    root = 1e-3 * rng.standard_normal((len(theta), len(theta))) * np.abs(theta)[:, None]
    covariance = root @ root.T

    def log_joint(at: np.ndarray) -> np.ndarray:
        return model.with_tables(coordinates.named(at)).log_joint(samples)

    hessian = numerical_gradient(lambda at: numerical_gradient(log_joint, at, step=1e-4), theta, step=1e-4)
    expected = np.einsum("nkab,ab->nk", hessian, covariance) / 2
    found = expected_drift(model, samples, covariance)
    np.testing.assert_allclose(found, expected, rtol=1e-3, atol=1e-3 * np.abs(expected).max())


def test_contrast_roots_multiply_to_the_covariance_of_log_odds(rng: np.random.Generator) -> None:
    factors = rng.standard_normal((4, 3, 3))
    covariance = factors @ factors.transpose(0, 2, 1)
    root = contrast_root(covariance)
    against_last = np.hstack([np.eye(2), -np.ones((2, 1))])
    np.testing.assert_allclose(
        (root @ root.transpose(0, 2, 1))[:, :2, :2], against_last @ covariance @ against_last.T, rtol=1e-9, atol=1e-12
    )
    assert not root[:, 2].any()


def test_the_largest_pull_is_between_two_classes() -> None:
    corrections = Corrections(np.array([[[3.0, 1.0], [1.0, 2.0]]]), np.zeros((1, 2, 1)), np.zeros((1, 2)))
    assert corrections.largest_pull().tolist() == [3.0]


def test_halfway_is_the_mean(rng: np.random.Generator) -> None:
    model = multinomial(rng)
    assert model.n_classes == 3
    first = Corrections.none(2, 3)
    second = Corrections(np.ones((2, 3, 3)), np.ones((2, 3, 2)), np.ones((2, 3)))
    assert (first.halfway(second).influence == 0.5).all()
    assert (first.halfway(second).drift == 0.5).all()
