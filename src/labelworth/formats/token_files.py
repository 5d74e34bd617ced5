"""Files of tokens that the readers of sequences know: CoNLL columns, and JSON lines with tokens and tags."""

import warnings
from collections.abc import Callable
from dataclasses import replace
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any

import numpy as np

from labelworth.data.readers.choose import read_sequences
from labelworth.data.readers.raw_sequences import RawTokens
from labelworth.data.writers import write_conll, write_tokens_jsonl
from labelworth.errors import InvalidInputError, LabelworthWarning
from labelworth.formats.export import Export, Item, Judgement
from labelworth.formats.format import USUAL, Format
from labelworth.formats.source import Source

_MARKERS = (b"\x00", b"#FORMAT=")


def _knows_conll(source: Source) -> bool:
    """Lines of cells between blanks, the first of which does not name columns of texts."""
    head = source.head.removeprefix(b"\xef\xbb\xbf")
    if source.is_folder or source.is_json or any(mark in head for mark in _MARKERS) or head[:2] in (b"PK", b"PA"):
        return False
    lines = [line for line in head.split(b"\n")[:3] if line.strip()]
    if not lines or b"text" in lines[0].lower().replace(b",", b"\t").split(b"\t"):
        return False
    counts = {len(line.split()) for line in lines if not line.startswith(b"-DOCSTART-")}
    return bool(counts) and max(counts) >= 2


def _knows_json(source: Source) -> bool:
    tokens = source.first.get("tokens")
    return isinstance(tokens, list) and all(isinstance(token, str) for token in tokens)


def _reader(format: str) -> Callable[[Source], Export]:
    def read(source: Source) -> Export:
        with warnings.catch_warnings():
            # That tags contradict themselves is among the notes.
            warnings.simplefilter("ignore", LabelworthWarning)
            raw = read_sequences(source.path, format=format, encoding=source.reading.encoding)
        if not isinstance(raw, RawTokens):
            raise InvalidInputError(f"{source.path} holds no tokens.")
        notes = raw.notes
        if len(raw.columns) > 1:
            notes = (*notes, f"{len(raw.columns) - 1} other columns of tokens were left out.")
        return Export(tuple(_items(raw)), "tags", (), "label", str(source.path), notes)

    return read


def _items(raw: RawTokens) -> list[Item]:
    items = []
    for number, (first, end) in enumerate(pairwise(raw.offsets.tolist()), start=1):
        tags = tuple(
            tuple(map(str, t)) if isinstance(t, list) else t if t is None else str(t) for t in raw.labels[first:end]
        )
        items.append(item_of_words(str(number), list(raw.words[first:end]), tags))
    return items


def item_of_words(name: str, words: list[str], tags: tuple[Any, ...]) -> Item:
    """Tokens with their tags, as a text with blanks between; unlabeled where no tag was seen."""
    ends = list(accumulate(len(word) + 1 for word in words))
    tokens = tuple((end - len(word) - 1, end - 1) for word, end in zip(words, ends, strict=True))
    judgements = (Judgement(tags),) if any(tag is not None for tag in tags) else ()
    return Item(name, " ".join(words), judgements, (), tokens)


def raw_tokens(export: Export) -> RawTokens:
    """Tokens and tags of what holds at most one judgement each."""
    words = tuple(word for item in export.items for word in item.words)
    labels: list[Any] = []
    for item in export.items:
        said = item.judgements[0].said if item.judgements else (None,) * len(item.tokens or ())
        labels += [list(tag) if isinstance(tag, tuple) else tag for tag in said]
    sizes = [len(item.tokens or ()) for item in export.items]
    offsets = np.array([0, *accumulate(sizes)], dtype=np.int64)
    return RawTokens((words,), ("tokens",), 0, offsets, tuple(labels), export.source)


def _put_conll(export: Export, path: Path) -> None:
    raw = raw_tokens(_require_tokens(export))
    write_conll(path, raw, delimiter="\t" if any(" " in word for word in raw.words) else " ")


def _put_json(export: Export, path: Path) -> None:
    write_tokens_jsonl(path, raw_tokens(_require_tokens(export)))


def _require_tokens(export: Export) -> Export:
    if not export.items:
        raise InvalidInputError(f"{export.source} holds no tokens that could be written.")
    return replace(export, notes=())


_HOLDS = {
    "tags",
    "nothing",
    "partly judged",
    "spans alone",
    *USUAL - {"spans", "edges", "overlapping", "empty items"},
}
CONLL = Format(
    "conll",
    "CoNLL columns",
    ("tags",),
    frozenset(_HOLDS),
    "a tag _ : the token is unlabeled; all O: nothing",
    _knows_conll,
    _reader("conll"),
    _put_conll,
    (".conll",),
    needs_tokens=("spans",),
    is_data=True,
)
TOKENS_JSONL = Format(
    "tokens-jsonl",
    "JSON lines of tokens",
    ("tags",),
    frozenset({*_HOLDS, "one of"}),
    "a tag null: the token is unlabeled; all O: nothing",
    _knows_json,
    _reader("tokens-jsonl"),
    _put_json,
    (".jsonl",),
    needs_tokens=("spans",),
    is_data=True,
)
