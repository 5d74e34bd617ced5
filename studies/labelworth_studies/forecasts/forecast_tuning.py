"""Where the constants of the forecast come from: pilots that are not in the forecast table."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit, logit

from labelworth.arrays import FloatArray
from labelworth.progress import Progress
from labelworth.report.values import Measured, Outcome, Table
from labelworth.simulation.calibration import TUNED, Constants, NormalMixture
from labelworth.simulation.scales import Measure, inside, to_scale
from labelworth_studies.corpora.populations import CORPORA, DRAWN, corpora_digest, population
from labelworth_studies.forecasts.parts.forecast_cell import compute, grid
from labelworth_studies.forecasts.parts.forecast_scores import Curve, curves_of, scores_of, summed_up
from labelworth_studies.runner.study import Cell, Result, Study

N_PILOTS = 6
FIRST_SEED = 1000
"""Pilots of the forecast table have seeds below."""
MEASURES: tuple[Measure, ...] = ("error", "log_loss")
RIDGE = 0.005
"""Per squared unit of the logarithm of a constant: what the pilots do not tell stays where the search began."""
START = Constants(0.3, -0.1, 0.1, 0.3, 0.1, 0.1, 1.0, 0.5)
_DRAWN = "drawn"


def cells(quick: bool, seed: int) -> list[dict[str, Any]]:
    """Pilots on the corpora, and on drawn documents, that are tuned on; the quick grid has one per size."""
    tuned_on = tuple(name for name, corpus in {**CORPORA, **DRAWN}.items() if corpus.tuned_on)
    return grid(tuned_on, 1 if quick else N_PILOTS, FIRST_SEED + seed)


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
        note="Surprise: mean of -log predictive density of the realized value, on the scale of the measure. Every "
        "corpus counts the same, all drawn documents as one; the constants in use are those found, rounded.",
    )
    return Outcome(figures=figures, words=tuple(words), tables=(table,))


def search(curves: Sequence[Curve]) -> Constants:
    """The constants of least surprise, held back by a weak ridge."""
    begin = _coordinates(START)

    def objective(coordinates: FloatArray) -> float:
        held_back = RIDGE * float(np.square(coordinates - begin).sum())
        return surprise(curves, _constants(coordinates)) + held_back

    optimum = minimize(objective, begin, method="Powell", options={"maxiter": 6, "xtol": 0.02, "ftol": 1e-4})
    return _constants(np.asarray(optimum.x))


def surprise(curves: Sequence[Curve], constants: Constants) -> float:
    """Mean of -log predictive density of the realized values; every corpus counts the same, all drawn ones as one."""
    terms: dict[str, list[FloatArray]] = {}
    for curve in curves:
        calibrated = curve.regression.solved(constants)
        realized = to_scale(calibrated.measure, inside(calibrated.measure, curve.realized))
        terms.setdefault(source_of(curve.corpus), []).append(-log_densities(calibrated.mixture, realized))
    return float(np.mean([np.concatenate(part).mean() for part in terms.values()]))


def log_densities(mixture: NormalMixture, values: FloatArray) -> FloatArray:
    """Of one value per column, (n_columns,)."""
    parts = -0.5 * ((values - mixture.means) ** 2 / mixture.variances + np.log(2 * np.pi * mixture.variances))
    with np.errstate(divide="ignore"):  # a part of no weight adds nothing
        parts += np.log(mixture.weights)[:, None]
    return np.asarray(np.logaddexp.reduce(parts, axis=0))


def source_of(corpus: str) -> str:
    """The corpus; one name for all drawn ones."""
    return _DRAWN if corpus in DRAWN else corpus


def _coordinates(constants: Constants) -> FloatArray:
    return np.array([_free(name, value) for name, value in vars(constants).items()])


def _constants(coordinates: FloatArray) -> Constants:
    return Constants(**{name: _bound(name, value) for name, value in zip(vars(START), coordinates, strict=True)})


def _free(name: str, value: float) -> float:
    """A coordinate that may be any number: a tilt as it is, a probability as log-odds, a spread as a logarithm."""
    if name == "tilt_mean":
        return value
    return float(logit(value) if name == "floor_probability" else np.log(value))


def _bound(name: str, coordinate: float) -> float:
    """The constant at a coordinate."""
    if name == "tilt_mean":
        return float(coordinate)
    return float(expit(coordinate) if name == "floor_probability" else np.exp(coordinate))


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
    title="Constants of the forecast: pilots on 20 Newsgroups, Reuters R52 and drawn documents",
    cells=cells,
    compute=compute,
    summarize=summarize,
    data_digest=corpora_digest,
    prepare=prepare,
)
