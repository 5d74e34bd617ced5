import gzip
from pathlib import Path

import numpy as np
import pytest

from labelworth.data.readers import RawFeatures, RawTexts, read, read_sequences
from labelworth.data.readers.choose import holds_sequences
from labelworth.data.readers.raw_sequences import RawAttributes, RawTokens
from labelworth.errors import DataUnavailableError, InvalidInputError
from support.files import write_csv, write_jsonl, write_parquet, write_svmlight

TEXTS, LABELS = ["to be", "or not"], ["x", None]


@pytest.mark.parametrize(
    "name", ["a.jsonl", "a.ndjson", "a.json", "A.JSONL", "a.jsonl.gz", "a.csv", "a.tsv", "a.parquet"]
)
def test_the_ending_chooses_the_format(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    if "js" in name.lower():
        write_jsonl(path, TEXTS, LABELS)
    elif name.endswith("parquet"):
        write_parquet(path, TEXTS, LABELS)
    else:
        write_csv(path, TEXTS, LABELS, delimiter="\t" if name.endswith("tsv") else ",")
    raw = read(path)
    assert isinstance(raw, RawTexts)
    assert raw.texts == ("to be", "or not")
    assert raw.labels == ("x", None)
    assert raw.source == str(path)
    assert raw.evidence().codes.tolist() == [0, -1]


def test_features_are_chosen_by_their_endings_too(tmp_path: Path) -> None:
    write_svmlight(tmp_path / "a.svm", np.eye(2), [3, 4])
    np.savez(tmp_path / "a.npz", X=np.eye(2), y=np.array([3, 4]))
    for name in ("a.svm", "a.npz"):
        raw = read(tmp_path / name)
        assert isinstance(raw, RawFeatures)
        assert raw.labels == (3, 4)
        assert raw.features.shape == (2, 2)


def test_a_format_can_be_named(tmp_path: Path) -> None:
    path = write_csv(tmp_path / "table.txt", TEXTS, LABELS)
    assert read(path, format="csv").labels == ("x", None)


def test_gzip_is_unpacked_whatever_the_file_is_called(tmp_path: Path) -> None:
    inner = write_parquet(tmp_path / "a.parquet", TEXTS, LABELS).read_bytes()
    (tmp_path / "b.parquet.gz").write_bytes(gzip.compress(inner))
    (tmp_path / "c.parquet").write_bytes(gzip.compress(inner))
    assert read(tmp_path / "b.parquet.gz").labels == read(tmp_path / "c.parquet").labels == ("x", None)


def test_an_unknown_ending_or_format_lists_the_known_ones(tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match=r"'a\.xlsx' does not say.*\.jsonl.*format="):
        read(tmp_path / "a.xlsx")
    with pytest.raises(InvalidInputError, match=r"no format 'xml'.*jsonl, csv, tsv, parquet, svmlight, npz"):
        read(tmp_path / "a.jsonl", format="xml")


def test_labels_of_their_own_go_with_arrays_only(tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match=r"labels= goes with \.npz"):
        read(write_jsonl(tmp_path / "a.jsonl", TEXTS, LABELS), labels=tmp_path / "y.txt")


def test_a_missing_file_suggests_its_neighbor(tmp_path: Path) -> None:
    write_jsonl(tmp_path / "train.jsonl", TEXTS, LABELS)
    with pytest.raises(DataUnavailableError, match=r"no file.*trains\.jsonl.*Did you mean.*train\.jsonl"):
        read(tmp_path / "trains.jsonl")
    with pytest.raises(DataUnavailableError, match="Check the name and the folder"):
        read(tmp_path / "nowhere" / "a.jsonl")
    with pytest.raises(DataUnavailableError, match="is a folder"):
        read(tmp_path, format="csv")


SEQUENCES = {
    "a.conll": "the D\ncat ?\n",
    "a.txt": "the D\ncat ?\n",
    "a.iob": "the D\ncat ?\n",
    "a.crfsuite": "D\tw=the\n?\tw=cat\n",
    "a.jsonl": '{"tokens": ["the", "cat"], "tags": ["D", null]}\n',
}


@pytest.mark.parametrize("name", SEQUENCES)
def test_the_ending_chooses_the_format_of_sequences(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_text(SEQUENCES[name])
    raw = read_sequences(path)
    assert isinstance(raw, RawAttributes if name == "a.crfsuite" else RawTokens)
    assert raw.labels == ("D", None)
    assert raw.sequences().evidence.codes.tolist() == [0, -1]


def test_the_format_and_the_marker_of_sequences_can_be_named(tmp_path: Path) -> None:
    path = tmp_path / "a.data"
    path.write_text("the D\ncat -\n")
    with pytest.raises(InvalidInputError, match=r"ending of 'a.data' does not say.*format="):
        read_sequences(path)
    assert read_sequences(path, format="conll", unlabeled="-").labels == ("D", None)
    with pytest.raises(InvalidInputError, match=r"no format of sequences 'xml'. Choose one of conll, crfsuite"):
        read_sequences(path, format="xml")


def test_a_file_is_one_of_sequences_by_its_format_its_ending_or_its_first_object(tmp_path: Path) -> None:
    assert holds_sequences(tmp_path / "a.csv", "conll")
    assert not holds_sequences(tmp_path / "a.conll", "csv")
    assert holds_sequences(tmp_path / "a.conll.gz")
    assert not holds_sequences(tmp_path / "missing.jsonl")
    path = tmp_path / "a.json"
    for content, is_sequences in (
        ('{"tokens": ["a"], "tags": ["X"]}\n', True),
        ('[{"tokens": ["a"], "tags": ["X"]}]', True),
        ('{"text": "a", "label": "x"}\n', False),
        ("not JSON", False),
    ):
        path.write_text(content)
        assert holds_sequences(path) is is_sequences
