"""Sequences as people hand them to an estimator: lists of lists, or what a reader of files gave."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from labelworth.arrays import UNLABELED, IntArray
from labelworth.data.evidence import Evidence
from labelworth.data.readers.raw_sequences import RawAttributes, RawTokens
from labelworth.data.sequences import Sequences
from labelworth.data.tokens.attributes import extract_attributes
from labelworth.data.tokens.lexicon import Lexicon
from labelworth.data.tokens.lists import (
    Empty,
    Flat,
    attributes_of,
    flatten,
    sequence_weights,
    token_evidence,
    words_of,
)
from labelworth.data.tokens.templates import Template
from labelworth.errors import InvalidInputError


@dataclass(frozen=True, eq=False)
class TokenInput:
    """X, and how its labels are to be read."""

    tokens: Any  # X.
    # y; where it is None, what a reader gave has its own labels, and of lists nothing is known.
    labels: Sequence[Any] | None
    classes: Sequence[Hashable] | None  # All labels in order; found in the labels when absent.
    unlabeled: Hashable  # The marker for "not seen" in y.
    weights: ArrayLike | None = None  # (n_sequences,), optional
    empty: Empty = "refuse"  # What to do with sequences of no token.

    @property
    def is_read(self) -> bool:
        """Whether a reader made it."""
        return isinstance(self.tokens, RawTokens | RawAttributes)

    def words(self) -> Sequences:
        """One word per token, each with a code of its own.

        Raises
        ------
        InvalidInputError
            If a token is not a word.
        """
        if isinstance(self.tokens, RawAttributes):
            raise InvalidInputError(
                f"{self.tokens.source} has attributes, and this model takes one word per token. "
                "Attributes go with a conditional random field."
            )
        words = self.tokens.words if isinstance(self.tokens, RawTokens) else words_of(self._flat)
        lexicon = Lexicon.from_words(words)
        return self._assembled(lexicon.encode(words), lexicon.names)

    def attributes(self) -> Sequences:
        """Attributes as they are; a word is one attribute."""
        if isinstance(self.tokens, RawAttributes):
            return self._assembled(self.tokens.attributes, self.tokens.names)
        if isinstance(self.tokens, RawTokens) or isinstance(self._flat.entries[0], str):
            return self.words()
        return self._assembled(*attributes_of(self._flat))

    def templated(self, template: Template, *, names: Sequence[str] | None = None, min_count: int = 1) -> Sequences:
        """Attributes that a template makes of words, or of rows of texts; those of `names` where these are given.

        Raises
        ------
        InvalidInputError
            If tokens are neither words nor rows, rows are of different lengths, or the template asks for more.
        """
        if isinstance(self.tokens, RawAttributes):
            raise InvalidInputError(
                f"{self.tokens.source} has attributes already, of which no template makes others; use template=None."
            )
        columns = self.tokens.columns if isinstance(self.tokens, RawTokens) else _columns(self._flat)
        attributes = extract_attributes(template, columns, self._flat.offsets, names=names, min_count=min_count)
        return self._assembled(attributes.rows, attributes.names)

    @property
    def offsets(self) -> IntArray:
        """Where the sequences begin; those of no token are left out or refused."""
        return self._flat.offsets

    def evidence(self) -> Evidence:
        """What is known of the labels."""
        if self.labels is None and self.is_read:
            evidence: Evidence = self.tokens.evidence(self.classes)
            return evidence
        if self.labels is not None and self.classes is not None and all(part is None for part in self.labels):
            return Evidence(np.full(int(self.offsets[-1]), UNLABELED), tuple(self.classes))
        return token_evidence(self._flat, self.labels, classes=self.classes, unlabeled=self.unlabeled)

    @cached_property
    def _flat(self) -> Flat:
        if self.is_read:
            offsets: IntArray = self.tokens.offsets
            return Flat([None] * int(offsets[-1]), offsets, np.arange(len(offsets) - 1))
        return flatten(self.tokens, empty=self.empty)

    def _assembled(self, features: Any, names: tuple[str, ...]) -> Sequences:
        if self.weights is None:
            weights = getattr(self.tokens, "weights", None)  # those that a file has
        else:
            weights = sequence_weights(self._flat, self.weights, non_empty(self.tokens)[0])
        return Sequences(features, self.offsets, self.evidence(), names, weights)


def unlabeled_input(X: Any, classes: Sequence[Hashable]) -> TokenInput:
    """X of whose labels nothing is known, whatever a file says; empty sequences are dropped."""
    return TokenInput(X, nothing_known(X), classes, None, empty="drop")


def nothing_known(X: Any) -> list[None]:
    """Labels of sequences of which nothing is known."""
    return [None] * non_empty(X)[0]


def recoded(sequences: Sequences, lexicon: Lexicon) -> Sequences:
    """The same words by the codes of a lexicon."""
    if sequences.feature_names == lexicon.names:
        return sequences
    # The last name stands for no word of these sequences unless one is written so.
    codes = lexicon.encode(sequences.feature_names)
    return replace(sequences, features=codes[sequences.words], feature_names=lexicon.names)


def non_empty(X: Any) -> tuple[int, list[int]]:
    """How many sequences were given, and the indices of those that have tokens."""
    if isinstance(X, RawTokens | RawAttributes):
        n_sequences = len(X.offsets) - 1
        return n_sequences, list(range(n_sequences))
    if isinstance(X, str | Mapping) or not hasattr(X, "__len__"):
        raise InvalidInputError(f"X must be a list of sequences, each a list of tokens. Got {X!r:.60} instead.")
    return len(X), [index for index, sequence in enumerate(X) if hasattr(sequence, "__len__") and len(sequence)]


def _columns(flat: Flat) -> list[list[str]]:
    """Words are one column; rows of texts are as many as they are long."""
    if isinstance(flat.entries[0], str):
        rows: list[Any] = [(entry,) for entry in flat.entries]
    else:
        rows = flat.entries
    width = len(rows[0]) if isinstance(rows[0], list | tuple) else 0
    for token, row in enumerate(rows):
        if not isinstance(row, list | tuple) or not all(isinstance(c, str) for c in row):
            raise InvalidInputError(
                f"{flat.position(token)} is {flat.entries[token]!r}. A template makes attributes of words, or of "
                "rows of texts such as ('cat', 'NN'); use template=None for tokens that have attributes already."
            )
        if len(row) != width:
            raise InvalidInputError(
                f"{flat.position(token)} has {len(row)} column(s) where the first token has {width}; "
                "every token needs all columns."
            )
    return [list(column) for column in zip(*rows, strict=True)]
