"""Standard input and output in place of files, through real pipes; colour on terminals alone."""

import json
import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import pytest

from support.command_line import labelworth

COMMAND = f"'{sys.executable}' -c 'from labelworth.cli.main import run; run()'"
PLAIN = {
    name: value for name, value in os.environ.items() if name not in ("FORCE_COLOR", "NO_COLOR", "GITHUB_ACTIONS")
}
COLOUR = re.compile(r"\x1b\[[0-9;]*3[0-7]")


@pytest.fixture
def texts(tmp_path: Path) -> Path:
    lines = ["text,label"]
    for row in range(60):
        own = ("goal match team", "vote law party")[row % 2]
        lines.append(f"{own} word{row % 7},{('sport', 'politics')[row % 2] if row < 20 else ''}")
    path = tmp_path / "texts.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


def shell(line: str, folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a line of a shell, `labelworth` being the command; what any part of it fails with is its code."""
    line = f'set -o pipefail; labelworth() {{ {COMMAND} "$@"; }}; {line}'
    return subprocess.run(
        ["bash", "-c", line], cwd=folder, capture_output=True, text=True, check=False, env={**PLAIN, **environment}
    )


def on_terminal(arguments: list[str], folder: Path, **environment: str) -> str:
    """What a terminal is sent."""
    ours, theirs = pty.openpty()
    program = [sys.executable, "-c", "from labelworth.cli.main import run; run()", *arguments]
    process = subprocess.Popen(
        program, cwd=folder, stdin=theirs, stdout=theirs, stderr=theirs, env={**PLAIN, "TERM": "xterm", **environment}
    )
    os.close(theirs)
    said = b""
    while True:
        try:
            part = os.read(ours, 65536)
        except OSError:
            break  # Whoever wrote has gone.
        if not part:
            break
        said += part
    os.close(ours)
    assert process.wait() == 0
    return said.decode()


def test_data_come_through_a_pipe_and_the_record_is_that_of_the_file(texts: Path) -> None:
    asked = "--budget 100 --model multinomial --source asymptotic --json"
    piped = shell(f"cat texts.csv | labelworth plan - {asked} | '{sys.executable}' -m json.tool", texts.parent)
    assert piped.returncode == 0, piped.stderr
    named = labelworth("plan", texts, *asked.split()).record
    record = json.loads(piped.stdout)
    assert record["asked"]["path"] == "-"
    for name in ("recommended", "solutions", "held", "checks", "data_digest"):
        assert record[name] == named[name]


@pytest.mark.parametrize("how", ["cat texts.csv", "gzip -c texts.csv", "tr ',' '\\t' < texts.csv"])
def test_the_format_of_standard_input_is_found_from_its_content(texts: Path, how: str) -> None:
    told = shell(f"{how} | labelworth next - --count 2 -o -", texts.parent)
    assert told.returncode == 0, told.stderr
    assert [json.loads(line)["label"] for line in told.stdout.splitlines()] == [None, None]


def test_json_lines_and_tokens_come_through_a_pipe_too(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"text": "a b"}\n{"text": "c", "label": "x"}\n')
    (tmp_path / "b.jsonl").write_text('{"tokens": ["a", "b"]}\n{"tokens": ["c"], "tags": ["X"]}\n')
    (tmp_path / "c.conll").write_text("a ?\nb ?\n\nc X\n")
    assert '"text": "a b"' in shell("labelworth next - --count 1 < a.jsonl", tmp_path).stdout
    assert '"tokens": ["a", "b"]' in shell("labelworth next - --count 1 < b.jsonl", tmp_path).stdout
    assert '"tokens": ["a", "b"]' in shell("labelworth next - --format conll --count 1 < c.conll", tmp_path).stdout
    unknown = shell("labelworth next - --count 1 < c.conll", tmp_path)
    assert unknown.returncode == 2
    assert "Standard input does not say what it holds" in unknown.stderr
    assert "--format" in unknown.stderr


def test_a_whole_round_goes_through_pipes(texts: Path) -> None:
    """A batch, filled in by a filter, goes back into the data; a model is written, read and predicts."""
    round_trip = (
        'labelworth next texts.csv --count 5 -o - | sed \'s/"label": null/"label": "sport"/\' '
        "| labelworth merge texts.csv - -o - > more.csv"
    )
    told = shell(round_trip, texts.parent)
    assert told.returncode == 0, told.stderr
    assert "5 labels of 5 documents merged." in told.stderr
    more = (texts.parent / "more.csv").read_text()
    assert more.startswith("text,label\n")
    assert more.count(",sport\n") == texts.read_text().count(",sport\n") + 5
    fitted = shell("labelworth fit - -o - < more.csv > model.lw", texts.parent)
    assert fitted.returncode == 0, fitted.stderr
    assert "share of all rows" in fitted.stderr  # What is told makes way for the file.
    predicted = shell("labelworth predict model.lw - -o - < texts.csv", texts.parent)
    assert len(predicted.stdout.splitlines()) == 60, predicted.stderr
    converted = shell("labelworth convert - - --to label-studio < texts.csv", texts.parent)
    assert len(json.loads(converted.stdout)) == 60


def test_a_reader_that_has_seen_enough_is_no_error_worth_a_word(texts: Path) -> None:
    texts.write_text(texts.read_text() + "goal match team again and again and again,\n" * 20_000)
    for line in (
        "labelworth next texts.csv --count 20000 -o - | head -1",
        "labelworth convert texts.csv - --to jsonl | head -1",
        "labelworth next texts.csv --count 20000 --sheet - --annotators ann | head -1",
    ):
        told = shell(line, texts.parent)
        assert len(told.stdout.splitlines()) == 1, told.stderr
        assert "Traceback" not in told.stderr
        assert "BrokenPipe" not in told.stderr
        assert "Error" not in told.stderr


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("plan - --answers - --budget 100 < texts.csv", "Standard input can be read once"),
        ("plan texts.csv --budget 100 -o - --json", "Standard output takes one thing"),
        ("plan texts.csv --budget 100 -o - --report -", "Standard output takes one thing"),
        ("merge - texts.csv --in-place < texts.csv", "Nothing is written onto standard input"),
        ("shard texts.csv -o -", "A folder cannot go to standard output"),
        ("convert texts.csv - --to hugging-face", "cannot go to standard output"),
        ("plan - --budget 100 < /dev/null", "- is empty"),
    ],
)
def test_what_a_stream_cannot_do_is_told(texts: Path, line: str, words: str) -> None:
    told = shell(f"labelworth {line}", texts.parent)
    assert told.returncode == 2
    assert words in told.stderr
    assert told.stdout == ""


@pytest.mark.parametrize("arguments", ["fit texts.csv -o model.lw", "plan --help", "--help", "plan"])
def test_colour_goes_to_terminals_alone(texts: Path, arguments: str) -> None:
    piped = shell(f"labelworth {arguments}", texts.parent)
    assert "\x1b" not in piped.stdout + piped.stderr
    if arguments != "plan":
        words = arguments.split()
        assert "\x1b[" in on_terminal(words, texts.parent)
        assert not COLOUR.search(on_terminal(words, texts.parent, NO_COLOR="1"))
        assert "\x1b[1m" not in on_terminal(words, texts.parent, TERM="dumb")
        assert "\x1b[" in shell(f"labelworth {arguments}", texts.parent, FORCE_COLOR="1").stdout
