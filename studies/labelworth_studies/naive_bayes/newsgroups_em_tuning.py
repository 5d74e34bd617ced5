"""Settings for 20 Newsgroups, chosen on the training posts alone: fit to the earlier ones, test on the later ones."""

from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np

from labelworth.progress import Progress
from labelworth.report.values import Measured, Outcome, Table
from labelworth_studies.corpora.newsgroups_documents import WordWeights, counted_documents, newsgroups_digest
from labelworth_studies.naive_bayes.parts.newsgroups_fit import Settings, cell_of, compute
from labelworth_studies.runner.study import Cell, Result, Study

EQUAL_CLASSES = 10_000.0
"""Class smoothing so far above the number of posts that the classes are taken for equally probable."""

LABELS_PER_CLASS = (1, 8, 64, 256)
N_DRAWS = 3
_N_SHOWN = 12
_WORD_WEIGHTS: tuple[WordWeights, ...] = ("counts", "inverse-document")

# First every combination of the kinds, then finer around the best kind. Where class probabilities are estimated,
# shorter documents or more smoothing would let one class swallow the others.
_EVERY_KIND = product(_WORD_WEIGHTS, (1.0, EQUAL_CLASSES), (6.0, 9.0), (0.001, 0.005))
_BEST_KIND = product(_WORD_WEIGHTS[1:], (EQUAL_CLASSES,), (3.0, 4.0, 6.0, 9.0), (0.001, 0.005, 0.02))
EM_CHOICES = tuple(
    Settings(word_weights, document_length, smoothing, class_smoothing)
    for word_weights, class_smoothing, document_length, smoothing in dict.fromkeys((*_EVERY_KIND, *_BEST_KIND))
)

# Without unlabeled posts and with equal classes, only smoothing / document_length matters, so one length will do.
SUPERVISED_CHOICES = tuple(
    Settings(word_weights, 6.0, smoothing, EQUAL_CLASSES, unlabeled_weight=0.0)
    for word_weights, smoothing in product(_WORD_WEIGHTS, (0.005, 0.02, 0.06, 0.2, 0.6))
)


def cells(quick: bool, seed: int) -> list[dict[str, Any]]:
    """Every choice at every number of labels, on the same draws; the quick grid has one draw of two sizes."""
    sizes, n_draws = ((8, 64), 1) if quick else (LABELS_PER_CLASS, N_DRAWS)
    return [
        cell_of("later", settings, labels_per_class, seed + draw)
        for settings in EM_CHOICES + SUPERVISED_CHOICES
        for labels_per_class in sizes
        for draw in range(n_draws)
    ]


def summarize(pairs: Sequence[tuple[Cell, Result]]) -> Outcome:
    """Rank the choices by their accuracy, averaged over the numbers of labels with equal say."""
    sizes = tuple(dict.fromkeys(cell["labels_per_class"] for cell, _ in pairs))
    ranked = {method: _ranked(pairs, sizes, method) for method in ("em", "supervised")}
    winners = {method: rows[0] for method, rows in ranked.items()}
    return Outcome(
        figures={"labels_per_class": list(sizes), "chosen": winners, **ranked},
        words=tuple(f"Chosen for {method}: {_in_words(row['settings'])}." for method, row in winners.items()),
        tables=tuple(_table(method, rows, sizes) for method, rows in ranked.items()),
    )


def prepare(progress: Progress) -> None:
    """Say what comes first, and fail at once where the corpus is missing."""
    progress.say("Reading and counting 11 314 newsgroup posts, once per process.")
    counted_documents("later")


def _ranked(pairs: Sequence[tuple[Cell, Result]], sizes: Sequence[int], method: str) -> list[dict[str, Any]]:
    """One row per choice, the best first."""
    by_settings: dict[Settings, dict[int, list[float]]] = {}
    for cell, result in pairs:
        settings = Settings(**cell["settings"])
        if (settings.unlabeled_weight > 0) == (method == "em"):
            by_size = by_settings.setdefault(settings, {})
            by_size.setdefault(cell["labels_per_class"], []).append(result["accuracy"])
    rows = [_row(settings, [by_size[size] for size in sizes]) for settings, by_size in by_settings.items()]
    return sorted(rows, key=lambda row: -row["mean_accuracy"])


def _row(settings: Settings, accuracies: Sequence[Sequence[float]]) -> dict[str, Any]:
    means = [float(np.mean(draws)) for draws in accuracies]
    errors = [float(np.std(draws, ddof=1) / np.sqrt(len(draws))) if len(draws) > 1 else None for draws in accuracies]
    return {
        "settings": {
            "word_weights": settings.word_weights,
            "document_length": settings.document_length,
            "smoothing": settings.smoothing,
            "equal_classes": settings.class_smoothing == EQUAL_CLASSES,
        },
        "mean_accuracy": float(np.mean(means)),
        "accuracy": means,
        "accuracy_se": errors,
    }


def _table(method: str, rows: Sequence[dict[str, Any]], sizes: Sequence[int]) -> Table:
    return Table(
        f"{method}: accuracy on the later training posts, best choices first",
        ("words", "length", "smoothing", "classes", *(f"{size} per class" for size in sizes), "mean"),
        tuple(
            (
                row["settings"]["word_weights"],
                row["settings"]["document_length"],
                row["settings"]["smoothing"],
                "equal" if row["settings"]["equal_classes"] else "estimated",
                *(Measured(*pair) for pair in zip(row["accuracy"], row["accuracy_se"], strict=True)),
                row["mean_accuracy"],
            )
            for row in rows[:_N_SHOWN]
        ),
        note="The same draws of labels serve every choice, so differences are surer than the standard errors say.",
    )


def _in_words(settings: dict[str, Any]) -> str:
    classes = "equally probable classes" if settings["equal_classes"] else "estimated class probabilities"
    return (
        f"{settings['word_weights']} as word weights, documents of length {settings['document_length']:g}, "
        f"smoothing {settings['smoothing']:g}, {classes}"
    )


STUDY = Study(
    name="newsgroups-em-tuning",
    title="20 Newsgroups: settings chosen on the training posts alone",
    cells=cells,
    compute=compute,
    summarize=summarize,
    corpora=("newsgroups",),
    data_digest=newsgroups_digest,
    prepare=prepare,
)
