"""Forecasts from pilots against what more labels then did, beside the power law; each corpus judged by the others."""

from collections.abc import Mapping, Sequence
from typing import Any

from labelworth.progress import Progress
from labelworth.report.values import Outcome, Picture, Table
from labelworth.simulation.scales import Measure
from labelworth_studies.corpora.populations import CORPORA, READ, corpora_digest, corpus_of, population
from labelworth_studies.forecasts.parts.forecast_cell import compute, grid
from labelworth_studies.forecasts.parts.forecast_constants import (
    Chosen,
    chosen_on_all,
    chosen_without,
    corpus_group,
    in_use,
    judged_by,
)
from labelworth_studies.forecasts.parts.forecast_scores import Score, curves_of, grouped, scores_of, summed_up
from labelworth_studies.forecasts.parts.forecast_shown import COLUMNS, columns_of, forecast_panel
from labelworth_studies.runner.study import Cell, Result, Study

N_PILOTS = 6
SLOW = ("forest", "boosting")
"""Learners whose refits take longest: they have fewer pilots."""
N_SLOW_PILOTS = 1
MEASURES: tuple[Measure, ...] = ("error", "log_loss")
AIMS = {"naive-bayes": 0.6, "hidden-markov": 0.6, "logistic": 0.6, "linear-svm": 0.6}
"""The mean absolute error is to be at most this share of the power law's, 0.9 for all other learners."""
_OTHER_AIM = 0.9
LEAST_COVERAGE = 0.8
"""Intervals of every corpus and learner are to hold no less."""
_NAMES = {"error": "error", "log_loss": "log-loss"}
_WORLDS = ("drawn-7", "drawn-8", "drawn-9")
"""Of the drawn documents these are shown."""


def cells(quick: bool, seed: int) -> list[dict[str, Any]]:
    """Pilots of every size on every corpus for all its learners; the quick grid: fast learners, the two ends."""
    every = grid((*CORPORA, *_WORLDS), 1 if quick else N_PILOTS, seed, all_learners=True)
    if not quick:
        return [cell for cell in every if cell["learner"] not in SLOW or cell["seed"] < seed + N_SLOW_PILOTS]
    fast = [cell for cell in every if cell["learner"] not in SLOW]
    # The small pilots first: what they cost is known before the large ones begin.
    return [cell for end in (0, -1) for cell in fast if cell["n_pilot"] == corpus_of(cell["corpus"]).pilots[end]]


def summarize(pairs: Sequence[tuple[Cell, Result]]) -> Outcome:
    """Mean absolute errors and coverage by learner, by corpus, and by both."""
    figures: dict[str, Any] = {}
    tables, words, pictures = [], [], {}
    for measure in MEASURES:
        curves = curves_of(pairs, measure)
        constants = chosen_without(curves, measure)
        scores = scores_of(curves, judged_by(constants))
        figures[measure] = {
            "constants": {
                group: {kind: {name: getattr(own, name) for name in Chosen._fields} for kind, own in kinds.items()}
                for group, kinds in constants.items()
            },
            # What the same rule chooses where it is given all of these corpora: what is in use.
            "on_all": {kind: own._asdict() for kind, own in chosen_on_all(curves, measure).items()},
            **_figures(scores),
            "in_use": _figures(scores_of(curves, in_use(measure))),
        }
        words += [*_words(measure, figures[measure]), _short(measure, figures[measure]["cells"])]
        tables.append(_overview(measure, figures[measure]))
        if measure == "error":
            tables.append(_details(scores))
            pictures[""] = _picture(scores)
    return Outcome(figures=figures, words=tuple(words), tables=tuple(tables), pictures=pictures)


def _figures(scores: Sequence[Score]) -> dict[str, Any]:

    def by(key: Any) -> dict[str, Any]:
        return {"/".join(map(str, name)): summed_up(group) for name, group in grouped(scores, key).items()}

    return {
        "all": by(lambda score: ("all",)),
        "learners": by(lambda score: (score.learner,)),
        "corpora": by(lambda score: (corpus_group(score.corpus),)),
        "factors": by(lambda score: (score.factor,)),
        "pilots": by(lambda score: (score.n_pilot,)),
        "modes": by(lambda score: (score.learner, score.mode)),
        "cells": by(lambda score: (corpus_group(score.corpus), score.learner)),
    }


