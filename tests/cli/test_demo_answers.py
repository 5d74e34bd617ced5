"""The demonstration of kinds of labels runs, and what it says is what it found."""

from pathlib import Path

import pytest

from labelworth.report.record import validate
from support.command_line import labelworth
from support.demonstrations import Told, told_twice


@pytest.fixture(scope="module")
def demonstration(tmp_path_factory: pytest.TempPathFactory) -> Told:
    return told_twice("kinds", "--answers", "--quick", picture=tmp_path_factory.mktemp("demo") / "answers.png")


def test_it_answers_with_one_valid_record_and_a_picture(demonstration: Told) -> None:
    answer, picture = demonstration.as_record, demonstration.picture
    assert answer.code == 0, answer.stderr
    validate(answer.record)
    assert picture.read_bytes().startswith(b"\x89PNG")
    names = [design["name"] for design in answer.record["designs"]]
    assert names[0] == "the plan"
    assert {"gold", "crowd", "model"} <= set(names)


def test_no_way_costs_more_than_there_is(demonstration: Told) -> None:
    for design in demonstration.as_record.record["designs"]:
        assert design["cost"] <= 60.0 * (1 + 1e-9)


def test_the_plan_is_better_than_gold_and_near_the_best_that_was_tried(demonstration: Told) -> None:
    designs = {design["name"]: design for design in demonstration.as_record.record["designs"]}
    plan, gold = designs["the plan"], designs["gold"]
    best = min(design["realized_error"] for design in designs.values())
    noise = (plan["realized_error_se"] ** 2 + gold["realized_error_se"] ** 2) ** 0.5
    # Six trials: the lead over gold is many standard errors, and what is best is told to a point or so.
    assert gold["realized_error"] - plan["realized_error"] > 3 * noise
    assert plan["realized_error"] <= best + 0.015


def test_stories_are_told_one_at_a_time(tmp_path: Path) -> None:
    answer = labelworth("demo", "--answers", "--sequences", "--output", tmp_path / "demo.png")
    assert answer.code == 2
    assert "one story at a time" in answer.stderr


def test_the_story_comes_first_and_fits_on_a_screen(demonstration: Told) -> None:
    answer = demonstration.in_words
    assert answer.stdout.startswith("The question. ")
    lines = answer.stdout.splitlines()
    assert len(lines) <= 40
    assert max(map(len, lines)) <= 80
    assert lines.index(next(line for line in lines if line.startswith("What happened."))) < 20
