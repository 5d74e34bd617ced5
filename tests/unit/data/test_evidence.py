import warnings

import numpy as np
import pytest

from labelworth.data.evidence import Evidence, encode_labels
from labelworth.errors import InvalidInputError, LabelworthWarning


def mixed() -> Evidence:
    return encode_labels(["a", -1, ["a", "b"], "c", ["b", "c"], "a"])


def test_rows_are_gold_unlabeled_or_ambiguous() -> None:
    evidence = mixed()
    assert evidence.is_gold.tolist() == [True, False, False, True, False, True]
    assert evidence.is_unlabeled.tolist() == [False, True, False, False, False, False]
    assert evidence.is_ambiguous.tolist() == [False, False, True, False, True, False]
    assert (evidence.n_samples, evidence.n_classes) == (6, 3)
    assert evidence.label_counts().tolist() == [2, 0, 1]


def test_taken_rows_keep_only_their_candidate_sets() -> None:
    taken = mixed().take(np.array([4, 0, 4]))
    np.testing.assert_array_equal(taken.dense(), [[0, 1, 1], [1, 0, 0], [0, 1, 1]])
    assert len(taken.weights) == 2
    assert mixed().take(np.zeros(6, dtype=bool)).n_samples == 0


def test_hidden_rows_say_nothing() -> None:
    hidden = mixed().hidden(np.array([0, 2]))
    np.testing.assert_array_equal(hidden.dense()[[0, 2]], np.ones((2, 3)))
    np.testing.assert_array_equal(hidden.dense()[3:], mixed().dense()[3:])
    assert mixed().hidden().is_unlabeled.all()


def test_weights_other_than_one_are_kept() -> None:
    evidence = Evidence(np.array([-2, 1, -1]), ("a", "b"), np.array([[0.9, 0.3]]))
    np.testing.assert_array_equal(evidence.dense(), [[0.9, 0.3], [0, 1], [1, 1]])


@pytest.mark.parametrize(
    ("codes", "classes", "weights", "message"),
    [
        ([0, 2], ("a", "b"), np.empty((0, 2)), "below the number of classes, 2. Got 2"),
        ([0, -3], ("a", "b"), np.ones((1, 2)), "points past the last of 1"),
        ([0, -2], ("a", "b"), np.empty((0, 0)), "points past the last of 0"),
        ([-2], ("a", "b"), np.ones((1, 3)), "one weight for each of the 2 classes"),
        ([-2], ("a", "b"), np.zeros((1, 2)), "rule out every class"),
        ([-2], ("a", "b"), np.array([[1.0, -1.0]]), "finite and non-negative"),
        ([-2], ("a", "b"), np.array([[1.0, np.nan]]), "finite and non-negative"),
        ([0.5], ("a", "b"), np.empty((0, 2)), "whole numbers"),
        ([[0]], ("a", "b"), np.empty((0, 2)), "one per sample"),
        ([0], ("a", "a"), np.empty((0, 2)), "distinct"),
    ],
)
def test_evidence_that_makes_no_sense_is_refused(
    codes: list[float], classes: tuple[str, ...], weights: np.ndarray, message: str
) -> None:
    with pytest.raises(InvalidInputError, match=message):
        Evidence(np.array(codes), classes, weights)


def test_a_marker_beside_none_may_be_a_class_and_is_told() -> None:
    with pytest.warns(LabelworthWarning, match=r"Labels hold -1 and None .* name another marker with unlabeled="):
        assert encode_labels([1, -1, None, 0]).codes.tolist() == [1, -1, -1, 0]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        encode_labels([1, -1, 0])
        encode_labels([1, None, float("nan"), 0])
        assert encode_labels([1, -1, None], unlabeled=None).classes == (-1, 1)
