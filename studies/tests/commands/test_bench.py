"""Races from the command line: figures are told and kept as they come."""

import json
from pathlib import Path

import pytest

from labelworth.report.record import validate
from labelworth_studies.benchmarks import limits
from support.command_line import labelworth


@pytest.fixture(autouse=True)
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where figures are kept unless another file is named."""
    monkeypatch.chdir(tmp_path)
    return tmp_path / "labelworth-bench.json"


def test_a_race_answers_with_one_valid_record(kept: Path) -> None:
    answer = labelworth("bench", "fractions", "--quick", "--repeats", 1, "--json")
    assert answer.code == 0, answer.stderr
    validate(answer.record)
    [result] = answer.record["races"]
    assert result["name"] == "fractions"
    assert result["difference"] <= result["tolerance"]
    assert answer.record["waits"] == []
    assert json.loads(kept.read_text())["races"] == answer.record["races"]


def test_people_see_the_ratio() -> None:
    answer = labelworth("bench", "fractions", "--quick", "--repeats", 1)
    assert "times" in answer.stdout
    assert "numpy.linalg.inv" in answer.stdout


def test_an_unknown_race_exits_with_two() -> None:
    answer = labelworth("bench", "sack")
    assert answer.code == 2
    assert "em-newsgroups" in answer.stderr


def test_a_limit_can_be_named_like_a_race() -> None:
    answer = labelworth("bench", "lanczos-memory", "--quick", "--json")
    assert answer.code == 0, answer.stderr
    validate(answer.record)
    [limit] = answer.record["limits"]
    assert limit["limit"] == 4
    assert answer.record["races"] == []


@pytest.mark.parametrize("as_json", [False, True])
def test_what_was_measured_before_it_is_stopped_is_told_and_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, as_json: bool
) -> None:
    def stopped(quick: bool) -> limits.Limit:
        raise KeyboardInterrupt

    first = limits.Limit("first", "", 1.5, 2.0)
    monkeypatch.setattr(limits, "LIMITS", {"first": lambda quick: first, "second": stopped})
    kept = tmp_path / "kept.json"
    answer = labelworth("bench", "first", "second", "-o", kept, *(["--json"] if as_json else []))
    assert answer.code == 130
    assert "first: 1.5 (limit 2): met" in answer.stderr
    assert f"kept in {kept}" in answer.stderr.replace("\n", "")
    record = json.loads(kept.read_text())
    validate(record)
    assert [limit["name"] for limit in record["limits"]] == ["first"]


def test_a_file_that_cannot_be_written_is_told_before_anything_is_measured(tmp_path: Path) -> None:
    answer = labelworth("bench", "fractions", "--quick", "-o", tmp_path / "no-folder" / "bench.json")
    assert answer.code == 2
    assert "there is no folder" in answer.stderr
