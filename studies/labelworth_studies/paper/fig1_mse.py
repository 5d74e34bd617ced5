"""Reuters: squared error of the fitted probabilities over documents and labeled fraction.

Paper: fig:lorem1.
"""

from collections.abc import Sequence

import numpy as np

from labelworth.report.values import Picture
from labelworth_studies.paper.parts.panel_surfaces import Surfaces, picture_of, steps_table
from labelworth_studies.paper.parts.reuters_study import reuters_study

NAMES = ("mse", "mse_labels_only", "robust_mse")


def _off(surfaces: Surfaces) -> dict[str, float]:
    ratio = np.log(surfaces.values["robust_mse"] / surfaces.values["mse"])
    return {
        "mse_rank_correlation_with_robust_mse": surfaces.rank_correlation("mse", "robust_mse"),
        "typical_factor_robust_is_off": float(np.exp(np.median(np.abs(ratio)))),
        "worst_factor_robust_is_off": float(np.exp(np.abs(ratio).max())),
    }


def _sentence(surfaces: Surfaces) -> str:
    in_size, in_fraction = surfaces.falling_steps("mse")
    off = _off(surfaces)
    return (
        f"{surfaces.setting.title}: the squared error falls at {in_size:.0%} of the steps in n and {in_fraction:.0%} "
        f"of those in the fraction; the robust formula is off by {off['typical_factor_robust_is_off']:.2f} times "
        f"typically and {off['worst_factor_robust_is_off']:.1f} at worst, and ranks the points at "
        f"{off['mse_rank_correlation_with_robust_mse']:.2f}."
    )


def _pictures(settings: Sequence[Surfaces]) -> dict[str, Picture]:
    measured = "Reuters: squared error of all probabilities, against those fitted on everything"
    return {
        "": picture_of(settings, "mse", measured),
        "robust": picture_of(settings, "robust_mse", "Reuters: the squared error that the robust formula expects"),
    }


STUDY = reuters_study(
    "fig1-mse",
    "Reuters: squared error of the parameters over n and labeled fraction",
    parts=("experiment", "robust"),
    shown=NAMES,
    figures=_off,
    words=lambda settings: tuple(map(_sentence, settings)),
    tables=lambda settings: (steps_table(settings, NAMES),),
    pictures=_pictures,
)
