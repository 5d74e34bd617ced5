import pytest

from labelworth.data.readers.cells import NOT_NAMED, LabelCells
from labelworth.errors import InvalidInputError


@pytest.mark.parametrize("cell", [None, "", "  ", "\t", float("nan")])
def test_empty_cells_are_unlabeled(cell: object) -> None:
    assert LabelCells().read(cell, "here") is None
    assert LabelCells(unlabeled="?").read(cell, "here") is None


@pytest.mark.parametrize("cell", ["spam", "a b", "-1.5", 0, 7, 2.5, True, ["a", "b"]])
def test_labels_are_kept_as_they_are(cell: object) -> None:
    assert LabelCells().read(cell, "here") == cell


@pytest.mark.parametrize("cell", [" spam", "spam ", "\tspam\r", "\u00a0spam"])
def test_blanks_around_a_label_do_not_count(cell: str) -> None:
    assert LabelCells().read(cell, "here") == "spam"
    assert LabelCells(unlabeled="spam ").read(cell, "here") is None


def test_whole_numbers_are_integers() -> None:
    label = LabelCells().read(3.0, "here")
    assert label == 3
    assert isinstance(label, int)


@pytest.mark.parametrize(("cell", "marker"), [(-1, -1), (-1, "-1"), ("-1", -1), (-1.0, -1), ("?", "?"), (0.0, "0")])
def test_the_marker_is_compared_as_written(cell: object, marker: object) -> None:
    assert LabelCells(unlabeled=marker).read(cell, "here") is None


@pytest.mark.parametrize(("cell", "marker"), [(1, True), (True, 1), ("one", 1), (-1, None), ("None", None)])
def test_other_labels_are_not_the_marker(cell: object, marker: object) -> None:
    assert LabelCells(unlabeled=marker).read(cell, "here") is not None


@pytest.mark.parametrize("cell", [-1, "-1", -1.0, ["a", "-1"]])
def test_minus_one_must_be_explained(cell: object) -> None:
    assert LabelCells().unlabeled is NOT_NAMED
    with pytest.raises(InvalidInputError, match=r"here: the label is -1.*unlabeled=-1 if.*unlabeled=None if"):
        LabelCells().read(cell, "here")


@pytest.mark.parametrize(
    ("cell", "message"),
    [
        ({"a": 1}, r"here: the label is \{'a': 1\}"),
        (b"a", "here: the label is b'a'"),
        (float("inf"), "here: the label is inf"),
        ([], "here: the list of candidate labels is empty.*null"),
        (["a", None], "here: the candidate labels .* must each be a class"),
        (["a", ["b"]], "here: the candidate labels .* must each be a class"),
        ("\ud800", "half of a surrogate pair"),
    ],
)
def test_bad_labels_are_named_with_their_place(cell: object, message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        LabelCells().read(cell, "here")


@pytest.mark.parametrize(
    ("cell", "label"),
    [
        ('["ham", "spam"]', ["ham", "spam"]),
        ('["ham"]', ["ham"]),
        ("[ham]", "[ham]"),
        ("[1, 2]", "[1, 2]"),
        ("[]", "[]"),
        ("[" * 100_000, "[" * 100_000),
    ],
)
def test_a_written_list_of_texts_is_a_candidate_set(cell: str, label: object) -> None:
    assert LabelCells().read_written(cell, "here") == label
