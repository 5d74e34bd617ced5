"""Reuters: squared error of the fitted probabilities over documents and labeled fraction.

Paper: fig:lorem1.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from labelworth.report.values import Outcome
from labelworth_studies.corpora.panel_documents import reuters_digest
from labelworth_studies.paper.parts.panel_cells import VERSION, cells_of, compute, reuters_designs, say_reuters
from labelworth_studies.paper.parts.panel_surfaces import (
    Surfaces,
    collected,
    figures_of,
    grid_of,
    picture_of,
    steps_table,
)
from labelworth_studies.runner.study import Cell, Result, Study

NAMES = ("mse", "mse_labels_only", "robust_mse")


def cells(quick: bool, seed: int) -> list[dict[str, Any]]:
    """What was measured, and the robust formula."""
    return cells_of(reuters_designs(quick), ("experiment", "robust"), seed)


def summarize(pairs: Sequence[tuple[Cell, Result]]) -> Outcome:
    """The surfaces, whether they fall, and how far the robust formula is off."""
    found = collected(pairs)
    return Outcome(
        figures={"settings": [{**figures_of(surfaces, NAMES), **_off(surfaces)} for surfaces in found]},
        words=tuple(_sentence(surfaces) for surfaces in found),
        tables=(steps_table(found, NAMES),),
        pictures={
            "": picture_of(
                found, "mse", "Reuters: squared error of all probabilities, against those fitted on everything"
            ),
            "robust": picture_of(found, "robust_mse", "Reuters: the squared error that the robust formula expects"),
        },
        grid=grid_of(found, NAMES),
    )


def _off(surfaces: Surfaces) -> dict[str, float]:
    ratio = np.log(surfaces.values["robust_mse"] / surfaces.values["mse"])
    return {
        "mse_rank_correlation_with_robust_mse": surfaces.rank_correlation("mse", "robust_mse"),
        "typical_factor_robust_is_off": float(np.exp(np.median(np.abs(ratio)))),
        "worst_factor_robust_is_off": float(np.exp(np.abs(ratio).max())),
    }


def _sentence(surfaces: Surfaces) -> str:
    in_size, in_fraction = surfaces.falling_steps("mse")
    off = _off(surfaces)
    return (
        f"{surfaces.setting.title}: the squared error falls at {in_size:.0%} of the steps in n and {in_fraction:.0%} "
        f"of those in the fraction; the robust formula is off by {off['typical_factor_robust_is_off']:.2f} times "
        f"typically and {off['worst_factor_robust_is_off']:.1f} at worst, and ranks the points at "
        f"{off['mse_rank_correlation_with_robust_mse']:.2f}."
    )


STUDY = Study(
    name="fig1-mse",
    title="Reuters: squared error of the parameters over n and labeled fraction",
    cells=cells,
    compute=compute,
    summarize=summarize,
    version=VERSION,
    data_digest=reuters_digest,
    prepare=say_reuters,
    cells_name="fig1",
)
