"""Bias and variance of chains whose model is wrong, under any labeling policy: what a fit will lose, and why."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from labelworth.arrays import FloatArray, require_between
from labelworth.data.sequences import NO_WORD, Sequences
from labelworth.errors import InvalidInputError, NotIdentifiableError
from labelworth.estimation.boltzmann_chain_fit import fit_boltzmann_chain
from labelworth.estimation.conditional_fit import fit_conditional
from labelworth.models.chains.boltzmann_chain import BoltzmannChainFamily, BoltzmannChainModel
from labelworth.models.chains.conditional_random_field import ConditionalRandomFieldModel
from labelworth.policies.policy import Policy
from labelworth_studies.robust.curvature import WordModel, clamped_covariance, reference_covariance
from labelworth_studies.robust.sandwich import Moments, Sandwich

_TOLERANCES = (1e-5, 1e-8)
"""How closely quasi-Newton fits before Newton's method; the second where the first was too early."""
_SETTLED = 1e-6  # nats of the whole objective that are still to be gained
_MAX_NEWTON_STEPS = 20


@dataclass(frozen=True, eq=False)
class ShownPopulation:
    """Real sequences with the labels that a policy would show of them."""

    whole: Sequences  # With all their labels.
    shares: tuple[float, ...]  # How probable each rule is.
    # The same sequences as each rule would show them; where a rule labels at random, drawn once per sequence.
    shown: tuple[Sequences, ...]

    def __post_init__(self) -> None:
        if not self.whole.n_sequences or not self.whole.evidence.is_gold.all():
            raise InvalidInputError(
                "A population needs the label of every token, since each sequence is looked at as every rule would "
                "show it. Leave sequences with unknown labels out."
            )
        if self.whole.weights is not None or (self.whole.words == NO_WORD).any():
            raise InvalidInputError("A population is of sequences that count one each, with a known word per token.")

    @classmethod
    def of(cls, whole: Sequences, policy: Policy, rng: np.random.Generator) -> "ShownPopulation":
        """Draw what every rule of the policy shows."""
        every = np.arange(whole.n_sequences)
        shown = tuple(whole.hide(~rule.draw_for(whole, every, rng)) for rule in policy.rules)
        return cls(whole, policy.weights, shown)

    @property
    def hidden(self) -> Sequences:
        return self.whole.hide()

    def weighted(self, n_samples: float) -> Sequences:
        """What n sequences under the policy are on average: every sequence once per rule, with its weight."""
        rows = np.arange(self.whole.n_sequences)
        every = self.whole.take(np.tile(rows, len(self.shown)))
        hidden = np.concatenate([shown.evidence.is_unlabeled for shown in self.shown])
        weights = np.repeat(np.array(self.shares) * n_samples / len(rows), len(rows))
        return replace(every.hide(hidden), weights=weights)


def sequence_moments(model: WordModel, population: ShownPopulation, reference: FloatArray) -> Moments:
    r"""Score and curvature of one sequence, averaged over a policy.

    .. math::

        \bar s = \sum_j w_j E s_j, \qquad J = \sum_j w_j E[s_j s_j'] - \bar s \bar s', \qquad
        H = \operatorname{Cov}(T | \text{reference}) - \sum_j w_j E \operatorname{Cov}(T | x, y_S)

    with :math:`s_j` the score of :math:`\log p(y_S, x)` under rule j and T the counts.

    Parameters
    ----------
    reference : array of shape (d, d)
        The `reference_covariance` of the model on the whole population.
    """
    parts = []
    for shown in population.shown:
        scores = model.scores(shown)
        mean = scores.mean(axis=0)
        centered = scores - mean
        variance = centered.T @ centered / len(scores)
        parts.append(Moments(mean, variance, reference - clamped_covariance(model, shown, reference)))
    return Moments.mixture(parts, population.shares)


def mean_log_losses(model: WordModel, whole: Sequences, hidden: Sequences) -> dict[str, float]:
    """-log p(x, y) and -log p(y | x) per sequence; a conditional model has no joint one."""
    joint = -float(model.log_evidence(whole).mean())
    if isinstance(model, ConditionalRandomFieldModel):
        return {"conditional": joint}
    return {"joint": joint, "conditional": joint + float(model.log_evidence(hidden).mean())}


@dataclass(frozen=True, eq=False)
class SequenceRisk:
    r"""What a fit to n sequences loses on average, to first order in 1/n."""

    center: WordModel  # :math:`\theta^*`, around which the fit varies: the penalty's pull at n sequences included.
    covariance: FloatArray  # (d, d): :math:`H^{-1} J H^{-1} / n` of the weights.
    bias: Mapping[str, float]  # By loss, how much more the center loses per sequence than the target does.
    # By loss, what the variance around the center adds: :math:`\tfrac12 \operatorname{tr}(G\,
    # \text{covariance})`.
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
    risks: dict[int, SequenceRisk] = {}
    # The most sequences first: the penalty then moves the center step by step.
    for size in sorted(set(sizes), reverse=True):
        require_between("The number of sequences", size, 1, 10**12)
        truth = pseudo_true_chain(model, population, size, penalty)
        model, covariance = truth.model, truth.covariance
        losses = mean_log_losses(model, population.whole, hidden)
        # Of complete labels nothing is open; what is open without any is what labels tell given the words.
        curvature = {
            "joint": truth.reference,
            "conditional": clamped_covariance(model, hidden, truth.reference),
        }
        risks[size] = SequenceRisk(
            model,
            covariance,
            {loss: losses[loss] - at_target[loss] for loss in losses},
            {loss: 0.5 * float(np.vdot(curvature[loss], covariance)) for loss in losses},
        )
    return [risks[size] for size in sizes]


@dataclass(frozen=True, eq=False)
class PseudoTruth:
    """A maximum of the expected penalized likelihood, and what surrounds it."""

    model: WordModel  # theta*.
    moments: Moments  # There, under the policy.
    reference: FloatArray  # (d, d): The curvature of the loss of complete labels.
    covariance: FloatArray  # (d, d): Of fits to n sequences.


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
    """The maximum near `model` by Newton's method."""
    coordinates = model.coordinates
    theta = coordinates.flatten(model.tables)
    gain_to_come = np.inf
    for _ in range(_MAX_NEWTON_STEPS):
        reference = reference_covariance(model, population.whole)
        moments = sequence_moments(model, population, reference)
        bread = moments.curvature + 2 * penalty / n_samples * np.eye(len(theta))
        spread = Sandwich(coordinates, bread, moments.variance)
        gradient = moments.mean - 2 * penalty / n_samples * theta
        step = spread.solve(gradient)
        before, gain_to_come = gain_to_come, 0.5 * n_samples * float(gradient @ step)
        if gain_to_come < _SETTLED:
            return PseudoTruth(model, moments, reference, spread.covariance / n_samples)
        if gain_to_come > before:
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
    """The maximum near `start` by quasi-Newton, to a tolerance."""
    sequences = population.weighted(n_samples)
    if isinstance(start, BoltzmannChainModel):
        family = BoltzmannChainFamily.for_sequences(sequences, penalty=penalty, with_start=start.start is not None)
        fitted = fit_boltzmann_chain(family, sequences, start=start, tolerance=tolerance)
        return replace(fitted.model, feature_names=start.feature_names)
    return fit_conditional(sequences, c2=penalty, start=start, tolerance=tolerance).model
