from labelworth.report.record import validate
from support.command_line import labelworth


def test_a_race_answers_with_one_valid_record() -> None:
    answer = labelworth("bench", "fractions", "--quick", "--repeats", 1, "--json")
    assert answer.code == 0, answer.stderr
    validate(answer.record)
    [result] = answer.record["races"]
    assert result["name"] == "fractions"
    assert result["difference"] <= result["tolerance"]
    assert answer.record["waits"] == []


def test_people_see_the_ratio() -> None:
    answer = labelworth("bench", "fractions", "--quick", "--repeats", 1)
    assert "times" in answer.stdout
    assert "numpy.linalg.inv" in answer.stdout


def test_an_unknown_race_exits_with_two() -> None:
    answer = labelworth("bench", "sack")
    assert answer.code == 2
    assert "em-newsgroups" in answer.stderr


def test_a_limit_can_be_named_like_a_race() -> None:
    answer = labelworth("bench", "lanczos-memory", "--quick", "--json")
    assert answer.code == 0, answer.stderr
    validate(answer.record)
    [limit] = answer.record["limits"]
    assert limit["limit"] == 4
    assert answer.record["races"] == []
