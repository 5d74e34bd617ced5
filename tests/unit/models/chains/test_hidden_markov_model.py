import numpy as np
import pytest

from labelworth.data.evidence import Evidence
from labelworth.data.lengths import LengthDistribution
from labelworth.data.sequences import Sequences
from labelworth.errors import InvalidInputError
from labelworth.models.chains.hidden_markov import HiddenMarkovModel
from support.plain_chains import plain_evidence, plain_sums
from support.small_chains import (
    LABELS,
    WORDS,
    every_outcome,
    hidden_markov,
    numerical_scores,
    partly_labeled,
    unseen,
)
from support.statistical import assert_mean_is

LENGTHS = LengthDistribution(np.array([1, 2, 3]), np.array([0.2, 0.5, 0.3]))


@pytest.fixture
def model(seed: int) -> HiddenMarkovModel:
    return hidden_markov(np.random.default_rng(seed))


def log_nodes(model: HiddenMarkovModel, sequences: Sequences) -> np.ndarray:
    rows = np.concatenate([np.log(model.emission.T), np.zeros((1, 3))])
    return rows[np.where(sequences.words < 0, 4, sequences.words)]


def test_evidence_and_marginals_equal_enumeration(model: HiddenMarkovModel, seed: int) -> None:
    sequences = partly_labeled(model, [1, 3, 5, 4], np.random.default_rng(seed), without_word=0.3, weighted=True)
    evidence = plain_evidence(sequences.evidence.codes, sequences.evidence.weights, 3)
    nodes = log_nodes(model, sequences)
    plain = plain_sums(nodes, np.log(model.transition), np.log(model.start), evidence, sequences.offsets)
    np.testing.assert_allclose(model.log_evidence(sequences), plain.log_totals, rtol=1e-12)
    np.testing.assert_allclose(model.marginals(sequences), plain.marginals, atol=1e-12)
    potentials = model.log_potentials(sequences)
    np.testing.assert_allclose(potentials.nodes, nodes)
    np.testing.assert_allclose(np.exp(potentials.transition), model.transition)


@pytest.mark.parametrize("length", [1, 2, 3])
def test_probabilities_of_all_outcomes_sum_to_one(model: HiddenMarkovModel, length: int) -> None:
    assert np.exp(model.log_evidence(every_outcome(length))).sum() == pytest.approx(1.0, rel=1e-12)


def test_scores_are_the_gradient(model: HiddenMarkovModel, seed: int) -> None:
    sequences = partly_labeled(model, [1, 4, 3], np.random.default_rng(seed), without_word=0.2, weighted=True)
    np.testing.assert_allclose(model.scores(sequences), numerical_scores(model, sequences), rtol=1e-6, atol=1e-6)


def test_complete_information_is_the_variance_of_the_score(model: HiddenMarkovModel) -> None:
    expected = np.zeros((model.coordinates.n_free,) * 2)
    for length, probability in LENGTHS.items():
        outcomes = every_outcome(length)
        scores, chance = model.scores(outcomes), np.exp(model.log_evidence(outcomes))
        expected += probability * (scores.T * chance) @ scores
    np.testing.assert_allclose(model.complete_information(LENGTHS), expected, rtol=1e-9, atol=1e-9)


def test_visits_of_long_sequences_stop_at_the_stationary_labels(model: HiddenMarkovModel) -> None:
    lengths = LengthDistribution(np.array([2, 500]), np.array([0.5, 0.5]))
    visits, departures = model.expected_visits(lengths)
    labels = [model.start @ np.linalg.matrix_power(model.transition, place) for place in range(500)]
    np.testing.assert_allclose(visits, 0.5 * sum(labels[:2]) + 0.5 * sum(labels), rtol=1e-12)
    np.testing.assert_allclose(departures, 0.5 * labels[0] + 0.5 * sum(labels[:-1]), rtol=1e-12)


@pytest.mark.statistical
def test_samples_have_the_moments_of_the_model(model: HiddenMarkovModel, seed: int) -> None:
    drawn = model.sample(unseen([3] * 4000), np.random.default_rng(seed))
    assert drawn.evidence.is_gold.all()
    assert_mean_is(model.scores(drawn), 0.0)
    outcome = drawn.words.reshape(-1, 3)[:, 2] * 3 + drawn.evidence.codes.reshape(-1, 3)[:, 2]
    last = model.start @ model.transition @ model.transition
    expected = (last[:, None] * model.emission).T.ravel()
    assert_mean_is(np.eye(12)[outcome], expected)
    with pytest.raises(AssertionError):
        assert_mean_is(np.eye(12)[outcome], (last[:, None] * np.roll(model.emission, 1, axis=1)).T.ravel())


def test_best_labels_respect_what_is_known(model: HiddenMarkovModel, seed: int) -> None:
    sequences = partly_labeled(model, [5] * 20, np.random.default_rng(seed))
    best, codes = model.best_labels(sequences), sequences.evidence.codes
    assert (best[codes >= 0] == codes[codes >= 0]).all()
    whole = model.log_evidence(sequences.with_evidence(Evidence(best, LABELS)))
    assert (whole <= model.log_evidence(sequences)).all()


