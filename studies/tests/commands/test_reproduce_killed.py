"""A study that is killed without warning loses the cells in flight and nothing else; bad disks are told."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

N_CELLS, N_WORKERS = 120, 2
# A few here, more by `make chaos`.
N_KILLS = int(os.environ.get("LABELWORTH_TEST_KILLS", "5"))
STUDY = """
import time
from labelworth_studies.runner import registry
from labelworth.report.values import Outcome, Table
from labelworth_studies.runner.study import Study

def compute(cell):
    time.sleep(0.04)
    return {"square": cell["n"] ** 2 / 7}

def summarize(cells):
    rows = tuple((cell["n"], result["square"]) for cell, result in cells)
    return Outcome({"squares": [square for _, square in rows]}, grid=Table("", ("n", "square"), rows))

def grid(quick, seed):
    return [{"n": n} for n in range(120)]

STUDY = Study("killed", "Killed", grid, compute, summarize)
registry.STUDIES = {"killed": "__main__"}
if __name__ == "__main__":
    from labelworth.cli.main import run
    run()
"""


def _started(script: Path, output: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, str(script), "reproduce", "killed", "-o", str(output), "--workers", str(N_WORKERS)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def _finished(script: Path, output: Path) -> tuple[dict[str, object], str]:
    process = _started(script, output)
    _, stderr = process.communicate(timeout=120)
    assert process.returncode == 0, stderr
    record = json.loads((output / "killed.json").read_text())
    return {name: record[name] for name in ("figures", "asked", "seed", "n_cells")}, stderr


def _whole_cells(output: Path) -> set[str]:
    return {path.name for path in (output / ".cells" / "killed").glob("*.json")}


@pytest.fixture
def script(tmp_path: Path) -> Path:
    path = tmp_path / "study.py"
    path.write_text(STUDY)
    return path


def _wait_for_cells(process: subprocess.Popen[str], output: Path, n_cells: int) -> None:
    """Until so many cells are there, or the study has ended."""
    stop = time.monotonic() + 60
    while len(_whole_cells(output)) < n_cells and process.poll() is None:
        assert time.monotonic() < stop, "no further cell was finished in a minute"
        time.sleep(0.002)


def test_kills_lose_only_cells_in_flight_and_change_nothing(tmp_path: Path, script: Path) -> None:
    undisturbed, _ = _finished(script, tmp_path / "undisturbed")
    output, moments = tmp_path / "killed", random.Random(0)
    kept: set[str] = set()
    n_hit = 0
    for _ in range(N_KILLS):
        process = _started(script, output)
        # Killed while it runs: after none to four further cells, and a moment into the next ones.
        seen = len(kept) + moments.randrange(5)
        _wait_for_cells(process, output, seen)
        time.sleep(moments.uniform(0, 0.05))
        before = _whole_cells(output)
        n_hit += process.poll() is None
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate(timeout=60)
        after = _whole_cells(output)
        assert kept <= before <= after, "a finished cell was lost"
        for name in after:
            json.loads((output / ".cells" / "killed" / name).read_text())
        kept = after
    assert n_hit == N_KILLS
    assert 0 < len(kept) < N_CELLS
    record, stderr = _finished(script, output)
    assert record == undisturbed
    # All that was finished is taken up again: what is computed anew was in flight, or had not begun.
    assert f"{len(kept)} of {N_CELLS} cells of killed were kept from before." in stderr
    assert (output / "killed.csv").read_bytes() == (tmp_path / "undisturbed" / "killed.csv").read_bytes()


def test_a_damaged_cell_is_told_and_computed_again(tmp_path: Path, script: Path) -> None:
    first, _ = _finished(script, tmp_path)
    damaged = sorted((tmp_path / ".cells" / "killed").glob("*.json"))[0]
    damaged.write_text(damaged.read_text()[:-20])
    second, stderr = _finished(script, tmp_path)
    assert second == first
    assert damaged.name in stderr
    assert "It is computed again." in stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no full device here")
def test_a_full_disk_is_told(tmp_path: Path, script: Path) -> None:
    _finished(script, tmp_path)
    record = tmp_path / "killed.json"
    record.unlink()
    record.symlink_to("/dev/full")
    process = _started(script, tmp_path)
    _, stderr = process.communicate(timeout=120)
    assert process.returncode == 2
    assert "No space left" in stderr
    assert "Traceback" not in stderr


READ_ONLY = """
import errno, os

# Root may write everywhere: what the system would answer is answered here, for everything below one folder.
FOLDER = os.environ["READ_ONLY_FOLDER"]

def refusing(call, asks_to_write):
    def guarded(path, *arguments, **names):
        if str(path).startswith(FOLDER) and asks_to_write(path, *arguments):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
        return call(path, *arguments, **names)
    return guarded

os.mkdir = refusing(os.mkdir, lambda path, *mode: not os.path.isdir(path))
os.open = refusing(os.open, lambda path, flags, *mode: flags & (os.O_CREAT | os.O_WRONLY | os.O_RDWR))
plain_access = os.access
os.access = lambda path, mode, **names: (
    not (mode & os.W_OK and str(path).startswith(FOLDER)) and plain_access(path, mode, **names)
)
"""


@pytest.mark.parametrize("begun", [False, True])
def test_a_read_only_folder_is_told(tmp_path: Path, begun: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """As root, too: the calls that write are refused as the system refuses them to others."""
    output, script = tmp_path / "results", tmp_path / "study.py"
    output.mkdir()
    if begun:
        # Cells are there from before; only some are missing.
        script.write_text(STUDY)
        _finished(script, output)
        for path in sorted((output / ".cells" / "killed").glob("*.json"))[:5]:
            path.unlink()
    before = {path: path.read_bytes() for path in output.rglob("*") if path.is_file()}
    script.write_text(READ_ONLY + STUDY)
    monkeypatch.setenv("READ_ONLY_FOLDER", str(output))
    process = _started(script, output)
    _, stderr = process.communicate(timeout=120)
    assert process.returncode == 2
    assert str(output) in stderr
    assert "read-only" in stderr or "Permission denied" in stderr
    assert "Traceback" not in stderr
    assert {path: path.read_bytes() for path in output.rglob("*") if path.is_file()} == before
    # Elsewhere the same program writes.
    assert _finished(script, tmp_path / "elsewhere")[0]["n_cells"] == N_CELLS
