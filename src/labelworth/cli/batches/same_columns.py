"""Whether a row that was filled in is the row of the data that it names: all columns that both have must agree."""

import json
from collections.abc import Mapping
from decimal import Decimal, InvalidOperation
from typing import Any

_N_SHOWN = 60


def require_same_columns(held: Mapping[str, Any], given: Mapping[str, Any], position: str, what: str) -> None:
    """Refuse a row that differs from the data beside its label: its number alone could be that of another.

    Parameters
    ----------
    held, given : mapping
        Cells of the data and of the batch, by column.
    position : str
        Where the row stands in the batch.
    what : str
        Which row of the data it names.

    Raises
    ------
    InvalidInputError
        With the first column that differs, and both values.
    """
    from labelworth.errors import InvalidInputError

    for name, cell in given.items():
        if name in held and not _alike(held[name], cell):
            before, after = _around_difference(_plain(held[name]), _plain(cell))
            raise InvalidInputError(
                f"{position}: this is not {what} of the data: the column {name!r} is {before} in the data and "
                f"{after} in the batch. Nothing was merged. Have the data changed since the batch was drawn? Then "
                "draw it again, or correct the batch."
            )


def _alike(held: Any, given: Any) -> bool:
    """The same as text, or the same number: spreadsheets write 1.50 as 1.5 and true as TRUE."""
    before, after = _plain(held), _plain(given)
    if before == after or ({before.lower(), after.lower()} in ({"true"}, {"false"})):
        return True
    try:
        return Decimal(before) == Decimal(after)
    except InvalidOperation:
        return False


def _plain(cell: Any) -> str:
    """Spreadsheets change line ends and outer blanks, nothing is an empty cell, and lists may have become JSON."""
    if cell is None:
        return ""
    plain = cell if isinstance(cell, str) else json.dumps(cell, ensure_ascii=False)
    return plain.replace("\r\n", "\n").replace("\r", "\n").strip()


def _around_difference(before: str, after: str) -> tuple[str, str]:
    """Both, where they are long from shortly before the first character that differs."""
    pairs = enumerate(zip(before, after, strict=False))
    first = next((index for index, pair in pairs if pair[0] != pair[1]), min(len(before), len(after)))
    start = max(first - _N_SHOWN // 3, 0) if max(len(before), len(after)) > _N_SHOWN else 0

    def shown(text: str) -> str:
        end = "..." if len(text) > start + _N_SHOWN else ""
        return repr(("..." if start else "") + text[start : start + _N_SHOWN] + end)

    return shown(before), shown(after)
