"""CoNLL columns: one token per line, columns between blanks or tabs, a blank line after each sentence."""

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from labelworth.data.readers.raw_sequences import RawTokens, SequenceRows
from labelworth.data.readers.streams import read_lines
from labelworth.errors import InvalidInputError

DOCUMENT_START = "-DOCSTART-"
_FASTTEXT = "__label__"
UNSEEN_TAGS = ("?", "_")
"""Labels that say that there is none."""

_BLANKS = re.compile(r"[ \t]+")


def read_conll(
    path: Path,
    *,
    label_column: int | None = -1,
    word_column: int = 0,
    unlabeled: str | Sequence[str] | None = None,
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
    unlabeled : str or sequence of str, optional
        The labels that mean "not seen"; `UNSEEN_TAGS` when absent.
    encoding : str
    """
    rows = _Rows(path)
    for number, line in enumerate(read_lines(path, encoding), start=1):
        rows.add(line.rstrip("\r\n"), number)
    offsets = rows.offsets()
    label_at, word_at = _columns(path, rows.n_columns, label_column, word_column)
    columns = rows.columns()
    markers = UNSEEN_TAGS if unlabeled is None else (unlabeled,) if isinstance(unlabeled, str) else unlabeled
    rows.labels = [None] * len(rows.locations) if label_at is None else _labels(columns.pop(label_at), {"", *markers})
    names = tuple(str(number) for number in range(rows.n_columns) if number != label_at)
    notes = rows.notes()
    if rows.n_documents:
        notes = (*notes, f"{rows.n_documents} line(s) {DOCUMENT_START} were left out.")
    word_column = names.index(str(word_at))
    return RawTokens(tuple(columns), names, word_column, offsets, tuple(rows.labels), str(path), notes)


class _Rows(SequenceRows):
    """Cells are kept in one long list, which is read and cut fast."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.cells: list[str] = []
        self.n_columns = self.n_documents = 0
        self.split: Callable[[str], list[str]] | None = None

    def add(self, text: str, number: int) -> None:
        if not text or not text.strip(" \t"):
            self.close()
            return
        if text.startswith(DOCUMENT_START):
            self.n_documents += 1
            self.close()
            return
        if self.split is None:
            if text.startswith(_FASTTEXT):
                raise InvalidInputError(
                    f"{self.path}, line {number} begins with {_FASTTEXT}: that is fastText, which holds no tokens. "
                    "Write texts and labels as CSV or JSON lines."
                )
            self.split = _at_tabs if "\t" in text else _at_blanks
        cells = self.split(text)
        self.n_columns = self.n_columns or len(cells)
        if len(cells) != self.n_columns:
            raise InvalidInputError(
                f"{self.path}, line {number} has {len(cells)} column(s) where line {self.locations[0]} has "
                f"{self.n_columns}. Every token needs all columns, and a blank line ends a sentence."
            )
        self.cells += cells
        self.locations.append(number)

    def columns(self) -> list[tuple[str, ...]]:
        """Column by column; an error if a cell is empty."""
        if "" in self.cells:
            token, column = divmod(self.cells.index(""), self.n_columns)
            problem = f"column {column} is empty. Write '_' or '?' for a label that was not seen"
            raise self.error(self.locations[token], problem)
        return [tuple(self.cells[column :: self.n_columns]) for column in range(self.n_columns)]


def _at_tabs(text: str) -> list[str]:
    return text.split("\t")


def _at_blanks(text: str) -> list[str]:
    # Not str.split(): it would also cut at no-break spaces, which words of real corpora contain.
    cells = text.split(" ")
    return _BLANKS.split(text.strip(" \t")) if "" in cells or "\t" in text else cells


def _labels(column: Sequence[str], unlabeled: set[str]) -> list[Any]:
    return [None if label in unlabeled else label for label in map(str.strip, column)]


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
            f"{path} has {n_columns} column(s); {keyword}={column} is not one of them. They count from "
            "0, or from -1 at the end."
        )
    return column % n_columns
