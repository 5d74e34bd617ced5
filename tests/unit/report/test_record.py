import json
from dataclasses import dataclass
from enum import Enum, IntEnum
from pathlib import Path

import numpy as np
import pytest

from labelworth.errors import DataUnavailableError, InvalidInputError
from labelworth.report.record import Record, Stopwatch, plain, validate, versions


class Color(Enum):
    RED = "red"


class Number(IntEnum):
    ONE = 1


@dataclass
class Point:
    x: float
    path: Path


def a_record(**changes: object) -> Record:
    given = {"command": "something", "asked": {"fraction": 0.1}, "figures": {"error": 0.5}, "seed": 3}
    return Record(**{**given, **changes})


def test_everything_becomes_plain() -> None:
    value = {
        "array": np.array([[1.0, np.nan], [np.inf, 2.0]]),
        "number": np.float64(0.1),
        "count": np.int64(7),
        "truth": np.bool_(True),
        "point": Point(np.float64(2.0), Path("a/b")),
        "color": Color.RED,
        Number.ONE: (Number.ONE, None, "text"),
    }
    assert plain(value) == {
        "array": [[1.0, None], [None, 2.0]],
        "number": 0.1,
        "count": 7,
        "truth": True,
        "point": {"x": 2.0, "path": "a/b"},
        "color": "red",
        "1": [1, None, "text"],
    }


def test_what_json_cannot_say_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="cannot hold a object"):
        plain([object()])


def test_a_record_survives_its_file(tmp_path: Path) -> None:
    record = a_record(data_digest="sha256:" + "0" * 64, durations={"total": 0.25})
    record.write(tmp_path / "record.json")
    assert Record.read(tmp_path / "record.json") == record


def test_a_record_is_one_strict_json_document_with_its_figures_at_the_top() -> None:
    document = json.loads(a_record(figures={"error": float("nan")}).to_json(), parse_constant=pytest.fail)
    assert document["error"] is None
    assert document["seed"] == 3
    assert document["schema_version"] == "1.0"
    assert set(document["versions"]) == {"labelworth", "python", "numpy", "scipy", "numba", "scikit-learn"}


def test_figures_must_not_hide_the_provenance() -> None:
    with pytest.raises(InvalidInputError, match="seed"):
        a_record(figures={"seed": 1})


@pytest.mark.parametrize(
    ("changes", "place"),
    [
        ({"seed": -1}, "seed"),
        ({"data_digest": "md5:0"}, "data_digest"),
        ({"durations": {"total": -1.0}}, "durations/total"),
        ({"versions": {"python": "3"}}, "versions"),
        ({"command": "reproduce"}, "top"),
    ],
)
def test_a_record_that_breaks_its_schema_is_refused_by_place(changes: dict[str, object], place: str) -> None:
    with pytest.raises(InvalidInputError, match=f"at .*{place}"):
        a_record(**changes).document()


@pytest.mark.parametrize("document", [[], "text", {}, {"command": ["fit"]}])
def test_foreign_documents_are_refused(document: object) -> None:
    with pytest.raises(InvalidInputError, match="Not a valid record"):
        validate(document)


@pytest.mark.parametrize("content", [b"", b"{", b"\xff\xfe"])
def test_foreign_files_are_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "file").write_bytes(content)
    with pytest.raises(InvalidInputError, match="is not a record"):
        Record.read(tmp_path / "file")


def test_a_missing_file_is_told(tmp_path: Path) -> None:
    with pytest.raises(DataUnavailableError, match="Cannot read"):
        Record.read(tmp_path / "missing")


def test_versions_are_those_in_use() -> None:
    assert versions()["numpy"] == np.__version__


def test_a_stopwatch_adds_the_visits_of_a_part() -> None:
    watch = Stopwatch()
    for _ in range(2):
        with watch.timing("part"):
            sum(range(1000))
    durations = watch.durations
    assert set(durations) == {"part", "total"}
    assert 0 < durations["part"] <= durations["total"]
