import numpy as np
import pytest
from scipy.special import logsumexp

from labelworth.data.evidence import Evidence
from labelworth.data.lengths import LengthDistribution
from labelworth.data.sequences import Sequences
from labelworth.errors import InvalidInputError
from labelworth.models.chains.boltzmann_chain import BoltzmannChainModel
from support.plain_chains import plain_evidence, plain_sums, weight_of_paths
from support.small_chains import (
    LABELS,
    WORDS,
    boltzmann_chain,
    every_outcome,
    numerical_scores,
    partly_labeled,
    unseen,
)
from support.statistical import assert_mean_is

WITH_START = pytest.mark.parametrize("with_start", [True, False])


def start_of(model: BoltzmannChainModel) -> np.ndarray:
    return np.zeros(3) if model.start is None else model.start


def enumerated_normalizer(model: BoltzmannChainModel, length: int) -> float:
    """log Z_m: every word and label sequence."""
    outcomes = every_outcome(length)
    nodes = model.emission.T[outcomes.words]
    weights = weight_of_paths(
        outcomes.evidence.codes, nodes, model.transition, start_of(model), np.ones(nodes.shape), outcomes.offsets
    )
    return float(logsumexp(weights))


@WITH_START
def test_evidence_equals_enumeration(seed: int, with_start: bool) -> None:
    rng = np.random.default_rng(seed)
    model = boltzmann_chain(rng, with_start=with_start)
    sequences = partly_labeled(model, [1, 3, 2, 3], rng, without_word=0.3, weighted=True)
    evidence = plain_evidence(sequences.evidence.codes, sequences.evidence.weights, 3)
    rows = np.concatenate([model.emission.T, logsumexp(model.emission, axis=1)[None]])
    nodes = rows[np.where(sequences.words < 0, 4, sequences.words)]
    plain = plain_sums(nodes, model.transition, start_of(model), evidence, sequences.offsets)
    normalizers = {length: enumerated_normalizer(model, length) for length in (1, 2, 3)}
    expected = plain.log_totals - [normalizers[length] for length in sequences.lengths.tolist()]
    np.testing.assert_allclose(model.log_evidence(sequences), expected, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(model.marginals(sequences), plain.marginals, atol=1e-12)


@WITH_START
@pytest.mark.parametrize("length", [1, 3])
def test_probabilities_sum_to_one_whatever_was_seen(seed: int, with_start: bool, length: int) -> None:
    model = boltzmann_chain(np.random.default_rng(seed), with_start=with_start)
    assert np.exp(model.log_evidence(every_outcome(length))).sum() == pytest.approx(1.0, rel=1e-12)
    np.testing.assert_allclose(model.log_evidence(unseen([length])), 0.0, atol=1e-12)


@WITH_START
def test_scores_are_the_gradient(seed: int, with_start: bool) -> None:
    rng = np.random.default_rng(seed)
    model = boltzmann_chain(rng, with_start=with_start)
    sequences = partly_labeled(model, [1, 4, 3], rng, without_word=0.2)
    np.testing.assert_allclose(model.scores(sequences), numerical_scores(model, sequences), rtol=1e-6, atol=1e-7)


@WITH_START
def test_complete_information_is_the_variance_of_the_score(seed: int, with_start: bool) -> None:
    model = boltzmann_chain(np.random.default_rng(seed), with_start=with_start)
    lengths = LengthDistribution(np.array([1, 3]), np.array([0.3, 0.7]))
    expected = np.zeros((model.coordinates.n_free,) * 2)
    for length, probability in lengths.items():
        outcomes = every_outcome(length)
        scores, chance = model.scores(outcomes), np.exp(model.log_evidence(outcomes))
        expected += probability * (scores.T * chance) @ scores
    information = model.complete_information(lengths)
    np.testing.assert_allclose(information, expected, rtol=1e-9, atol=1e-11)
    n_redundant = 5 if with_start else 2  # K + 2 with start weights
    assert int((np.linalg.eigvalsh(information) < 1e-10).sum()) == n_redundant


def test_covariance_of_long_chains_is_the_derivative_of_expected_counts(seed: int) -> None:
    model = boltzmann_chain(np.random.default_rng(seed))
    lengths, step = LengthDistribution.single(60), 1e-5
    theta = model.coordinates.flatten(model.tables)
    counts = []
    for sign in (1, -1):
        moved = model.with_tables(model.coordinates.named(theta + sign * step * np.eye(len(theta))[4]))
        expected, _ = moved.reference_counts(np.array([60]), np.ones(1))
        counts.append(model.coordinates.flatten(expected.tables()))
    derivative = (counts[0] - counts[1]) / (2 * step)
    np.testing.assert_allclose(model.complete_information(lengths)[4], derivative, rtol=1e-6, atol=1e-6)


@pytest.mark.statistical
def test_samples_have_the_moments_of_the_model(seed: int) -> None:
    model = boltzmann_chain(np.random.default_rng(seed))
    drawn = model.sample(unseen([3] * 3000 + [1] * 500), np.random.default_rng(seed + 1))
    scores = model.scores(drawn)
    contrasts = np.linalg.eigh(model.complete_information(LengthDistribution.single(3)))[1][:, 5:]
    assert_mean_is(scores[:3000] @ contrasts, 0.0)
    wrong = BoltzmannChainModel(LABELS, model.start, model.transition, model.emission + np.eye(3, 4), WORDS)
    with pytest.raises(AssertionError):
        assert_mean_is(wrong.scores(drawn)[:3000] @ contrasts, 0.0)


def test_adding_a_constant_to_redundant_weights_changes_nothing(seed: int) -> None:
    rng = np.random.default_rng(seed)
    model = boltzmann_chain(rng)
    sequences = partly_labeled(model, [4, 2], rng, without_word=0.3)
    shifted = BoltzmannChainModel(LABELS, model.start, model.transition + 300.0, model.emission - 200.0, WORDS)
    np.testing.assert_allclose(shifted.log_evidence(sequences), model.log_evidence(sequences), atol=1e-9)


def test_extreme_weights_are_no_trouble() -> None:
    transition = np.array([[0.0, -2000.0], [-2000.0, 0.0]])
    model = BoltzmannChainModel(("A", "B"), None, transition, [[0.0, -900.0], [-900.0, 0.0]])
    words = np.array([0, 0, 1, 1])
    sequences = Sequences(words, np.array([0, 4]), Evidence(np.full(4, -1), ("A", "B")), model.feature_names)
    # All A or all B costs 1800, one change 2000; both constant sequences are one in two of what is probable.
    np.testing.assert_allclose(model.log_evidence(sequences), [-1800.0], rtol=1e-12)
    np.testing.assert_allclose(model.marginals(sequences), 0.5, rtol=1e-12)


def test_model_comes_back_from_its_arrays(seed: int) -> None:
    for with_start in (True, False):
        model = boltzmann_chain(np.random.default_rng(seed), with_start=with_start)
        again = BoltzmannChainModel.from_arrays(model.to_arrays(), classes=LABELS, feature_names=WORDS)
        assert list(again.tables) == list(model.tables)
        assert all((model.tables[name] == again.tables[name]).all() for name in model.tables)


def test_weights_that_are_no_numbers_are_refused() -> None:
    with pytest.raises(InvalidInputError, match="transition weights must be finite"):
        BoltzmannChainModel(("A", "B"), None, [[0.0, np.nan], [0.0, 0.0]], [[0.0], [0.0]])
    with pytest.raises(InvalidInputError, match=r"start weights must have shape \(2,\)"):
        BoltzmannChainModel(("A", "B"), [0.0], np.zeros((2, 2)), np.zeros((2, 3)))


def test_names_are_those_people_use() -> None:
    names = boltzmann_chain(np.random.default_rng(0)).coordinates.names()
    assert (names[0], names[4], names[-1]) == ("start B", "transition B -> I", "emission O -> on")
