"""Forecasts from pilots against what more labels then did, beside the power law."""

from collections.abc import Sequence
from typing import Any

from labelworth.progress import Progress
from labelworth.studies.forecast_cell import compute, grid
from labelworth.studies.forecast_data import CORPORA, corpora_digest, population
from labelworth.studies.outcome import Outcome
from labelworth.studies.runner import Study
from labelworth.studies.store import Cell, Result

N_PILOTS = 20


def cells(quick: bool, seed: int) -> list[dict[str, Any]]:
    """Pilots of every size on every corpus; the quick grid has two per size."""
    return grid(tuple(CORPORA), 2 if quick else N_PILOTS, seed)


def summarize(pairs: Sequence[tuple[Cell, Result]]) -> Outcome:
    """Errors of the forecast."""
    return Outcome(figures={"n": len(pairs)})


def prepare(progress: Progress) -> None:
    """Say what comes first, and fail at once where a corpus is missing."""
    progress.say("Reading the corpora, once per process.")
    for name in CORPORA:
        population(name)


STUDY = Study(
    name="forecast",
    title="Forecasts from pilots against realized errors, beside the power law",
    cells=cells,
    compute=compute,
    summarize=summarize,
    data_digest=corpora_digest,
    prepare=prepare,
)
