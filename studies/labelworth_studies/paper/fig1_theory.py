"""Reuters: the asymptotic total variance over documents and labeled fraction, and how far it can stand in for error.

Paper: fig:lorem1.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from labelworth.report.values import Picture, Table
from labelworth_studies.paper.parts.panel_surfaces import LABELS, Surfaces, picture_of, steps_table
from labelworth_studies.paper.parts.reuters_study import reuters_study

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


def correlations(surfaces: Surfaces) -> dict[str, dict[str, float]]:
    """Spearman's, of every measured figure with every other one and every stand-in."""
    return {
        measured: {name: surfaces.rank_correlation(measured, name) for name in NAMES if name != measured}
        for measured in MEASURED
    }


def _figures(surfaces: Surfaces) -> dict[str, Any]:
    return {
        "rank_correlations": correlations(surfaces),
        "worth_of_labels": {name: surfaces.worth_of_labels(name) for name in NAMES},
        "formula_change_with_twice_the_documents": surfaces.formula_change,
    }


def _words(settings: Sequence[Surfaces]) -> tuple[str, ...]:
    words = []
    for name in ("mse", *STAND_INS):
        values = [surfaces.rank_correlation("error", name) for surfaces in settings]
        words.append(
            f"Rank correlation of held-out error with {LABELS[name]}: {min(values):.2f} to {max(values):.2f} over "
            f"{len(settings)} settings, {np.mean(values):.2f} on average."
        )
    error, paper = (
        np.exp(np.mean([np.log(surfaces.worth_of_labels(name)) for surfaces in settings]))
        for name in ("mse", "paper_total_variance")
    )
    words.append(
        f"From {settings[0].fractions[0]:.0%} labeled to all, the squared error falls by a factor of {error:.1f}; "
        f"the paper's formula expects {paper:.3f}: it takes the documents to tell their class themselves."
    )
    return tuple(words)


def _table(settings: Sequence[Surfaces]) -> Table:
    names = ("mse", *STAND_INS)
    return Table(
        "Rank correlation with held-out error over (n, labeled fraction)",
        ("setting", *(LABELS[name] for name in names)),
        tuple(
            (surfaces.setting.title, *(f"{surfaces.rank_correlation('error', name):.2f}" for name in names))
            for surfaces in settings
        ),
        note="Spearman's.",
    )


def _beside(settings: Sequence[Surfaces]) -> Picture:
    """The first setting of every corpus: what was measured and what stands in for it."""
    first: dict[str, Surfaces] = {}
    for surfaces in settings:
        first.setdefault(surfaces.setting.corpus, surfaces)
    names = ("error", "mse", "paper_total_variance", "robust_mse", "robust_error", "simulated_error")
    panels = tuple(surfaces.panel(name) for surfaces in first.values() for name in names)
    return Picture("Reuters: measured, and what stands in for it", panels, n_columns=2)


def _pictures(settings: Sequence[Surfaces]) -> dict[str, Picture]:
    paper = picture_of(settings, "paper_total_variance", "Reuters: total variance by the paper's formula")
    return {"": paper, "beside": _beside(settings)}


STUDY = reuters_study(
    "fig1-theory",
    "Reuters: the asymptotic variance over n and labeled fraction, against measured error",
    parts=("experiment", "robust", "formula", "simulation"),
    shown=NAMES,
    figures=_figures,
    words=_words,
    tables=lambda settings: (_table(settings), steps_table(settings, NAMES)),
    pictures=_pictures,
)
