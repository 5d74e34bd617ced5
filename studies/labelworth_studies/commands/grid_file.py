"""Grids of studies, as CSV."""

import csv
import io
from pathlib import Path
from typing import Any

from labelworth.data.files import atomic_write
from labelworth.report.values import Measured, Table


def save_csv(table: Table, path: Path) -> Path:
    """Write a table as CSV, whole or not at all; a `Measured` takes two columns, the second ending in ``_se``."""
    sampled = [any(isinstance(row[index], Measured) for row in table.rows) for index in range(len(table.columns))]
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    heads = zip(table.columns, sampled, strict=True)
    writer.writerow([name for title, pair in heads for name in ((title, f"{title}_se") if pair else (title,))])
    for row in table.rows:
        writer.writerow([cell for entry, pair in zip(row, sampled, strict=True) for cell in _csv_cells(entry, pair)])
    atomic_write(path, stream.getvalue())
    return path


def _csv_cells(entry: Any, pair: bool) -> tuple[Any, ...]:
    if isinstance(entry, Measured):
        return entry.value, entry.standard_error
    return (entry, None) if pair else (entry,)
