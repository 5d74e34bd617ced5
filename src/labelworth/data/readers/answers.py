"""Tables of answers, long (a row per answer) or wide (a column per annotator), read as `Answers`."""

import math
import os
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

import numpy as np

from labelworth.arrays import UNLABELED, FloatArray, IntArray
from labelworth.data.answers import Answers
from labelworth.data.evidence import from_weights
from labelworth.data.labels import classes_given, sorted_classes
from labelworth.data.readers.answer_cells import CANNOT_SAY, AnswerCells, Said
from labelworth.data.readers.answer_columns import OWN, USUAL, Columns, find_columns
from labelworth.data.readers.cells import is_empty, short, whole
from labelworth.data.readers.written import WrittenRows, written_rows
from labelworth.errors import InvalidInputError

_FORMATS = ("csv", "tsv", "jsonl", "parquet")
_Moment = tuple[bool, float]
"""Whether the time zone is known, and seconds since 1970."""
_EARLIEST_EPOCH = 1e8
"""A number of seconds above this is a moment since 1970, below it a duration: three years."""


def read_answers(
    path: str | os.PathLike[str], *, format: str | None = None, encoding: str = "utf-8", **options: Any
) -> Answers:
    """Read who said what from a file, compressed with gzip or not.

    Parameters
    ----------
    path : path
        ``.csv``, ``.tsv``, ``.jsonl`` or ``.parquet``: a row per answer with columns such as item, annotator and
        answer (or task, worker and label), or a column per annotator. Each may end in ``.gz``.
    format : str, optional
        csv, tsv, jsonl or parquet, where the ending does not say.
    encoding : str
        Of text files.
    options
        Of `Answers.of`: which classes there are, and which samples the answers are about.

    Returns
    -------
    Answers
        What was found and decided while reading stands in its ``notes``.

    Raises
    ------
    DataUnavailableError
        If there is no such file.
    InvalidInputError
        If the file is not what it should be: says where, what is wrong there, and what to do.
    """
    source, reading = Path(path), AnswerOptions(**options)
    if format is not None and format not in _FORMATS:
        raise InvalidInputError(f"There is no format {format!r} of answers. Choose one of {', '.join(_FORMATS)}.")
    rows = written_rows(source, format, encoding)
    if rows is None:
        raise InvalidInputError(
            f"The ending of {source.name!r} does not say how answers are written. Known are .csv, .tsv, .jsonl and "
            f".parquet (and .gz behind them); or name it with format= (one of {', '.join(_FORMATS)})."
        )
    return answers_of(rows, str(source), reading)


@dataclass(frozen=True)
class AnswerOptions:
    """How a table of answers is read; see `Answers.of`."""

    classes: Sequence[Hashable] | None = None
    ids: Sequence[Any] | None = None
    n_samples: int | None = None
    offsets: Sequence[int] | IntArray | None = None
    columns: Mapping[str, str] | None = None
    annotators: Sequence[str] | None = None
    count_from: int | None = None
    cannot_say: Sequence[Hashable] = CANNOT_SAY
    repeated: Literal["last", "refuse"] = "last"
    outside: Literal["refuse", "drop"] = "refuse"
    independent: Sequence[str] = ()

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


def answers_of(rows: WrittenRows, source: str, options: AnswerOptions) -> Answers:
    """What the rows of a table say."""
    if not rows.records:
        raise InvalidInputError(f"{source} holds no answers. Was it written completely?")
    classes = None if options.classes is None else classes_given(options.classes, None)
    columns = _meant(
        find_columns(source, rows.names, options.columns or {}, options.annotators, classes), rows, options
    )
    classes = columns.classes if classes is None and columns.classes else classes
    cells = AnswerCells(classes, options.cannot_say)
    entries = _wide_entries(rows, columns, cells) if columns.is_wide else _long_entries(rows, columns, cells)
    cells.require_known()
    if not entries:
        raise InvalidInputError(f"No answer of {source} is filled in.")
    if columns.item is None and options.size not in (None, len(rows.records)):
        raise InvalidInputError(
            f"{source} has no column of items, so its rows must be the {options.size:,} samples in their order. It "
            f"has {len(rows.records):,} rows: add a column that says which sample each is."
        )
    samples, how = _samples(source, columns, entries, options)
    notes = [f"{columns.words(source)[:-1]}; {how}.", *_nothing_said(rows, columns, entries)]
    kept = samples != UNLABELED
    if not kept.all():
        notes.append(_outside(source, entries, samples, options))
        entries = [entry for entry, is_kept in zip(entries, kept, strict=True) if is_kept]
        samples = samples[kept]
    if classes is None:
        classes = sorted_classes([label for entry in entries for label in entry.said.labels], None)
    if not classes:
        raise InvalidInputError(f"No answer of {source} names a class. Name all classes with classes=.")
    weights_of = _weights(entries, classes)
    standing, told = _standing(entries, samples, weights_of, options)
    return _assembled(standing, weights_of, classes, (*notes, *told))


