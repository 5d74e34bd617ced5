"""The page on answers: its code and its commands run, one after the other, and say what the page says."""

import re
import shlex
from pathlib import Path
from typing import Any

import pytest

from support.command_line import labelworth

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "answers.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```(python|bash)\n(.*?)```", PAGE, flags=re.DOTALL)


def test_the_page_runs_and_says_what_it_should(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    printed: list[Any] = []
    names: dict[str, Any] = {"print": printed.append}
    told = []
    for language, block in BLOCKS:
        if language == "python":
            exec(block, names)
            continue
        for line in block.splitlines():
            answer = labelworth(*shlex.split(line)[1:])
            assert answer.code == 0, answer.stderr
            told.append(answer.stdout + answer.stderr)
    fit, check, sheet, audit, plan, asked, merge, again = told
    assert "400 answers of 3 annotators about 200 rows, 40 of them with a label." in fit
    assert "Not told from guessing: eve" in fit
    assert "Answers of 'eve':" in check
    assert "60 answers to give by 3 annotators, 20 each" in sheet
    assert "20 answers to give by 1 annotator" in audit
    # What the page names as bought or not is what the plan says.
    assert "You pay 0.02: 0 answers to buy." in " ".join(plan.split())
    assert "The plan buys nothing of crowd: none of its annotators is asked." in asked
    assert not Path("bought.csv").exists()
    assert "40 answers of 3 annotators merged." in merge
    assert "of 4 annotators about " in again
    assert str(printed[0]).startswith("ann")
    assert printed[1].shape == (3, 3)
