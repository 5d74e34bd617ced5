"""Tables of texts and classes with a row per judgement: CSV, TSV, Excel, and JSON lines."""

import io
import json
import re
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

from labelworth.data.files import atomic_write, write_lines
from labelworth.data.guard import guarded, read_archive
from labelworth.data.readers.cells import LabelCells, is_empty, missing_column, whole
from labelworth.data.readers.delimited import find_delimiter, read_named_table
from labelworth.data.readers.streams import read_bytes
from labelworth.data.readers.written import json_lines, table_text
from labelworth.errors import InvalidInputError
from labelworth.formats.export import Export, How, Item, Judgement
from labelworth.formats.fields import Fields
from labelworth.formats.format import USUAL, Format, Gathered, empty_judged, free_fields, number_or_text
from labelworth.formats.source import OF_TOOLS, Source

_OWN = ("id", "text", "label", "annotator", "seconds", "when", "gold")
_LONGEST_CELL = 32_767
_NOT_IN_EXCEL = re.compile("[\x00-\x08\x0b-\x1f\ufffe\uffff]|_x", re.IGNORECASE)
_ZIP = b"PK\x03\x04"


def _knows_delimited(delimiter: str) -> Callable[[Source], bool]:
    def knows(source: Source) -> bool:
        head = source.head.removeprefix(b"\xef\xbb\xbf").split(b"\n")[0].rstrip(b"\r")
        wanted = (source.reading.text_field or "text").encode()
        other = b"\t" if delimiter == "," else b","
        cells = [cell.strip(b'"') for cell in head.replace(b";", delimiter.encode()).split(delimiter.encode())]
        is_text = not source.is_folder and not source.is_json and b"\0" not in source.head
        return is_text and wanted in cells and (len(cells) > 1 or (delimiter == "," and other not in head))

    return knows


def _knows_json(source: Source) -> bool:
    first = source.first
    if not isinstance(first.get(source.reading.text_field or "text"), str) or (OF_TOOLS | {"tokens"}) & first.keys():
        return False
    label = first.get("label")
    is_spans = isinstance(label, list) and bool(label) and isinstance(label[0], list)
    return not is_spans and not any(name.endswith(".responses") for name in first)


def _knows_excel(source: Source) -> bool:
    return source.head.startswith(_ZIP) and b"xl/" in read_bytes(source.path)


def _export(rows: Iterator[Fields], source: Source, *, is_written: bool) -> Export:
    """Rows as items; cells that are `written` are texts, and lists are JSON in them."""
    gathered, cells = Gathered(str(source.path)), LabelCells()
    field = source.reading.text_field or "text"
    label_field = source.reading.question or "label"
    for number, row in enumerate(rows, start=1):
        if field not in row.record:
            raise missing_column(row.location, field, row.record, "text_column")
        text = "" if row.record[field] is None else row.text(field)
        cell = row.record.get(label_field)
        label = (
            cells.read_written(cell, row.location)
            if is_written and isinstance(cell, str)
            else cells.read(cell, row.location)
        )
        said = (
            ()
            if label is None
            else tuple(row.label(name) for name in (label if isinstance(label, list) else [label]))
        )
        gold = str(row.record.get("gold", "")).strip().casefold() in ("true", "1", "yes")
        seconds = None if is_empty(row.record.get("seconds")) else row.seconds("seconds")
        how: How = "one of" if len(said) > 1 else "is"
        judgement = Judgement(said, how, row.name("annotator").strip(), seconds, row.when("when"), gold)
        name = row.name("id") or str(number)
        # Rows of people are not asked about: most tables have rows without a label that are to be labeled.
        judgements = empty_judged(judgement, source.reading, [], name)
        beside = row.beside(*_OWN, field, label_field).items()
        meta = {column: value for column, value in beside if not (is_written and is_empty(value))}
        gathered.add(Item(name, text, judgements, meta=meta), row)
    return Export(gathered.items(), "classes", (), "label", str(source.path))


def _read_delimited(delimiter: str) -> Callable[[Source], Export]:
    def read(source: Source) -> Export:
        encoding = source.reading.encoding
        mark = find_delimiter(source.path, delimiter, encoding)
        header, table = read_named_table(source.path, mark, encoding)
        rows = (Fields(dict(zip(header, row, strict=True)), f"{source.path}, line {n}") for n, row in table)
        return _export(rows, source, is_written=True)

    return read


def _read_json(source: Source) -> Export:
    return _export(iter(source.records), source, is_written=False)


def _read_excel(source: Source) -> Export:
    return _export(_excel_rows(source.path), source, is_written=True)


def _excel_rows(path: Path) -> Iterator[Fields]:
    """The rows of the first sheet, read without formulas, entities or anything from outside."""
    try:
        from openpyxl import load_workbook
    except ImportError as error:
        raise InvalidInputError(
            f"Reading {path} needs openpyxl, which is not installed. Use: pip install 'labelworth[excel]'"
        ) from error
    content = read_bytes(path)
    with guarded(path, "is not a whole workbook of Excel", "Save it again as .xlsx, or as CSV."):
        for name, member in read_archive(content, path).items():
            if b"<!DOCTYPE" in member or b"<!ENTITY" in member:
                raise InvalidInputError(
                    f"{path} declares entities in {name[:60]!r}, as no workbook does. Save it again."
                )
        book = load_workbook(io.BytesIO(content), read_only=True, data_only=True, keep_links=False)
        sheet = book.worksheets[0]
        # What the file claims of its size is not believed.
        sheet.reset_dimensions()
        table = [
            (number, row)
            for number, row in enumerate(sheet.iter_rows(values_only=True), 1)
            if any(c is not None for c in row)
        ]
        book.close()
    if not table:
        raise InvalidInputError(f"{path} holds no rows. The first line of its first sheet must name the columns.")
    header = [_cell(cell) or "" for cell in table[0][1]]
    if len({name for name in header if name}) < sum(bool(name) for name in header):
        raise InvalidInputError(f"{path} has several columns of one name. Name each column differently.")
    for number, row in table[1:]:
        cells = {name: _cell(cell) for name, cell in zip(header, row, strict=False) if name}
        yield Fields({**dict.fromkeys(filter(None, header)), **cells}, f"{path}, row {number}")


