"""What a prediction gives, of rows and of tokens alike."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True, eq=False)
class Predictions:
    """Predictions on their way out.

    Attributes
    ----------
    rows : list of dict
        An object per row or sequence; empty where they go to a file that holds labels alone.
    figures : dict
        What records say beside them.
    words : str
        How many there are.
    write : function of a path
    scores : str
        How good they are, where the data says the truth.
    """

    rows: list[dict[str, Any]]
    figures: dict[str, Any]
    words: str
    write: Callable[[Path], None]
    scores: str = ""
