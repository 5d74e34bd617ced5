"""Plans name the rows of their pilot, and those are the rows that were drawn."""

import numpy as np
import pytest

from labelworth.planning.next import next_documents
from labelworth.planning.planner import pilot_record, ranges


def read_ranges(text: str) -> list[int]:
    rows: list[int] = []
    for part in filter(None, text.split(", ")):
        first, *last = part.split("-")
        rows += range(int(first), int(last[0] if last else first) + 1)
    return rows


@pytest.mark.parametrize("rows", [[], [4], [0, 1, 2], [0, 2, 4], [3, 4, 7, 9, 10, 11]])
def test_ranges_name_every_row_once(rows: list[int]) -> None:
    assert read_ranges(ranges(np.array(rows, dtype=np.int64))) == rows


def test_the_record_names_the_rows_that_were_drawn() -> None:
    batch = next_documents(np.zeros(50, dtype=bool), 20, seed=3)
    record = pilot_record(np.isin(np.arange(50), batch.rows))
    assert read_ranges(record["rows"]) == sorted(batch.to_dict()["rows"])
    assert (record["size"], record["n_samples"]) == (20, 50)


def test_digests_tell_pilots_apart() -> None:
    first, same, other = (pilot_record(np.isin(np.arange(9), rows))["digest"] for rows in ([1, 5], [1, 5], [1, 6]))
    assert first == same
    assert first != other
