import numpy as np
import pandas as pd
import pytest

from labelworth.data.evidence import encode_labels
from labelworth.data.labels import is_missing
from labelworth.errors import InvalidInputError


def test_classes_are_found_and_sorted() -> None:
    evidence = encode_labels(["b", "a", "b"])
    assert evidence.classes == ("a", "b")
    assert evidence.codes.tolist() == [1, 0, 1]


@pytest.mark.parametrize(
    "labels",
    [
        [1, -1, 0, 1],
        (1, None, 0, 1),
        [1, float("nan"), 0, 1],
        np.array([1, -1, 0, 1]),
        np.array([1.0, np.nan, 0.0, 1.0]),
        np.array([1, None, 0, 1], dtype=object),
        pd.Series([1, -1, 0, 1]),
        pd.Series([1, None, 0, 1], dtype="Int64"),
        iter([1, -1, 0, 1]),
    ],
)
def test_every_way_to_write_an_unlabeled_row_is_read(labels: object) -> None:
    evidence = encode_labels(labels)
    assert evidence.classes == (0, 1)
    assert evidence.codes.tolist() == [1, -1, 0, 1]


def test_arrays_and_lists_of_the_same_labels_agree() -> None:
    rng = np.random.default_rng(0)
    for labels in (rng.integers(-1, 4, 200), rng.choice(["x", "yy", "z"], 200), rng.random(200) < 0.5):
        for marker in (-1, "x", 3):
            fast, slow = encode_labels(labels, unlabeled=marker), encode_labels(list(labels), unlabeled=marker)
            assert fast.classes == slow.classes
            assert [type(name) for name in fast.classes] == [type(name) for name in slow.classes]
            np.testing.assert_array_equal(fast.codes, slow.codes)


def test_another_marker_can_be_named_and_then_minus_one_is_a_class() -> None:
    evidence = encode_labels([-1, 1, 0], unlabeled=0)
    assert evidence.classes == (-1, 1)
    assert evidence.codes.tolist() == [0, 1, -1]
    assert encode_labels([-1, 1, None], unlabeled=None).codes.tolist() == [0, 1, -1]


def test_true_is_neither_the_marker_one_nor_the_class_one() -> None:
    assert encode_labels([True, False, True], unlabeled=1).codes.tolist() == [1, 0, 1]
    assert not is_missing(1, True)
    with pytest.raises(InvalidInputError, match=r"one kind.*bool and number"):
        encode_labels([True, 1])


def test_a_list_is_a_candidate_set() -> None:
    evidence = encode_labels(["a", ["a", "b"], {"c"}, ("c", "c"), ["a", "b", "c"], np.array(["b", "c"])])
    np.testing.assert_array_equal(
        evidence.dense(), [[1, 0, 0], [1, 1, 0], [0, 0, 1], [0, 0, 1], [1, 1, 1], [0, 1, 1]]
    )
    assert evidence.codes.tolist() == [0, -2, 2, 2, -1, -3]


def test_classes_can_be_named_in_another_order_and_beyond_those_that_occur() -> None:
    evidence = encode_labels(["a", ["a", "b"]], classes=np.array(["c", "b", "a"]))
    assert evidence.classes == ("c", "b", "a")
    np.testing.assert_array_equal(evidence.dense(), [[0, 0, 1], [0, 1, 1]])


@pytest.mark.parametrize(
    ("labels", "options", "message"),
    [
        (["a", 1], {}, "one kind.*number and str"),
        (["a", []], {}, "Sample 1 has an empty candidate set"),
        (["a", ["b", -1]], {}, "Sample 1 has -1, the marker"),
        (["a", ["b", None]], {}, "Sample 1 has None"),
        (["a", [["b"]]], {}, r"Sample 1 has the label \[\['b'\]\]"),
        ([{"a": 1}], {}, "Sample 0 has the label"),
        ("abc", {}, "single text"),
        (np.zeros((2, 2)), {}, "1 dimension"),
        (["a", "x"], {"classes": ["a", "b"]}, "Sample 1 has the label 'x'.*'a', 'b'"),
        (np.array(["a", "a", "x"]), {"classes": ["a", "b"]}, "Sample 2 has the label 'x'"),
        ([1, 0], {"classes": [0, 1, -1]}, "-1 is both a class and the marker.*unlabeled="),
        (["a"], {"classes": ["a", "a"]}, "distinct"),
        ([1j, 2j], {}, "no order; name them with classes="),
    ],
)
def test_bad_labels_are_refused(labels: object, options: dict[str, object], message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        encode_labels(labels, **options)


def test_no_label_at_all_is_read_as_such() -> None:
    evidence = encode_labels([-1, None])
    assert evidence.classes == ()
    assert evidence.is_unlabeled.all()
    assert evidence.dense().shape == (2, 0)
