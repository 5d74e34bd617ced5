"""Whether a row that was filled in is the row of the data that it names: all columns that both have must agree."""

import json
from collections.abc import Collection, Mapping
from decimal import Decimal, InvalidOperation
from typing import Any

_N_SHOWN = 60


def require_same_columns(
    held: Mapping[str, Any], given: Mapping[str, Any], own: Collection[str], place: str, what: str
) -> None:
    """Refuse a row that differs from the data beside its label: its number alone could be that of another.

    Parameters
    ----------
    held, given : mapping
        Cells of the data and of the batch, by column.
    own : collection of str
        Columns that the batch has of its own: labels, and places in the data.
    place : str
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
        if name in held and name not in own and not _alike(held[name], cell):
            before, after = _around_difference(_plain(held[name]), _plain(cell))
            raise InvalidInputError(
                f"{place}: this is not {what} of the data: the column {name!r} is {before} in the data and {after} "
                "in the batch. Nothing was merged. Have the data changed since the batch was drawn? Then draw it "
                "again, or correct the batch."
            )


def _alike(held: Any, given: Any) -> bool:
    """The same as text, or the same number: spreadsheets write 1.50 as 1.5 and true as TRUE."""
    one, other = _plain(held), _plain(given)
    if one == other or ({one.lower(), other.lower()} in ({"true"}, {"false"})):
        return True
    try:
        return Decimal(one) == Decimal(other)
    except InvalidOperation:
        return False


def _plain(cell: Any) -> str:
    """Spreadsheets change line ends and outer blanks, nothing is an empty cell, and lists may have become JSON."""
    if cell is None:
        return ""
    plain = cell if isinstance(cell, str) else json.dumps(cell, ensure_ascii=False)
    return plain.replace("\r\n", "\n").replace("\r", "\n").strip()


def _around_difference(one: str, other: str) -> tuple[str, str]:
    """Both, where they are long from shortly before the first character that differs."""
    first = next((at for at, pair in enumerate(zip(one, other, strict=False)) if pair[0] != pair[1]), None)
    start = max((min(len(one), len(other)) if first is None else first) - _N_SHOWN // 3, 0)
    start = start if max(len(one), len(other)) > _N_SHOWN else 0

    def shown(text: str) -> str:
        end = "..." if len(text) > start + _N_SHOWN else ""
        return repr(("..." if start else "") + text[start : start + _N_SHOWN] + end)

    return shown(one), shown(other)
