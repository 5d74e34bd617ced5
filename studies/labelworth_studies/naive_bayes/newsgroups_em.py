"""20 Newsgroups by date: what unlabeled posts add to 1, 2, ..., 512 labels per class, against the published table."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from labelworth.arrays import FloatArray
from labelworth.progress import Progress
from labelworth.report.values import Curve, CurvesPanel, Measured, Outcome, Picture, Table
from labelworth_studies.corpora.newsgroups_documents import counted_documents, newsgroups_digest
from labelworth_studies.naive_bayes.newsgroups_em_tuning import EQUAL_CLASSES
from labelworth_studies.naive_bayes.parts.newsgroups_fit import Settings, cell_of, compute
from labelworth_studies.runner.study import Cell, Result, Study

LABELS_PER_CLASS = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512)
N_DRAWS = 10

# Both were chosen by `labelworth reproduce newsgroups-em-tuning`, which never reads the test posts.
EM = Settings("inverse-document", 4.0, 0.005, EQUAL_CLASSES)
SUPERVISED = Settings("inverse-document", 6.0, 0.06, EQUAL_CLASSES, unlabeled_weight=0.0)


@dataclass(frozen=True)
class Published:
    """A row of the published table: mean and standard deviation over 10 draws, per number of labels."""

    means: tuple[float, ...]
    deviations: tuple[float, ...]
    n_draws: int = 10

    @property
    def standard_errors(self) -> FloatArray:
        """Of the means."""
        errors: FloatArray = np.array(self.deviations) / np.sqrt(self.n_draws)
        return errors


# The LingPipe tutorial on EM for naive Bayes: the same split, headers stripped.
PUBLISHED = {
    "em": Published(
        (0.389, 0.483, 0.615, 0.661, 0.712, 0.735, 0.755, 0.770, 0.789, 0.808),
        (0.068, 0.038, 0.027, 0.020, 0.012, 0.007, 0.006, 0.002, 0.002, 0.001),
    ),
    "supervised": Published(
        (0.130, 0.183, 0.239, 0.357, 0.481, 0.581, 0.677, 0.735, 0.778, 0.802),
        (0.009, 0.021, 0.016, 0.012, 0.012, 0.011, 0.007, 0.004, 0.003, 0.001),
    ),
}


@dataclass(frozen=True)
class Accuracies:
    """Test accuracy over the draws, per number of labels."""

    labels_per_class: tuple[int, ...]
    means: FloatArray  # Over the draws.
    standard_errors: FloatArray
    published: FloatArray  # The published means at the same numbers of labels.
    published_errors: FloatArray

    @property
    def lead(self) -> FloatArray:
        """By how many joint standard errors we are above the published means."""
        difference: FloatArray = self.means - self.published
        return difference / np.hypot(self.standard_errors, self.published_errors)


def cells(quick: bool, seed: int) -> list[dict[str, Any]]:
    """Both methods at every number of labels on the same draws; the quick grid has three draws of four sizes."""
    sizes, n_draws = (LABELS_PER_CLASS[::3], 3) if quick else (LABELS_PER_CLASS, N_DRAWS)
    return [
        cell_of("test", settings, labels_per_class, seed + draw)
        for labels_per_class in sizes
        for draw in range(n_draws)
        for settings in (EM, SUPERVISED)
    ]


def summarize(pairs: Sequence[tuple[Cell, Result]]) -> Outcome:
    """Compare with the published table, number of labels by number of labels."""
    by_method = {"em": _accuracies(pairs, "em"), "supervised": _accuracies(pairs, "supervised")}
    return Outcome(
        figures={method: _figures(accuracies) for method, accuracies in by_method.items()},
        words=_words(by_method["em"], by_method["supervised"]),
        tables=(_table(by_method["em"], by_method["supervised"]),),
        pictures={"": _picture(by_method)},
    )


def prepare(progress: Progress) -> None:
    """Say what comes first, and fail at once where the corpus is missing."""
    progress.say("Reading and counting 18 846 newsgroup posts, once per process.")
    counted_documents("test")


def _accuracies(pairs: Sequence[tuple[Cell, Result]], method: str) -> Accuracies:
    draws: dict[int, list[float]] = {}
    for cell, result in pairs:
        if (cell["settings"]["unlabeled_weight"] > 0) == (method == "em"):
            draws.setdefault(cell["labels_per_class"], []).append(result["accuracy"])
    indices = [LABELS_PER_CLASS.index(size) for size in draws]
    published = PUBLISHED[method]
    return Accuracies(
        tuple(draws),
        np.array([np.mean(values) for values in draws.values()]),
        np.array([np.std(values, ddof=1) / np.sqrt(len(values)) for values in draws.values()]),
        np.array(published.means)[indices],
        published.standard_errors[indices],
    )


def _figures(accuracies: Accuracies) -> dict[str, list[float]]:
    return {
        "labels_per_class": list(accuracies.labels_per_class),
        "accuracy": accuracies.means.tolist(),
        "accuracy_se": accuracies.standard_errors.tolist(),
        "published_accuracy": accuracies.published.tolist(),
        "published_accuracy_se": accuracies.published_errors.tolist(),
        "lead_in_joint_standard_errors": accuracies.lead.tolist(),
    }


def _words(em: Accuracies, supervised: Accuracies) -> tuple[str, ...]:
    n_above, n_behind = int((em.means > em.published).sum()), int((em.lead < -2).sum())
    gains = em.means - supervised.means
    best = int(np.argmax(gains))
    return (
        f"EM is above the published row at {n_above} of {len(em.means)} numbers of labels, and below it by more than "
        f"two joint standard errors at {n_behind}.",
        f"Unlabeled posts add most at {em.labels_per_class[best]} label(s) per class: accuracy "
        f"{supervised.means[best]:.3f} without, {em.means[best]:.3f} with them. {_where_labels_do(em, supervised)}",
    )


def _where_labels_do(em: Accuracies, supervised: Accuracies) -> str:
    no_gain = [
        str(size) for size, gain in zip(em.labels_per_class, em.means - supervised.means, strict=True) if gain <= 0
    ]
    if not no_gain:
        return "They add something at every number of labels."
    return f"At {', '.join(no_gain)} label(s) per class, labels alone do as well or better."


def _table(em: Accuracies, supervised: Accuracies) -> Table:
    return Table(
        "20 Newsgroups by date: test accuracy",
        ("labels per class", "EM", "published EM", "lead / joint s.e.", "supervised", "published supervised"),
        tuple(
            (
                size,
                Measured(float(em.means[index]), float(em.standard_errors[index])),
                Measured(float(em.published[index]), float(em.published_errors[index])),
                float(em.lead[index]),
                Measured(float(supervised.means[index]), float(supervised.standard_errors[index])),
                Measured(float(supervised.published[index]), float(supervised.published_errors[index])),
            )
            for index, size in enumerate(em.labels_per_class)
        ),
        note="Mean over the draws of labels with its standard error. All labels of a class that has fewer.",
    )


def _picture(by_method: dict[str, Accuracies]) -> Picture:
    names = {"em": "EM with unlabeled posts", "supervised": "labels only"}
    curves = []
    for color, (method, accuracies) in enumerate(by_method.items()):
        x = np.array(accuracies.labels_per_class, dtype=np.float64)
        margin = 2 * accuracies.standard_errors
        curves.append(
            Curve(
                names[method], x, accuracies.means, accuracies.means - margin, accuracies.means + margin, color=color
            )
        )
        curves.append(Curve(f"{names[method]}, published", x, accuracies.published, style="dashed", color=color))
    panel = CurvesPanel(
        "mean over draws, two standard errors", "labels per class", "test accuracy", tuple(curves), x_scale="log"
    )
    return Picture("20 Newsgroups by date", (panel,), n_columns=1)


STUDY = Study(
    name="newsgroups-em",
    title="20 Newsgroups: EM against the published table, 1 to 512 labels per class",
    cells=cells,
    compute=compute,
    summarize=summarize,
    corpora=("newsgroups",),
    data_digest=newsgroups_digest,
    prepare=prepare,
)
