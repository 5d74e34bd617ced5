"""The whole story on scikit-learn's digits: pilot, worth of labels, forecast, verdict, and what happened."""

from dataclasses import dataclass, replace
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from labelworth.arrays import FloatArray
from labelworth.criteria.information import document_information
from labelworth.criteria.table import InformationTable
from labelworth.data.digest import file_digest
from labelworth.data.evidence import encode_labels
from labelworth.data.samples import Samples
from labelworth.demo.digits_forecast import Level, forecast_anyway, forecast_if_right
from labelworth.demo.story import Story, Trials, band, standard_error
from labelworth.estimation.fit import fit
from labelworth.fisher.information import over_fractions
from labelworth.models.classes.gaussian import GaussianFamily
from labelworth.progress import Progress, tracking
from labelworth.report.displays import InformationDisplay
from labelworth.report.values import (
    ComparisonPanel,
    Curve,
    CurvesPanel,
    Outcome,
    Panel,
    Picture,
    SurfacePanel,
    Table,
)
from labelworth.robust.check import CheckReport, check_samples
from labelworth.robust.held_out import held_out_predictions
from labelworth.wording import percent

_N_FOLDS = 5
_N_GRID = 40
_VERDICTS = {"hurts": "Unlabeled images hurt.", "helps": "Unlabeled images help."}
_WORTHS = {
    "unlabeled_per_labeled_example": ("a new labeled image", 3),
    "unlabeled_per_label": ("a label on an image of the pool", 6),
}
"""By the figure of the table, the name and the color of its curve."""


@dataclass(frozen=True)
class DemoSettings:
    """How the demonstration is set up."""

    n_components: int = 6  # Principal components that describe an image.
    n_held_out: int = 500  # Images kept aside to count errors on.
    n_pilot: int = 200  # Labels to begin with, drawn at random.
    # Sizes that are forecast from the pilot, and then tried.
    label_counts: tuple[int, ...] = (50, 100, 200, 400, 800)
    n_draws: int = 10  # How often each is tried, with other images held out and other labels drawn.
    n_bootstrap: int = 99  # Data sets simulated for the specification test.
    relative_error: float = 0.02  # Standard error of the figures on what labels are worth, relative to each.


QUICK = DemoSettings(label_counts=(50, 200, 800), n_draws=3, n_bootstrap=19, relative_error=0.1)
"""The same story, rougher."""


@dataclass(frozen=True, eq=False)
class Demonstration:
    """What the demonstration measured."""

    settings: DemoSettings
    n_pool: int  # Images to label from.
    table: InformationTable  # What labels are worth under the pilot's model, if it is right.
    report: CheckReport  # Whether unlabeled images help.
    level: Level  # The pilot's cross-validated error.
    # How much an unlabeled image counts: 0 (labels alone), 1, and what the check advises where that is between.
    weights: tuple[float, ...]
    if_right: FloatArray  # (2, n_sizes): Forecast errors with weight 0 and 1, believing the model.
    anyway: FloatArray  # (n_weights, n_sizes): Forecast errors, not believing it.
    realized: Trials  # (n_weights, n_draws, n_sizes): Errors on held-out images.


def tell(quick: bool, seed: int, progress: Progress) -> Story:
    """Labels and unlabeled images of scikit-learn's digits: the `Scenario` of `labelworth demo`."""
    settings = QUICK if quick else DemoSettings()
    path = Path(str(files("sklearn.datasets.data") / "digits.csv.gz"))
    return Story(settings, _outcome(_demonstrate(settings, seed, progress)), file_digest(path))


def _demonstrate(settings: DemoSettings, seed: int, progress: Progress) -> Demonstration:
    """Run the demonstration; everything left to chance follows from `seed`."""
    rng = np.random.default_rng(seed)
    images = _digits(settings.n_components)
    order = rng.permutation(images.n_samples)
    pool = _with_labels(images.take(order[settings.n_held_out :]), settings.n_pilot)
    n_pool, pilot = pool.n_samples, pool.labeled_only()
    family = GaussianFamily.for_samples(images).adapted(pool, pool.sample_weights)
    model = fit(family, pilot).model
    label_counts = np.array(settings.label_counts)
    progress.say(f"A pilot of {settings.n_pilot} labels, drawn at random from {n_pool:,} images.")
    table = document_information(
        model,
        labeled_fractions=np.unique(np.concatenate([np.geomspace(0.02, 1.0, 18), label_counts / n_pool])),
        n_samples=n_pool,
        seed=int(rng.integers(2**32)),
        relative_error=settings.relative_error,
        progress=progress,
    )
    level = Level.of(held_out_predictions(family, pool, (0.0,), n_folds=_N_FOLDS, rng=rng), _N_FOLDS)
    report = check_samples(
        pool, family, n_folds=_N_FOLDS, n_bootstrap=settings.n_bootstrap, seed=seed, progress=progress
    )
    advised = () if report.weight is None else (report.weight.best,)
    weights = tuple(dict.fromkeys((0.0, 1.0, *advised)))
    if_right = forecast_if_right(model, table.dense, level, label_counts, n_pool, rng)
    anyway = forecast_anyway(family, pilot, level, label_counts, n_pool, weights, rng)
    realized = _realized(images, settings, weights, rng, progress)
    return Demonstration(settings, n_pool, table, report, level, weights, if_right, anyway, Trials(realized))


