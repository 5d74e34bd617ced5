"""The Tab key: what shells are told could be typed next."""

import os
import subprocess
import sys

import pytest

from labelworth.cli.completion import export_names, format_names
from labelworth.data.readers import choose as files
from labelworth.formats.choose import FORMATS
from support.command_line import labelworth

HEAVY = ("numpy", "scipy", "numba", "sklearn", "matplotlib", "pandas", "jsonschema", "joblib")


def finished(*words: str) -> list[str]:
    """What bash is told when the last word is to be finished."""
    code = (
        "import sys, atexit\nfrom labelworth.cli.main import run\nsys.argv = ['labelworth']\n"
        f"atexit.register(lambda: print([name for name in {HEAVY} if name in sys.modules], file=sys.stderr))\nrun()"
    )
    asked = {"COMP_WORDS": "\n".join(words), "COMP_CWORD": str(len(words) - 1)}
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, **asked, "_LABELWORTH_COMPLETE": "complete_bash"},
    )
    assert done.stderr == "[]\n", "a key that is pressed waits for something heavy"
    return done.stdout.split()


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["pl"], ["plan"]),
        (["campaign", "as"], ["assign"]),
        (["plan", "--targ"], ["--target"]),
        (["plan", "--model", "hid"], ["hidden-markov"]),
        (["plan", "--covariance", ""], ["shared", "diagonal", "full"]),
        (["fit", "--format", "web"], ["webanno"]),
        (["convert", "a.json", "b.json", "--to", "doccano-"], ["doccano-members"]),
        (["next", "--to", "ar"], ["argilla"]),
        (["completion", "z"], ["zsh"]),
    ],
)
def test_what_begins_so_is_finished(words: list[str], expected: list[str]) -> None:
    assert finished("labelworth", *words) == expected


@pytest.mark.parametrize(
    ("shell", "registers"),
    [
        ("bash", "complete -o default -F _labelworth_completion labelworth"),
        ("zsh", "compdef _labelworth_completion labelworth"),
        ("fish", "complete --command labelworth"),
        ("powershell", "Register-ArgumentCompleter"),
    ],
)
def test_a_shell_gets_its_script(shell: str, registers: str) -> None:
    answer = labelworth("completion", shell)
    assert answer.code == 0
    assert registers in answer.stdout
    assert "_LABELWORTH_COMPLETE" in answer.stdout


def test_names_of_formats_are_those_that_are_taken() -> None:
    assert export_names() == FORMATS
    assert set(format_names()) == {*files._DOCUMENTS, *files._SEQUENCES, *FORMATS}