def _weights(entries: Sequence["_Entry"], classes: Sequence[Hashable]) -> dict[Said, FloatArray]:
    """By what was said, a weight per class."""
    code_of = {name: code for code, name in enumerate(classes)}
    weights: dict[Said, FloatArray] = {}
    for entry in entries:
        if entry.said not in weights:
            weights[entry.said] = entry.said.evidence(code_of)
            if not weights[entry.said].any():
                raise InvalidInputError(f"{entry.location}: the answer rules out every class. Correct it.")
    return weights


@dataclass(frozen=True, eq=False)
class _Entry:
    """One cell that was filled in."""

    item: Any
    token: Any
    annotator: str
    question: str  # As written; empty: which class?
    said: Said
    location: str
    seconds: float = math.nan
    price: float = math.nan
    when: "_Moment | None" = None


def _long_entries(rows: WrittenRows, columns: Columns, cells: AnswerCells) -> list[_Entry]:
    entries = []
    for record, location in zip(rows.records, rows.positions, strict=True):
        question = None if columns.question is None else record.get(columns.question)
        if columns.answer is not None:
            said = cells.read(record.get(columns.answer), question, location)
        else:
            said = cells.vector([record.get(name) for name in columns.probabilities], location)
        if said is None:
            continue
        annotator = _name(record.get(str(columns.annotator)))
        if not annotator:
            raise InvalidInputError(f"{location}: the answer is filled in, and nothing says who gave it.")
        entries.append(
            _Entry(
                record.get(str(columns.item)),
                None if columns.token is None else record.get(columns.token),
                annotator,
                _name(question),
                said,
                location,
                _number(record, columns.seconds, location),
                _number(record, columns.price, location),
                _when(record, columns.when, location),
            )
        )
    return entries


def _wide_entries(rows: WrittenRows, columns: Columns, cells: AnswerCells) -> list[_Entry]:
    entries = []
    for number, (record, location) in enumerate(zip(rows.records, rows.positions, strict=True)):
        item = number if columns.item is None else record.get(columns.item)
        for name in columns.annotators:
            where = f"{location}, column {name!r}"
            said = cells.read(record.get(name), None, where)
            if said is not None:
                entries.append(_Entry(item, None, name, "", said, where))
    return entries


def _name(cell: Any) -> str:
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
    source: str, columns: Columns, entries: Sequence[_Entry], options: AnswerOptions
) -> tuple[IntArray, str]:
    """The row of every answer (-1: there is none), or its token counted over all sequences; and how it was found."""
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
    is_own = columns.item is not None and columns.item.removeprefix("labelworth_") in OWN
    if options.ids is not None:
        rows, how = _by_name(source, items, options.ids), "joined by the names of the samples"
    else:
        known = 0 if columns.item is None or is_own else None
        first = options.count_from if options.count_from is not None else known
        rows, start = _by_number(source, items, [entry.location for entry in entries], first, options.size)
        how = (
            f"items are the numbers of samples, counted from {start}" if columns.item else "its rows are the samples"
        )
    if options.offsets is None:
        return rows, how
    return _tokens(source, entries, rows, options, first=0 if is_own else None), how


def _by_name(source: str, items: Sequence[Any], ids: Sequence[Any]) -> IntArray:
    row_of: dict[str, int] = {}
    for row, name in enumerate(ids):
        first = row_of.setdefault(_name(name), row)
        if first != row:
            raise InvalidInputError(
                f"The samples {first} and {row} have the same id, {name!r:.60}, so that answers of {source} cannot "
                "be joined by it. Give every sample an id of its own, or use numbers of samples."
            )
    return np.array([row_of.get(_name(item), UNLABELED) for item in items], dtype=np.int64)


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
    source: str, entries: Sequence[_Entry], sequences: IntArray, options: AnswerOptions, *, first: int | None
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


def _outside(source: str, entries: Sequence[_Entry], samples: IntArray, options: AnswerOptions) -> str:
    left = [entry for entry, row in zip(entries, samples, strict=True) if row == UNLABELED]
    items = list(dict.fromkeys(_name(entry.item) for entry in left))
    listed = ", ".join(map(repr, items[:5])) + (", ..." if len(items) > 5 else "")
    size = "" if options.size is None else f" ({options.size:,} samples)"
    words = f"{len(left):,} of {len(entries):,} answers of {source} are about items that are not in the data{size}: "
    if options.outside == "refuse" or len(left) == len(entries):
        raise InvalidInputError(
            f"{words}{listed}. Is it the right file, and are items called alike in both? Those answers are left out "
            "with outside='drop'."
        )
    return f"{words}{listed}. They were left out."