def test_relabeling_permutes_everything(model: HiddenMarkovModel, seed: int) -> None:
    order = np.array([2, 0, 1])
    sequences = partly_labeled(model, [3, 6], np.random.default_rng(seed), ambiguous=0.0)
    codes = sequences.evidence.codes
    new_codes = np.where(codes >= 0, np.argsort(order)[codes], codes)
    names = tuple(LABELS[place] for place in order)
    permuted = HiddenMarkovModel(
        names, model.start[order], model.transition[order][:, order], model.emission[order], WORDS
    )
    moved = sequences.with_evidence(Evidence(new_codes, names))
    np.testing.assert_allclose(permuted.log_evidence(moved), model.log_evidence(sequences), rtol=1e-12)
    np.testing.assert_allclose(permuted.marginals(moved), model.marginals(sequences)[:, order], atol=1e-12)


def test_zero_probabilities_are_allowed_but_carry_no_score() -> None:
    model = HiddenMarkovModel(("A", "B"), [1.0, 0.0], [[0.5, 0.5], [0.0, 1.0]], [[1.0, 0.0], [0.5, 0.5]])
    words = np.array([0, 1, 0, 1, 1])
    sequences = Sequences(words, np.array([0, 3, 5]), Evidence(np.full(5, -1), ("A", "B")), model.feature_names)
    np.testing.assert_allclose(model.log_evidence(sequences), [np.log(0.5 * 0.5 * 0.5), -np.inf])
    np.testing.assert_array_equal(model.marginals(sequences)[3:], 0.0)
    assert model.best_labels(sequences).tolist() == [0, 1, 1, -1, -1]
    with pytest.raises(InvalidInputError, match="smoothing"):
        model.scores(sequences)
    with pytest.raises(InvalidInputError, match="start probabilities"):
        model.complete_information(LENGTHS)


def test_model_comes_back_from_its_arrays(model: HiddenMarkovModel) -> None:
    for lengths in (None, LENGTHS):
        given = HiddenMarkovModel(LABELS, model.start, model.transition, model.emission, WORDS, lengths)
        again = HiddenMarkovModel.from_arrays(given.to_arrays(), classes=LABELS, feature_names=WORDS)
        assert all((given.tables[name] == again.tables[name]).all() for name in given.tables)
        assert (again.lengths is None) == (lengths is None)
    with pytest.raises(InvalidInputError, match="transition"):
        HiddenMarkovModel.from_arrays({"start": model.start}, classes=LABELS, feature_names=WORDS)


def test_names_are_those_people_use(model: HiddenMarkovModel) -> None:
    names = model.coordinates.names()
    assert names[:4] == ["start B", "start I", "transition B -> B", "transition B -> I"]
    assert names[-1] == "emission O -> sat"


@pytest.mark.parametrize(
    ("table", "value", "message"),
    [
        ("start", [0.5, 0.6, -0.1], "start must be non-negative"),
        ("transition", np.full((3, 3), np.nan), "finite"),
        ("emission", np.full((3, 4), 0.3), "sum to 1"),
        ("transition", np.full((2, 3), 1 / 3), r"shape \(3, 3\)"),
    ],
)
def test_tables_that_make_no_sense_are_refused(model: HiddenMarkovModel, table: str, value, message: str) -> None:
    tables = dict(model.tables) | {table: np.asarray(value)}
    with pytest.raises(InvalidInputError, match=message):
        model.with_tables(tables)


def test_sequences_of_other_labels_or_words_are_refused(model: HiddenMarkovModel) -> None:
    sequences = unseen([2])
    with pytest.raises(InvalidInputError, match="labels"):
        model.log_evidence(sequences.with_evidence(Evidence(np.full(2, -1), ("x", "y", "z"))))
    with pytest.raises(InvalidInputError, match="vocabulary"):
        model.marginals(Sequences(np.zeros(2, dtype=int), np.array([0, 2]), sequences.evidence, ("one",)))


def test_divergence_is_the_relative_entropy_of_close_models(seed: int) -> None:
    model = hidden_markov(np.random.default_rng(seed), LENGTHS)
    step = 1e-4 * np.random.default_rng(seed + 1).standard_normal(model.coordinates.n_free)
    other = model.with_tables(model.coordinates.named(model.coordinates.flatten(model.tables) + step))
    half_form = 0.5 * step @ model.complete_information(LENGTHS) @ step
    assert model.divergence(other) == pytest.approx(half_form, rel=1e-2)
    with pytest.raises(InvalidInputError, match="lengths"):
        hidden_markov(np.random.default_rng(seed)).divergence(other)


def test_log_likelihood_equals_that_of_hmmlearn(model: HiddenMarkovModel, seed: int) -> None:
    hmm = pytest.importorskip("hmmlearn.hmm")
    sequences = model.sample(unseen([1, 5, 40, 300]), np.random.default_rng(seed)).hide()
    peer = hmm.CategoricalHMM(3)
    peer.startprob_, peer.transmat_, peer.emissionprob_ = model.start, model.transition, model.emission
    peer.n_features = 4
    theirs = peer.score(sequences.words[:, None], sequences.lengths)
    assert model.log_evidence(sequences).sum() == pytest.approx(theirs, rel=1e-10)
