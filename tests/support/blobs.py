"""Rows of two or more classes in forms that classifiers take, few of them labeled."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from labelworth.arrays import AnyArray, FloatArray

WORDS = (("ball", "goal", "team"), ("vote", "party", "law"), ("flour", "oven", "salt"))
COMMON = ("the", "of", "and", "day")


def vectors(
    n: int, n_labeled: int, *, names: Sequence[Any] = ("a", "b"), distance: float = 2.0, seed: int = 0
) -> tuple[FloatArray, list[Any]]:
    """Normal vectors around a point per class, and labels with -1 where there is none."""
    rng = np.random.default_rng(seed)
    codes = _codes(n, len(names), rng)
    X = rng.standard_normal((n, 3))
    X[np.arange(n), codes % 3] += distance
    return X, _labels(codes, n_labeled, names)


def texts(n: int, n_labeled: int, *, names: Sequence[Any] = ("a", "b"), seed: int = 0) -> tuple[list[str], list[Any]]:
    """Twelve words each, four of them those of the class more often than not."""
    rng = np.random.default_rng(seed)
    codes = _codes(n, len(names), rng)
    drawn = [
        [*rng.choice(COMMON, 8), *(rng.choice(WORDS[code if rng.random() < 0.7 else 2]) for _ in range(4))]
        for code in codes
    ]
    return [" ".join(words) for words in drawn], _labels(codes, n_labeled, names)


def _codes(n: int, n_classes: int, rng: np.random.Generator) -> AnyArray:
    """The first rows go through all classes, so that labels of them name each."""
    codes = rng.integers(n_classes, size=n)
    codes[: 2 * n_classes] = np.arange(2 * n_classes) % n_classes
    return codes


def _labels(codes: AnyArray, n_labeled: int, names: Sequence[Any]) -> list[Any]:
    return [names[code] if row < n_labeled else -1 for row, code in enumerate(codes.tolist())]
