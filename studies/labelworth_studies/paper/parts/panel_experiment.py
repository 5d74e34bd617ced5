"""What n documents, a fraction of them labeled, really give: held-out error and squared error of the parameters."""

import warnings
from dataclasses import replace

import numpy as np
from scipy.special import log_softmax

from labelworth.arrays import IntArray
from labelworth.data.evidence import Evidence
from labelworth.data.folds import Fold, labeled_folds
from labelworth.data.samples import Samples
from labelworth.errors import LabelworthWarning
from labelworth.estimation.fit import fit
from labelworth.models.classes.multinomial import MultinomialModel
from labelworth.models.classes.responsibilities import condition
from labelworth_studies.corpora.panel_documents import add_one
from labelworth_studies.robust.finite_sample import named_distance
from labelworth_studies.runner.study import Result

_TOLERANCE = 1e-5


def experiment(
    samples: Samples, fractions: list[float], n_samples: int, *, n_folds: int, fold: int, seed: int
) -> Result:
    """Fit to the first n documents of a fold with so many of them labeled, at every fraction.

    Sizes and fractions share the order in which documents are taken and labeled, so that larger sets contain smaller
    ones. The order begins with one document of every class: no class is without an anchor.

    Returns
    -------
    dict
        Per fraction ``error`` and ``log_loss`` on the held-out fold, ``mse`` against the parameters fitted on all
        documents and labels; the same ``_labels_only``, by the labeled documents alone; and ``least_error``, that of
        a fit to all documents and labels of the fold's training part.
    """
    part = labeled_folds(samples.evidence, n_folds, np.random.default_rng(seed))[fold]
    order = anchored_order(samples.evidence, part, np.random.default_rng([seed, fold]))
    truth = fit(add_one(samples), samples).model
    tested = samples.take(part.test)
    chosen = samples.take(order[:n_samples])
    answer: Result = {"least_error": _tested(fit(add_one(samples), samples.take(part.train)).model, tested)[0]}
    names = ("error", "log_loss", "mse")
    figures: dict[str, list[float]] = {f"{name}{kind}": [] for name in names for kind in ("", "_labels_only")}
    for fraction in fractions:
        n_labels = round(fraction * n_samples)
        shown = chosen.hide(np.arange(n_labels, n_samples))
        for kind, learned in (("", shown), ("_labels_only", shown.take(np.arange(n_labels)))):
            model = fitted_quietly(learned)
            error, log_loss = _tested(model, tested)
            figures[f"error{kind}"].append(error)
            figures[f"log_loss{kind}"].append(log_loss)
            figures[f"mse{kind}"].append(named_distance(model, truth))
    return {**answer, **figures}


def with_drawn_labels(samples: Samples, seed: int) -> Samples:
    """The same documents with labels drawn from the model fitted to all of them: a world where it is right."""
    model = fit(add_one(samples), samples).model
    posteriors, _ = condition(model.log_joint(samples), samples.evidence.hidden())
    shares = posteriors.cumsum(axis=1)
    uniforms = np.random.default_rng(seed).random(samples.n_samples) * shares[:, -1]
    codes = (uniforms[:, None] >= shares).sum(axis=1)
    return replace(samples, evidence=Evidence(codes, samples.evidence.classes))


def anchored_order(evidence: Evidence, part: Fold, rng: np.random.Generator) -> IntArray:
    """The training rows in random order, but with the first one of every class in front."""
    return class_first(evidence.codes, rng.permutation(part.train))


def class_first(codes: IntArray, order: IntArray) -> IntArray:
    """An order of rows with the first one of every class moved to the front.

    Examples
    --------
    >>> class_first(np.array([0, 0, 1, 1]), np.array([1, 0, 3, 2])).tolist()
    [1, 3, 0, 2]
    """
    _, first = np.unique(codes[order], return_index=True)
    first = np.sort(first)
    return np.asarray(np.concatenate([order[first], np.delete(order, first)]))


def fitted_quietly(samples: Samples) -> MultinomialModel:
    """The estimator of all panels, whatever it finds missing."""
    with warnings.catch_warnings():
        # A class that the first documents of a fold lack altogether stays at its prior: an error like others.
        warnings.simplefilter("ignore", LabelworthWarning)
        return fit(add_one(samples), samples, tolerance=_TOLERANCE).model


def _tested(model: MultinomialModel, tested: Samples) -> tuple[float, float]:
    """Error and log-loss; in logarithms, as the posterior of a long document may be zero to a double."""
    log_joint, codes = model.log_joint(tested), tested.evidence.codes
    of_truth = log_softmax(log_joint, axis=1)[np.arange(len(codes)), codes]
    return float(np.mean(log_joint.argmax(axis=1) != codes)), float(-of_truth.mean())
