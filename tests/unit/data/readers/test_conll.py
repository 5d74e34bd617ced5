import gzip
from pathlib import Path

import numpy as np
import pytest

from labelworth.data.readers.conll import read_conll
from labelworth.data.tokens.lexicon import Lexicon
from labelworth.errors import DataUnavailableError, InvalidInputError, LabelworthWarning

CHUNKS = "Confidence NN B-NP\nin IN B-PP\nthe DT B-NP\npound NN I-NP\n\nIt PRP B-NP\n. . O\n\n"


def written(folder: Path, content: str | bytes, name: str = "a.conll") -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def test_columns_of_the_task_of_2000(tmp_path: Path) -> None:
    raw = read_conll(written(tmp_path, CHUNKS))
    assert raw.words == ("Confidence", "in", "the", "pound", "It", ".")
    assert raw.columns[1] == ("NN", "IN", "DT", "NN", "PRP", ".")
    assert raw.column_names == ("0", "1")
    assert raw.labels == ("B-NP", "B-PP", "B-NP", "I-NP", "B-NP", "O")
    assert raw.offsets.tolist() == [0, 4, 6]
    assert raw.notes == ("The tags follow IOB2.",)
    sequences = raw.sequences()
    assert sequences.lengths.tolist() == [4, 2]
    assert sequences.evidence.classes == ("B-NP", "B-PP", "I-NP", "O")


def test_documents_of_the_task_of_2003_begin_with_a_line_of_their_own(tmp_path: Path) -> None:
    first = "-DOCSTART- -X- O O\n\nEU NNP I-NP I-ORG\nrejects VBZ I-VP O\n"
    content = first + "-DOCSTART- -X- -X- O\nBonn NNP I-NP I-LOC\nRome NNP I-NP B-LOC"
    raw = read_conll(written(tmp_path, content))
    assert raw.offsets.tolist() == [0, 2, 4]
    assert raw.notes == ("The tags follow IOB1.", "2 line(s) -DOCSTART- were left out.")


@pytest.mark.parametrize("content", ["a\tb c\tX\n\n\nd\te\tY\n", "a\tb c\tX\r\n\r\n  \r\nd\te\tY\r\n"])
def test_tabs_keep_blanks_within_cells(tmp_path: Path, content: str) -> None:
    raw = read_conll(written(tmp_path, content))
    assert raw.columns == (("a", "d"), ("b c", "e"))
    assert raw.labels == ("X", "Y")
    assert raw.offsets.tolist() == [0, 1, 2]


def test_blanks_may_be_many_and_no_break_spaces_belong_to_words(tmp_path: Path) -> None:
    raw = read_conll(written(tmp_path, " 10\u00a0000   CD O \nit \t PRP O\n"))
    assert raw.words == ("10\u00a0000", "it")


def test_labels_that_were_not_seen(tmp_path: Path) -> None:
    path = written(tmp_path, "a X\nb ?\nc _\n")
    raw = read_conll(path)
    assert raw.labels == ("X", None, None)
    assert raw.notes[-1] == "2 of 3 tokens have no label."
    assert read_conll(path, unlabeled=["X"]).labels == (None, "?", "_")
    assert read_conll(written(tmp_path, "a ?\n")).notes == ("No token has a label.",)


def test_columns_are_chosen(tmp_path: Path) -> None:
    path = written(tmp_path, "1 dog NN N\n2 runs VB V\n")
    raw = read_conll(path, label_column=-2, word_column=1)
    assert (raw.words, raw.labels, raw.column_names) == (("dog", "runs"), ("NN", "VB"), ("0", "1", "3"))
    first = read_conll(path, label_column=0, word_column=1)
    assert (first.words, first.labels, first.word_column) == (("dog", "runs"), ("1", "2"), 0)
    none = read_conll(path, label_column=None, word_column=-3)
    assert (none.words, none.labels, len(none.columns)) == (("dog", "runs"), (None, None), 4)


def test_tags_that_contradict_themselves_are_told_with_their_line(tmp_path: Path) -> None:
    path = written(tmp_path, "a B-X\n\nb O\nc I-X\nd B-X\n")
    with pytest.warns(LabelworthWarning, match=r"nearest to IOB2.*I-X may not follow O.*The first is at line 4"):
        raw = read_conll(path)
    assert raw.scheme.n_contradictions == 1


def test_packed_files_and_other_encodings(tmp_path: Path) -> None:
    packed = written(tmp_path, gzip.compress(CHUNKS.encode()), "a.txt.gz")
    assert len(read_conll(packed).words) == 6
    latin = written(tmp_path, "a X\n\u00e9t\u00e9 X\n".encode("latin-1"))
    with pytest.raises(InvalidInputError, match=r"line 2: byte 0xe9 .* not utf-8.*latin-1"):
        read_conll(latin)
    assert read_conll(latin, encoding="latin-1").words[1] == "\u00e9t\u00e9"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("a NN X\nb NN X\nc X\n", r"line 3 has 2 column\(s\) where line 1 has 3"),
        ("\na X\n\nb NN X\n", r"line 4 has 3 column\(s\) where line 2 has 2"),
        ("a\t\tX\n", "line 1: column 1 is empty"),
        ("\n\n", "holds no tokens"),
        ("-DOCSTART- O\n", "holds no tokens"),
        ("", "is empty"),
        ("a\nb\n", r"column 0 cannot hold both words and labels. Use label_column=None"),
    ],
)
def test_broken_files_are_named(tmp_path: Path, content: str, message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        read_conll(written(tmp_path, content))


def test_columns_that_are_not_there_are_named(tmp_path: Path) -> None:
    path = written(tmp_path, CHUNKS)
    with pytest.raises(InvalidInputError, match=r"has 3 column\(s\); label_column=3 is not one of them"):
        read_conll(path, label_column=3)
    with pytest.raises(InvalidInputError, match="word_column=-4"):
        read_conll(path, word_column=-4)
    with pytest.raises(DataUnavailableError, match="no file"):
        read_conll(tmp_path / "b.conll")


def test_a_label_outside_the_known_set_is_named_with_its_place(tmp_path: Path) -> None:
    raw = read_conll(written(tmp_path, CHUNKS))
    with pytest.raises(InvalidInputError, match=r"a.conll: sequence 1, token 1 \(counted from 0\) has the label 'O'"):
        raw.evidence(["B-NP", "B-PP", "I-NP"])


def test_words_of_a_test_set_are_encoded_by_the_lexicon_of_the_training_set(tmp_path: Path) -> None:
    raw = read_conll(written(tmp_path, CHUNKS))
    sequences = raw.sequences(Lexicon.from_words(["in", "the"]), raw.evidence().classes)
    assert sequences.words.tolist() == [2, 0, 1, 2, 2, 2]


def test_one_long_sequence(tmp_path: Path) -> None:
    raw = read_conll(written(tmp_path, "the DT B-NP\ncat NN I-NP\n" * 100_000))
    assert raw.offsets.tolist() == [0, 200_000]
    assert np.bincount(raw.sequences().words).tolist() == [100_000, 100_000]


def test_stray_tags_are_a_warning(tmp_path: Path) -> None:
    path = tmp_path / "mixed.conll"
    path.write_text("a B-X\nb E-X\nc S-X\n\nd U-X\n", encoding="utf-8")
    with pytest.warns(LabelworthWarning, match=r"look like BIOES tags, except for 'U-X' \(on 1 token\)"):
        raw = read_conll(path)
    assert "taken as plain tags" in raw.notes[0]
