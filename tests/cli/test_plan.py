"""Plans and frontiers on the command line: words, records, exit codes, plan files."""

import json
from pathlib import Path

import numpy as np
import pytest

from labelworth.report.record import validate
from support.command_line import labelworth
from support.pilots import drawn_documents, drawn_sequences

FORMULAS = ("--criterion", "excess_log_loss")


@pytest.fixture(scope="module")
def texts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Six hundred documents of four words, 120 labeled."""
    samples = drawn_documents(600, 120, seed=0)
    path = tmp_path_factory.mktemp("plan") / "docs.jsonl"
    words = np.array(["ant", "bee", "cat", "dog", "elk"])
    lines = []
    for row, code in zip(samples.counts.toarray().astype(int), samples.evidence.codes, strict=True):
        label = None if code < 0 else "ab"[code]
        lines.append(json.dumps({"text": " ".join(np.repeat(words, row)), "label": label}) + "\n")
    path.write_text("".join(lines))
    return path


@pytest.fixture(scope="module")
def columns(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two hundred short sequences in CoNLL columns, 40 labeled."""
    data = drawn_sequences(200, 40, seed=0)
    path = tmp_path_factory.mktemp("plan") / "data.conll"
    lines = []
    for row in range(data.n_sequences):
        for token in range(data.offsets[row], data.offsets[row + 1]):
            code = data.evidence.codes[token]
            lines.append(f"{data.feature_names[data.words[token]]} {'_' if code < 0 else 'AB'[code]}\n")
        lines.append("\n")
    path.write_text("".join(lines))
    return path


def test_six_lines_and_a_table(texts: Path) -> None:
    answer = labelworth("plan", texts, "--budget", 300, *FORMULAS)
    assert answer.code == 0
    assert answer.stdout.startswith("Label 180 more documents: 300 labels in all.")
    for part in (
        "Excess log-loss",
        "That costs 180",
        "the next 10 labels lower it from",
        "unlabeled data",
        "What money buys",
    ):
        assert part in answer.stdout


def test_the_model_is_chosen_unless_one_is_named_or_set(texts: Path, tmp_path: Path) -> None:
    asked = ("plan", texts, "--budget", 200, "--source", "simulated")
    page = tmp_path / "plan.html"
    shown = labelworth(*asked, "--report", page)
    assert shown.code == 0
    assert "Models compared on the pilot" in shown.stdout
    assert "logistic regression" in page.read_text()
    record = labelworth(*asked, "--model", "auto", "--json").record
    validate(record)
    names = [record["models"]["chosen"]["name"], *(other["name"] for other in record["models"]["others"])]
    assert len(names) == len(set(names)) == 9
    assert "models" not in labelworth(*asked, "--smoothing", 0.5, "--json").record
    refused = labelworth("fit", texts, "--model", "auto", "-o", tmp_path / "model.lw")
    assert refused.code != 0
    assert "--model" in refused.stderr


def test_json_is_one_valid_record(texts: Path) -> None:
    answer = labelworth("plan", texts, "--target", 0.004, *FORMULAS, "--seed", 3, "--json")
    assert answer.code == 0
    validate(answer.record)
    record = answer.record
    assert record["seed"] == 3
    assert record["asked"]["target"] == 0.004
    assert record["recommended"]["error"] <= 0.004
    assert record["pilot"]["rows"] == "0-119"
    interval = record["labels_interval"]
    assert interval["low"] <= record["recommended"]["labels"] <= interval["high"]


@pytest.mark.parametrize("command", [("plan", "--budget", 300), ("frontier",), ("check", "--no-specification")])
def test_what_was_said_of_the_data_is_in_the_record_and_on_the_page(
    texts: Path, tmp_path: Path, command: tuple[object, ...]
) -> None:
    path, page = tmp_path / "docs.jsonl", tmp_path / "page.html"
    path.write_text(texts.read_text().replace('"label": "b"', '"label": "B"', 1))
    options = () if command[0] == "check" else FORMULAS
    if command[0] == "plan":
        options += ("--report", str(page))
    answer = labelworth(*command[:1], path, *command[1:], *options, "--json")
    said = next(line for line in answer.stderr.splitlines() if "'B' (1 label)" in line)
    document = json.loads(answer.stdout)
    validate(document)
    assert said in document["notes"]
    assert (command[0] == "plan") == page.exists()
    assert not page.exists() or "(1 label)" in page.read_text()


def test_shares_are_percent_in_tables(texts: Path) -> None:
    for command in (("plan", "--budget", 300), ("frontier",)):
        answer = labelworth(command[0], texts, *command[1:], "--source", "asymptotic", "--criterion", "error")
        rows = answer.stdout.rpartition("──")[2].splitlines()[1:]
        first = [row.split("  ") for row in rows[: rows.index("")] if row.strip()]
        assert any("%" in "".join(row) for row in first)
        assert not any("0.0" in "".join(row) for row in first)


def test_a_plan_file_is_asked_again(texts: Path, tmp_path: Path) -> None:
    first = labelworth("plan", texts, "--alpha", 1e5, *FORMULAS, "-o", tmp_path / "plan.json", "--json")
    again = labelworth("plan", "--again", tmp_path / "plan.json", "--json")
    assert again.code == 0
    for record in (first.record, again.record):
        validate(record)
    kept = json.loads((tmp_path / "plan.json").read_text())
    for record in (one := first.record, other := again.record):
        del record["durations"]
    del kept["durations"]
    assert one == other == kept


