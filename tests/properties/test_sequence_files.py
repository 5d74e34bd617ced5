"""What is written of sequences comes back as it was; whatever else is in a file, only our own errors come out."""

import tempfile
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from labelworth.data.readers import read_sequences
from labelworth.data.readers.raw_sequences import RawAttributes, RawTokens
from labelworth.data.writers import write_conll, write_crfsuite, write_tokens_jsonl
from labelworth.errors import LabelworthError, LabelworthWarning

FAST = settings(max_examples=60, deadline=None)

characters = st.sampled_from("\"',;\\[]{}:@?_#-= \0\x1c\x85\u2028\u00a0\ufeff") | st.characters(codec="utf-8")
texts = st.text(characters, max_size=6)
cells = st.text(characters.filter(lambda c: c not in "\t\r\n "), min_size=1, max_size=6)
lines = st.text(characters.filter(lambda c: c not in "\t\r\n"), min_size=1, max_size=6)
# Blanks around a label do not count.
names_of_classes = cells.map(str.strip).filter(bool)
tags = st.sampled_from(["O", "B-X", "I-X", "S-Y"]) | names_of_classes
sets_of = st.lists(names_of_classes, min_size=1, max_size=3)


def raw_tokens(draw: Any, words: st.SearchStrategy[str], labels: st.SearchStrategy[Any], n_columns: int) -> RawTokens:
    lengths = draw(st.lists(st.integers(1, 4), min_size=1, max_size=4))
    n_tokens = sum(lengths)
    of_all = st.lists(words, min_size=n_tokens, max_size=n_tokens).map(tuple)
    columns = tuple(draw(of_all) for _ in range(n_columns))
    chosen = tuple(draw(st.lists(labels, min_size=n_tokens, max_size=n_tokens)))
    names = tuple(str(number) for number in range(n_columns))
    return RawTokens(columns, names, 0, np.concatenate([[0], np.cumsum(lengths)]), chosen, "here")


def through_a_file(name: str, write: Any, **options: Any) -> Any:
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore", LabelworthWarning)
        path = Path(folder) / name
        write(path)
        return read_sequences(path, **options)


@FAST
@given(st.data(), st.integers(1, 3), st.booleans())
def test_columns_come_back(data: st.DataObject, n_columns: int, packed: bool) -> None:
    label = st.none() | tags.filter(lambda tag: tag not in ("?", "_"))
    raw = raw_tokens(data.draw, cells.filter(lambda cell: not cell.startswith("-DOC")), label, n_columns)
    back = through_a_file("a.conll.gz" if packed else "a.conll", lambda path: write_conll(path, raw))
    assert (back.columns, back.labels) == (raw.columns, raw.labels)
    assert back.offsets.tolist() == raw.offsets.tolist()


@FAST
@given(st.data(), st.integers(1, 3))
def test_columns_with_blanks_come_back_between_tabs(data: st.DataObject, n_columns: int) -> None:
    label = st.none() | tags.filter(lambda tag: tag not in ("?", "_"))
    raw = raw_tokens(data.draw, lines.filter(lambda cell: not cell.startswith("-DOC")), label, n_columns)
    back = through_a_file("a.conll", lambda path: write_conll(path, raw, delimiter="\t"))
    assert (back.columns, back.labels, back.offsets.tolist()) == (raw.columns, raw.labels, raw.offsets.tolist())


@FAST
@given(st.data(), st.integers(1, 3), st.booleans())
def test_json_lines_come_back(data: st.DataObject, n_columns: int, packed: bool) -> None:
    label = st.none() | tags | sets_of
    if data.draw(st.booleans()):
        label = st.none() | st.integers(0, 99) | st.lists(st.integers(0, 99), min_size=1, max_size=3)
    raw = raw_tokens(data.draw, texts, label, n_columns)
    name = "a.jsonl.gz" if packed else "a.jsonl"
    back = through_a_file(name, lambda path: write_tokens_jsonl(path, raw))
    assert (back.columns, back.labels, back.offsets.tolist()) == (raw.columns, raw.labels, raw.offsets.tolist())
    assert back.column_names == ("tokens", *raw.column_names[1:])


weights = st.floats(-1e300, 1e300).filter(lambda value: value != 0)


@FAST
@given(st.data())
def test_attribute_files_come_back(data: st.DataObject) -> None:
    lengths = data.draw(st.lists(st.integers(1, 3), min_size=1, max_size=4))
    names = data.draw(st.lists(lines, min_size=1, max_size=4, unique=True))
    some = st.dictionaries(st.sampled_from(names), weights, max_size=4)
    rows = data.draw(st.lists(some, min_size=sum(lengths), max_size=sum(lengths)))
    named = lines.map(str.strip).filter(lambda name: name not in ("", "?") and name[0] != "@")
    label = st.none() | named
    labels = tuple(data.draw(st.lists(label, min_size=len(rows), max_size=len(rows))))
    dense = np.array([[row.get(name, 0.0) for name in names] for row in rows])
    sequence_weights = np.array(data.draw(st.lists(st.floats(0, 9), min_size=len(lengths), max_size=len(lengths))))
    raw = RawAttributes(
        sp.csr_array(dense),
        tuple(names),
        np.concatenate([[0], np.cumsum(lengths)]),
        labels,
        "here",
        (),
        sequence_weights,
    )
    back = through_a_file("a.crfsuite", lambda path: write_crfsuite(path, raw))
    assert back.labels == labels
    assert back.offsets.tolist() == raw.offsets.tolist()
    found = [dict(zip(back.names, row, strict=True)) for row in back.attributes.toarray().tolist()]
    assert [{name: weight for name, weight in row.items() if weight} for row in found] == rows
    assert (np.ones(len(lengths)) if back.weights is None else back.weights).tolist() == sequence_weights.tolist()


GOOD = {
    "a.conll": b"the DT B-NP\ncat NN I-NP\n\n-DOCSTART- X O\n\ngo VB ?\n",
    "a.crfsuite": b"@weight:2\nB-NP\tw=the\tp\\:q:0.5\n?\tw=cat\n\nO\n",
    "a.jsonl": b'{"tokens": ["the", "cat"], "tags": ["D", ["N", "V"]]}\n{"tokens": ["go"], "tags": [-100]}\n',
}


def refusal(name: str, content: bytes) -> str | None:
    """What our error says, None if all went well; other errors pass through."""
    try:
        through_a_file(name, lambda path: path.write_bytes(content)).sequences()
    except LabelworthError as error:
        return str(error)
    return None


@pytest.mark.parametrize("name", sorted(GOOD))
@FAST
@given(content=st.binary(max_size=120))
def test_garbage_raises_only_our_errors(name: str, content: bytes) -> None:
    assert refusal(name, content) != ""


@pytest.mark.parametrize("name", sorted(GOOD))
@FAST
@given(data=st.data())
def test_damaged_files_raise_only_our_errors(name: str, data: st.DataObject) -> None:
    content = bytearray(GOOD[name])
    for _ in range(data.draw(st.integers(1, 4))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    assert refusal(name, bytes(content)) != ""
