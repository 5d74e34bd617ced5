"""20 Newsgroups: what can be had for how many labels, and what cannot.

Every point is a number of documents n and a labeled fraction; its cost is the number of labels. A point is dominated
if another one costs and errs no more, and one of both less.

Paper: fig:lorem2.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from labelworth.arrays import FloatArray, IntArray
from labelworth.progress import Progress
from labelworth.report.values import Curve, FrontierPanel, Outcome, Picture, Table
from labelworth_studies.corpora.newsgroups_documents import newsgroups_digest
from labelworth_studies.corpora.panel_documents import panel_samples
from labelworth_studies.paper.parts.panel_cells import VERSION, cells_of, compute, newsgroups_designs
from labelworth_studies.paper.parts.panel_surfaces import LABELS, Surfaces, collected, figures_of, grid_of
from labelworth_studies.runner.study import Cell, Result, Study

NAMES = ("mse", "error", "mse_labels_only", "error_labels_only", "robust_mse", "robust_error", "paper_total_variance")
DRAWN = ("mse", "error", "robust_mse", "robust_error", "paper_total_variance")


@dataclass(frozen=True, eq=False)
class Cloud:
    """Points of (labels, error) with their design."""

    sizes: FloatArray  # (n_points,)
    fractions: FloatArray
    costs: FloatArray
    errors: FloatArray
    boundary: IntArray  # The indices of the undominated points, by rising cost.

    @property
    def is_dominated(self) -> FloatArray:
        """Which points another one beats."""
        dominated = np.ones(len(self.costs), dtype=bool)
        dominated[self.boundary] = False
        return dominated


def cloud_of(surfaces: Surfaces, name: str) -> Cloud:
    """Every design of a surface with its cost n * fraction."""
    fractions = np.repeat(np.array(surfaces.fractions), len(surfaces.sizes))
    sizes = np.tile(np.array(surfaces.sizes, dtype=np.float64), len(surfaces.fractions))
    costs, errors = np.rint(sizes * fractions), surfaces.values[name].ravel()
    kept: list[int] = []
    for index in np.lexsort((errors, costs)):
        if not kept or errors[index] < errors[kept[-1]]:
            kept.append(int(index))
    return Cloud(sizes, fractions, costs, errors, np.array(kept))


def cells(quick: bool, seed: int) -> list[dict[str, Any]]:
    """What was measured, and the two formulas."""
    return cells_of(newsgroups_designs(quick), ("experiment", "robust", "formula"), seed)


def summarize(pairs: Sequence[tuple[Cell, Result]]) -> Outcome:
    """The clouds, their boundaries, and which designs are dominated."""
    surfaces = collected(pairs)[0]
    clouds = {name: cloud_of(surfaces, name) for name in DRAWN}
    return Outcome(
        figures={
            **figures_of(surfaces, NAMES),
            "frontiers": {name: _frontier_figures(cloud) for name, cloud in clouds.items()},
            "agreement": {name: _agreement(clouds["mse"], clouds[name]) for name in DRAWN},
            "error_rank_correlation_with_mse": surfaces.rank_correlation("error", "mse"),
        },
        words=tuple(_sentence(name, cloud) for name, cloud in clouds.items()),
        tables=(_table(clouds),),
        pictures={
            "": _picture(surfaces, ("mse", "error"), clouds, "20 Newsgroups: what cannot be had (shaded)"),
            "formulas": _picture(
                surfaces, DRAWN[2:], clouds, "20 Newsgroups: what the formulas hold for unachievable"
            ),
        },
        grid=grid_of([surfaces], NAMES),
    )


def _frontier_figures(cloud: Cloud) -> dict[str, Any]:
    dominated = cloud.is_dominated
    return {
        "n_points": len(cloud.costs),
        "n_dominated": int(dominated.sum()),
        "boundary": [
            {
                "labels": float(cloud.costs[index]),
                "n_samples": float(cloud.sizes[index]),
                "fraction": float(cloud.fractions[index]),
                "error": float(cloud.errors[index]),
            }
            for index in cloud.boundary
        ],
        "dominated": [
            {"n_samples": float(cloud.sizes[index]), "fraction": float(cloud.fractions[index])}
            for index in np.flatnonzero(dominated)
        ],
    }


def _agreement(first: Cloud, second: Cloud) -> float:
    """The share of designs of which both clouds say the same: dominated, or not."""
    return float((first.is_dominated == second.is_dominated).mean())


def _sentence(name: str, cloud: Cloud) -> str:
    largest = cloud.sizes.max()
    at_most = cloud.sizes[cloud.boundary] == largest
    return (
        f"By {LABELS[name]}, {int(cloud.is_dominated.sum())} of {len(cloud.costs)} designs are dominated; of the "
        f"{len(cloud.boundary)} others {int(at_most.sum())} use all {largest:g} documents."
    )


def _table(clouds: dict[str, Cloud]) -> Table:
    cloud = clouds["mse"]
    rows = []
    for index in np.lexsort((cloud.errors, cloud.costs)):
        marks = ["dominated" if clouds[name].is_dominated[index] else "" for name in DRAWN]
        rows.append((cloud.costs[index], cloud.sizes[index], f"{cloud.fractions[index]:.1%}", *marks))
    return Table(
        "Which designs are dominated",
        ("labels", "documents", "labeled", *(LABELS[name] for name in DRAWN)),
        tuple(rows),
    )


def _picture(surfaces: Surfaces, names: Sequence[str], clouds: dict[str, Cloud], title: str) -> Picture:
    panels = []
    for name in names:
        cloud = clouds[name]
        groups = tuple(
            Curve(f"n = {size}", cloud.costs[cloud.sizes == size], cloud.errors[cloud.sizes == size], style="points")
            for size in surfaces.sizes
        )
        panels.append(
            FrontierPanel(
                LABELS[name],
                "labels",
                LABELS[name],
                groups,
                cloud.costs[cloud.boundary],
                cloud.errors[cloud.boundary],
                x_scale="log",
                y_scale="log",
            )
        )
    return Picture(title, tuple(panels), n_columns=2)


def prepare(progress: Progress) -> None:
    """Say what comes first, and fail at once where the corpus is missing."""
    progress.say("Reading and counting the newsgroup posts, once per process.")
    panel_samples("newsgroups", 500, None)


STUDY = Study(
    name="fig2-unachievable",
    title="20 Newsgroups: squared error against labeling cost, and the unachievable region",
    cells=cells,
    compute=compute,
    summarize=summarize,
    version=VERSION,
    corpora=("newsgroups",),
    data_digest=newsgroups_digest,
    prepare=prepare,
)
