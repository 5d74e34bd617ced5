"""The sandwich: inverse information where the model is right, the variance of the estimate where it is not."""

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from labelworth.data.evidence import Evidence
from labelworth.data.lengths import LengthDistribution
from labelworth.data.samples import Samples
from labelworth.errors import InvalidInputError, NotIdentifiableError
from labelworth.models.classes.multinomial import MultinomialModel
from labelworth_studies.robust.sandwich import Sandwich, sandwich, score_moments
from support.oracles import Enumeration, enumerated_multinomial, numerical_gradient
from support.small_models import CASES, Case

PRIORS = np.array([0.3, 0.7])
WORDS = np.array([[0.5, 0.3, 0.2], [0.1, 0.3, 0.6]])
LENGTHS = {2: 0.5, 4: 0.5}


def small_model() -> MultinomialModel:
    return MultinomialModel(("a", "b"), PRIORS, WORDS, LengthDistribution.from_mapping(LENGTHS))


def whole_world(oracle: Enumeration, joint: np.ndarray) -> Samples:
    """Every (x, y) once, weighing its probability."""
    n_outcomes = len(oracle.outcomes)
    features = sp.csr_array(np.concatenate([oracle.outcomes, oracle.outcomes]))
    codes = np.repeat([0, 1], n_outcomes)
    return Samples(features, Evidence(codes, ("a", "b")), np.concatenate([joint[:, 0], joint[:, 1]]))


@pytest.fixture
def oracle() -> Enumeration:
    return enumerated_multinomial(PRIORS, WORDS, LENGTHS)


