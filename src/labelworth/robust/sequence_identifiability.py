"""Whether partly labeled sequences pin a chain down: labels that could be swapped, directions left open or weak."""

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np

from labelworth.arrays import BoolArray
from labelworth.criteria.policy_points import PolicyPoint
from labelworth.criteria.policy_table import policy_information
from labelworth.data.sequences import Sequences
from labelworth.errors import InvalidInputError, MoreSamplesNeededError
from labelworth.estimation.starts import exchangeable_classes
from labelworth.fisher.identifiability import WEAK
from labelworth.fisher.rule_choice import RuleMethod
from labelworth.models.chain_protocol import ChainModel, Reference
from labelworth.policies.function_rule import FunctionRule
from labelworth.policies.policy import Policy
from labelworth.progress import SILENT, Progress

_MOST_DIRECTIONS = 3
_MOST_NAMES = 8


@dataclass(frozen=True)
class SequenceIdentifiability:
    """What the labels of sequences, or a policy, leave open.

    Attributes
    ----------
    label_counts : tuple of (label, int)
        Tokens with each label.
    n_sequences, n_tokens, n_ambiguous : int
    never_labeled : tuple
        Labels that neither a token nor a candidate set names.
    indistinguishable : tuple of tuples
        Groups of labels that could be swapped without changing any likelihood: no data of this kind tells them apart.
    is_conditional : bool
        Whether the model learns nothing from what is not labeled.
    point : PolicyPoint or None
        The information of the policy, or of the positions that are labeled, against complete labels; None where
        the draws did not tell.
    policy : str
        What was asked about.
    """

    label_counts: tuple[tuple[Hashable, int], ...]
    n_sequences: int
    n_tokens: int
    n_ambiguous: int
    never_labeled: tuple[Hashable, ...]
    indistinguishable: tuple[tuple[Hashable, ...], ...]
    is_conditional: bool
    point: PolicyPoint | None
    policy: str

    @property
    def n_labels(self) -> int:
        """Tokens with a label."""
        return sum(count for _, count in self.label_counts)

    @property
    def is_anchored(self) -> bool:
        """Whether the names of all labels are pinned down."""
        unnamed = self.never_labeled if self.is_conditional else ()
        return not self.indistinguishable and not unnamed and not self._buys_nothing

    @property
    def _buys_nothing(self) -> bool:
        """Whether a model of words is left to name its labels; for a conditional one all directions are open then."""
        return self.point is not None and self.point.expected_labels == 0 and not self.is_conditional

    @property
    def verdict(self) -> str:
        """In a word or two."""
        if not self.is_anchored:
            return "not identified: labels without an anchor"
        if self.point is None or self.point.refusal is not None:
            return "not known"
        if not self.point.is_identifiable:
            return "not identified: directions left open"
        share = self.point.smallest_share
        return "identified, but weakly" if share is not None and share < WEAK else "identified"

    @property
    def exit_code(self) -> int:
        """1 where the labels cannot pin the model down."""
        return int(self.verdict.startswith("not identified"))

    def lines(self) -> list[str]:
        """What is there and what is missing, a sentence each."""
        lines = [
            f"{self.n_labels:,} of {self.n_tokens:,} tokens in {self.n_sequences:,} sequences are labeled, with "
            f"{sum(count > 0 for _, count in self.label_counts)} of {len(self.label_counts)} labels."
        ]
        if self.never_labeled:
            consequence = (
                "A conditional model never predicts them."
                if self.is_conditional
                else "Unlabeled tokens may form such a label, but nothing says that it is this one."
            )
            lines.append(f"No token is labeled {_listed(self.never_labeled)}. {consequence} Label some.")
        for group in self.indistinguishable:
            lines.append(
                f"Nothing tells {_listed(group)} apart: their names could be swapped, however many sequences there "
                "are. Label at least one token of each, or give candidate sets that differ."
            )
        return lines + self.information_lines()

    def information_lines(self) -> list[str]:
        """What the policy tells, and what it leaves open or weak."""
        if self.point is None or self.point.refusal is not None:
            return [f"How much {self.policy} tells was not found out: {self.point.refusal if self.point else ''}"]
        lines = []
        if self._buys_nothing:
            lines.append(f"Under {self.policy} no token is labeled: labels are found up to their order at best.")
        if self.point.smallest_share is not None:
            share = max(self.point.smallest_share, 0.0) if self.point.is_identifiable else 0.0
            lines.append(
                f"In the direction it tells least of, {self.policy} carries {share:.2g} of the information of "
                "complete labels."
            )
        directions = self.point.weak_directions or ()
        for direction in directions[:_MOST_DIRECTIONS]:
            state = "open" if direction.relative_information == 0 else "weak"
            lines.append(f"Left {state}: {', '.join(direction.parameters)}.")
        if len(directions) > _MOST_DIRECTIONS:
            lines.append(f"{len(directions) - _MOST_DIRECTIONS} more directions are open or weak.")
        return lines

    def to_dict(self) -> dict[str, Any]:
        """As JSON knows it."""
        return {
            "verdict": self.verdict,
            "policy": self.policy,
            "label_counts": [{"label": name, "n_tokens": count} for name, count in self.label_counts],
            "n_sequences": self.n_sequences,
            "n_tokens": self.n_tokens,
            "n_labels": self.n_labels,
            "n_ambiguous": self.n_ambiguous,
            "never_labeled": list(self.never_labeled),
            "indistinguishable": [list(group) for group in self.indistinguishable],
            "information": None if self.point is None else self.point.to_dict(),
        }


