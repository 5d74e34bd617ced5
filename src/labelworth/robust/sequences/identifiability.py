"""Whether partly labeled sequences pin a chain down: labels that could be swapped, directions left open or weak."""

from collections.abc import Hashable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from labelworth.arrays import BoolArray, FloatArray, IntArray
from labelworth.criteria.policy_information import policy_information
from labelworth.criteria.table import InformationPoint
from labelworth.data.sequences import Sequences
from labelworth.errors import InvalidInputError, MoreSamplesNeededError, NotIdentifiableError
from labelworth.fisher.directions import WEAK
from labelworth.fisher.sequences.population import MAX_PARAMETERS
from labelworth.fisher.sequences.position_shares import PositionCounts, row_shares
from labelworth.models.chains.protocol import ChainModel, Reference
from labelworth.policies.function_rule import FunctionRule
from labelworth.policies.policy import Policy
from labelworth.progress import SILENT, Progress
from labelworth.robust.support import SequenceSupport, listed

_MOST_DIRECTIONS = 3
_MOST_GROUPS, _FEWEST_IN_GROUP = 8, 30

NOT_ANCHORED = "not identified: labels without an anchor"
LEFT_OPEN = "not identified: directions left open"
NOT_KNOWN = "not known"
AS_LABELED = "what is labeled"


@dataclass(frozen=True)
class LeastShare:
    """A share of the information of complete labels that is there in every direction."""

    value: float  # At least so much; 0 says nothing.
    of: str  # What was counted.
    missing: tuple[Hashable, ...] = ()  # Labels of which counting found nothing.


@dataclass(frozen=True)
class SequenceIdentifiability:
    """What the labels of sequences, or those a policy would buy, leave open."""

    policy: str  # What was asked about.
    is_anchored: bool  # Whether the names of all labels are pinned down.
    expected_labels: float  # Labels per sequence.
    # The information against that of complete labels, at the parameters of the model; None where it was not
    # told.
    point: InformationPoint | None
    refusal: str | None = None  # Why not.
    least_share: LeastShare | None = None  # What counting says instead.

    @property
    def verdict(self) -> str:
        """In a word or two."""
        if not self.is_anchored:
            return NOT_ANCHORED
        if self.point is None:
            if not self.expected_labels:
                return LEFT_OPEN
            return "identified" if self.least_share is not None and self.least_share.value > 0 else NOT_KNOWN
        if not self.point.is_identifiable:
            return LEFT_OPEN
        share = self.point.smallest_share
        return "identified, but weakly" if share is not None and share < WEAK else "identified"

    def lines(self) -> list[str]:
        """What is told, and what is left open or weak."""
        if not self.expected_labels and not self.is_anchored and self.policy != AS_LABELED:
            return [f"Under {self.policy} no token is labeled: labels are found up to their order at best."]
        return self._counted_lines() if self.point is None else self._information_lines(self.point)

    def _information_lines(self, point: InformationPoint) -> list[str]:
        lines = []
        if point.smallest_share is not None:
            share = point.smallest_share if point.is_identifiable else 0.0
            lines.append(
                f"In the direction it tells least of, {self.policy} carries {share:.2g} of the information of "
                "complete labels."
            )
        directions = point.weak_directions or ()
        for direction in directions[:_MOST_DIRECTIONS]:
            state = "open" if direction.relative_information == 0 else "weak"
            lines.append(f"Left {state}: {', '.join(direction.parameters)}.")
        if len(directions) > _MOST_DIRECTIONS:
            lines.append(f"{len(directions) - _MOST_DIRECTIONS} more directions are open or weak.")
        return lines

    def _counted_lines(self) -> list[str]:
        lines = [f"Weak directions under {self.policy} are not known: {self.refusal}"]
        share = self.least_share
        if share is None:
            return lines
        if share.value > 0:
            lines.append(
                f"Counting {share.of}: in every direction {self.policy} carries about {share.value:.2g} of the "
                "information of complete labels, or more."
            )
        else:
            of_these = f" of {listed(share.missing)}" if share.missing else ""
            lines.append(f"Counting {share.of}, found none{of_these}: {self.policy} may leave directions open.")
        return lines

    def to_dict(self) -> dict[str, Any]:
        return {
            "policy": self.policy,
            "verdict": self.verdict,
            "information": None if self.point is None else self.point.to_dict(),
            "least_share": None if self.least_share is None else self.least_share.value,
        }


