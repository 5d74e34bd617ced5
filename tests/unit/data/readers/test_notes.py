from pathlib import Path
from typing import Any

import numpy as np
import pytest

from labelworth.data.readers import read, read_sequences
from labelworth.data.readers.notes import data_notes, label_notes, text_notes
from support.files import write_jsonl


@pytest.mark.parametrize("other", ["SPAM", "Spam", "spam ", " spam", "\uff53pam"])
def test_classes_that_differ_in_capitals_or_blanks_are_named_with_what_mends_them(other: str) -> None:
    [note] = label_notes(["spam"] * 3 + [other] + ["ham"] * 5 + [None, ["ham", "spam"]])
    assert note == (
        f"{other!r} (1 label) and 'spam' (3 labels) differ in capitals or blanks only: one class? "
        f"If they are one class, use rename={f'{other}=spam'!r}."
    )


@pytest.mark.parametrize("typo", ["spma", "span", "spams", "sam", "sspam"])
def test_a_rare_class_that_is_a_letter_apart_is_asked_about(typo: str) -> None:
    [note] = label_notes(["spam"] * 10 + [typo])
    assert note.startswith(f"{typo!r} (1 label) looks like 'spam' (10). If")
    assert label_notes(["spam"] * 9 + [typo]) == ()
    assert label_notes(["spam"] * 10 + [typo], find_typos=False) == ()


@pytest.mark.parametrize(
    "labels",
    [
        ["topic 1"] * 50 + ["topic 2"],
        ["class1"] * 50 + ["class11"],
        ["pos"] * 50 + ["neg"],
        ["NN"] * 50 + ["NNS"],
        ["comp.sys.mac"] * 50 + ["comp.sys.ibm"],
        [1] * 50 + [11],
        ["ham"] * 50 + ["spam"] * 2,
    ],
)
def test_classes_that_are_meant_are_left_alone(labels: list[Any]) -> None:
    assert label_notes(labels) == ()


def test_the_same_text_with_different_labels_bounds_every_model() -> None:
    texts = ["win now", "win now ", "win now", "hello", "hello", "bye", "", ""]
    labels = ["spam", "ham", "spam", "ham", "ham", None, "ham", "spam"]
    [contradiction, repeated] = text_notes(texts, labels)
    assert "3 of 7 labeled rows (43 %)" in contradiction
    assert "at least 14 % of the labeled rows wrong. The first is 'win now': 'spam' and 'ham'." in contradiction
    assert repeated.startswith("3 of 8 rows (38 %) repeat the text of an earlier row")


def test_texts_that_are_all_numbers_are_said_to_be_read_as_words() -> None:
    [note] = text_notes(["14.02", " 1e3", "-7"], ["a", "b", None])
    assert "All texts are numbers" in note
    assert text_notes(["14.02", "fourteen", "-7"], ["a", "b", None]) == ()


def test_a_few_repeated_texts_and_candidate_sets_are_not_worth_a_word() -> None:
    texts = [f"text {row}" for row in range(99)] + ["text 0"]
    assert text_notes(texts, ["a"] * 100) == ()
    assert text_notes(["x y", "other", "x y", *texts], [["a", "b"], None, "a"] + ["a"] * 100) == ()


def test_what_was_read_is_looked_at_whatever_the_format(tmp_path: Path) -> None:
    rows = write_jsonl(tmp_path / "a.jsonl", ["a b", "c d", "a b"], ["x", "X", "y"])
    [near, contradiction] = data_notes(read(rows))
    assert "one class?" in near
    assert "occurs with another label" in contradiction
    np.savez(tmp_path / "a.npz", X=np.eye(12), y=np.array(["good"] * 11 + ["goood"]))
    [note] = data_notes(read(tmp_path / "a.npz"))
    assert note.endswith("use rename='goood=good'.")
    (tmp_path / "a.conll").write_text("a NN\n" * 20 + "b NNS\nc nn\n")
    [note] = data_notes(read_sequences(tmp_path / "a.conll"))
    assert note.endswith("use rename='nn=NN'.")


def test_near_equal_classes_are_read_as_one_when_renamed(tmp_path: Path) -> None:
    path = write_jsonl(tmp_path / "a.jsonl", ["a", "b", "c"], ["ham", "hamm", ["hamm", "spam"]])
    assert read(path, rename={"hamm": "ham"}).labels == ("ham", "ham", ["ham", "spam"])
    numbers = write_jsonl(tmp_path / "b.jsonl", ["a", "b"], [1, 11])
    assert read(numbers, rename={"11": "1"}).labels == (1, 1)
    (tmp_path / "a.conll").write_text("a NN\nb nn\n")
    assert read_sequences(tmp_path / "a.conll", rename={"nn": "NN"}).labels == ("NN", "NN")
    assert read(path, rename="hamm=ham, spam=junk").labels == ("ham", "ham", ["ham", "junk"])
    with pytest.raises(ValueError, match=r"no label 'ha' to rename"):
        read(path, rename={"ha": "ham"})
    with pytest.raises(ValueError, match=r"takes old=new.*Got 'hamm' instead"):
        read(path, rename="hamm")


def test_notes_come_with_what_was_read(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("text;label\na;spam\nb;SPAM\nc;spam\n")
    near, cells = read(tmp_path / "a.csv").notes
    assert near.startswith("'SPAM' (1 label) and 'spam' (2 labels) differ")
    assert cells.endswith("end at ';', and were read so.")
