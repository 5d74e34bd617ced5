"""What a demonstration is: something that runs and tells its story, on data that is there without a download."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from labelworth.progress import Progress
from labelworth.report.values import Outcome


@dataclass(frozen=True)
class Told:
    """A demonstration that has run."""

    settings: Any  # How it was set up, for the record.
    outcome: Outcome  # With exactly one picture.
    data_digest: str | None = None  # None: its data were drawn from the seed.


Scenario = Callable[[bool, int, Progress], Told]
"""Of (quick, seed, progress)."""
