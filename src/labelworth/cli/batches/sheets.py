"""Sheets of answers: who should answer what, as `next` writes it; `merge` takes it back into a file of answers."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from labelworth.arrays import BoolArray
from labelworth.cli.batches.merging import listed, require_same_columns
from labelworth.cli.inputs.answered import AnswersBeside, known_classes
from labelworth.data.files import is_standard
from labelworth.data.readers.answer_columns import USUAL, Columns
from labelworth.data.readers.answer_entries import AnswerOptions, Entry, Placed, placed_entries
from labelworth.data.readers.choose import ending
from labelworth.data.readers.streams import on_disk
from labelworth.data.readers.written import TABLES, WrittenRows, own_column, require_ending, rows_text, written_rows
from labelworth.errors import InvalidInputError
from labelworth.wording import count

if TYPE_CHECKING:
    from labelworth.cli.batches.documents import DocumentBatches
    from labelworth.cli.batches.sequences import SequenceBatches
    from labelworth.planning.next import Batch

_OWN = ("annotator", "kind", "question", "answer", "price")
_WHICH = "which class?"


@dataclass(frozen=True)
class AskedKind:
    """What a kind of label is asked, and for how much."""

    about: str | None = None  # The classes of a question that is answered yes or no, with | between.
    price: float | None = None  # Of one answer.

    @property
    def question(self) -> str:
        if self.about is None:
            return _WHICH
        return f"is it one of {self.about}?" if "|" in self.about else f"is it {self.about}?"


class AnswerSheet:
    """A sheet of answers about the samples of a file."""

    def __init__(self, batches: "DocumentBatches | SequenceBatches", path: Path) -> None:
        self.batches, self.path = batches, path
        # By what they hold, the columns beside those that say where a row comes from.
        self._own = {name: own_column(name, batches.context_names) for name in _OWN}

    def require_form(self) -> None:
        """Refuse a file that no sheet is written to."""
        require_ending(self.path, TABLES, "A sheet of answers is", ".csv, .tsv or .jsonl")

    def text_of(
        self, batch: "Batch", shared: Sequence[Sequence[tuple[str, str]]], kinds: Mapping[str, AskedKind]
    ) -> str:
        """A row per answer to be given: where it comes from, what is to be read, who is asked what, and a blank."""
        is_named, is_priced = any(kinds), any(kind.price is not None for kind in kinds.values())
        records = []
        for number, index in enumerate(batch.rows.tolist()):
            tokens = [0] if batch.positions is None else batch.positions[number].tolist()
            for kind, annotator in shared[number]:
                asked = {
                    "annotator": annotator or None,
                    **({"kind": kind} if is_named else {}),
                    "question": kinds[kind].question,
                    "answer": None,
                    **({"price": kinds[kind].price} if is_priced else {}),
                }
                own = {self._own[name]: cell for name, cell in asked.items()}
                records += [{**self.batches.context((index, token)), **own} for token in tokens]
        return rows_text(self.path, records)

    def read(self) -> tuple[WrittenRows, Placed]:
        """What was filled in, every row about what it was about when it was written."""
        rows = written_rows(self.path, None, "utf-8")
        columns = self.batches.position_columns
        needed = (*columns.values(), self._own["annotator"], self._own["answer"])
        missing = [] if rows is None else [name for name in needed if name not in rows.names]
        if rows is None or missing:
            why = f"it has no column {missing[0]!r}" if missing else "it is no table"
            raise InvalidInputError(
                f"{self.path} is no sheet of answers: {why}. `labelworth next --sheet` writes them."
            )
        samples = self.batches.samples
        own = {**columns, **{name: column for name, column in self._own.items() if column in rows.names}}
        given = {role: name for role, name in own.items() if role in USUAL}
        # Columns of the data may be called as if they said times and prices.
        names = tuple(name for name in rows.names if name in own.values() or name not in self.batches.context_names)
        options = AnswerOptions(
            classes=known_classes(samples),
            n_samples=samples.n_samples,
            offsets=samples.offsets,
            columns=given,
            count_from=0,
            repeated="refuse",
            can_drop=False,
        )
        placed = placed_entries(replace(rows, names=names), str(self.path), options)
        for entry in placed.entries:
            record = rows.records[entry.index]
            position = (int(str(entry.item)), int(str(entry.token or 0)))
            beside = {name: cell for name, cell in record.items() if name not in own.values()}
            where = self.batches.where(*position)
            require_same_columns(self.batches.context(position), beside, entry.location, where, "sheet")
        return rows, placed


@dataclass(frozen=True)
class MergedAnswers:
    """A file of answers with new ones."""

    text: str  # The whole file.
    n_answers: int  # That are new.
    n_same: int  # That the file had already.
    n_repeated: int  # That the same annotator gave again in the sheet, to the same question about the same sample.
    n_empty: int  # Rows of the sheet that are still empty.
    annotators: tuple[str, ...]  # Who gave the new ones.

    def lines(self, path: Path) -> list[str]:
        """In words."""
        new = f"{count(self.n_answers, 'answer')} of {count(len(self.annotators), 'annotator')} merged."
        lines = [new if self.n_answers else "No answer is new: the file stays as it was."]
        if self.n_same:
            lines.append(f"In {path} already: {count(self.n_same, 'answer')}.")
        if self.n_repeated:
            lines.append(
                f"Given again by the same annotator: {count(self.n_repeated, 'answer')}, left out. Votes on a row "
                "are those of different annotators."
            )
        if self.n_empty:
            lines.append(f"Still empty: {count(self.n_empty, 'row')}. Fill in and merge again, or leave them.")
        return lines


def merged_answers(sheet: AnswerSheet, beside: AnswersBeside, output: Path) -> MergedAnswers:
    """Put the answers of a sheet into a file of answers, each once.

    Raises
    ------
    InvalidInputError
        If the sheet is not about these data, or answers differ from those in the file: all of them at once.
    """
    require_ending(output, TABLES, "Answers are", ".csv, .tsv or .jsonl")
    rows, placed = sheet.read()
    file = _AnswersFile.of(beside, sheet)
    if file is not None and beside.is_wide and output.resolve() == beside.path.resolve():
        raise InvalidInputError(
            f"{beside.path} has a column per annotator, and new answers are rows. Write all of them as rows into "
            "another file, with --output."
        )
    known = {} if file is None else {_key(*pair): pair[1] for pair in _pairs(file.placed)}
    new: dict[tuple[int, str, str], tuple[int, Entry]] = {}
    n_same, n_repeated, conflicts = 0, 0, []
    for sample, entry in _pairs(placed):
        key = _key(sample, entry)
        before = known.get(key) or (new[key][1] if key in new else None)
        if before is None:
            new[key] = (sample, entry)
        elif _meaning(before) == _meaning(entry):
            n_same += key in known
            n_repeated += key not in known
        else:
            conflicts.append(f"{entry.annotator} at {entry.location}, who said something else at {before.location}")
    if conflicts:
        differ = listed(conflicts, "; ")
        raise InvalidInputError(
            f"Nothing was merged. {count(len(conflicts), 'answer')} of the sheet "
            f"{'differs' if len(conflicts) == 1 else 'differ'} from what is held: {differ}. "
            "Decide which is right and change the other."
        )
    records = [_record(rows, placed, entry, sheet, file, sample) for sample, entry in new.values()]
    names = tuple(sorted({entry.annotator for _, entry in new.values()}))
    text = _text(records, file, output)
    return MergedAnswers(text, len(new), n_same, n_repeated, len(rows.records) - len(placed.entries), names)


def _pairs(placed: Placed) -> list[tuple[int, Entry]]:
    return list(zip(placed.samples.tolist(), placed.entries, strict=True))


def _key(sample: int, entry: Entry) -> tuple[int, str, str]:
    return sample, entry.annotator, entry.question


def _meaning(entry: Entry) -> tuple[Any, ...]:
    """Numbers of JSON and their texts in tables are the same answer."""
    return tuple(map(str, entry.said.labels)), entry.said.weights, entry.said.is_no


@dataclass(frozen=True, eq=False)
class _AnswersFile:
    """A file of answers that more are added to."""

    rows: WrittenRows
    placed: Placed
    beside: AnswersBeside

    @classmethod
    def of(cls, beside: AnswersBeside, sheet: AnswerSheet) -> "_AnswersFile | None":
        """None where there is no such file yet."""
        if not on_disk(beside.path).exists():
            return None
        require_ending(beside.path, TABLES, "Answers are merged into files", ".csv, .tsv or .jsonl")
        placed = placed_entries(beside.rows, str(beside.path), replace(beside.reading, can_drop=False))
        if placed.columns.probabilities:
            raise InvalidInputError(
                f"{beside.path} says probabilities in a column per class, so that no other answers can be added. "
                "Merge into another file of answers."
            )
        file = cls(beside.rows, placed, beside)
        return file._by_row(sheet) if beside.is_wide else file

    def _by_row(self, sheet: AnswerSheet) -> "_AnswersFile":
        """That of a wide file: every cell that is filled in as a row; rows that name nothing are numbered."""
        columns, own, offsets = self.placed.columns, sheet.batches.position_columns, sheet.batches.samples.offsets
        names = {"item": columns.item or own["item"]}
        is_numbered = columns.item is None and offsets is not None
        if columns.token is not None or is_numbered:
            names["token"] = columns.token or own["token"]
        names |= {role: role for role in ("annotator", "answer")}
        records = []
        for sample, entry in _pairs(self.placed):
            item, token = entry.item, entry.token
            if is_numbered and offsets is not None:
                item = int(np.searchsorted(offsets, sample, side="right")) - 1
                token = sample - int(offsets[item])
            cells = {"item": item, "token": token, "annotator": entry.annotator}
            cells["answer"] = self.rows.records[entry.index][entry.annotator]
            records.append({name: cells[role] for role, name in names.items()})
        rows = WrittenRows(tuple(names.values()), tuple(records), (), None)
        found = Columns(names["item"], names["annotator"], names["answer"], names.get("token"))
        return _AnswersFile(rows, replace(self.placed, columns=found), self.beside)

    def item(self, sample: int) -> Any:
        """What the file calls a sample."""
        return sample + (self.placed.first or 0) if self.beside.ids is None else self.beside.ids[sample]


def _record(
    rows: WrittenRows, placed: Placed, entry: Entry, sheet: AnswerSheet, file: _AnswersFile | None, sample: int
) -> dict[str, Any]:
    """A row of the file of answers, in the columns it has; a new file has those of the sheet."""
    source = rows.records[entry.index]
    columns = {role: name for role in USUAL if (name := getattr(placed.columns, role)) is not None}
    cells = {role: source.get(name) for role, name in columns.items()}
    if file is None:
        first = {"item": columns["item"], **({"token": columns["token"]} if "token" in columns else {})}
        return {first.get(role, role): cell for role, cell in cells.items()}
    names = {role: getattr(file.placed.columns, role, None) for role in cells}
    cells["item"] = file.item(int(str(entry.item)))
    if "token" in cells:
        cells["token"] = int(str(entry.token)) + (file.beside.options.count_from or 0)
    return {
        names[role] or own_column(role, file.rows.names): cell
        for role, cell in cells.items()
        if names[role] or not (cell is None or cell in ("", _WHICH))
    }


def _text(records: Sequence[Mapping[str, Any]], file: _AnswersFile | None, output: Path) -> str:
    if file is not None and file.beside.is_wide:
        return rows_text(output, [*file.rows.records, *records])
    if file is not None:
        if not is_standard(output) and ending(output) != ending(file.beside.path):
            raise InvalidInputError(
                f"Answers stay in the form they have: end the name of the output in {ending(file.beside.path)}."
            )
        return file.rows.text_and(records)
    return rows_text(output, records)


def answered_samples(beside: AnswersBeside, names: Collection[str] = (), kinds: Collection[str] = ()) -> BoolArray:
    """Which samples somebody has answered for, or somebody of these names: of annotators, or of some of the kinds."""
    answers, samples = beside.read(), beside.samples
    if kinds:
        from labelworth.planning.kinds.guesses import by_kind

        answers = by_kind(answers, kinds)
    own = [code for code, name in enumerate(answers.names) if name in names or not names]
    rows = answers.rows[np.isin(answers.annotators, own)]
    if samples.offsets is not None:
        rows = np.searchsorted(samples.offsets, rows, side="right") - 1
    answered = np.zeros(samples.n_samples, dtype=bool)
    answered[rows] = True
    return answered
