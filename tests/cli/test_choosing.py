"""Rows that are chosen: drawn with logged probabilities, merged with them, and counted by them."""

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import labelworth as lw
from labelworth.cli.batches import choosing
from labelworth.cli.inputs.documents import Documents, log_columns
from labelworth.cli.options import DataOptions
from labelworth.data.samples import Samples
from labelworth.estimators.automatic import AutomaticModel, Candidate
from labelworth.estimators.reading import pool_of
from labelworth.report.record import validate
from support.command_line import labelworth

pytestmark = pytest.mark.usefixtures("few_replicates")

N_ROWS, N_LABELED = 160, 40
TOPICS = (("sun", "rain", "wind", "cloud", "snow"), ("goal", "team", "match", "player", "score"))


@pytest.fixture
def lines(tmp_path: Path) -> Path:
    rng = np.random.default_rng(0)
    rows = []
    for place in range(N_ROWS):
        topic = int(rng.integers(2))
        words = [
            str(rng.choice(" ".join(TOPICS[topic if rng.random() < 0.75 else 1 - topic]).split())) for _ in "12345"
        ]
        rows.append(
            {"text": " ".join(words), "label": "ab"[topic] if place < N_LABELED else None, "true": "ab"[topic]}
        )
    path = tmp_path / "docs.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def drawn(path: Path, *options: object) -> list[dict]:
    answer = labelworth("next", path, "--count", 20, *options)
    assert answer.code == 0, answer.stderr
    return [json.loads(line) for line in answer.stdout.splitlines()]


@pytest.mark.parametrize("by", ["worth", "uncertainty"])
@pytest.mark.parametrize("model", ["multinomial", "logistic"])
def test_every_row_says_with_what_probability_it_was_drawn(lines: Path, by: str, model: str) -> None:
    rows = drawn(lines, "--by", by, "--model", model)
    assert len({row["row"] for row in rows}) == 20
    assert all(0 < row["probability"] <= 1 and row["rule"] in (by, "random") for row in rows)
    assert {row["batch"] for row in rows} == {1}
    assert len({row["probability"] for row in rows}) > 1
    assert rows == drawn(lines, "--by", by, "--model", model)


def test_at_random_all_have_the_same_probability(lines: Path) -> None:
    rows = drawn(lines, "--by", "random")
    assert {row["probability"] for row in rows} == {20 / (N_ROWS - N_LABELED)}
    assert {row["rule"] for row in rows} == {"random"}
    assert "probability" not in drawn(lines)[0]


def test_rows_that_cost_more_are_chosen_less_often(lines: Path) -> None:
    def words_drawn(*prices: object) -> float:
        batches = [
            drawn(lines, "--by", "worth", "--model", "multinomial", "--seed", seed, *prices) for seed in range(6)
        ]
        return float(np.mean([len(row["text"]) for batch in batches for row in batch]))

    # Every other row has words that tell nothing.
    rows = [json.loads(line) for line in lines.read_text().splitlines()]
    for row in rows[::2]:
        row["text"] += " and" * 10
    lines.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert words_drawn("--price-token", 10, "--price-label", 0.01) < 0.9 * words_drawn()


@pytest.mark.parametrize("ending", [".jsonl", ".csv"])
def test_merge_keeps_how_rows_were_drawn_and_the_next_batch_goes_on(lines: Path, tmp_path: Path, ending: str) -> None:
    truth = [json.loads(line)["true"] for line in lines.read_text().splitlines()]
    batch = tmp_path / f"batch{ending}"
    for number in (1, 2):
        # Once it is logged it is always logged, also at random.
        how = ("--by", "worth", "--model", "multinomial") if number == 1 else ()
        assert labelworth("next", lines, "--count", 20, *how, "-o", batch).code == 0
        if ending == ".csv":
            with batch.open(newline="") as stream:
                rows = list(csv.DictReader(stream))
            with batch.open("w", newline="") as stream:
                table = csv.DictWriter(stream, list(rows[0]))
                table.writeheader()
                table.writerows({**row, "label": truth[int(row["row"])]} for row in rows)
        else:
            rows = [json.loads(line) for line in batch.read_text().splitlines()]
            batch.write_text("".join(json.dumps({**row, "label": truth[row["row"]]}) + "\n" for row in rows))
        answer = labelworth("merge", lines, batch, "--in-place")
        assert answer.code == 0, answer.stderr
    merged = [json.loads(line) for line in lines.read_text().splitlines()]
    assert sum(row["label"] is not None for row in merged) == N_LABELED + 40
    logged = [row for row in merged if "probability" in row]
    assert len(logged) == 40
    assert sorted(int(row["batch"]) for row in logged) == [1] * 20 + [2] * 20
    y = Documents.read(DataOptions(lines)).y
    labeled = np.array([label is not None for label in y])
    assert y.judged[labeled].mean() == pytest.approx(1)
    assert np.ptp(y.judged[labeled]) > 0.1
    asked = ("plan", lines, "--budget", 150, "--model", "multinomial", "--use-unlabeled", "yes", "--by", "worth")
    record = labelworth(*asked, "--json").record
    validate(record)
    assert record["asked"]["by"] == record["chosen"]["by"] == "worth"
    assert any("rows chosen by worth" in line for line in record["lines"])
    checks = {check["name"]: check for check in record["checks"]}
    assert checks["chosen rows"]["state"] == "good"
    assert "count" in checks["chosen rows"]["words"]
    assert "random draw" not in checks
    alone = labelworth("plan", lines, "--budget", 150, "--model", "multinomial", "--use-unlabeled", "no", "--json")
    checks = {check["name"]: check for check in alone.record["checks"]}
    assert checks["chosen rows"]["state"] == "bad"
    assert "5 points of error" in checks["chosen rows"]["words"]
    refused = labelworth("fit", lines, "-o", tmp_path / "m.lw", "--model", "multinomial", "--unlabeled-weight", 0)
    assert refused.code != 0
    assert "5 points of error" in " ".join(refused.stderr.split())
    assert labelworth("check", lines, "--model", "multinomial", "--no-specification").code in (0, 1, 3)


