"""What the demonstration says: words, tables and one picture, all from its figures."""

from typing import Any

import numpy as np

from labelworth.arrays import FloatArray
from labelworth.demo.digits import Demonstration
from labelworth.fisher.information import over_fractions
from labelworth.report.values import (
    ComparisonPanel,
    Curve,
    CurvesPanel,
    Measured,
    Outcome,
    Picture,
    SurfacePanel,
    Table,
)

_N_GRID = 40


def outcome(found: Demonstration) -> Outcome:
    """Everything for people and for the record."""
    picture = Picture(
        f"What a label is worth: scikit-learn's digits, from a pilot of {found.settings.n_pilot} labels",
        (_curves_panel(found), _comparison_panel(found), _worth_panel(found), _surface_panel(found)),
    )
    return Outcome(_figures(found), _words(found), (_worth_table(found), _error_table(found)), {"": picture})


def _means(found: Demonstration) -> tuple[FloatArray, FloatArray]:
    """Realized errors and their standard errors over the draws, shape (n_weights, n_sizes)."""
    errors = found.realized
    return errors.mean(axis=1), errors.std(axis=1, ddof=1) / np.sqrt(errors.shape[1])


def _names(found: Demonstration) -> list[str]:
    usual = {0.0: "labels only", 1.0: "with unlabeled images"}
    return [usual.get(weight, f"unlabeled images count {weight:g}") for weight in found.weights]


def _figures(found: Demonstration) -> dict[str, Any]:
    means, errors = _means(found)
    return {
        "n_images": found.n_pool + found.settings.n_held_out,
        "n_pool": found.n_pool,
        "n_pilot": found.settings.n_pilot,
        "cross_validated_error": found.level.error,
        "cross_validated_error_se": found.level.standard_error,
        "information": found.table.to_dict(),
        "check": found.report.to_dict(),
        "sizes": [
            {
                "n_labels": count,
                "unlabeled_weight": weight,
                "predicted_error": float(found.anyway[place, size]),
                "predicted_error_se": found.level.standard_error,
                "predicted_error_believing_the_model": (
                    float(found.if_right[place, size]) if place < len(found.if_right) else None
                ),
                "realized_error": float(means[place, size]),
                "realized_error_se": float(errors[place, size]),
            }
            for place, weight in enumerate(found.weights)
            for size, count in enumerate(found.settings.label_counts)
        ],
    }


def _worth_table(found: Demonstration) -> Table:
    asked = {found.settings.n_pilot / found.n_pool, 1.0}
    asked |= {count / found.n_pool for count in found.settings.label_counts}
    rows = tuple(
        (
            round(point.labeled_fraction * found.n_pool),
            f"{point.labeled_fraction:.0%}",
            _measured(point, "unlabeled_per_labeled_example"),
            _measured(point, "unlabeled_per_label"),
            _measured(point, "excess_log_loss"),
        )
        for point in found.table.points
        if any(np.isclose(point.labeled_fraction, fraction) for fraction in asked)
    )
    return Table(
        f"What labels are worth, if the model is right (pool of {found.n_pool:,} images)",
        (
            "labels",
            "share",
            "a labeled image = unlabeled ones",
            "a label = unlabeled images",
            "excess log-loss",
        ),
        rows,
        f"Ten Gaussian classes with one covariance on {found.settings.n_components} principal components, "
        f"{found.table.n_parameters} parameters, as {found.settings.n_pilot} labels drawn at random show them.",
    )


def _measured(point: Any, name: str) -> Measured:
    value = point.figures[name]
    return Measured(float("nan") if value is None else value, point.standard_errors.get(name))


def _error_table(found: Demonstration) -> Table:
    means, errors = _means(found)
    rows = tuple(
        (
            count,
            weight,
            Measured(float(found.anyway[place, size]), found.level.standard_error),
            Measured(float(means[place, size]), float(errors[place, size])),
            float(found.if_right[place, size]) if place < len(found.if_right) else None,
        )
        for size, count in enumerate(found.settings.label_counts)
        for place, weight in enumerate(found.weights)
    )
    note = (
        f"Predicted from the pilot's {found.settings.n_pilot} labels alone; realized on {found.settings.n_held_out} "
        f"held-out images, mean of {found.settings.n_draws} draws of images and labels. An image that counts "
        "0 is left out."
    )
    columns = ("labels", "an unlabeled image counts", "predicted", "realized", "predicted, believing the model")
    return Table("Error on new images", columns, rows, note)


