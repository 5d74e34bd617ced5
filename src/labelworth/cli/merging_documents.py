"""Labels of documents that were filled in, merged into their file."""

from pathlib import Path
from typing import Any

from labelworth.cli.batch_writing import ROW
from labelworth.cli.merging import Merged, Merging, place_of
from labelworth.cli.merging_columns import require_same_columns
from labelworth.cli.reading import NO_MARKER, Source, classes_named
from labelworth.cli.written_rows import WrittenRows, own_column, written_rows


def merge_documents(source: Source, batch: Path, classes: str | None) -> Merged:
    """The file with the labels of the batch.

    Raises
    ------
    InvalidInputError
        If rows do not fit, or labels are not known or differ from those in the data.
    """
    from labelworth.data.readers.cells import NOT_NAMED, LabelCells

    raw: Any = source.read()
    written, filled = _rows(source.path, source.format, source.encoding), _rows(batch, None, "utf-8")
    column = "label" if source.label_column in (None, NO_MARKER) else str(source.label_column)
    row_column = own_column(ROW, written.names)
    _require_columns(filled, batch, row_column, column)
    marker: Any = NOT_NAMED if source.unlabeled is None else source.unlabeled
    cells = LabelCells(None if marker == NO_MARKER else marker)
    named = None if classes is None else classes_named(classes, raw.labels)
    merging = Merging(raw.labels, named)
    seen: dict[int, str] = {}
    for record, place in zip(filled.records, filled.places, strict=True):
        row = place_of(record.get(row_column), len(written.records), place, ROW, seen)
        require_same_columns(written.records[row], record, (row_column, column), place, f"row {row}")
        cell = record.get(column)
        label = cells.read_written(cell, place) if isinstance(cell, str) else cells.read(cell, place)
        if label is None:
            merging.leave(f"row {row}")
        else:
            merging.take(row, label, raw.labels[row], f"row {row}")
    return merging.finish(lambda changes: written.text_with(changes, column), len(filled.records))


def _rows(path: Path, format: str | None, encoding: str) -> WrittenRows:
    from labelworth.errors import InvalidInputError

    found = written_rows(path, format, encoding)
    if found is None or (found.delimiter is None and not found.lines):
        raise InvalidInputError(
            f"{path} cannot be merged: that takes JSON lines or a table (.jsonl, .csv, .tsv), in which labels stand "
            "beside texts."
        )
    return found


def _require_columns(filled: WrittenRows, batch: Path, row_column: str, label_column: str) -> None:
    from labelworth.errors import InvalidInputError

    for name, what in ((row_column, "where its rows come from"), (label_column, "what was filled in")):
        if name not in filled.names:
            raise InvalidInputError(
                f"{batch} has no column {name!r}, which says {what}; `labelworth next` wrote it. It has: "
                f"{', '.join(map(repr, filled.names)) or 'none'}."
            )
