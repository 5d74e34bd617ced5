"""Forecasts, power laws and realized losses of many pilots, side by side."""

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.stats import binom

from labelworth.arrays import FloatArray
from labelworth.simulation.basis import ForecastBasis
from labelworth.simulation.calibration import Constants, Regression, power_law_of, regression_of
from labelworth.simulation.forecast import CONFIDENCE
from labelworth.simulation.learner import LearnerKind, Mode
from labelworth.simulation.scales import Measure
from labelworth_studies.forecasts.parts.forecast_cell import FACTORS
from labelworth_studies.runner.study import Cell, Result

_PLACE = {"error": 0, "log_loss": 1}


@dataclass(frozen=True, eq=False)
class Curve:
    """One pilot in one mode."""

    corpus: str  # Where it comes from.
    learner: str
    kind: LearnerKind
    mode: Mode
    n_pilot: int
    factors: tuple[int, ...]  # At how many times the labels of the pilot.
    regression: Regression  # What the forecast is computed from, but for the constants.
    power_law: FloatArray  # (n_factors,)
    realized: FloatArray
    seed: int = 0  # Which of several pilots of that size.


@dataclass(frozen=True)
class Score:
    """One forecast and what came of it."""

    corpus: str
    learner: str
    mode: Mode
    n_pilot: int
    factor: int
    forecast: float
    low: float
    high: float
    power_law: float
    realized: float
    seed: int = field(default=0, kw_only=True)

    @property
    def is_held(self) -> bool:
        """Whether the interval holds what was realized."""
        return self.low <= self.realized <= self.high


def curves_of(pairs: Sequence[tuple[Cell, Result]], measure: Measure) -> list[Curve]:
    """Every pilot in every mode."""
    curves = []
    for cell, result in pairs:
        basis = ForecastBasis.from_dict(result["basis"])
        for mode in basis.modes:
            factors = tuple(factor for factor in FACTORS if f"{mode}/{factor}" in result["realized"])
            sizes = np.array(factors) * int(cell["n_pilot"])
            realized = [
                np.mean(result["realized"][f"{mode}/{factor}"], axis=0)[_PLACE[measure]] for factor in factors
            ]
            curves.append(
                Curve(
                    cell["corpus"],
                    cell["learner"],
                    basis.kind,
                    mode,
                    int(cell["n_pilot"]),
                    factors,
                    regression_of(basis, mode, measure, sizes),
                    power_law_of(basis, mode, measure).at(sizes),
                    np.array(realized),
                    int(cell["seed"]),
                )
            )
    return curves


ConstantsOf = Callable[[Curve], Constants]
"""The constants that a curve is judged with."""


def scores_of(curves: Sequence[Curve], constants_of: ConstantsOf) -> list[Score]:
    """All forecasts with these constants."""
    tail, scores = (1 - CONFIDENCE) / 2, []
    for curve in curves:
        calibrated = curve.regression.solved(constants_of(curve))
        columns = (
            curve.factors,
            calibrated.values,
            calibrated.quantiles(tail),
            calibrated.quantiles(1 - tail),
            curve.power_law,
            curve.realized,
        )
        for factor, *figures in zip(*columns, strict=True):
            told = map(float, figures)
            scores.append(
                Score(curve.corpus, curve.learner, curve.mode, curve.n_pilot, factor, *told, seed=curve.seed)
            )
    return scores


def summed_up(scores: Sequence[Score]) -> dict[str, Any]:
    """Mean absolute errors of forecast and power law, their ratio, the bias and the coverage."""
    forecast = np.array([score.forecast - score.realized for score in scores])
    power_law = np.array([score.power_law - score.realized for score in scores])
    inside = np.array([score.is_held for score in scores])
    # Forecasts from one pilot err together: the farthest, of its last mode, stands for all of them.
    pilots = {(score.corpus, score.learner, score.n_pilot, score.seed): score.is_held for score in scores}
    return {
        "n_forecasts": len(scores),
        "mean_absolute_error": float(np.abs(forecast).mean()),
        "mean_absolute_error_se": _standard_error(np.abs(forecast)),
        "power_law": float(np.abs(power_law).mean()),
        "power_law_se": _standard_error(np.abs(power_law)),
        "ratio": float(np.abs(forecast).mean() / np.abs(power_law).mean()),
        "bias": float(forecast.mean()),
        "coverage": float(inside.mean()),
        "coverage_se": _standard_error(inside.astype(np.float64)),
        "n_pilots": len(pilots),
        "n_pilots_held": sum(pilots.values()),
        # How probable so few, or fewer, would be.
        "p_of_pilots": float(binom.cdf(sum(pilots.values()), len(pilots), CONFIDENCE)),
        "interval_width": float(np.mean([score.high - score.low for score in scores])),
        "mean_realized": float(np.mean([score.realized for score in scores])),
    }


def grouped(scores: Sequence[Score], key: Callable[[Score], Hashable]) -> Mapping[Any, list[Score]]:
    """Scores by what they share, in the order they appear."""
    groups: dict[Any, list[Score]] = {}
    for score in scores:
        groups.setdefault(key(score), []).append(score)
    return groups


def _standard_error(values: FloatArray) -> float:
    return float(values.std(ddof=1) / np.sqrt(len(values))) if len(values) > 1 else float("nan")
