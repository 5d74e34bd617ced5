import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from labelworth.data.kept import Checkpoint
from labelworth.errors import InvalidInputError, OutputError
from labelworth.progress import SilentProgress
from labelworth.report.values import Outcome
from labelworth_studies.runner import registry
from labelworth_studies.runner.run import run
from labelworth_studies.runner.study import Cell, Result, Study, canonical

COUNTER = "LABELWORTH_TEST_COUNTER"


def grid(quick: bool, seed: int) -> Sequence[Cell]:
    return [{"size": size, "seed": seed} for size in range(2 if quick else 6)]


def compute(cell: Cell) -> Result:
    with Path(os.environ[COUNTER]).open("a") as counter:
        counter.write(f"{cell['size']}\n")
    rng = np.random.default_rng([cell["seed"], cell["size"]])
    matrix = rng.standard_normal((200, 200))
    return {"values": np.linalg.inv(matrix @ matrix.T)[0, :5].tolist()}


def compute_until_interrupted(cell: Cell) -> Result:
    if cell["size"] == 3:
        raise KeyboardInterrupt
    return compute(cell)


def summarize(cells: Sequence[tuple[Cell, Result]]) -> Outcome:
    return Outcome(
        {"values": [result["values"] for _, result in cells], "sizes": [cell["size"] for cell, _ in cells]}
    )


STUDY = Study("inverse", "Inverses of random matrices", grid, compute, summarize)


class Listener(SilentProgress):
    def __init__(self) -> None:
        self.heard: list[str] = []

    def say(self, message: str) -> None:
        self.heard.append(message)


@pytest.fixture
def computed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "computed"
    path.touch()
    monkeypatch.setenv(COUNTER, str(path))
    return path


def test_workers_do_not_change_a_bit(tmp_path: Path, computed: Path) -> None:
    alone = run(STUDY, tmp_path / "alone", workers=1)
    together = run(STUDY, tmp_path / "together", workers=2)
    assert alone.outcome.figures == together.outcome.figures
    assert len(computed.read_text().split()) == 12


def test_a_second_run_computes_nothing(tmp_path: Path, computed: Path) -> None:
    first = run(STUDY, tmp_path, workers=1)
    progress = Listener()
    second = run(STUDY, tmp_path, workers=1, progress=progress)
    assert (first.n_reused, second.n_reused) == (0, 6)
    assert second.outcome == first.outcome
    assert "6 of 6 cells" in progress.heard[0]
    assert len(computed.read_text().split()) == 6


def test_an_interrupted_run_keeps_what_is_done_and_goes_on(tmp_path: Path, computed: Path) -> None:
    with pytest.raises(KeyboardInterrupt, match="3 of 6 cells are kept"):
        run(replace(STUDY, compute=compute_until_interrupted), tmp_path, workers=1)
    finished = run(STUDY, tmp_path, workers=1)
    assert finished.n_reused == 3
    assert computed.read_text().split() == ["0", "1", "2", "3", "4", "5"]


def test_a_grid_that_grows_computes_only_what_is_new(tmp_path: Path, computed: Path) -> None:
    run(STUDY, tmp_path, quick=True, workers=1)
    assert run(STUDY, tmp_path, workers=1).n_reused == 2


@pytest.mark.parametrize("change", [{"version": 2}, {"data_digest": lambda: "sha256:other"}])
def test_other_code_or_data_computes_afresh(tmp_path: Path, computed: Path, change: dict[str, object]) -> None:
    run(STUDY, tmp_path, quick=True, workers=1)
    assert run(replace(STUDY, **change), tmp_path, quick=True, workers=1).n_reused == 0


def test_another_seed_computes_afresh(tmp_path: Path, computed: Path) -> None:
    run(STUDY, tmp_path, quick=True, workers=1)
    assert run(STUDY, tmp_path, quick=True, workers=1, seed=1).n_reused == 0


def test_a_damaged_cell_is_told_and_computed_again(tmp_path: Path, computed: Path) -> None:
    first = run(STUDY, tmp_path, quick=True, workers=1)
    cell = sorted((tmp_path / ".cells" / "inverse").iterdir())[0]
    cell.write_bytes(cell.read_bytes()[:40])
    progress = Listener()
    second = run(STUDY, tmp_path, quick=True, workers=1, progress=progress)
    assert any("computed again" in message for message in progress.heard)
    assert second.outcome == first.outcome
    assert second.n_reused == 1


def test_preparation_happens_only_when_something_is_missing(tmp_path: Path, computed: Path) -> None:
    prepared = []
    study = replace(STUDY, prepare=prepared.append)
    run(study, tmp_path, quick=True, workers=1)
    run(study, tmp_path, quick=True, workers=1)
    assert len(prepared) == 1


def test_no_workers_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match="at least one worker"):
        run(STUDY, tmp_path, workers=0)


def test_an_unknown_study_is_refused_with_the_known_ones() -> None:
    with pytest.raises(InvalidInputError, match="no study called 'nonsense'"):
        registry.find("nonsense")


def test_every_registered_study_answers_to_its_name() -> None:
    assert all(registry.find(name).name == name for name in registry.names())


def test_studies_that_keep_their_cells_under_one_name_share_them(tmp_path: Path, computed: Path) -> None:
    first, second = replace(STUDY, cells_name="shared"), replace(STUDY, name="another", cells_name="shared")

    run(first, tmp_path, workers=1)
    again = run(second, tmp_path, workers=1)

    assert again.n_reused == again.n_cells
    assert run(replace(STUDY, name="another"), tmp_path, workers=1).n_reused == 0


def test_a_folder_that_cannot_be_written_is_told_before_anything_is_computed(tmp_path: Path, computed: Path) -> None:
    (tmp_path / ".cells").write_text("a file where the folder should be")
    with pytest.raises(OutputError, match="Cannot make the folder"):
        run(STUDY, tmp_path, workers=1)
    assert not computed.exists() or not computed.read_text()


def test_a_cell_that_cannot_be_kept_ends_the_run_with_that_error_alone(
    tmp_path: Path, computed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Workers that are given up say nothing of their own: warnings are errors here."""

    def full(store: Checkpoint, cell: Cell, result: Result) -> None:
        raise OutputError("No space left on device.")

    monkeypatch.setattr(Checkpoint, "save", full)
    with pytest.raises(OutputError, match="No space left"):
        run(STUDY, tmp_path, workers=2)


@pytest.mark.parametrize("result", [{"x": float("nan")}, {"x": {1, 2}}])
def test_a_cell_that_answers_what_json_cannot_hold_is_refused(result: dict[str, object]) -> None:
    with pytest.raises(InvalidInputError, match="finite JSON values"):
        canonical(result)
