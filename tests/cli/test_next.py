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


def test_other_columns_are_kept(tmp_path: Path) -> None:
    lines, table = tmp_path / "docs.jsonl", tmp_path / "docs.csv"
    rows = [
        {"id": f"d{place}", "text": f"word{place}", "label": None, "tags": [place], "row": -1} for place in range(6)
    ]
    lines.write_text("".join(json.dumps(row) + "\n" for row in rows))
    table.write_text("id,text,label,note\n" + "".join(f'd{place},word{place},,"a, ""b"""\n' for place in range(6)))
    for line in labelworth("next", lines, "--count", 3).stdout.splitlines():
        found = json.loads(line)
        assert found == {"labelworth_row": found["labelworth_row"], **rows[found["labelworth_row"]]}
    for line in labelworth("next", table, "--count", 3).stdout.splitlines():
        found = json.loads(line)
        place = found["row"]
        assert found == {"row": place, "id": f"d{place}", "text": f"word{place}", "label": None, "note": 'a, "b"'}
    for data, row_column in ((lines, "labelworth_row"), (table, "row")):
        batch = tmp_path / "batch.csv"
        assert labelworth("next", data, "--count", 3, "-o", batch).code == 0
        with batch.open(newline="") as stream:
            found = list(csv.DictReader(stream))
        assert all(row["id"] == f"d{row[row_column]}" and row["label"] == "" for row in found)
    assert found[0]["note"] == 'a, "b"'


def test_other_columns_of_tokens_stay_where_they_are(tmp_path: Path) -> None:
    data, batch, lines = tmp_path / "data.conll", tmp_path / "batch.conll", tmp_path / "batch.jsonl"
    data.write_text("".join(f"w{place} _ X\nis _ Y\n\n" for place in range(4)))
    asked = ("next", data, "--count", 2, "--label-column", 1, "--policy", "prefix:1")
    assert labelworth(*asked, "-o", batch).code == 0
    for part in batch.read_text().strip().split("\n\n")[1::2]:
        first, second = part.splitlines()
        assert first.endswith(" ? X")
        assert second == "is _ Y"
    assert labelworth(*asked, "-o", lines).code == 0
    found = json.loads(lines.read_text().splitlines()[0])
    assert found["tokens"] == [f"w{found['sequence']}", "is"]
    assert found["2"] == ["X", "Y"]


def test_objects_of_sequences_are_kept(tmp_path: Path) -> None:
    data = tmp_path / "data.jsonl"
    rows = [{"id": place, "tokens": ["a", f"w{place}"], "ner_tags": [None, None], "rule": "x"} for place in range(4)]
    data.write_text("".join(json.dumps(row) + "\n" for row in rows))
    for line in labelworth("next", data, "--count", 2).stdout.splitlines():
        found = json.loads(line)
        kept = {name: found[name] for name in rows[0]}
        assert kept == rows[found["sequence"]]
        assert (found["ask"], found["labelworth_rule"]) == ([0, 1], "everything")


def test_tokens_asked_for_are_question_marks(columns: Path, tmp_path: Path) -> None:
    batch = tmp_path / "batch.conll"
    answer = labelworth("next", columns, "--count", 4, "--policy", "0.5*window:2 + 0.5*everything", "-o", batch)
    assert answer.code == 0
    parts = batch.read_text().strip().split("\n\n")
    assert all(part.startswith("-DOCSTART- sequence ") for part in parts[::2])
    blocks = [block.splitlines() for block in parts[1::2]]
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
    made = labelworth("plan", texts, "--budget", 47, "--criterion", "excess_log_loss", "-o", plan)
    assert made.code == 0
    answer = labelworth("next", texts, "--plan", plan, "--json")
    assert answer.code == 0
    assert len(answer.record["rows"]) == 7
    texts.write_text(texts.read_text() + json.dumps({"text": "cat", "label": None}) + "\n")
    changed = labelworth("next", texts, "--plan", plan)
    assert changed.code == 2
    assert "The data has changed since the plan" in changed.stderr


def test_a_plan_that_rests_on_too_small_a_pilot_says_how_to_go_on(tmp_path: Path) -> None:
    texts, plan = tmp_path / "docs.jsonl", tmp_path / "plan.json"
    rows = [{"text": "ant bee" if n % 3 else "bee cat", "label": "ab"[n % 2] if n < 12 else None} for n in range(60)]
    texts.write_text("".join(json.dumps(row) + "\n" for row in rows))
    asked = ("--target", 2.0, "--criterion", "excess_log_loss", "-o", plan, "--json")
    made = labelworth("plan", texts, *asked).record
    assert made["advice"] == "larger pilot"
    validate(made)
    refused = labelworth("next", texts, "--plan", plan)
    assert refused.code == 1
    assert f"--count {made['more_pilot']}" in refused.stderr
    assert "says to stop" not in refused.stderr
    assert labelworth("next", texts, "--count", made["more_pilot"]).code == 0


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


def test_sequences_of_another_length_than_the_mean_are_told(tmp_path: Path) -> None:
    data, plan = tmp_path / "data.conll", tmp_path / "plan.json"
    labeled = "the D\ncat N\n\na D\ndog N\nran V\n\n" * 8
    data.write_text(labeled + "".join("the _\n" + "cat _\n" * (1 + 7 * (place % 2)) + "\n" for place in range(12)))
    asked = ("--criterion", "excess_log_loss", "--rules", "everything", "--budget", 52)
    assert labelworth("plan", data, *asked, "-o", plan).code == 0
    expected = json.loads(plan.read_text())["recommended"]["labels"]
    answer = labelworth("next", data, "--plan", plan, "--json")
    assert answer.code == 0
    assert abs(answer.record["n_labels"] - expected) >= 1
    assert f"The plan counted on {expected:.4g} labels" in answer.stderr


def test_columns_of_parquet_are_kept(tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    table = pytest.importorskip("pyarrow").table(
        {"id": [7, 8, 9], "text": ["ant", "bee", "cat"], "label": ["a", None, None]}
    )
    parquet.write_table(table, tmp_path / "docs.parquet")
    rows = [
        json.loads(line) for line in labelworth("next", tmp_path / "docs.parquet", "--count", 2).stdout.splitlines()
    ]
    assert sorted((row["row"], row["id"], row["text"], row["label"]) for row in rows) == [
        (1, 8, "bee", None),
        (2, 9, "cat", None),
    ]
