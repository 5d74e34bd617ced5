"""What a measurement found, kept in results/: figures by case, each with the command and the machine that made it."""

import fcntl
import json
import os
import platform
import shlex
import sqlite3
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import metadata
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
_PACKAGES = ("labelworth", "sqlalchemy", "starlette", "uvicorn")


def keep(name: str, case: str, figures: dict[str, Any], **more: str) -> None:
    """Write a case into results/NAME.json, beside the other cases that are there; `more` names versions."""
    path = ROOT / "results" / f"{name}.json"
    with _alone(path.parent):  # Those who share a record may run at once.
        cases = json.loads(path.read_text(encoding="utf-8"))["figures"] if path.exists() else {}
        cases[case] = {"command": _command(), "cores": os.cpu_count(), "versions": _versions() | more, **figures}
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


def _command() -> str:
    script = Path(sys.argv[0]).resolve()
    shown = str(script.relative_to(ROOT)) if script.is_relative_to(ROOT / "tests") else script.name
    return shlex.join(["python", shown, *sys.argv[1:]])


def _versions() -> dict[str, str]:
    own = {"python": platform.python_version(), "sqlite": sqlite3.sqlite_version}
    return own | {package: metadata.version(package) for package in _PACKAGES}