def _words(found: Demonstration) -> tuple[str, ...]:
    means, _ = _means(found)
    settings = found.settings
    gaps = np.abs(found.anyway - means).mean(axis=1)
    believing = float(np.abs(found.if_right[1] - means[1]).mean())
    forecast = (
        f"Forecast. From {settings.n_pilot} labels the errors at {settings.label_counts[0]} to "
        f"{settings.label_counts[-1]} labels were predicted within {gaps[0]:.3f} on average with labels only, and "
        f"within {gaps[1]:.3f} with unlabeled images; believing the model would have missed these by {believing:.3f}."
    )
    said = "\n".join([f"What the pilot says. Verdict: {found.report.verdict}.", *found.report.lines()])
    return (said, forecast, _what_happened(found))


def _what_happened(found: Demonstration) -> str:
    settings = found.settings
    place = settings.label_counts.index(settings.n_pilot)
    words = []
    for weight, errors in zip(found.weights[1:], found.realized[1:], strict=True):
        gaps = errors[:, place] - found.realized[0, :, place]
        change = f"{gaps.mean():+.3f} ± {gaps.std(ddof=1) / np.sqrt(len(gaps)):.3f}"
        how = "as much as a labeled one" if weight == 1 else f"{weight:g}"
        words.append(f"{errors[:, place].mean():.3f} where an unlabeled image counts {how} (a change of {change})")
    alone = found.realized[0, :, place].mean()
    return (
        f"What happened. With {settings.n_pilot} labels the error on new images was {alone:.3f} with labels only, "
        f"{' and '.join(words)}."
    )


def _band(values: FloatArray, width: FloatArray | float) -> tuple[FloatArray, FloatArray]:
    return values - width, values + width


def _curves_panel(found: Demonstration) -> CurvesPanel:
    means, errors = _means(found)
    labels = np.array(found.settings.label_counts, dtype=float)
    curves = []
    for place, name in enumerate(_names(found)):
        forecast = found.anyway[place]
        low, high = _band(forecast, found.level.standard_error) if place == 0 else (None, None)
        curves.append(Curve(name, labels, forecast, low, high, color=place))
        curves.append(Curve("", labels, means[place], *_band(means[place], errors[place]), "points", place))
    curves.append(
        Curve("with unlabeled images, believing the model", labels, found.if_right[1], style="dashed", color=4)
    )
    return CurvesPanel(
        "Error: predicted (lines) and realized (points)",
        "labels",
        "error on new images",
        tuple(curves),
        x_scale="log",
    )


def _comparison_panel(found: Demonstration) -> ComparisonPanel:
    means, errors = _means(found)
    groups = [
        Curve(name, found.anyway[place], means[place], *_band(means[place], errors[place]), "points", place)
        for place, name in enumerate(_names(found))
    ]
    believing = Curve(
        "with unlabeled images, believing the model",
        found.if_right[1],
        means[1],
        *_band(means[1], errors[1]),
        "points",
        4,
    )
    return ComparisonPanel("Predicted against realized error", "predicted", "realized", (*groups, believing))


def _worth_panel(found: Demonstration) -> CurvesPanel:
    points = [point for point in found.table.points if point.is_identifiable]
    fractions = np.array([point.labeled_fraction for point in points])
    curves = []
    for place, (name, label) in enumerate(
        {
            "unlabeled_per_labeled_example": "a new labeled image",
            "unlabeled_per_label": "a label on an image of the pool",
        }.items()
    ):
        measured = [_measured(point, name) for point in points]
        values = np.array([entry.value for entry in measured])
        spread = np.array([entry.standard_error or 0.0 for entry in measured])
        curves.append(Curve(label, fractions, values, *_band(values, 2 * spread), color=(3, 6)[place]))
    return CurvesPanel(
        "Worth in unlabeled images, if the model is right",
        "labeled fraction of the pool",
        "unlabeled images",
        tuple(curves),
        x_scale="log",
    )


def _surface_panel(found: Demonstration) -> SurfacePanel:
    sizes, fractions = np.geomspace(100, 10_000, _N_GRID), np.geomspace(0.02, 1.0, _N_GRID)
    information = found.table.dense
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
