"""CoNLL columns, the label last."""

import os
from collections.abc import Iterator, Sequence
from typing import Any

from labelworth.data.readers.conll import DOCUMENT_START, UNSEEN_TAGS
from labelworth.data.readers.raw_sequences import RawTokens
from labelworth.data.writers.text_file import write_lines
from labelworth.errors import InvalidInputError


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
    labels = [_label(label) for label in raw.labels]
    forbidden = "\r\n\t" if delimiter == "\t" else "\r\n\t "
    for column in raw.columns:
        _require_writable(column, forbidden)
    _require_writable(labels, "\r\n\t ")
    begun = next((cell for cell in raw.columns[0] if cell.startswith(DOCUMENT_START)), None)
    if begun is not None:
        raise InvalidInputError(f"The cell {begun!r} would be read as the beginning of a document. Write JSON lines.")
    write_lines(path, _lines(raw, labels, delimiter))


def _lines(raw: RawTokens, labels: Sequence[str], delimiter: str) -> Iterator[str]:
    ends = set(raw.offsets[1:].tolist())
    for token, cells in enumerate(zip(*raw.columns, labels, strict=True), start=1):
        yield delimiter.join(cells) + ("\n\n" if token in ends else "\n")


def _label(label: Any) -> str:
    if label is None:
        return UNSEEN_TAGS[-1]
    if isinstance(label, list | tuple | set | frozenset):
        raise InvalidInputError(f"Columns cannot hold the candidate set {label!r}. Write JSON lines.")
    if label in UNSEEN_TAGS:
        raise InvalidInputError(f"The label {label!r} would be read as not seen. Call it something else.")
    return str(label)


def _require_writable(cells: Sequence[str], forbidden: str) -> None:
    for cell in cells:
        if not cell or any(character in cell for character in forbidden):
            raise InvalidInputError(
                f"Columns cannot hold the cell {cell!r}: it is empty, or holds a blank, tab or line end. "
                "Use delimiter='\\t' for words with blanks, or write JSON lines."
            )
