"""Runs the command line inside this process and hands back what a shell would see."""

import json
from dataclasses import dataclass
from typing import Any

from typer.testing import CliRunner

from labelworth.cli.main import app


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
    result = CliRunner().invoke(app, [str(argument) for argument in arguments], catch_exceptions=False)
    return Answer(result.exit_code, result.stdout, result.stderr)


def _not_json(constant: str) -> None:
    raise ValueError(f"{constant} is not JSON")
