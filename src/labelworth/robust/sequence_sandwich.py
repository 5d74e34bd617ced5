"""Bias and variance of chains whose model is wrong, under any labeling policy: what a fit will lose, and why."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from labelworth.arrays import FloatArray, require_between
from labelworth.errors import NotIdentifiableError
from labelworth.estimation.boltzmann_chain_fit import fit_boltzmann_chain
from labelworth.estimation.conditional_fit import fit_conditional
from labelworth.models.chains.boltzmann_chain import BoltzmannChainFamily, BoltzmannChainModel
from labelworth.models.chains.curvature import WordModel, clamped_covariance, reference_covariance
from labelworth.robust.sequence_moments import SequenceMoments, ShownPopulation, mean_log_losses, sequence_moments

_TOLERANCES = (1e-5, 1e-8)
"""How closely quasi-Newton fits before Newton's method; the second where the first was too early."""
_SETTLED = 1e-6  # nats of the whole objective that are still to be gained
_MAX_NEWTON_STEPS = 20


@dataclass(frozen=True, eq=False)
class SequenceRisk:
    r"""What a fit to n sequences loses on average, to first order in 1/n.

    Attributes
    ----------
    center : model
        :math:`\theta^*`, around which the fit varies: the penalty's pull at n sequences included.
    covariance : array of shape (d, d)
        :math:`H^{-1} J H^{-1} / n` of the weights.
    bias : mapping
        By loss, how much more the center loses per sequence than the target does.
    noise : mapping
        By loss, what the variance around the center adds: :math:`\tfrac12 \operatorname{tr}(G\, \text{covariance})`.
    """

    center: WordModel
    covariance: FloatArray
    bias: Mapping[str, float]
    noise: Mapping[str, float]

    @property
    def excess(self) -> dict[str, float]:
        """Expected loss above that of the target, in nats per sequence, by loss."""
        return {loss: self.bias[loss] + self.noise[loss] for loss in self.bias}

    def draw(self, n_draws: int, rng: np.random.Generator) -> list[WordModel]:
        """Random fits: normal around the center with the covariance."""
        vectors, values, _ = np.linalg.svd(self.covariance, hermitian=True)
        moves = (vectors * np.sqrt(values)) @ rng.standard_normal((len(values), n_draws))
        coordinates = self.center.coordinates
        theta = coordinates.flatten(self.center.tables)
        return [self.center.with_tables(coordinates.named(theta + move)) for move in moves.T]


def sequence_risk(
    target: WordModel,
    population: ShownPopulation,
    sizes: Sequence[int],
    *,
    penalty: float,
    start: WordModel | None = None,
) -> list[SequenceRisk]:
    r"""Predict what penalized fits to n real sequences lose under a policy, whatever the truth is.

    .. math::

        \theta^* &= \operatorname{argmax}\; n \sum_j w_j\, E \log p_\theta(Y_S, X) - c\, |\theta|^2 \\
        \text{Cov} &= n\, M^{-1} J M^{-1}, \qquad M = n H + 2 c\, 1 \\
        \text{excess} &= L(\theta^*) - L(\text{target}) + \tfrac12 \operatorname{tr}(G\, \text{Cov})

    with L the loss on the population, G its curvature at :math:`\theta^*`, and H, J those of `sequence_moments`.
    If the model is right and c = 0, then :math:`\theta^*` is the truth, H = J is the information of the policy, and
    the excess is the paper's.

    Parameters
    ----------
    target : BoltzmannChainModel or ConditionalRandomFieldModel
        What losses are compared with; :math:`\theta^*` is looked for from here on, so that it is the maximum nearby.
    population : ShownPopulation
        Real sequences as the policy shows them.
    sizes : sequence of int
        Numbers of sequences n.
    penalty : float
        c.
    start : model, optional
        Where to begin instead of at the target.

    Returns
    -------
    list of SequenceRisk
        In the order of `sizes`.

    Raises
    ------
    NotIdentifiableError
        If the objective is not curved downwards in every direction at its maximum.

    Notes
    -----
    First order: the bias of the fit around :math:`\theta^*`, also of order 1/n, is left out. Derivation:
    docs/derivations/robust.md. Paper: prop:efficiency2.
    """
    hidden, model = population.hidden, target if start is None else start
    at_target = mean_log_losses(target, population.whole, hidden)
    found: dict[int, SequenceRisk] = {}
    # The most sequences first: the penalty then moves the center step by step.
    for size in sorted(set(sizes), reverse=True):
        require_between("The number of sequences", size, 1, 10**12)
        place = pseudo_true_chain(model, population, size, penalty)
        model, covariance = place.model, place.covariance
        losses = mean_log_losses(model, population.whole, hidden)
        # Of complete labels nothing is open; what is open without any is what labels tell given the words.
        curvature = {
            "joint": place.reference,
            "conditional": clamped_covariance(model, hidden, place.reference),
        }
        found[size] = SequenceRisk(
            model,
            covariance,
            {loss: losses[loss] - at_target[loss] for loss in losses},
            {loss: 0.5 * float(np.vdot(curvature[loss], covariance)) for loss in losses},
        )
    return [found[size] for size in sizes]


