"""Forecasts of Gaussian classes on texts, digits and measures as vectors: what plans with embeddings rest on."""

from dataclasses import replace
from typing import Any

from labelworth_studies.corpora.populations import CORPORA, GAUSSIAN, VECTOR_CORPORA
from labelworth_studies.forecasts import forecast
from labelworth_studies.forecasts.parts.forecast_cell import cell_of

N_PILOTS = 1
"""Of every size: fits to many classes in 64 dimensions are slow."""
_LEFT_OUT = ("banking", "conll2000")
"""Fits to 77 classes take minutes each; sentences are no rows."""


def cells(quick: bool, seed: int) -> list[dict[str, Any]]:
    """Pilots of every size on every corpus of rows; the quick grid has the smallest."""
    return [
        cell_of(name, n_pilot, seed + draw, learner)
        for draw in range(N_PILOTS)
        for name, corpus in {**CORPORA, **VECTOR_CORPORA}.items()
        if name not in _LEFT_OUT
        for learner in GAUSSIAN
        for n_pilot in corpus.pilots[: 1 if quick else None]
    ]


STUDY = replace(
    forecast.STUDY,
    name="forecast-vectors",
    title="Forecasts of Gaussian classes on vectors against realized errors, beside the power law",
    cells=cells,
    cells_name=forecast.STUDY.name,
)
