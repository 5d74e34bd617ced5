"""Whether unlabeled data helps, in words, in a record and in the exit code."""

import json
from pathlib import Path

import numpy as np
import pytest

from labelworth.report.record import validate
from support.command_line import labelworth


def write_clusters(path: Path, *, separation: float = 6.0, n_labeled: int = 40) -> Path:
    """Two Gaussian classes, as the model has them."""
    rng = np.random.default_rng(0)
    classes = rng.integers(2, size=400)
    X = rng.standard_normal((400, 2)) + separation * classes[:, None]
    np.savez(path, X=X, y=np.where(np.arange(400) < n_labeled, classes, -1))
    return path


def write_texts(path: Path, labels: list[str | None]) -> Path:
    rows = [{"text": f"word{place % 3} other", "label": label} for place, label in enumerate(labels)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


GAUSSIAN = ("--model", "gaussian", "--unlabeled", "-1")


def test_the_verdict_comes_with_its_evidence(tmp_path: Path) -> None:
    answer = labelworth("check", write_clusters(tmp_path / "data.npz"), *GAUSSIAN)
    assert answer.code == 0
    assert answer.stdout.startswith("Verdict: ")
    for part in ("40 labeled and 360 unlabeled rows", "error", "log-loss", "Specification test"):
        assert part in answer.stdout


def test_json_is_one_valid_record(tmp_path: Path) -> None:
    data = write_clusters(tmp_path / "data.npz")
    answer = labelworth("check", data, *GAUSSIAN, "--no-specification", "--seed", 5, "--json")
    assert answer.code == 0
    validate(answer.record)
    assert answer.record["command"] == "check"
    assert answer.record["seed"] == 5
    assert answer.record["specification"] is None
    assert answer.record["harm"]["n_tested"] == 40


def test_the_same_seed_gives_the_same_answer(tmp_path: Path) -> None:
    data = write_clusters(tmp_path / "data.npz", separation=1.5)
    first, second = (labelworth("check", data, *GAUSSIAN, "--json").record for _ in range(2))
    for record in (first, second):
        del record["durations"]
    assert first == second


def test_a_class_without_labels_exits_with_one_and_the_words(tmp_path: Path) -> None:
    data = write_texts(tmp_path / "data.jsonl", ["a", "b", None, None])
    answer = labelworth("check", data, "--classes", "a, b, c", "--json")
    assert answer.code == 1
    validate(answer.record)
    assert answer.record["verdict"] == "not identified"
    assert answer.record["support"]["never_labeled"] == ["c"]
    assert "no row is labeled 'c'" in " ".join(answer.record["lines"])


@pytest.mark.parametrize(
    ("labels", "words"),
    [
        (["a", "a", None], "only one class"),
        ([None, None, None], "No row is labeled"),
        (["a", "b"], "no unlabeled rows"),
    ],
)
def test_what_cannot_be_asked_exits_with_one(tmp_path: Path, labels: list[str | None], words: str) -> None:
    answer = labelworth("check", write_texts(tmp_path / "data.jsonl", labels))
    assert answer.code == 1
    assert words in answer.stdout + answer.stderr


def test_too_few_labels_cannot_tell(tmp_path: Path) -> None:
    data = write_texts(tmp_path / "data.jsonl", ["a", "b", None, None])
    answer = labelworth("check", data, "--no-specification", "--json")
    assert answer.record["verdict"] == "cannot be told"
    assert "too few labels" in " ".join(answer.record["notes"])


@pytest.mark.parametrize("kind", ["multinomial", "bernoulli"])
def test_texts_are_checked_too(tmp_path: Path, kind: str) -> None:
    labels = [("a" if place % 3 else "b") if place < 60 else None for place in range(120)]
    data = write_texts(tmp_path / "data.jsonl", labels)
    answer = labelworth("check", data, "--model", kind, "--no-specification", "--json")
    assert answer.code == 0, answer.stderr
    assert answer.record["verdict"] in {"helps", "hurts", "cannot be told"}


def test_classes_are_named_as_the_data_writes_them(tmp_path: Path) -> None:
    data = write_texts(tmp_path / "data.jsonl", [1, 2, None] * 4)
    answer = labelworth("check", data, "--classes", "1, 2, 3", "--json")
    assert answer.code == 1
    assert [row["class"] for row in answer.record["support"]["label_counts"]] == [1, 2, 3]
    answer = labelworth("check", data, "--classes", "1,two")
    assert answer.code == 2
    assert "'two'" in answer.stderr


def test_a_label_outside_the_named_classes_exits_with_two(tmp_path: Path) -> None:
    data = write_texts(tmp_path / "data.jsonl", ["a", "b", None])
    answer = labelworth("check", data, "--classes", "a,c")
    assert answer.code == 2
    assert "'b'" in answer.stderr
