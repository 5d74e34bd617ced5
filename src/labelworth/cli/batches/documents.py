"""Batches of documents: rows with a label to fill in, as `next` writes them and `merge` reads them back."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

from labelworth.arrays import BoolArray, FloatArray
from labelworth.cli.batches.merging import Filled, Position
from labelworth.cli.inputs.documents import Documents, log_columns
from labelworth.cli.options.data import NONE
from labelworth.data.readers.cells import NOT_NAMED, LabelCells
from labelworth.data.readers.choose import ending
from labelworth.data.readers.raw import RawTexts
from labelworth.data.readers.written import (
    LINES,
    WrittenRows,
    json_lines,
    own_column,
    require_ending,
    table_text,
    written_rows,
)
from labelworth.errors import InvalidInputError
from labelworth.formats.export import Export, Item
from labelworth.planning.next import Batch, chosen_documents, next_documents
from labelworth.policies.choosing import Choosing


class DocumentBatches:
    """The rows of a file, and a batch of them in the file `path` (None: JSON lines on stdout)."""

    sample: ClassVar[str] = "row"

    def __init__(self, samples: Documents, path: Path | None) -> None:
        self.samples, self.path = samples, path
        self.written = samples.written()
        self._taken = () if self.written is None else self.written.names
        self._row_column, self._label_column = own_column("row", self._taken), samples.options.label_name
        self._log = log_columns(self._taken)
        # By row of the data, what a batch that was read says of how its rows were drawn.
        self._logged: dict[str, dict[str, Any]] = {}

    def require_form(self) -> None:
        """Refuse a file that no batch of this data is written to."""
        require_ending(self.path, (*LINES, ".csv"), "What to label of this data is", ".jsonl or .csv")

    @property
    def labeled(self) -> BoolArray:
        """Which documents have a label."""
        return ~self.samples.raw.evidence().is_unlabeled

    def draw(self, counts: Mapping[str, int], policy: str | None, seed: int, taken: BoolArray | None = None) -> Batch:
        """What to label now; never what is `taken`, what has a label unless given."""
        if policy is not None:
            raise InvalidInputError("Documents are labeled whole; --policy is for sequences.")
        return next_documents(self.labeled if taken is None else taken, counts, seed)

    def choose(self, count: int, choosing: Choosing, scores: FloatArray, seed: int) -> Batch:
        """What to label now, drawn by scores with probabilities that are told."""
        return chosen_documents(self.labeled, scores, count, choosing, seed)

    def text_of(self, batch: Batch) -> str:
        """The index of every row, its columns, and a label to fill in."""
        rows = batch.rows.tolist()
        columns = [{}] * len(rows) if self.written is None else [self.written.records[row] for row in rows]
        records = [
            {self._row_column: row, **cells, **log, self._label_column: None}
            for row, cells, log in zip(rows, columns, self._logs(batch), strict=True)
        ]
        if self.path is None or ending(self.path) in LINES:
            return json_lines(records)
        log_names = self._log if batch.probabilities is not None else ()
        names = [self._row_column, *self._taken, *log_names, self._label_column]
        return table_text(list(dict.fromkeys(names)), records)

    def _logs(self, batch: Batch) -> list[dict[str, Any]]:
        """How every row was drawn, where it was not at random."""
        if batch.probabilities is None:
            return [{}] * len(batch.rows)
        number = self.samples.n_batches + 1
        drawn = zip(batch.probabilities.tolist(), batch.drawn_by or (), strict=True)
        return [dict(zip(self._log, (probability, by, number), strict=True)) for probability, by in drawn]

    def export_of(self, batch: Batch) -> Export:
        """The rows as annotation tools import them: without labels, and with what the data says beside them."""
        raw, exported = self.samples.raw, self.samples.exported
        if not isinstance(raw, RawTexts):
            raise InvalidInputError(f"{self.samples.options.path} holds no texts that a tool could show.")
        classes = tuple(map(str, raw.evidence().classes)) if exported is None else exported.classes
        rows, source = batch.rows.tolist(), str(self.samples.options.path)
        if exported is not None:
            held = tuple(replace(exported.export.items[row], judgements=()) for row in rows)
            return Export(held, "classes", classes, exported.export.question, source)
        columns = [{}] * len(rows) if self.written is None else [self.written.records[row] for row in rows]
        ids = [str(cells.get("id") or row) for row, cells in zip(rows, columns, strict=True)]
        ids = ids if len(set(ids)) == len(ids) else [str(row) for row in rows]
        own = ("id", "text", self._label_column, self.samples.options.text_column)
        items = [
            Item(
                name,
                raw.texts[row],
                meta={key: cell for key, cell in cells.items() if key not in own and cell != ""}
                | {self._row_column: row, **log},
            )
            for name, row, cells, log in zip(ids, rows, columns, self._logs(batch), strict=True)
        ]
        return Export(tuple(items), "classes", classes, source=source)

    @property
    def position_columns(self) -> dict[str, str]:
        """In sheets of answers, the columns that say what is asked about."""
        return {"item": self._row_column}

    @property
    def context_names(self) -> tuple[str, ...]:
        """In sheets of answers, the columns that are there to be read."""
        return self._taken

    def context(self, position: Position) -> dict[str, Any]:
        """A row as a sheet of answers shows it: its index and columns, without a label that would be looked at."""
        cells = {} if self.written is None else self.written.records[position[0]]
        beside = {name: cell for name, cell in cells.items() if name != self._label_column}
        return {self._row_column: position[0], **{name: beside.get(name) for name in self._taken if name in beside}}

    def labels(self, index: int) -> tuple[Any, ...]:
        return (self.samples.raw.labels[index],)

    def words(self, index: int) -> None:
        """A document is compared by its columns."""

    def columns(self, index: int) -> Mapping[str, Any]:
        cells = _require_rows(self.written, self.samples.options.path).records[index]
        return {name: cell for name, cell in cells.items() if name not in self._log}

    def where(self, index: int, token: int = 0) -> str:
        return f"row {index}"

    def read(self, path: Path) -> list[Filled]:
        """The rows of a batch that was filled in."""
        _require_rows(self.written, self.samples.options.path)
        filled = _require_rows(written_rows(path, None, "utf-8"), path)
        own = {self._row_column: "where its rows come from", self._label_column: "what was filled in"}
        for name, what in own.items():
            if name not in filled.names:
                raise InvalidInputError(
                    f"{path} has no column {name!r}, which says {what}; `labelworth next` wrote it. It has: "
                    f"{', '.join(map(repr, filled.names)) or 'none'}. Sheets of answers go with --answers FILE."
                )
        marker: Any = self.samples.options.unlabeled
        cells = LabelCells(NOT_NAMED if marker is None else None if marker == NONE else marker)
        samples = []
        for record, position in zip(filled.records, filled.positions, strict=True):
            cell = record.get(self._label_column)
            label = cells.read_written(cell, position) if isinstance(cell, str) else cells.read(cell, position)
            beside = {name: cell for name, cell in record.items() if name not in (*own, *self._log)}
            log = {name: record[name] for name in self._log if record.get(name) not in (None, "")}
            self._logged[str(record.get(self._row_column))] = log
            samples.append(Filled(record.get(self._row_column), position, (label,), frozenset({0}), beside))
        return samples

    def text(self, changes: Mapping[Position, Any]) -> str:
        """The file with other labels."""
        written = _require_rows(self.written, self.samples.options.path)
        labels = {index: label for (index, _), label in changes.items()}
        return written.text_with(labels, self._label_column, {row: self._logged.get(str(row), {}) for row in labels})


def _require_rows(rows: WrittenRows | None, path: Path) -> WrittenRows:
    if rows is None or (rows.delimiter is None and not rows.lines):
        raise InvalidInputError(
            f"{path} cannot be merged: that takes JSON lines or a table (.jsonl, .csv, .tsv), in which labels stand "
            "beside texts."
        )
    return rows
