"""What annotation tools export is data for every command, and goes from one tool to another."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from support.command_line import labelworth

WORDS = {"good": ["fine", "great", "nice", "works"], "bad": ["broken", "awful", "slow", "late"]}


def label_studio(path: Path, *, n_annotators: int = 1, n: int = 60) -> Path:
    rng = np.random.default_rng(0)
    tasks: list[dict[str, Any]] = []
    for number in range(n):
        label = ("good", "bad")[number % 2]
        text = " ".join(rng.choice([*WORDS[label], "the", "thing"], 6))
        result = [{"from_name": "mood", "to_name": "text", "type": "choices", "value": {"choices": [label]}}]
        made = [{"completed_by": who, "lead_time": 4.0, "result": result} for who in range(n_annotators)]
        tasks.append({"id": number, "data": {"text": text}, "annotations": made if number < n - 10 else []})
    path.write_text(json.dumps(tasks))
    return path


def test_an_export_is_planned_with(tmp_path: Path) -> None:
    data = label_studio(tmp_path / "export.json")
    run = labelworth("plan", data, "--target", "error <= 20%", "--model", "multinomial", "--price-label", "1")
    assert run.code == 0, run.stderr
    assert "was read as Label Studio JSON" in run.stderr + run.stdout


@pytest.mark.parametrize("command", ["check", "fit"])
def test_judgements_of_several_people_are_answers(tmp_path: Path, command: str) -> None:
    data = label_studio(tmp_path / "export.json", n_annotators=2)
    more = ["--output", tmp_path / "model.lw"] if command == "fit" else []
    run = labelworth(command, data, "--model", "multinomial", *more)
    assert run.code in (0, 1), run.stderr
    assert "judged by several people" in run.stderr
    assert "Answers of" in run.stderr


def test_next_draws_what_nobody_judged(tmp_path: Path) -> None:
    for n_annotators in (1, 2):
        data = label_studio(tmp_path / "export.json", n_annotators=n_annotators)
        run = labelworth("next", data, "--count", "10", "--output", tmp_path / "batch.jsonl")
        assert run.code == 0, run.stderr
        batch = [json.loads(line) for line in (tmp_path / "batch.jsonl").read_text().splitlines()]
        assert sorted(int(row["id"]) for row in batch) == list(range(50, 60))


def test_nothing_is_merged_into_an_export(tmp_path: Path) -> None:
    data = label_studio(tmp_path / "export.json")
    before = data.read_bytes()
    run = labelworth("merge", data, data, "--in-place")
    assert run.code == 2
    assert "labelworth convert" in run.stderr
    assert data.read_bytes() == before


def test_spans_are_tagged_and_planned_with(tmp_path: Path) -> None:
    lines = []
    for number in range(40):
        text = f"Ann met {('Bob', 'Eve')[number % 2]} at noon {number % 7}"
        lines.append({"id": number, "text": text, "label": [[0, 3, "PER"], [8, 11, "PER"]], "Comments": []})
    data = tmp_path / "all.jsonl"
    data.write_text("\n".join(map(json.dumps, lines)))
    run = labelworth("check", data)
    assert run.code in (0, 1), run.stderr
    assert "Spans were read as tags of tokens (tokenizer: words)." in run.stderr


def test_convert_tells_what_would_be_lost_before_it_writes(tmp_path: Path) -> None:
    data, target = label_studio(tmp_path / "export.json"), tmp_path / "labels.csv"
    for to, is_lost in (
        (tmp_path / "a.jsonl", "--to"),
        (tmp_path / "b.parquet", "who said it is left out: 50 items"),
    ):
        run = labelworth("convert", data, to)
        assert run.code == 2
        assert is_lost in run.stderr
        assert not to.exists()
    assert labelworth("convert", data, tmp_path / "b.parquet", "--accept-losses").code == 0
    back = labelworth("convert", tmp_path / "b.parquet", target, "--accept-losses")
    assert back.code == 0, back.stderr
    assert "60 items written" in back.stderr
    assert target.read_text().count("good") == 25


def test_what_goes_with_exports_is_refused_elsewhere(tmp_path: Path) -> None:
    data = tmp_path / "a.csv"
    data.write_text("text,label\na,x\nb,y\n")
    run = labelworth("check", data, "--empty-means", "nothing")
    assert run.code == 2
    assert "--empty-means goes with exports" in run.stderr
