"""What the demonstration says: words, tables and one picture, all from its figures."""

from typing import Any

import numpy as np

from labelworth.data.digest import file_digest
from labelworth.demo.digits import QUICK, Demonstration, DemoSettings, data_path, demonstrate
from labelworth.demo.scenario import Story, band, over_draws
from labelworth.fisher.information import over_fractions
from labelworth.progress import Progress
from labelworth.report.values import (
    ComparisonPanel,
    Curve,
    CurvesPanel,
    Outcome,
    Picture,
    SurfacePanel,
    Table,
)

_N_GRID = 40


def tell(quick: bool, seed: int, progress: Progress) -> Story:
    """Labels and unlabeled images of scikit-learn's digits: the `Scenario` of `labelworth demo`."""
    settings = QUICK if quick else DemoSettings()
    return Story(settings, outcome(demonstrate(settings, seed, progress)), file_digest(data_path()))


def outcome(demo: Demonstration) -> Outcome:
    picture = Picture(
        f"What a label is worth: scikit-learn's digits, from a pilot of {demo.settings.n_pilot} labels",
        (
            _curves_panel(demo),
            _comparison_panel(demo),
            _worth_panel(demo),
            _surface_panel(demo),
        ),
    )
    return Outcome(_figures(demo), _words(demo), (_error_table(demo),), {"": picture})


def _names(demo: Demonstration) -> list[str]:
    usual = {0.0: "labels only", 1.0: "with unlabeled images"}
    return [usual.get(weight, f"unlabeled images count {weight:g}") for weight in demo.weights]


def _figures(demo: Demonstration) -> dict[str, Any]:
    means, errors = over_draws(demo.realized)
    return {
        "n_images": demo.n_pool + demo.settings.n_held_out,
        "n_pool": demo.n_pool,
        "n_pilot": demo.settings.n_pilot,
        "cross_validated_error": demo.level.error,
        "cross_validated_error_se": demo.level.standard_error,
        "information": demo.table.to_dict(),
        "check": demo.report.to_dict(),
        "sizes": [
            {
                "n_labels": count,
                "unlabeled_weight": weight,
                "predicted_error": float(demo.anyway[row, size]),
                "predicted_error_se": demo.level.standard_error,
                "predicted_error_believing_the_model": (
                    float(demo.if_right[row, size]) if row < len(demo.if_right) else None
                ),
                "realized_error": float(means[row, size]),
                "realized_error_se": float(errors[row, size]),
            }
            for row, weight in enumerate(demo.weights)
            for size, count in enumerate(demo.settings.label_counts)
        ],
    }


def _error_table(demo: Demonstration) -> Table:
    settings = demo.settings
    means, _ = over_draws(demo.realized)
    rows = tuple(
        (
            count,
            *(
                f"{error:.3f}"
                for predicted, realized in zip(demo.anyway[:, size], means[:, size], strict=True)
                for error in (predicted, realized)
            ),
        )
        for size, count in enumerate(settings.label_counts)
    )
    heads = {0.0: "labels only"}
    columns = [
        f"{heads.get(weight, f'unlabeled {weight:g}')}: {what}"
        for weight in demo.weights
        for what in ("predicted", "realized")
    ]
    note = (
        f"Predicted from the pilot's {settings.n_pilot} labels alone, to {demo.level.standard_error:.3f}; "
        f"realized on {settings.n_held_out} held-out images, mean of {settings.n_draws} draws of images and labels."
    )
    return Table("Error on new images", ("labels", *columns), rows, note)


def _words(demo: Demonstration) -> tuple[str, ...]:
    settings = demo.settings
    n_unlabeled = demo.n_pool - settings.n_pilot
    return (
        f"The question. Of {demo.n_pool:,} handwritten digits {settings.n_pilot}, drawn at random, have a "
        f"label: the pilot. Are the other {n_unlabeled:,} of any use, and what would more labels buy?",
        _what_the_pilot_says(demo),
        _promise(demo),
        _forecast(demo),
        _what_happened(demo),
    )


def _what_the_pilot_says(demo: Demonstration) -> str:
    report = demo.report
    verdicts = {"hurts": "Unlabeled images hurt.", "helps": "Unlabeled images help."}
    verdict = verdicts.get(report.verdict, "Whether unlabeled images help cannot be told yet.")
    words = [f"What the pilot says. {verdict}"]
    if report.harm is not None:
        error = report.harm.error
        words.append(
            f"Of the pilot's images, each predicted without its own label, {error.labels_only:.1%} are mistaken with "
            f"labels only and {error.with_unlabeled:.1%} with unlabeled images."
        )
    if report.specification is not None and report.specification.rejects():
        words.append(f"The model is wrong (p = {report.specification.p_value:.2g}): unlabeled images mislead it.")
    if report.weight is not None:
        words.append(f"Least risk: let an unlabeled image count {report.weight.best:g} of a labeled one.")
    return " ".join(words)


