"""What the labels of sequences pin down: labels nobody used, transitions nobody saw."""

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np

from labelworth.arrays import BoolArray, IntArray
from labelworth.data.sequences import Sequences
from labelworth.estimation.starts import exchangeable_classes

_MOST_NAMES = 8


@dataclass(frozen=True)
class SequenceSupport:
    """How far the labels reach.

    Attributes
    ----------
    label_counts : tuple of (label, int)
        Tokens with that label.
    n_sequences, n_whole, n_without : int
        Sequences; those labeled whole, and those of which no label is known at all.
    n_tokens, n_labels, n_ambiguous : int
        Tokens; those with a known label, and those with several candidates.
    n_pairs : int
        Neighboring tokens both of which are labeled.
    never_labeled : tuple
        Labels that neither a label nor a candidate set names.
    indistinguishable : tuple of tuples
        Groups of labels that no label or candidate set tells apart: swapping their names changes nothing. For a
        conditional model only those that candidate sets name: it never takes unlabeled tokens for the others.
    never_left : tuple
        Labels whose next label was never seen: of what follows them only unlabeled tokens tell.
    is_conditional : bool
        Whether the model learns nothing from what is not labeled.

    Notes
    -----
    A permutation of the labels changes no likelihood if and only if it leaves the weights of every single token as
    they are, since words differ from token to token. So the permutations that the data allows are those within groups
    of labels that have the same weights at every token, and finding the groups finds all of them.
    """

    label_counts: tuple[tuple[Hashable, int], ...]
    n_sequences: int
    n_whole: int
    n_without: int
    n_tokens: int
    n_labels: int
    n_ambiguous: int
    n_pairs: int
    never_labeled: tuple[Hashable, ...]
    indistinguishable: tuple[tuple[Hashable, ...], ...]
    never_left: tuple[Hashable, ...]
    is_conditional: bool = False

    @classmethod
    def of(cls, sequences: Sequences, *, is_conditional: bool = False) -> "SequenceSupport":
        """Count."""
        evidence = sequences.evidence
        counts = evidence.label_counts()
        named = (counts > 0) | (evidence.weights > 0).any(axis=0)
        gold = np.add.reduceat(evidence.is_gold, sequences.offsets[:-1])
        known = np.add.reduceat(~evidence.is_unlabeled, sequences.offsets[:-1])
        departures = _departures(sequences)
        never = tuple(evidence.classes[code] for code in np.flatnonzero(~named))
        alike = exchangeable_classes(evidence)
        if is_conditional:
            alike = tuple(group for group in alike if group[0] not in never)
        return cls(
            tuple((name, int(count)) for name, count in zip(evidence.classes, counts, strict=True)),
            sequences.n_sequences,
            int((gold == sequences.lengths).sum()),
            int((known == 0).sum()),
            sequences.n_tokens,
            int(counts.sum()),
            int(evidence.is_ambiguous.sum()),
            int(departures.sum()),
            never,
            alike,
            tuple(evidence.classes[code] for code in np.flatnonzero(named & (departures == 0))),
            is_conditional,
        )

    @property
    def is_anchored(self) -> bool:
        """Whether the names of all labels are pinned down; one without labels is told by elimination at best."""
        return not self.indistinguishable and not (self.is_conditional and self.never_labeled)

    def lines(self) -> list[str]:
        """What is there and what is missing, a sentence each."""
        n_partial = self.n_sequences - self.n_whole - self.n_without
        n_used = sum(count > 0 for _, count in self.label_counts)
        lines = [
            f"{self.n_labels:,} of {self.n_tokens:,} tokens are labeled, with {n_used} labels; "
            f"{self.n_whole:,} of {self.n_sequences:,} sequences whole, {n_partial:,} in parts, "
            f"{self.n_without:,} not at all."
        ]
        if self.never_labeled:
            consequence = (
                "A conditional model learns of such a label only what is not it, and hardly ever predicts it."
                if self.is_conditional
                else "Unlabeled tokens may form such a label, but nothing says so except that no other label suits."
            )
            lines.append(
                f"No token is labeled {listed(self.never_labeled)}. {consequence} Label at least one token of each, "
                "better ten."
            )
        for group in self.indistinguishable:
            lines.append(
                f"Nothing anchors {listed(group)}: their names could be swapped, however much data there is. Label "
                "at least one token of each, or give candidate sets that differ."
            )
        if self.n_labels and not self.n_pairs and self.n_tokens > self.n_sequences:
            others = "labels further apart" if self.is_conditional else "labels further apart and unlabeled tokens"
            lines.append(f"No two neighboring tokens are both labeled: of transitions tell only {others}.")
        elif self.never_left and self.n_tokens > self.n_sequences:
            lines.append(f"What follows was never labeled after: {listed(self.never_left)}.")
        return lines

    def to_dict(self) -> dict[str, Any]:
        """As JSON knows it."""
        values = {name: getattr(self, name) for name in self.__dataclass_fields__ if name.startswith("n_")}
        return values | {
            "label_counts": [{"class": name, "n_labels": count} for name, count in self.label_counts],
            "never_labeled": list(self.never_labeled),
            "indistinguishable": [list(group) for group in self.indistinguishable],
            "never_left": list(self.never_left),
        }


def listed(names: tuple[Hashable, ...]) -> str:
    """Names with commas between; not more than a line holds."""
    shown = ", ".join(repr(name) for name in names[:_MOST_NAMES])
    return shown if len(names) <= _MOST_NAMES else f"{shown} and {len(names) - _MOST_NAMES} more"


def _departures(sequences: Sequences) -> IntArray:
    """How often each label was seen with a labeled token behind it, (n_classes,)."""
    codes = sequences.evidence.codes
    follows: BoolArray = np.ones(sequences.n_tokens, dtype=bool)
    follows[sequences.offsets[:-1]] = False
    later = np.flatnonzero(follows)
    pairs = later[(codes[later] >= 0) & (codes[later - 1] >= 0)]
    return np.bincount(codes[pairs - 1], minlength=sequences.evidence.n_classes)