def _words(measure: Measure, figures: Mapping[str, Any]) -> list[str]:
    words = []
    for name, group in {"all learners": figures["all"]["all"], **figures["learners"]}.items():
        aim = "" if name == "all learners" or measure != "error" else f", aim {AIMS.get(name, _OTHER_AIM):g} at most"
        words.append(
            f"Held-out {_NAMES[measure]}, {name}: mean absolute error {group['mean_absolute_error']:.4f}, of the "
            f"power law {group['power_law']:.4f} (ratio {group['ratio']:.2f}{aim}); 90 % intervals hold "
            f"{group['coverage']:.1%} of {group['n_forecasts']} realized values."
        )
    return words


def _short(measure: Measure, cells: Mapping[str, Any]) -> str:
    """Which of all corpora and learners have intervals that are too short beyond chance."""
    low = {name: cell for name, cell in cells.items() if cell["coverage"] < LEAST_COVERAGE}
    # By chance one of so many may well be low: all of them together are to err with 5 %.
    sure = [name for name, cell in low.items() if cell["p_of_pilots"] * len(cells) < 0.05]
    return (
        f"Held-out {_NAMES[measure]}: of {len(cells)} corpora x learners {len(low)} hold less than "
        f"{LEAST_COVERAGE:.0%}; by their pilots it is beyond chance in {', '.join(sure) or 'none of them'}."
    )


def _overview(measure: Measure, figures: Mapping[str, Any]) -> Table:
    parts = ("all", "learners", "modes", "corpora", "factors", "pilots")
    rows = [
        (name.replace("/", ", "), *columns_of(figure)) for part in parts for name, figure in figures[part].items()
    ]
    return Table(
        f"Forecasts of the held-out {_NAMES[measure]}",
        ("pilots of", *COLUMNS),
        tuple(rows),
        note="Against the realized value, the mean over random extensions of the same pilot; at 2, 4 and 8 times its "
        "labels; tilt and spread ahead chosen without the corpus. Standard errors over forecasts; those of one "
        "pilot are not independent.",
    )


def _details(scores: Sequence[Score]) -> Table:
    """A row per corpus, a column per learner."""
    learners = list(dict.fromkeys(score.learner for score in scores))
    by_cell = grouped(scores, lambda score: (corpus_group(score.corpus), score.learner))
    rows = []
    for corpus in dict.fromkeys(corpus_group(score.corpus) for score in scores):
        entries: list[Any] = [CORPORA[corpus].title if corpus in CORPORA else corpus]
        for learner in learners:
            group = by_cell.get((corpus, learner))
            entries.append("" if group is None else _cell(summed_up(group)))
        rows.append(tuple(entries))
    return Table(
        "Forecasts of the held-out error, corpus by corpus",
        ("corpus", *learners),
        tuple(rows),
        note="Mean absolute error of the forecast over the power law's; coverage of the 90 % interval; forecasts. "
        "Below 80 %: how many pilots' farthest forecasts hold, and how probable so few would be if 90 % held.",
    )


def _cell(figure: Mapping[str, Any]) -> str:
    words = f"{figure['ratio']:.2f}, {figure['coverage']:.0%} of {figure['n_forecasts']}"
    if figure["coverage"] >= LEAST_COVERAGE:
        return words
    return f"{words} ({figure['n_pilots_held']} of {figure['n_pilots']} pilots, p = {figure['p_of_pilots']:.2g})"


def _picture(scores: Sequence[Score]) -> Picture:
    by_learner = grouped(scores, lambda score: score.learner)
    panels = tuple(forecast_panel(learner, here) for learner, here in by_learner.items())
    return Picture("Held-out error at 2, 4 and 8 times the labels of a pilot", panels, n_columns=3)


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
    version=3,
    corpora=READ,
    data_digest=corpora_digest,
    prepare=prepare,
)
