"""Where the finished cells of a study lie: one JSON file each, so that interrupted work is never lost."""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from labelworth.data.files import atomic_write, make_folder, require_writable
from labelworth.errors import InvalidInputError

Cell = Mapping[str, Any]
"""What one cell is asked, as JSON values; it names its own seed."""

Result = dict[str, Any]
"""What a cell answers, as JSON values."""


def canonical(value: Any) -> str:
    """The one JSON text of a value: sorted names, no spaces, doubles to the last bit."""
    try:
        return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)
    except (TypeError, ValueError) as error:
        raise InvalidInputError(
            f"A cell must hold finite JSON values ({error}); use .tolist() for arrays, None for a missing value."
        ) from error


class CorruptCellError(InvalidInputError):
    """A cell's file is not what was written."""


class CellStore:
    """Cells of one study under one folder, keyed by what was asked.

    Parameters
    ----------
    folder : path
        Made when the first cell is saved.
    context : mapping
        What every cell of the study depends on beside its own specification (versions, the data's digest).
    """

    def __init__(self, folder: Path, context: Mapping[str, Any]) -> None:
        self.folder = folder
        self._context = context

    def key(self, cell: Cell) -> str:
        """The digest of everything the cell's answer depends on."""
        return hashlib.sha256(canonical([self._context, cell]).encode()).hexdigest()[:32]

    def path(self, cell: Cell) -> Path:
        """Where the cell lies, or would."""
        return self.folder / f"{self.key(cell)}.json"

    def load(self, cell: Cell) -> Result | None:
        """The cell's answer; None where it was never computed.

        Raises
        ------
        CorruptCellError
            If the file is there but damaged.
        """
        path = self.path(cell)
        try:
            content = json.loads(path.read_bytes())
            result: Result = content["result"]
            intact = content["digest"] == _digest(cell, result)
        except FileNotFoundError:
            return None
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise CorruptCellError(f"The cell {path} cannot be read ({type(error).__name__}).") from error
        if not intact:
            raise CorruptCellError(f"The cell {path} was changed after it was written.")
        return result

    def require_writable(self) -> None:
        """Refuse a folder in which nothing can be kept, before anything is computed."""
        require_writable(make_folder(self.folder) / "cell.json")

    def save(self, cell: Cell, result: Result) -> None:
        """Keep the cell's answer, whole or not at all."""
        content = {"cell": cell, "context": self._context, "result": result, "digest": _digest(cell, result)}
        make_folder(self.folder)
        atomic_write(self.path(cell), canonical(content) + "\n")


def _digest(cell: Cell, result: Result) -> str:
    return hashlib.sha256(canonical([cell, result]).encode()).hexdigest()
