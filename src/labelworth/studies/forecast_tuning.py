"""Where the constants of the forecast come from: pilots on two corpora, none of which is in the forecast table."""

from collections.abc import Sequence
from typing import Any

from labelworth.progress import Progress
from labelworth.studies.forecast_cell import compute, grid
from labelworth.studies.forecast_data import CORPORA, corpora_digest, population
from labelworth.studies.outcome import Outcome
from labelworth.studies.runner import Study
from labelworth.studies.store import Cell, Result

N_PILOTS = 6
FIRST_SEED = 1000
"""Pilots of the forecast table have seeds below."""


def cells(quick: bool, seed: int) -> list[dict[str, Any]]:
    """Pilots on the corpora that are tuned on; the quick grid has two per size."""
    corpora = tuple(name for name, corpus in CORPORA.items() if corpus.tuned_on)
    return grid(corpora, 2 if quick else N_PILOTS, FIRST_SEED + seed)


def summarize(pairs: Sequence[tuple[Cell, Result]]) -> Outcome:
    """Search the constants."""
    return Outcome(figures={"n": len(pairs)})


def prepare(progress: Progress) -> None:
    """Say what comes first, and fail at once where a corpus is missing."""
    progress.say("Reading 20 Newsgroups and Reuters R52, once per process.")
    population("r52")


STUDY = Study(
    name="forecast-tuning",
    title="Constants of the forecast: pilots on 20 Newsgroups and Reuters R52",
    cells=cells,
    compute=compute,
    summarize=summarize,
    data_digest=corpora_digest,
    prepare=prepare,
)
