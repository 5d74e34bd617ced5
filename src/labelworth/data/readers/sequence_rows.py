"""Collects the tokens of a file, sequence by sequence, and says what was found in them."""

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from labelworth.arrays import IntArray
from labelworth.data.tag_schemes import find_scheme
from labelworth.errors import InvalidInputError, LabelworthWarning


class SequenceEnds:
    """Where sequences end, as tokens are counted one by one."""

    def __init__(self) -> None:
        self._ends = [0]

    def close(self, n_tokens: int) -> None:
        """End the sequence that is open, if there is one."""
        if n_tokens > self._ends[-1]:
            self._ends.append(n_tokens)

    @property
    def open_from(self) -> int:
        """The first token of the open sequence."""
        return self._ends[-1]

    def offsets(self, source: object) -> IntArray:
        """Where all sequences begin; an error if there is none."""
        if len(self._ends) == 1:
            raise InvalidInputError(f"{source} holds no tokens. Was it written completely?")
        return np.array(self._ends, dtype=np.int64)


def told(labels: Sequence[Any], offsets: IntArray, place: Callable[[int], str]) -> tuple[str, ...]:
    """What is to be said of the labels; tags that break a scheme, or nearly follow one, are a warning too.

    Parameters
    ----------
    labels : one entry per token
    offsets : integer array of shape (n_sequences + 1,)
    place : callable
        What to call a token in a message.
    """
    n_unseen = sum(label is None for label in labels)
    if n_unseen == len(labels):
        return ("No token has a label.",)
    found = find_scheme(labels, offsets)
    notes = [found.describe()]
    if found.first is not None:
        notes[0] += f" The first is at {place(min(found.first, len(labels) - 1))}."
    if found.is_doubtful:
        warnings.warn(notes[0], LabelworthWarning, stacklevel=4)
    if n_unseen:
        notes.append(f"{n_unseen} of {len(labels)} tokens have no label.")
    return tuple(notes)
