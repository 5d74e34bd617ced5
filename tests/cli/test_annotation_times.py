"""Prices from the times that the data carries."""

import json
from pathlib import Path

import pytest

from labelworth.cli.inputs.documents import Documents
from labelworth.cli.options import DataOptions
from labelworth.cli.options.planning import prices_of_column
from labelworth.errors import InvalidInputError
from labelworth.tradeoff.annotation_times import TimedPrices
from support.command_line import labelworth

N_WORDS = (3, 5, 8, 4, 9, 6)


def _times() -> list[float | None]:
    return [*(2 + 0.5 * n_words for n_words in N_WORDS[:5]), None]


def _rows(times: list[object]) -> list[dict[str, object]]:
    """Documents with as many words as said; all but the last one are labeled."""
    return [
        {"text": "ant " * n_words, "label": None if row == 5 else "x", "seconds": time}
        for row, (n_words, time) in enumerate(zip(N_WORDS, times, strict=True))
    ]


def _jsonl(path: Path, times: list[object]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in _rows(times)))
    return path


def _prices(path: Path, column: str) -> TimedPrices:
    return prices_of_column(Documents.read(DataOptions(path)), column, 3600.0)


def test_json_lines_and_csv_give_the_same_prices(tmp_path: Path) -> None:
    table = tmp_path / "data.csv"
    cells = [["" if cell is None else str(cell) for cell in row.values()] for row in _rows(_times())]
    table.write_text("text,label,seconds\n" + "".join(",".join(row) + "\n" for row in cells))
    for path in (_jsonl(tmp_path / "data.jsonl", _times()), table):
        found = _prices(path, "seconds")
        assert found.n_items == 5
        assert found.prices.per_label == pytest.approx(2.0)
        assert found.prices.per_token == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("times", "column", "words"),
    [
        ([*_times()[:5], "soon"], "seconds", "must be a number of seconds. Got 'soon'"),
        ([*_times()[:5], [3]], "seconds", "must be a number of seconds"),
        (_times(), "minutes", "has no column 'minutes'"),
        ([None] * 6, "seconds", "No labeled row"),
    ],
)
def test_bad_times_are_told(tmp_path: Path, times: list[object], column: str, words: str) -> None:
    path = _jsonl(tmp_path / "data.jsonl", times)
    with pytest.raises(InvalidInputError, match=words):
        _prices(path, column)


def test_files_without_columns_have_no_times(tmp_path: Path) -> None:
    path = tmp_path / "data.svm"
    path.write_text("1 1:2 2:1\n0 1:1\n")
    with pytest.raises(InvalidInputError, match="has no columns"):
        _prices(path, "seconds")


def test_prices_that_are_said_and_measured_exclude_each_other(tmp_path: Path) -> None:
    path = _jsonl(tmp_path / "data.jsonl", _times())
    answer = labelworth("plan", path, "--budget", 9, "--seconds-column", "seconds", "--price-label", 2)
    assert answer.code == 2
    assert "--price-hour" in answer.stderr