def _digits(n_components: int) -> Samples:
    """All images, each by its first principal components, with their classes."""
    from sklearn.datasets import load_digits
    from sklearn.decomposition import PCA

    pixels, classes = load_digits(return_X_y=True)
    components = PCA(n_components, svd_solver="full").fit_transform(pixels)
    return Samples(np.ascontiguousarray(components), encode_labels(classes))


def _with_labels(samples: Samples, n_labels: int) -> Samples:
    """The labels of the first rows; the rows come in random order."""
    return samples.hide(np.arange(samples.n_samples) >= n_labels)


def _realized(
    images: Samples,
    settings: DemoSettings,
    weights: tuple[float, ...],
    rng: np.random.Generator,
    progress: Progress,
) -> FloatArray:
    """Buy the labels: errors on held-out images, shape (n_weights, n_draws, n_sizes)."""
    errors = np.empty((len(weights), settings.n_draws, len(settings.label_counts)))
    with tracking(progress, "buying the labels", errors.size) as task:
        for draw in range(settings.n_draws):
            order = rng.permutation(images.n_samples)
            held_out = images.take(order[: settings.n_held_out])
            pool = images.take(order[settings.n_held_out :])
            family = GaussianFamily.for_samples(images).adapted(pool, pool.sample_weights)
            for size, count in enumerate(settings.label_counts):
                for row, weight in enumerate(weights):
                    model = fit(family, _with_labels(pool, count), unlabeled_weight=weight).model
                    wrong = model.log_joint(held_out).argmax(axis=1) != held_out.evidence.codes
                    errors[row, draw, size] = wrong.mean()
                    task.advance()
    return errors


def _outcome(demo: Demonstration) -> Outcome:
    settings = demo.settings
    title = f"What a label is worth: scikit-learn's digits, from a pilot of {settings.n_pilot} labels"
    picture = Picture(title, (*_error_panels(demo), _worth_panel(demo), _surface_panel(demo)))
    words = (
        f"The question. Of {demo.n_pool:,} handwritten digits {settings.n_pilot}, drawn at random, have a "
        f"label: the pilot. Are the other {demo.n_pool - settings.n_pilot:,} of any use, and what would more labels "
        "buy?",
        _what_the_pilot_says(demo.report),
        _promise(demo),
        _forecast(demo),
        _what_happened(demo),
    )
    figures = {
        "n_images": demo.n_pool + settings.n_held_out,
        "n_pool": demo.n_pool,
        "n_pilot": settings.n_pilot,
        "cross_validated_error": demo.level.error,
        "cross_validated_error_se": demo.level.standard_error,
        "information": demo.table.to_dict(),
        "check": demo.report.to_dict(),
        "sizes": _sizes(demo),
    }
    return Outcome(figures, words, (_error_table(demo),), {"": picture})


def _sizes(demo: Demonstration) -> list[dict[str, Any]]:
    return [
        {
            "n_labels": count,
            "unlabeled_weight": weight,
            "predicted_error": demo.anyway[row, size],
            "predicted_error_se": demo.level.standard_error,
            "predicted_error_believing_the_model": demo.if_right[row, size] if row < len(demo.if_right) else None,
            "realized_error": demo.realized.means[row, size],
            "realized_error_se": demo.realized.standard_errors[row, size],
        }
        for row, weight in enumerate(demo.weights)
        for size, count in enumerate(demo.settings.label_counts)
    ]


