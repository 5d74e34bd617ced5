"""Ctrl-C in the middle of a plan, as a shell sends it: told in a line, and the same command goes on."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

_LONGEST = 120.0
_RUN = "from labelworth.cli.main import run; run()"


@pytest.fixture
def texts(tmp_path: Path) -> Path:
    """Three classes and many words: steps take long enough to be interrupted."""
    rng = np.random.default_rng(0)
    path = tmp_path / "docs.jsonl"
    words = rng.dirichlet(np.full(16, 0.3), size=3)
    rows = []
    for place in range(400):
        code = int(rng.integers(3))
        text = " ".join(f"word{word}" for word in rng.choice(16, size=6, p=words[code]))
        rows.append({"text": text, "label": "abc"[code] if place < 150 else None})
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def _asked(texts: Path, *options: object) -> list[str]:
    asked = ("plan", texts, "--budget", 200, "--criterion", "excess_log_loss", "--use-unlabeled", "yes", "--json")
    return [str(one) for one in (*asked, *options)]


def _record(asked: list[str]) -> dict[str, Any]:
    """What the command answers in a process of its own, as for its user."""
    done = subprocess.run(
        [sys.executable, "-c", _RUN, *asked], capture_output=True, text=True, check=True, timeout=_LONGEST
    )
    record: dict[str, Any] = json.loads(done.stdout)
    del record["durations"]
    return record


def test_an_interrupted_plan_goes_on_to_the_same_answer(texts: Path, tmp_path: Path) -> None:
    steps = tmp_path / "steps"
    asked = _asked(texts, "--checkpoint", steps)
    process = subprocess.Popen(
        [sys.executable, "-c", _RUN, *asked],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    end = time.monotonic() + _LONGEST
    while not list(steps.glob("*.json")) and process.poll() is None and time.monotonic() < end:
        time.sleep(0.005)
    process.send_signal(signal.SIGINT)
    stdout, stderr = process.communicate(timeout=_LONGEST)
    n_kept = len(list(steps.glob("*.json")))
    assert process.returncode == 130, stderr
    assert not stdout
    assert "Traceback" not in stderr
    steps_kept = "1 finished step is" if n_kept == 1 else f"{n_kept} finished steps are"
    assert stderr.splitlines()[-1] == f"Stopped. {steps_kept} kept in {steps}; the same command goes on from there."
    resumed = _record(asked)
    # Negative control: it was interrupted before the end.
    assert 0 < n_kept < len(list(steps.glob("*.json")))
    assert resumed == _record(_asked(texts))


def test_an_early_interruption_says_that_nothing_was_finished(texts: Path, tmp_path: Path) -> None:
    steps = tmp_path / "steps"
    script = (
        "import signal, os, labelworth.planning.plan as planning\n"
        "planning.planner_of = lambda *given, **named: os.kill(os.getpid(), signal.SIGINT)\n" + _RUN
    )
    command = [sys.executable, "-c", script, *_asked(texts, "--checkpoint", steps)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=_LONGEST, check=False)
    assert done.returncode == 130
    assert done.stderr.splitlines()[-1] == "Stopped. No step was finished yet; the same command begins again."
    assert "Traceback" not in done.stderr


SLOW = """
import os, time
from pathlib import Path
from sklearn.naive_bayes import MultinomialNB

class Slow(MultinomialNB):
    def fit(self, X, y):
        Path("owners", str(os.getpid())).touch()
        time.sleep(0.05)
        return super().fit(X, y)

model = Slow()
"""


def test_processes_end_with_the_command(tmp_path: Path) -> None:
    (tmp_path / "slow_models.py").write_text(SLOW)
    owners, steps, rows = tmp_path / "owners", tmp_path / "steps", tmp_path / "rows.npz"
    owners.mkdir()
    rng = np.random.default_rng(0)
    y = np.where(np.arange(200) < 60, rng.integers(3, size=200), -1)
    np.savez(rows, X=rng.poisson(1.0, size=(200, 5)).astype(float), y=y)
    asked = ("plan", rows, "--model", "slow_models:model", "--budget", 150, "--checkpoint", steps)
    eager = "import labelworth.simulation.jobs as jobs; jobs._WORTH_PROCESSES = 0.0; "
    process = subprocess.Popen(
        [sys.executable, "-c", eager + _RUN, *map(str, asked)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        cwd=tmp_path,
    )
    end = time.monotonic() + _LONGEST
    while len(list(owners.iterdir())) < 2 and process.poll() is None and time.monotonic() < end:
        time.sleep(0.05)
    others = {int(path.name) for path in owners.iterdir()} - {process.pid}
    # As a terminal does it: everybody of the session hears it.
    os.killpg(process.pid, signal.SIGINT)
    _, stderr = process.communicate(timeout=_LONGEST)
    assert others
    assert process.returncode == 130, stderr
    assert "Traceback" not in stderr
    assert stderr.splitlines()[-1].startswith("Stopped.")
    time.sleep(1.0)
    assert not [owner for owner in others if Path(f"/proc/{owner}").exists()]
