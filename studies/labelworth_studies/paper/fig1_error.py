"""Reuters: held-out classification error over documents and labeled fraction.

Paper: fig:lorem1.
"""

from collections.abc import Sequence
from typing import Any

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

NAMES = ("error", "excess_error", "log_loss", "error_labels_only", "robust_error")


def cells(quick: bool, seed: int) -> list[dict[str, Any]]:
    """What was measured, and the robust formula in units of error."""
    return cells_of(reuters_designs(quick), ("experiment", "robust"), seed)


def summarize(pairs: Sequence[tuple[Cell, Result]]) -> Outcome:
    """The surfaces, whether they fall, and where unlabeled documents do harm."""
    found = collected(pairs)
    return Outcome(
        figures={"settings": [{**figures_of(surfaces, NAMES), **_harm(surfaces)} for surfaces in found]},
        words=tuple(_sentence(surfaces) for surfaces in found),
        tables=(steps_table(found, ("error", "error_labels_only", "robust_error")),),
        pictures={
            "": picture_of(found, "error", "Reuters: held-out classification error"),
            "excess": picture_of(found, "excess_error", "Reuters: what is lost against all labels of the fold"),
            "robust": picture_of(found, "robust_error", "Reuters: the error that the robust formula expects"),
        },
        grid=grid_of(found, NAMES),
    )


def _harm(surfaces: Surfaces) -> dict[str, float]:
    error, alone = surfaces.values["error"][:-1], surfaces.values["error_labels_only"][:-1]
    return {
        "share_of_points_where_unlabeled_harm": float((error > alone).mean()),
        "error_rank_correlation_with_robust_error": surfaces.rank_correlation("error", "robust_error"),
        "mean_absolute_difference_to_robust_error": float(
            abs(surfaces.values["error"] - surfaces.values["robust_error"]).mean()
        ),
    }


def _sentence(surfaces: Surfaces) -> str:
    error, harm = surfaces.values["error"], _harm(surfaces)
    in_size, in_fraction = surfaces.falling_steps("error")
    return (
        f"{surfaces.setting.title}: error {error[0, 0]:.3f} at n = {surfaces.sizes[0]} and "
        f"{surfaces.fractions[0]:.0%} labeled, {error[-1, -1]:.3f} at n = {surfaces.sizes[-1]} and all labeled. It "
        f"falls at {in_size:.0%} of the steps in n and {in_fraction:.0%} of those in the fraction. Unlabeled "
        f"documents do harm at {harm['share_of_points_where_unlabeled_harm']:.0%} of the points; the robust formula "
        f"is {harm['mean_absolute_difference_to_robust_error']:.3f} off on average."
    )


STUDY = Study(
    name="fig1-error",
    title="Reuters: held-out classification error over n and labeled fraction",
    cells=cells,
    compute=compute,
    summarize=summarize,
    version=VERSION,
    data_digest=reuters_digest,
    prepare=say_reuters,
    cells_name="fig1",
)
