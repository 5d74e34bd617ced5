"""The whole story on scikit-learn's digits: pilot, worth of labels, forecast, verdict, and what happened."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from labelworth.arrays import FloatArray
from labelworth.criteria.information import document_information
from labelworth.criteria.table import InformationTable
from labelworth.data.evidence import encode_labels
from labelworth.data.samples import Samples
from labelworth.demo.digits_forecast import Level, forecast_anyway, forecast_if_right
from labelworth.estimation.fit import fit
from labelworth.models.classes.gaussian import GaussianFamily
from labelworth.progress import SILENT, Progress, tracking
from labelworth.robust.check import CheckReport, check_samples
from labelworth.robust.held_out import held_out_predictions

_N_FOLDS = 5


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
    realized: FloatArray  # (n_weights, n_draws, n_sizes): Errors on held-out images.


def data_path() -> Path:
    """The file scikit-learn keeps the images in."""
    from importlib.resources import files

    return Path(str(files("sklearn.datasets.data") / "digits.csv.gz"))


def digits(n_components: int) -> Samples:
    """All images, each by its first principal components, with their classes."""
    from sklearn.datasets import load_digits
    from sklearn.decomposition import PCA

    pixels, classes = load_digits(return_X_y=True)
    components = PCA(n_components, svd_solver="full").fit_transform(pixels)
    return Samples(np.ascontiguousarray(components), encode_labels(classes))


def demonstrate(settings: DemoSettings, seed: int = 0, progress: Progress = SILENT) -> Demonstration:
    """Run the demonstration; everything left to chance follows from `seed`."""
    rng = np.random.default_rng(seed)
    images = digits(settings.n_components)
    order = rng.permutation(images.n_samples)
    rows = order[settings.n_held_out :]
    pool = _with_labels(images.take(rows), settings.n_pilot)
    pilot = pool.labeled_only()
    family = GaussianFamily.for_samples(images).adapted(pool, pool.sample_weights)
    model = fit(family, pilot).model
    label_counts = np.array(settings.label_counts)
    progress.say(f"A pilot of {settings.n_pilot} labels, drawn at random from {pool.n_samples:,} images.")
    table = document_information(
        model,
        labeled_fractions=np.unique(np.concatenate([np.geomspace(0.02, 1.0, 18), label_counts / pool.n_samples])),
        n_samples=pool.n_samples,
        seed=int(rng.integers(2**32)),
        relative_error=settings.relative_error,
        progress=progress,
    )
    level = Level.of(held_out_predictions(family, pool, (0.0,), n_folds=_N_FOLDS, rng=rng), _N_FOLDS)
    report = check_samples(
        pool, family, n_folds=_N_FOLDS, n_bootstrap=settings.n_bootstrap, seed=seed, progress=progress
    )
    weights = _weights(report)
    if_right = forecast_if_right(model, table.dense, level, label_counts, pool.n_samples, rng)
    anyway = forecast_anyway(family, pilot, level, label_counts, pool.n_samples, weights, rng)
    realized = _realized(images, settings, weights, rng, progress)
    return Demonstration(settings, pool.n_samples, table, report, level, weights, if_right, anyway, realized)


def _weights(report: CheckReport) -> tuple[float, ...]:
    advised = 1.0 if report.weight is None else report.weight.best
    return (0.0, 1.0) if advised in {0.0, 1.0} else (0.0, 1.0, advised)


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
