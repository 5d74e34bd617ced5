"""The whole story on scikit-learn's digits: pilot, worth of labels, forecast, verdict, and what happened."""

from dataclasses import dataclass, replace
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import ndtri

from labelworth.arrays import FloatArray, IntArray
from labelworth.criteria.information import document_information
from labelworth.criteria.table import InformationTable
from labelworth.data.digest import file_digest
from labelworth.data.evidence import encode_labels
from labelworth.data.samples import Samples
from labelworth.demo.story import Story, Trials, standard_error
from labelworth.estimation.fit import fit
from labelworth.estimators.pools.documents import ClassLearner, DocumentPool
from labelworth.fisher.information import over_fractions
from labelworth.models.classes.gaussian import GaussianFamily
from labelworth.models.protocol import AnyFamily
from labelworth.planning.formulas.documents import formula_excess
from labelworth.planning.units import apart
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
from labelworth.simulation.basis import Points, forecast_basis
from labelworth.simulation.forecast import CONFIDENCE, Forecast, forecast
from labelworth.simulation.learner import Mode
from labelworth.wording import percent

_N_FOLDS = 5
_N_GRID = 40
_SPREAD = 2 * float(ndtri((1 + CONFIDENCE) / 2))  # Standard errors that an interval is wide.
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
    pilot_points: Points  # Cross-validated errors of parts of the pilot, with labels alone.
    # How much an unlabeled image counts: 0 (labels alone), 1, and what the check advises where that is between.
    weights: tuple[float, ...]
    believing: FloatArray  # (2, n_sizes): Errors with weight 0 and 1 that follow from the model, were it right.
    forecasts: tuple[Forecast, ...]  # One per weight, by simulated labels on the real images.
    realized: Trials  # (n_weights, n_draws, n_sizes): Errors on held-out images.

    @property
    def predicted(self) -> FloatArray:
        """The forecasts' medians, (n_weights, n_sizes)."""
        return np.stack([forecast.values for forecast in self.forecasts])


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
    fitted = fit(family, pilot)
    label_counts = np.array(settings.label_counts)
    progress.say(f"A pilot of {settings.n_pilot} labels, drawn at random from {n_pool:,} images.")
    table = document_information(
        fitted.model,
        labeled_fractions=np.unique(np.concatenate([np.geomspace(0.02, 1.0, 18), label_counts / n_pool])),
        n_samples=n_pool,
        seed=int(rng.integers(2**32)),
        relative_error=settings.relative_error,
        progress=progress,
    )
    report = check_samples(
        pool, family, n_folds=_N_FOLDS, n_bootstrap=settings.n_bootstrap, seed=seed, progress=progress
    )
    advised = () if report.weight is None else (report.weight.best,)
    weights = tuple(dict.fromkeys((0.0, 1.0, *advised)))
    points, forecasts = _forecasts(family, pool, weights, settings.label_counts, seed, progress)
    # The formulas speak at the model that the labels alone give.
    believing = _believing(DocumentPool(pool, fitted, family), points, label_counts, seed)
    realized = Trials(_realized(images, settings, weights, rng, progress))
    return Demonstration(settings, n_pool, table, report, points, weights, believing, forecasts, realized)


def _forecasts(
    family: AnyFamily,
    pool: Samples,
    weights: tuple[float, ...],
    label_counts: tuple[int, ...],
    seed: int,
    progress: Progress,
) -> tuple[Points, tuple[Forecast, ...]]:
    """As a plan makes them, one per weight; the first two are the two modes of learning, of one basis."""
    modes: tuple[Mode, ...] = ("labels-only", "semi-supervised")
    bases = [
        forecast_basis(ClassLearner(family, weight), pool, max(label_counts), seed=seed, progress=progress)
        for weight in weights[1:]
    ]
    pairs = zip((bases[0], *bases), (modes[0], *[modes[1]] * len(bases)), strict=True)
    forecasts = tuple(forecast(basis, mode, "error", label_counts) for basis, mode in pairs)
    return bases[0].points["labels-only", "error"], forecasts


def _believing(pool: DocumentPool, points: Points, label_counts: IntArray, seed: int) -> FloatArray:
    """What the formulas add to the error with and without unlabeled images, on the level of the labels alone.

    The level is one for both: were the model right, both ways would end at the same predictions.
    """
    n_pool = float(pool.n_samples)
    alone = formula_excess(pool, "labels-only", "error", n_pool, seed)
    together = formula_excess(pool, "semi-supervised", "error", n_pool, seed)
    assert alone is not None
    assert together is not None
    level = points.means[-1] - alone(points.sizes[-1:].astype(np.float64))
    labels = label_counts.astype(np.float64)
    return np.asarray(level + np.stack([alone(labels), together(labels)]))


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
        "cross_validated_error": demo.pilot_points.means[-1],
        "cross_validated_error_se": np.sqrt(demo.pilot_points.covariance[-1, -1]),
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
            "predicted_error": forecast.values[size],
            "predicted_error_se": (forecast.high[size] - forecast.low[size]) / _SPREAD,
            "predicted_error_low": forecast.low[size],
            "predicted_error_high": forecast.high[size],
            "predicted_error_believing_the_model": demo.believing[row, size] if row < len(demo.believing) else None,
            "realized_error": demo.realized.means[row, size],
            "realized_error_se": demo.realized.standard_errors[row, size],
        }
        for row, (weight, forecast) in enumerate(zip(demo.weights, demo.forecasts, strict=True))
        for size, count in enumerate(demo.settings.label_counts)
    ]


