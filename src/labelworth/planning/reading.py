"""What plans are made from: data and a model as people give them, as documents or sequences with a way to fit."""

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

from labelworth.errors import InvalidInputError
from labelworth.estimators.document_pool import DocumentPool
from labelworth.estimators.reading import pool_of
from labelworth.estimators.sequence_pool import SequencePool
from labelworth.planning.documents import Documents
from labelworth.planning.sequences import LabeledSequences
from labelworth.progress import Progress
from labelworth.tradeoff.costs import CostFunction, Prices

GivenPrices = Prices | Mapping[str, float] | CostFunction | None
"""Prices as people give them."""


def read_data(
    X: Any, y: Any, model: Any, classes: Sequence[Hashable] | None, unlabeled: Hashable, progress: Progress
) -> Documents | LabeledSequences:
    """Fit the model to all samples, labeled and not."""
    pool = pool_of(X, y, model, classes=classes, unlabeled=unlabeled, progress=progress)
    if isinstance(pool, SequencePool):
        return LabeledSequences(pool.data, pool.model, pool.converged, pool.refit)
    assert isinstance(pool, DocumentPool)
    fitting = {"start_smoothing": pool.start_smoothing, "unlabeled_weight": pool.unlabeled_weight}
    return Documents(pool.data, pool.family, pool.fitted, fitting)


def read_documents(X: Any, y: Any, model: Any, classes: Sequence[Hashable] | None, progress: Progress) -> Documents:
    found = read_data(X, y, model, classes, -1, progress)
    assert isinstance(found, Documents)
    return found


def read_sequences(
    X: Any, y: Any, model: Any, classes: Sequence[Hashable] | None, progress: Progress
) -> LabeledSequences:
    found = read_data(X, y, model, classes, -1, progress)
    assert isinstance(found, LabeledSequences)
    return found


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
