import sys
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet

from labelworth.data.readers.parquet import read_parquet
from labelworth.errors import InvalidInputError
from support.files import write_parquet


def test_lists_are_candidate_sets(tmp_path: Path) -> None:
    raw = read_parquet(write_parquet(tmp_path / "a.parquet", ["a", "b"], [["x", "y"], None]))
    assert raw.labels == (["x", "y"], None)


def test_what_pandas_writes_is_read(tmp_path: Path) -> None:
    frame = pd.DataFrame(
        {"text": ["a", "b", "c"], "label": pd.Series([1, None, 2]), "kind": pd.Categorical(list("xyx"))}
    )
    frame.to_parquet(tmp_path / "a.parquet")
    assert read_parquet(tmp_path / "a.parquet").labels == (1, None, 2)
    assert read_parquet(tmp_path / "a.parquet", label_column="kind").labels == ("x", "y", "x")
    assert read_parquet(tmp_path / "a.parquet", label_column=None).labels == (None, None, None)


def test_wrong_columns_are_listed(tmp_path: Path) -> None:
    path = write_parquet(tmp_path / "a.parquet", ["a"], ["x"])
    with pytest.raises(InvalidInputError, match=r"no column 'txt'.*It has: 'text', 'label'.*text_column='text'"):
        read_parquet(path, text_column="txt")
    with pytest.raises(InvalidInputError, match=r"no column 'topic'"):
        read_parquet(path, label_column="topic")
    with pytest.raises(InvalidInputError, match=r"row 1: the text is 3"):
        read_parquet(write_parquet(tmp_path / "b.parquet", [3], ["x"]))


def test_a_truncated_file_is_refused(tmp_path: Path) -> None:
    path = write_parquet(tmp_path / "a.parquet", ["a"] * 100, ["x"] * 100)
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(InvalidInputError, match="not a whole Parquet file"):
        read_parquet(path)


def test_a_time_that_nobody_can_read_is_not_called_a_broken_file(tmp_path: Path) -> None:
    path = tmp_path / "times.parquet"
    times = pa.array([1, 2], pa.timestamp("us", tz="Mars/Olympus"))
    parquet.write_table(pa.table({"text": ["ant", "bee"], "label": times}), path)
    with pytest.raises(InvalidInputError, match=r"holds values of timestamp.*Mars/Olympus.* in column 'label'"):
        read_parquet(path)
    assert len(read_parquet(path, label_column=None).labels) == 2


def test_without_pyarrow_the_cure_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write_parquet(tmp_path / "a.parquet", ["a"], ["x"])
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(InvalidInputError, match=r"pip install 'labelworth\[parquet\]'"):
        read_parquet(path)
