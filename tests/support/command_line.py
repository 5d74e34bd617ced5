"""Runs the command line inside this process and hands back what a shell would see."""

import json
import sys
from dataclasses import dataclass
from typing import Any

from typer.main import get_command
from typer.testing import CliRunner

from labelworth.cli.main import app

_COMMAND = get_command(app)  # Made once: typer makes all commands anew for every call, which takes longer than most.


@dataclass(frozen=True)
class Answer:
    """Exit code and the two streams."""

    code: int
    stdout: str
    stderr: str

    @property
    def record(self) -> dict[str, Any]:
        """Stdout as the one JSON document it must be."""
        document: dict[str, Any] = json.loads(self.stdout, parse_constant=_not_json)
        return document


def labelworth(*arguments: object) -> Answer:
    """Run ``labelworth ARGUMENTS``; an exception that is not an exit is raised as it is."""
    runner = CliRunner()
    code: object = 0
    with runner.isolation() as (stdout, stderr, _):
        try:
            _COMMAND.main([str(argument) for argument in arguments], runner.get_default_prog_name(_COMMAND))
        except SystemExit as end:
            code = end.code or 0
        sys.stdout.flush()
        sys.stderr.flush()
        texts = [stream.getvalue().decode("utf-8", "replace").replace("\r\n", "\n") for stream in (stdout, stderr)]
    return Answer(code if isinstance(code, int) else 1, *texts)


def _not_json(constant: str) -> None:
    raise ValueError(f"{constant} is not JSON")
