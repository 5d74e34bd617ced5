"""How much of the information of complete labels is there for certain, by counting what is labeled."""

from collections.abc import Hashable
from dataclasses import dataclass

import numpy as np

from labelworth.arrays import BoolArray, FloatArray, IntArray
from labelworth.data.sequences import Sequences
from labelworth.fisher.sequences.position_shares import PositionCounts, row_shares
from labelworth.models.chains.protocol import ChainModel, Reference

_MOST_GROUPS, _FEWEST_IN_GROUP = 8, 30


@dataclass(frozen=True)
class LeastShare:
    """A share of the information of complete labels that is there in every direction."""

    value: float  # At least so much; 0 says nothing.
    of: str  # What was counted.
    missing: tuple[Hashable, ...] = ()  # Labels of which counting found nothing.


def least_share(model: ChainModel, sequences: Sequences, labeled: BoolArray) -> LeastShare:
    r"""Bound the share of complete information from below, whatever the number of labels and words.

    Sequences labeled whole carry all that they can, so the share is at least theirs; the least of it among sequences
    of like length, since short ones tell nothing of what long ones have. For a hidden Markov model runs of labeled
    tokens carry all they can, too: by the chain rule, given the first label of a run, its other labels and its words
    are multinomial draws whose scores are uncorrelated with those of anything before them. So

    .. math:: I(\text{labeled}) \succeq \operatorname{diag}(r)\, I(\text{everything}),

    block by block, where r is, for the row of a label in the table of emissions, the expected share of its tokens
    that are labeled; in that of transitions, of its tokens with a neighbor behind them, those labeled together with
    that neighbor; and for the start the share of sequences whose first token is labeled.

    Parameters
    ----------
    model : ChainModel
        Its start and transitions say where in a sequence labels are expected.
    sequences : Sequences
        Their lengths and weights.
    labeled : bool array of shape (n_tokens,)
        Which tokens are labeled, chosen without regard to words and labels.
    """
    if model.reference is not Reference.NOTHING:
        return LeastShare(_whole_share(sequences, labeled), "sequences labeled whole, by their length")
    counted = "labeled tokens and labeled neighbors"
    if not sequences.sequence_weights.any():
        return LeastShare(0.0, counted, tuple(model.classes))
    position = np.arange(sequences.n_tokens) - np.repeat(sequences.offsets[:-1], sequences.lengths)
    shares = row_shares(
        model,
        _position_counts(sequences, position, labeled),
        _position_counts(sequences, position, np.ones(sequences.n_tokens, dtype=bool)),
    )
    of_label = np.minimum(shares.emission, shares.transition)
    missing = tuple(name for name, share in zip(model.classes, of_label, strict=True) if share == 0)
    return LeastShare(float(min(shares.start, of_label.min())), counted, missing)


def _position_counts(sequences: Sequences, position: IntArray, chosen: BoolArray) -> PositionCounts:
    """How many sequences, by their weights, have a chosen token at every position, and another behind it."""
    weights = np.repeat(sequences.sequence_weights, sequences.lengths)
    longest = int(sequences.lengths.max())
    followed = np.flatnonzero(position < np.repeat(sequences.lengths, sequences.lengths) - 1)
    both = chosen[followed] & chosen[followed + 1]
    return PositionCounts(
        np.bincount(position, weights * chosen, minlength=longest).astype(np.float64),
        np.bincount(position[followed], weights[followed] * both, minlength=longest).astype(np.float64),
    )


def _whole_share(sequences: Sequences, labeled: BoolArray) -> float:
    """The share of sequences labeled whole, the least of a few groups of like length."""
    whole = np.logical_and.reduceat(labeled, sequences.offsets[:-1])
    weights, by_length = sequences.sequence_weights, np.argsort(sequences.lengths, kind="stable")
    n_groups = min(_MOST_GROUPS, max(1, sequences.n_sequences // _FEWEST_IN_GROUP))
    return min(_mean(whole[rows], weights[rows]) for rows in np.array_split(by_length, n_groups))


def _mean(values: BoolArray, weights: FloatArray) -> float:
    return float(np.average(values, weights=weights)) if weights.any() else 0.0
