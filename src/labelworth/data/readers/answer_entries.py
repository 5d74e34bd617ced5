"""Rows of a table of answers, each read and put on the sample or token that it is about."""

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, Literal

import numpy as np

from labelworth.arrays import UNLABELED, IntArray
from labelworth.data.labels import classes_given
from labelworth.data.readers.answer_cells import CANNOT_SAY, AnswerCells, Said
from labelworth.data.readers.answer_columns import OWN, USUAL, Columns, find_columns
from labelworth.data.readers.cells import is_empty, short, whole
from labelworth.data.readers.written import WrittenRows
from labelworth.errors import InvalidInputError

_Moment = tuple[bool, float]
"""Whether the time zone is known, and seconds since 1970."""
_EARLIEST_EPOCH = 1e8
"""A number of seconds above this is a moment since 1970, below it a duration: three years."""


@dataclass(frozen=True)
class AnswerOptions:
    """How a table of answers is read; see `Answers.of`."""

    classes: Sequence[Hashable] | None = None
    ids: Sequence[Any] | None = None
    n_samples: int | None = None
    offsets: Sequence[int] | IntArray | None = None
    columns: Mapping[str, str] | None = None
    annotator_columns: Sequence[str] | None = None
    count_from: int | None = None
    cannot_say: Sequence[Hashable] = CANNOT_SAY
    repeated: Literal["last", "refuse"] = "last"
    outside: Literal["refuse", "drop"] = "refuse"
    independent: Sequence[str] = ()
    rename: Mapping[str, Hashable] | None = None
    can_drop: bool = True  # Whether whoever reads can ask for `outside`.

    def __post_init__(self) -> None:
        for name, value, allowed in (
            ("repeated", self.repeated, ("last", "refuse")),
            ("outside", self.outside, ("refuse", "drop")),
            ("count_from", self.count_from, (None, 0, 1)),
        ):
            if value not in allowed:
                raise InvalidInputError(f"{name} must be one of {', '.join(map(str, allowed))}. Got {value!r}.")

    @property
    def size(self) -> int | None:
        """How many samples there are, as far as it is known."""
        if self.offsets is not None:
            return len(self.offsets) - 1
        return len(self.ids) if self.ids is not None else self.n_samples


def rows_of_table(table: Any) -> WrittenRows:
    """The rows of a data frame, a mapping of columns, or an array with a column per annotator."""
    if isinstance(table, np.ndarray):
        if table.ndim != 2:
            raise InvalidInputError(
                f"An array of answers has a row per sample and a column per annotator. Got shape {table.shape}."
            )
        table = {str(number): column for number, column in enumerate(table.T)}
    index = getattr(getattr(table, "index", None), "name", None)
    if index is not None and index not in table:
        table = table.reset_index()
    if isinstance(table, str | bytes) or not hasattr(table, "keys"):
        raise InvalidInputError(
            f"Answers come as a data frame or a mapping of columns. Got {type(table).__name__}; read files with "
            "labelworth.read_answers."
        )
    cells = {str(name): _cells(table[name]) for name in list(table.keys())}
    sizes = {len(column) for column in cells.values()}
    if len(sizes) > 1:
        raise InvalidInputError(f"All columns of answers must be of one length. Got {sorted(sizes)}.")
    n_rows = sizes.pop() if sizes else 0
    records = tuple(dict(zip(cells, row, strict=True)) for row in zip(*cells.values(), strict=True))
    return WrittenRows(tuple(cells), records, tuple(f"row {number}" for number in range(n_rows)), None)


def _cells(column: Any) -> list[Any]:
    return list(column.tolist() if hasattr(column, "tolist") else column)


@dataclass(frozen=True, eq=False)
class Placed:
    """Answers that were filled in, and what they are about."""

    columns: Columns
    entries: Sequence["Entry"]
    samples: IntArray  # (m,): The sample of every entry, or the token counted over all sequences.
    first: int | None  # From where items are counted; None: they are names.
    classes: tuple[Hashable, ...] | None  # All of them; None: those that the answers name.
    notes: tuple[str, ...]


