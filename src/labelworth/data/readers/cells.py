"""What a cell of a file means: a text, a class, nothing, or a set of candidates."""

import difflib
import json
import math
from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any

from labelworth.arrays import UNLABELED
from labelworth.data.readers.raw import RawTexts
from labelworth.errors import InvalidInputError


class Marker(Enum):
    """The absence of a marker that somebody named."""

    NOT_NAMED = "not named"


NOT_NAMED = Marker.NOT_NAMED
"""Nobody said how unlabeled rows are marked: empty cells are, and a label of -1 has to be explained."""


@dataclass(frozen=True)
class LabelCells:
    """How the cells of a label column are read."""

    # The marker for "not seen" beside empty cells: `NOT_NAMED`, None (there is none), or its value. A cell and
    # the marker are compared as written: ``"-1"`` from a command line meets the number -1 in a file.
    unlabeled: Hashable = NOT_NAMED

    def read(self, cell: Any, location: str) -> Any:
        """A class (texts without the blanks around them), None for an unlabeled row, or a list of candidates.

        `location` is named in an error.
        """
        if isinstance(cell, list):
            return self._candidates(cell, location)
        if is_empty(cell):
            return None
        if not isinstance(cell, str | int | float) or (isinstance(cell, float) and math.isinf(cell)):
            raise InvalidInputError(
                f"{location}: the label is {short(cell)}. A label must be text or a finite number, a list of those "
                "(one of these), or empty (unlabeled)."
            )
        if isinstance(cell, str):
            require_unicode(cell, location)
            cell = cell.strip()
        label = whole(cell)
        if self.unlabeled is NOT_NAMED and str(label) == str(UNLABELED):
            raise InvalidInputError(what_minus_one_means(location))
        return None if self.unlabeled is not None and str(label) == str(whole(self.unlabeled)).strip() else label

    def read_written(self, cell: str, location: str) -> Any:
        """The same for formats that know text only: a JSON list of texts, ``["ham", "spam"]``, is a candidate set."""
        if cell.startswith("["):
            try:
                members = json.loads(cell)
            except (ValueError, RecursionError):
                return self.read(cell, location)
            if members and isinstance(members, list) and all(isinstance(member, str) for member in members):
                return self.read(members, location)
        return self.read(cell, location)

    def _candidates(self, cell: list[Any], location: str) -> list[Any]:
        if not cell:
            raise InvalidInputError(
                f"{location}: the list of candidate labels is empty, which rules out every class. "
                "Leave the label empty (null) if the row is unlabeled."
            )
        labels = [None if isinstance(member, list) else self.read(member, location) for member in cell]
        if None in labels:
            raise InvalidInputError(
                f"{location}: the candidate labels {short(cell)} must each be a class. "
                "Leave the whole label empty (null) if the row is unlabeled."
            )
        return labels


@dataclass(frozen=True)
class TextRows:
    """Collects the rows of a file of texts, naming the location of whatever is wrong."""

    source: Path
    cells: LabelCells
    texts: list[str]
    labels: list[Any]

    @classmethod
    def of(cls, source: Path, unlabeled: Hashable) -> "TextRows":
        return cls(source, LabelCells(unlabeled), [], [])

    def add(self, text: Any, label: Any, location: str) -> None:
        """Take one row."""
        text, label = self.read(text, label, location)
        self.texts.append(text)
        self.labels.append(label)

    def read(self, text: Any, label: Any, location: str) -> tuple[str, Any]:
        """What the cells of one row mean; a text may also be a list of words."""
        if isinstance(text, list) and all(isinstance(word, str) for word in text):
            text = " ".join(text)
        if not isinstance(text, str):
            raise InvalidInputError(
                f'{location}: the text is {short(text)}. A text must be a string; write "" for an empty document.'
            )
        require_unicode(text, location)
        return text, self.cells.read(label, location)

    def finish(self, notes: tuple[str, ...] = ()) -> RawTexts:
        """All rows; an error if there are none."""
        if not self.texts:
            raise InvalidInputError(f"{self.source} holds no rows. Was it written completely?")
        return RawTexts(tuple(self.texts), tuple(self.labels), str(self.source), notes)


def what_minus_one_means(location: str) -> str:
    """Ask: -1 is scikit-learn's marker for unlabeled, and one of the two classes in many files."""
    return (
        f"{location}: the label is -1, which marks unlabeled rows in some files and is a class in others. "
        "Say which: unlabeled=-1 if it marks unlabeled rows, unlabeled=None if it is a class."
    )


def missing_column(location: str, wanted: str, columns: Iterable[str], keyword: str) -> InvalidInputError:
    """The error for a column that is not there: what is, and what was probably meant."""
    there = list(columns)
    near = difflib.get_close_matches(wanted.lower(), [name.lower() for name in there], n=1)
    meant = next((name for name in there if near and name.lower() == near[0]), None)
    cure = f"Use {keyword}={meant!r}." if meant is not None else f"Name one of them with {keyword}=."
    if keyword == "label_column":
        cure += " Use label_column=None if the file has no labels."
    if keyword == "text_column" and meant is None:
        cure += (
            " Columns of numbers are read as vectors where they are lists in one column of Parquet, or an array X "
            "beside labels y in an .npz file; lw.plan also takes a data frame of them."
        )
    listed = ", ".join(short(name) for name in there[:20]) + (", ..." if len(there) > 20 else "")
    return InvalidInputError(f"{location} has no column {wanted!r}. It has: {listed or 'none'}. {cure}")


def require_unicode(text: str, location: str) -> None:
    r"""Refuse half of a surrogate pair (a JSON escape such as ``\ud800``), which no file can hold as text."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise InvalidInputError(
            f"{location}: character {error.start} of {short(text)} is half of a surrogate pair. "
            "Write the character itself, or both halves."
        ) from error


def is_empty(cell: Any) -> bool:
    if isinstance(cell, str):
        return not cell.strip()
    return cell is None or (isinstance(cell, float) and math.isnan(cell))


def whole(label: Hashable) -> Hashable:
    """Integers that were stored as 1.0, as pandas stores them beside missing values, are integers."""
    return int(label) if isinstance(label, float) and label.is_integer() else label


def short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
