"""Sequences from Python: lists of lists of words or of attributes, as scikit-learn's neighbors take them."""

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from labelworth.arrays import UNLABELED, FloatArray, IntArray, as_floats
from labelworth.data.evidence import Evidence, encode_labels
from labelworth.errors import InvalidInputError

Empty = Literal["refuse", "drop"]
"""What to do with sequences of no token."""


class Flat(NamedTuple):
    """Entries of sequences behind each other."""

    entries: list[Any]
    offsets: IntArray  # (n_sequences + 1,)
    rows: IntArray  # (n_sequences,): Which of the given sequences these are: all, or those that are not empty.

    def position(self, token: int) -> str:
        """Where a token stands, for messages."""
        sequence = int(np.searchsorted(self.offsets, token, side="right")) - 1
        return f"Sequence {self.rows[sequence]}, token {token - int(self.offsets[sequence])} (counted from 0),"


def words_of(flat: Flat) -> list[str]:
    """The entries, every one of which must be a word."""
    wrong = next((token for token, word in enumerate(flat.entries) if not isinstance(word, str)), None)
    if wrong is not None:
        raise InvalidInputError(
            f"{flat.position(wrong)} is {flat.entries[wrong]!r}. A token must be a word (str); write numbers as text."
        )
    return flat.entries


def attributes_of(flat: Flat) -> tuple[sp.csr_array, tuple[str, ...]]:
    """The weights of every token's attributes, (n_tokens, n_attributes), and what the columns stand for.

    As python-crfsuite and sklearn-crfsuite take them: a token is a list of attributes (weight one each), or a
    mapping, in which a number is the weight of the attribute, True is one and False zero, a text makes the attribute
    ``name:text`` of weight one, and a mapping, list or set inside makes attributes ``name:inner``. An attribute that
    is named twice has the sum of its weights.
    """
    names: list[str] = []
    values: list[float] = []
    ends = [0]
    for token, entry in enumerate(flat.entries):
        try:
            _add_attributes(entry, "", names, values)
        except _NotAnAttributeError as error:
            raise InvalidInputError(f"{flat.position(token)} has {error}.") from error
        ends.append(len(names))
    columns = {name: column for column, name in enumerate(dict.fromkeys(names))}
    indices = np.fromiter(map(columns.__getitem__, names), dtype=np.int64, count=len(names))
    rows = sp.csr_array((np.array(values), indices, ends), (len(flat.entries), len(columns)))
    rows.sum_duplicates()
    rows.eliminate_zeros()
    return rows, tuple(columns)


def flatten(sequences: Any, *, empty: Empty = "refuse") -> Flat:
    """Put the entries of sequences behind each other."""
    if isinstance(sequences, str | bytes | Mapping) or not isinstance(sequences, Iterable):
        raise InvalidInputError(f"Sequences must be a list of lists of tokens. Got {_short(sequences)} instead.")
    listed = [_listed(sequence, number) for number, sequence in enumerate(sequences)]
    lengths = np.array([len(sequence) for sequence in listed], dtype=np.int64)
    rows = np.flatnonzero(lengths)
    if empty == "refuse" and len(rows) < len(lengths):
        raise InvalidInputError(
            f"Sequence {int(np.argmin(lengths))} (counted from 0) has no token ({len(lengths) - len(rows)} such "
            "sequence(s)). Leave empty sequences out, together with their labels."
        )
    if not rows.size:
        raise InvalidInputError("There is no sequence with a token.")
    entries = [entry for sequence in listed for entry in sequence]
    return Flat(entries, np.concatenate([[0], np.cumsum(lengths[rows])]), rows)