def placed_entries(rows: WrittenRows, source: str, options: AnswerOptions) -> Placed:
    """Read what is filled in."""
    if not rows.records:
        raise InvalidInputError(f"{source} holds no answers. Was it written completely?")
    classes = None if options.classes is None else classes_given(options.classes, None)
    given = options.columns or {}
    has_tokens = options.offsets is not None
    found = find_columns(source, rows.names, given, options.annotator_columns, classes, has_tokens=has_tokens)
    columns = _meant(found, rows, options)
    classes = columns.classes if classes is None and columns.classes else classes
    cells = AnswerCells(classes, options.cannot_say, options.rename)
    entries = _wide_entries(rows, columns, cells) if columns.is_wide else _long_entries(rows, columns, cells)
    cells.require_known()
    if not entries:
        raise InvalidInputError(f"No answer of {source} is filled in.")
    samples, first = _samples(source, columns, entries, options, len(rows.records))
    how = "joined by the names of the samples" if first is None else f"items are numbers of samples, from {first} on"
    how = how if columns.item is not None else f"its rows are the {'tokens' if has_tokens else 'samples'}"
    notes = [f"{columns.words(source)[:-1]}; {how}.", *_nothing_said(rows, columns, entries)]
    kept = samples != UNLABELED
    if not kept.all():
        notes.append(_outside(source, entries, samples, options))
        entries = [entry for entry, is_kept in zip(entries, kept, strict=True) if is_kept]
        samples = samples[kept]
    return Placed(columns, entries, samples, first, classes, tuple(notes))


@dataclass(frozen=True, eq=False)
class Entry:
    """One cell that was filled in."""

    item: Any
    token: Any
    annotator: str
    question: str  # The classes it is about, with | between; empty: which class?
    said: Said
    index: int  # Of the row in the table.
    location: str
    seconds: float = math.nan
    price: float = math.nan
    when: "_Moment | None" = None
    kind: str = ""  # Of which kind of label it is; empty: nothing says so.


def _long_entries(rows: WrittenRows, columns: Columns, cells: AnswerCells) -> list[Entry]:
    entries = []
    for index, (record, location) in enumerate(zip(rows.records, rows.positions, strict=True)):
        question = None if columns.question is None else record.get(columns.question)
        if columns.answer is not None:
            said = cells.read(record.get(columns.answer), question, location)
        else:
            said = cells.vector([record.get(name) for name in columns.probabilities], location)
        if said is None:
            continue
        annotator = name_of(record.get(str(columns.annotator)))
        if not annotator:
            raise InvalidInputError(f"{location}: the answer is filled in, and nothing says who gave it.")
        entries.append(
            Entry(
                record.get(str(columns.item)),
                None if columns.token is None else record.get(columns.token),
                annotator,
                cells.asked(question, location),
                said,
                index,
                location,
                _number(record, columns.seconds, location),
                _number(record, columns.price, location),
                _when(record, columns.when, location),
                "" if columns.kind is None else name_of(record.get(columns.kind)),
            )
        )
    return entries


def _wide_entries(rows: WrittenRows, columns: Columns, cells: AnswerCells) -> list[Entry]:
    entries = []
    for number, (record, location) in enumerate(zip(rows.records, rows.positions, strict=True)):
        item = number if columns.item is None else record.get(columns.item)
        token = None if columns.token is None else record.get(columns.token)
        for name in columns.annotators:
            where = f"{location}, column {name!r}"
            said = cells.read(record.get(name), None, where)
            if said is not None:
                entries.append(Entry(item, token, name, "", said, number, where))
    return entries


def name_of(cell: Any) -> str:
    """What is called in a cell, numbers without a fraction as whole ones; empty: nothing is."""
    return "" if is_empty(cell) else str(whole(cell)).strip()


def _number(record: Mapping[str, Any], column: str | None, location: str) -> float:
    """A non-negative number; NaN where the cell is empty."""
    cell = None if column is None else record.get(column)
    if is_empty(cell):
        return math.nan
    try:
        number = float(cell) if cell is not None and not isinstance(cell, bool) else math.nan
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if not (math.isfinite(number) and number >= 0):
        raise InvalidInputError(f"{location}: {column} must be a number of at least 0. Got {short(cell)}.")
    return number


