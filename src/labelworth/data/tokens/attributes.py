"""From columns of text to attributes: CSR rows over tokens, built column by column rather than token by token."""

from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from labelworth.arrays import AnyArray, BoolArray, IntArray
from labelworth.data.sequences import Sequences
from labelworth.data.shards.features import ShardedFeatures
from labelworth.data.tokens.templates import Pattern, Template
from labelworth.errors import InvalidInputError


class _Column(NamedTuple):
    """A column of text as codes; `values` are what they stand for."""

    codes: IntArray
    values: list[str]


class _Drawn(NamedTuple):
    """What one pattern makes: an attribute (its index in `names`) for each of these tokens."""

    tokens: IntArray
    indices: IntArray
    names: list[str]


@dataclass(frozen=True)
class Attributes:
    """Rows of attributes."""

    rows: sp.csr_array  # (n_tokens, n_attributes): How often each token has each attribute.
    names: tuple[str, ...]  # What the columns stand for.
    n_ignored: int = 0  # How many occurrences were left out: of attributes that are not among the names.


def extract_attributes(
    template: Template,
    columns: Sequence[Sequence[str]],
    offsets: IntArray,
    *,
    names: Sequence[str] | None = None,
    min_count: int = 1,
) -> Attributes:
    """Apply a template to all tokens.

    Parameters
    ----------
    template : Template
    columns : sequence of columns, each of n_tokens texts
        What ``%x[row,column]`` refers to.
    offsets : integer array of shape (n_sequences + 1,)
        Where the sequences begin; nothing reaches from one into another.
    names : sequence of str, optional
        The attributes to look for; all that occur when None, pattern after pattern.
    min_count : int
        Attributes that occur less often are left out (the option ``-f`` of CRF++); only without `names`.

    Raises
    ------
    InvalidInputError
        If the template refers to a column that is not there, or columns are of different lengths.

    Examples
    --------
    >>> words = ["the", "cat", "the"]
    >>> attributes = extract_attributes(Template.of(["w=%x[0,0]"]), [words], np.array([0, 2, 3]))
    >>> attributes.names, attributes.rows.toarray().astype(int).tolist()
    (('w=the', 'w=cat'), [[1, 0], [0, 1], [1, 0]])
    """
    n_tokens = int(offsets[-1])
    _require_columns(template, columns, n_tokens)
    coded = [_coded(column) for column in columns[: template.n_columns]]
    column_of: dict[str, int] = {} if names is None else {name: column for column, name in enumerate(names)}
    tokens_parts, column_parts = [], []
    for drawn in _drawn(template, coded, offsets):
        if names is None:
            columns_of_names = [column_of.setdefault(name, len(column_of)) for name in drawn.names]
        else:
            columns_of_names = [column_of.get(name, -1) for name in drawn.names]
        tokens_parts.append(drawn.tokens)
        column_parts.append(np.array(columns_of_names, dtype=np.int64)[drawn.indices])
    tokens, chosen = np.concatenate(tokens_parts), np.concatenate(column_parts)
    known = chosen >= 0
    rows = _rows(tokens[known], chosen[known], n_tokens, len(column_of))
    attributes = Attributes(rows, tuple(column_of), int((~known).sum()))
    return attributes if names is not None or min_count <= 1 else _frequent(attributes, min_count)


def align_attributes(sequences: Sequences, names: tuple[str, ...]) -> tuple[Sequences, int]:
    """Bring the features of `sequences` into the order of `names`.

    Returns
    -------
    sequences : Sequences
        With CSR attributes of those names.
    n_ignored : int
        How many occurrences had other names, or no word at all; they are left out.
    """
    if isinstance(sequences.features, ShardedFeatures) and sequences.feature_names == names:
        # As they are: a pass takes words for attributes itself.
        return sequences, 0
    rows = sequences.attributes
    n_ignored = 0 if isinstance(sequences.features, sp.csr_array) else sequences.n_tokens - rows.nnz
    if sequences.feature_names != names:
        column_of = {name: column for column, name in enumerate(names)}
        columns = np.array([column_of.get(name, -1) for name in sequences.feature_names], dtype=np.int64)
        kept = columns[rows.indices] >= 0
        n_ignored += int((~kept).sum())
        starts = np.concatenate([[0], np.cumsum(kept)])[rows.indptr]
        rows = sp.csr_array((rows.data[kept], columns[rows.indices[kept]], starts), (rows.shape[0], len(names)))
        rows.sum_duplicates()
    return replace(sequences, features=rows, feature_names=names), n_ignored


