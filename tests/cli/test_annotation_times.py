"""Prices from the times that the data carries."""

import json
from pathlib import Path

import numpy as np
import pytest

from labelworth.cli.annotation_times import prices_of_column
from labelworth.errors import InvalidInputError
from support.command_line import labelworth

TOKENS = np.array([3.0, 5.0, 8.0, 4.0, 9.0, 6.0])
LABELS = np.array([1.0, 1.0, 1.0, 1.0, 1.0, 0.0])
READING = {"format": None, "encoding": "utf-8", "text_column": "text", "per_hour": 3600.0}


def _times() -> list[float | None]:
    return [*(2 + 0.5 * TOKENS[:5]).tolist(), None]


def _jsonl(path: Path, times: list[object]) -> Path:
    rows = [{"text": "ant bee", "label": "x", "seconds": time} for time in times]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_json_lines_and_csv_give_the_same_prices(tmp_path: Path) -> None:
    table = tmp_path / "data.csv"
    table.write_text("text,label,seconds\n" + "".join(f"ant bee,x,{'' if t is None else t}\n" for t in _times()))
    for path in (_jsonl(tmp_path / "data.jsonl", _times()), table):
        found = prices_of_column(path, "seconds", LABELS, TOKENS, **READING)
        assert found.n_items == 5
        assert found.prices.per_label == pytest.approx(2.0)
        assert found.prices.per_token == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("times", "column", "words"),
    [
        ([*_times()[:5], "soon"], "seconds", "must be a number of seconds. Got 'soon'"),
        (_times(), "minutes", "has no column 'minutes'"),
        ([None] * 6, "seconds", "No labeled row"),
        (_times()[:5], "seconds", "5 rows with a cell for times and 6 samples"),
    ],
)
def test_bad_times_are_told(tmp_path: Path, times: list[object], column: str, words: str) -> None:
    path = _jsonl(tmp_path / "data.jsonl", times)
    with pytest.raises(InvalidInputError, match=words):
        prices_of_column(path, column, LABELS, TOKENS, **READING)


def test_prices_that_are_said_and_measured_exclude_each_other(tmp_path: Path) -> None:
    path = _jsonl(tmp_path / "data.jsonl", _times())
    answer = labelworth("plan", path, "--budget", 9, "--seconds-column", "seconds", "--price-label", 2)
    assert answer.code == 2
    assert "--price-hour" in answer.stderr
