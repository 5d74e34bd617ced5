"""Prices from a column of the data that says how long annotators took."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from labelworth.data.readers.cells import missing_column
from labelworth.errors import InvalidInputError
from labelworth.tradeoff.annotation_times import TimedPrices, prices_from_times

if TYPE_CHECKING:
    from labelworth.cli.inputs.documents import Documents
    from labelworth.cli.inputs.sequences import TokenSequences


def prices_of_column(data: "Documents | TokenSequences", column: str, per_hour: float) -> TimedPrices:
    """What annotation costs by the seconds in a column, from the samples that carry labels and a time.

    Parameters
    ----------
    per_hour : float
        What an hour of annotation costs.
    """
    path, written = data.options.path, data.written()
    if written is None:
        raise InvalidInputError(f"{path} has no columns: annotation times go with files of one sample per row.")
    if column not in written.names:
        raise missing_column(str(path), column, written.names, "seconds_column")
    seconds = np.array([_seconds(written.records[row].get(column), path) for row in data.objects(written)])
    labels, tokens = data.labels_and_tokens()
    timed = ~np.isnan(seconds) & (labels > 0)
    if not timed.any():
        raise InvalidInputError(f"No labeled row of {path} has a time in the column {column!r}.")
    return prices_from_times(seconds[timed], labels[timed], tokens[timed], per_hour=per_hour)


def _seconds(cell: Any, path: Path) -> float:
    if cell is None or (isinstance(cell, str) and not cell.strip()):
        return float("nan")
    try:
        return float(cell)
    except (TypeError, ValueError, OverflowError):
        raise InvalidInputError(f"{path}: a time must be a number of seconds. Got {cell!r:.60}.") from None
