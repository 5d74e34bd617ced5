"""Every option of plan, frontier and next that takes a figure or a name: what is none ends with code 2, in words."""

import json
from pathlib import Path

import numpy as np
import pytest

from support.command_line import labelworth

NO_NUMBERS = ("nan", "inf", "-inf", "many")


@pytest.fixture(scope="module")
def texts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    rng = np.random.default_rng(0)
    path = tmp_path_factory.mktemp("data") / "docs.jsonl"
    words = (("ant", "ape", "asp"), ("bee", "bat", "bug"))
    rows = []
    for place in range(60):
        code = int(rng.integers(2))
        text = " ".join(rng.choice(words[code if rng.random() < 0.8 else 1 - code]) for _ in range(4))
        rows.append({"text": text, "label": "ab"[code] if place < 20 else None})
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@pytest.fixture(scope="module")
def columns(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("data") / "data.conll"
    path.write_text("the B\ncat I\n\na B\ndog I\n\n" * 5 + "the _\ndog _\n\n" * 5)
    return path


@pytest.mark.parametrize("option", ["--budget", "--target", "--alpha"])
@pytest.mark.parametrize("value", [*NO_NUMBERS, "-1"])
def test_questions_that_are_none(texts: Path, option: str, value: str) -> None:
    answer = labelworth("plan", texts, option, value)
    assert answer.code == 2
    assert not answer.stdout
    assert option.strip("-") in answer.stderr


@pytest.mark.parametrize("option", ["--target", "--alpha"])
def test_no_error_is_zero_and_none_is_free(texts: Path, option: str) -> None:
    answer = labelworth("plan", texts, option, 0)
    assert answer.code == 2
    assert "must be positive. Got 0" in answer.stderr


def test_a_log_volume_may_be_negative(texts: Path) -> None:
    answer = labelworth("plan", texts, "--target", -1000, "--criterion", "log_volume", "--use-unlabeled", "no")
    assert answer.code == 1
    assert "nearest" in answer.stderr


@pytest.mark.parametrize("command", [("plan", "--budget", 50), ("frontier",)])
@pytest.mark.parametrize(
    ("options", "words"),
    [
        *((("--pool", value), "pool") for value in (*NO_NUMBERS, "-1")),
        *(
            ((f"--price-{name}", value), f"--price-{name}")
            for name in ("label", "token", "sequence", "unlabeled", "fixed", "hour")
            for value in ("nan", "inf", "-1")
        ),
        (("--price-label", 0), "All prices are zero"),
        (("--price-hour", 0), "--price-hour must be a positive number"),
        (("--price-hour", 20), "--price-hour goes with --seconds-column"),
        (("--seconds-column", "nowhere"), "with --seconds-column"),
        (("--criterion", "luck"), "criterion must be one of"),
        (("--source", "luck"), "--source"),
        (("--use-unlabeled", "perhaps"), "--use-unlabeled"),
        (("--rules", "everything"), "--rules is for sequences"),
        (("--template", "words"), "--template is for sequences"),
        (("--seed", -1), "--seed"),
        (("--smoothing", "nan"), "--smoothing"),
        (("--smoothing", "-1"), "--smoothing"),
        (("--document-length", 0), "document_length"),
        (("--min-documents", 0), "--min-documents"),
        (("--max-words", 0), "--max-words"),
        (("--model", "luck"), "--model"),
        (("--format", "luck"), "There is no format 'luck'"),
        (("--encoding", "luck"), "no text encoding 'luck'"),
        (("--text-column", "body"), "no column 'body'"),
        (("--label-column", "topic"), "no column 'topic'"),
        (("--classes", "a"), "not one of the classes"),
    ],
)  # fmt: skip
def test_options_that_are_none(
    texts: Path, command: tuple[object, ...], options: tuple[object, ...], words: str
) -> None:
    answer = labelworth(command[0], texts, *command[1:], *options)
    assert answer.code == 2
    assert not answer.stdout
    assert words in answer.stderr


@pytest.mark.parametrize(
    ("options", "words"),
    [
        *((("--count", value), "--count") for value in ("0", "-1", "1.5", "nan", "many")),
        (("--count", 2, "--seed", "-1"), "--seed"),
        (("--count", 2, "--policy", "everything"), "--policy is for sequences"),
        (("--count", 2, "--format", "luck"), "There is no format 'luck'"),
        (("--count", 2, "--label-column", "topic"), "no column 'topic'"),
        (("--plan", "nowhere.json"), "Cannot read 'nowhere.json'"),
        (("--count", 2, "-o", "nowhere/batch.csv"), "Make it first"),
    ],
)
def test_batches_that_are_none(texts: Path, options: tuple[object, ...], words: str) -> None:
    answer = labelworth("next", texts, *options)
    assert answer.code == 2
    assert not answer.stdout
    assert words in answer.stderr


@pytest.mark.parametrize(
    ("command", "options", "words"),
    [
        ("plan", ("--budget", 50, "--rules", "luck"), "luck"),
        ("plan", ("--budget", 50, "--rules", "window:-1"), "window"),
        ("plan", ("--budget", 50, "--c2", "nan"), "--c2"),
        ("plan", ("--budget", 50, "--min-count", 0), "--min-count"),
        ("frontier", ("--rules", "luck"), "luck"),
        ("next", ("--count", 2, "--policy", "luck"), "luck"),
        ("next", ("--count", 2, "--policy", "0.7*everything + 0.7*nothing"), "must sum to 1"),
    ],
)
def test_options_of_sequences_that_are_none(
    columns: Path, command: str, options: tuple[object, ...], words: str
) -> None:
    answer = labelworth(command, columns, *options)
    assert answer.code == 2
    assert not answer.stdout
    assert words in answer.stderr
