"""`labelworth check --answers` where answers cannot be used as they are, and of tokens."""

import csv
import json
from pathlib import Path
from random import Random

from labelworth.report.record import validate
from support.command_line import labelworth


def written(path: Path, rows: list[list[object]]) -> Path:
    with path.open("w", newline="", encoding="utf-8") as stream:
        csv.writer(stream).writerows(rows)
    return path


def test_what_is_not_pinned_down_is_told_with_a_cure_and_by_the_exit_code(tmp_path: Path) -> None:
    """Documents of one word and one annotator: two views of the class."""
    random = Random(1)
    texts = [random.choice(["win", "home", "vote"]) for _ in range(60)]
    said = [random.choice(["ham", "spam"]) for _ in range(60)]
    rows = [[f"d{row}", text, ""] for row, text in enumerate(texts)]
    data = written(tmp_path / "data.csv", [["id", "text", "label"], *rows])
    answers = written(
        tmp_path / "answers.csv",
        [["task", "worker", "label"], *([f"d{row}", "ann", name] for row, name in enumerate(said))],
    )
    options = ("--answers", answers, "--model", "multinomial", "--classes", "ham,spam")
    found = labelworth("check", data, *options)
    assert found.code == 1
    words = " ".join(found.stdout.split())
    assert words.startswith("The answers cannot be used as they are: what annotators mean is not pinned down.")
    assert "Give gold for one row of each class, or another annotator on rows that 'ann' answered." in words
    record = labelworth("check", data, *options, "--json").record
    validate(record)
    assert not record["identified"]
    assert record["answers"]["identifiability"]["open_annotators"] == ["ann"]
    # The cure works.
    for row, label in enumerate(("ham", "spam", "ham", "spam")):
        rows[row][2] = label
    written(data, [["id", "text", "label"], *rows])
    cured = labelworth("check", data, *options, "--no-specification")
    assert cured.code == 0
    assert "cannot be used as they are" not in cured.stdout


def test_answers_about_tokens_are_checked_too(tmp_path: Path) -> None:
    random = Random(2)
    tags = [[random.choice("BIO") for _ in range(4)] for _ in range(60)]
    records = [
        {
            "tokens": [f"{tag.lower()}{random.randrange(3)}" for tag in own],
            "tags": own if row < 30 else [None] * 4,
        }
        for row, own in enumerate(tags)
    ]
    data = tmp_path / "data.jsonl"
    data.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    answers = [
        [row, token, "ann", tag if random.random() < 0.8 else random.choice("BIO")]
        for row, own in enumerate(tags)
        for token, tag in enumerate(own)
    ]
    path = written(tmp_path / "answers.csv", [["row", "token", "worker", "label"], *answers])
    found = labelworth("check", data, "--answers", path, "--model", "hidden-markov", "--json")
    assert found.code == 0, found.stderr
    validate(found.record)
    told = found.record["answers"]
    assert told["unit"] == "token"
    assert told["annotators"][0]["accuracy"]["n_audited"] == 120
    assert told["annotators"][0]["harm"]["n_tested"] == 120