@pytest.mark.parametrize("fraction", [1.0, 0.4, 0.05])
def test_a_right_model_has_the_inverse_information(oracle: Enumeration, fraction: float) -> None:
    model = small_model()
    moments = score_moments(model, whole_world(oracle, oracle.joint))
    found = sandwich(model.coordinates, moments, fraction)
    information = oracle.information(fraction)
    np.testing.assert_allclose(found.bread, information, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(found.meat, information, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(found.covariance, np.linalg.inv(information), rtol=1e-8, atol=1e-12)


def test_a_wrong_model_does_not(oracle: Enumeration) -> None:
    model = small_model()
    tilted = oracle.joint * np.linspace(0.5, 2.0, len(oracle.joint))[:, None]
    moments = score_moments(model, whole_world(oracle, tilted / tilted.sum()))
    found = sandwich(model.coordinates, moments, 0.4)
    inverse = np.linalg.inv(oracle.information(0.4))
    assert np.abs(found.covariance - inverse).max() > 0.05 * np.abs(inverse).max()


@pytest.mark.parametrize("random_labels", [True, False])
def test_the_meat_is_the_variance_of_one_sample_at_any_weight(oracle: Enumeration, random_labels: bool) -> None:
    fraction, weight = 0.3, 0.4
    model = small_model()
    world = oracle.joint * np.linspace(0.5, 2.0, len(oracle.joint))[:, None]
    world /= world.sum()
    found = sandwich(
        model.coordinates,
        score_moments(model, whole_world(oracle, world)),
        fraction,
        unlabeled_weight=weight,
        random_labels=random_labels,
    )
    labeled = oracle.complete_scores.reshape(-1, len(oracle.theta))
    hidden = weight * np.repeat(oracle.marginal_scores, 2, axis=0)
    shares = world.ravel()

    def covariance(rows: np.ndarray, row_shares: np.ndarray) -> np.ndarray:
        centered = rows - row_shares @ rows
        return (centered * row_shares[:, None]).T @ centered

    if random_labels:
        both = np.concatenate([labeled, hidden])
        expected = covariance(both, np.concatenate([fraction * shares, (1 - fraction) * shares]))
    else:
        expected = fraction * covariance(labeled, shares) + (1 - fraction) * covariance(hidden, shares)
    np.testing.assert_allclose(found.meat, expected, rtol=1e-9, atol=1e-9)


def test_the_prior_adds_its_share_of_curvature(oracle: Enumeration) -> None:
    model = small_model()
    moments = score_moments(model, whole_world(oracle, oracle.joint))
    curvature = np.diag(np.arange(1.0, 6.0))
    plain = sandwich(model.coordinates, moments, 0.5)
    held = sandwich(model.coordinates, moments, 0.5, prior_curvature=curvature, n_samples=10)
    np.testing.assert_allclose(held.bread - plain.bread, curvature / 10, rtol=1e-12)


def test_the_total_variance_is_that_of_the_named_tables(oracle: Enumeration) -> None:
    model = small_model()
    found = sandwich(model.coordinates, score_moments(model, whole_world(oracle, oracle.joint)), 0.5)
    jacobian = model.coordinates.jacobian()
    assert found.total_variance == pytest.approx(np.trace(jacobian @ found.covariance @ jacobian.T), rel=1e-10)


def test_no_downward_curvature_is_told_by_name() -> None:
    model = small_model()
    bread = np.diag([1.0, 1.0, -1.0, 1.0, 1.0])
    with pytest.raises(NotIdentifiableError, match="word_probabilities") as caught:
        _ = Sandwich(model.coordinates, bread, np.eye(5)).covariance
    assert caught.value.directions == (model.coordinates.name(2),)


every_model = pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)


@pytest.fixture
def rng(seed: int) -> np.random.Generator:
    return np.random.default_rng(seed)


def row_log_likelihoods(model: Any, samples: Any, theta: np.ndarray) -> np.ndarray:
    """log p(x, y) and log p(x) of every row, (n, 2)."""
    joint = model.with_tables(model.coordinates.named(theta)).log_joint(samples)
    labeled = joint[np.arange(len(joint)), samples.evidence.codes]
    return np.stack([labeled, np.logaddexp.reduce(joint, axis=1)], axis=1)


def numerical_hessian(function: Any, theta: np.ndarray) -> np.ndarray:
    step = 1e-4

    def gradient(at: np.ndarray) -> np.ndarray:
        return numerical_gradient(function, at, step=step)

    return numerical_gradient(gradient, theta, step=step)


@every_model
def test_moments_equal_numerical_derivatives(case: Case, rng: np.random.Generator) -> None:
    # Rows of one model, moments at another: nothing may rest on the model being right.
    population = case.draw(rng).sample(12, rng).weighted(rng.uniform(0.5, 2.0, size=12))
    model = case.draw(rng)
    theta = model.coordinates.flatten(model.tables)
    shares = population.sample_weights / population.sample_weights.sum()

    def mean(at: np.ndarray) -> np.ndarray:
        return shares @ row_log_likelihoods(model, population, at)

    scores = numerical_gradient(lambda at: row_log_likelihoods(model, population, at), theta)
    hessian = numerical_hessian(mean, theta)
    moments = score_moments(model, population)
    scale = np.abs(hessian).max()
    np.testing.assert_allclose(moments.labeled.curvature, -hessian[0], atol=1e-5 * scale)
    np.testing.assert_allclose(moments.hidden.curvature, -hessian[1], atol=1e-5 * scale)
    for kind, part in enumerate([moments.labeled, moments.hidden]):
        expected = shares @ scores[:, kind]
        centered = scores[:, kind] - expected
        np.testing.assert_allclose(part.mean, expected, atol=1e-6 * np.abs(scores).max())
        np.testing.assert_allclose(
            part.variance, (centered * shares[:, None]).T @ centered, atol=1e-6 * np.abs(scores).max() ** 2
        )


def test_a_population_with_unlabeled_rows_is_refused(rng: np.random.Generator) -> None:
    model = CASES[0].draw(rng)
    with pytest.raises(InvalidInputError, match="class of every row"):
        score_moments(model, model.sample(5, rng).hide(np.array([2])))
