"""JSON lines of sequences."""

import json
import os
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from labelworth.data.readers.raw_sequences import RawTokens
from labelworth.data.writers.text_file import write_lines
from labelworth.errors import InvalidInputError


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
    labels = [_label(label) for label in raw.labels]
    write_lines(path, _lines(raw, names, labels, tags_column))


def _lines(raw: RawTokens, names: list[str], labels: list[Any], tags_column: str) -> Iterator[str]:
    offsets = raw.offsets.tolist()
    for first, end in pairwise(offsets):
        record: dict[str, Any] = {name: column[first:end] for name, column in zip(names, raw.columns, strict=True)}
        record[tags_column] = labels[first:end]
        yield json.dumps(record, ensure_ascii=False) + "\n"


def _label(label: Any) -> Any:
    if isinstance(label, list | tuple | set | frozenset):
        return [_single(member) for member in label]
    return None if label is None else _single(label)


def _single(label: Any) -> Any:
    text = isinstance(label, str) and label != ""
    number = isinstance(label, int) and not isinstance(label, bool) and label >= 0
    if not text and not number:
        raise InvalidInputError(f"JSON lines hold tags that are text or numbers from 0. Got {label!r}; rename it.")
    return label
