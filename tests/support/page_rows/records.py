"""Records as pages write them."""

import csv
import json
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[3]


def record(name: str) -> Any:
    """A whole record of results/."""
    return json.loads((ROOT / "results" / f"{name}.json").read_text(encoding="utf-8"))


def figures(name: str) -> Any:
    """The figures of a record."""
    return record(name)["figures"]


def table(name: str) -> list[dict[str, str]]:
    """The rows of a table beside a record."""
    with (ROOT / "results" / f"{name}.csv").open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def share(value: float, digits: int = 3) -> str:
    """A share as pages write it: .683, and 1.000."""
    return f"{value:.{digits}f}".replace("0.", ".", 1) if abs(value) < 1 else f"{value:.{digits}f}"


def spaced(value: float) -> str:
    """A large number in groups of three digits: 8 936."""
    return f"{value:,.0f}".replace(",", " ")