@dataclass(frozen=True, eq=False)
class PseudoTruth:
    """A maximum of the expected penalized likelihood, and what surrounds it.

    Attributes
    ----------
    model : BoltzmannChainModel or ConditionalRandomFieldModel
        theta*.
    moments : SequenceMoments
        There, under the policy.
    reference : array of shape (d, d)
        The curvature of the loss of complete labels.
    covariance : array of shape (d, d)
        Of fits to n sequences.
    """

    model: WordModel
    moments: SequenceMoments
    reference: FloatArray
    covariance: FloatArray


def pseudo_true_chain(start: WordModel, population: ShownPopulation, n_samples: float, penalty: float) -> PseudoTruth:
    """The maximum near `start` of the expected penalized likelihood of n sequences under a policy.

    Quasi-Newton first, then Newton's method until nothing is left to gain.
    """
    for tolerance in _TOLERANCES[:-1]:
        try:
            return _settled(
                _climbed(start, population, n_samples, penalty, tolerance), population, n_samples, penalty
            )
        except NotIdentifiableError:
            # It may only be too early for Newton's method.
            continue
    model = _climbed(start, population, n_samples, penalty, _TOLERANCES[-1])
    return _settled(model, population, n_samples, penalty)


def _settled(model: WordModel, population: ShownPopulation, n_samples: float, penalty: float) -> PseudoTruth:
    """Newton's method."""
    coordinates = model.coordinates
    theta = coordinates.flatten(model.tables)
    left = np.inf
    for _ in range(_MAX_NEWTON_STEPS):
        reference = reference_covariance(model, population.whole)
        moments = sequence_moments(model, population, reference)
        bread = n_samples * moments.curvature + 2 * penalty * np.eye(len(theta))
        try:
            factor = cho_factor(bread, lower=True)
        except LinAlgError as error:
            raise _not_curved(model, bread) from error
        gradient = n_samples * moments.mean - 2 * penalty * theta
        step = cho_solve(factor, gradient)
        before, left = left, 0.5 * float(gradient @ step)
        if left < _SETTLED:
            half = cho_solve(factor, moments.variance)
            return PseudoTruth(model, moments, reference, n_samples * np.asarray(cho_solve(factor, half.T)))
        if left > before:
            break
        theta = theta + step
        model = model.with_tables(coordinates.named(theta))
    raise NotIdentifiableError(
        "Newton's method does not settle at a maximum of the expected likelihood; it may have none nearby. "
        "Label more, or raise the penalty."
    )


def _climbed(
    start: WordModel, population: ShownPopulation, n_samples: float, penalty: float, tolerance: float
) -> WordModel:
    """Quasi-Newton."""
    sequences = population.weighted(n_samples)
    if isinstance(start, BoltzmannChainModel):
        family = BoltzmannChainFamily.for_sequences(sequences, penalty=penalty, with_start=start.start is not None)
        fitted = fit_boltzmann_chain(family, sequences, start=start, tolerance=tolerance)
        return replace(fitted.model, feature_names=start.feature_names)
    return fit_conditional(sequences, c2=penalty, start=start, tolerance=tolerance).model


def _not_curved(model: WordModel, bread: FloatArray) -> NotIdentifiableError:
    _, vectors = np.linalg.eigh(bread)
    weak = model.coordinates.name(int(np.argmax(np.abs(vectors[:, 0]))))
    return NotIdentifiableError(
        "The expected likelihood is not curved downwards in every direction where the fit stopped, so the estimate "
        f"has no asymptotic covariance; the weakest direction moves {weak} most. Label more, or raise the penalty.",
        [weak],
    )
