"""Forecasts from pilots against what more labels then did, beside the power law."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from labelworth.progress import Progress
from labelworth.report.values import ComparisonPanel, Curve, Measured, Outcome, Picture, Table
from labelworth.simulation.calibration import TUNED
from labelworth.simulation.learner import MODES
from labelworth.simulation.scales import Measure
from labelworth_studies.corpora.populations import CORPORA, DRAWN, corpora_digest, population
from labelworth_studies.forecasts.parts.forecast_cell import FACTORS, compute, grid
from labelworth_studies.forecasts.parts.forecast_scores import Score, curves_of, grouped, scores_of, summed_up
from labelworth_studies.runner.study import Cell, Result, Study

N_PILOTS = 20
MEASURES: tuple[Measure, ...] = ("error", "log_loss")
AIM = 0.6
"""The mean absolute error is to be at most this share of the power law's."""
_NAMES = {"error": "error", "log_loss": "log-loss"}
_GROUPS = {True: "the corpora tuned on", False: "the other corpora"}
_DRAWN = "drawn documents"
SHOWN = {**CORPORA, **{name: corpus for name, corpus in DRAWN.items() if not corpus.tuned_on}}
"""The corpora, and documents drawn from models that are not tuned on."""


def cells(quick: bool, seed: int) -> list[dict[str, Any]]:
    """Pilots of every size on every corpus; the quick grid has one per size."""
    return grid(tuple(SHOWN), 1 if quick else N_PILOTS, seed)


def group_of(score: Score) -> str:
    """Where a forecast counts: with the corpora tuned on, with the others, or with drawn documents."""
    return _DRAWN if score.corpus in DRAWN else _GROUPS[CORPORA[score.corpus].tuned_on]


def summarize(pairs: Sequence[tuple[Cell, Result]]) -> Outcome:
    """Mean absolute errors and coverage, the tuned-on corpora and the others apart."""
    figures: dict[str, Any] = {"constants": {measure: vars(TUNED[measure]) for measure in MEASURES}}
    tables, words, pictures = [], [], {}
    for measure in MEASURES:
        scores = scores_of(curves_of(pairs, measure), TUNED[measure])
        figures[measure] = _figures(scores)
        words += _words(measure, figures[measure])
        tables.append(_overview(measure, figures[measure]))
        if measure == "error":
            tables.append(_details(figures[measure]))
            pictures[""] = _picture(scores)
    return Outcome(figures=figures, words=tuple(words), tables=tuple(tables), pictures=pictures)


def _figures(scores: Sequence[Score]) -> dict[str, Any]:
    """Everything by everything: groups of corpora, corpus and mode, and single cells of the table."""

    def by(key: Any) -> dict[str, Any]:
        return {"/".join(map(str, name)): summed_up(group) for name, group in grouped(scores, key).items()}

    return {
        "groups": by(lambda score: (group_of(score),)),
        "groups_and_modes": by(lambda score: (group_of(score), score.mode)),
        "factors": by(lambda score: (group_of(score), score.factor)),
        "corpora": by(lambda score: (score.corpus, score.mode)),
        "cells": by(lambda score: (score.corpus, score.mode, score.n_pilot, score.factor)),
    }


def _words(measure: Measure, figures: Mapping[str, Any]) -> list[str]:
    words = []
    for name, group in figures["groups"].items():
        words.append(
            f"Held-out {_NAMES[measure]}, {name}: mean absolute error {group['mean_absolute_error']:.4f}, of the "
            f"power law {group['power_law']:.4f} (ratio {group['ratio']:.2f}, aim {AIM:g} at most); 90 % intervals "
            f"hold {group['coverage']:.1%} of {group['n_forecasts']} realized values."
        )
    return words


def _overview(measure: Measure, figures: Mapping[str, Any]) -> Table:
    rows = [
        (name.replace("/", ", "), *_columns(figure))
        for part in ("groups", "groups_and_modes", "factors", "corpora")
        for name, figure in figures[part].items()
    ]
    return Table(
        f"Forecasts of the held-out {_NAMES[measure]}",
        ("pilots of", "forecasts", "mean abs. error", "power law", "ratio", "bias", "coverage of 90 %"),
        tuple(rows),
        note="Against the realized value, the mean over random extensions of the same pilot; at 2, 4 and 8 times its "
        "labels. Standard errors over forecasts; those of one pilot are not independent.",
    )


def _columns(figure: Mapping[str, Any]) -> tuple[Any, ...]:
    return (
        figure["n_forecasts"],
        Measured(figure["mean_absolute_error"], figure["mean_absolute_error_se"]),
        Measured(figure["power_law"], figure["power_law_se"]),
        round(figure["ratio"], 3),
        figure["bias"],
        Measured(figure["coverage"], figure["coverage_se"]),
    )


def _details(figures: Mapping[str, Any]) -> Table:
    """One row per corpus, mode and pilot size: mean absolute errors at every factor."""
    rows = []
    for corpus, about in SHOWN.items():
        for mode in MODES:
            for size in about.pilots:
                entries: list[Any] = [about.title, mode, size]
                for factor in FACTORS:
                    figure = figures["cells"].get(f"{corpus}/{mode}/{size}/{factor}")
                    entries.append("" if figure is None else _cell(figure))
                rows.append(tuple(entries))
    return Table(
        "Forecasts of the held-out error, cell by cell",
        ("corpus", "mode", "pilot", *(f"at {factor} x" for factor in FACTORS)),
        tuple(rows),
        note="Realized error: mean absolute error of the forecast / of the power law, coverage of the 90 % interval. "
        "Empty where the corpus has too few labels.",
    )


def _cell(figure: Mapping[str, Any]) -> str:
    return (
        f"{figure['mean_realized']:.3f}: {figure['mean_absolute_error']:.3f} / {figure['power_law']:.3f}, "
        f"{figure['coverage']:.0%}"
    )


def _picture(scores: Sequence[Score]) -> Picture:
    panels = []
    for corpus, about in CORPORA.items():
        here = [score for score in scores if score.corpus == corpus]
        laws, forecasts = [], []
        for index, mode in enumerate(MODES):
            of_mode = [score for score in here if score.mode == mode]
            realized = np.array([score.realized for score in of_mode])
            law = np.array([score.power_law for score in of_mode])
            forecast = np.array([score.forecast for score in of_mode])
            laws.append(Curve(f"power law, {mode}", realized, law, style="points", color=index + 2))
            forecasts.append(Curve(f"forecast, {mode}", realized, forecast, style="points", color=index))
        panels.append(ComparisonPanel(about.title, "realized error", "forecast error", (*laws, *forecasts)))
    return Picture("Held-out error at 2, 4 and 8 times the labels of a pilot", tuple(panels), n_columns=2)


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