def _meant(columns: Columns, rows: WrittenRows, options: AnswerOptions) -> Columns:
    """A column called time may say how long answers took or when they were given; documents have no positions."""
    if options.offsets is None and not (options.columns or {}).get("token"):
        columns = replace(columns, token=None)
    filled = [cell for record in rows.records if not is_empty(cell := record.get(str(columns.seconds)))]
    if columns.when is None and filled and all(_moment(cell, _EARLIEST_EPOCH) is not None for cell in filled):
        return replace(columns, seconds=None, when=columns.seconds)
    return columns


def _when(record: Mapping[str, Any], column: str | None, location: str) -> "_Moment | None":
    cell = None if column is None else record.get(column)
    if is_empty(cell):
        return None
    moment = _moment(cell, 0.0)
    if moment is None:
        raise InvalidInputError(
            f"{location}: {column} says when an answer was given: a date such as 2026-01-31T12:00:00, or seconds "
            f"since 1970. Got {short(cell)}."
        )
    return moment


def _moment(cell: Any, earliest: float) -> "_Moment | None":
    """A date, or seconds since 1970 from `earliest` on."""
    try:
        number = float(cell)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if math.isfinite(number):
        return (True, number) if number >= earliest and not isinstance(cell, bool) else None
    try:
        date = cell if isinstance(cell, datetime) else datetime.fromisoformat(str(cell).strip())
        return (date.tzinfo is not None, (date if date.tzinfo else date.replace(tzinfo=UTC)).timestamp())
    except (ValueError, OverflowError, TypeError):
        return None


def _samples(
    source: str, columns: Columns, entries: Sequence[Entry], options: AnswerOptions, n_rows: int
) -> tuple[IntArray, int | None]:
    """The row of every answer (-1: there is none), or its token counted over all sequences; and where items begin."""
    if columns.item is None:
        unit, size = ("samples", options.size) if options.offsets is None else ("tokens", int(options.offsets[-1]))
        if size not in (None, n_rows):
            raise InvalidInputError(
                f"{source} has no column of items, so its rows must be the {size:,} {unit} in their order. It has "
                f"{n_rows:,} rows: add a column that says which of the {unit} each is."
            )
        return np.array([entry.item for entry in entries], dtype=np.int64), 0
    if options.offsets is not None and columns.token is None:
        raise InvalidInputError(
            f"{source} does not say which token of a sequence an answer is about. Name the column of positions with "
            f"columns= (token=NAME); usual names are {' and '.join(USUAL['token'])}."
        )
    if options.offsets is None and columns.token is not None and (options.columns or {}).get("token"):
        raise InvalidInputError(
            f"{source}: {columns.token!r} says positions of tokens, and the data are no sequences."
        )
    items = [entry.item for entry in entries]
    for item, entry in zip(items, entries, strict=True):
        if is_empty(item):
            raise InvalidInputError(f"{entry.location}: nothing says which sample this answer is about.")
    is_own = columns.item.removeprefix("labelworth_") in OWN
    if options.ids is not None:
        first, rows = None, _byname_of(source, items, options.ids)
    else:
        start = options.count_from if options.count_from is not None or not is_own else 0
        rows, first = _by_number(source, items, [entry.location for entry in entries], start, options.size)
    if options.offsets is None:
        return rows, first
    return _tokens(source, entries, rows, options, first=0 if is_own else None), first


def _byname_of(source: str, items: Sequence[Any], ids: Sequence[Any]) -> IntArray:
    named = [name_of(item) for item in items]
    row_of: dict[str, int] = {}
    meant = set(named)
    for row, name in enumerate(map(name_of, ids)):
        first = row_of.setdefault(name, row)
        if first != row and name in meant:
            raise InvalidInputError(
                f"The samples {first} and {row} have the same id, {name!r:.60}, so that nobody can tell which of "
                f"them answers of {source} are about. Give every sample an id of its own, or use numbers of samples."
            )
    return np.array([row_of.get(name, UNLABELED) for name in named], dtype=np.int64)


