"""Models of what occurs: the same probabilities of it, and no parameters of anything else."""

from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from labelworth.criteria.policy_information import policy_information
from labelworth.data.evidence import Evidence
from labelworth.data.sequences import Sequences
from labelworth.errors import InvalidInputError
from labelworth.models.chains.hidden_markov import HiddenMarkovModel
from labelworth.models.chains.occurrence import Occurrence
from support.log_weight_chains import model_of
from support.small_chains import LABELS, WORDS, hidden_markov
from support.wrong_chains import LABELS as TWO_LABELS
from support.wrong_chains import WORDS as THREE_WORDS

WITHOUT_SAT = Occurrence(WORDS, np.array([0, 1, 3]))


def sequences_of(
    words: list[list[int]], labels: tuple[str, ...], names: tuple[str, ...], code: int = -1
) -> Sequences:
    """All tokens with the same label, or none."""
    flat = np.array([word for one in words for word in one])
    offsets = np.concatenate([[0], np.cumsum([len(one) for one in words])])
    return Sequences(flat, offsets, Evidence(np.full(len(flat), code), labels), names)


def named(sequences: Sequences) -> list[str]:
    return ["-" if code < 0 else sequences.feature_names[code] for code in sequences.words.tolist()]


def test_words_that_occur_keep_their_names() -> None:
    sequences = sequences_of([[3, -1, 1], [0, 3]], LABELS, WORDS)
    occurrence = Occurrence.of(sequences)
    assert occurrence.left_out == ("sat",)
    kept = occurrence.of_sequences(sequences)
    assert kept.feature_names == ("the", "cat", "on")
    assert named(kept) == named(sequences)
    assert occurrence.note("word") == "1 word that never occurs, sat, is left out of the count of parameters."


def test_attributes_of_weight_zero_do_not_occur() -> None:
    rows = sp.csr_array((np.array([1.0, 0.0, 2.0]), [0, 1, 2], [0, 2, 3]), (2, 5))
    sequences = Sequences(rows, np.array([0, 2]), Evidence(np.full(2, -1), LABELS), tuple("abcde"))
    occurrence = Occurrence.of(sequences)
    kept = occurrence.of_sequences(sequences)
    assert kept.feature_names == ("a", "c")
    np.testing.assert_array_equal(kept.attributes.toarray(), [[1.0, 0.0], [0.0, 2.0]])
    assert occurrence.note("attribute").startswith("3 attributes that never occur, b, d, e, are left out")


def test_where_everything_or_nothing_occurs_all_stays() -> None:
    model = hidden_markov(np.random.default_rng(0))
    for words in ([[0, 1, 2, 3]], [[-1, -1]]):
        sequences = sequences_of(words, LABELS, WORDS)
        occurrence = Occurrence.of(sequences)
        assert occurrence.is_complete
        assert occurrence.of_model(model) is model
        assert occurrence.of_sequences(sequences) is sequences


@pytest.mark.parametrize("label", [0, 1, 2])
def test_a_hidden_markov_model_divides_by_the_sum_of_its_rows(label: int) -> None:
    """So every token of that label gains 1 / (1 - p(left out | label))."""
    model = hidden_markov(np.random.default_rng(1))
    restricted = WITHOUT_SAT.of_model(model)
    sequences = sequences_of([[0, 3, 1], [1]], LABELS, WORDS, label)
    gain = -sequences.lengths * np.log1p(-model.emission[label, 2])
    found = restricted.log_evidence(WITHOUT_SAT.of_sequences(sequences))
    np.testing.assert_allclose(found, model.log_evidence(sequences) + gain, rtol=1e-12)


def figures(model: HiddenMarkovModel) -> dict[str, Any]:
    """After one complete sequence of three tokens."""
    table = policy_information(model, policies=["everything"], lengths={3: 1.0}, n_samples=1.0)
    return dict(table.points[0].figures)


def test_every_parameter_counts_whatever_its_probability() -> None:
    """d / (2n) of the joint log-loss; that of labels depends on the odds of the word, not on how rare it is."""
    model, added = hidden_markov(np.random.default_rng(2)), []
    for probability in (1e-3, 1e-6):
        emission = model.emission.copy()
        emission[:, 2] = probability * np.array([1.0, 2.0, 3.0])
        rare = replace(model, emission=emission / emission.sum(axis=1, keepdims=True))
        counted, without = figures(rare), figures(WITHOUT_SAT.of_model(rare))
        assert counted["excess_joint_log_loss"] == pytest.approx((2 + 3 * 2 + 3 * 3) / 2)
        assert without["excess_joint_log_loss"] == pytest.approx((2 + 3 * 2 + 3 * 2) / 2)
        added.append(counted["excess_log_loss"] - without["excess_log_loss"])
    assert added[1] == pytest.approx(added[0], rel=0.05)
    assert added[1] > 0.5


@pytest.mark.parametrize("kind", ["boltzmann", "boltzmann with start"])
def test_a_boltzmann_chain_is_that_of_sequences_without_the_word(kind: str) -> None:
    """p(x, y) over the sum of all p(x, y) without it, summed one by one."""
    model, occurrence = model_of(kind, np.random.default_rng(3)), Occurrence(THREE_WORDS, np.array([0, 2]))
    outcomes = list(product(product([0, 2], repeat=3), product(range(2), repeat=3)))
    logs = [
        Sequences(np.array(x), np.array([0, 3]), Evidence(np.array(y), TWO_LABELS), THREE_WORDS) for x, y in outcomes
    ]
    whole = np.array([model.log_evidence(one)[0] for one in logs])
    restricted = occurrence.of_model(model)
    found = np.array([restricted.log_evidence(occurrence.of_sequences(one))[0] for one in logs])
    np.testing.assert_allclose(found, whole - np.log(np.exp(whole).sum()), rtol=1e-10)


@pytest.mark.parametrize("kind", ["crf", "crf of some pairs"])
def test_a_conditional_model_says_the_same_of_what_it_keeps(kind: str) -> None:
    model, occurrence = model_of(kind, np.random.default_rng(4)), Occurrence(THREE_WORDS, np.array([0, 2]))
    restricted = occurrence.of_model(model)
    sequences = Sequences(
        np.array([0, 2, 2, 0]), np.array([0, 3, 4]), Evidence(np.array([0, -1, 1, 1]), TWO_LABELS), THREE_WORDS
    )
    kept = occurrence.of_sequences(sequences)
    np.testing.assert_allclose(restricted.log_evidence(kept), model.log_evidence(sequences), rtol=1e-12)
    dropped = sum(name.endswith(THREE_WORDS[1]) for name in model.coordinates.names())
    assert dropped > 0
    assert restricted.coordinates.n_free == model.coordinates.n_free - dropped


def test_a_label_must_keep_a_word() -> None:
    tables: Any = [[0.5, 0.5], [[0.5, 0.5], [0.5, 0.5]], [[0.5, 0.5], [0.0, 1.0]]]
    model = HiddenMarkovModel(("A", "B"), *tables, ("x", "y"))
    with pytest.raises(InvalidInputError, match="'B' has none of the words"):
        model.with_features(np.array([0]))