def judge_policy(
    model: ChainModel,
    sequences: Sequences,
    *,
    policy: Policy | None = None,
    quick_parameters: int = MAX_PARAMETERS,
    seed: int = 0,
    max_draws: int | None = None,
    progress: Progress = SILENT,
) -> SequenceIdentifiability:
    """Say whether the labels of `sequences`, or those a policy would buy, pin the model down.

    Two different questions. *Anchors*: labels that no token and no candidate set sets apart can be swapped, and no
    amount of such data helps; a policy that buys labels meets every one of them in time. *Information*, at the
    parameters of the model: whether small changes of the parameters would be noticed, and which ones hardly. Where
    there are too many of them for that, counting what is labeled bounds it from below.

    Parameters
    ----------
    model : ChainModel
        Fitted, or guessed: where the information is evaluated.
    sequences : Sequences
        The data. Its lengths and, for a conditional model, its features are what the information is averaged over.
    policy : Policy, optional
        How labels are to be bought; the positions that are labeled in `sequences` when absent.
    quick_parameters : int
        With more, what is labeled is counted first, and the information looked for only if that tells too little.
    seed, max_draws
        As in `labelworth.criteria.policy_information.policy_information`.

    Notes
    -----
    Tokens with candidate sets count as unlabeled in the information: it is not overstated.

    Paper: def:identifiable, prop:consistency2.
    """
    if not sequences.n_sequences:
        raise InvalidInputError("There are no sequences to check.")
    asked = _Asked.of(model, sequences, policy, seed)
    judged = partial(
        SequenceIdentifiability,
        AS_LABELED if policy is None else policy.spec,
        asked.is_anchored,
        asked.expected_labels,
    )
    n_parameters = model.coordinates.n_free
    if n_parameters > quick_parameters:
        counted = least_share(model, sequences, asked.labeled)
        if counted.value >= WEAK or n_parameters > MAX_PARAMETERS:
            return judged(None, f"there are {n_parameters:,} parameters, which takes long.", counted)
    try:
        table = policy_information(
            model,
            policies=[asked.policy],
            inputs=sequences,
            n_samples=sequences.n_sequences,
            seed=seed,
            max_draws=max_draws,
            progress=progress,
        )
    except (InvalidInputError, NotIdentifiableError, MoreSamplesNeededError) as error:
        return judged(None, str(error), least_share(model, sequences, asked.labeled))
    return judged(table.points[0])


@dataclass(frozen=True)
class _Asked:
    """A policy, the tokens it labels, labels per sequence, and whether they pin the names of labels down."""

    policy: Policy
    labeled: BoolArray
    expected_labels: float
    is_anchored: bool

    @classmethod
    def of(cls, model: ChainModel, sequences: Sequences, policy: Policy | None, seed: int) -> "_Asked":
        is_conditional = model.reference is Reference.LABELS
        if policy is None:
            labeled = sequences.evidence.is_gold
            anchored = SequenceSupport.of(sequences, is_conditional=is_conditional).is_anchored
            expected = float(labeled.sum()) / sequences.n_sequences
            return cls(Policy.of(as_labeled(sequences)), labeled, expected, anchored)
        expected = float(np.mean([policy.expected_labels(length) for length in sequences.lengths.tolist()]))
        # Without labels a conditional model is not left to name them: all of its directions are open.
        return cls(policy, policy.draw(sequences, seed).labeled, expected, expected > 0 or is_conditional)


def as_labeled(sequences: Sequences) -> FunctionRule:
    """The rule that draws, for a length, the positions labeled in a random one of these sequences of that length."""
    gold, offsets = sequences.evidence.is_gold, sequences.offsets
    masks: dict[int, dict[bytes, int]] = {}
    for row, length in enumerate(sequences.lengths.tolist()):
        mask = gold[offsets[row] : offsets[row + 1]].tobytes()
        counts = masks.setdefault(length, {})
        counts[mask] = counts.get(mask, 0) + 1

    def outcomes(length: int) -> list[tuple[float, BoolArray]]:
        counts = masks.get(length)
        if counts is None:
            raise InvalidInputError(f"No sequence has length {length}, so nothing is known of what is labeled there.")
        total = sum(counts.values())
        return [(count / total, np.frombuffer(mask, dtype=bool)) for mask, count in counts.items()]

    return FunctionRule("as-labeled", outcomes)


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
