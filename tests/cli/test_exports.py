"""What annotation tools export is data for every command, and goes from one tool to another."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from labelworth.formats.choose import read_export
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
    for words, named in (((), "words"), (("--tokenizer", "whitespace"), "whitespace")):
        told = labelworth("convert", data, "-", "--to", "conll", *words)
        assert f"Spans are put on tokens (tokenizer: {named})." in told.stderr


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


TOOLS = {"label-studio": ".json", "argilla": ".json", "doccano": ".jsonl", "prodigy": ".jsonl"}


@pytest.mark.parametrize("tool", TOOLS)
def test_a_batch_goes_out_to_a_tool_and_comes_back_as_data(tmp_path: Path, tool: str) -> None:
    data, batch = tmp_path / "data.csv", tmp_path / f"batch{TOOLS[tool]}"
    rows = [f"{number},word{number % 3} thing,{('a', 'b', '')[number % 3]},web" for number in range(12)]
    data.write_text("\n".join(["id,text,label,source", *rows]))
    run = labelworth("next", data, "--count", "3", "--to", tool, "--output", batch)
    assert run.code == 0, run.stderr
    # Where no example has a label, a file of doccano could also be rows of sets of classes.
    export = read_export(batch, format=tool, empty_means="unlabeled")
    drawn = {int(item.id): item for item in export.items}
    assert len(drawn) == 3
    assert set(drawn) < {2, 5, 8, 11}
    assert all(item.state == "unlabeled" and item.text == "word2 thing" for item in drawn.values())
    assert all((item.meta["row"], item.meta["source"]) == (row, "web") for row, item in drawn.items())
    # All that the tool does not know of it is told before.
    assert ("the list of classes is left out" in run.stderr) == (tool != "prodigy")


def test_sequences_go_out_with_what_is_asked_of_them(tmp_path: Path) -> None:
    data, batch = tmp_path / "data.conll", tmp_path / "batch.jsonl"
    data.write_text("Ann B-PER\nran O\n\nBob B-PER\nsat O\n\nEve _\nate _\nit _\n\n")
    run = labelworth("next", data, "--count", "1", "--policy", "window:2", "--to", "prodigy", "--output", batch)
    assert run.code == 0, run.stderr
    (item,) = read_export(batch).items
    assert (item.text, item.words, len(item.meta["ask"])) == ("Eve ate it", ["Eve", "ate", "it"], 2)


def test_a_batch_is_drawn_from_an_export_and_stays_one(tmp_path: Path) -> None:
    data, batch = label_studio(tmp_path / "export.json"), tmp_path / "batch.json"
    run = labelworth("next", data, "--count", "4", "--to", "label-studio", "--output", batch)
    assert run.code == 0, run.stderr
    assert {int(item.id) for item in read_export(batch).items} < set(range(50, 60))


def test_formats_that_cannot_take_a_batch_are_refused(tmp_path: Path) -> None:
    data, place = label_studio(tmp_path / "export.json"), tmp_path / "batch"
    for more, words in (
        (("--to", "brat", "--output", place), "brat standoff holds spans"),
        (("--to", "label-studio"), "name a file with --output"),
        (("--to", "csv", "--output", place), "without --to"),
        (("--to", "nothing", "--output", place), "There is no format 'nothing'"),
    ):
        run = labelworth("next", data, "--count", "4", *more)
        assert run.code == 2
        assert words in run.stderr
        assert not place.exists()


@pytest.mark.parametrize("tool", ["hugging-face", "brat"])
def test_a_folder_that_a_tool_wrote_is_data_for_every_command(tmp_path: Path, tool: str) -> None:
    """Of texts with classes, and of texts with spans: brat does not say whether who marked nothing has looked."""
    names, places = ["ann", "bob", "eve"], ["oslo", "rome"]
    rng, lines = np.random.default_rng(1), []
    for number in range(30):
        words = [str(rng.choice(names)), "sees", str(rng.choice(places))]
        tags = ["B-person", "O", "B-place"] if number < 20 else [None] * 3
        lines.append(json.dumps({"tokens": words, "tags": tags}))
    source, data, model = tmp_path / "tokens.jsonl", tmp_path / tool, tmp_path / "model.lw"
    source.write_text("\n".join(lines) + "\n")
    more = ("--empty-means", "unlabeled") if tool == "brat" else ()
    assert labelworth("convert", source, data, "--to", tool, "--accept-losses").code == 0
    assert data.is_dir()
    place, batch = tmp_path / "campaign.db", tmp_path / "batch.jsonl"
    assert labelworth("campaign", "new", place, "--kind", "sequences", "--classes", "B-person,B-place,O").code == 0
    markov = ("--model", "hidden-markov")
    for words in (
        ("fit", data, *markov, "-o", model),
        ("check", data, *markov),
        ("predict", model, data, "-o", tmp_path / "predicted.jsonl"),
        ("next", data, "--count", "10", "-o", batch),
        ("campaign", "add", place, data),
        ("shard", data, "-o", tmp_path / "shards"),
    ):
        run = labelworth(*words, *more)
        assert run.code == 0, (words, run.stderr)
    assert len(batch.read_text().splitlines()) == 10
    assert labelworth("campaign", "status", place).stdout.count("30") >= 1


def test_a_campaign_takes_what_several_people_said(tmp_path: Path) -> None:
    data = label_studio(tmp_path / "export.json", n_annotators=2)
    place = tmp_path / "campaign.db"
    assert labelworth("campaign", "new", place, "--classes", "good,bad").code == 0
    run = labelworth("campaign", "add", place, data, "--question", "mood")
    assert "60 items added, with 0 labels and 100 answers" in run.stdout, run.stderr
    refused = labelworth("campaign", "add", place, data, "--question", "other")
    assert "has no question 'other'" in refused.stderr
    without = tmp_path / "without.db"
    assert labelworth("campaign", "new", without, "--classes", "good,bad").code == 0
    assert "with 0 labels." in labelworth("campaign", "add", without, data, "--label-column", "none").stdout
