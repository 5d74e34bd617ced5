from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from labelworth.data.evidence import Evidence, encode_labels
from labelworth.data.sequences import NO_WORD, Sequences, labeled_runs
from labelworth.errors import InvalidInputError


def words(codes: list[int], offsets: list[int], labels: list[Any], **changes: Any) -> Sequences:
    evidence = encode_labels(labels, classes=["X", "Y", "Z"])
    return Sequences(np.array(codes), np.array(offsets), evidence, ("a", "b"), **changes)


THREE = words([0, 1, NO_WORD, 1, 0, 0], [0, 2, 3, 6], ["X", None, ["X", "Y"], "Y", "Z", "X"], weights=[1.0, 2.0, 3.0])


def test_sizes() -> None:
    assert (THREE.n_sequences, THREE.n_tokens, THREE.n_features) == (3, 6, 2)
    assert THREE.lengths.tolist() == [2, 1, 3]
    assert THREE.sequence_weights.tolist() == [1, 2, 3]


def test_a_word_is_an_attribute_and_no_word_is_none() -> None:
    assert THREE.attributes.toarray().tolist() == [[1, 0], [0, 1], [0, 0], [0, 1], [1, 0], [1, 0]]
    with pytest.raises(InvalidInputError, match="got attributes"):
        _ = Sequences(THREE.attributes, THREE.offsets, THREE.evidence, ("a", "b")).words


@pytest.mark.parametrize("sparse", [False, True])
def test_sequences_are_taken_in_any_order(sparse: bool) -> None:
    features = THREE.attributes if sparse else THREE.words
    taken = Sequences(features, THREE.offsets, THREE.evidence, ("a", "b"), THREE.weights).take(np.array([2, 1]))
    assert taken.offsets.tolist() == [0, 3, 4]
    assert taken.evidence.codes.tolist() == [1, 2, 0, -2]
    assert taken.evidence.weights.tolist() == [[1, 1, 0]]
    assert taken.sequence_weights.tolist() == [3, 2]
    assert taken.attributes.toarray().tolist() == [[0, 1], [1, 0], [1, 0], [0, 0]]
    assert THREE.take(np.array([False, True, False])).n_tokens == 1


def test_labels_are_hidden() -> None:
    assert THREE.hide().evidence.is_unlabeled.all()
    assert THREE.hide(np.array([0, 2])).evidence.codes.tolist() == [-1, -1, -1, 1, 2, 0]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"offsets": [0, 2, 2, 6]}, "Sequence 1 has no token"),
        ({"offsets": [0, 2, 5]}, "from 0 to the number of tokens, 6"),
        ({"offsets": [1, 6]}, "from 0 to the number of tokens"),
        ({"codes": [0, 1, 2, 0, 0, 0]}, "below the size of the vocabulary, 2"),
        ({"codes": [0, 1, -2, 0, 0, 0]}, "Got -2 to 1"),
        ({"codes": [0.5] * 6}, "whole number per token"),
        ({"weights": [1.0, np.nan, 1.0]}, "must be finite"),
        ({"weights": [1.0, -1.0, 1.0]}, "weights must be non-negative"),
        ({"weights": [1.0]}, "3 sequences and 1 weight"),
        ({"labels": ["X"]}, "Got 6 tokens and 1 label"),
    ],
)
def test_bad_parts_are_named(change: dict[str, Any], message: str) -> None:
    parts: dict[str, Any] = {"codes": [0, 1, 0, 1, 0, 0], "offsets": [0, 2, 3, 6], "labels": ["X"] * 6}
    with pytest.raises(InvalidInputError, match=message):
        words(**{**parts, **change})


def test_attributes_must_be_finite_and_have_names() -> None:
    rows = sp.csr_array(np.array([[1.0, np.inf]]))
    evidence = encode_labels(["X"])
    with pytest.raises(InvalidInputError, match="finite"):
        Sequences(rows, np.array([0, 1]), evidence, ("a", "b"))
    with pytest.raises(InvalidInputError, match="2 columns and 1 names"):
        Sequences(rows, np.array([0, 1]), evidence, ("a",))


def make(codes: list[int], offsets: list[int]) -> Sequences:
    weights = np.array([[1.0, 1.0, 0.0]]) if min(codes) < -1 else np.empty((0, 3))
    evidence = Evidence(np.array(codes), ("a", "b", "c"), weights)
    return Sequences(np.arange(len(codes)) % 4, np.array(offsets), evidence, ("w", "x", "y", "z"))


def test_runs_end_where_labels_or_sequences_do() -> None:
    sequences = make([0, -1, 1, -2, 2, -1, -1, 0, -1], [0, 4, 6, 7, 9])
    runs = labeled_runs(sequences)
    assert runs is not None
    assert runs.sequences.offsets.tolist() == [0, 1, 3, 4, 5]
    assert runs.owners.tolist() == [0, 0, 1, 3]
    assert runs.is_first.tolist() == [True, False, True, True]
    assert runs.sequences.words.tolist() == [0, 2, 3, 0, 3]
    assert runs.sequences.evidence.is_ambiguous.tolist() == [False, False, True, False, False]
    assert sequences.is_labeled.tolist() == [True, True, False, True]
    kept = runs.weighted(np.array([0.0, 2.0, 1.0, 3.0]))
    assert kept.owners.tolist() == [1, 3]
    assert kept.sequences.sequence_weights.tolist() == [2.0, 3.0]


def test_nothing_known_gives_no_runs() -> None:
    assert labeled_runs(make([-1, -1], [0, 2])) is None
