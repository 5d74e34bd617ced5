from pathlib import Path

import pytest

from labelworth.data.readers import read_sequences
from labelworth.data.readers.raw_sequences import RawAttributes, RawTokens
from labelworth.errors import InvalidInputError

CONTENT = {
    "a.conll": "the D\ncat ?\n",
    "a.txt": "the D\ncat ?\n",
    "a.iob": "the D\ncat ?\n",
    "a.crfsuite": "D\tw=the\n?\tw=cat\n",
    "a.jsonl": '{"tokens": ["the", "cat"], "tags": ["D", null]}\n',
}


@pytest.mark.parametrize("name", CONTENT)
def test_the_ending_chooses_the_format(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_text(CONTENT[name])
    raw = read_sequences(path)
    assert isinstance(raw, RawAttributes if name == "a.crfsuite" else RawTokens)
    assert raw.labels == ("D", None)
    assert raw.sequences().evidence.codes.tolist() == [0, -1]


def test_the_format_and_the_marker_can_be_named(tmp_path: Path) -> None:
    path = tmp_path / "a.data"
    path.write_text("the D\ncat -\n")
    with pytest.raises(InvalidInputError, match=r"ending of 'a.data' does not say.*format="):
        read_sequences(path)
    assert read_sequences(path, format="conll", unlabeled="-").labels == ("D", None)
    with pytest.raises(InvalidInputError, match=r"no format of sequences 'xml'. Choose one of conll, crfsuite"):
        read_sequences(path, format="xml")
