"""The Gaussian model against quadrature that is exact for its scores, and its doors."""

from itertools import product
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.stats import multivariate_normal

from labelworth.data.evidence import encode_labels
from labelworth.data.samples import Samples
from labelworth.errors import InvalidInputError
from labelworth.estimation.fit import fit
from labelworth.models.classes.gaussian import GaussianFamily, GaussianModel
from support.small_models import gaussian
from support.statistical import assert_covariance_is, assert_mean_is

KINDS = ["shared", "diagonal", "full"]
every_kind = pytest.mark.parametrize("covariance", KINDS)


@pytest.fixture
def rng(seed: int) -> np.random.Generator:
    return np.random.default_rng(seed)


def class_covariances(model: GaussianModel) -> np.ndarray:
    if model.covariance == "diagonal":
        return np.array([np.diag(row) for row in model.covariances])
    return np.broadcast_to(model.covariances, (3, *model.covariances.shape[1:]))


@every_kind
def test_log_joint_equals_scipy(covariance: Any, rng: np.random.Generator) -> None:
    model = gaussian(rng, covariance, n_features=3)
    samples = model.sample(9, rng)
    expected = np.stack(
        [
            np.log(prior) + multivariate_normal(mean, matrix).logpdf(samples.vectors)
            for prior, mean, matrix in zip(
                model.class_probabilities, model.means, class_covariances(model), strict=True
            )
        ],
        axis=1,
    )
    np.testing.assert_allclose(model.log_joint(samples), expected, rtol=1e-11)


@every_kind
def test_complete_information_is_the_variance_of_the_score(covariance: Any, rng: np.random.Generator) -> None:
    model = gaussian(rng, covariance)
    # Scores are quadratic in x, so their squares are integrated exactly by Gauss-Hermite with 5 nodes a side.
    nodes, weights = np.polynomial.hermite_e.hermegauss(5)
    grid = np.array(list(product(nodes, repeat=2)))
    probabilities = np.prod(list(product(weights, repeat=2)), axis=1) / (2 * np.pi)
    variance = np.zeros((model.coordinates.n_free,) * 2)
    for code, matrix in enumerate(class_covariances(model)):
        points = model.means[code] + grid @ np.linalg.cholesky(matrix).T
        samples = Samples(points, encode_labels([-1] * len(points), classes=model.classes))
        scores = model.class_scores(samples)[:, code]
        variance += model.class_probabilities[code] * np.einsum("n,na,nb->ab", probabilities, scores, scores)
    np.testing.assert_allclose(model.complete_information(), variance, rtol=1e-9, atol=1e-10)


@pytest.mark.statistical
@every_kind
def test_samples_have_mean_and_covariance_of_their_class(covariance: Any, rng: np.random.Generator) -> None:
    model = gaussian(rng, covariance)
    samples = model.sample(6000, rng)
    chosen = samples.vectors[samples.evidence.codes == 1]
    assert_mean_is(chosen, model.means[1])
    assert_covariance_is(chosen - model.means[1], class_covariances(model)[1])
    with pytest.raises(AssertionError):
        assert_covariance_is(chosen - model.means[1], np.linalg.inv(class_covariances(model)[1]))


@every_kind
def test_units_and_offsets_do_not_matter(covariance: Any, rng: np.random.Generator) -> None:
    samples = gaussian(rng, covariance).sample(80, rng).hide(np.arange(20, 80))
    scales, offset = np.array([1e6, 1e-7]), np.array([3e8, -5.0])
    scaled = Samples(samples.vectors * scales + offset, samples.evidence)
    first, second = (
        fit(GaussianFamily.for_samples(each, covariance), each, tolerance=1e-14) for each in (samples, scaled)
    )
    np.testing.assert_allclose(first.model.class_probabilities, second.model.class_probabilities, rtol=1e-4)
    np.testing.assert_allclose(first.model.means * scales + offset, second.model.means, rtol=1e-4)


