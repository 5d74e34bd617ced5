"""Fit a hidden Markov model to sequences with any mixture of labels."""

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from labelworth.arrays import FloatArray
from labelworth.data.sequences import Sequences
from labelworth.errors import InvalidInputError
from labelworth.estimation.chain_doors import counting_sequences
from labelworth.estimation.chain_starts import seeded_sequences
from labelworth.estimation.doors import require_arguments, require_matching
from labelworth.estimation.expectation_maximization import ExpectationMaximization
from labelworth.estimation.multi_start import Found, search
from labelworth.models.hidden_markov import HiddenMarkovFamily, HiddenMarkovModel
from labelworth.progress import SILENT, Progress


@dataclass(frozen=True, eq=False)
class HiddenMarkovFit(Found[HiddenMarkovModel]):
    """A fitted hidden Markov model and how it was found; see `Found`.

    Attributes
    ----------
    family : HiddenMarkovFamily
        With everything filled in: its prior is the one in the objective.
    """

    family: HiddenMarkovFamily = field(kw_only=True)


def fit_hidden_markov(
    family: HiddenMarkovFamily,
    sequences: Sequences,
    *,
    start: HiddenMarkovModel | None = None,
    start_smoothing: float = 1.0,
    unlabeled_weight: float = 1.0,
    max_iterations: int = 1000,
    tolerance: float = 1e-6,
    accelerated: bool = True,
    n_starts: int = 1,
    rng: np.random.Generator | None = None,
    progress: Progress = SILENT,
) -> HiddenMarkovFit:
    r"""Maximize the penalized likelihood of whatever is known.

    .. math:: \sum_i w_i \log \sum_y p_\theta(x_i, y) \prod_t e_{it}(y_t) + \log \text{prior}(\theta)

    where :math:`w_i` is the weight of the sequence, times `unlabeled_weight` if none of its labels is known.

    Parameters
    ----------
    family : HiddenMarkovFamily
        Labels, words and smoothing.
    sequences : Sequences
        Labeled, unlabeled and ambiguous tokens in any mixture. Sequences of weight 0 are left out.
    start : HiddenMarkovModel, optional
        Where to begin; else the supervised model of the labeled tokens and of the neighbors both of which are
        labeled. Labels that no token singles out begin from a few random tokens.
    start_smoothing : float
        How many times stronger the prior is for that supervised model.
    unlabeled_weight : float
        0 leaves out the sequences without any label.
    max_iterations, tolerance, accelerated, n_starts, rng, progress
        As in `labelworth.estimation.fit.fit`; the tolerance is in nats per sequence.

    Returns
    -------
    HiddenMarkovFit
        When every label is known, the closed-form maximizer.

    Warns
    -----
    DidNotConvergeWarning
        If `max_iterations` was reached.
    LabelworthWarning
        If no token tells some labels apart.

    Raises
    ------
    InvalidInputError
        If nothing is left to learn from, or an argument makes no sense.

    Notes
    -----
    Paper: eq:ll2.
    """
    require_arguments(start_smoothing, unlabeled_weight, max_iterations, tolerance, n_starts)
    sequences, weights = counting_sequences(sequences, unlabeled_weight)
    family = family.adapted(sequences, weights)
    climber = ExpectationMaximization(
        family, family.prepare(sequences, weights), tolerance, max_iterations, accelerated, float(weights.sum())
    )
    given = [] if start is None else [_adapted(require_matching(start, family), family)]

    def starts() -> Iterator[HiddenMarkovModel]:
        yield from given
        smoother, count = family.smoother(start_smoothing), n_starts - len(given)
        yield from starting_chains(smoother, sequences, weights, count, rng or np.random.default_rng(0))

    found = search(
        climber,
        sequences.evidence,
        starts,
        lambda model: _impossible_start(model, sequences),
        unlabeled_weight,
        progress,
    )
    return HiddenMarkovFit(**vars(found), family=family)


def starting_chains(
    family: HiddenMarkovFamily,
    sequences: Sequences,
    weights: FloatArray,
    n_starts: int,
    rng: np.random.Generator,
) -> Iterator[HiddenMarkovModel]:
    """The supervised model of the labeled tokens first, then the same with random weights of the sequences."""
    for begun, drawn in seeded_sequences(sequences, weights, n_starts, rng):
        statistics = family.labeled_statistics(begun, drawn)
        yield family.neutral() if statistics is None else family.maximize(statistics)


def _adapted(start: HiddenMarkovModel, family: HiddenMarkovFamily) -> HiddenMarkovModel:
    """With the lengths of the data, by which steps are measured."""
    return HiddenMarkovModel(
        start.classes, start.start, start.transition, start.emission, start.feature_names, family.lengths
    )


def _impossible_start(model: HiddenMarkovModel, sequences: Sequences) -> InvalidInputError:
    impossible = np.flatnonzero(~np.isfinite(model.log_evidence(sequences)))
    if not impossible.size:
        return InvalidInputError(
            "The starting model has probabilities of zero, which the prior rules out; smooth it."
        )
    return InvalidInputError(
        f"The starting model gives {impossible.size} sequence(s) the probability zero, the first is sequence "
        f"{impossible[0]}; begin from a model fitted with smoothing above 0, or let the fit find its own start."
    )