def _error_table(demo: Demonstration) -> Table:
    settings = demo.settings
    # The story and its picture have the sizes between; a screen has not the room.
    shown = {min(settings.label_counts), settings.n_pilot, max(settings.label_counts)}
    rows = tuple(
        (
            size["n_labels"],
            f"{size['unlabeled_weight']:g}" if size["unlabeled_weight"] else "labels only",
            percent(size["predicted_error"], 1),
            f"{100 * size['predicted_error_low']:.1f}-{percent(size['predicted_error_high'], 1)}",
            percent(size["realized_error"], 1),
        )
        for size in sorted(_sizes(demo), key=lambda size: (size["n_labels"], size["unlabeled_weight"]))
        if size["n_labels"] in shown
    )
    note = (
        "Count: how much an unlabeled image counts beside a labeled one. "
        f"Predicted from a pilot of {settings.n_pilot} labels; "
        f"realized on {settings.n_held_out} held-out images, mean of {settings.n_draws} draws of images and labels."
    )
    return Table("Error on new images", ("labels", "count", "predicted", percent(CONFIDENCE), "realized"), rows, note)


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
    gaps = np.abs(demo.predicted - means).mean(axis=1)
    believing = float(np.abs(demo.believing[1] - means[1]).mean())
    points = [apart(gap, "error") for gap in (*gaps[:2].tolist(), believing)]
    pairs = zip(demo.forecasts, means, strict=True)
    inside = sum(int(((forecast.low <= mean) & (mean <= forecast.high)).sum()) for forecast, mean in pairs)
    return (
        f"Forecast. From the pilot alone the errors at {label_counts[0]} to {label_counts[-1]} labels were predicted "
        f"within {points[0]} on average with labels only, and within {points[1]} with unlabeled images; "
        f"believing the model would have missed these by {points[2]}. {inside} of {means.size} realized errors "
        f"lie in the forecasts' {percent(CONFIDENCE)} intervals."
    )


def _what_happened(demo: Demonstration) -> str:
    settings = demo.settings
    labels_only, *others = demo.realized.draws[:, :, settings.label_counts.index(settings.n_pilot)]
    words = []
    for weight, errors in zip(demo.weights[1:], others, strict=True):
        gaps = errors - labels_only
        how = "as much as a labeled one" if weight == 1 else f"{weight:g}"
        change = f"{100 * gaps.mean():+.1f} ± {100 * standard_error(gaps):.1f} points"
        words.append(f"{percent(errors.mean(), 1)} where an unlabeled image counts {how} ({change})")
    return (
        f"What happened. With {settings.n_pilot} labels the error on new images was "
        f"{percent(labels_only.mean(), 1)} with "
        f"labels only, {' and '.join(words)}."
    )


def _error_panels(demo: Demonstration) -> tuple[Panel, Panel]:
    """Over the number of labels, and predicted against realized."""
    labels = np.array(demo.settings.label_counts, dtype=float)
    usual = {0.0: "labels only", 1.0: "with unlabeled images"}
    curves, groups = [], []
    for row, (weight, curve) in enumerate(zip(demo.weights, demo.forecasts, strict=True)):
        name = usual.get(weight, f"unlabeled images count {weight:g}")
        low, high = (curve.low, curve.high) if row < len(usual) else (None, None)
        curves.append(Curve(name, labels, curve.values, low, high, color=row))
        curves.append(demo.realized.points("", labels, row, color=row))
        groups.append(demo.realized.points(name, curve.values, row, color=row))
    name = f"{usual[1.0]}, believing the model"
    curves.append(Curve(name, labels, demo.believing[1], style="dashed", color=4))
    groups.append(demo.realized.points(name, demo.believing[1], 1, color=4))
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
    losses = over_fractions(demo.table.dense, "excess_log_loss", fractions).values
    return SurfacePanel(
        "Price of estimation, if the model is right",
        "images in all",
        "labeled fraction",
        "excess log-loss (nats per image)",
        sizes,
        fractions,
        np.divide.outer(losses, sizes),  # Of Cov = I(f)^-1 / n.
    )
