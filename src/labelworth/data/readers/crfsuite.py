r"""Attribute files of CRFsuite: ``label<TAB>attribute<TAB>attribute:weight``, a blank line after each sequence.

A colon within a name is written ``\:`` and a backslash ``\\``. ``@weight:2`` alone on a line gives the sequence the
weight 2.
"""

import math
import re
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from labelworth.data.readers.raw_sequences import RawAttributes, SequenceRows
from labelworth.data.readers.streams import read_lines

UNSEEN_LABEL = "?"
WEIGHT = "@weight"
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)
_BARE_COLON = re.compile(r"((?:[^\\:]|\\.)*):(.*)", re.DOTALL)


def read_crfsuite(path: Path, *, unlabeled: str | None = None, encoding: str = "utf-8") -> RawAttributes:
    """Read a file that CRFsuite trains on, packed with gzip or not.

    Parameters
    ----------
    path : path
    unlabeled : str, optional
        The label that means "not seen"; `UNSEEN_LABEL` when absent.
    encoding : str
    """
    rows = _Rows(path, UNSEEN_LABEL if unlabeled is None else unlabeled)
    for number, line in enumerate(read_lines(path, encoding), start=1):
        rows.add(line.rstrip("\r\n"), number)
    return rows.finish()


class _Rows(SequenceRows):
    def __init__(self, path: Path, unlabeled: str) -> None:
        super().__init__(path)
        self.unlabeled = unlabeled
        self.columns: dict[str, int] = {}
        self.indices: list[int] = []
        self.values: list[float] = []
        self.starts = [0]
        self.weights: list[float] = []
        self.weight = 1.0
        self.weight_line: int | None = None

    def add(self, text: str, number: int) -> None:
        if not text.strip(" \t"):
            self.close()
            return
        label, *fields = text.split("\t")
        if label.startswith("@"):
            self.weight, self.weight_line = self._declared(text, number), number
            return
        label = label.strip()
        if not label:
            raise self.error(
                number, f"there is no label before the first tab. Write {UNSEEN_LABEL!r} if it is unseen"
            )
        self.labels.append(None if label == self.unlabeled else self._label(label, number))
        for field in fields:
            if field:
                name, value = self._attribute(field, number)
                self.indices.append(self.columns.setdefault(name, len(self.columns)))
                self.values.append(value)
        self.starts.append(len(self.indices))
        self.locations.append(number)

    def finish(self) -> RawAttributes:
        offsets = self.offsets()
        if self.weight_line is not None:
            raise self.error(
                self.weight_line, f"{WEIGHT} has no sequence behind it. Leave it out, or was the file cut off"
            )
        parts = (np.array(self.values, dtype=np.float64), np.array(self.indices, dtype=np.int64), self.starts)
        rows = sp.csr_array(parts, (len(self.labels), len(self.columns)))
        rows.sum_duplicates()
        weights = None if all(weight == 1.0 for weight in self.weights) else np.array(self.weights)
        names, labels = tuple(self.columns), tuple(self.labels)
        return RawAttributes(rows, names, offsets, labels, str(self.path), self.notes(), weights)

    def close(self) -> None:
        if self.has_open_sequence:
            self.weights.append(self.weight)
            self.weight, self.weight_line = 1.0, None
        super().close()

    def _label(self, label: str, number: int) -> str:
        if "\\" not in label and ":" not in label:
            return label
        if _BARE_COLON.fullmatch(label):
            raise self.error(number, rf"the label {label!r} has a bare colon. Write \: for a colon within a name")
        return _ESCAPED.sub(r"\1", label)

    def _attribute(self, field: str, number: int) -> tuple[str, float]:
        if ":" not in field and "\\" not in field:
            return field, 1.0
        match = _BARE_COLON.fullmatch(field)
        if match is None:
            return _ESCAPED.sub(r"\1", field), 1.0
        return _ESCAPED.sub(r"\1", match[1]), self._number(match[2], field, number)

    def _declared(self, text: str, number: int) -> float:
        name, _, value = text.partition(":")
        weight = self._number(value, text, number) if name == WEIGHT else -1.0
        if weight < 0:
            raise self.error(number, f"{text!r} is not {WEIGHT} with a non-negative number, as in {WEIGHT}:2")
        return weight

    def _number(self, value: str, field: str, number: int) -> float:
        try:
            weight = float(value)
        except ValueError:
            weight = math.nan
        if not math.isfinite(weight):
            raise self.error(number, rf"{field!r} has no number behind its colon. Write \: for a colon within a name")
        return weight
