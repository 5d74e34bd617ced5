"""What somebody said: checked against what was asked, and as JSON."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from labelworth.campaign.values import Request, Unit
from labelworth.errors import InvalidInputError


def read_said(said: Any, request: Request, classes: Sequence[str]) -> tuple[Unit, ...]:
    """An entry per token asked, of a document one.

    Parameters
    ----------
    said : Unit, mapping or sequence
        Of a document what is said of it. Of a sequence an entry per token asked, in their order, or by position; None
        stands for "cannot say" of all of them.

    Raises
    ------
    InvalidInputError
        If that does not answer what was asked.
    """
    if request.positions is None:
        return (_unit(said, request, classes),)
    if said is None:
        return (None,) * request.n_units
    if isinstance(said, Mapping):
        by_position = {str(position): unit for position, unit in said.items()}
        asked = [str(position) for position in request.positions]
        if set(by_position) != set(asked):
            raise InvalidInputError(
                f"Tokens {', '.join(asked)} are asked about, counted from 0. Got {', '.join(by_position) or 'none'}; "
                "say something of each, None for 'cannot say'."
            )
        said = [by_position[position] for position in asked]
    if isinstance(said, str) or not isinstance(said, Sequence) or len(said) != request.n_units:
        raise InvalidInputError(
            f"{request.n_units} tokens are asked about: say something of each, None for 'cannot say'. "
            f"Got {said!r:.80}."
        )
    return tuple(_unit(unit, request, classes) for unit in said)


def _unit(unit: Any, request: Request, classes: Sequence[str]) -> Unit:
    if unit is None:
        return None
    if request.question:
        if not isinstance(unit, bool):
            raise InvalidInputError(f"{request.words} The answer is True, False or None. Got {unit!r:.60}.")
        return unit
    named = (unit,) if isinstance(unit, str) else tuple(unit) if isinstance(unit, list | tuple | set) else None
    unknown = None if named is None else next((name for name in named if name not in classes), None)
    if not named or unknown is not None:
        raise InvalidInputError(
            f"There is no class {(unit if unknown is None else unknown)!r:.60} in this campaign. Its classes are "
            f"{', '.join(map(repr, classes))}."
        )
    distinct = tuple(name for name in classes if name in named)
    return distinct[0] if len(distinct) == 1 else distinct


def to_json(said: Sequence[Unit]) -> str:
    """The one text of what was said."""
    return json.dumps(list(said), ensure_ascii=False, separators=(",", ":"))


def from_json(text: str) -> tuple[Unit, ...]:
    return tuple(tuple(unit) if isinstance(unit, list) else unit for unit in json.loads(text))
