"""Cells of some columns are those of the rows as they are written, whatever the kind of file."""

import json
from pathlib import Path

import pytest

from labelworth.data.readers.written import written_cells, written_rows

RECORDS = [{"text": "a b", "id": 1}, {"text": "c", "rule": "worth"}, {"id": 3, "text": "d, e"}]
NAMES = ("id", "rule", "batch")


def _jsonl(folder: Path) -> Path:
    path = folder / "rows.jsonl"
    path.write_text("".join(json.dumps(record) + "\n\n" for record in RECORDS), encoding="utf-8")
    return path


def _array(folder: Path) -> Path:
    path = folder / "array.jsonl"
    path.write_text(json.dumps(RECORDS, indent=1), encoding="utf-8")
    return path


def _csv(folder: Path) -> Path:
    path = folder / "rows.csv"
    path.write_text('text,id,rule\na b,1,\nc,,worth\n"d, e",3,\n', encoding="utf-8")
    return path


def _parquet(folder: Path) -> Path:
    arrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    path = folder / "rows.parquet"
    columns = {name: [record.get(name) for record in RECORDS] for name in ("text", "id", "rule")}
    parquet.write_table(arrow.table(columns), path)
    return path


@pytest.mark.parametrize("write", [_jsonl, _array, _csv, _parquet])
def test_cells_of_columns_are_those_of_the_rows(write, tmp_path: Path) -> None:
    path = write(tmp_path)
    written = written_rows(path, None, "utf-8")
    assert written is not None
    expected = {name: [record.get(name) for record in written.records] for name in NAMES if name in written.names}
    assert written_cells(path, None, "utf-8", NAMES) == expected
    assert sorted(expected) == ["id", "rule"]


@pytest.mark.parametrize("write", [_jsonl, _array, _csv, _parquet])
def test_columns_that_a_file_has_not_are_no_cells(write, tmp_path: Path) -> None:
    assert written_cells(write(tmp_path), None, "utf-8", ("batch",)) == {}


def test_files_of_numbers_have_no_columns(tmp_path: Path) -> None:
    path = tmp_path / "rows.svmlight"
    path.write_text("1 1:2\n", encoding="utf-8")
    assert written_cells(path, None, "utf-8", NAMES) == {}
