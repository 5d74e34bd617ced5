"""What a prediction gives, of rows and of tokens alike."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True, eq=False)
class Predictions:
    """Predictions on their way out."""

    # An object per row or sequence; empty where they go to a file that holds labels alone.
    rows: list[dict[str, Any]]
    figures: dict[str, Any]  # What records say beside them.
    words: str  # How many there are.
    write: Callable[[Path], None]
    scores: str = ""  # How good they are, where the data says the truth.
