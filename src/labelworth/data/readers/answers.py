"""Tables of answers, long (a row per answer) or wide (a column per annotator), read as `Answers`."""

import os
from collections.abc import Hashable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from labelworth.arrays import FloatArray
from labelworth.data.answers import Answers
from labelworth.data.evidence import from_weights
from labelworth.data.labels import sorted_classes
from labelworth.data.readers.answer_cells import Said
from labelworth.data.readers.answer_entries import AnswerOptions, Entry, Placed, placed_entries
from labelworth.data.readers.cells import short
from labelworth.data.readers.written import WrittenRows, written_rows
from labelworth.errors import InvalidInputError

_FORMATS = ("csv", "tsv", "jsonl", "parquet")


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
    reading = AnswerOptions(**options)
    return answers_of(written_answers(Path(path), format, encoding), str(path), reading)


def written_answers(path: Path, format: str | None, encoding: str) -> WrittenRows:
    """The rows of a file of answers, as they are written.

    Raises
    ------
    DataUnavailableError, InvalidInputError
        As `read_answers`.
    """
    if format is not None and format not in _FORMATS:
        raise InvalidInputError(f"There is no format {format!r} of answers. Choose one of {', '.join(_FORMATS)}.")
    rows = written_rows(path, format, encoding)
    if rows is None:
        raise InvalidInputError(
            f"The ending of {path.name!r} does not say how answers are written. Known are .csv, .tsv, .jsonl and "
            f".parquet (and .gz behind them); or name it with format= (one of {', '.join(_FORMATS)})."
        )
    return rows


def answers_of(rows: WrittenRows, source: str, options: AnswerOptions) -> Answers:
    """What the rows of a table say."""
    placed = placed_entries(rows, source, options)
    classes = placed.classes
    if classes is None:
        classes = sorted_classes([label for entry in placed.entries for label in entry.said.labels], None)
    if not classes:
        raise InvalidInputError(f"No answer of {source} names a class. Name all classes with classes=.")
    weights_of = _weights(placed.entries, classes)
    standing, told = _standing(placed, weights_of, options)
    return _assembled(standing, weights_of, classes, (*placed.notes, *told))


def _weights(entries: Sequence[Entry], classes: Sequence[Hashable]) -> dict[Said, FloatArray]:
    """By what was said, a weight per class."""
    code_of = {name: code for code, name in enumerate(classes)}
    weights: dict[Said, FloatArray] = {}
    for entry in entries:
        if entry.said not in weights:
            weights[entry.said] = entry.said.evidence(code_of)
            if not weights[entry.said].any():
                raise InvalidInputError(f"{entry.location}: the answer rules out every class. Correct it.")
    return weights


def _standing(
    placed: Placed, weights_of: Mapping[Said, FloatArray], options: AnswerOptions
) -> tuple[list[tuple[int, Entry]], list[str]]:
    """What stands in the end, by rows, names and time.

    The same said twice is one vote. Another answer to the same question takes the place of an earlier one. Answers to
    several questions all stand: `Answers.one_vote_each` takes them together.
    """
    given: dict[tuple[int, str], list[Entry]] = {}
    for entry, row in zip(placed.entries, placed.samples.tolist(), strict=True):
        given.setdefault((row, entry.annotator), []).append(entry)
    standing: list[tuple[int, Entry]] = []
    n_same, changed, contradicted = 0, [], []
    for (row, annotator), own in sorted(given.items(), key=lambda pair: pair[0]):
        kept = _in_time(own)
        if len(own) > 1 and annotator not in options.independent:
            last: dict[str, Entry] = {}
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
    return standing, _repeats(n_same, changed, contradicted, placed.entries, options.repeated)


def _in_time(entries: Sequence[Entry]) -> Sequence[Entry]:
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
    n_same: int, changed: Sequence[Entry], contradicted: Sequence[Entry], entries: Sequence[Entry], repeated: str
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
    standing: Sequence[tuple[int, Entry]],
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
        np.array([entry.kind for entry in entries]) if any(entry.kind for entry in entries) else None,
        notes,
    )
