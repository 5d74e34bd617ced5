"""What a study is: a grid of cells, what computes one, and what sums them up."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from labelworth.errors import InvalidInputError
from labelworth.progress import Progress
from labelworth.report.values import Outcome

Cell = Mapping[str, Any]
"""What one cell is asked, as JSON values; it names its own seed."""

Result = dict[str, Any]
"""What a cell answers, as JSON values."""


def canonical(value: Any) -> str:
    """The one JSON text of a value: sorted names, no spaces, doubles to the last bit."""
    try:
        return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)
    except (TypeError, ValueError) as error:
        raise InvalidInputError(
            f"A cell must hold finite JSON values ({error}); use .tolist() for arrays, None for a missing value."
        ) from error


@dataclass(frozen=True)
class Study:
    """A declarative experiment."""

    name: str  # What to type, and what it shows in one line.
    title: str
    cells: Callable[[bool, int], Sequence[Cell]]  # The grid: every cell as JSON values, its own seed included.
    # Pure, and defined at the top of a module, so that any worker can call it; answers with JSON values.
    compute: Callable[[Cell], Result]
    summarize: Callable[[Sequence[tuple[Cell, Result]]], Outcome]  # What it all says, in the order of the grid.
    version: int = 1  # Raised whenever `compute` changes what it answers: older cells are then computed afresh.
    corpora: tuple[str, ...] = ()  # Which it reads, by their names in the catalogue.
    quick_reads_corpora: bool = True  # Whether the smaller grid reads them too.
    # Identifies the data the cells read; cells of other data are not taken for these. None: no data.
    data_digest: Callable[[], str | None] = lambda: None
    # Called once before the first missing cell: reads what is missing, says what is slow.
    prepare: Callable[[Progress], None] | None = None
    # Under which name the cells are kept; studies with the same `compute` and version may share one. Their own
    # name when None.
    cells_name: str | None = None