def test_a_page_is_written(texts: Path, tmp_path: Path) -> None:
    answer = labelworth("plan", texts, "--budget", 300, *FORMULAS, "--report", tmp_path / "plan.html")
    assert answer.code == 0
    page = (tmp_path / "plan.html").read_text()
    assert "Label 180 more documents" in page


def test_sequences_choose_from_a_menu(columns: Path) -> None:
    answer = labelworth(
        "plan",
        columns,
        "--model",
        "hidden-markov",
        "--rules",
        "everything,nothing,window:2",
        "--budget",
        300,
        "--json",
    )
    assert answer.code == 0
    validate(answer.record)
    assert [arm["arm"] for arm in answer.record["recommended"]["arms"]] == ["everything", "nothing", "window:2"]
    assert answer.record["recommended"]["cost_in_all"] <= 300


def test_the_frontier_in_words_and_as_a_record(texts: Path) -> None:
    answer = labelworth("frontier", texts, *FORMULAS)
    assert answer.code == 0
    assert "are worth considering" in answer.stdout
    record = labelworth("frontier", texts, *FORMULAS, "--json").record
    validate(record)
    assert record["points"][record["boundary"][0]]["dominated_by"] is None


@pytest.mark.parametrize(
    ("options", "code", "words"),
    [
        (("--budget", 300, "--target", 0.1), 2, "exactly one of budget, target and alpha"),
        ((), 2, "exactly one of budget, target and alpha"),
        (("--budget", 100), 1, "have cost 120 already"),
        (("--budget", 300, "--price-label", 0), 2, "price"),
        (("--budget", 300, "--price-label", "nan"), 2, "non-negative number"),
        (("--budget", "nan"), 2, "finite number"),
        (("--budget", 300, "--rules", "everything"), 2, "--rules is for sequences"),
        (("--alpha", 0), 2, "positive"),
    ],
)
def test_bad_questions_have_clear_answers(texts: Path, options: tuple[object, ...], code: int, words: str) -> None:
    answer = labelworth("plan", texts, *FORMULAS, *options)
    assert answer.code == code
    assert words in answer.stderr
    assert not answer.stdout


@pytest.mark.parametrize("options", [("--target", 1e-7), ("--target", 0.004, "--pool", 3)])
def test_a_target_out_of_reach_is_refused_with_the_best_that_can_be_had(
    texts: Path, tmp_path: Path, options: tuple[object, ...]
) -> None:
    files = ("--report", tmp_path / "page.html", "-o", tmp_path / "plan.json")
    answer = labelworth("plan", texts, *FORMULAS, *options, *files)
    assert answer.code == 1
    assert "\nError: No number of labels reaches" in answer.stderr
    assert "the nearest that this pool allows" in answer.stderr
    assert answer.stdout.startswith("The best that can be had: label ")
    assert "What money buys" in answer.stdout
    stored = json.loads((tmp_path / "plan.json").read_text())
    assert stored["asked"]["target"] == options[1]
    assert stored["recommended"]["error"] <= stored["question"]["value"]
    assert stored["lines"][0] == stored["refusal"]
    page = (tmp_path / "page.html").read_text()
    assert page.index("No number of labels reaches") < page.index("The best that can be had")


def test_a_menu_that_cannot_identify_the_model(columns: Path) -> None:
    answer = labelworth("plan", columns, "--rules", "nothing", "--budget", 300)
    assert answer.code == 1
    assert "No rule on the menu labels anything" in answer.stderr


def test_other_records_are_not_plans(texts: Path, tmp_path: Path) -> None:
    record = labelworth("frontier", texts, *FORMULAS, "--json").stdout
    (tmp_path / "record.json").write_text(record)
    assert labelworth("plan", "--again", tmp_path / "record.json").code == 2
    assert labelworth("plan", texts, "--again", tmp_path / "record.json").code == 2


def test_asking_again_takes_no_options_of_the_data(tmp_path: Path) -> None:
    answer = labelworth("plan", "--again", tmp_path / "plan.json", "--text-column", "body")
    assert answer.code == 2
    assert "--text-column goes with DATA, which is not named" in answer.stderr


def test_an_interrupted_plan_says_how_it_goes_on(
    texts: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*arguments: object, **options: object) -> None:
        raise KeyboardInterrupt

    asked = ("plan", texts, "--target", 0.004, *FORMULAS, "--json")
    steps = tmp_path / "steps"
    with monkeypatch.context() as patched:
        patched.setattr("labelworth.planning.assembly.cloud", interrupted)
        answer = labelworth(*asked, "--checkpoint", steps)
        plain = labelworth(*asked)
    assert answer.code == plain.code == 130
    assert f"kept in {steps}; the same command goes on from there" in answer.stderr
    assert "--checkpoint FOLDER" in plain.stderr
    n_kept = len(list(steps.iterdir()))
    resumed, fresh = labelworth(*asked, "--checkpoint", steps).record, labelworth(*asked).record
    assert len(list(steps.iterdir())) == n_kept > 1
    for record in (resumed, fresh):
        del record["durations"]
    assert resumed == fresh
