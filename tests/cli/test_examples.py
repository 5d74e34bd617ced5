"""The examples that help shows, typed one after the other in one folder."""

import json
import os
import random
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import typer

from labelworth.cli.main import app
from support.command_line import labelworth

STORY = ("plan", "check", "frontier", "next", "merge", "fit", "predict", "information", "convert", "shard")
CAMPAIGN = ("new", "add", "people", "plan", "assign", "status", "answer", "export")
ELSEWHERE = {"studio", "reproduce", "bench", "data", "doctor", "completion"}
"""A server, what is for the laboratory, and what is about the machine."""


def command_of(*words: str) -> Any:
    command: Any = typer.main.get_command(app)
    for word in words:
        command = command.commands[word]
    return command


def examples_of(*words: str) -> list[str]:
    return (command_of(*words).epilog or "").splitlines()


def typed(line: str) -> None:
    """Run it: in a shell where the shell has something to do, which takes longer."""
    if "<" in shlex.split(line) or " answer " in line:
        shown = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
        done = subprocess.run(line, shell=True, input="ham\n", capture_output=True, text=True, env=shown, check=False)
        code, stderr = done.returncode, done.stderr
    else:
        told = labelworth(*shlex.split(line)[1:])
        code, stderr = told.code, told.stderr
    assert code == 0, f"{line}\n{stderr}"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A file of mails with some labels, answers about them, and parameters of a model."""
    home, draw = tmp_path, random.Random(0)
    lines = ["id,text,label"]
    for row in range(240):
        kind = draw.choice(("ham", "spam"))
        own = {"ham": "meeting lunch report agenda", "spam": "winner prize cash claim"}[kind].split()
        words = [draw.choice(own if draw.random() < 0.7 else ["the", "a", "to", "of"]) for _ in range(8)]
        lines.append(f"m{row},{' '.join(words)},{kind if row < 60 else ''}")
    (home / "mails.csv").write_text("\n".join(lines) + "\n")
    (home / "new.csv").write_text("text,label\n" + "winner prize,\nlunch agenda,\n")
    said = ["item,annotator,answer"]
    said += [f"m{row},{name},{draw.choice(('ham', 'spam'))}" for row in range(60) for name in ("ann", "bob", "eve")]
    (home / "answers.csv").write_text("\n".join(said) + "\n")
    tables = {"class_probabilities": [0.3, 0.7], "word_probabilities": [[0.2, 0.8], [0.8, 0.2]]}
    spec = {"model": "multinomial-naive-bayes", "parameters": tables, "document_length": 5, "labeled_fractions": [1]}
    (home / "model.json").write_text(json.dumps({**spec, "n_samples": 100}))
    return home


def test_every_command_has_examples_that_are_tried_here() -> None:
    assert command_of().commands.keys() - ELSEWHERE == {*STORY, "demo", "campaign"}
    assert command_of("campaign").commands.keys() == {*CAMPAIGN}
    for words in [*((name,) for name in STORY), ("demo",), ("studio",), *(("campaign", name) for name in CAMPAIGN)]:
        lines = examples_of(*words)
        assert lines
        assert "Examples:\n   labelworth" in labelworth(*words, "--help").stdout
        assert all(line.startswith(f"labelworth {' '.join(words)}") and len(line) <= 77 for line in lines)


def test_the_examples_of_the_story_run(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    for name in STORY:
        if name == "merge":
            # The next label of a batch is filled in by somebody.
            for batch, empty in (("batch.csv", ","), ("sheet.csv", ",")):
                first, *rows = (folder / batch).read_text().splitlines()
                (folder / batch).write_text(
                    "\n".join([first, *(row.removesuffix(empty) + ",ham" for row in rows)]) + "\n"
                )
        for line in examples_of(name):
            typed(line)


def test_the_examples_of_the_demonstration_are_read() -> None:
    """They are run by tests of their own."""
    for line in examples_of("demo"):
        command_of("demo").make_context("demo", shlex.split(line)[2:])


def test_the_examples_of_a_campaign_run(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("sqlalchemy")
    monkeypatch.chdir(folder)
    for name in CAMPAIGN:
        for line in examples_of("campaign", name):
            typed(line)
