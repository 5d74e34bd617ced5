"""Where the constants of the forecast come from: pilots on two corpora, none of which is in the forecast table."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.optimize import minimize

from labelworth.arrays import FloatArray
from labelworth.progress import Progress
from labelworth.simulation.calibration import TUNED, Constants, Measure, to_scale
from labelworth.studies.forecast_cell import compute, grid
from labelworth.studies.forecast_data import CORPORA, corpora_digest, population
from labelworth.studies.forecast_scores import Curve, curves_of, scores_of, summed_up
from labelworth.studies.outcome import Measured, Outcome, Table
from labelworth.studies.runner import Study
from labelworth.studies.store import Cell, Result

N_PILOTS = 6
FIRST_SEED = 1000
"""Pilots of the forecast table have seeds below."""
MEASURES: tuple[Measure, ...] = ("error", "log_loss")
RIDGE = 0.02
"""Per squared unit of the logarithm of a constant: what two corpora do not tell stays where the search began."""
START = Constants(0.3, -0.1, 0.1, 0.3, 0.1, 0.1, 1.0)
_SIGNED = "tilt_mean"


def cells(quick: bool, seed: int) -> list[dict[str, Any]]:
    """Pilots on the corpora that are tuned on; the quick grid has two per size."""
    corpora = tuple(name for name, corpus in CORPORA.items() if corpus.tuned_on)
    return grid(corpora, 2 if quick else N_PILOTS, FIRST_SEED + seed)


def summarize(pairs: Sequence[tuple[Cell, Result]]) -> Outcome:
    """Search the constants, and compare those in use."""
    figures: dict[str, Any] = {}
    rows, words = [], []
    for measure in MEASURES:
        curves = curves_of(pairs, measure)
        searched = search(curves)
        figures[measure] = {}
        for name, constants in (("searched", searched), ("in use", TUNED[measure])):
            figure = summed_up(scores_of(curves, constants))
            figure["surprise"] = surprise(curves, constants)
            figures[measure][name] = {"constants": vars(constants), **figure}
            rows.append(_row(measure, name, figure))
        words.append(
            f"{measure}, searched: " + ", ".join(f"{key} {value:.3g}" for key, value in vars(searched).items())
        )
    table = Table(
        "Constants of the forecast",
        ("measure", "constants", "mean abs. error", "power law", "ratio", "coverage of 90 %", "surprise"),
        tuple(rows),
        note="Surprise: mean of -log predictive density of the realized value, on the scale of the measure. The "
        "constants in use are rounded, and level and blend are given more room: two corpora cannot tell how far off "
        "simulations may be on a third.",
    )
    return Outcome(figures=figures, words=tuple(words), tables=(table,))


def search(curves: Sequence[Curve]) -> Constants:
    """The constants of least surprise, held back by a weak ridge."""
    begin = _coordinates(START)

    def objective(coordinates: FloatArray) -> float:
        held_back = RIDGE * float(np.square(coordinates - begin).sum())
        return surprise(curves, _constants(coordinates)) + held_back

    found = minimize(objective, begin, method="Powell", options={"maxiter": 3, "xtol": 0.05, "ftol": 1e-3})
    return _constants(np.asarray(found.x))


def surprise(curves: Sequence[Curve], constants: Constants) -> float:
    """Mean of -log predictive density of the realized values, up to a constant."""
    terms = []
    for curve in curves:
        calibrated = curve.regression.solved(constants)
        gaps = to_scale(calibrated.measure, curve.realized) - calibrated.means
        terms.append(0.5 * (gaps**2 / calibrated.variances + np.log(calibrated.variances)))
    return float(np.concatenate(terms).mean())


def _coordinates(constants: Constants) -> FloatArray:
    return np.array([value if name == _SIGNED else np.log(value) for name, value in vars(constants).items()])


def _constants(coordinates: FloatArray) -> Constants:
    names = vars(START)
    return Constants(
        *(float(value if name == _SIGNED else np.exp(value)) for name, value in zip(names, coordinates, strict=True))
    )


def _row(measure: str, name: str, figure: dict[str, Any]) -> tuple[Any, ...]:
    return (
        measure,
        name,
        Measured(figure["mean_absolute_error"], figure["mean_absolute_error_se"]),
        Measured(figure["power_law"], figure["power_law_se"]),
        round(figure["ratio"], 3),
        Measured(figure["coverage"], figure["coverage_se"]),
        round(figure["surprise"], 3),
    )


def prepare(progress: Progress) -> None:
    """Say what comes first, and fail at once where a corpus is missing."""
    progress.say("Reading 20 Newsgroups and Reuters R52, once per process.")
    for name in cells(True, 0):
        population(name["corpus"])


STUDY = Study(
    name="forecast-tuning",
    title="Constants of the forecast: pilots on 20 Newsgroups and Reuters R52",
    cells=cells,
    compute=compute,
    summarize=summarize,
    data_digest=corpora_digest,
    prepare=prepare,
)
