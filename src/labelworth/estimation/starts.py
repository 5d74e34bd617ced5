"""Where EM begins: a supervised model of the labeled rows, or random ones where labels do not say enough."""

from collections.abc import Hashable, Iterator
from dataclasses import replace

import numpy as np

from labelworth.arrays import FloatArray, IntArray
from labelworth.data.evidence import Evidence
from labelworth.data.samples import Samples
from labelworth.models.protocol import Family, ModelT

_SEEDS_PER_CLASS = 5


def exchangeable_classes(evidence: Evidence) -> tuple[tuple[Hashable, ...], ...]:
    """Groups of classes that the labels cannot tell apart: swapping their names changes no likelihood.

    A class with a gold label is never among them, nor is a single class without labels: it is told by elimination.

    Examples
    --------
    >>> evidence = Evidence(np.array([0, -1, -1]), ("a", "b", "c"))
    >>> exchangeable_classes(evidence)
    (('b', 'c'),)
    """
    groups: dict[bytes, list[Hashable]] = {}
    for code in np.flatnonzero(evidence.label_counts() == 0):
        column = np.ascontiguousarray(evidence.weights[:, code])
        groups.setdefault(column.tobytes(), []).append(evidence.classes[code])
    return tuple(tuple(group) for group in groups.values() if len(group) > 1)


def starting_models(
    family: Family[ModelT],
    samples: Samples,
    row_weights: FloatArray,
    n_starts: int,
    rng: np.random.Generator,
) -> Iterator[ModelT]:
    """The supervised model first, then models of the labeled rows with random weights.

    Every one is a single EM step from the neutral model over the rows of whose class something is known, where
    candidate sets count in proportion to their weights. Classes no evidence speaks of are seeded with a few random
    rows, since EM would never tell apart two classes that begin alike.
    """
    for attempt in range(n_starts):
        begun = replace(samples, evidence=seeded(samples.evidence, rng))
        weights = row_weights * rng.exponential(size=len(row_weights)) if attempt else row_weights
        labeled = ~begun.evidence.is_unlabeled & (weights > 0)
        if not labeled.any():
            # Too few rows to seed anything: the prior alone.
            yield family.neutral()
            continue
        expectation = family.prepare(begun.take(labeled), weights[labeled]).expectation(family.neutral())
        yield family.maximize(expectation.statistics)


def seeded(evidence: Evidence, rng: np.random.Generator) -> Evidence:
    """Give a few random rows each to the classes that the evidence does not single out."""
    codes, taken = evidence.codes.copy(), evidence.is_gold
    for code in _unspoken_classes(evidence):
        allowed = evidence.is_unlabeled
        allowed[evidence.is_ambiguous] = evidence.weights[-2 - evidence.codes[evidence.is_ambiguous], code] > 0
        pool = np.flatnonzero(allowed & ~taken)
        n_seeds = min(_SEEDS_PER_CLASS, -(-pool.size // evidence.n_classes))
        chosen = rng.choice(pool, size=n_seeds, replace=False)
        codes[chosen], taken[chosen] = code, True
    return replace(evidence, codes=codes)


def _unspoken_classes(evidence: Evidence) -> IntArray:
    """Classes without a gold label that no candidate set names, or names no otherwise than another class."""
    alike = {name for group in exchangeable_classes(evidence) for name in group}
    named = (evidence.label_counts() > 0) | (evidence.weights > 0).any(axis=0)
    return np.array(
        [code for code, name in enumerate(evidence.classes) if name in alike or not named[code]], dtype=np.int64
    )
