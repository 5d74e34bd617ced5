"""Any tagger with sklearn-crfsuite's manners, where an estimator of ours is asked for."""

import os
from collections.abc import Hashable, Sequence
from numbers import Integral
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from labelworth.arrays import UNLABELED
from labelworth.data.readers.raw_sequences import RawAttributes, RawTokens
from labelworth.errors import InvalidInputError
from labelworth.estimators.estimator import Estimator
from labelworth.estimators.others.any_classifier import ClassifierFit, NamedFit, not_storable
from labelworth.estimators.pools.any_rows import require_classifier
from labelworth.estimators.pools.any_tokens import TaggerLearner, TokenLists
from labelworth.estimators.token_input import TokenInput
from labelworth.progress import Progress

if TYPE_CHECKING:
    from labelworth.estimators.pools.any_tokens import TaggerPool


class AnyTagger(Estimator[TokenLists]):
    """Any tagger with sklearn-crfsuite's manners.

    ``fit(X, y)``, ``predict(X)`` and, if it can, ``predict_marginals(X)``: X is a list of sequences, each a list of
    whatever the tagger takes, usually mappings of features; y a list of lists of labels; marginals a list of lists of
    mappings from labels to probabilities. Plans for it rest on simulated labels and refits. It learns from sequences
    that are labeled whole, and from no others.

    Parameters
    ----------
    tagger : object
        With ``fit``, ``predict`` and ``get_params``.
    name : str, optional
        What plans call it; the name of its class when absent.
    unlabeled : hashable
        The marker for "not seen" in y.
    random_state : int, optional
        Given to the tagger if its own is None. When absent the seed of the plan, else 0.
    """

    takes_sequences: ClassVar[bool] = True
    is_ours: ClassVar[bool] = False

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "tagger": "no_validation",
        "name": [str, None],
        "unlabeled": [Hashable],
        "random_state": [Integral, None],
    }

    def __init__(
        self,
        tagger: Any,
        *,
        name: str | None = None,
        unlabeled: Hashable = UNLABELED,
        random_state: int | None = None,
    ) -> None:
        self.tagger = tagger
        self.name = name
        self.unlabeled = unlabeled
        self.random_state = random_state

    @property
    def kind(self) -> str:
        """What plans call it."""
        return self.name or type(self.tagger).__name__

    @property
    def learner(self) -> TaggerLearner:
        """How it is fitted to other sequences."""
        require_classifier(self.tagger)
        return TaggerLearner(self.tagger, self.random_state or 0, mode="labels-only", modes=("labels-only",))

    def predict(self, X: Any) -> list[list[Any]]:
        """The labels of every sequence, as the tagger predicts them."""
        check_is_fitted(self)
        predicted: list[list[Any]] = [list(part) for part in self.model_.fitted.tagger.predict(X)]
        return predicted

    def save(self, path: str | os.PathLike[str]) -> None:
        """Refuse: what others' code has fitted cannot be written to a file that runs nothing when it is read.

        Raises
        ------
        InvalidInputError
        """
        raise InvalidInputError(not_storable(self.kind))

    def _read_to_fit(self, X: Any, y: Any, sample_weight: Any) -> TokenLists:
        if sample_weight is not None:
            raise InvalidInputError("sample_weight is for models of ours.")
        return self._read_as_known(X, y, None)

    def _read_as_known(self, X: Any, y: Any, classes: Sequence[Hashable] | None) -> TokenLists:
        self.require_parameters()
        given = TokenInput(X, y, classes, self.unlabeled)
        tokens = _tokens(X)
        return TokenLists(np.arange(len(tokens)), given.offsets, given.evidence(), (), tokens=tokens)

    def _fitted(self, data: TokenLists, progress: Progress) -> ClassifierFit:
        fitted = self.learner.fit(data)
        failure = self.learner.failure(data, fitted)
        if failure:
            raise InvalidInputError(f"{self.kind} cannot be fitted to these data: {failure}.")
        return ClassifierFit(NamedFit(fitted, data.evidence.classes, self.kind))

    def _checked(self, data: TokenLists, **options: Any) -> Any:
        from labelworth.estimators.others.any_check import check_tokens

        return check_tokens(data, self.learner, self.kind, **options)

    def _pool(self, data: TokenLists, progress: Progress) -> "TaggerPool":
        from joblib import hash as joblib_hash

        from labelworth.estimators.pools.any_tokens import TaggerPool
        from labelworth.estimators.pools.sequences import require_sequences

        require_sequences(data)
        learner = self.learner
        settings = {"tagger": repr(learner.prepared), "kind": self.kind, "tokens": joblib_hash(list(data.tokens))}
        return TaggerPool(data, self._fitted(data, progress), learner, settings=settings)


def _tokens(X: Any) -> list[Any]:
    """All tokens behind each other, as they are; of files mappings of their columns, or of their attributes."""
    if isinstance(X, RawTokens):
        return [dict(zip(X.column_names, row, strict=True)) for row in zip(*X.columns, strict=True)]
    if isinstance(X, RawAttributes):
        rows = X.attributes
        return [
            {X.names[column]: float(value) for column, value in zip(rows.indices[a:b], rows.data[a:b], strict=True)}
            for a, b in zip(rows.indptr[:-1], rows.indptr[1:], strict=True)
        ]
    return [token for sequence in X for token in sequence]
