"""The model of `lw.plan`, `lw.frontier` and `lw.check` as people name it: a kind, an estimator, or a family."""

from collections.abc import Hashable, Sequence
from typing import Any

from sklearn.base import clone

from labelworth.data.samples import Samples
from labelworth.errors import InvalidInputError
from labelworth.estimators.automatic import AutomaticModel
from labelworth.estimators.estimator import Estimator, require_no_labels_beside
from labelworth.estimators.kinds import AUTO, kind_named
from labelworth.estimators.others.named_classifiers import NAMED
from labelworth.estimators.pools.pool import Pool
from labelworth.progress import SILENT, Progress


def is_family(model: Any) -> bool:
    """Whether this is a family of models: fitted to Samples, as it is."""
    return hasattr(model, "neutral") and hasattr(model, "maximize")


def takes_sequences(model: Any) -> bool:
    """Whether X is a list of sequences."""
    if isinstance(model, str):
        return model not in (AUTO, *NAMED) and kind_named(model).takes_sequences
    return is_tagger(model) or (isinstance(model, Estimator) and model.takes_sequences)


def is_tagger(model: Any) -> bool:
    """Whether this is a tagger that is not ours: one that says how probable labels of tokens are."""
    return hasattr(model, "predict_marginals") and not isinstance(model, Estimator | type)


def estimator_of(model: Any, unlabeled: Hashable) -> Estimator[Any]:
    """An estimator that is yet to be fitted.

    Parameters
    ----------
    model : str or estimator
        A name of `labelworth.estimators.kinds.KINDS`; an estimator, fitted or not; or any classifier with
        scikit-learn's manners.
    unlabeled
        Of the estimator, where `model` is a name.

    Raises
    ------
    InvalidInputError
    """
    if isinstance(model, str) and model not in NAMED:
        named: Estimator[Any] = kind_named(model).estimator(unlabeled=unlabeled)
        return named
    if isinstance(model, Estimator):
        copy: Estimator[Any] = clone(model)
        return copy
    if is_tagger(model):
        from labelworth.estimators.others.any_tagger import AnyTagger

        return AnyTagger(clone(model), unlabeled=unlabeled)
    from labelworth.estimators.others.any_classifier import classifier_of

    return classifier_of(model, unlabeled)


def automatic_of(model: Any, unlabeled: Hashable) -> AutomaticModel | None:
    """What chooses the model, where none is named; else None."""
    if isinstance(model, AutomaticModel):
        return model
    return AutomaticModel(unlabeled) if isinstance(model, str) and model == AUTO else None


def pool_of(
    X: Any,
    y: Any,
    model: Any,
    *,
    classes: Sequence[Hashable] | None = None,
    unlabeled: Hashable = -1,
    seed: int = 0,
    progress: Progress = SILENT,
) -> Pool[Any]:
    """Read and fit the data of a plan; arguments as in `labelworth.plan`."""
    if not takes_sequences(model) and _holds_lists(X) and _holds_lists(y):
        raise InvalidInputError(
            "X and y are lists of lists, as tokens and their labels are: name a model of sequences, as "
            "model='hidden-markov' or model='conditional-random-field'."
        )
    if is_family(model):
        from labelworth.estimators.pools.documents import DocumentPool

        return DocumentPool.of_family(model, samples_of_family(X, y), progress)
    chosen = automatic_of(model, unlabeled) or seeded(estimator_of(model, unlabeled), seed)
    return chosen.pool(X, y, classes=classes, progress=progress)


def _holds_lists(values: Any) -> bool:
    """Whether these are lists of texts or of nothing: no numbers, as the rows of a table are."""
    if not isinstance(values, list | tuple) or not values or not isinstance(values[0], list | tuple):
        return False
    return all(entry is None or isinstance(entry, str) for entry in values[0])


def seeded(estimator: Estimator[Any], seed: int) -> Estimator[Any]:
    """The same; what is not ours takes the seed where it has none of its own."""
    if not estimator.is_ours and estimator.get_params(deep=False)["random_state"] is None:
        estimator.set_params(random_state=seed)
    return estimator


def samples_of_family(X: Any, y: Any) -> Samples:
    """What a family is fitted to."""
    if not isinstance(X, Samples):
        raise InvalidInputError("A family is fitted to Samples, which carry their labels; leave y out.")
    require_no_labels_beside(y, "Samples")
    return X
