"""Prices from a column of the data that says how long annotators took."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from labelworth.errors import InvalidInputError

if TYPE_CHECKING:
    from labelworth.arrays import FloatArray
    from labelworth.tradeoff.annotation_times import TimedPrices


def prices_of_column(
    path: Path,
    column: str,
    labels: "FloatArray",
    tokens: "FloatArray",
    *,
    format: str | None,
    encoding: str,
    text_column: str,
    per_hour: float,
) -> "TimedPrices":
    """What annotation costs by the seconds in a column, from the rows that carry labels and a time.

    Parameters
    ----------
    labels, tokens : array of shape (n_rows,)
        How many labels every row has, and how many words.
    per_hour : float
        What an hour of annotation costs.
    """
    import numpy as np

    from labelworth.tradeoff.annotation_times import prices_from_times

    seconds = np.array([_seconds(cell, path) for cell in _cells(path, column, format, encoding, text_column)])
    if seconds.shape != labels.shape:
        raise InvalidInputError(
            f"{path} has {seconds.size} rows with a cell for times and {labels.size} samples: annotation times go "
            "with files of one sample per row."
        )
    timed = ~np.isnan(seconds) & (labels > 0)
    if not timed.any():
        raise InvalidInputError(f"No labeled row of {path} has a time in the column {column!r}.")
    return prices_from_times(seconds[timed], labels[timed], tokens[timed], per_hour=per_hour)


def _cells(path: Path, column: str, format: str | None, encoding: str, text_column: str) -> list[Any]:
    from labelworth.data.readers import read
    from labelworth.data.readers.cells import missing_column
    from labelworth.data.readers.json_files import read_records

    name = path.with_suffix("") if path.suffix.lower() == ".gz" else path
    if format in ("jsonl", "tokens-jsonl") or (
        format is None and name.suffix.lower() in (".jsonl", ".ndjson", ".json")
    ):
        records = [record for _, record in read_records(path, encoding=encoding)]
        names = {key for record in records for key in record}
        if column not in names:
            raise missing_column(str(path), column, sorted(names), "seconds_column")
        return [record.get(column) for record in records]
    # To a reader any column is one of labels; an empty cell is None.
    raw = read(path, text_column=text_column, label_column=column, unlabeled=None, format=format, encoding=encoding)
    return list(raw.labels)


def _seconds(cell: Any, path: Path) -> float:
    if cell is None or cell == "":
        return float("nan")
    try:
        return float(cell)
    except (TypeError, ValueError):
        raise InvalidInputError(f"{path}: a time must be a number of seconds. Got {cell!r}.") from None