def _require_columns(template: Template, columns: Sequence[Sequence[str]], n_tokens: int) -> None:
    if len(columns) < template.n_columns:
        raise InvalidInputError(
            f"The template refers to column {template.n_columns - 1}, counted from 0; "
            f"the data has {len(columns)} column(s)."
        )
    wrong = [number for number, column in enumerate(columns) if len(column) != n_tokens]
    if wrong:
        raise InvalidInputError(
            f"Every column must have one entry for each of the {n_tokens} tokens. "
            f"Column {wrong[0]} has {len(columns[wrong[0]])}."
        )


def _coded(column: Iterable[Hashable]) -> _Column:
    code_of: dict[Hashable, int] = {}
    codes = np.array([code_of.setdefault(value, len(code_of)) for value in column], dtype=np.int64)
    return _Column(codes, [str(value) for value in code_of])


def _drawn(template: Template, columns: Sequence[_Column], offsets: IntArray) -> Iterator[_Drawn]:
    lengths = np.diff(offsets)
    before = np.arange(offsets[-1]) - np.repeat(offsets[:-1], lengths)
    after = np.repeat(lengths, lengths) - before - 1
    for pattern in template.patterns:
        yield _apply(pattern, columns, before, after, skipping=template.edges == "skipped")
    for name, tokens in ((template.first, offsets[:-1]), (template.last, offsets[1:] - 1)):
        if name:
            yield _Drawn(tokens, np.zeros(len(tokens), dtype=np.int64), [name])


def _apply(
    pattern: Pattern, columns: Sequence[_Column], before: IntArray, after: IntArray, *, skipping: bool
) -> _Drawn:
    """Number what the pattern reads, reference by reference; names are written once per number."""
    numbers: IntArray = np.zeros(len(before), dtype=np.int64)
    names, inside = [pattern.texts[0]], np.ones(len(before), dtype=bool)
    for reference, text in zip(pattern.references, pattern.texts[1:], strict=True):
        column = columns[reference.column]
        codes, values, within = _shifted(column, reference.row, before, after)
        inside &= within
        pairs, numbers = np.unique(numbers * len(values) + codes, return_inverse=True)
        names = [
            names[first] + values[second] + text for first, second in zip(*_split(pairs, len(values)), strict=True)
        ]
    tokens = np.flatnonzero(inside) if skipping else np.arange(len(before))
    return _only_used(tokens, numbers[tokens], names)


def _split(pairs: IntArray, size: int) -> tuple[list[int], list[int]]:
    return (pairs // size).tolist(), (pairs % size).tolist()


def _shifted(column: _Column, row: int, before: IntArray, after: IntArray) -> tuple[IntArray, list[str], BoolArray]:
    """The column `row` places further on; beyond the ends, codes of ``_B-1`` and so on."""
    n_values, n_tokens = len(column.values), len(before)
    beyond = -before - row if row < 0 else row - after
    within = beyond <= 0
    marks = [f"_B{'-' if row < 0 else '+'}{distance}" for distance in range(1, abs(row) + 1)]
    tokens = np.clip(np.arange(n_tokens) + row, 0, max(0, n_tokens - 1))
    return np.where(within, column.codes[tokens], n_values + beyond - 1), column.values + marks, within


def _only_used(tokens: IntArray, numbers: IntArray, names: list[str]) -> _Drawn:
    """Attributes in the order in which they first occur, without those that nobody has."""
    used, first, inverse = np.unique(numbers, return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    return _Drawn(tokens, rank[inverse], [names[number] for number in used[order].tolist()])


def _rows(tokens: IntArray, columns: IntArray, n_tokens: int, n_attributes: int) -> sp.csr_array:
    rows = sp.coo_array((np.ones(len(tokens)), (tokens, columns)), shape=(n_tokens, n_attributes)).tocsr()
    rows.sum_duplicates()
    return sp.csr_array(rows)


def _frequent(attributes: Attributes, min_count: int) -> Attributes:
    counts: AnyArray = np.bincount(
        attributes.rows.indices, weights=attributes.rows.data, minlength=len(attributes.names)
    )
    kept = np.flatnonzero(counts >= min_count)
    rows = sp.csr_array(attributes.rows[:, kept])
    names = tuple(attributes.names[column] for column in kept.tolist())
    return Attributes(rows, names, attributes.rows.nnz - rows.nnz)
