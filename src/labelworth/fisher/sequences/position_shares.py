"""How much of every row of a hidden Markov model labels show by themselves, by counting positions."""

from dataclasses import dataclass

import numpy as np

from labelworth.arrays import FloatArray
from labelworth.data.lengths import LengthDistribution
from labelworth.models.chains.protocol import ChainModel
from labelworth.policies.policy import Policy


@dataclass(frozen=True, eq=False)
class PositionCounts:
    """How many sequences have, or show the label of, every position."""

    tokens: FloatArray  # (longest,): At that position.
    pairs: FloatArray  # (longest,): At that position and at the next one.

    @classmethod
    def of_lengths(cls, lengths: LengthDistribution) -> "PositionCounts":
        """All positions of one sequence, in the mean."""
        tokens, pairs = np.zeros((2, lengths.longest))
        for length, share in lengths.items():
            tokens[:length] += share
            pairs[: length - 1] += share
        return cls(tokens, pairs)

    @classmethod
    def of_policy(cls, lengths: LengthDistribution, policy: Policy) -> "PositionCounts":
        """The positions of one sequence that a policy labels, in the mean."""
        tokens, pairs = np.zeros((2, lengths.longest))
        for length, share in lengths.items():
            for rule, weight in policy.items():
                single, double = rule.shown(length)
                tokens[:length] += share * weight * single
                pairs[: length - 1] += share * weight * double
        return cls(tokens, pairs)


@dataclass(frozen=True, eq=False)
class RowShares:
    """Of the uses of every row of probabilities, the share that labels show; one where no use is expected."""

    start: float  # Of first labels.
    transition: FloatArray  # (K,): Of pairs that begin with a label, and of tokens that have it.
    emission: FloatArray


def label_counts(model: ChainModel, counts: PositionCounts) -> FloatArray:
    """How many tokens of every label are expected at these positions, (K,), of a hidden Markov model."""
    return counts.tokens @ _label_probabilities(model, len(counts.tokens))


def row_shares(model: ChainModel, labeled: PositionCounts, there: PositionCounts) -> RowShares:
    """Count what is labeled against what is there, in the same sequences of a hidden Markov model.

    An entry of a table is used by a first label, a pair of neighboring labels, or a label beside its word; it is
    shown where all its labels are. Which positions are labeled does not depend on the labels, so the share is the
    expected number of uses at labeled positions over the expected number of all, the same all along a row.
    """
    labels = _label_probabilities(model, len(there.tokens))
    return RowShares(
        float(_ratio(labeled.tokens[:1], there.tokens[:1])[0]),
        _ratio(labeled.pairs @ labels, there.pairs @ labels),
        _ratio(labeled.tokens @ labels, there.tokens @ labels),
    )


def _label_probabilities(model: ChainModel, length: int) -> FloatArray:
    """p(label) at every position, (length, K)."""
    rows = [model.tables["start"][0]]
    for _ in range(length - 1):
        rows.append(rows[-1] @ model.tables["transition"])
    return np.array(rows)


def _ratio(shown: FloatArray, there: FloatArray) -> FloatArray:
    return np.divide(shown, there, out=np.ones_like(there), where=there > 0)
