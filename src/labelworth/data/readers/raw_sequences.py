"""What a file of sequences held, before words become codes and labels become evidence."""

import warnings
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from labelworth.arrays import FloatArray, IntArray
from labelworth.data.evidence import Evidence, encode_labels
from labelworth.data.sequences import Sequences
from labelworth.data.tag_schemes import SchemeMatch, find_scheme
from labelworth.data.tokens.lexicon import Lexicon
from labelworth.errors import InvalidInputError, LabelworthWarning


class _LabeledTokens:
    """Tokens with labels, sequence by sequence."""

    offsets: IntArray
    labels: tuple[Any, ...]
    source: str

    @property
    def scheme(self) -> SchemeMatch:
        return find_scheme(self.labels, self.offsets)

    def evidence(self, classes: Sequence[Hashable] | None = None) -> Evidence:
        """What is known of the labels; `classes` names them all, in order, where they are known beforehand."""
        return encode_labels(self.labels, classes=classes, unlabeled=None, position=self._position)

    def _position(self, token: int) -> str:
        sequence = int(np.searchsorted(self.offsets, token, side="right")) - 1
        return f"{self.source}: sequence {sequence}, token {token - int(self.offsets[sequence])} (counted from 0)"


@dataclass(frozen=True, eq=False)
class RawTokens(_LabeledTokens):
    """Tokens with their columns."""

    # Everything the file said of the tokens but their labels; templates refer to them by number.
    columns: tuple[tuple[str, ...], ...]
    column_names: tuple[str, ...]  # What the columns are called; their numbers where the file gives no names.
    word_column: int  # Which of the columns holds the words.
    offsets: IntArray  # (n_sequences + 1,): Sequence i is the tokens ``offsets[i]:offsets[i + 1]``; none is empty.
    labels: tuple[Any, ...]  # A label, None (not seen) or a list of labels (one of these).
    source: str  # Where they come from.
    notes: tuple[str, ...] = ()  # What was found or changed while reading, in words.

    def __post_init__(self) -> None:
        sizes = {len(column) for column in (*self.columns, self.labels)}
        if sizes != {int(self.offsets[-1])} or len(self.column_names) != len(self.columns):
            raise InvalidInputError(
                f"{self.source}: every column must have an entry and a label per token, and a name."
            )

    @property
    def words(self) -> tuple[str, ...]:
        """The word of every token."""
        return self.columns[self.word_column]

    def sequences(self, lexicon: Lexicon | None = None, classes: Sequence[Hashable] | None = None) -> Sequences:
        """The words as codes; `lexicon` has all words and an entry for unseen ones when absent."""
        lexicon = Lexicon.from_words(self.words) if lexicon is None else lexicon
        return Sequences(lexicon.encode(self.words), self.offsets, self.evidence(classes), lexicon.names)

    def with_labels(self, labels: Sequence[Any]) -> "RawTokens":
        """The same tokens with other labels, such as predicted ones."""
        return replace(self, labels=tuple(labels))


@dataclass(frozen=True, eq=False)
class RawAttributes(_LabeledTokens):
    """Tokens with attributes."""

    attributes: sp.csr_array  # (n_tokens, n_attributes): The weights of every token's attributes.
    names: tuple[str, ...]  # What the columns stand for.
    offsets: IntArray  # As in `RawTokens`.
    labels: tuple[Any, ...]
    source: str
    notes: tuple[str, ...] = ()
    # (n_sequences,), optional: How much each sequence counts, where the file says so.
    weights: FloatArray | None = None

    def sequences(self, classes: Sequence[Hashable] | None = None) -> Sequences:
        """The attributes as they are."""
        return Sequences(self.attributes, self.offsets, self.evidence(classes), self.names, self.weights)

    def with_labels(self, labels: Sequence[Any]) -> "RawAttributes":
        """The same tokens with other labels, such as predicted ones."""
        return replace(self, labels=tuple(labels))


class SequenceRows:
    """The tokens of a file read so far, sequence by sequence: what the readers of sequences share."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.labels: list[Any] = []  # Per token a label, None (not seen) or a list of labels (one of these).
        self.locations: list[
            int | str
        ] = []  # Per token the number of its line, or what else to call where it stands.
        self._ends = [0]

    @property
    def has_open_sequence(self) -> bool:
        return len(self.locations) > self._ends[-1]

    def close(self) -> None:
        """End the sequence that is open, if there is one."""
        if self.has_open_sequence:
            self._ends.append(len(self.locations))

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
            location = self.locations[min(scheme.first, len(self.labels) - 1)]
            notes[0] += f" The first is at {f'line {location}' if isinstance(location, int) else location}."
        if scheme.is_doubtful:
            warnings.warn(notes[0], LabelworthWarning, stacklevel=4)
        if n_unseen:
            notes.append(f"{n_unseen} of {len(self.labels)} tokens have no label.")
        return tuple(notes)

    def error(self, location: int | str, problem: str) -> InvalidInputError:
        return InvalidInputError(f"{self.path}, line {location}: {problem}.")
