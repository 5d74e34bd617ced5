"""The floors of ARCHITECTURE.md hold, and the contract that keeps them bites."""

import ast
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "labelworth"
STUDIES = ROOT / "studies" / "labelworth_studies"
DOOR = PACKAGE / "cli" / "laboratory.py"
LAYERS = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"][0]["layers"]
FLOOR_OF = {room.strip(): level for level, rooms in enumerate(LAYERS) for room in rooms.split("|")}
ONLY_IN = {"numba": "kernels", "llvmlite": "kernels", "matplotlib": "report", "typer": "cli", "jax": "models"}


def imported_names(source: str) -> Iterator[str]:
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "relative imports hide the floor"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def violation(room: str, imported: str) -> str | None:
    top, _, rest = imported.partition(".")
    if top in ONLY_IN and room != ONLY_IN[top]:
        return f"{room} imports {top}, which belongs to {ONLY_IN[top]}"
    other = rest.partition(".")[0]
    if top == "labelworth_studies":
        return f"{room} imports {imported}: the product knows nothing of the laboratory"
    if top == "labelworth" and room != other and other in FLOOR_OF and FLOOR_OF[other] <= FLOOR_OF[room]:
        return f"{room} imports {imported}: {other} is not on a floor below {room}"
    return None


def rooms() -> Iterator[tuple[str, Path]]:
    for path in sorted(PACKAGE.rglob("*.py")):
        room = path.relative_to(PACKAGE).parts[0].removesuffix(".py")
        if room != "__init__":
            yield room, path


def test_every_room_has_a_floor() -> None:
    assert {room for room, _ in rooms()} == set(FLOOR_OF)


def test_every_import_goes_down() -> None:
    found = [
        f"{path.relative_to(ROOT)}: {problem}"
        for room, path in rooms()
        for imported in imported_names(path.read_text())
        if path != DOOR and (problem := violation(room, imported))
    ]
    assert found == []


@pytest.mark.parametrize(
    ("room", "imported"),
    [
        ("kernels", "labelworth.fisher.information"),
        ("estimation", "labelworth.fisher.information"),
        ("models", "labelworth.estimation.fit"),
        ("models", "numba.njit"),
        ("cli", "matplotlib.pyplot"),
        ("planning", "labelworth_studies.corpora.folder"),
    ],
)
def test_the_rule_bites(room: str, imported: str) -> None:
    assert violation(room, imported) is not None


def lint_imports(package: Path) -> subprocess.CompletedProcess[str]:
    config = ROOT / "pyproject.toml"
    command = [Path(sys.executable).with_name("lint-imports"), "--config", config, "--no-cache"]
    return subprocess.run(
        command,
        capture_output=True,
        text=True,
        check=False,
        env={"PYTHONPATH": str(package), "PATH": "/usr/bin:/bin"},
    )


def test_the_import_contract_passes_and_fails_on_a_planted_violation(tmp_path: Path) -> None:
    import shutil

    for package in (PACKAGE, STUDIES):
        shutil.copytree(package, tmp_path / package.name, ignore=shutil.ignore_patterns("__pycache__"))
    clean = lint_imports(tmp_path)
    assert clean.returncode == 0, clean.stdout
    for room, imported in (("kernels", "labelworth.fisher"), ("planning", "labelworth_studies.runner")):
        planted = tmp_path / "labelworth" / room / "planted.py"
        planted.write_text(f"import {imported}\n\n__all__ = ['{imported.split('.')[0]}']\n")
        broken = lint_imports(tmp_path)
        assert broken.returncode != 0
        assert f"{room}.planted" in broken.stdout
        planted.unlink()
