r"""What the label of one row would buy: how far it lowers the excess log-loss of predictions.

With S the complete score at the fit and :math:`V_i V_i' = \operatorname{Var}(S \mid x_i)`, which has rank K - 1, rows
that are labeled with probabilities :math:`\pi_i` given x leave

.. math:: M(\pi) = M + \sum_i \pi_i V_i V_i', \qquad error(\pi) = \tfrac12 \operatorname{tr}(G M(\pi)^{-1})

where M is the observed information of what is held, unlabeled rows among it, and G the mean of
:math:`\operatorname{Var}(S \mid x)` over all rows. Labeling one more row lowers that, by Woodbury's identity, by

.. math:: gain_i = \tfrac12 \operatorname{tr}\bigl(V_i' M^{-1} G M^{-1} V_i\, (1 + V_i' M^{-1} V_i)^{-1}\bigr)

the greedy step of BAIT (Ash et al. 2021), with unlabeled rows in M; see docs/derivations/channels.md.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Protocol

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from scipy.special import softmax

from labelworth.arrays import FloatArray, IntArray
from labelworth.data.samples import Samples
from labelworth.errors import InvalidInputError, NotIdentifiableError
from labelworth.fisher.criteria import Estimate
from labelworth.fisher.documents.observed import observed_information
from labelworth.fisher.documents.observed_counts import ObservedCounts
from labelworth.fisher.documents.population import chunks, marginal_scores, summed_spread
from labelworth.linalg.conjugate_gradients import LockstepConjugateGradients
from labelworth.models.classes.multinomial import MultinomialModel
from labelworth.models.protocol import AnyFamily, Model

MOST_DENSE = 300
"""Up to so many parameters matrices are formed."""
_N_PROBES = 64
_PRECISION = 1e-5  # of the solutions, relative to the probes
_MOST_STEPS = 500
_NUMBERS = 20_000_000  # in a block of vectors


class Worth(Protocol):
    """What labels of rows would buy at a fit."""

    def gains(self, shares: FloatArray) -> FloatArray:
        """By how many nats per row the label of every row lowers the excess log-loss, (n,); 0 of labeled rows.

        On top of labels of other rows with these probabilities, (n,): ones of rows taken make the next greedy step.
        """

    def error(self, shares: FloatArray) -> Estimate:
        """The excess log-loss once rows are labeled with these probabilities, (n,), beside those held."""

    def slopes(self, shares: FloatArray) -> FloatArray:
        """Minus its derivatives in the probabilities, (n,)."""


def row_worth(model: Model, family: AnyFamily, samples: Samples, seed: int = 0) -> Worth:
    """What labels would buy, exactly where there are few parameters, else by random probes.

    Parameters
    ----------
    model : Model
        At the maximum: a fit that has converged.
    family : AnyFamily
        Whose prior was in the objective.
    samples : Samples
        What it was fitted to.
    seed : int
        Of the probes.

    Raises
    ------
    InvalidInputError
        If the model has too many parameters for matrices and is not a multinomial one.
    NotIdentifiableError
        If this is no strict maximum.
    """
    if model.coordinates.n_free <= MOST_DENSE:
        return DenseWorth.at(model, family.prior_curvature(model), samples)
    if isinstance(model, MultinomialModel):
        return ProbedWorth.at(model, family, samples, seed)
    raise InvalidInputError(
        f"The worth of rows is known for multinomial models, and for others with at most {MOST_DENSE} parameters. "
        f"Got a {model.kind} model with {model.coordinates.n_free:,}: choose rows by uncertainty, or take fewer "
        "features."
    )


@dataclass(frozen=True, eq=False)
class DenseWorth:
    """By matrices."""

    model: Model
    samples: Samples
    responsibilities: FloatArray  # (n, K): p(y | x), labels not looked at.
    held: FloatArray  # (d, d): M, of all that is held.
    weight: FloatArray  # (d, d): G, per row.

    @classmethod
    def at(cls, model: Model, prior_curvature: FloatArray, samples: Samples) -> "DenseWorth":
        information = observed_information(model, samples, prior_curvature)
        weights = samples.sample_weights
        held = float(weights.sum()) * (information.complete - (1 - information.lowest_fraction) * information.missing)
        responsibilities = np.asarray(softmax(model.log_joint(samples.hide()), axis=1))
        spread = summed_spread(model, samples, responsibilities, np.ones(samples.n_samples))
        return cls(model, samples, responsibilities, held, spread / samples.n_samples)

    def gains(self, shares: FloatArray) -> FloatArray:
        gains = np.zeros(self.samples.n_samples)
        inverse = np.linalg.inv(self._information(shares))
        bent = inverse @ self.weight @ inverse
        for part, factors in self._factors(np.flatnonzero(self.samples.evidence.is_unlabeled)):
            own = np.eye(factors.shape[1]) + factors @ inverse @ factors.transpose(0, 2, 1)
            lowered = np.linalg.solve(own, factors @ bent @ factors.transpose(0, 2, 1))
            gains[part] = 0.5 * np.trace(lowered, axis1=1, axis2=2)
        return gains

    def error(self, shares: FloatArray) -> Estimate:
        solved = scipy.linalg.solve(self._information(shares), self.weight, assume_a="pos")
        return Estimate(np.array([0.5 * np.trace(solved)]))

    def slopes(self, shares: FloatArray) -> FloatArray:
        inverse = np.linalg.inv(self._information(shares))
        bent, slopes = inverse @ self.weight @ inverse, np.zeros(self.samples.n_samples)
        for part, factors in self._factors(np.flatnonzero(self.samples.evidence.is_unlabeled)):
            slopes[part] = 0.5 * np.einsum("nkd,nkd->n", factors @ bent, factors)
        return slopes

    def _information(self, shares: FloatArray) -> FloatArray:
        rows = np.flatnonzero(self.samples.evidence.is_unlabeled & (shares > 0))
        return self.held + summed_spread(
            self.model, self.samples.take(rows), self.responsibilities[rows], shares[rows]
        )

    def _factors(self, rows: IntArray) -> Any:
        """Rows and V' of each, (n, K, d), in chunks."""
        for part in chunks(len(rows), self.responsibilities.shape[1] * len(self.held)):
            own = rows[part]
            scores = self.model.class_scores(self.samples.take(own))
            shares = self.responsibilities[own]
            centered = scores - marginal_scores(scores, shares)[:, None, :]
            yield own, np.sqrt(shares)[:, :, None] * centered