def test_columns_of_the_data_keep_their_names() -> None:
    assert log_columns(("text", "label")) == ("probability", "rule", "batch")
    assert log_columns(("text", "probability", "rule", "batch")) == ("probability", "rule", "batch")
    assert log_columns(("text", "probability"))[0] == "labelworth_probability"


def test_a_log_that_holds_no_numbers_is_refused(lines: Path) -> None:
    rows = [json.loads(line) for line in lines.read_text().splitlines()]
    rows[0] |= {"probability": "often", "rule": "worth", "batch": 1}
    lines.write_text("".join(json.dumps(row) + "\n" for row in rows))
    answer = labelworth("plan", lines, "--budget", 100)
    assert answer.code != 0
    assert "hold what is no number" in " ".join(answer.stderr.split())


def test_what_cannot_be_chosen_is_refused(lines: Path, tmp_path: Path) -> None:
    words = {
        ("--model", "linear-svm"): "or choose by uncertainty with this one",
        ("--random-share", "0", "--floor", "0"): "above zero",
        ("--sheet", str(tmp_path / "sheet.csv")): "leave --policy, --sheet and --audit out",
    }
    for options, said in words.items():
        answer = labelworth("next", lines, "--count", 5, "--by", "worth", *options)
        assert answer.code != 0
        assert said in " ".join(answer.stderr.split()), answer.stderr
    tokens = tmp_path / "data.conll"
    tokens.write_text("".join(f"w{place} _\nis _\n\n" for place in range(4)))
    answer = labelworth("next", tokens, "--count", 2, "--by", "uncertainty")
    assert "--by chooses documents" in answer.stderr


@pytest.mark.parametrize("by", ["worth", "uncertainty"])
def test_a_model_is_chosen_among_those_that_have_such_a_score(
    lines: Path, monkeypatch: pytest.MonkeyPatch, by: str
) -> None:
    tried: list[tuple[Candidate, bool]] = []

    def first(own: AutomaticModel, samples: Samples, candidates: list[Candidate], progress: Any) -> None:
        tried.extend((one, bool(one.estimator.pool(samples).learner.worth_modes)) for one in candidates)

    monkeypatch.setattr(AutomaticModel, "compare", first)
    assert drawn(lines, "--by", by)
    assert all(has_worth for _, has_worth in tried) == (by == "worth")
    assert any(candidate.model == "logistic" for candidate, _ in tried)


def test_rows_of_a_plan_are_chosen_by_its_model(lines: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plan = tmp_path / "plan.json"
    asked = ("--budget", N_LABELED + 20, "--model", "multinomial", "--source", "asymptotic", "--by", "worth")
    assert labelworth("plan", lines, *asked, "--use-unlabeled", "yes", "-o", plan).code == 0
    read: list[Any] = []

    def kept(X: Any, y: Any, model: Any, **options: Any) -> Any:
        read.append(model)
        return pool_of(X, y, model, **options)

    monkeypatch.setattr(choosing, "pool_of", kept)
    answer = labelworth("next", lines, "--plan", plan, "--by", "worth")
    assert answer.code == 0, answer.stderr
    assert [type(model) for model in read] == [lw.MultinomialNaiveBayes]
