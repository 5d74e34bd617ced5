"""Bias and variance of a wrong multinomial model with any number of words: random estimates, no matrices.

`misspecified_risk` forms matrices of d parameters. Here estimates are drawn around the pseudo-true model instead:
their covariance is the sandwich, and each costs one solution of linear equations by passes over the documents.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from labelworth.arrays import FloatArray, require_between
from labelworth.data.counts import as_counts
from labelworth.data.samples import Samples
from labelworth.errors import NotIdentifiableError
from labelworth.fisher.documents.observed_counts import ObservedCounts
from labelworth.linalg.conjugate_gradients import LockstepConjugateGradients
from labelworth.models.classes.multinomial import MultinomialFamily, MultinomialModel
from labelworth.models.classes.responsibilities import condition
from labelworth.progress import SILENT, Progress
from labelworth_studies.robust.finite_sample import named_distance
from labelworth_studies.robust.pseudo_true import pseudo_true_path, weighted_population

_PATH_TOLERANCE = 1e-10
_SOLVED = 1e-4  # what is left to add to the squared errors, relatively
_MAX_STEPS = 500
_NOTHING = 1e-12


@dataclass(frozen=True, eq=False)
class DrawnRisk:
    r"""What the estimate from n rows is off by at one labeled fraction, by random estimates."""

    center: MultinomialModel  # :math:`\theta^*_f`, the prior's pull at n rows included.
    bias_squared: float  # Squared distance of the center from the target, in the named tables.
    variances: FloatArray  # (n_draws,): Squared distance of every random estimate from the center.
    errors: FloatArray  # (n_draws,): The classification error of every random estimate on the population.

    @property
    def mse(self) -> float:
        """Expected squared error of the named tables."""
        return self.bias_squared + float(self.variances.mean())

    @property
    def mse_se(self) -> float:
        """Its standard error over the draws."""
        return _standard_error(self.variances)

    @property
    def error(self) -> float:
        """Expected classification error."""
        return float(self.errors.mean())

    @property
    def error_se(self) -> float:
        """Its standard error over the draws."""
        return _standard_error(self.errors)


def drawn_risk(
    family: MultinomialFamily,
    population: Samples,
    fractions: Sequence[float] | FloatArray,
    target: MultinomialModel,
    rng: np.random.Generator,
    *,
    n_samples: float,
    n_draws: int = 8,
    progress: Progress = SILENT,
) -> list[DrawnRisk]:
    r"""Predict the error of the estimate from n rows of a population, whatever the truth is, at any size.

    .. math::

        \text{mse}(f, n) &= |\theta^*_f - \theta|^2 + \operatorname{tr}(H^{-1} J H^{-1}) / n \\
        \delta &= H^{-1} \Bigl( \sqrt{f}\, \sum_i \varepsilon_i (s_i - \bar s)
            + \sqrt{1-f}\, \sum_i \varepsilon'_i (u_i - \bar u) \Bigr) / \sqrt{n N}, \qquad
            \varepsilon, \varepsilon' \in \{-1, 1\}^N

    with :math:`s_i` and :math:`u_i` the scores of log p(x, y) and log p(x) of the N rows of the population. The
    covariance of :math:`\delta` is the sandwich over n (for a fixed number of labels), so :math:`|\delta|^2`
    estimates the variance without bias, and the error of the model at :math:`\theta^*_f + \delta` is one draw of what
    the estimate will make.

    Parameters
    ----------
    family : MultinomialFamily
        The prior the estimator uses; it pulls as it does with n rows.
    population : Samples
        Rows with their classes.
    fractions : sequence of float
        Labeled fractions in (0, 1].
    target : MultinomialModel
        What the estimate is compared with.
    rng : Generator
        For the signs, which all fractions share.
    n_samples : float
        n.
    n_draws : int
        Random estimates per fraction.

    Returns
    -------
    list of DrawnRisk
        One per fraction.

    Notes
    -----
    First order in the noise, as `misspecified_risk` with endless data; errors are those of log-odds moved along their
    gradient. Derivation: docs/derivations/robust.md.
    """
    require_between("n_draws", n_draws, 2, 10_000)
    signs = rng.integers(0, 2, size=(2, n_draws, population.n_samples)).astype(np.float64) * 2 - 1
    path = pseudo_true_path(
        family, population, fractions, n_samples=n_samples, tolerance=_PATH_TOLERANCE, progress=progress
    )
    risks = []
    for fraction, center in zip(map(float, fractions), path, strict=True):
        # Something has to be unlabeled for a product to be defined; so little changes nothing.
        shown = weighted_population(population, min(fraction, 1 - _NOTHING), n_samples)
        observed = ObservedCounts.at(center, family, shown)
        moves = _solved(observed, _drawn_scores(observed, center, population, fraction, n_samples, signs))
        squares = (observed.named_weights / observed.total_weight) @ np.square(moves)
        errors = np.array([_error(observed, center, population, move) for move in moves.T])
        risks.append(DrawnRisk(center, named_distance(center, target), squares, errors))
    return risks


def _drawn_scores(
    observed: ObservedCounts,
    center: MultinomialModel,
    population: Samples,
    fraction: float,
    n_samples: float,
    signs: FloatArray,
) -> FloatArray:
    """Random sums of centered scores of n rows, whitened, (size, n_draws)."""
    counts, evidence = as_counts(population.counts), population.evidence
    hidden, _ = condition(center.log_joint(population), evidence.hidden())
    gold = np.zeros_like(hidden)
    gold[np.arange(len(gold)), evidence.codes] = 1.0
    shares = population.sample_weights / population.sample_weights.sum()
    columns = []
    for labeled_signs, hidden_signs in zip(*signs, strict=True):
        weights = np.zeros_like(hidden)
        for memberships, coins, share in ((gold, labeled_signs, fraction), (hidden, hidden_signs, 1 - fraction)):
            drawn = np.sqrt(share * n_samples * shares) * coins
            # Less the mean score as often as it was drawn: a sum of centered scores.
            weights += (drawn - drawn.sum() * shares)[:, None] * memberships
        columns.append(observed.whitened(counts.T @ weights, weights.sum(axis=0)))
    return np.concatenate(columns, axis=1)


def _solved(observed: ObservedCounts, right: FloatArray) -> FloatArray:
    """(1 - N)^-1 of every column, N being the whitened missing information."""

    def information(block: FloatArray) -> FloatArray:
        lost = np.empty_like(block)
        observed.missing(np.ascontiguousarray(block), lost)
        return block - lost

    def unchanged(block: FloatArray) -> FloatArray:
        return block.copy()

    solver = LockstepConjugateGradients(information, unchanged, right)
    try:
        while solver.n_steps < _MAX_STEPS and (solver.remainders() > _SOLVED).any():
            solver.step()
    except np.linalg.LinAlgError as error:
        raise NotIdentifiableError(
            "The objective is not curved downwards in every direction where EM stopped, so the estimate has no "
            "asymptotic covariance. Label more rows, or smooth more."
        ) from error
    return solver.solutions


def _error(observed: ObservedCounts, center: MultinomialModel, population: Samples, move: FloatArray) -> float:
    """The share of the population that the moved model gets wrong."""
    word_changes, class_changes = observed.log_changes(move)
    words = np.ascontiguousarray(center.log_word_probabilities.T + word_changes)
    log_joint = sp.csr_array(population.counts) @ words + center.log_class_probabilities + class_changes
    wrong = log_joint.argmax(axis=1) != population.evidence.codes
    shares = population.sample_weights / population.sample_weights.sum()
    return float(shares @ wrong)


def _standard_error(values: FloatArray) -> float:
    return float(values.std(ddof=1) / np.sqrt(len(values)))