def _by_number(
    source: str, items: Sequence[Any], locations: Sequence[str], first: int | None, size: int | None
) -> tuple[IntArray, int]:
    numbers = np.empty(len(items), dtype=np.int64)
    for index, (item, location) in enumerate(zip(items, locations, strict=True)):
        number = _whole_number(item)
        if number is None:
            raise InvalidInputError(
                f"{location}: the item is {short(item)}, which is no number of a sample. Say which sample has which "
                "name with ids=."
            )
        numbers[index] = number
    first = _counted_from(source, "samples", numbers, first, size)
    rows = numbers - first
    outside = (rows < 0) | (rows >= (np.iinfo(np.int64).max if size is None else size))
    return np.where(outside, UNLABELED, rows), first


def _whole_number(cell: Any) -> int | None:
    try:
        number = int(str(whole(cell)).strip())
    except ValueError:
        return None
    return number if abs(number) < 1 << 62 else None


def _counted_from(source: str, what: str, numbers: IntArray, first: int | None, size: int | None) -> int:
    """Where numbers begin: as said, or as they show by a zero or by the number of the last."""
    if first is not None:
        return first
    if (numbers == 0).any():
        return 0
    if size is not None and int(numbers.max()) == size:
        return 1
    raise InvalidInputError(
        f"{source} says {what} by numbers from {numbers.min()} to {numbers.max()}, which may be counted from 0 or "
        "from 1. Say which with count_from=."
    )


def _tokens(
    source: str, entries: Sequence[Entry], sequences: IntArray, options: AnswerOptions, *, first: int | None
) -> IntArray:
    offsets = np.asarray(options.offsets, dtype=np.int64)
    numbers = np.empty(len(entries), dtype=np.int64)
    for index, entry in enumerate(entries):
        number = _whole_number(entry.token)
        if number is None:
            raise InvalidInputError(
                f"{entry.location}: the position of a token is a whole number. Got {short(entry.token)}."
            )
        numbers[index] = number
    is_known = sequences != UNLABELED
    lengths = np.diff(offsets)[sequences]
    first = options.count_from if options.count_from is not None else first
    if first is None and (numbers[is_known] == lengths[is_known]).any() and not (numbers == 0).any():
        first = 1
    positions = numbers - _counted_from(source, "tokens", numbers, first, None)
    beyond = is_known & ((positions < 0) | (positions >= lengths))
    if beyond.any():
        entry = entries[int(np.flatnonzero(beyond)[0])]
        raise InvalidInputError(
            f"{entry.location}: the sequence {short(entry.item)} has {int(lengths[beyond][0]):,} tokens, and none of "
            f"position {short(entry.token)}."
        )
    return np.where(is_known, offsets[sequences] + positions, UNLABELED)


def _outside(source: str, entries: Sequence[Entry], samples: IntArray, options: AnswerOptions) -> str:
    left = [entry for entry, row in zip(entries, samples, strict=True) if row == UNLABELED]
    items = list(dict.fromkeys(name_of(entry.item) for entry in left))
    listed = ", ".join(map(repr, items[:5])) + (", ..." if len(items) > 5 else "")
    size = "" if options.size is None else f" ({options.size:,} samples)"
    words = f"{len(left):,} of {len(entries):,} answers of {source} are about items that are not in the data{size}: "
    if options.outside == "refuse" or len(left) == len(entries):
        raise InvalidInputError(
            f"{words}{listed}. Is it the right file, and are items called alike in both?"
            f"{' Those answers are left out with outside=' + repr('drop') + '.' if options.can_drop else ''}"
        )
    return f"{words}{listed}. They were left out."


def _nothing_said(rows: WrittenRows, columns: Columns, entries: Sequence[Entry]) -> list[str]:
    notes = []
    n_empty = 0 if columns.is_wide else len(rows.records) - len(entries)
    if n_empty:
        notes.append(f"{n_empty:,} of {len(rows.records):,} rows have no answer yet, and were left out.")
    n_nothing = sum(entry.said == Said() for entry in entries)
    if n_nothing:
        notes.append(f"{n_nothing:,} of {len(entries):,} answers are 'cannot say'.")
    return notes