@dataclass(frozen=True, eq=False)
class ProbedWorth:
    r"""Of a multinomial model with any number of words, without a matrix.

    Coordinates are those in which complete labels of all rows carry the identity, so :math:`M = 1 - \sum V_i V_i'`
    over the unlabeled rows. Probes g with :math:`E[g g'] = G` are sums of signed scores of labels drawn for all rows;
    :math:`z = M^{-1} g` by conjugate gradients, and :math:`V_i' M^{-1} G M^{-1} V_i` is the mean of
    :math:`V_i' z z' V_i`.

    Notes
    -----
    Of the last factor of a gain only the row's own part is exact. Other rows leave M at most :math:`1 - V_i V_i'`, so
    :math:`(1 + V_i' M^{-1} V_i)^{-1} \le 1 - V_i' V_i`, which stands for it: with equality where no other unlabeled
    row speaks of what this one does, as of its rare words, and nearly so where one row tells little.
    """

    observed: ObservedCounts
    counts: sp.csr_array  # (n, V)
    responsibilities: FloatArray  # (n, K): p(y | x), labels not looked at.
    is_open: FloatArray  # (n,): 1 of rows without a label, else 0.
    probes: FloatArray  # (size, n_probes): Whitened; E[g g'] is G.

    @classmethod
    def at(cls, model: MultinomialModel, family: Any, samples: Samples, seed: int) -> "ProbedWorth":
        samples = replace(samples, features=samples.counts)
        observed = ObservedCounts.at(model, family, samples)
        responsibilities = np.asarray(softmax(model.log_joint(samples.hide()), axis=1))
        counts = samples.counts
        n_samples, n_classes = responsibilities.shape
        n_probes = min(max(_NUMBERS // observed.size, 8), _N_PROBES)
        rng = np.random.default_rng([seed, n_probes])
        probes = np.empty((observed.size, n_probes))
        sure = np.cumsum(responsibilities, axis=1)
        for probe in range(n_probes):
            drawn = (rng.random((n_samples, 1)) * sure[:, -1:] >= sure).sum(axis=1)
            signs = (2.0 * rng.integers(0, 2, size=n_samples) - 1) / np.sqrt(n_samples)
            scores = -responsibilities
            scores[np.arange(n_samples), np.minimum(drawn, n_classes - 1)] += 1.0
            scores *= signs[:, None]
            probes[:, probe] = observed.whitened(counts.T @ scores, scores.sum(axis=0))[:, 0]
        open_rows = samples.evidence.is_unlabeled.astype(np.float64)
        return cls(observed, counts, responsibilities, open_rows, probes)

    def gains(self, shares: FloatArray) -> FloatArray:
        seen = self._seen(self._solved(shares)[0])
        # V' V is that of the classes' own squares, since V' z is centered: what they have in common drops out.
        left = 1 - self.responsibilities * self._own_squares
        return np.asarray(self.is_open * 0.5 * np.einsum("nkb,nk->n", np.square(seen), left) / self.probes.shape[1])

    def error(self, shares: FloatArray) -> Estimate:
        _, forms = self._solved(shares)
        noise = forms.std(ddof=1) / np.sqrt(len(forms))
        return Estimate(np.array([0.5 * forms.mean()]), np.array([0.5 * noise]))

    def slopes(self, shares: FloatArray) -> FloatArray:
        seen = self._seen(self._solved(shares)[0])
        return np.asarray(self.is_open * 0.5 * np.square(seen).sum(axis=(1, 2)) / self.probes.shape[1])

    @cached_property
    def _own_squares(self) -> FloatArray:
        """Squared length of the whitened score of every row with every class, up to what classes share, (n, K)."""
        observed, theta = self.observed, self.observed.model.word_probabilities
        lengths = np.asarray(self.counts.sum(axis=1)).reshape(-1, 1)
        words = (self.counts.multiply(self.counts).tocsr() @ (1 / theta.T) - lengths**2) / observed.word_totals
        return np.asarray(words + 1 / (observed.class_total * observed.model.class_probabilities))

    def _solved(self, shares: FloatArray) -> tuple[FloatArray, FloatArray]:
        """z = M(shares)^-1 g, and g' z of every probe."""
        rest = self.observed.reweighted(-self.is_open * shares)

        def operator(block: FloatArray) -> FloatArray:
            lost = np.empty_like(block)
            rest.missing(np.ascontiguousarray(block), lost)
            return block - lost

        run = LockstepConjugateGradients(operator, lambda block: block, self.probes)
        aim = _PRECISION * np.linalg.norm(self.probes, axis=0)
        try:
            while run.n_steps < _MOST_STEPS and (np.linalg.norm(run.residuals, axis=0) > aim).any():
                run.step()
        except np.linalg.LinAlgError as error:
            raise NotIdentifiableError(
                "The observed information is not positive definite, so this is not a strict maximum and rows "
                "have no worth: choose by uncertainty, label more, or use a stronger prior."
            ) from error
        return run.solutions, run.forms

    def _seen(self, solutions: FloatArray) -> FloatArray:
        """V_i' z for every row, class and probe, (n, K, b)."""
        n_samples, n_classes = self.responsibilities.shape
        words, classes = self.observed.log_change_blocks(solutions)
        flat = words.reshape(words.shape[0], -1)
        seen = (self.counts @ flat).reshape(n_samples, n_classes, -1) + classes
        seen -= np.einsum("nk,nkb->nb", self.responsibilities, seen)[:, None, :]
        return np.asarray(np.sqrt(self.responsibilities)[:, :, None] * seen)
