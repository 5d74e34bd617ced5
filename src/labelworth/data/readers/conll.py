"""CoNLL columns: one token per line, columns between blanks or tabs, a blank line after each sentence."""

import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from labelworth.data.readers.raw_sequences import RawTokens
from labelworth.data.readers.sequence_rows import SequenceEnds, told
from labelworth.data.readers.streams import read_lines
from labelworth.errors import InvalidInputError

DOCUMENT_START = "-DOCSTART-"
UNSEEN_TAGS = ("?", "_")
"""Labels that say that there is none."""

_BLANKS = re.compile(r"[ \t]+")


def read_conll(
    path: Path,
    *,
    label_column: int | None = -1,
    word_column: int = 0,
    unlabeled: Sequence[str] = UNSEEN_TAGS,
    encoding: str = "utf-8",
) -> RawTokens:
    """Read a file as the shared tasks of 2000, 2002 and 2003 have them, packed with gzip or not.

    Cells end at tabs if the first line has one, else at blanks. Lines that begin with ``-DOCSTART-`` end a sentence
    and are left out.

    Parameters
    ----------
    path : path
    label_column : int or None
        Which column holds the labels: the last unless named otherwise, counted from 0, or from the end if negative.
        None if the file has no labels.
    word_column : int
        Which column holds the words, counted in the same way.
    unlabeled : sequence of str
        The labels that mean "not seen".
    encoding : str

    Raises
    ------
    DataUnavailableError
        If there is no such file.
    InvalidInputError
        If lines have different numbers of columns, a column is not there, or the bytes are not in `encoding`: says
        the line and what to do.
    """
    rows: list[list[str]] = []
    lines: list[int] = []
    ends, n_documents, split = SequenceEnds(), 0, None
    for number, line in enumerate(read_lines(path, encoding), start=1):
        text = line.rstrip("\r\n")
        if not text.strip(" \t"):
            ends.close(len(rows))
        elif text.startswith(DOCUMENT_START):
            n_documents += 1
            ends.close(len(rows))
        else:
            split = split or _splitter(text)
            cells = split(text)
            if rows and len(cells) != len(rows[0]):
                raise _ragged(path, number, cells, lines[0], rows[0])
            rows.append(cells)
            lines.append(number)
    ends.close(len(rows))
    offsets = ends.offsets(path)
    label_at, word_at = _columns(path, len(rows[0]), label_column, word_column)
    columns = list(zip(*rows, strict=True))
    _require_cells(path, columns, lines)
    labels = tuple(None for _ in rows) if label_at is None else _labels(columns.pop(label_at), set(unlabeled))
    word_column = word_at - (label_at is not None and label_at < word_at)
    names = tuple(str(number) for number in range(len(rows[0])) if number != label_at)
    notes = told(labels, offsets, lambda token: f"line {lines[token]}")
    if n_documents:
        notes = (*notes, f"{n_documents} line(s) {DOCUMENT_START} were left out.")
    return RawTokens(tuple(columns), names, word_column, offsets, labels, str(path), notes)


def _splitter(first: str) -> Callable[[str], list[str]]:
    if "\t" in first:
        return lambda text: text.split("\t")
    # Not str.split(): it would also cut at no-break spaces, which words of real corpora contain.
    return lambda text: _BLANKS.split(text.strip(" \t"))


def _labels(column: Sequence[str], unlabeled: set[str]) -> tuple[Any, ...]:
    return tuple(None if label in unlabeled else label for label in column)


def _columns(path: Path, n_columns: int, label_column: int | None, word_column: int) -> tuple[int | None, int]:
    """Both columns counted from the front."""
    word_at = _position(path, n_columns, word_column, "word_column")
    label_at = None if label_column is None else _position(path, n_columns, label_column, "label_column")
    if label_at == word_at:
        raise InvalidInputError(
            f"{path}: column {word_at} cannot hold both words and labels. Use label_column=None if the file has no "
            "labels, or name the columns with word_column= and label_column=."
        )
    return label_at, word_at


def _position(path: Path, n_columns: int, column: int, keyword: str) -> int:
    if not -n_columns <= column < n_columns:
        raise InvalidInputError(
            f"{path} has {n_columns} column(s); {keyword}={column} is none of them. They count from 0, "
            "or from -1 at the end."
        )
    return column % n_columns


def _ragged(path: Path, number: int, cells: list[str], first_line: int, first: list[str]) -> InvalidInputError:
    return InvalidInputError(
        f"{path}, line {number} has {len(cells)} column(s) where line {first_line} has {len(first)}. "
        "Every token needs all columns, and a blank line ends a sentence."
    )


def _require_cells(path: Path, columns: Sequence[Sequence[str]], lines: Sequence[int]) -> None:
    for number, token in _empty_cells(columns):
        raise InvalidInputError(
            f"{path}, line {lines[token]}: column {number} is empty. Write '_' or '?' for a label that was not seen."
        )


def _empty_cells(columns: Sequence[Sequence[str]]) -> Iterator[tuple[int, int]]:
    for number, column in enumerate(columns):
        if "" in column:
            yield number, column.index("")
