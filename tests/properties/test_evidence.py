"""Evidence says the same through every operation: all of them agree with the weights spelled out."""

from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from labelworth.data.evidence import Evidence, encode_labels
from labelworth.data.folds import labeled_folds

FAST = settings(max_examples=100, deadline=None)
CLASSES = ("a", "b", "c", "d")

label = st.none() | st.sampled_from(CLASSES) | st.lists(st.sampled_from(CLASSES), min_size=1, max_size=5)
label_lists = st.lists(label, max_size=12)


def spelled_out(labels: list[Any]) -> np.ndarray:
    """The weights by the definition: one where a class is still possible."""
    return np.array(
        [[float(entry is None or name == entry or (isinstance(entry, list) and name in entry)) for name in CLASSES]
         for entry in labels]
    ).reshape(len(labels), len(CLASSES))  # fmt: skip


def read(labels: list[Any]) -> Evidence:
    return encode_labels(labels, classes=CLASSES, unlabeled=None)


@FAST
@given(label_lists)
def test_labels_are_read_by_their_definition(labels: list[Any]) -> None:
    evidence = read(labels)
    np.testing.assert_array_equal(evidence.dense(), spelled_out(labels))
    sizes = spelled_out(labels).sum(axis=1)
    np.testing.assert_array_equal(evidence.is_gold, sizes == 1)
    np.testing.assert_array_equal(evidence.is_unlabeled, sizes == len(CLASSES))
    np.testing.assert_array_equal(evidence.is_ambiguous, (sizes > 1) & (sizes < len(CLASSES)))
    assert len(evidence.weights) == evidence.is_ambiguous.sum()


@FAST
@given(st.data(), label_lists.filter(bool))
def test_taking_rows_takes_their_weights(data: st.DataObject, labels: list[Any]) -> None:
    rows = np.array(data.draw(st.lists(st.integers(0, len(labels) - 1), max_size=20)), dtype=np.int64)
    mask = np.array(data.draw(st.lists(st.booleans(), min_size=len(labels), max_size=len(labels))))
    for chosen in (rows, mask):
        taken = read(labels).take(chosen)
        np.testing.assert_array_equal(taken.dense(), spelled_out(labels)[chosen])
        assert len(taken.weights) == taken.is_ambiguous.sum()


@FAST
@given(st.data(), label_lists.filter(bool))
def test_hiding_rows_makes_their_weights_one(data: st.DataObject, labels: list[Any]) -> None:
    mask = np.array(data.draw(st.lists(st.booleans(), min_size=len(labels), max_size=len(labels))))
    expected = np.where(mask[:, None], 1.0, spelled_out(labels))
    np.testing.assert_array_equal(read(labels).hidden(mask).dense(), expected)


@FAST
@given(st.lists(st.none() | st.sampled_from(CLASSES), max_size=12))
def test_the_order_of_classes_only_permutes_columns(labels: list[Any]) -> None:
    backwards = encode_labels(labels, classes=CLASSES[::-1], unlabeled=None)
    np.testing.assert_array_equal(backwards.dense()[:, ::-1], read(labels).dense())


@FAST
@given(st.lists(st.integers(2, 6), min_size=1, max_size=4), st.integers(0, 9), st.integers(2, 7), st.integers(0, 99))
def test_folds_test_each_gold_row_once(sizes: list[int], n_unlabeled: int, n_folds: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    codes = np.concatenate([np.repeat(np.arange(len(sizes)), sizes), np.full(n_unlabeled, -1)])
    evidence = encode_labels(rng.permutation(codes))
    n_folds = min(n_folds, sum(sizes))
    folds = labeled_folds(evidence, n_folds, rng)
    assert sorted(np.concatenate([fold.test for fold in folds]).tolist()) == np.flatnonzero(evidence.is_gold).tolist()
    for fold in folds:
        assert fold.test.size
        assert (evidence.take(fold.train).label_counts() > 0).all()
        assert fold.train.size + fold.test.size == evidence.n_samples
