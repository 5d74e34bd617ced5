"""The command line as a shell sees it."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

import labelworth as package
from labelworth.cli import console
from labelworth.cli.main import app
from support.command_line import labelworth

PYTHON = sys.executable
COMMANDS = [command.name or command.callback.__name__ for command in app.registered_commands]
HEAVY = ("numpy", "scipy", "numba", "sklearn", "matplotlib", "pandas", "jsonschema", "joblib")


def shell(*arguments: str, **options: object) -> subprocess.CompletedProcess[str]:
    code = "from labelworth.cli.main import run; run()"
    return subprocess.run([PYTHON, "-c", code, *arguments], capture_output=True, text=True, check=False, **options)


def test_the_version_is_told() -> None:
    done = shell("--version")
    assert done.returncode == 0
    assert done.stdout == f"labelworth {package.__version__}\n"


def test_the_version_is_told_without_importing_anything_heavy() -> None:
    code = (
        "import sys\nfrom labelworth.cli.main import app\n"
        "try:\n    app(['--version'])\nexcept SystemExit: pass\n"
        f"print([name for name in {HEAVY} if name in sys.modules])"
    )
    done = subprocess.run([PYTHON, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_help_lists_every_command_in_a_line_without_importing_anything_heavy() -> None:
    code = (
        "import sys\nfrom labelworth.cli.main import app\n"
        "try:\n    app(['--help'])\nexcept SystemExit: pass\n"
        f"print([name for name in {HEAVY} if name in sys.modules])"
    )
    done = subprocess.run([PYTHON, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"
    for command in COMMANDS:
        assert f" {command} " in done.stdout


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help(command: str) -> None:
    answer = labelworth(command, "--help")
    assert answer.code == 0
    assert "Usage" in answer.stdout


@pytest.mark.parametrize("arguments", [["nonsense"], ["fit"], ["fit", "data.csv", "--seed", "minus one"]])
def test_wrong_usage_exits_with_two_and_leaves_stdout_empty(arguments: list[str]) -> None:
    answer = labelworth(*arguments)
    assert answer.code == 2
    assert answer.stdout == ""
    assert answer.stderr != ""


def test_an_unexpected_error_keeps_its_traceback(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from labelworth.cli.inputs import documents

    def broken(*arguments: object, **options: object) -> None:
        raise ZeroDivisionError("a bug")

    monkeypatch.setattr(documents, "read", broken)
    data = tmp_path / "data.csv"
    data.write_text("text,label\na,b\n")
    with pytest.raises(ZeroDivisionError, match="a bug"):
        labelworth("fit", data, "-o", tmp_path / "model.lw")


def test_labels_that_the_locale_has_no_letters_for_are_no_error(tmp_path: Path) -> None:
    data, model = tmp_path / "data.jsonl", str(tmp_path / "model.lw")
    data.write_text('{"text": "goal match", "label": "spört"}\n{"text": "law vote", "label": "政治"}\n', "utf-8")
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    table = shell("fit", str(data), "-o", model, env=environment)
    assert table.returncode == 0, table.stderr
    assert "sp?rt" in table.stdout
    lines = shell("predict", model, str(data), env=environment, encoding="utf-8")
    assert lines.returncode == 0, lines.stderr
    assert [json.loads(line)["label"] for line in lines.stdout.splitlines()] == ["spört", "政治"]


def test_an_output_that_takes_no_more_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(text: str) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(console, "write_json", full)
    answer = labelworth("reproduce", "--json")
    assert answer.code == 2
    assert answer.stderr == "Error: Cannot write to standard output: No space left on device.\n"


def test_ctrl_c_stops_cleanly(tmp_path: Path) -> None:
    fifo = tmp_path / "data.jsonl"
    os.mkfifo(fifo)
    code = "from labelworth.cli.main import run; run()"
    output = tmp_path / "model.lw"
    process = subprocess.Popen(
        [PYTHON, "-c", code, "fit", str(fifo), "-o", str(output)],
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    # Opening the other end waits until the command has begun to read.
    with fifo.open("w"):
        time.sleep(0.2)
        process.send_signal(2)
        stdout, stderr = process.communicate(timeout=60)
    assert process.returncode == 130
    assert stdout == ""
    assert stderr.splitlines()[-1] == "Stopped. Nothing was written."
    assert "Traceback" not in stderr
    assert not output.exists()


def test_a_reader_that_goes_away_is_no_error_worth_a_traceback() -> None:
    command = f'"{PYTHON}" -c "from labelworth.cli.main import run; run()" --help | true'
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
    assert "Traceback" not in done.stderr
