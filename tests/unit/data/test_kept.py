"""Finished answers are kept, and only taken for what they are."""

import json
from pathlib import Path

import pytest

from labelworth.data.kept import Checkpoint, CorruptAnswerError
from labelworth.errors import InvalidInputError, OutputError

QUESTION = {"n": 100, "fraction": 0.1, "seed": 0}


def refuse() -> list[int]:
    raise AssertionError("computed again")


def test_a_saved_answer_is_found_again_to_the_last_bit(tmp_path: Path) -> None:
    kept = Checkpoint(tmp_path / "cells", {"version": 1})
    assert kept.load(QUESTION) is None
    kept.save(QUESTION, {"error": 0.1 + 0.2})
    assert kept.load(dict(reversed(QUESTION.items()))) == {"error": 0.1 + 0.2}


@pytest.mark.parametrize("change", [{"n": 101}, {"seed": 1}, {"more": None}])
def test_another_question_is_another_answer(tmp_path: Path, change: dict[str, object]) -> None:
    kept = Checkpoint(tmp_path, {"version": 1})
    kept.save(QUESTION, {"error": 1.0})
    assert kept.load({**QUESTION, **change}) is None


def test_another_context_is_another_answer(tmp_path: Path) -> None:
    Checkpoint(tmp_path, {"version": 1}).save(QUESTION, {"error": 1.0})
    assert Checkpoint(tmp_path, {"version": 2}).load(QUESTION) is None


@pytest.mark.parametrize("damage", [b"", b"{", b"\xff", b"[]", b"{}", None])
def test_a_damaged_answer_is_told(tmp_path: Path, damage: bytes | None) -> None:
    kept = Checkpoint(tmp_path, {})
    kept.save(QUESTION, {"error": 1.0})
    if damage is None:
        content = json.loads(kept.path(QUESTION).read_text())
        content["answer"]["error"] = 2.0
        damage = json.dumps(content).encode()
    kept.path(QUESTION).write_bytes(damage)
    with pytest.raises(CorruptAnswerError, match="The cell"):
        kept.load(QUESTION)


def test_what_json_cannot_hold_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match="JSON values"):
        Checkpoint(tmp_path, {}).save(QUESTION, {"x": {1, 2}})


def test_a_place_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match="Cannot make the folder"):
        Checkpoint(tmp_path / "file" / "cells", {}).save(QUESTION, {})


def test_a_finished_step_is_not_computed_again(tmp_path: Path) -> None:
    first = Checkpoint(tmp_path / "steps", {"seed": 0})
    assert first.step("harm", lambda: {"answer": [0.1, None]}) == {"answer": [0.1, None]}
    again = Checkpoint(tmp_path / "steps", {"seed": 0})
    assert again.step("harm", refuse) == {"answer": [0.1, None]}
    assert again.n_reused == 1


def test_other_data_or_another_step_is_another_answer(tmp_path: Path) -> None:
    Checkpoint(tmp_path, {"seed": 0}).step("harm", lambda: 1)
    assert Checkpoint(tmp_path, {"seed": 1}).step("harm", lambda: 2) == 2
    assert Checkpoint(tmp_path, {"seed": 0}).step("forecast", lambda: 3) == 3


def test_a_damaged_step_is_computed_again(tmp_path: Path) -> None:
    Checkpoint(tmp_path, {}).step("harm", lambda: [1, 2])
    path = next(tmp_path.iterdir())
    path.write_text(path.read_text().replace("[1,2]", "[1,3]"))
    assert Checkpoint(tmp_path, {}).step("harm", lambda: [7]) == [7]


def test_without_a_folder_nothing_is_kept() -> None:
    steps = Checkpoint(None, {})
    assert steps.step("harm", lambda: 1) == 1
    with pytest.raises(AssertionError, match="computed again"):
        steps.step("harm", refuse)
