"""Constants of the forecast, fitted without the corpus that they are then judged on."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit, logit

from labelworth.arrays import FloatArray
from labelworth.simulation.calibration import TUNED, Constants, NormalMixture
from labelworth.simulation.learner import LearnerKind
from labelworth.simulation.scales import Measure, inside, to_scale
from labelworth_studies.corpora.populations import DRAWN
from labelworth_studies.forecasts.parts.forecast_scores import ConstantsOf, Curve

RIDGE = 0.1
"""Per squared unit of a coordinate: what the other corpora do not tell stays as it is in use."""
_DRAWN = "drawn documents"


def corpus_group(corpus: str) -> str:
    """The corpus; one name for all drawn ones."""
    return _DRAWN if corpus in DRAWN else corpus


def moved(constants: Constants, coordinates: FloatArray) -> Constants:
    """As in use, but spreads times exp(first), tilt moved by 0.1 x second, log-odds of the power law by the last."""
    width, tilt, law = float(np.exp(coordinates[0])), 0.1 * float(coordinates[1]), float(coordinates[2])
    return replace(
        constants.widened(width),
        tilt_mean=constants.tilt_mean + tilt,
        law=float(expit(logit(constants.law) + law)),
    )


def fitted_without(curves: Sequence[Curve], measure: Measure) -> Mapping[str, Mapping[LearnerKind, FloatArray]]:
    """For every corpus and kind of learner, the coordinates of least surprise on that kind's curves of all others."""
    groups = sorted({corpus_group(curve.corpus) for curve in curves})
    kinds = sorted({curve.kind for curve in curves})
    return {
        group: {
            kind: search([c for c in curves if c.kind == kind and corpus_group(c.corpus) != group], measure)
            for kind in kinds
        }
        for group in groups
    }


def in_use(measure: Measure) -> ConstantsOf:
    """The constants that plans take; the corpora had a part in choosing them."""

    def constants_of(curve: Curve) -> Constants:
        return TUNED[curve.kind][measure]

    return constants_of


def judged_by(coordinates: Mapping[str, Mapping[LearnerKind, FloatArray]], measure: Measure) -> ConstantsOf:
    """The constants of a curve: of its kind of learner, fitted without its corpus."""

    def constants_of(curve: Curve) -> Constants:
        return moved(TUNED[curve.kind][measure], coordinates[corpus_group(curve.corpus)][curve.kind])

    return constants_of


def search(curves: Sequence[Curve], measure: Measure) -> FloatArray:
    """The coordinates of least surprise, held back by a ridge; those in use where there is nothing to learn from."""
    if not curves:
        return np.zeros(3)

    def objective(coordinates: FloatArray) -> float:
        held_back = RIDGE * float(np.square(coordinates).sum())
        return surprise(curves, measure, coordinates) + held_back

    simplex = np.vstack([np.zeros(3), np.diag([0.2, 0.3, 0.5])])
    options: Any = {"maxfev": 60, "xatol": 0.02, "fatol": 1e-3, "initial_simplex": simplex}
    best = minimize(objective, np.zeros(3), method="Nelder-Mead", options=options)
    return np.asarray(best.x)


def surprise(curves: Sequence[Curve], measure: Measure, coordinates: FloatArray) -> float:
    """Mean of -log predictive density of the realized values; every corpus counts the same, all drawn ones as one."""
    terms: dict[str, list[FloatArray]] = {}
    for curve in curves:
        calibrated = curve.regression.solved(moved(TUNED[curve.kind][measure], coordinates))
        realized = to_scale(measure, inside(measure, curve.realized))
        terms.setdefault(corpus_group(curve.corpus), []).append(-log_densities(calibrated.mixture, realized))
    return float(np.mean([np.concatenate(part).mean() for part in terms.values()]))


def log_densities(mixture: NormalMixture, values: FloatArray) -> FloatArray:
    """Of one value per column, (n_columns,)."""
    parts = -0.5 * ((values - mixture.means) ** 2 / mixture.variances + np.log(2 * np.pi * mixture.variances))
    with np.errstate(divide="ignore"):  # a part of no weight adds nothing
        parts += np.log(mixture.weights)[:, None]
    return np.asarray(np.logaddexp.reduce(parts, axis=0))