def _cell(value: Any) -> str | None:
    if value is None:
        return None
    if isinstance(value, datetime):
        return value.isoformat()
    return str(whole(value)) if isinstance(value, int | float | bool | str) else str(value)


def _records(export: Export, *, is_typed: bool) -> list[dict[str, Any]]:
    records = []
    for item in export.items:
        shared = {
            "id": number_or_text(item.id) if is_typed else item.id,
            "text": item.text,
            **free_fields(item, _OWN),
        }
        for judgement in item.judgements or (None,):
            record = {**shared, "label": None}
            if judgement is not None:
                label = list(judgement.said) if judgement.how == "one of" else judgement.said[0]
                _require_readable(label, item, is_typed=is_typed)
                record |= {
                    "label": label,
                    "annotator": judgement.annotator or None,
                    "seconds": judgement.seconds,
                    "when": None if judgement.when is None else judgement.when.isoformat(),
                    "gold": True if judgement.is_gold else None,
                }
            records.append(record)
    used = {name for record in records for name, value in record.items() if value is not None} | {
        "id",
        "text",
        "label",
    }
    return [{name: value for name, value in record.items() if name in used} for record in records]


def _require_readable(label: Any, item: Item, *, is_typed: bool) -> None:
    """Refuse a label that would be read as something else: a list in brackets, or a mark of unlabeled rows."""
    try:
        read = LabelCells().read if is_typed or isinstance(label, list) else LabelCells().read_written
        is_same = read(label, "") == label
    except InvalidInputError:
        is_same = False
    if not is_same:
        raise InvalidInputError(
            f"The label {label!r:.40} of item {item.id!r:.40} would not be read as one from a table. Rename it."
        )


def _put_delimited(delimiter: str) -> Callable[[Export, Path], None]:
    def put(export: Export, path: Path) -> None:
        records = _records(export, is_typed=False)
        _require_cells(records)
        names = list(dict.fromkeys(name for record in records for name in record))
        write_lines(path, [table_text(names, records, delimiter)])

    return put


def _require_cells(records: list[dict[str, Any]]) -> None:
    """A carriage return alone ends a line for some readers and not for others."""
    for record in records:
        for value in record.values():
            if isinstance(value, str) and "\r" in value.replace("\r\n", ""):
                raise InvalidInputError(f"A carriage return alone cannot be written to a table: {value[:40]!r}.")


def _put_json(export: Export, path: Path) -> None:
    write_lines(path, [json_lines(_records(export, is_typed=True))])


def _put_excel(export: Export, path: Path) -> None:
    try:
        from openpyxl import Workbook
        from openpyxl.cell import WriteOnlyCell
    except ImportError as error:
        raise InvalidInputError(
            f"Writing {path} needs openpyxl, which is not installed. Use: pip install 'labelworth[excel]'"
        ) from error
    records = _records(export, is_typed=False)
    names = list(dict.fromkeys(name for record in records for name in record))
    table: list[list[str | None]] = [
        [*names],
        *([_excel_text(record.get(name)) for name in names] for record in records),
    ]
    book = Workbook(write_only=True)
    sheet = book.create_sheet("labels")
    for row in table:
        cells = [WriteOnlyCell(sheet, value=text) for text in row]
        for cell in cells:
            if cell.value is not None:
                # Never a formula, whatever a text begins with.
                cell.data_type = "s"
        sheet.append(cells)
    stream = io.BytesIO()
    book.save(stream)
    atomic_write(path, stream.getvalue())


def _excel_text(value: Any) -> str | None:
    text = value if value is None or isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    if text is not None and (len(text) > _LONGEST_CELL or _NOT_IN_EXCEL.search(text)):
        raise InvalidInputError(
            f"Excel cannot hold {text[:40]!r} as it is: longer than {_LONGEST_CELL:,} characters, a control "
            "character, or what it reads as an escape. Write CSV."
        )
    return text or None


_STATES = "an empty label: unlabeled, or with --empty-means nothing: nothing"
_HOLDS = frozenset({
    *USUAL, "meta", "one of", "several judgements", "several by one", "gold", "annotators", "seconds", "when", "ids",
})  # fmt: skip


def _table(
    name: str, title: str, holds: frozenset[str], knows: Callable[[Source], bool], read: Callable[[Source], Export],
    put: Callable[[Export, Path], None], ending: str, is_data: bool = True,
) -> Format:  # fmt: skip
    return Format(name, title, ("classes",), holds, _STATES, knows, read, put, (ending,), is_data=is_data)


_TEXTS = _HOLDS - {"types"}
CSV = _table("csv", "CSV", _TEXTS, _knows_delimited(","), _read_delimited(","), _put_delimited(","), ".csv")
TSV = _table("tsv", "TSV", _TEXTS, _knows_delimited("\t"), _read_delimited("\t"), _put_delimited("\t"), ".tsv")
EXCEL = _table("excel", "Excel", _TEXTS, _knows_excel, _read_excel, _put_excel, ".xlsx", is_data=False)
JSONL = _table("jsonl", "JSON lines", _HOLDS, _knows_json, _read_json, _put_json, ".jsonl")
