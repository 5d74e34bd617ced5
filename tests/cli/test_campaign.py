"""A campaign by commands, from its beginning to its end."""

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import labelworth as lw
from labelworth.cli.main import app
from support.command_line import labelworth


def say(*arguments: object, words: str) -> str:
    """Run a command with something to read; what it shows."""
    return _run(*arguments, words=words).stdout


def answered(campaign: Path, words: str) -> str:
    """What somebody who answers is told."""
    return _run("campaign", "answer", campaign, "ann", words=words).stderr


def _run(*arguments: object, words: str) -> Any:
    result = CliRunner().invoke(app, [str(one) for one in arguments], input=words, catch_exceptions=False)
    assert result.exit_code == 0, result.stderr
    return result


@pytest.fixture
def campaign(tmp_path):
    path = tmp_path / "mails.db"
    assert labelworth("campaign", "new", path, "--classes", "ham, spam", "--currency", "EUR").code == 0
    table = tmp_path / "mails.csv"
    table.write_text("id,text,label\na,lunch at nine,ham\nb,win money,\nc,free prize,\nd,see you,\n")
    assert "4 items added, with 1 label" in labelworth("campaign", "add", path, table).stdout
    return path


def test_people_answer_and_the_status_follows(campaign, tmp_path):
    invited = labelworth("campaign", "people", campaign, "--invite", "ann", "--price", "0.5", "--json").record
    assert len(invited["token"]) > 40
    assert invited["people"][0]["name"] == "ann"
    assert (
        "3 labels asked for, of 3 items, about EUR 1.5"
        in labelworth("campaign", "assign", campaign, "--count", "3").stdout
    )
    shown = say("campaign", "answer", campaign, "ann", words="spam\neggs\nham\nundo\nspam\n?\n")
    assert "3 answers kept; 0 are due" in shown
    status = labelworth("campaign", "status", campaign, "--json").record
    assert (status["given"], status["wanted"], status["spent"]) == (3, 3, 1.5)
    words = labelworth("campaign", "status", campaign).stdout
    assert words.startswith("3 of 3 answers are given; EUR 1.5")
    output = tmp_path / "labeled.jsonl"
    assert "4 rows" in labelworth("campaign", "export", campaign, "-o", output).stdout
    rows = [json.loads(line) for line in output.read_text().splitlines()]
    assert [row["id"] for row in rows] == ["a", "b", "c", "d"]
    assert sorted(row["label"] or "" for row in rows) == ["", "ham", "spam", "spam"]
    answers = tmp_path / "answers.csv"
    labelworth("campaign", "export", campaign, "-o", answers, "--what", "answers")
    assert "cannot say" in answers.read_text()
    requests = tmp_path / "requests.csv"
    labelworth("campaign", "export", campaign, "-o", requests, "--what", "requests")
    assert "3 drawn by random" in requests.read_text()


def test_what_is_taken_back_is_asked_again_at_once(campaign):
    labelworth("campaign", "people", campaign, "--invite", "ann")
    labelworth("campaign", "assign", campaign, "--count", "3")
    shown = say("campaign", "answer", campaign, "ann", words="spam\nundo\nham\nquit\n")
    assert "1 answer kept" in shown
    with lw.Campaign.open(str(campaign)) as own:
        said = [(given.request_id, given.said, given.stands) for given in own.answers(own.person("ann"))]
    assert {request for request, _, _ in said} == {said[0][0]}
    assert [what for _, what, stands in said if stands] == [("ham",)]


def test_what_a_tool_cannot_hold_is_told_when_it_is_left_out(campaign, tmp_path):
    labelworth("campaign", "people", campaign, "--invite", "ann")
    labelworth("campaign", "assign", campaign, "--count", "1", "--question", "spam")
    assert "yes, no, or ?" in answered(campaign, "maybe\nno\n")
    exported = labelworth(
        "campaign", "export", campaign, "-o", tmp_path / "x.json", "--to", "label-studio", "--accept-losses"
    )
    assert "Lost: answers 'not this' are left out" in exported.stderr


def test_an_export_for_a_tool_comes_back(campaign, tmp_path):
    output = tmp_path / "tasks.json"
    told = labelworth("campaign", "export", campaign, "-o", output, "--to", "label-studio", "--accept-losses")
    assert told.code == 0, told.stderr
    again = tmp_path / "again.db"
    labelworth("campaign", "new", again, "--classes", "ham,spam")
    assert "4 items added, with 1 label" in labelworth("campaign", "add", again, output).stdout


def test_what_went_wrong_is_told_in_a_line(campaign, tmp_path):
    for words, told in (
        (["new", campaign, "--classes", "a,b"], "already"),
        (["status", tmp_path / "none.db"], "There is no campaign"),
        (["assign", campaign, "--count", 9], "Only 3"),
        (["assign", campaign], "once"),
        (["people", campaign, "--withdraw", "eve"], "nobody called"),
        (["plan", campaign, "--budget", 3, "--realise", 1], "leave the question out"),
        (["export", campaign, "-o", tmp_path / "x.docx"], ".jsonl"),
    ):
        answer = labelworth("campaign", *words)
        assert answer.code in (1, 2)
        assert told in answer.stderr, answer.stderr
        assert len(answer.stderr.splitlines()) < 4


def test_a_plan_is_made_and_kept(campaign, tmp_path):
    more = tmp_path / "more.csv"
    rows = [
        f"{number},{'win free money' if number % 2 else 'lunch at home'} {'x' * (number % 5 + 1)},"
        f"{('ham', 'spam')[number % 2] if number < 30 else ''}"
        for number in range(80)
    ]
    more.write_text("id,text,label\n" + "\n".join(rows) + "\n")
    labelworth("campaign", "add", campaign, more)
    options = ["--model", "multinomial", "--source", "asymptotic", "--criterion", "excess_error"]
    made = labelworth("campaign", "plan", campaign, "--budget", 60, *options, "--json").record
    assert made["state"] == "done"
    assert made["record"]["held"]["n_labels"] == 31
    assert labelworth("campaign", "status", campaign, "--json").record["plans"][0]["id"] == made["id"]
