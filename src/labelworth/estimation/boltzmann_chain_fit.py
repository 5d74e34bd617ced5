"""Fit a Boltzmann chain to sequences with any mixture of labels."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from labelworth.arrays import FloatArray
from labelworth.data.sequences import Sequences, labeled_runs
from labelworth.data.shards.passes import is_sharded
from labelworth.errors import InvalidInputError
from labelworth.estimation.expectation_maximization import Ascent, Point
from labelworth.estimation.fit import Fit, report_exchangeable
from labelworth.estimation.quasi_newton import Descent, Objective, minimize
from labelworth.estimation.starts import counting, require_search, seeded_data
from labelworth.models.chains.boltzmann_chain import (
    BoltzmannChainFamily,
    BoltzmannChainModel,
    BoltzmannChainObjective,
)
from labelworth.models.sharded import ObjectiveOverShards, SlopeSums
from labelworth.progress import SILENT, Progress

_START_TOLERANCE = 1e-4


def fit_boltzmann_chain(
    family: BoltzmannChainFamily,
    sequences: Sequences,
    *,
    start: BoltzmannChainModel | None = None,
    unlabeled_weight: float = 1.0,
    max_iterations: int = 1000,
    tolerance: float = 1e-6,
    n_starts: int = 1,
    rng: np.random.Generator | None = None,
    progress: Progress = SILENT,
) -> Fit[BoltzmannChainModel, BoltzmannChainFamily]:
    r"""Maximize the penalized likelihood of whatever is known, by L-BFGS.

    .. math:: \sum_i w_i \log \sum_y p_\theta(x_i, y) \prod_t e_{it}(y_t) - c\, |\theta|^2

    Concave where every label is known; then one start is enough and the starts do not matter. Otherwise the fit
    begins from the supervised estimate of the labeled runs of tokens, each taken for a sequence of its own.

    Parameters
    ----------
    family, sequences, start, unlabeled_weight, n_starts, rng, progress
        As in `labelworth.estimation.fit.fit`, whose warnings and errors are also those here.
    max_iterations : int
        Of L-BFGS, at most.
    tolerance : float
        Stop when ten iterations gain less than this, in nats per unit of weight.

    Notes
    -----
    Paper: eq:ll2.
    """
    require_search(unlabeled_weight, max_iterations, tolerance, n_starts)
    sequences, weights = counting(sequences, unlabeled_weight)
    evidence = sequences.evidence
    objective = _objective(family, sequences, weights)
    neutral = family.neutral()
    is_concave = bool(evidence.is_gold.all()) or evidence.n_classes == 1
    exchangeable = () if is_concave else report_exchangeable(evidence, progress)
    given = [] if start is None else [_weights_of(start, family)]
    count = (1 if is_concave else n_starts) - len(given)
    descend = partial(minimize, max_iterations=max_iterations, progress=progress)

    def starts() -> Iterator[FloatArray]:
        yield from given
        if is_concave and count > 0:
            yield np.zeros(neutral.coordinates.n_free)
        elif count > 0:
            yield from _supervised(family, sequences, weights, count, rng or np.random.default_rng(0), descend)

    def ascent(begin: FloatArray) -> Ascent[BoltzmannChainModel]:
        descent = descend(objective, begin, tolerance=tolerance * float(weights.sum()), title="Boltzmann chain")
        theta = descent.theta
        log_likelihood = family.penalty * float(theta @ theta) - descent.value
        model = neutral.with_tables(neutral.coordinates.named(theta))
        end = Point(model, {}, log_likelihood, -descent.value)
        return Ascent(end, -descent.value_path, descent.converged, descent.n_iterations, descent.n_evaluations)

    return Fit.best_of([ascent(begin) for begin in starts()], family, unlabeled_weight, exchangeable)


@dataclass(frozen=True, eq=False)
class BoltzmannLayout:
    """Sequences laid out for passes of a Boltzmann chain; see `labelworth.data.shards.passes.Layout`."""

    family: BoltzmannChainFamily  # Without its penalty.

    @property
    def feature_names(self) -> tuple[str, ...]:
        return self.family.feature_names

    def prepare(self, sequences: Sequences, weights: FloatArray, /) -> SlopeSums:
        return SlopeSums(BoltzmannChainObjective(self.family, sequences, weights))


def _objective(family: BoltzmannChainFamily, sequences: Sequences, weights: FloatArray) -> Objective:
    """What is minimized, wherever the sequences lie."""
    if not is_sharded(sequences):
        return BoltzmannChainObjective(family, sequences, weights)
    return ObjectiveOverShards(BoltzmannLayout(replace(family, penalty=0.0)), sequences, weights, family.penalty)


def _supervised(
    family: BoltzmannChainFamily,
    sequences: Sequences,
    weights: FloatArray,
    n_starts: int,
    rng: np.random.Generator,
    descend: Callable[..., Descent],
) -> Iterator[FloatArray]:
    """Estimates of the labeled runs, the later ones with random weights; seeded where labels say too little."""
    for begun, drawn in seeded_data(sequences, weights, n_starts, rng):
        runs = labeled_runs(begun)
        if runs is None:
            yield np.zeros(family.neutral().coordinates.n_free)
            continue
        part = runs.weighted(drawn).sequences
        objective = _objective(family, part, part.sequence_weights)
        start = np.zeros(family.neutral().coordinates.n_free)
        tolerance = _START_TOLERANCE * float(part.sequence_weights.sum())
        yield descend(objective, start, tolerance=tolerance, title="Start").theta


def _weights_of(start: BoltzmannChainModel, family: BoltzmannChainFamily) -> FloatArray:
    matching = start.classes == family.classes and start.n_features == family.n_features
    if not matching or (start.start is not None) != family.with_start:
        raise InvalidInputError(
            "The starting model must have the labels, words and kinds of weights of the family; it has "
            f"{len(start.classes)} labels, {start.n_features} words and {'no ' if start.start is None else ''}start."
        )
    return start.coordinates.flatten(start.tables)
