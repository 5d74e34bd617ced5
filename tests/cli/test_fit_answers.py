"""Fits to labels and answers on the command line."""

import csv
import json
from pathlib import Path
from random import Random
from typing import Any

import pytest

import labelworth as lw
from labelworth.report.record import validate
from support.command_line import labelworth

WORDS = {"ham": ["lunch", "home", "train"], "news": ["vote", "strike", "train"], "spam": ["win", "prize", "cash"]}
ACCURACY = {"ann": 0.95, "bob": 0.8, "eve": 1 / 3}


def write(path: Path, rows: list[list[Any]]) -> Path:
    with path.open("w", newline="", encoding="utf-8") as stream:
        csv.writer(stream).writerows(rows)
    return path


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Documents of three classes with forty labels, and answers of three annotators about half of them."""
    random = Random(5)
    truth = [random.choice(list(WORDS)) for _ in range(240)]
    every = [word for words in WORDS.values() for word in words]
    texts = [
        " ".join(random.choice(WORDS[name] if random.random() < 0.6 else every) for _ in range(6)) for name in truth
    ]
    rows = [[f"d{row}", texts[row], truth[row] if row < 40 else ""] for row in range(240)]
    answers = []
    for row in range(160):
        for who in random.sample(list(ACCURACY), 2):
            others = [name for name in WORDS if name != truth[row]]
            answers.append([f"d{row}", who, truth[row] if random.random() < ACCURACY[who] else random.choice(others)])
    write(tmp_path / "answers.csv", [["task", "worker", "label"], *answers])
    return write(tmp_path / "data.csv", [["id", "text", "label"], *rows])


def test_annotators_are_estimated_with_the_model(data: Path, tmp_path: Path) -> None:
    model, answers = tmp_path / "model.lw", tmp_path / "answers.csv"
    answer = labelworth("fit", data, "--answers", answers, "-o", model)
    assert answer.code == 0, answer.stderr
    assert "Items are called as in the column 'id'" in answer.stderr
    assert "320 answers of 3 annotators about 160 rows, 40 of them with a label." in answer.stdout
    assert "Of 80 answers about a row with a label," in answer.stdout
    assert "Not told from guessing: eve;" in answer.stdout
    record = labelworth("fit", data, "--answers", answers, "-o", model, "--json").record
    validate(record)
    told = {own["name"]: own for own in record["answers"]["annotators"]}
    for name, accuracy in ACCURACY.items():
        # Ten of each are audited; four standard errors leave one in thousands.
        assert abs(told[name]["accuracy"] - accuracy) < 4 * told[name]["accuracy_se"] + 0.05
    assert record["asked"]["answers"] == str(answers)
    assert lw.load(model).annotators_.names == ("ann", "bob", "eve")


@pytest.mark.parametrize("name", ["labels.csv", "labels.jsonl"])
def test_recovered_labels_are_written(data: Path, tmp_path: Path, name: str) -> None:
    recovered = tmp_path / name
    asked = (
        "fit",
        data,
        "--answers",
        tmp_path / "answers.csv",
        "-o",
        tmp_path / "model.lw",
        "--recovered",
        recovered,
    )
    assert labelworth(*asked).code == 0
    lines = recovered.read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines] if name.endswith("jsonl") else list(csv.DictReader(lines))
    truth = {row["id"]: row["label"] for row in csv.DictReader(data.read_text(encoding="utf-8").splitlines())}
    assert len(rows) == 160
    assert list(rows[0]) == ["row", "id", "text", "label", "probability", "answers"]
    gold = [row for row in rows if truth[row["id"]]]
    assert len(gold) == 40
    assert all(row["label"] == truth[row["id"]] and float(row["probability"]) == 1 for row in gold)
    assert {int(row["answers"]) for row in rows} == {2}
    assert labelworth("fit", data, "-o", tmp_path / "m.lw", "--recovered", recovered).code == 2
    assert labelworth(*asked[:-1], tmp_path / "labels.txt").code == 2


def test_without_answers_nothing_is_said_of_them(data: Path, tmp_path: Path) -> None:
    record = labelworth("fit", data, "-o", tmp_path / "model.lw", "--json").record
    assert "answers" not in record
    assert "answers" not in record["asked"]


def test_answers_alone_are_enough(data: Path, tmp_path: Path) -> None:
    rows = csv.reader(data.read_text(encoding="utf-8").splitlines())
    bare = write(tmp_path / "bare.csv", [row[:2] for row in rows])
    answer = labelworth(
        "fit", bare, "--label-column", "none", "--answers", tmp_path / "answers.csv", "-o", tmp_path / "m.lw"
    )
    assert answer.code == 0, answer.stderr
    assert "No row with an answer has a label" in answer.stdout


def test_answers_that_say_nothing_change_nothing(data: Path, tmp_path: Path) -> None:
    answers = write(
        tmp_path / "none.csv", [["id", "worker", "answer"], ["d0", "ann", "cannot say"], ["d50", "bob", "?"]]
    )
    record = labelworth("fit", data, "--answers", answers, "-o", tmp_path / "m.lw", "--json").record
    alone = labelworth("fit", data, "-o", tmp_path / "m.lw", "--json").record
    assert record["answers"]["n_answers"] == 0
    assert {own["verdict"] for own in record["answers"]["annotators"]} == {"too few answers to tell"}
    shares = [[own["probability"] for own in fit["classes"]] for fit in (record, alone)]
    assert shares[0] == pytest.approx(shares[1], abs=1e-3)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--id-column", "text"), "are about items that are not in the data"),
        (("--id-column", "name"), "has no column 'name'"),
        (("--id-column", "none"), "the item is 'd0', which is no number of a sample"),
        (("--answer-columns", "item=task,answer=said"), "has no column 'said'"),
        (("--answer-columns", "task"), "--answer-columns takes pairs as a=b"),
        (("--classes", "ham,spam"), "is not one of the classes"),
        (("--model", "logistic"), "logistic"),
    ],
)
def test_what_does_not_fit_is_said_in_options(
    data: Path, tmp_path: Path, options: tuple[str, ...], words: str
) -> None:
    model = tmp_path / "model.lw"
    answer = labelworth("fit", data, "--answers", tmp_path / "answers.csv", "-o", model, *options)
    assert answer.code == 2
    assert words in answer.stderr
    assert not model.exists()


def test_a_class_that_only_answers_name_has_to_be_meant(data: Path, tmp_path: Path) -> None:
    answers, model = tmp_path / "answers.csv", tmp_path / "model.lw"
    answers.write_text(answers.read_text(encoding="utf-8").replace("d9,ann,spam", "d9,ann,spma") + "d0,ann,spma\n")
    answer = labelworth("fit", data, "--answers", answers, "-o", model)
    assert answer.code == 2
    assert (
        "Is 'spam' meant? Correct or rename them, or name all classes there are with --classes ham,news,spam,spma"
        in answer.stderr
    )
    assert labelworth("fit", data, "--answers", answers, "-o", model, "--classes", "ham,news,spam,spma").code == 0
    asked = ("fit", data, "--answers", answers, "-o", model, "--rename-answers")
    assert labelworth(*asked, "spma=spam").code == 0
    assert "No answer names 'spam2', which was to be renamed" in labelworth(*asked, "spam2=spam").stderr


def test_items_that_may_be_ids_or_numbers_are_refused(tmp_path: Path) -> None:
    rows = [["id", "text", "label"], *([5 - row, "win" if row % 2 else "lunch", "ab"[row % 2]] for row in range(5))]
    data = write(tmp_path / "data.csv", rows)
    answers = write(tmp_path / "a.csv", [["task", "worker", "label"], [1, "ann", "a"], [2, "ann", "b"]])
    answer = labelworth("fit", data, "--answers", answers, "-o", tmp_path / "m.lw")
    assert answer.code == 2
    assert "by their numbers or the column 'id'. Say which: --id-column id, or --id-column none" in answer.stderr
    asked = ("fit", data, "--answers", answers, "-o", tmp_path / "m.lw")
    assert labelworth(*asked, "--id-column", "id").code == 0
    assert (
        "counted from 0 or from 1. Say which with --count-from." in labelworth(*asked, "--id-column", "none").stderr
    )
    assert labelworth(*asked, "--id-column", "none", "--count-from", 1).code == 0


def test_the_file_of_answers_is_not_overwritten(data: Path, tmp_path: Path) -> None:
    answers = tmp_path / "answers.csv"
    before = answers.read_bytes()
    assert labelworth("fit", data, "--answers", answers, "-o", answers).code == 2
    assert answers.read_bytes() == before


def test_tokens_are_answered_for_too(tmp_path: Path) -> None:
    random = Random(3)
    sentences, answers = [], [["sequence", "token", "annotator", "answer"]]
    for index in range(60):
        tags = [random.choice("DNV") for _ in range(5)]
        words = [f"{tag.lower()}{random.randrange(3)}" if random.random() < 0.8 else "x" for tag in tags]
        sentences.append({"tokens": words, "tags": tags if index < 10 else [None] * 5})
        for token, tag in enumerate(tags):
            for who, accuracy in (("ann", 0.95), ("bob", 0.7)):
                said = tag if random.random() < accuracy else random.choice("DNV")
                answers.append([index, token, who, said])
    data = tmp_path / "data.jsonl"
    data.write_text("".join(json.dumps(row) + "\n" for row in sentences))
    beside = write(tmp_path / "answers.csv", answers)
    answer = labelworth("fit", data, "--answers", beside, "-o", tmp_path / "model.lw", "--json")
    assert answer.code == 0, answer.stderr
    validate(answer.record)
    told = answer.record["answers"]
    assert (told["n_answers"], told["n_tokens"], told["n_labeled"]) == (600, 300, 50)
    ann, bob = told["annotators"]
    assert ann["accuracy"] > bob["accuracy"]
    recovered = tmp_path / "labels.csv"
    asked = ("fit", data, "--answers", beside, "-o", tmp_path / "model.lw", "--recovered", recovered)
    assert labelworth(*asked).code == 0
    rows = list(csv.DictReader(recovered.read_text(encoding="utf-8").splitlines()))
    assert [(row["sequence"], row["token"], row["word"]) for row in rows[:2]] == [
        ("0", "0", sentences[0]["tokens"][0]),
        ("0", "1", sentences[0]["tokens"][1]),
    ]
    assert [row["label"] for row in rows[:5]] == sentences[0]["tags"]


def test_a_check_says_whose_answers_to_use(data: Path, tmp_path: Path) -> None:
    options = ("--answers", tmp_path / "answers.csv", "--model", "multinomial", "--no-specification")
    answer = labelworth("check", data, *options)
    assert answer.code == 0, answer.stderr
    assert "Answers of 'eve':" in answer.stdout
    record = labelworth("check", data, *options, "--json").record
    validate(record)
    assert [own["name"] for own in record["answers"]["annotators"]] == ["ann", "bob", "eve"]
    assert sum(own["accuracy"]["n_audited"] for own in record["answers"]["annotators"]) == 80
    assert any("annotator is 'worker'" in note for note in record["notes"])
    refused = labelworth("check", data, *options[:2], "--model", "logistic")
    assert refused.code == 2
    assert "Answers are checked with a model of p(x, y)" in refused.stderr


def test_classifiers_of_others_are_fitted_for_the_labels_that_they_recover(data: Path, tmp_path: Path) -> None:
    recovered = tmp_path / "labels.csv"
    options = ("--answers", tmp_path / "answers.csv", "--model", "logistic")
    answer = labelworth("fit", data, *options, "--recovered", recovered, "--json")
    assert answer.code == 0, answer.stderr
    validate(answer.record)
    assert len(recovered.read_text().splitlines()) == 1 + answer.record["answers"]["n_rows"]
    refused = labelworth("fit", data, *options, "-o", tmp_path / "model.lw")
    assert refused.code == 2
    assert "cannot be written to a file" in refused.stderr
    nowhere = labelworth("fit", data, "--model", "multinomial")
    assert nowhere.code == 2
    assert "--output FILE" in nowhere.stderr


def test_items_outside_the_data_are_told_as_that_and_may_be_dropped(data: Path, tmp_path: Path) -> None:
    answers, model = tmp_path / "answers.csv", tmp_path / "m.lw"
    answers.write_text(answers.read_text(encoding="utf-8") + "zz,ann,spam\n")
    refused = labelworth("fit", data, "--answers", answers, "-o", model)
    assert refused.code == 2
    assert "1 of 321 answers" in refused.stderr
    assert "not in the data" in refused.stderr
    assert "'zz'" in refused.stderr
    assert "--outside 'drop'" in refused.stderr
    dropped = labelworth("fit", data, "--answers", answers, "-o", model, "--outside", "drop")
    assert dropped.code == 0, dropped.stderr
    assert "320 answers of 3 annotators" in dropped.stdout


def test_a_file_without_answers_is_called_so(data: Path, tmp_path: Path) -> None:
    answers = write(tmp_path / "none.csv", [["task", "worker", "label"]])
    answer = labelworth("fit", data, "--answers", answers, "-o", tmp_path / "m.lw")
    assert answer.code == 2
    assert "--id-column" not in answer.stderr
    assert "no answers" in answer.stderr
