"""One fit to a few labeled newsgroup posts and many unlabeled ones, and what it gets right on other posts."""

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from labelworth.estimation.fit import fit
from labelworth.models.classes.multinomial import MultinomialFamily
from labelworth.models.classes.responsibilities import posterior
from labelworth_studies.corpora.newsgroups_documents import Division, Documents, WordWeights, weighted_documents
from labelworth_studies.corpora.pilots import draw_labeled
from labelworth_studies.evaluation.classes import evaluate
from labelworth_studies.runner.study import Cell, Result

START_SMOOTHING = 10.0
"""How much more diffuse the first model is than the prior: with few labels EM must not begin too sure of itself."""


@dataclass(frozen=True)
class Settings:
    """What is to be chosen before the labels are seen."""

    word_weights: WordWeights
    document_length: float  # The effective length every post is given.
    smoothing: float  # What the prior adds to every expected word count.
    # What it adds to every expected class count; a number far above the number of posts makes the classes
    # equally probable.
    class_smoothing: float
    unlabeled_weight: float = 1.0  # What a post without label counts; 0 is the supervised fit.


def cell_of(division: Division, settings: Settings, labels_per_class: int, seed: int) -> dict[str, Any]:
    """Describe one fit: everything its accuracy depends on beside the corpus."""
    return {
        "division": division,
        "settings": asdict(settings),
        "labels_per_class": labels_per_class,
        "seed": seed,
    }


def compute(cell: Cell) -> Result:
    """Draw the labels, hide the others, fit, and test."""
    settings = Settings(**cell["settings"])
    documents = weighted_documents(cell["division"], settings.word_weights, settings.document_length)
    return fit_and_test(documents, settings, cell["labels_per_class"], cell["seed"])


def fit_and_test(documents: Documents, settings: Settings, labels_per_class: int, seed: int) -> Result:
    """Fit to `labels_per_class` labeled posts of each class (all where a class has fewer) and the others unlabeled.

    Returns
    -------
    dict
        ``accuracy`` on the posts to test on, ``n_labels`` drawn, ``n_iterations`` of EM.
    """
    kept = draw_labeled(documents.train.evidence, rng=np.random.default_rng(seed), per_class=labels_per_class)
    samples = documents.train.hide(~kept)
    family = MultinomialFamily.for_samples(
        samples, smoothing=settings.smoothing, class_smoothing=settings.class_smoothing
    )
    fitted = fit(family, samples, start_smoothing=START_SMOOTHING, unlabeled_weight=settings.unlabeled_weight)
    tested = evaluate(posterior(fitted.model, documents.test.hide()), documents.test.evidence)
    return {
        "accuracy": 1 - tested.error,
        "n_labels": int(kept.sum()),
        "n_iterations": fitted.n_iterations,
    }
