"""Every example of the gallery runs as it stands, with warnings as errors, and draws what it says."""

import os
import re
import runpy
import sys
from pathlib import Path

import pytest

EXAMPLES = sorted((Path(__file__).resolve().parents[2] / "examples").glob("plot_*.py"))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_runs(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plt = pytest.importorskip("matplotlib.pyplot")
    if "import jax" in path.read_text(encoding="utf-8"):
        pytest.importorskip("jax")
    monkeypatch.chdir(path.parent)
    # Commands that examples run are those of this environment.
    monkeypatch.setenv("PATH", os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]))
    shown = []
    monkeypatch.setattr(plt, "show", lambda: shown.append(plt.get_fignums()))
    plt.switch_backend("agg")
    try:
        runpy.run_path(str(path), run_name="__main__")
    finally:
        plt.close("all")
    assert all(shown)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_is_a_question_with_an_answer_in_its_first_words(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    heading = re.match(r'"""\n(.+)\n(=+)\n', text)
    assert heading is not None
    assert len(heading[1]) == len(heading[2])
    assert "# %%" in text
