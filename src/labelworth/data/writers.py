"""Writers of sequences: CoNLL columns, attribute files of CRFsuite and JSON lines, as the readers read them."""

import json
import os
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

from labelworth.data.files import write_lines
from labelworth.data.readers.conll import DOCUMENT_START, UNSEEN_TAGS
from labelworth.data.readers.crfsuite import UNSEEN_LABEL, WEIGHT
from labelworth.data.readers.raw_sequences import RawAttributes, RawTokens
from labelworth.errors import InvalidInputError

_CANDIDATE_SETS = (list, tuple, set, frozenset)


def write_conll(path: str | os.PathLike[str], raw: RawTokens, *, delimiter: str = " ") -> None:
    r"""Write tokens in columns: those of `raw`, then the label; `read_conll` reads them back.

    Parameters
    ----------
    path : path
        Packed with gzip if it ends in ``.gz``.
    raw : RawTokens
        A label that was not seen is written ``_``.
    delimiter : " " or "\\t"
        Words that hold blanks need a tab.

    Raises
    ------
    InvalidInputError
        If something cannot be written so that it is read back as it was: an empty cell, one with the delimiter or a
        line end, a candidate set, a label ``?`` or ``_``. JSON lines hold all of these.
    OutputError
        If the file cannot be written.
    """
    if delimiter not in (" ", "\t"):
        raise InvalidInputError(f"delimiter must be a blank or a tab. Got {delimiter!r} instead.")
    labels = [_conll_label(label) for label in raw.labels]
    forbidden = "\r\n\t" if delimiter == "\t" else "\r\n\t "
    for column in raw.columns:
        _require_cells(column, forbidden)
    _require_cells(labels, "\r\n\t ")
    begun = next((cell for cell in raw.columns[0] if cell.startswith(DOCUMENT_START)), None)
    if begun is not None:
        raise InvalidInputError(f"The cell {begun!r} would be read as the beginning of a document. Write JSON lines.")
    write_lines(path, _conll_lines(raw, labels, delimiter))


def _conll_lines(raw: RawTokens, labels: Sequence[str], delimiter: str) -> Iterator[str]:
    ends = set(raw.offsets[1:].tolist())
    for token, cells in enumerate(zip(*raw.columns, labels, strict=True), start=1):
        yield delimiter.join(cells) + ("\n\n" if token in ends else "\n")


def _conll_label(label: Any) -> str:
    if label is None:
        return UNSEEN_TAGS[-1]
    if isinstance(label, _CANDIDATE_SETS):
        raise InvalidInputError(f"Columns cannot hold the candidate set {label!r}. Write JSON lines.")
    if label in UNSEEN_TAGS:
        raise InvalidInputError(f"The label {label!r} would be read as not seen. Call it something else.")
    return str(label)


def _require_cells(cells: Sequence[str], forbidden: str) -> None:
    for cell in cells:
        if not cell or any(character in cell for character in forbidden):
            raise InvalidInputError(
                f"Columns cannot hold the cell {cell!r}: it is empty, or holds a blank, tab or line end. "
                "Use delimiter='\\t' for words with blanks, or write JSON lines."
            )


def write_crfsuite(path: str | os.PathLike[str], raw: RawAttributes) -> None:
    """Write tokens with their attributes; `read_crfsuite` and CRFsuite itself read them.

    Parameters
    ----------
    path : path
        Packed with gzip if it ends in ``.gz``.
    raw : RawAttributes
        A label that was not seen is written ``?``. Weights of one are left out.

    Raises
    ------
    InvalidInputError
        If something cannot be written so that it is read back as it was: an empty name, one with a tab or a line
        end, a candidate set, a label ``?`` or one that begins with ``@``.
    OutputError
        If the file cannot be written.
    """
    names = [_escaped(name, "attribute") for name in raw.names]
    labels = [_crfsuite_label(label) for label in raw.labels]
    write_lines(path, _crfsuite_lines(raw, names, labels))


def _crfsuite_lines(raw: RawAttributes, names: list[str], labels: list[str]) -> Iterator[str]:
    rows = raw.attributes
    starts, columns, values = rows.indptr.tolist(), rows.indices.tolist(), rows.data.tolist()
    offsets = raw.offsets.tolist()
    for sequence, (first, end) in enumerate(pairwise(offsets)):
        if raw.weights is not None and raw.weights[sequence] != 1.0:
            yield f"{WEIGHT}:{float(raw.weights[sequence])!r}\n"
        for token in range(first, end):
            entries = range(starts[token], starts[token + 1])
            yield "\t".join([labels[token], *(_attribute(names[columns[e]], values[e]) for e in entries)]) + "\n"
        yield "\n"


def _attribute(name: str, value: float) -> str:
    return name if value == 1.0 else f"{name}:{value!r}"


def _crfsuite_label(label: Any) -> str:
    if label is None:
        return UNSEEN_LABEL
    if isinstance(label, _CANDIDATE_SETS):
        raise InvalidInputError(f"Attribute files cannot hold the candidate set {label!r}. Write JSON lines.")
    if label == UNSEEN_LABEL or str(label).startswith("@") or not str(label).strip():
        raise InvalidInputError(f"The label {label!r} would not be read as a label. Call it something else.")
    return _escaped(str(label), "label")


def _escaped(name: str, what: str) -> str:
    if not name or any(character in name for character in "\t\r\n"):
        raise InvalidInputError(
            f"Attribute files cannot hold the {what} {name!r}: it is empty, or has a tab or line end."
        )
    return name.replace("\\", "\\\\").replace(":", "\\:")


def write_tokens_jsonl(path: str | os.PathLike[str], raw: RawTokens, *, tags_column: str = "tags") -> None:
    """Write one object with ``tokens`` and ``tags`` per sequence; `read_tokens_jsonl` reads them back.

    Parameters
    ----------
    path : path
        Packed with gzip if it ends in ``.gz``.
    raw : RawTokens
        A label that was not seen is null, a candidate set a list. Other columns stand beside under their names.
    tags_column : str

    Raises
    ------
    InvalidInputError
        If a label is neither text nor a number from 0, or a name is used twice.
    OutputError
        If the file cannot be written.
    """
    names = list(raw.column_names)
    names[raw.word_column] = "tokens"
    if len({*names, tags_column}) <= len(names):
        raise InvalidInputError(
            f"The columns {', '.join(names)} and {tags_column} must have different names. Use another tags_column=."
        )
    labels = [_json_label(label) for label in raw.labels]
    write_lines(path, _json_lines(raw, names, labels, tags_column))


def _json_lines(raw: RawTokens, names: list[str], labels: list[Any], tags_column: str) -> Iterator[str]:
    offsets = raw.offsets.tolist()
    for first, end in pairwise(offsets):
        record: dict[str, Any] = {name: column[first:end] for name, column in zip(names, raw.columns, strict=True)}
        record[tags_column] = labels[first:end]
        yield json.dumps(record, ensure_ascii=False) + "\n"


def _json_label(label: Any) -> Any:
    if isinstance(label, _CANDIDATE_SETS):
        return [_json_tag(member) for member in label]
    return None if label is None else _json_tag(label)


def _json_tag(label: Any) -> Any:
    text = isinstance(label, str) and label != ""
    number = isinstance(label, int) and not isinstance(label, bool) and label >= 0
    if not text and not number:
        raise InvalidInputError(f"JSON lines hold tags that are text or numbers from 0. Got {label!r}; rename it.")
    return label
