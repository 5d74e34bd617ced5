"""The Bernoulli model against a sum over all binary vectors, and its doors."""

import numpy as np
import pytest
import scipy.sparse as sp

from labelworth.data.evidence import Evidence, encode_labels
from labelworth.data.samples import Samples
from labelworth.errors import InvalidInputError
from labelworth.estimation.fit import fit
from labelworth.models.classes.bernoulli import BernoulliFamily, BernoulliModel
from support.oracles import Enumeration, enumerated_bernoulli
from support.small_models import bernoulli
from support.statistical import assert_mean_is


@pytest.fixture
def rng(seed: int) -> np.random.Generator:
    return np.random.default_rng(seed)


@pytest.fixture
def model(rng: np.random.Generator) -> BernoulliModel:
    return bernoulli(rng)


@pytest.fixture
def oracle(model: BernoulliModel) -> Enumeration:
    return enumerated_bernoulli(model.class_probabilities, model.feature_probabilities)


def all_outcomes(model: BernoulliModel, oracle: Enumeration) -> Samples:
    return Samples(sp.csr_array(oracle.outcomes), Evidence(np.full(len(oracle.outcomes), -1), model.classes))


def test_log_joint_is_the_joint(model: BernoulliModel, oracle: Enumeration) -> None:
    np.testing.assert_allclose(np.exp(model.log_joint(all_outcomes(model, oracle))), oracle.joint, rtol=1e-12)


def test_complete_information_is_the_variance_of_the_score(model: BernoulliModel, oracle: Enumeration) -> None:
    np.testing.assert_allclose(model.complete_information(), oracle.complete_information, rtol=1e-10, atol=1e-10)


def test_scores_equal_those_of_the_enumeration(model: BernoulliModel, oracle: Enumeration) -> None:
    scores = model.class_scores(all_outcomes(model, oracle))
    np.testing.assert_allclose(scores, oracle.complete_scores, rtol=1e-10, atol=1e-10)


@pytest.mark.statistical
def test_samples_follow_the_joint(model: BernoulliModel, oracle: Enumeration, rng: np.random.Generator) -> None:
    samples = model.sample(20_000, rng)
    rows = oracle.rows_of(samples.counts.toarray())
    hits = np.zeros((20_000, oracle.joint.size))
    hits[np.arange(20_000), rows * 3 + samples.evidence.codes] = 1.0
    common = oracle.joint.ravel() > 0.005
    assert_mean_is(hits[:, common], oracle.joint.ravel()[common])


def test_certain_features_are_exact(rng: np.random.Generator) -> None:
    table = np.array([[0.0, 0.3, 1.0], [0.2, 1.0, 0.0]])
    model = BernoulliModel(("a", "b"), [0.4, 0.6], table)
    oracle = enumerated_bernoulli([0.4, 0.6], table)
    with np.errstate(divide="ignore"):
        expected = np.log(oracle.joint)
    np.testing.assert_allclose(model.log_joint(all_outcomes(model, oracle)), expected, rtol=1e-12)


def test_labeled_data_gives_smoothed_shares() -> None:
    samples = Samples(sp.csr_array(np.array([[1.0, 0], [1, 1], [0, 0]])), encode_labels(["a", "a", "b"]))
    model = fit(BernoulliFamily.for_samples(samples, smoothing=0.5), samples).model
    np.testing.assert_allclose(model.feature_probabilities, [[2.5 / 3, 1.5 / 3], [0.5 / 2, 0.5 / 2]])


def test_zero_smoothing_reaches_the_boundary_without_noise(rng: np.random.Generator) -> None:
    features = (rng.random((50, 4)) < 0.5).astype(float)
    features[:, 0] = 1.0
    samples = Samples(sp.csr_array(features), encode_labels((["a", "b"] + [-1] * 3) * 10))
    result = fit(BernoulliFamily.for_samples(samples, smoothing=0.0, class_smoothing=0.0), samples)
    assert np.isfinite(result.objective)
    np.testing.assert_allclose(result.model.feature_probabilities[:, 0], 1.0, rtol=1e-14)


def test_counts_above_one_are_refused_with_a_cure() -> None:
    samples = Samples(sp.csr_array(np.array([[2.0, 0], [0, 1]])), encode_labels(["a", "b"]))
    with pytest.raises(InvalidInputError, match="use X > 0"):
        BernoulliFamily.for_samples(samples).prepare(samples, np.ones(2))


@pytest.mark.parametrize("entry", [-0.1, 1.1])
def test_probabilities_outside_the_unit_interval_are_refused(entry: float) -> None:
    with pytest.raises(InvalidInputError, match=r"\[0, 1\]"):
        BernoulliModel(("a",), [1.0], [[entry]])


def test_the_boundary_has_no_information() -> None:
    with pytest.raises(InvalidInputError, match="smoothing above 0"):
        BernoulliModel(("a", "b"), [0.5, 0.5], [[1.0], [0.5]]).complete_information()


def test_many_columns_are_sampled_in_slices(rng: np.random.Generator) -> None:
    model = BernoulliModel(("a",), [1.0], np.full((1, 3_000_000), 1e-6))
    assert model.sample(3, rng).counts.nnz < 100


def test_smoothing_that_doubles_cannot_resolve_is_refused_with_a_cure() -> None:
    samples = Samples(sp.csr_array(np.array([[1.0, 0], [1, 1]])), encode_labels(["a", "b"]))
    with pytest.raises(InvalidInputError, match="use 0, or 1e-10"):
        fit(BernoulliFamily.for_samples(samples, smoothing=1e-300), samples)