def check_sequences(
    model: ChainModel,
    sequences: Sequences,
    *,
    policy: Policy | None = None,
    method: RuleMethod = "auto",
    seed: int = 0,
    max_draws: int | None = None,
    progress: Progress = SILENT,
) -> SequenceIdentifiability:
    """Say whether the labels of `sequences`, or those a policy would buy, pin the model down.

    Two different questions. *Anchors*, of the data alone: labels that no token and no candidate set sets apart can be
    swapped, and no amount of such data helps. *Information*, at the parameters of the model: whether small changes
    of the parameters would be noticed, and which ones hardly.

    Parameters
    ----------
    model : ChainModel
        Fitted, or guessed: where the information is evaluated.
    sequences : Sequences
        The data. Its lengths and, for a conditional model, its features are what the information is averaged over.
    policy : Policy, optional
        How labels are to be bought; the positions that are labeled in `sequences` when absent.
    method, seed, max_draws
        As in `labelworth.criteria.policy_table.policy_information`.
    progress : Progress

    Notes
    -----
    Tokens with candidate sets count as unlabeled in the information: it is not overstated.

    Paper: def:identifiable, prop:consistency2.
    """
    if not sequences.n_sequences:
        raise InvalidInputError("There are no sequences to check.")
    evidence = sequences.evidence
    counts = evidence.label_counts()
    named = (counts > 0) | (evidence.weights > 0).any(axis=0)
    asked = Policy.of(as_labeled(sequences)) if policy is None else policy
    point: PolicyPoint | None = None
    try:
        table = policy_information(
            model,
            policies=[asked],
            inputs=sequences,
            n_samples=sequences.n_sequences,
            method=method,
            seed=seed,
            max_draws=max_draws,
            progress=progress,
        )
        point = table.points[0]
    except MoreSamplesNeededError as error:
        point = PolicyPoint(asked, (1.0,), float("nan"), False, None, {}, {}, None, str(error))
    is_conditional = model.reference is Reference.LABELS
    return SequenceIdentifiability(
        tuple((name, int(count)) for name, count in zip(evidence.classes, counts, strict=True)),
        sequences.n_sequences,
        sequences.n_tokens,
        int(evidence.is_ambiguous.sum()),
        tuple(evidence.classes[code] for code in np.flatnonzero(~named)),
        () if is_conditional else exchangeable_classes(evidence),
        is_conditional,
        point,
        "what is labeled" if policy is None else policy.spec,
    )


def as_labeled(sequences: Sequences) -> FunctionRule:
    """The rule that draws, for a length, the positions labeled in a random one of these sequences of that length."""
    gold, offsets = sequences.evidence.is_gold, sequences.offsets
    shares: dict[int, dict[bytes, int]] = {}
    for row, length in enumerate(sequences.lengths.tolist()):
        mask = gold[offsets[row] : offsets[row + 1]].tobytes()
        found = shares.setdefault(length, {})
        found[mask] = found.get(mask, 0) + 1

    def outcomes(length: int) -> list[tuple[float, BoolArray]]:
        found = shares.get(length)
        if found is None:
            raise InvalidInputError(f"No sequence has length {length}, so nothing is known of what is labeled there.")
        total = sum(found.values())
        return [(count / total, np.frombuffer(mask, dtype=bool)) for mask, count in found.items()]

    return FunctionRule("as-labeled", outcomes)


def _listed(names: tuple[Hashable, ...]) -> str:
    shown = ", ".join(repr(name) for name in names[:_MOST_NAMES])
    return shown if len(names) <= _MOST_NAMES else f"{shown} and {len(names) - _MOST_NAMES} more"