def _nothing_said(rows: WrittenRows, columns: Columns, entries: Sequence[_Entry]) -> list[str]:
    notes = []
    n_empty = 0 if columns.is_wide else len(rows.records) - len(entries)
    if n_empty:
        notes.append(f"{n_empty:,} of {len(rows.records):,} rows have no answer yet, and were left out.")
    n_nothing = sum(entry.said == Said() for entry in entries)
    if n_nothing:
        notes.append(f"{n_nothing:,} of {len(entries):,} answers are 'cannot say'.")
    return notes


def _standing(
    entries: Sequence[_Entry], samples: IntArray, weights_of: Mapping[Said, FloatArray], options: AnswerOptions
) -> tuple[list[tuple[int, _Entry]], list[str]]:
    """What stands in the end, by rows, names and time.

    The same said twice is one vote. Another answer to the same question takes the place of an earlier one. Answers to
    several questions all stand: `Answers.one_vote_each` takes them together.
    """
    given: dict[tuple[int, str], list[_Entry]] = {}
    for entry, row in zip(entries, samples.tolist(), strict=True):
        given.setdefault((row, entry.annotator), []).append(entry)
    standing: list[tuple[int, _Entry]] = []
    n_same, changed, contradicted = 0, [], []
    for (row, annotator), own in sorted(given.items(), key=lambda pair: pair[0]):
        kept = _in_time(own)
        if len(own) > 1 and annotator not in options.independent:
            last: dict[str, _Entry] = {}
            for entry in kept:
                before = last.pop(entry.question, None)
                if before is not None and before.said == entry.said:
                    n_same += 1
                elif before is not None:
                    changed.append(entry)
                last[entry.question] = entry
            kept = list(last.values())
            if not np.prod([weights_of[entry.said] for entry in kept], axis=0).any():
                contradicted.append(kept[-1])
        standing += [(row, entry) for entry in kept]
    return standing, _repeats(n_same, changed, contradicted, entries, options.repeated)


def _in_time(entries: Sequence[_Entry]) -> Sequence[_Entry]:
    """The last one last: by when they were given where all of them say it, else as they stand in the table."""
    times = [entry.when for entry in entries if entry.when is not None]
    if len(entries) < 2 or len(times) < len(entries):
        return entries
    if len({has_zone for has_zone, _ in times}) > 1:
        raise InvalidInputError(
            f"{entries[0].location} and {entries[1].location}: one time has a zone and the other has none, so that "
            "nobody can tell which answer was the last. Write both alike."
        )
    return [entries[index] for index in sorted(range(len(times)), key=lambda index: times[index])]


def _repeats(
    n_same: int, changed: Sequence[_Entry], contradicted: Sequence[_Entry], entries: Sequence[_Entry], repeated: str
) -> list[str]:
    notes = []
    if n_same:
        notes.append(
            f"{n_same:,} of {len(entries):,} answers repeat what the same annotator had said: one vote each."
        )
    if not changed and not contradicted:
        return notes
    entry = (*changed, *contradicted)[0]
    differ = "Answers that differ from what the same annotator had said of the same item"
    first = f"the first is {entry.annotator} on {short(entry.item)}, {entry.location}"
    if repeated == "refuse":
        raise InvalidInputError(
            f"{differ}: {len(changed) + len(contradicted):,} of {len(entries):,}; {first}. Keep one of each, or take "
            "the last with repeated='last'."
        )
    if changed:
        by = "given" if all(entry.when is not None for entry in changed) else "in the file"
        notes.append(f"{differ}: {len(changed):,} of {len(entries):,}; the one last {by} stands ({first}).")
    if contradicted:
        entry = contradicted[0]
        notes.append(
            f"Where the answers of one annotator to several questions about an item leave no class, the last one "
            f"stands: {len(contradicted):,} times (the first is {entry.annotator} on {short(entry.item)}, "
            f"{entry.location})."
        )
    return notes


def _assembled(
    standing: Sequence[tuple[int, _Entry]],
    weights_of: Mapping[Said, FloatArray],
    classes: tuple[Hashable, ...],
    notes: tuple[str, ...],
) -> Answers:
    entries = [entry for _, entry in standing]
    names = tuple(sorted({entry.annotator for entry in entries}))
    code_of = {name: code for code, name in enumerate(names)}
    seconds = np.array([entry.seconds for entry in entries])
    prices = np.array([entry.price for entry in entries])
    return Answers(
        np.array([row for row, _ in standing], dtype=np.int64),
        np.array([code_of[entry.annotator] for entry in entries], dtype=np.int64),
        names,
        from_weights(np.array([weights_of[entry.said] for entry in entries]), classes),
        None if np.isnan(seconds).all() else seconds,
        None if np.isnan(prices).all() else prices,
        notes,
    )
