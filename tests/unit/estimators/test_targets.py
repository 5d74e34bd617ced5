import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import DataConversionWarning

from labelworth.errors import InvalidInputError
from labelworth.estimators.targets import labeled_rows, read_targets


@pytest.mark.parametrize(
    ("y", "classes", "codes"),
    [
        ([0, 1, -1], (0, 1), [0, 1, -1]),
        (np.array([0.0, 1.0, np.nan]), (0.0, 1.0), [0, 1, -1]),
        (["b", "a", None], ("a", "b"), [1, 0, -1]),
        (["b", "a", -1], ("a", "b"), [1, 0, -1]),
        ([True, False, True], (False, True), [1, 0, 1]),
        (pd.Series([True, False, None], dtype="boolean"), (False, True), [1, 0, -1]),
        (pd.Series([3, 5, None], dtype="Int64"), (3, 5), [0, 1, -1]),
        (pd.Series(["b", "a", None], dtype="category"), ("a", "b"), [1, 0, -1]),
        ([["a", "b"], "c", "a"], ("a", "b", "c"), [-2, 2, 0]),
        ([{"a", "b"}, ("b", "c"), "a"], ("a", "b", "c"), [-2, -3, 0]),
    ],
)
def test_labels_are_read_as_written(y: object, classes: tuple[object, ...], codes: list[int]) -> None:
    evidence = read_targets(y, -1)
    assert evidence.classes == classes
    assert [type(name) for name in evidence.classes] == [type(name) for name in classes]
    assert evidence.codes.tolist() == codes


@pytest.mark.parametrize("y", [[-1, -1], [None, None], [float("nan")] * 2])
def test_nothing_but_unlabeled_rows_is_refused_with_the_cure(y: list[object]) -> None:
    with pytest.raises(InvalidInputError, match="Label at least one row per class"):
        read_targets(y, -1)


def test_numbers_to_regress_on_are_refused() -> None:
    with pytest.raises(InvalidInputError, match=r"Unknown label type.*texts or whole numbers"):
        read_targets([0.1, 0.2, 0.3], -1)


def test_a_marker_that_numpy_has_turned_into_text_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="dtype=object"):
        read_targets(np.array(["a", "b", -1]), -1)
    assert read_targets(np.array(["a", "b", -1]), "-1").classes == ("a", "b")


def test_a_missing_y_is_refused() -> None:
    with pytest.raises(ValueError, match="requires y"):
        read_targets(None, -1)


def test_a_column_is_taken_with_a_warning() -> None:
    with pytest.warns(DataConversionWarning):
        assert read_targets(np.array([[0], [1]]), -1).codes.tolist() == [0, 1]


def test_only_rows_of_one_known_class_are_tested() -> None:
    rows, labels = labeled_rows(["a", -1, ["a", "b"], "b"], -1)
    assert rows.tolist() == [True, False, False, True]
    assert labels.tolist() == ["a", "b"]
