"""The demonstration runs, and what it says is what it found."""

import re
from pathlib import Path

import pytest

from labelworth.report.record import validate
from support.command_line import labelworth
from support.demonstrations import Told, told_twice


@pytest.fixture(scope="module")
def demonstration(tmp_path_factory: pytest.TempPathFactory) -> Told:
    return told_twice("digits", "--quick", picture=tmp_path_factory.mktemp("demo") / "demo.png")


def test_it_answers_with_one_valid_record_and_a_picture(demonstration: Told) -> None:
    answer, picture = demonstration.as_record, demonstration.picture
    assert answer.code == 0, answer.stderr
    validate(answer.record)
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert f"Wrote {picture}" in answer.stderr


def test_errors_are_forecast_within_chance(demonstration: Told) -> None:
    sizes = demonstration.as_record.record["sizes"]
    assert len([size for size in sizes if size["unlabeled_weight"] == 0]) == 3
    for size in sizes:
        assert size["predicted_error_low"] < size["predicted_error"] < size["predicted_error_high"]
        gap = abs(size["predicted_error"] - size["realized_error"])
        # Five standard errors of both.
        assert gap < 5 * (size["predicted_error_se"] ** 2 + size["realized_error_se"] ** 2) ** 0.5


def test_most_errors_lie_in_their_intervals(demonstration: Told) -> None:
    """Meant for nine in ten: two in three leave room for one unlucky pilot, by which all of them are forecast."""
    sizes = demonstration.as_record.record["sizes"]
    inside = [size["predicted_error_low"] <= size["realized_error"] <= size["predicted_error_high"] for size in sizes]
    assert 3 * sum(inside) >= 2 * len(inside)


def test_believing_the_model_misses_what_unlabeled_images_do(demonstration: Told) -> None:
    sizes = [size for size in demonstration.as_record.record["sizes"] if size["unlabeled_weight"] == 1]
    gaps, believing = [
        sum(abs(size[name] - size["realized_error"]) for size in sizes)
        for name in ("predicted_error", "predicted_error_believing_the_model")
    ]
    assert gaps < believing


def test_the_pilot_foresees_the_harm_that_follows(demonstration: Told) -> None:
    record = demonstration.as_record.record
    at_pilot = {size["unlabeled_weight"]: size for size in record["sizes"] if size["n_labels"] == record["n_pilot"]}
    assert record["check"]["verdict"] == "hurts"
    assert at_pilot[1.0]["realized_error"] > at_pilot[0.0]["realized_error"] + 0.02
    assert at_pilot[1.0]["predicted_error"] > at_pilot[0.0]["predicted_error"] + 0.02
    # Negative control: believing the model promises the opposite.
    assert at_pilot[1.0]["predicted_error_believing_the_model"] < at_pilot[0.0]["predicted_error_believing_the_model"]


def test_a_picture_of_another_kind_is_refused(tmp_path: Path) -> None:
    answer = labelworth("demo", "--quick", "--output", tmp_path / "demo.bmp")
    assert answer.code == 2
    assert ".png or .svg" in answer.stderr


def test_the_story_comes_first_and_fits_on_a_screen(demonstration: Told) -> None:
    answer = demonstration.in_words
    assert answer.stdout.startswith("The question. ")
    lines = answer.stdout.splitlines()
    assert len(lines) <= 40
    assert not any("──" in line for line in lines[:10])
    # Errors are percent, and the head of the table is one line.
    assert not re.search(r"\b0\.\d{3}\b", answer.stdout)
    assert re.search(r"the error on new images was\s+\d+\.\d % with", answer.stdout)
    assert any(re.fullmatch(r" *labels +count +predicted +90 % +realized *", line) for line in lines)
