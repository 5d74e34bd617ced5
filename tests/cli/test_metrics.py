"""Plans for macro-F1, recall at a precision, and money with its unit: words, record, page, refusals."""

import json
from pathlib import Path

import numpy as np
import pytest

from labelworth.report.record import validate
from support.command_line import labelworth
from support.pilots import drawn_documents

pytestmark = pytest.mark.usefixtures("few_replicates")

MODEL = ("--model", "multinomial")


@pytest.fixture(scope="module")
def texts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Four hundred documents of two classes, 100 labeled; a third class has three labels."""
    samples = drawn_documents(400, 100, seed=0)
    path = tmp_path_factory.mktemp("metrics") / "docs.jsonl"
    words, lines = np.array(["ant", "bee", "cat", "dog", "elk"]), []
    for index, (row, code) in enumerate(
        zip(samples.counts.toarray().astype(int), samples.evidence.codes, strict=True)
    ):
        text = " ".join([*np.repeat(words, row), f"name{index}"])
        label = None if code < 0 else "rare" if index < 3 else ("ham", "spam")[code]
        lines.append(json.dumps({"text": text, "label": label}) + "\n")
    path.write_text("".join(lines))
    return path


def test_a_target_of_macro_f1_with_money(texts: Path, tmp_path: Path) -> None:
    record, page = tmp_path / "plan.json", tmp_path / "plan.html"
    asked = ("--target", "macro-F1 >= 55%", "--price-label", 0.5, "--currency", "EUR")
    answer = labelworth("plan", texts, *MODEL, *asked, "-o", record, "--report", page)
    assert answer.code == 0
    shown = " ".join(answer.stdout.split())
    assert "macro-F1 of at least 55 %" in shown
    assert "Macro-F1 to expect" in shown
    assert "EUR 50" in shown
    stored = json.loads(record.read_text())
    validate(stored)
    assert stored["currency"] == "EUR"
    assert stored["question"] == {"problem": "target", "value": 0.45, "criterion": "macro_f1"}
    assert stored["asked"]["target"] == "macro-F1 >= 55%"
    html = page.read_text()
    assert "EUR 50" in html
    assert '"currency": "EUR"' in html or '"currency":"EUR"' in html
    # Curves of the page are of what is reached, and the larger the better.
    curve = stored["forecast"]
    assert curve["error"][-1] < curve["error"][0]


def test_a_target_of_recall_says_how_little_a_small_pilot_tells(texts: Path) -> None:
    answer = labelworth("plan", texts, *MODEL, "--target", "recall of spam >= 80% at precision 80%", "--json")
    assert answer.code == 0
    record = answer.record
    assert record["question"]["criterion"] == "recall of spam at precision 0.8"
    assert record["question"]["value"] == 0.2
    assert "currency" not in record
    interval = record["error_interval"]
    assert interval["high"] - interval["low"] > 0.1
    (check,) = (check for check in record["checks"] if check["name"] == "pilot size")
    assert check["state"] == "warning"
    assert "recall of spam at precision 80 % to expect is known to within" in check["words"]


def test_a_budget_buys_precision(texts: Path) -> None:
    asked = ("--budget", 200, "--criterion", "precision of spam at recall 80%", "--currency", "$")
    answer = labelworth("plan", texts, *MODEL, *asked)
    assert answer.code == 0
    shown = " ".join(answer.stdout.split())
    assert "Precision of spam at recall 80 % to expect" in shown
    assert "of a budget of $200" in shown
    frontier = labelworth("frontier", texts, *MODEL, "--criterion", "macro-F1", "--currency", "$", "--json")
    assert frontier.record["currency"] == "$"
    assert frontier.record["criterion"] == "macro_f1"


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        (("--target", "recall of eggs >= 90% at precision 90%"), "none of the classes: ham, rare, spam"),
        (
            ("--target", "recall of rare >= 90% at precision 90%"),
            "from 3 labeled examples of the class: it takes 5 at least. Label about",
        ),
        (("--target", "macro-F1 >= 90%", "--source", "asymptotic"), "formulas give no macro"),
        (("--target", "macro-F1 >= 90%", "--criterion", "log_loss"), "Leave one of them out"),
        (("--target", "macro-F1 <= 90%"), "at least so much"),
        (("--budget", 200, "--criterion", "recall"), "at a level of the other"),
        (("--budget", 200, "--currency", "EUR 2"), "without digits or blanks"),
    ],
)
def test_what_cannot_be_had_is_refused(texts: Path, asked: tuple[object, ...], message: str) -> None:
    answer = labelworth("plan", texts, *MODEL, *asked)
    assert answer.code == 2
    assert not answer.stdout
    assert message in " ".join(answer.stderr.split())


def test_a_target_out_of_reach_names_the_nearest_as_it_is_typed(texts: Path) -> None:
    answer = labelworth("plan", texts, *MODEL, "--target", "precision of ham >= 99.9% at recall 90%")
    assert answer.code == 1
    said = " ".join(answer.stderr.split())
    assert "No number of labels reaches precision of ham of at least 99.9 % at recall 90 %" in said
    typed = said.split("(--target '")[1].split("')")[0]
    assert labelworth("plan", texts, *MODEL, "--target", typed).code == 0
