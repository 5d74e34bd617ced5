import numpy as np
import pytest

from labelworth.data.evidence import Evidence
from labelworth.data.sequences import Sequences
from labelworth.errors import DidNotConvergeWarning, InvalidInputError, LabelworthWarning
from labelworth.estimation.fit import fit
from labelworth.estimation.starts import labeled_statistics
from labelworth.models.chains.hidden_markov import HiddenMarkovFamily, HiddenMarkovModel
from support.small_chains import LABELS, WORDS, hidden_markov, partly_labeled, unseen


def sequences_of(seed: int, **choices: float) -> Sequences:
    rng = np.random.default_rng(seed)
    lengths = rng.integers(1, 9, size=60).tolist()
    return partly_labeled(hidden_markov(rng), lengths, rng, **choices)


def counted(sequences: Sequences) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Plain counts of fully labeled sequences, one token after the other."""
    start, pairs, emission = np.zeros(3), np.zeros((3, 3)), np.zeros((3, 4))
    codes, words = sequences.evidence.codes, sequences.words
    for first, last, weight in zip(
        sequences.offsets, sequences.offsets[1:], sequences.sequence_weights, strict=False
    ):
        start[codes[first]] += weight
        for token in range(first, last):
            emission[codes[token], words[token]] += weight
            if token > first:
                pairs[codes[token - 1], codes[token]] += weight
    return start, pairs, emission


def test_supervised_fit_is_smoothed_counts(seed: int) -> None:
    sequences = sequences_of(seed, hidden=0.0, ambiguous=0.0, weighted=True)
    family = HiddenMarkovFamily.for_sequences(sequences, smoothing=0.5, label_smoothing=2.0)
    fitted = fit(family, sequences)
    for table, count, strength in zip(fitted.model.tables.values(), counted(sequences), (2.0, 2.0, 0.5), strict=True):
        smoothed = np.atleast_2d(count) + strength
        np.testing.assert_allclose(table, smoothed / smoothed.sum(axis=1, keepdims=True), rtol=1e-12)
    assert fitted.converged
    expected = sequences.sequence_weights @ fitted.model.log_evidence(sequences)
    assert fitted.log_likelihood == pytest.approx(expected, rel=1e-12)
    assert fitted.objective == pytest.approx(fitted.log_likelihood + fitted.family.log_prior(fitted.model), rel=1e-12)


@pytest.mark.parametrize("accelerated", [True, False])
def test_objective_never_falls_and_ends_where_its_gradient_vanishes(seed: int, accelerated: bool) -> None:
    sequences = sequences_of(seed, hidden=0.6, without_word=0.1, weighted=True)
    family = HiddenMarkovFamily.for_sequences(sequences)
    fitted = fit(family, sequences, tolerance=1e-13, max_iterations=5000, accelerated=accelerated)
    path = fitted.objective_path
    assert len(path) > 5
    assert (np.diff(path) >= -1e-10 * np.abs(path[-1])).all()
    model = fitted.model
    gradient = sequences.sequence_weights @ model.scores(sequences)
    prior = model.coordinates.pull(
        np.concatenate([(1.0 / table).ravel() for table in model.tables.values()])[:, None]
    )[:, 0]
    scale = np.sqrt(np.diag(model.complete_information(fitted.family.lengths)) * sequences.n_sequences)
    assert np.abs((gradient + prior) / scale).max() < 1e-4
    assert np.abs(gradient / scale).max() > 1e-3, "without the prior it is no maximum"


def test_acceleration_changes_the_way_and_not_the_end(seed: int) -> None:
    sequences = sequences_of(seed, hidden=0.7)
    family = HiddenMarkovFamily.for_sequences(sequences)
    ends = [
        fit(family, sequences, tolerance=1e-12, max_iterations=5000, accelerated=accelerated)
        for accelerated in (True, False)
    ]
    assert ends[0].objective == pytest.approx(ends[1].objective, rel=1e-9)
    np.testing.assert_allclose(ends[0].model.emission, ends[1].model.emission, atol=1e-4)


def test_start_counts_only_what_was_labeled() -> None:
    rng = np.random.default_rng(3)
    whole = hidden_markov(rng).sample(unseen([4, 3]), rng)
    hidden = whole.hide(np.array([1, 4]))
    family = HiddenMarkovFamily.for_sequences(hidden).adapted(hidden, np.ones(2))
    counts = labeled_statistics(family, hidden, np.array([1.0, 2.0]))
    codes, words = whole.evidence.codes, whole.words
    start, pairs, emission = np.zeros(3), np.zeros((3, 3)), np.zeros((3, 4))
    start[codes[0]] += 1.0
    for one, two, weight in ((2, 3, 1.0), (5, 6, 2.0)):
        pairs[codes[one], codes[two]] += weight
    for token, weight in ((0, 1.0), (2, 1.0), (3, 1.0), (5, 2.0), (6, 2.0)):
        emission[codes[token], words[token]] += weight
    assert counts is not None
    for name, expected in (("start", start), ("pairs", pairs), ("emission", emission)):
        np.testing.assert_allclose(counts[name], expected, atol=1e-12)


@pytest.mark.filterwarnings("ignore::labelworth.errors.DidNotConvergeWarning")
def test_weights_are_as_good_as_repetitions(seed: int) -> None:
    sequences = sequences_of(seed, hidden=0.5).take(np.arange(20))
    weights = np.arange(20) % 3
    doubled = Sequences(sequences.features, sequences.offsets, sequences.evidence, WORDS, weights.astype(float))
    repeated = sequences.take(np.repeat(np.arange(20), weights))
    family = HiddenMarkovFamily.for_sequences(sequences)
    one = fit(family, doubled, max_iterations=4, tolerance=1e-300, accelerated=False)
    two = fit(family, repeated, max_iterations=4, tolerance=1e-300, accelerated=False)
    np.testing.assert_allclose(one.objective_path, two.objective_path, rtol=1e-10)


def test_unlabeled_weight_of_zero_leaves_out_the_unlabeled(seed: int) -> None:
    sequences = sequences_of(seed, hidden=0.0, ambiguous=0.0)
    hidden = sequences.hide(np.arange(sequences.offsets[30], sequences.n_tokens))
    family = HiddenMarkovFamily.for_sequences(sequences)
    part = fit(family, hidden, unlabeled_weight=0.0)
    alone = fit(family, sequences.take(np.arange(30)))
    np.testing.assert_allclose(part.model.emission, alone.model.emission, rtol=1e-12)


def test_labels_that_nothing_names_are_told_of(seed: int) -> None:
    sequences = sequences_of(seed, hidden=0.0, ambiguous=0.0).hide()
    family = HiddenMarkovFamily.for_sequences(sequences)
    with pytest.warns(LabelworthWarning, match="No label tells these classes apart"):
        fitted = fit(family, sequences, n_starts=3)
    assert fitted.exchangeable_classes == (LABELS,)
    assert len(fitted.starts) == 3
    assert fitted.objective == pytest.approx(fitted.starts.max())
    assert np.abs(fitted.model.emission[0] - fitted.model.emission[1]).max() > 1e-3


def test_too_few_steps_are_told_of(seed: int) -> None:
    sequences = sequences_of(seed, hidden=0.8)
    with pytest.warns(DidNotConvergeWarning):
        fit(HiddenMarkovFamily.for_sequences(sequences), sequences, max_iterations=2, tolerance=1e-12)


def test_start_that_rules_out_the_data_is_refused(seed: int) -> None:
    sequences = sequences_of(seed, hidden=0.8)
    start = HiddenMarkovModel(LABELS, [1, 0, 0], np.eye(3), np.full((3, 4), 0.25), WORDS)
    family = HiddenMarkovFamily.for_sequences(sequences, smoothing=0.0, label_smoothing=0.0)
    with pytest.raises(InvalidInputError, match="probability zero"):
        fit(family, sequences, start=start)


def test_nothing_to_learn_from_is_refused(seed: int) -> None:
    sequences = sequences_of(seed).hide()
    family = HiddenMarkovFamily.for_sequences(sequences)
    with pytest.raises(InvalidInputError, match="unlabeled_weight"):
        fit(family, sequences, unlabeled_weight=0.0)
    with pytest.raises(InvalidInputError, match="same labels"):
        family.prepare(sequences.with_evidence(Evidence(sequences.evidence.codes, (1, 2, 3))), np.ones(60))


def test_one_step_equals_that_of_hmmlearn(seed: int) -> None:
    hmm = pytest.importorskip("hmmlearn.hmm")
    rng = np.random.default_rng(seed)
    model = hidden_markov(rng)
    sequences = model.sample(unseen(rng.integers(1, 30, size=50).tolist()), rng).hide()
    family = HiddenMarkovFamily.for_sequences(sequences, smoothing=0.0, label_smoothing=0.0)
    expectation = family.prepare(sequences, np.ones(50)).expectation(model)
    ours = family.maximize(expectation.statistics)
    peer = hmm.CategoricalHMM(3, n_iter=1, init_params="", params="ste", implementation="scaling")
    peer.startprob_, peer.transmat_, peer.emissionprob_ = model.start, model.transition, model.emission
    peer.n_features = 4
    peer.fit(sequences.words[:, None], sequences.lengths)
    assert expectation.log_likelihood == pytest.approx(peer.monitor_.history[0], rel=1e-10)
    np.testing.assert_allclose(ours.start, peer.startprob_, rtol=1e-9)
    np.testing.assert_allclose(ours.transition, peer.transmat_, rtol=1e-9)
    np.testing.assert_allclose(ours.emission, peer.emissionprob_, rtol=1e-9)
