"""What a measurement found, kept in results/: figures by case, each with the command and the machine that made it."""

import fcntl
import json
import os
import platform
import shlex
import sqlite3
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import metadata
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
STUDIO = ("sqlalchemy", "starlette", "uvicorn")
"""Packages of which the figures of a studio depend."""


def keep(
    name: str,
    case: str,
    figures: Mapping[str, Any],
    *,
    command: str | None = None,
    packages: Sequence[str] = STUDIO,
    **more: str,
) -> None:
    """Write a case into results/NAME.json, beside the other cases that are there.

    `command` is what was typed unless given; `packages` are those that the figures depend on, `more` other versions.
    """
    path = ROOT / "results" / f"{name}.json"
    with _alone(path.parent):  # Those who share a record may run at once.
        cases = json.loads(path.read_text(encoding="utf-8"))["figures"] if path.exists() else {}
        versions = _versions(packages) | more
        cases[case] = {"command": command or _typed(), "cores": os.cpu_count(), "versions": versions, **figures}
        record = {"schema_version": "1.0", "figures": dict(sorted(cases.items()))}
        whole = path.with_suffix(".new")
        whole.write_text(json.dumps(record, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        whole.replace(path)


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    held = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(held, fcntl.LOCK_EX)
        yield
    finally:
        os.close(held)


def _typed() -> str:
    script = Path(sys.argv[0]).resolve()
    return shlex.join(["python", str(script.relative_to(ROOT)), *sys.argv[1:]])


def _versions(packages: Sequence[str]) -> dict[str, str]:
    own = {"python": platform.python_version(), "sqlite": sqlite3.sqlite_version}
    return own | {package: metadata.version(package) for package in ("labelworth", *packages)}
