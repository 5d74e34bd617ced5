"""Finished steps are kept, and only taken for what they are."""

from pathlib import Path

import pytest

from labelworth.planning.checkpoint import Checkpoint


def refuse() -> list[int]:
    raise AssertionError("computed again")


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


def test_a_damaged_file_is_computed_again(tmp_path: Path) -> None:
    Checkpoint(tmp_path, {}).step("harm", lambda: [1, 2])
    path = next(tmp_path.iterdir())
    path.write_text(path.read_text().replace("[1, 2]", "[1, 3]"))
    assert Checkpoint(tmp_path, {}).step("harm", lambda: [7]) == [7]


def test_without_a_folder_nothing_is_kept() -> None:
    steps = Checkpoint(None, {})
    assert steps.step("harm", lambda: 1) == 1
    with pytest.raises(AssertionError, match="computed again"):
        steps.step("harm", refuse)
