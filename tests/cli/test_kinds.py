"""Kinds of labels on the command line."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest

from support.command_line import labelworth
from support.pilots import drawn_documents
from support.sentences import draw_sentences, write_columns

ASKED = ("--source", "asymptotic", "--criterion", "excess_log_loss", "--price-label", 0.5, "--budget", 90)
CROWD = "crowd: price 0.02, confusion 0.85 0.15 / 0.30 0.70, votes 1 3, unknown"


@pytest.fixture(scope="module")
def texts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    samples = drawn_documents(600, 120, seed=0)
    path = tmp_path_factory.mktemp("kinds") / "docs.jsonl"
    words = np.array(["ant", "bee", "cat", "dog", "elk"])
    lines = []
    for row, code in zip(samples.counts.toarray().astype(int), samples.evidence.codes, strict=True):
        label = None if code < 0 else "ab"[code]
        lines.append(json.dumps({"text": " ".join(np.repeat(words, row)), "label": label}) + "\n")
    path.write_text("".join(lines))
    return path


@pytest.fixture(scope="module")
def asked(texts: Path) -> tuple:
    kinds = texts.parent / "kinds.yaml"
    kinds.write_text("expert: price 0.3, accuracy 0.97\n", encoding="utf-8")
    plan, page = texts.parent / "plan.json", texts.parent / "plan.html"
    said = ("plan", texts, *ASKED, "--kinds", kinds, "--kind", CROWD, "--currency", "EUR")
    return labelworth(*said, "-o", plan, "--report", page), plan, page


def test_a_plan_says_whom_to_ask_and_what_answers_are_worth(asked: tuple) -> None:
    answer, plan, page = asked
    assert answer.code == 0, answer.stderr
    assert answer.stdout.startswith("For EUR ")
    assert "An answer of crowd is worth at most EUR" in answer.stdout
    assert "An answer of expert is worth at most EUR" in answer.stdout
    assert "who is asked" in answer.stdout
    assert "what to buy" in answer.stdout
    figures = json.loads(plan.read_text())
    assert [offer["arm"] for offer in figures["menu"]] == [
        "nothing",
        "gold",
        "expert",
        "crowd",
        "crowd x 3",
        "gold + crowd",
        "crowd for labeled",
    ]
    assert "who is asked" in page.read_text()


def test_a_plan_is_asked_again_with_its_kinds(asked: tuple) -> None:
    _, plan, _ = asked
    again = labelworth("plan", "--again", plan, "--json")
    assert again.code == 0, again.stderr
    before, now = (json.loads(text) for text in (plan.read_text(), again.stdout))
    assert now["recommended"] == before["recommended"]
    assert now["asked"]["kind"] == [CROWD]


def test_kinds_are_refused_before_the_data_is_read() -> None:
    answer = labelworth("plan", "absent.csv", *ASKED, "--kind", "expert: price 0.5")
    assert answer.code == 2
    assert "how often it is right" in answer.stderr


def test_the_file_of_kinds_is_not_overwritten(texts: Path, asked: tuple) -> None:
    kinds = texts.parent / "kinds.yaml"
    answer = labelworth("plan", texts, *ASKED, "--kinds", kinds, "-o", kinds)
    assert answer.code == 2
    assert kinds.read_text().startswith("expert")


def test_a_frontier_over_kinds(texts: Path) -> None:
    answer = labelworth("frontier", texts, *ASKED[:-2], "--kind", "expert: price 0.3, accuracy 0.97", "--json")
    assert answer.code == 0, answer.stderr
    assert json.loads(answer.stdout)["arms"] == ["nothing", "gold", "expert"]


def test_answers_take_the_place_of_guesses(texts: Path) -> None:
    rng = np.random.default_rng(4)
    rows = [json.loads(line) for line in texts.read_text().splitlines()]
    lines = ["item,annotator,answer\n"]
    for number, row in enumerate(rows[:150]):
        truth = row["label"] or "a"
        said = truth if rng.random() < 0.8 else "ab".replace(truth, "")
        lines.append(f"{number},w{number % 3},{said}\n")
    path = texts.parent / "answers.csv"
    path.write_text("".join(lines), encoding="utf-8")
    kind = ("--kind", "crowd: price 0.02, unknown")
    answer = labelworth("plan", texts, *ASKED, *kind, "--answers", path, "--count-from", 0, "--json")
    assert answer.code == 0, answer.stderr
    record = answer.record
    [crowd] = record["kinds"]
    audited = sum(row["label"] is not None for row in rows[:150])
    assert crowd["n_audited"] == audited > 0
    assert any(f"of {audited} audited answers" in note for note in record["notes"])
    assert not any("rests on faith" in line for line in record["lines"])
    assert record["held"]["cost"] == pytest.approx(0.5 * 120 + 0.02 * 150)
    # A column says of which kind an answer is, also where several kinds are offered.
    lines = [line.replace("\n", ",kind\n" if line.startswith("item") else ",crowd\n") for line in lines]
    path.write_text("".join(lines), encoding="utf-8")
    other = ("--kind", "other: price 0.1, accuracy 0.9", "--kind", "third: price 0.2, accuracy 0.9")
    several = labelworth("plan", texts, *ASKED, *kind, *other, "--answers", path, "--count-from", 0, "--json")
    assert several.code == 0, several.stderr
    assert [own["n_audited"] for own in several.record["kinds"]] == [audited, 0, 0]
    # Nobody knows what a crowd is good for that has not answered.
    assert labelworth("plan", texts, *ASKED, *kind).code == 2
    refused = labelworth("plan", texts, *ASKED, "--answers", path, "--count-from", 0)
    assert refused.code == 2
    assert "--kind" in refused.stderr


def test_sequences_are_planned_asked_about_and_merged(tmp_path: Path) -> None:
    words, labels = draw_sentences(80, seed=4)
    path = write_columns(
        tmp_path / "data.conll", words, [own if row < 40 else [None] * len(own) for row, own in enumerate(labels)]
    )
    plan, sheet, answers = (tmp_path / name for name in ("plan.json", "sheet.csv", "answers.csv"))
    asked = ("--criterion", "excess_log_loss", "--budget", 160, "--rules", "everything,nothing,window:2")
    told = labelworth(
        "plan", path, "--model", "hidden-markov", *asked, "--kind", "crowd: price 0.05, accuracy 0.8, votes 1 2",
        "-o", plan,
    )  # fmt: skip
    assert "crowd" in told.stdout
    assert "on 0 sequences" not in told.stdout
    figures = json.loads(plan.read_text())
    offers = {offer["arm"]: offer for offer in figures["menu"]}
    bought = {arm["arm"]: arm["count"] for arm in figures["recommended"]["arms"] if arm["count"]}
    assert offers["window:2 by crowd x 2"]["part"] == "window:2"
    labelworth(
        "next",
        path,
        "--plan",
        plan,
        "--sheet",
        sheet,
        "-o",
        tmp_path / "gold.conll",
        "--annotators",
        "crowd: ann,bob",
    )
    with sheet.open(newline="") as file:
        rows = list(csv.DictReader(file))
    asked_about = {(int(row["sequence"]), int(row["token"])) for row in rows}
    per_sequence = {arm: offers[arm]["asks"].get("crowd", 0) for arm in bought}
    assert len({sequence for sequence, _ in asked_about}) == sum(n for arm, n in bought.items() if per_sequence[arm])
    for row in rows:
        row["answer"] = labels[int(row["sequence"])][int(row["token"])]
    with sheet.open("w", newline="") as file:
        table = csv.DictWriter(file, list(rows[0]))
        table.writeheader()
        table.writerows(rows)
    labelworth("merge", path, sheet, "--answers", answers, "--in-place")
    fitted = labelworth("fit", path, "--model", "hidden-markov", "--answers", answers, "-o", tmp_path / "model.lw")
    assert f"{len(rows)} answers of 2 annotators about {len(asked_about)} tokens" in fitted.stdout.replace(",", "")
    # What was answered is not asked about again: the next plan can be carried out, too.
    again = ("--answers", answers, "--model", "hidden-markov", "--criterion", "excess_log_loss", "--budget", 10_000)
    labelworth("plan", path, *again, "--kind", "crowd: price 0.05, accuracy 0.8", "-o", plan)
    n_left = 40 - len({sequence for sequence, _ in asked_about})
    more = labelworth("next", path, "--plan", plan, "-o", tmp_path / "more.conll", "--sheet", tmp_path / "more.csv")
    assert f"{n_left} sequences to label" in more.stderr
