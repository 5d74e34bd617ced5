"""Where fits begin: a supervised model of what is labeled, or random ones where labels do not say enough."""

from collections.abc import Hashable, Iterator, Mapping
from dataclasses import replace

import numpy as np

from labelworth.arrays import FloatArray, IntArray, require_between
from labelworth.data.evidence import Evidence
from labelworth.data.samples import Samples
from labelworth.data.sequences import Sequences, labeled_runs
from labelworth.data.shards.passes import DataT, is_sharded
from labelworth.errors import InvalidInputError
from labelworth.models.protocol import BegunFamily, EMFamily, ParametersT
from labelworth.models.sharded import prepared

LARGEST = float(np.finfo(np.float64).max)


def require_search(unlabeled_weight: float, max_iterations: int, tolerance: float, n_starts: int) -> None:
    require_between("unlabeled_weight", unlabeled_weight, 0.0, LARGEST)
    require_between("max_iterations", max_iterations, 1, LARGEST)
    require_between("tolerance", tolerance, 0.0, LARGEST, open_low=True)
    require_between("n_starts", n_starts, 1, LARGEST)


def counting(data: DataT, unlabeled_weight: float) -> tuple[DataT, FloatArray]:
    """The rows or sequences that count, and how much: their weight, times `unlabeled_weight` if nothing is known."""
    if isinstance(data, Sequences):
        unit, weights = "sequence", data.sequence_weights
    else:
        unit, weights = "row", data.sample_weights
    if not weights.size:
        raise InvalidInputError(f"There are no {unit}s. Give at least one.")
    if unlabeled_weight != 1:
        weights = np.where(data.is_labeled, weights, unlabeled_weight * weights)
    counted = weights > 0
    if not counted.any():
        cure = (
            "give some labels, or an unlabeled_weight above 0"
            if unlabeled_weight == 0
            else f"give a positive weight to some {unit}s"
        )
        raise InvalidInputError(f"No {unit} counts, so there is nothing to learn from: {cure}.")
    if not counted.all():
        return data.take(counted), weights[counted]
    if is_sharded(data) and (weights == weights[0]).all():
        # Of rows in shards there may be very many: one number says it of all.
        weights = np.broadcast_to(weights[0], weights.shape)
    return data, weights


def impossible_start(
    model: ParametersT, family: EMFamily[ParametersT, DataT], data: DataT, weights: FloatArray
) -> InvalidInputError:
    """Why the objective of a starting model is minus infinity: which row or sequence it rules out, or the prior."""

    def is_possible(indices: slice) -> bool:
        rows = np.arange(len(weights))[indices]
        return bool(np.isfinite(prepared(family, data.take(rows), weights[rows]).expectation(model).log_likelihood))

    if is_possible(slice(None)):
        return InvalidInputError(
            "The starting model has probabilities of zero, which the prior rules out; smooth it."
        )
    first, last = 0, len(weights)
    while last - first > 1:
        middle = (first + last) // 2
        first, last = (middle, last) if is_possible(slice(first, middle)) else (first, middle)
    return InvalidInputError(
        f"The starting model gives the probability zero to some of the {unit_name(data)}s, the first of them "
        f"{unit_name(data)} {first}; begin from a model fitted with smoothing above 0, or let the fit find its own "
        "start."
    )


def unit_name(data: Samples | Sequences) -> str:
    return "sequence" if isinstance(data, Sequences) else "row"


_SEEDS_PER_CLASS = 5


def said(data: Samples | Sequences) -> Evidence:
    """All that names classes: what is known of samples or tokens, and behind it what was answered."""
    if data.answers is None:
        return data.evidence
    known, answers = data.evidence, data.answers.evidence
    behind = np.where(answers.is_ambiguous, answers.codes - len(known.weights), answers.codes)
    return Evidence(
        np.concatenate([known.codes, behind]), known.classes, np.concatenate([known.weights, answers.weights])
    )


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


def models_to_begin(
    family: EMFamily[ParametersT, DataT],
    data: DataT,
    weights: FloatArray,
    n_starts: int,
    rng: np.random.Generator,
) -> Iterator[ParametersT]:
    """Where the fits of a family begin: where it says, or else at a supervised model."""
    if isinstance(family, BegunFamily):
        yield from family.starting_models(data, weights, n_starts, rng)
    else:
        yield from starting_models(family, data, weights, n_starts, rng)


def starting_models(
    family: EMFamily[ParametersT, DataT],
    data: DataT,
    weights: FloatArray,
    n_starts: int,
    rng: np.random.Generator,
) -> Iterator[ParametersT]:
    """The supervised model first, then models of what is labeled with random weights.

    Every one is a single EM step from the neutral model over what is labeled, where candidate sets count in
    proportion to their weights.
    """
    for begun, drawn in seeded_data(data, weights, n_starts, rng):
        # Neither what was counted nor the model is held here while a fit goes on from it.
        yield _supervised(family, labeled_statistics(family, begun, drawn))


def _supervised(family: EMFamily[ParametersT, DataT], statistics: Mapping[str, FloatArray] | None) -> ParametersT:
    """Of what is labeled; where nothing is, and there is too little to seed anything, of the prior alone."""
    return family.neutral() if statistics is None else family.maximize(statistics)


def seeded_data(
    data: DataT, weights: FloatArray, n_starts: int, rng: np.random.Generator
) -> Iterator[tuple[DataT, FloatArray]]:
    """What each of the supervised starting models is made of: the data, and how much each row or sequence counts.

    The first takes the weights as they are, the others random ones. Classes no evidence speaks of are seeded with a
    few random rows or tokens, since no fit would ever tell apart two classes that begin alike.
    """
    for attempt in range(n_starts):
        begun = replace(data, evidence=seeded(data.evidence, rng))
        yield begun, weights * rng.exponential(size=len(weights)) if attempt else weights


def labeled_statistics(
    family: EMFamily[ParametersT, DataT], data: DataT, weights: FloatArray
) -> Mapping[str, FloatArray] | None:
    """The statistics of a supervised model, of what is labeled alone; None if nothing is.

    Of sequences these are the counts of labeled tokens, of neighbors both of which are labeled, and of labeled first
    tokens (``start``).
    """
    neutral = family.neutral()
    if isinstance(data, Samples):
        labeled = ~data.evidence.is_unlabeled & (weights > 0)
        if not labeled.any():
            return None
        return prepared(family, data.take(labeled), weights[labeled]).expectation(neutral).statistics
    runs = labeled_runs(data)
    runs = None if runs is None else runs.weighted(weights)
    if runs is None or not runs.sequences.n_sequences:
        return None
    run_weights = runs.sequences.sequence_weights
    statistics = dict(prepared(family, runs.sequences, run_weights).expectation(neutral).statistics)
    statistics["start"] = np.zeros(len(family.classes))
    if runs.is_first.any():
        firsts = prepared(family, runs.sequences.take(runs.is_first), run_weights[runs.is_first])
        statistics["start"] = firsts.expectation(neutral).statistics["start"]
    return statistics


def seeded(evidence: Evidence, rng: np.random.Generator) -> Evidence:
    """Give a few random rows each to the classes that the evidence does not single out."""
    unspoken = _unspoken_classes(evidence)
    if not unspoken.size:
        return evidence
    codes, taken = evidence.codes.copy(), evidence.is_gold
    for code in unspoken:
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
