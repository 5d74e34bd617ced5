"""Predicted labels of sequences on their way out."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from labelworth.cli.console import write_json

if TYPE_CHECKING:
    from labelworth.data.readers.raw_sequences import RawAttributes, RawTokens

_LINES, _COLUMNS, _ATTRIBUTES = (".jsonl", ".ndjson"), (".conll", ".iob", ".iob2", ".bio"), (".crfsuite", ".crf")
ENDINGS = (*_LINES, *_COLUMNS, *_ATTRIBUTES)

Writer = Callable[[Path, Any, list[Any]], None]


def as_lines(rows: list[dict[str, Any]]) -> None:
    """An object per sequence on stdout."""
    write_json("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))


def prediction_writer(output: Path | None, raw: "RawTokens | RawAttributes") -> Writer:
    """How predictions are written, by the ending of the file; an error if they cannot be."""
    from labelworth.errors import InvalidInputError

    if output is None:
        return _write_lines
    name = output.with_suffix("") if output.suffix.lower() == ".gz" else output
    suffix = name.suffix.lower()
    has_columns = hasattr(raw, "columns")
    if suffix in _LINES and has_columns:
        return _write_lines
    if suffix in _COLUMNS and has_columns:
        return _write_columns
    if suffix in _ATTRIBUTES and not has_columns:
        return _write_attributes
    allowed = ".conll or .jsonl" if has_columns else ".crfsuite"
    raise InvalidInputError(
        f"Labels of these sequences are written as {allowed}. Got {output.name!r}; name another file."
    )


def _write_columns(path: Path, raw: "RawTokens", labels: list[Any]) -> None:
    """The columns, true labels where there are some, and predicted labels last, as conlleval reads them."""
    from dataclasses import replace

    from labelworth.data.readers.conll import UNSEEN_TAGS
    from labelworth.data.writers import write_conll

    if any(label is not None for label in raw.labels):
        truth = tuple(label if isinstance(label, str) else UNSEEN_TAGS[-1] for label in raw.labels)
        raw = replace(raw, columns=(*raw.columns, truth), column_names=(*raw.column_names, "truth"))
    blanks = any(" " in cell for column in raw.columns for cell in column)
    write_conll(path, raw.with_labels(labels), delimiter="\t" if blanks else " ")


def _write_lines(path: Path, raw: "RawTokens", labels: list[Any]) -> None:
    from labelworth.data.writers import write_tokens_jsonl

    write_tokens_jsonl(path, raw.with_labels(labels))


def _write_attributes(path: Path, raw: "RawAttributes", labels: list[Any]) -> None:
    from labelworth.data.writers import write_crfsuite

    write_crfsuite(path, raw.with_labels(labels))
