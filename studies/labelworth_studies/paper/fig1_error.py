"""Reuters: held-out classification error over documents and labeled fraction.

Paper: fig:lorem1.
"""

from collections.abc import Sequence

from labelworth.report.values import Picture
from labelworth_studies.paper.parts.panel_surfaces import Surfaces, picture_of, steps_table
from labelworth_studies.paper.parts.reuters_study import reuters_study

NAMES = ("error", "excess_error", "log_loss", "error_labels_only", "robust_error")


def _harm(surfaces: Surfaces) -> dict[str, float]:
    error, alone = surfaces.values["error"][:-1], surfaces.values["error_labels_only"][:-1]
    return {
        "share_of_points_where_unlabeled_harm": float((error > alone).mean()),
        "error_rank_correlation_with_robust_error": surfaces.rank_correlation("error", "robust_error"),
        "mean_absolute_difference_to_robust_error": float(
            abs(surfaces.values["error"] - surfaces.values["robust_error"]).mean()
        ),
    }


def _sentence(surfaces: Surfaces) -> str:
    error, harm = surfaces.values["error"], _harm(surfaces)
    in_size, in_fraction = surfaces.falling_steps("error")
    return (
        f"{surfaces.setting.title}: error {error[0, 0]:.3f} at n = {surfaces.sizes[0]} and "
        f"{surfaces.fractions[0]:.0%} labeled, {error[-1, -1]:.3f} at n = {surfaces.sizes[-1]} and all labeled. It "
        f"falls at {in_size:.0%} of the steps in n and {in_fraction:.0%} of those in the fraction. Unlabeled "
        f"documents do harm at {harm['share_of_points_where_unlabeled_harm']:.0%} of the points; the robust formula "
        f"is {harm['mean_absolute_difference_to_robust_error']:.3f} off on average."
    )


def _pictures(settings: Sequence[Surfaces]) -> dict[str, Picture]:
    return {
        "": picture_of(settings, "error", "Reuters: held-out classification error"),
        "excess": picture_of(settings, "excess_error", "Reuters: what is lost against all labels of the fold"),
        "robust": picture_of(settings, "robust_error", "Reuters: the error that the robust formula expects"),
    }


STUDY = reuters_study(
    "fig1-error",
    "Reuters: held-out classification error over n and labeled fraction",
    parts=("experiment", "robust"),
    shown=NAMES,
    figures=_harm,
    words=lambda settings: tuple(map(_sentence, settings)),
    tables=lambda settings: (steps_table(settings, ("error", "error_labels_only", "robust_error")),),
    pictures=_pictures,
)
