"""The demonstration on sequences runs, and what it says is what it found."""

import pytest

from labelworth.demo.policies import POLICIES
from labelworth.report.record import validate
from support.demonstrations import Told, told_twice


@pytest.fixture(scope="module")
def demonstration(tmp_path_factory: pytest.TempPathFactory) -> Told:
    return told_twice("policies", "--sequences", "--quick", picture=tmp_path_factory.mktemp("demo") / "sequences.png")


def test_it_answers_with_one_valid_record_and_a_picture(demonstration: Told) -> None:
    answer, picture = demonstration.as_record, demonstration.picture
    assert answer.code == 0, answer.stderr
    validate(answer.record)
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert [policy["name"] for policy in answer.record["policies"]] == list(POLICIES)


def test_every_policy_costs_the_same(demonstration: Told) -> None:
    for policy in demonstration.as_record.record["policies"]:
        assert policy["expected_labels_per_sample"] == pytest.approx(1.0)


def test_predictions_are_realized_within_chance(demonstration: Told) -> None:
    # Five standard errors of both, and a fifth for what is beyond the leading order; the weakest is far beyond.
    for policy in demonstration.as_record.record["policies"][:-1]:
        for predicted, realized in (
            ("predicted_excess_log_loss", "realized_excess_log_loss"),
            ("predicted_total_variance", "realized_squared_error"),
        ):
            gap = abs(policy[predicted] - policy[realized])
            noise = (policy[f"{predicted}_se"] ** 2 + policy[f"{realized}_se"] ** 2) ** 0.5
            assert gap < 5 * noise + 0.2 * policy[predicted], policy


def test_the_worst_policy_is_foreseen_and_warned_of(demonstration: Told) -> None:
    policies = {policy["name"]: policy for policy in demonstration.as_record.record["policies"]}
    first, whole = policies["first only"], policies["a few whole"]
    assert first["predicted_excess_log_loss"] > 2 * whole["predicted_excess_log_loss"]
    assert first["realized_excess_log_loss"] > 2 * whole["realized_excess_log_loss"]
    assert first["smallest_relative_information"] < 0.01 < whole["smallest_relative_information"]


def test_the_story_comes_first_and_fits_on_a_screen(demonstration: Told) -> None:
    answer = demonstration.in_words
    assert answer.stdout.startswith("The question. ")
    lines = answer.stdout.splitlines()
    assert len(lines) <= 40
    assert not any("──" in line for line in lines[:10])
