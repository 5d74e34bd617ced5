"""Reuters: the asymptotic total variance over documents and labeled fraction, and how far it can stand in for error.

Paper: fig:lorem1.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from labelworth.report.values import Outcome, Picture, Table
from labelworth_studies.corpora.panel_documents import reuters_digest
from labelworth_studies.paper.parts.panel_cells import VERSION, cells_of, compute, reuters_designs, say_reuters
from labelworth_studies.paper.parts.panel_surfaces import (
    LABELS,
    Surfaces,
    collected,
    figures_of,
    grid_of,
    steps_table,
)
from labelworth_studies.runner.study import Cell, Result, Study

STAND_INS = (
    "paper_total_variance",
    "paper_excess_log_loss",
    "robust_mse",
    "robust_error",
    "simulated_mse",
    "simulated_error",
)
MEASURED = ("error", "mse")
NAMES = (*MEASURED, *STAND_INS)


def cells(quick: bool, seed: int) -> list[dict[str, Any]]:
    """What was measured, the two formulas, and the simulation."""
    return cells_of(reuters_designs(quick), ("experiment", "robust", "formula", "simulation"), seed)


def summarize(pairs: Sequence[tuple[Cell, Result]]) -> Outcome:
    """Rank correlations over the grid, monotone steps, and every surface beside the measured ones."""
    found = collected(pairs)
    return Outcome(
        figures={
            "settings": [
                {
                    **figures_of(surfaces, NAMES),
                    "rank_correlations": correlations(surfaces),
                    "worth_of_labels": {name: surfaces.worth_of_labels(name) for name in NAMES},
                    "formula_change_with_twice_the_documents": surfaces.formula_change,
                }
                for surfaces in found
            ]
        },
        words=_words(found),
        tables=(_table(found), steps_table(found, NAMES)),
        pictures={
            "": Picture(
                "Reuters: total variance by the paper's formula",
                tuple(surfaces.panel("paper_total_variance") for surfaces in found),
                n_columns=2,
            ),
            "beside": _beside(found),
        },
        grid=grid_of(found, NAMES),
    )


def correlations(surfaces: Surfaces) -> dict[str, dict[str, float]]:
    """Spearman's, of every measured figure with every other one and every stand-in."""
    return {
        measured: {name: surfaces.rank_correlation(measured, name) for name in NAMES if name != measured}
        for measured in MEASURED
    }


def _words(found: Sequence[Surfaces]) -> tuple[str, ...]:
    words = []
    for name in ("mse", *STAND_INS):
        values = [surfaces.rank_correlation("error", name) for surfaces in found]
        words.append(
            f"Rank correlation of held-out error with {LABELS[name]}: {min(values):.2f} to {max(values):.2f} over "
            f"{len(found)} settings, {np.mean(values):.2f} on average."
        )
    error, paper = (
        np.exp(np.mean([np.log(surfaces.worth_of_labels(name)) for surfaces in found]))
        for name in ("mse", "paper_total_variance")
    )
    words.append(
        f"From {found[0].fractions[0]:.0%} labeled to all, the squared error falls by a factor of {error:.1f}; the "
        f"paper's formula expects {paper:.3f}: it takes the documents to tell their class themselves."
    )
    return tuple(words)


def _table(found: Sequence[Surfaces]) -> Table:
    names = ("mse", *STAND_INS)
    return Table(
        "Rank correlation with held-out error over (n, labeled fraction)",
        ("setting", *(LABELS[name] for name in names)),
        tuple(
            (surfaces.setting.title, *(f"{surfaces.rank_correlation('error', name):.2f}" for name in names))
            for surfaces in found
        ),
        note="Spearman's.",
    )


def _beside(found: Sequence[Surfaces]) -> Picture:
    """The first setting of every corpus: what was measured and what stands in for it."""
    first: dict[str, Surfaces] = {}
    for surfaces in found:
        first.setdefault(surfaces.setting.corpus, surfaces)
    names = ("error", "mse", "paper_total_variance", "robust_mse", "robust_error", "simulated_error")
    panels = tuple(surfaces.panel(name) for surfaces in first.values() for name in names)
    return Picture("Reuters: measured, and what stands in for it", panels, n_columns=2)


STUDY = Study(
    name="fig1-theory",
    title="Reuters: the asymptotic variance over n and labeled fraction, against measured error",
    cells=cells,
    compute=compute,
    summarize=summarize,
    version=VERSION,
    data_digest=reuters_digest,
    prepare=say_reuters,
    cells_name="fig1",
)