def token_evidence(
    flat: Flat,
    labels: Sequence[Any] | None,
    *,
    classes: Sequence[Hashable] | None = None,
    unlabeled: Hashable = UNLABELED,
) -> Evidence:
    """Read the labels of sequences whose tokens are `flat`.

    Parameters
    ----------
    labels : list of lists, optional
        Per token a label; `unlabeled`, None or NaN for "not seen"; a list or set of labels for "one of these".
        None instead of a list: nothing is known of that sequence. Without labels, `classes` must be named.
    classes : sequence, optional
        All labels in order. Found in the labels and sorted when absent.
    """
    if labels is None:
        if classes is None:
            raise InvalidInputError(
                "Without labels there must be classes=: all labels that tokens may have, in order."
            )
        entries: list[Any] = [None] * len(flat.entries)
    else:
        entries = _entries(flat, list(labels))
    return encode_labels(entries, classes=classes, unlabeled=unlabeled, position=flat.position)


def sequence_weights(flat: Flat, weights: ArrayLike, n_given: int) -> FloatArray:
    """The weights of those of the given sequences that have tokens."""
    array = as_floats("Sequence weights", weights, ndim=1)
    if len(array) != n_given:
        raise InvalidInputError(
            f"There must be one weight per sequence. Got {len(array)} weight(s) for {n_given} sequence(s)."
        )
    return array[flat.rows]


def _entries(flat: Flat, labels: list[Any]) -> list[Any]:
    if len(labels) <= int(flat.rows[-1]):
        raise InvalidInputError(
            f"There must be one list of labels per sequence. Got {len(labels)} list(s), and sequence "
            f"{int(flat.rows[-1])} (counted from 0) has tokens."
        )
    entries: list[Any] = []
    for row, length in zip(flat.rows.tolist(), np.diff(flat.offsets).tolist(), strict=True):
        of_sequence = [None] * length if labels[row] is None else _listed(labels[row], row, what="labels")
        if len(of_sequence) != length:
            raise InvalidInputError(
                f"Sequence {row} (counted from 0) has {length} token(s) and {len(of_sequence)} label(s). "
                "A token that was not labeled needs an entry too: None."
            )
        entries.extend(of_sequence)
    return entries


def _listed(sequence: Any, number: int, what: str = "tokens") -> list[Any]:
    if isinstance(sequence, np.ndarray):
        return list(sequence.tolist())
    if isinstance(sequence, str | bytes | Mapping | set | frozenset) or not isinstance(sequence, Iterable):
        raise InvalidInputError(
            f"Sequence {number} (counted from 0) must be a list of {what}. Got {_short(sequence)} instead."
        )
    return list(sequence)


# Made once: attributes are many, and a union written in place is built at every call.
_MAPPINGS = (dict, Mapping)
_LISTS = (list, tuple, set, frozenset)
_NUMBERS = (bool, int, float, np.number, np.bool_)


class _NotAnAttributeError(Exception):
    """What is no attribute, in words."""


def _add_attributes(token: Any, prefix: str, names: list[str], values: list[float]) -> None:
    """Put the attributes of one token, and their weights, behind those of the tokens before."""
    if isinstance(token, _MAPPINGS):
        for name, value in token.items():
            if not isinstance(name, str):
                raise _NotAnAttributeError(f"the attribute {name!r}; the name of an attribute must be text")
            if isinstance(value, str):
                names.append(f"{prefix}{name}:{value}")
                values.append(1.0)
            elif isinstance(value, _NUMBERS):
                names.append(prefix + name)
                values.append(_weight(name, value))
            else:
                _add_attributes(value, f"{prefix}{name}:", names, values)
    elif isinstance(token, _LISTS):
        wrong = next((name for name in token if not isinstance(name, str)), None)
        if wrong is not None:
            raise _NotAnAttributeError(f"the attribute {wrong!r}; the name of an attribute must be text")
        names.extend(prefix + name for name in token)
        values.extend([1.0] * len(token))
    else:
        where = f"the attribute {prefix.removesuffix(':')!r} with the value " if prefix else ""
        raise _NotAnAttributeError(
            f"{where}{_short(token)}; attributes must be a list of their names, or a mapping from names to finite "
            "numbers, text, or a mapping or list of those"
        )


def _weight(name: str, value: Any) -> float:
    weight = float(value)
    if not math.isfinite(weight):
        raise _NotAnAttributeError(f"the attribute {name!r} with the weight {value!r}; weights must be finite")
    return weight


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
