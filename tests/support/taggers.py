"""A small tagger with sklearn-crfsuite's manners: counts of features per label, smoothed, token by token."""

from collections import Counter
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator


class CountTagger(BaseEstimator):
    """Naive Bayes of the features of a token; mappings go in, labels and mappings of probabilities come out."""

    def __init__(self, smoothing: float = 0.5) -> None:
        self.smoothing = smoothing

    def fit(self, X: list[list[dict[str, Any]]], y: list[list[str]]) -> "CountTagger":
        if any(None in labels for labels in y):
            raise ValueError("a label is missing")
        self.classes_ = sorted({label for labels in y for label in labels})
        self.labels_ = Counter(label for labels in y for label in labels)
        pairs = [pair for tokens, labels in zip(X, y, strict=True) for pair in zip(tokens, labels, strict=True)]
        self.features_ = Counter((label, *item) for token, label in pairs for item in token.items())
        return self

    def predict_marginals(self, X: list[list[dict[str, Any]]]) -> list[list[dict[str, float]]]:
        return [[self._marginals(token) for token in tokens] for tokens in X]

    def predict(self, X: list[list[dict[str, Any]]]) -> list[list[str]]:
        return [[max(token, key=token.__getitem__) for token in tokens] for tokens in self.predict_marginals(X)]

    def _marginals(self, token: dict[str, Any]) -> dict[str, float]:
        logs = np.array(
            [
                np.log(self.labels_[label])
                + sum(
                    np.log(
                        (self.features_[label, *item] + self.smoothing) / (self.labels_[label] + 2 * self.smoothing)
                    )
                    for item in token.items()
                )
                for label in self.classes_
            ]
        )
        shares = np.exp(logs - logs.max())
        return dict(zip(self.classes_, (shares / shares.sum()).tolist(), strict=True))


class NamingTagger(BaseEstimator):
    """The same without probabilities."""

    def fit(self, X: Any, y: Any) -> "NamingTagger":
        self.inner_ = CountTagger().fit(X, y)
        return self

    def predict(self, X: Any) -> Any:
        return self.inner_.predict(X)


def sentences(
    n: int, n_labeled: int, *, n_parts: int = 0, seed: int = 0
) -> tuple[list[list[dict[str, str]]], list[list[str | None]]]:
    """Words of two labels, some of both; the next `n_parts` of the sentences are labeled at their first token."""
    rng = np.random.default_rng(seed)
    X: list[list[dict[str, str]]] = []
    y: list[list[str | None]] = []
    for row in range(n):
        codes = rng.integers(2, size=rng.integers(2, 6))
        words = [f"word{(8 * code + rng.integers(12)) % 20}" for code in codes]
        X.append([{"word": word, "first": str(index == 0)} for index, word in enumerate(words)])
        known = len(codes) if row < n_labeled else 1 if row < n_labeled + n_parts else 0
        y.append(["NV"[code] if index < known else None for index, code in enumerate(codes)])
    return X, y
