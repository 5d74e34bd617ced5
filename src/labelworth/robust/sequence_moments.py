"""Curvature and variance of the scores of sequences as they are, not as the model would have them."""

from dataclasses import dataclass

import numpy as np

from labelworth.arrays import FloatArray
from labelworth.data.sequences import NO_WORD, Sequences
from labelworth.errors import InvalidInputError
from labelworth.models.chains.conditional_random_field import ConditionalRandomFieldModel
from labelworth.models.chains.curvature import WordModel, clamped_covariance
from labelworth.policies.policy import Policy


@dataclass(frozen=True, eq=False)
class ShownPopulation:
    """Real sequences with the labels that a policy would show of them.

    Attributes
    ----------
    whole : Sequences
        With all their labels.
    shares : tuple of float
        How probable each rule is.
    shown : tuple of Sequences
        The same sequences as each rule would show them; where a rule labels at random, drawn once per sequence.
    """

    whole: Sequences
    shares: tuple[float, ...]
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
        """Without any label."""
        return self.whole.hide()

    def weighted(self, n_samples: float) -> Sequences:
        """What n sequences under the policy are on average: every sequence once per rule, with its weight."""
        parts = []
        for share, shown in zip(self.shares, self.shown, strict=True):
            weights = np.full(shown.n_sequences, share * n_samples / shown.n_sequences)
            parts.append(Sequences(shown.features, shown.offsets, shown.evidence, shown.feature_names, weights))
        return Sequences.concatenate(parts)


@dataclass(frozen=True, eq=False)
class SequenceMoments:
    """What one sequence contributes on average under a policy, at one theta.

    Attributes
    ----------
    mean : array of shape (d,)
        Of the score of what is shown.
    variance : array of shape (d, d)
        Of the score: over sequences, rules and what rules draw.
    curvature : array of shape (d, d)
        Minus the Hessian of the log-likelihood of what is shown.
    """

    mean: FloatArray
    variance: FloatArray
    curvature: FloatArray


def sequence_moments(model: WordModel, population: ShownPopulation, reference: FloatArray) -> SequenceMoments:
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
    mean, second, clamped = np.zeros(len(reference)), np.zeros_like(reference), np.zeros_like(reference)
    for share, shown in zip(population.shares, population.shown, strict=True):
        scores = model.scores(shown)
        mean += share * scores.mean(axis=0)
        second += share / len(scores) * (scores.T @ scores)
        clamped += share * clamped_covariance(model, shown, reference)
    return SequenceMoments(mean, second - np.outer(mean, mean), reference - clamped)


def mean_log_losses(model: WordModel, whole: Sequences, hidden: Sequences) -> dict[str, float]:
    """-log p(x, y) and -log p(y | x) per sequence; a conditional model has no joint one."""
    joint = -float(model.log_evidence(whole).mean())
    if isinstance(model, ConditionalRandomFieldModel):
        return {"conditional": joint}
    return {"joint": joint, "conditional": joint + float(model.log_evidence(hidden).mean())}
