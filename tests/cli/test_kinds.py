"""Kinds of labels on the command line."""

import json
from pathlib import Path

import numpy as np
import pytest

from support.command_line import labelworth
from support.pilots import drawn_documents

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
    assert any(f"of {audited} audited rows" in note for note in record["notes"])
    assert not any("rests on faith" in line for line in record["lines"])
    # Nobody knows what a crowd is good for that has not answered.
    assert labelworth("plan", texts, *ASKED, *kind).code == 2
    refused = labelworth("plan", texts, *ASKED, "--answers", path, "--count-from", 0)
    assert refused.code == 2
    assert "--kind" in refused.stderr