def test_labeled_data_gives_the_posterior_mode() -> None:
    vectors = np.array([[0.0], [2.0], [10.0], [14.0]])
    samples = Samples(vectors, encode_labels(["a", "a", "b", "b"]))
    family = GaussianFamily.for_samples(samples, "diagonal", smoothing=2.0, mean_smoothing=1.0, class_smoothing=0.0)
    model = fit(family, samples).model
    center, variance = vectors.mean(), vectors.var()
    mean = (2.0 + center) / 3
    scatter = np.sum((vectors[:2] - mean) ** 2) + (mean - center) ** 2
    np.testing.assert_allclose(model.means[0], mean)
    np.testing.assert_allclose(model.covariances[0], (scatter + 2.0 * variance) / 4)


@every_kind
def test_fewer_samples_than_features_are_carried_by_the_prior(covariance: Any, rng: np.random.Generator) -> None:
    vectors = rng.standard_normal((6, 20))
    samples = Samples(vectors, encode_labels(["a", "b", "a", -1, -1, -1]))
    assert np.isfinite(fit(GaussianFamily.for_samples(samples, covariance), samples).objective)


def test_without_a_prior_too_few_samples_are_refused_with_a_cure(rng: np.random.Generator) -> None:
    samples = Samples(rng.standard_normal((6, 20)), encode_labels(["a", "b", "a", "b", "a", "b"]))
    with pytest.raises(InvalidInputError, match="stronger prior"):
        fit(GaussianFamily.for_samples(samples, "full", smoothing=0.0), samples)


def test_a_class_on_one_point_without_a_prior_is_refused() -> None:
    samples = Samples(np.array([[1.0], [1.0], [2.0], [3.0]]), encode_labels(["a", "a", "b", "b"]))
    with pytest.raises(InvalidInputError, match="stronger prior"):
        fit(GaussianFamily.for_samples(samples, "diagonal", smoothing=0.0, mean_smoothing=0.0), samples)


def test_features_that_never_vary_are_named(rng: np.random.Generator) -> None:
    vectors = rng.standard_normal((6, 3))
    vectors[:, 1] = 0.1
    samples = Samples(vectors, encode_labels(["a", "b"] * 3), feature_names=("x", "same", "z"))
    with pytest.raises(InvalidInputError, match="same"):
        fit(GaussianFamily.for_samples(samples), samples)


def test_given_variances_carry_features_that_never_vary() -> None:
    samples = Samples(np.array([[0.1, 1.0], [0.1, 2.0]]), encode_labels(["a", "b"]))
    family = GaussianFamily(("a", "b"), 2, "diagonal", variances=np.ones(2))
    assert np.isfinite(fit(family, samples).objective)


def test_one_sample_is_refused_with_a_cure() -> None:
    samples = Samples(np.array([[1.0, 2.0]]), encode_labels(["a"]))
    with pytest.raises(InvalidInputError, match="1 sample"):
        fit(GaussianFamily.for_samples(samples), samples)


@pytest.mark.parametrize("scale", [1e200, 1e-200])
def test_numbers_beyond_doubles_are_refused_with_a_cure(scale: float, rng: np.random.Generator) -> None:
    samples = Samples(scale * rng.standard_normal((6, 2)), encode_labels(["a", "b"] * 3))
    with pytest.raises(InvalidInputError, match="scale the features"):
        fit(GaussianFamily.for_samples(samples), samples)


@pytest.mark.parametrize(
    ("covariance", "covariances", "message"),
    [
        ("shared", [[[1.0, 2.0], [2.0, 1.0]]], "positive definite"),
        ("shared", [[[1.0, 0.5], [0.0, 1.0]]], "symmetric"),
        ("diagonal", [[1.0, 0.0], [1.0, 1.0]], "positive"),
        ("full", [[[1.0, 0.0], [0.0, 1.0]]], "shape"),
        ("round", [[1.0, 1.0], [1.0, 1.0]], "shared"),
    ],
)
def test_what_is_no_covariance_is_refused(covariance: Any, covariances: Any, message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        GaussianModel(("a", "b"), [0.5, 0.5], [[0.0, 0.0], [1.0, 1.0]], covariances, covariance)


def test_sparse_counts_are_refused(rng: np.random.Generator) -> None:

    samples = Samples(sp.csr_array(np.eye(2)), encode_labels(["a", "b"]))
    with pytest.raises(InvalidInputError, match="dense"):
        GaussianFamily.for_samples(samples).adapted(samples, np.ones(2))
