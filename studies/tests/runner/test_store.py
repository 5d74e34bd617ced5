import json
from pathlib import Path

import pytest

from labelworth.errors import InvalidInputError, OutputError
from labelworth_studies.runner.store import CellStore, CorruptCellError

CELL = {"n": 100, "fraction": 0.1, "seed": 0}


def test_a_saved_cell_is_found_again_to_the_last_bit(tmp_path: Path) -> None:
    store = CellStore(tmp_path / "cells", {"version": 1})
    assert store.load(CELL) is None
    store.save(CELL, {"error": 0.1 + 0.2})
    assert store.load(dict(reversed(CELL.items()))) == {"error": 0.1 + 0.2}


@pytest.mark.parametrize("change", [{"n": 101}, {"seed": 1}, {"more": None}])
def test_another_question_is_another_cell(tmp_path: Path, change: dict[str, object]) -> None:
    store = CellStore(tmp_path, {"version": 1})
    store.save(CELL, {"error": 1.0})
    assert store.load({**CELL, **change}) is None


def test_another_context_is_another_cell(tmp_path: Path) -> None:
    CellStore(tmp_path, {"version": 1}).save(CELL, {"error": 1.0})
    assert CellStore(tmp_path, {"version": 2}).load(CELL) is None


@pytest.mark.parametrize("damage", [b"", b"{", b"\xff", b"[]", b"{}", None])
def test_a_damaged_cell_is_told(tmp_path: Path, damage: bytes | None) -> None:
    store = CellStore(tmp_path, {})
    store.save(CELL, {"error": 1.0})
    if damage is None:
        content = json.loads(store.path(CELL).read_text())
        content["result"]["error"] = 2.0
        damage = json.dumps(content).encode()
    store.path(CELL).write_bytes(damage)
    with pytest.raises(CorruptCellError, match="The cell"):
        store.load(CELL)


@pytest.mark.parametrize("result", [{"x": float("nan")}, {"x": {1, 2}}])
def test_what_json_cannot_hold_is_refused(tmp_path: Path, result: dict[str, object]) -> None:
    with pytest.raises(InvalidInputError, match="finite JSON values"):
        CellStore(tmp_path, {}).save(CELL, result)


def test_a_place_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match="Cannot make the folder"):
        CellStore(tmp_path / "file" / "cells", {}).save(CELL, {})
