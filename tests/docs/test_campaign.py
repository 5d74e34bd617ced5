"""The page on campaigns: its commands and its Python run as they stand there."""

import re
import shlex
from pathlib import Path

import typer
from typer.testing import CliRunner

from labelworth.cli.main import app

PAGE = (Path(__file__).parents[2] / "docs" / "campaign.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", PAGE, flags=re.DOTALL)


def test_its_commands_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("mails.csv").write_text("id,text,label\n" + "".join(f"{n},mail {n},\n" for n in range(8)))
    (commands,) = blocks("bash")
    for line in commands.splitlines():
        _, *words = shlex.split(line)
        result = CliRunner().invoke(app, words, input="spam\nham\n" * 3, catch_exceptions=False)
        assert result.exit_code == 0, result.stderr
    assert Path("labeled.jsonl").read_text().count('"label": "spam"') == 3


def test_its_options_are_there():
    groups = typer.main.get_command(app).commands["campaign"].commands.values()
    known = {name for command in groups for option in command.params for name in option.opts}
    named = set(re.findall(r"--[a-z][a-z-]+", PAGE))
    assert len(named) > 8
    assert named <= known, named - known


def test_its_python_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (program,) = blocks("python")
    exec(compile(program, "docs/campaign.md", "exec"), {})
    assert len(Path("answers.csv").read_text().splitlines()) == 9
