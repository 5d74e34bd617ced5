"""The doors to the studies: they pass on what is typed, and say how to get the studies where they are absent."""

import sys

import pytest

from support.command_line import labelworth


@pytest.mark.parametrize("command", ["reproduce", "bench", "data"])
def test_without_the_studies_a_sentence_says_how_to_get_them(command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == "labelworth_studies"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "labelworth_studies", None)
    answer = labelworth(command, "--quick")
    assert answer.code == 2
    assert f"`labelworth {command}` needs the studies" in answer.stderr
    assert "pip install ./studies" in answer.stderr


def test_help_and_options_are_those_of_the_command_behind_the_door() -> None:
    answer = labelworth("reproduce", "--help")
    assert answer.code == 0
    assert "labelworth reproduce [OPTIONS]" in answer.stdout
    assert "--workers" in answer.stdout
    assert labelworth("reproduce", "--no-such-option").code == 2
    assert "labelworth data get [OPTIONS]" in labelworth("data", "get", "--help").stdout