def _error_table(demo: Demonstration) -> Table:
    settings = demo.settings
    pairs = np.stack([demo.anyway, demo.realized.means], axis=1).reshape(-1, len(settings.label_counts))
    rows = zip(settings.label_counts, *([f"{error:.3f}" for error in errors] for errors in pairs), strict=True)
    columns = [
        f"{f'unlabeled {weight:g}' if weight else 'labels only'}: {what}"
        for weight in demo.weights
        for what in ("predicted", "realized")
    ]
    note = (
        f"Predicted from the pilot's {settings.n_pilot} labels alone, to {demo.level.standard_error:.3f}; "
        f"realized on {settings.n_held_out} held-out images, mean of {settings.n_draws} draws of images and labels."
    )
    return Table("Error on new images", ("labels", *columns), tuple(rows), note)


def _what_the_pilot_says(report: CheckReport) -> str:
    verdict = _VERDICTS.get(report.verdict, "Whether unlabeled images help cannot be told yet.")
    words = [f"What the pilot says. {verdict}"]
    if report.harm is not None:
        error = report.harm.error
        words.append(
            f"Of the pilot's images, each predicted without its own label, {percent(error.labels_only, 1)} are "
            f"mistaken with labels only and {percent(error.with_unlabeled, 1)} with unlabeled images."
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
    means, label_counts = demo.realized.means, demo.settings.label_counts
    gaps = np.abs(demo.anyway - means).mean(axis=1)
    believing = float(np.abs(demo.if_right[1] - means[1]).mean())
    return (
        f"Forecast. From the pilot alone the errors at {label_counts[0]} to {label_counts[-1]} labels were predicted "
        f"within {gaps[0]:.3f} on average with labels only, and within {gaps[1]:.3f} with unlabeled images; "
        f"believing the model would have missed these by {believing:.3f}."
    )


def _what_happened(demo: Demonstration) -> str:
    settings = demo.settings
    labels_only, *others = demo.realized.draws[:, :, settings.label_counts.index(settings.n_pilot)]
    words = []
    for weight, errors in zip(demo.weights[1:], others, strict=True):
        gaps = errors - labels_only
        how = "as much as a labeled one" if weight == 1 else f"{weight:g}"
        change = f"{gaps.mean():+.3f} ± {standard_error(gaps):.3f}"
        words.append(f"{errors.mean():.3f} where an unlabeled image counts {how} ({change})")
    return (
        f"What happened. With {settings.n_pilot} labels the error on new images was {labels_only.mean():.3f} with "
        f"labels only, {' and '.join(words)}."
    )


def _error_panels(demo: Demonstration) -> tuple[Panel, Panel]:
    """Over the number of labels, and predicted against realized."""
    labels = np.array(demo.settings.label_counts, dtype=float)
    usual = {0.0: "labels only", 1.0: "with unlabeled images"}
    curves, groups = [], []
    for row, (weight, forecast) in enumerate(zip(demo.weights, demo.anyway, strict=True)):
        name = usual.get(weight, f"unlabeled images count {weight:g}")
        low, high = band(forecast, demo.level.standard_error) if row == 0 else (None, None)
        curves.append(Curve(name, labels, forecast, low, high, color=row))
        curves.append(demo.realized.points("", labels, row, color=row))
        groups.append(demo.realized.points(name, forecast, row, color=row))
    believing, forecast = f"{usual[1.0]}, believing the model", demo.if_right[1]
    curves.append(Curve(believing, labels, forecast, style="dashed", color=4))
    groups.append(demo.realized.points(believing, forecast, 1, color=4))
    title = "Error: predicted (lines) and realized (points)"
    return (
        CurvesPanel(title, "labels", "error on new images", tuple(curves), x_scale="log"),
        ComparisonPanel("Predicted against realized error", "predicted", "realized", tuple(groups)),
    )


def _worth_panel(demo: Demonstration) -> CurvesPanel:
    panels = {name: InformationDisplay(demo.table, name).panel() for name in _WORTHS}
    curves = [replace(panels[name].curves[0], label=label, color=color) for name, (label, color) in _WORTHS.items()]
    title = "Worth in unlabeled images, if the model is right"
    return CurvesPanel(title, "labeled fraction of the pool", "unlabeled images", tuple(curves), x_scale="log")


def _surface_panel(demo: Demonstration) -> SurfacePanel:
    sizes, fractions = np.geomspace(100, 10_000, _N_GRID), np.geomspace(0.02, 1.0, _N_GRID)
    losses = [over_fractions(demo.table.dense, "excess_log_loss", fractions, n_samples=n).values for n in sizes]
    return SurfacePanel(
        "Price of estimation, if the model is right",
        "images in all",
        "labeled fraction",
        "excess log-loss (nats per image)",
        sizes,
        fractions,
        np.stack(losses, axis=1),
    )
