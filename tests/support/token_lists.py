"""Sequences from lists of words or of attributes, in one call, as estimators read them."""

from typing import Any

from labelworth.arrays import UNLABELED
from labelworth.data.sequences import Sequences
from labelworth.estimators.token_input import TokenInput


def word_sequences(
    tokens: Any,
    labels: Any = None,
    *,
    classes: Any = None,
    unlabeled: Any = UNLABELED,
    weights: Any = None,
    empty: Any = "refuse",
) -> Sequences:
    return TokenInput(tokens, labels, classes, unlabeled, weights, empty).words()


def attribute_sequences(tokens: Any, labels: Any = None, *, classes: Any = None) -> Sequences:
    return TokenInput(tokens, labels, classes, UNLABELED).attributes()
