"""What to label now, in forms that the readers read back."""

import csv
import json
from pathlib import Path

import pytest

from labelworth.data.readers import read, read_sequences
from labelworth.report.record import validate
from support.command_line import labelworth


@pytest.fixture
def texts(tmp_path: Path) -> Path:
    path = tmp_path / "docs.jsonl"
    rows = [{"text": f"word{place} ünd, more", "label": "a" if place < 5 else None} for place in range(20)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@pytest.fixture
def columns(tmp_path: Path) -> Path:
    path = tmp_path / "data.conll"
    labeled = "the DT B-NP\ncat NN I-NP\n\n"
    path.write_text(labeled + "".join(f"w{place} X _\nis Y _\ngood Z ?\nnow R _\n\n" for place in range(9)))
    return path


def test_json_lines_on_stdout_unless_a_file_is_named(texts: Path) -> None:
    answer = labelworth("next", texts, "--count", 3, "--seed", 4)
    rows = [json.loads(line) for line in answer.stdout.splitlines()]
    assert answer.code == 0
    assert len(rows) == 3
    assert all(row["label"] is None and row["text"].startswith(f"word{row['row']} ") for row in rows)
    assert all(row["row"] >= 5 for row in rows)
    assert "seed 4" in answer.stderr


def test_the_record_names_the_rows(texts: Path) -> None:
    record = labelworth("next", texts, "--count", 3, "--seed", 4, "--json").record
    validate(record)
    shown = labelworth("next", texts, "--count", 3, "--seed", 4).stdout.splitlines()
    assert record["rows"] == [json.loads(line)["row"] for line in shown]
    assert record["seed"] == 4


@pytest.mark.parametrize("name", ["batch.jsonl", "batch.csv"])
def test_filled_in_files_are_read_back(texts: Path, tmp_path: Path, name: str) -> None:
    batch = tmp_path / name
    assert labelworth("next", texts, "--count", 4, "-o", batch).code == 0
    if name.endswith(".csv"):
        rows = list(csv.DictReader(batch.read_text(encoding="utf-8").splitlines()))
        with batch.open("w", encoding="utf-8", newline="") as stream:
            writer = csv.DictWriter(stream, ["row", "text", "label"])
            writer.writeheader()
            writer.writerows({**row, "label": "b"} for row in rows)
    else:
        lines = [json.loads(line) for line in batch.read_text(encoding="utf-8").splitlines()]
        batch.write_text("".join(json.dumps({**line, "label": "b"}) + "\n" for line in lines), encoding="utf-8")
    raw = read(batch)
    assert raw.labels == ("b",) * 4
    assert all(text.endswith("ünd, more") for text in raw.texts)


def test_tokens_asked_for_are_question_marks(columns: Path, tmp_path: Path) -> None:
    batch = tmp_path / "batch.conll"
    answer = labelworth("next", columns, "--count", 4, "--policy", "0.5*window:2 + 0.5*everything", "-o", batch)
    assert answer.code == 0
    blocks = [block.splitlines() for block in batch.read_text().strip().split("\n\n")]
    asked = sorted(sum(line.endswith(" ?") for line in block) for block in blocks)
    assert asked == [2, 2, 4, 4]
    assert all(len(block) == 4 and block[1].startswith("is Y ") for block in blocks)
    raw = read_sequences(batch)
    assert set(raw.labels) == {None}
    batch.write_text(batch.read_text().replace(" ?\n", " B-NP\n"))
    assert sum(label == "B-NP" for label in read_sequences(batch).labels) == 12


def test_sequences_as_json_lines_are_read_back(columns: Path, tmp_path: Path) -> None:
    batch = tmp_path / "batch.jsonl"
    assert labelworth("next", columns, "--count", 3, "--policy", "prefix:2", "-o", batch).code == 0
    first = json.loads(batch.read_text().splitlines()[0])
    assert first["ask"] == [0, 1]
    assert first["rule"] == "prefix:2"
    assert read_sequences(batch).labels == (None,) * 12


def test_a_plan_says_how_many(tmp_path: Path, texts: Path) -> None:
    rows = [json.loads(line) for line in texts.read_text().splitlines()]
    rows = [{"text": f"{'ant' if place % 2 else 'bee'} cat", "label": "ab"[place % 2]} for place in range(40)] + rows[
        5:
    ]
    texts.write_text("".join(json.dumps(row) + "\n" for row in rows))
    plan = tmp_path / "plan.json"
    made = labelworth("plan", texts, "--budget", 47, "--source", "simulated", "-o", plan)
    assert made.code == 0
    answer = labelworth("next", texts, "--plan", plan, "--json")
    assert answer.code == 0
    assert len(answer.record["rows"]) == 7
    texts.write_text(texts.read_text() + json.dumps({"text": "cat", "label": None}) + "\n")
    changed = labelworth("next", texts, "--plan", plan)
    assert changed.code == 2
    assert "The data has changed since the plan" in changed.stderr


@pytest.mark.parametrize(
    ("options", "code", "words"),
    [
        ((), 2, "Say how much to label"),
        (("--count", 99), 1, "Only 15 documents"),
        (("--count", 2, "--policy", "everything"), 2, "--policy is for sequences"),
        (("--count", 2, "-o", "batch.xml"), 2, ".jsonl or .csv"),
    ],
)
def test_bad_questions_have_clear_answers(texts: Path, options: tuple[object, ...], code: int, words: str) -> None:
    answer = labelworth("next", texts, *options)
    assert answer.code == code
    assert words in answer.stderr
