"""Studies from the command line: kept as they go, told in words, recorded."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from labelworth.report.record import Record, validate
from labelworth.report.values import Curve, CurvesPanel, Measured, Outcome, Picture, Table
from labelworth_studies.runner import registry
from labelworth_studies.runner.study import Cell, Result, Study
from support.command_line import labelworth

SLOW_STUDY = """
import sys, time
from labelworth_studies.runner import registry
from labelworth.report.values import Outcome
from labelworth_studies.runner.study import Study

def compute(cell):
    time.sleep(0.0 if cell["n"] < 2 else 60.0)
    return {"n": cell["n"]}

STUDY = Study("slow", "Slow", lambda quick, seed: [{"n": n} for n in range(4)], compute, lambda cells: Outcome({}))
registry.STUDIES = {"slow": "__main__"}
from labelworth.cli.main import run
run()
"""


def compute(cell: Cell) -> Result:
    return {"square": cell["n"] ** 2 + cell["seed"]}


def summarize(cells: Sequence[tuple[Cell, Result]]) -> Outcome:
    x, y = (np.array(values, dtype=float) for values in zip(*((c["n"], r["square"]) for c, r in cells), strict=True))
    return Outcome(
        {"squares": y.tolist()},
        ("Squares grow.",),
        (Table("Squares", ("n", "square"), tuple(zip(x.tolist(), y.tolist(), strict=True))),),
        {"": Picture("Squares", (CurvesPanel("Squares", "n", "square", (Curve("n", x, y),)),))},
        Table("", ("n", "square"), tuple((int(n), Measured(square, 0.5)) for n, square in zip(x, y, strict=True))),
    )


STUDY = Study(
    "squares",
    "Squares of small numbers",
    lambda quick, seed: [{"n": n, "seed": seed} for n in range(1, 3 if quick else 6)],
    compute,
    summarize,
)


@pytest.fixture(autouse=True)
def only_squares(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "a_module_of_squares", SimpleNamespace(STUDY=STUDY))
    monkeypatch.setattr(registry, "STUDIES", {"squares": "a_module_of_squares"})


def test_studies_are_listed_without_a_name() -> None:
    answer = labelworth("reproduce")
    assert answer.code == 0
    assert "squares" in answer.stdout
    assert "Squares of small numbers" in answer.stdout


def test_the_list_of_studies_is_one_valid_record_too() -> None:
    answer = labelworth("reproduce", "--json")
    validate(answer.record)
    assert answer.record["studies"] == {"squares": "Squares of small numbers"}


def test_a_study_leaves_a_record_and_a_picture(tmp_path: Path) -> None:
    answer = labelworth("reproduce", "squares", "--output", tmp_path, "--workers", 1, "--seed", 2)
    assert answer.code == 0
    assert "Squares grow." in answer.stdout
    record = Record.read(tmp_path / "squares.json")
    assert record.seed == 2
    assert record.figures["figures"] == {"squares": [3.0, 6.0, 11.0, 18.0, 27.0]}
    assert (tmp_path / "squares.png").read_bytes().startswith(b"\x89PNG")
    assert f"Wrote {tmp_path / 'squares.png'}" in answer.stderr


def test_json_is_one_valid_record_and_the_second_run_reuses_all(tmp_path: Path) -> None:
    for reused in (0, 2):
        answer = labelworth("reproduce", "squares", "--quick", "-o", tmp_path, "--workers", 1, "--json")
        validate(answer.record)
        assert (answer.record["n_cells"], answer.record["n_reused"]) == (2, reused)
    assert (tmp_path / "squares-quick.json").exists()


def test_the_grid_is_written_as_csv_with_standard_errors(tmp_path: Path) -> None:
    labelworth("reproduce", "squares", "--quick", "-o", tmp_path, "--workers", 1)
    assert (tmp_path / "squares-quick.csv").read_text() == "n,square,square_se\n1,1.0,0.5\n2,4.0,0.5\n"


def test_all_runs_every_study_and_answers_with_one_record(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    twice = {"squares": "a_module_of_squares", "again": "a_module_of_squares"}
    monkeypatch.setattr(registry, "STUDIES", twice)
    answer = labelworth("reproduce", "all", "--quick", "-o", tmp_path, "--workers", 1, "--json")
    validate(answer.record)
    assert answer.record["n_cells"] == 4
    assert answer.record["figures"] == {name: {"squares": [1.0, 4.0]} for name in twice}
    assert {path.name for path in tmp_path.glob("*.json")} == {"squares-quick.json", "again-quick.json"}


def test_an_unknown_study_exits_with_two(tmp_path: Path) -> None:
    answer = labelworth("reproduce", "cubes", "--output", tmp_path)
    assert answer.code == 2
    assert "squares" in answer.stderr


def test_a_folder_that_cannot_be_made_exits_with_two(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    answer = labelworth("reproduce", "squares", "--output", tmp_path / "file" / "results")
    assert answer.code == 2
    assert "Cannot make the folder" in answer.stderr


@pytest.mark.parametrize("workers", ["1", "2"])
def test_ctrl_c_says_what_was_kept(tmp_path: Path, workers: str) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", SLOW_STUDY, "reproduce", "slow", "-o", str(tmp_path), "--workers", workers],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    cells = tmp_path / ".cells" / "slow"
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and (not cells.is_dir() or len(list(cells.glob("*.json"))) < 2):
        time.sleep(0.1)
    # As a terminal does: to the whole group.
    os.killpg(process.pid, signal.SIGINT)
    _, stderr = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "2 of 4 cells are kept" in stderr
    assert "Traceback" not in stderr
    kept = [json.loads(path.read_text())["answer"]["n"] for path in cells.glob("*.json")]
    assert sorted(kept) == [0, 1]