def _promise(demo: Demonstration) -> str:
    """What the formulas say, for who believes the model."""
    fraction = demo.settings.n_pilot / demo.n_pool
    point = min(demo.table.points, key=lambda point: abs(point.labeled_fraction - fraction))
    worth = point.figures["unlabeled_per_labeled_example"]
    return (
        f"Were the model right ({demo.table.n_parameters} parameters: ten Gaussian classes), a labeled "
        f"image would be worth {worth:.2f} unlabeled ones."
    )


def _forecast(demo: Demonstration) -> str:
    means, _ = over_draws(demo.realized)
    label_counts = demo.settings.label_counts
    gaps = np.abs(demo.anyway - means).mean(axis=1)
    believing = float(np.abs(demo.if_right[1] - means[1]).mean())
    return (
        f"Forecast. From the pilot alone the errors at {label_counts[0]} to {label_counts[-1]} labels were predicted "
        f"within {gaps[0]:.3f} on average with labels only, and within {gaps[1]:.3f} with unlabeled images; "
        f"believing the model would have missed these by {believing:.3f}."
    )


def _what_happened(demo: Demonstration) -> str:
    settings, realized = demo.settings, demo.realized
    size = settings.label_counts.index(settings.n_pilot)
    words = []
    for weight, errors in zip(demo.weights[1:], realized[1:], strict=True):
        gaps = errors[:, size] - realized[0, :, size]
        change = f"{gaps.mean():+.3f} ± {gaps.std(ddof=1) / np.sqrt(len(gaps)):.3f}"
        how = "as much as a labeled one" if weight == 1 else f"{weight:g}"
        words.append(f"{errors[:, size].mean():.3f} where an unlabeled image counts {how} ({change})")
    return (
        f"What happened. With {settings.n_pilot} labels the error on new images was "
        f"{realized[0, :, size].mean():.3f} with labels only, {' and '.join(words)}."
    )


def _curves_panel(demo: Demonstration) -> CurvesPanel:
    means, errors = over_draws(demo.realized)
    labels = np.array(demo.settings.label_counts, dtype=float)
    curves = []
    for row, name in enumerate(_names(demo)):
        forecast = demo.anyway[row]
        low, high = band(forecast, demo.level.standard_error) if row == 0 else (None, None)
        curves.append(Curve(name, labels, forecast, low, high, color=row))
        curves.append(Curve("", labels, means[row], *band(means[row], errors[row]), "points", row))
    curves.append(
        Curve("with unlabeled images, believing the model", labels, demo.if_right[1], style="dashed", color=4)
    )
    return CurvesPanel(
        "Error: predicted (lines) and realized (points)",
        "labels",
        "error on new images",
        tuple(curves),
        x_scale="log",
    )


def _comparison_panel(demo: Demonstration) -> ComparisonPanel:
    means, errors = over_draws(demo.realized)
    groups = [
        Curve(name, demo.anyway[row], means[row], *band(means[row], errors[row]), "points", row)
        for row, name in enumerate(_names(demo))
    ]
    believing = Curve(
        "with unlabeled images, believing the model",
        demo.if_right[1],
        means[1],
        *band(means[1], errors[1]),
        "points",
        4,
    )
    return ComparisonPanel("Predicted against realized error", "predicted", "realized", (*groups, believing))


def _worth_panel(demo: Demonstration) -> CurvesPanel:
    points = [point for point in demo.table.points if point.is_identifiable]
    fractions = np.array([point.labeled_fraction for point in points])
    curves = []
    for row, (name, label) in enumerate(
        {
            "unlabeled_per_labeled_example": "a new labeled image",
            "unlabeled_per_label": "a label on an image of the pool",
        }.items()
    ):
        values = np.array([point.figures[name] for point in points], dtype=float)
        spread = np.array([point.standard_errors.get(name) or 0.0 for point in points])
        curves.append(Curve(label, fractions, values, *band(values, 2 * spread), color=(3, 6)[row]))
    return CurvesPanel(
        "Worth in unlabeled images, if the model is right",
        "labeled fraction of the pool",
        "unlabeled images",
        tuple(curves),
        x_scale="log",
    )


def _surface_panel(demo: Demonstration) -> SurfacePanel:
    sizes, fractions = np.geomspace(100, 10_000, _N_GRID), np.geomspace(0.02, 1.0, _N_GRID)
    information = demo.table.dense
    values = np.stack(
        [over_fractions(information, "excess_log_loss", fractions, n_samples=n).values for n in sizes], axis=1
    )
    return SurfacePanel(
        "Price of estimation, if the model is right",
        "images in all",
        "labeled fraction",
        "excess log-loss (nats per image)",
        sizes,
        fractions,
        values,
    )
