"""The tokens of a file, sequence by sequence: what the readers of sequences share."""

import warnings
from pathlib import Path
from typing import Any

import numpy as np

from labelworth.arrays import IntArray
from labelworth.data.tags.schemes import find_scheme
from labelworth.errors import InvalidInputError, LabelworthWarning


class SequenceRows:
    """Labels and places of the tokens read so far, and where sequences end.

    Attributes
    ----------
    path : path
    labels : list
        Per token a label, None (not seen) or a list of labels (one of these).
    places : list
        Per token the number of its line, or what else to call where it stands.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.labels: list[Any] = []
        self.places: list[int | str] = []
        self._ends = [0]

    @property
    def has_open_sequence(self) -> bool:
        return len(self.places) > self._ends[-1]

    def close(self) -> None:
        """End the sequence that is open, if there is one."""
        if self.has_open_sequence:
            self._ends.append(len(self.places))

    def offsets(self) -> IntArray:
        """Where all sequences begin; an error if there is none."""
        self.close()
        if len(self._ends) == 1:
            raise InvalidInputError(f"{self.path} holds no tokens. Was it written completely?")
        return np.array(self._ends, dtype=np.int64)

    def notes(self) -> tuple[str, ...]:
        """What is to be said of the labels; tags that break a scheme, or nearly follow one, are a warning too."""
        n_unseen = sum(label is None for label in self.labels)
        if n_unseen == len(self.labels):
            return ("No token has a label.",)
        scheme = find_scheme(self.labels, self.offsets())
        notes = [scheme.describe()]
        if scheme.first is not None:
            place = self.places[min(scheme.first, len(self.labels) - 1)]
            notes[0] += f" The first is at {f'line {place}' if isinstance(place, int) else place}."
        if scheme.is_doubtful:
            warnings.warn(notes[0], LabelworthWarning, stacklevel=4)
        if n_unseen:
            notes.append(f"{n_unseen} of {len(self.labels)} tokens have no label.")
        return tuple(notes)

    def error(self, place: int | str, problem: str) -> InvalidInputError:
        return InvalidInputError(f"{self.path}, line {place}: {problem}.")
