"""What plans are made from: data and a model as people give them, as documents or sequences with a way to fit."""

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

from sklearn.base import clone

from labelworth.data.evidence import encode_labels
from labelworth.data.samples import Samples
from labelworth.data.sequences import Sequences
from labelworth.errors import InvalidInputError, NotIdentifiableError
from labelworth.estimation.fit import fit
from labelworth.estimators.classifier import GenerativeClassifier
from labelworth.estimators.kinds import kind_named
from labelworth.estimators.parameters import generator
from labelworth.estimators.tagger import SequenceTagger
from labelworth.models.protocol import AnyFamily
from labelworth.planning.documents import Documents, require_documents
from labelworth.planning.sequences import LabeledSequences
from labelworth.progress import Progress
from labelworth.tradeoff.costs import CostFunction, Prices

GivenPrices = Prices | Mapping[str, float] | CostFunction | None
"""Prices as people give them."""


def estimator_of(model: Any, unlabeled: Hashable) -> GenerativeClassifier | SequenceTagger | AnyFamily:
    """An estimator that is yet to be fitted; a family is taken as it is."""
    if isinstance(model, str):
        fresh: GenerativeClassifier | SequenceTagger = kind_named(model).estimator(unlabeled=unlabeled)
        return fresh
    if isinstance(model, GenerativeClassifier | SequenceTagger):
        copy: GenerativeClassifier | SequenceTagger = clone(model)
        return copy
    if hasattr(model, "neutral") and hasattr(model, "maximize"):
        family: AnyFamily = model
        return family
    raise InvalidInputError(f"model must be a name, an estimator or a family. Got {type(model).__name__}.")


def read_documents(
    X: Any,
    y: Any,
    estimator: GenerativeClassifier | AnyFamily,
    classes: Sequence[Hashable] | None,
    progress: Progress,
) -> Documents:
    """Fit the model to all documents, labeled and not.

    Raises
    ------
    NotIdentifiableError
        If there is no label, or only one class.
    """
    if isinstance(estimator, GenerativeClassifier):
        samples, family, fitting, rest = _by_classifier(X, y, estimator, classes)
    else:
        if not isinstance(X, Samples) or y is not None:
            raise InvalidInputError("A family is fitted to Samples, which carry their labels; leave y out.")
        require_documents(X)
        samples, family, fitting, rest = X, estimator, {}, {}
    fitted = fit(family, samples, **fitting, **rest, progress=progress)
    return Documents(samples, family, fitted, fitting)


def _by_classifier(
    X: Any, y: Any, estimator: GenerativeClassifier, classes: Sequence[Hashable] | None
) -> tuple[Samples, AnyFamily, dict[str, Any], dict[str, Any]]:
    if isinstance(X, Samples):
        if y is not None:
            raise InvalidInputError("Samples carry their labels already; leave y out.")
        samples = X
    elif y is None:
        raise InvalidInputError("Give y, one entry per row, with a marker for the rows whose class was not seen.")
    else:
        samples = estimator._samples(
            X, lambda: encode_labels(y, classes=classes, unlabeled=estimator.unlabeled), None
        )
    # Before the family, which would ask for classes where labels are missing.
    require_documents(samples)
    fitting = {"start_smoothing": estimator.start_smoothing, "unlabeled_weight": estimator.unlabeled_weight}
    rest = {
        "max_iterations": estimator.max_iter,
        "tolerance": estimator.tol,
        "accelerated": estimator.accelerate,
        "n_starts": estimator.n_init,
        "rng": generator(estimator.random_state),
    }
    return samples, estimator._family(samples), fitting, rest


def read_prices(prices: GivenPrices) -> Prices | CostFunction:
    """Prices, their names with numbers, or a function; a label costs one unit of money when absent."""
    if prices is None:
        return Prices()
    if isinstance(prices, Prices) or callable(prices):
        return prices
    try:
        return Prices(**prices)
    except TypeError as error:
        known = ", ".join(Prices.__dataclass_fields__)
        raise InvalidInputError(f"prices are named {known}, or a function of (policy, n). Got {prices!r}.") from error


def read_sequences(
    X: Any, y: Any, estimator: SequenceTagger, classes: Sequence[Hashable] | None, progress: Progress
) -> LabeledSequences:
    """Fit the model to all sequences, labeled and not."""
    if classes is not None:
        estimator.set_params(classes=list(classes))
    sequences = X if isinstance(X, Sequences) else estimator._sequences_to_learn(X, y, None)
    if sequences.evidence.is_unlabeled.all():
        raise NotIdentifiableError(
            "No token is labeled, so there is no pilot to plan from. Draw one with `labelworth next --count 50`."
        )
    fitted = estimator._fitted(sequences, progress)
    return LabeledSequences(sequences, fitted.model, bool(fitted.converged), estimator._fitted)
