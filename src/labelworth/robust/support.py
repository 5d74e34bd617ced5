"""What labels pin down: which classes have none, how many there are per parameter, transitions nobody saw."""

from collections.abc import Hashable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from labelworth.arrays import IntArray
from labelworth.data.evidence import Evidence
from labelworth.data.samples import Samples
from labelworth.data.sequences import Sequences
from labelworth.estimation.starts import exchangeable_classes
from labelworth.models.protocol import AnyFamily
from labelworth.wording import count

_MOST_NAMES = 8
_FEW_LABELS = 10


@dataclass(frozen=True, eq=False)
class AnchoredClasses:
    """Which classes the evidence of rows or tokens names, and which of them it tells apart."""

    evidence: Evidence

    @cached_property
    def label_counts(self) -> tuple[tuple[Hashable, int], ...]:
        """Labels per class."""
        counts = self.evidence.label_counts().tolist()
        return tuple(zip(self.evidence.classes, counts, strict=True))

    @property
    def n_labels(self) -> int:
        return sum(count for _, count in self.label_counts)

    @property
    def n_ambiguous(self) -> int:
        """Rows or tokens with several candidates."""
        return int(self.evidence.is_ambiguous.sum())

    @property
    def never_labeled(self) -> tuple[Hashable, ...]:
        """Classes that neither a label nor a candidate set names."""
        named = (self.evidence.label_counts() > 0) | (self.evidence.weights > 0).any(axis=0)
        return tuple(self.evidence.classes[code] for code in np.flatnonzero(~named))

    @cached_property
    def indistinguishable(self) -> tuple[tuple[Hashable, ...], ...]:
        """Groups of classes that no label or candidate set tells apart: swapping their names changes nothing."""
        return exchangeable_classes(self.evidence)

    def to_dict(self) -> dict[str, Any]:
        return {
            "label_counts": [{"class": name, "n_labels": count} for name, count in self.label_counts],
            "n_labels": self.n_labels,
            "n_ambiguous": self.n_ambiguous,
            "never_labeled": list(self.never_labeled),
            "indistinguishable": [list(group) for group in self.indistinguishable],
        }


@dataclass(frozen=True, eq=False)
class RowSupport(AnchoredClasses):
    """How far the labels of rows reach, whatever is learned from them."""

    @property
    def n_unlabeled(self) -> int:
        return int(self.evidence.is_unlabeled.sum())

    @property
    def identified(self) -> bool:
        """Whether there are two classes or more, each anchored, told apart, and unlabeled rows to ask about."""
        anchored = not self.never_labeled and not self.indistinguishable
        return len(self.label_counts) > 1 and anchored and self.n_unlabeled > 0

    @property
    def n_testable(self) -> int:
        """Labels in classes that keep one when another is held out."""
        return sum(labels for _, labels in self.label_counts if labels > 1)

    @property
    def _amounts(self) -> str:
        n_classes = count(len(self.label_counts), "class", "classes")
        return f"{self.n_labels:,} labeled and {self.n_unlabeled:,} unlabeled rows, {n_classes}"

    def lines(self) -> list[str]:
        """What is there and what is missing, a sentence each."""
        lines = [f"{self._amounts}."]
        if len(self.label_counts) < 2:
            lines.append("There is only one class, so there is nothing to tell apart. Label rows of other classes.")
        if self.n_unlabeled == 0:
            lines.append("There are no unlabeled rows, so they can neither help nor hurt. Add some.")
        if self.never_labeled:
            lines.append(
                f"Not identified: no row is labeled {listed(self.never_labeled)}. Unlabeled rows may form a "
                "cluster, but nothing says that it is this class. Label at least one row of each, better ten."
            )
        for group in self.indistinguishable:
            lines.append(f"Nothing tells {listed(group)} apart: their names could be swapped.")
        scarce = tuple(name for name, count in self.label_counts if 0 < count < _FEW_LABELS)
        if scarce and self.identified:
            lines.append(
                f"Fewer than {_FEW_LABELS} labels: {listed(scarce)}. The answers below are shaky for these classes."
            )
        return lines

    def to_dict(self) -> dict[str, Any]:
        """As for other classes; how many parameters there are is not known here."""
        return super().to_dict() | {"n_unlabeled": self.n_unlabeled, "n_parameters": None}


@dataclass(frozen=True, eq=False)
class LabelSupport(RowSupport):
    """How far the labels of rows identify a model of so many parameters."""

    n_parameters: int

    @classmethod
    def of(cls, family: AnyFamily, samples: Samples) -> "LabelSupport":
        """Count the labels of every class against the parameters of the family."""
        neutral = family.adapted(samples, samples.sample_weights).neutral()
        return cls(samples.evidence, neutral.coordinates.n_free)

    @property
    def labels_per_parameter(self) -> float:
        """Below 1 the labels alone cannot pin the model down without the prior."""
        return self.n_labels / max(self.n_parameters, 1)

    @property
    def _amounts(self) -> str:
        return f"{super()._amounts}, {self.n_parameters:,} parameters"

    def lines(self) -> list[str]:
        lines = super().lines()
        if self.identified and self.labels_per_parameter < 1:
            lines.append(
                f"{self.labels_per_parameter:.2g} labels per parameter: the labels alone lean on the smoothing, and "
                "asymptotic formulas rank choices rather than forecast levels."
            )
        return lines

    def to_dict(self) -> dict[str, Any]:
        return super().to_dict() | {
            "n_parameters": self.n_parameters,
            "labels_per_parameter": self.labels_per_parameter,
        }


@dataclass(frozen=True, eq=False)
class SequenceSupport(AnchoredClasses):
    """How far the labels of sequences reach.

    Notes
    -----
    A permutation of the labels changes no likelihood if and only if it leaves the weights of every single token as
    they are, since words differ from token to token. So the permutations that the data allows are those within groups
    of labels that have the same weights at every token, and finding the groups finds all of them.
    """

    sequences: Sequences
    is_conditional: bool
    """Whether the model learns nothing from what is not labeled."""

    @classmethod
    def of(cls, sequences: Sequences, *, is_conditional: bool = False) -> "SequenceSupport":
        return cls(sequences.evidence, sequences, is_conditional)

    @cached_property
    def indistinguishable(self) -> tuple[tuple[Hashable, ...], ...]:
        """As for rows; a conditional model never takes unlabeled tokens for labels that no candidate set names."""
        groups, never = exchangeable_classes(self.evidence), self.never_labeled
        return tuple(group for group in groups if not (self.is_conditional and group[0] in never))

    @property
    def n_whole(self) -> int:
        """Sequences with a known label at every token."""
        return int(np.logical_and.reduceat(self.evidence.is_gold, self.sequences.offsets[:-1]).sum())

    @property
    def n_without(self) -> int:
        """Sequences of which no label is known at all."""
        return int((~self.sequences.is_labeled).sum())

    @cached_property
    def departures(self) -> IntArray:
        """How often each label was seen with a labeled token behind it, (n_classes,)."""
        codes = self.evidence.codes
        is_first = np.zeros(self.sequences.n_tokens, dtype=bool)
        is_first[self.sequences.offsets[:-1]] = True
        later = np.flatnonzero(~is_first)
        pairs = later[(codes[later] >= 0) & (codes[later - 1] >= 0)]
        return np.bincount(codes[pairs - 1], minlength=self.evidence.n_classes)

    @property
    def n_pairs(self) -> int:
        """Neighboring tokens both of which are labeled."""
        return int(self.departures.sum())

    @property
    def never_left(self) -> tuple[Hashable, ...]:
        """Labels whose next label was never seen: of what follows them only unlabeled tokens tell."""
        open_labels = (self.evidence.classes[code] for code in np.flatnonzero(self.departures == 0))
        return tuple(name for name in open_labels if name not in self.never_labeled)

    @property
    def is_anchored(self) -> bool:
        """Whether the names of all labels are pinned down; one without labels is told by elimination at best."""
        return not self.indistinguishable and not (self.is_conditional and self.never_labeled)

    def lines(self) -> list[str]:
        """What is there and what is missing, a sentence each."""
        n_sequences, n_tokens = self.sequences.n_sequences, self.sequences.n_tokens
        n_used = sum(count > 0 for _, count in self.label_counts)
        lines = [
            f"{self.n_labels:,} of {n_tokens:,} tokens are labeled, with {n_used} labels; "
            f"{self.n_whole:,} of {n_sequences:,} sequences whole, "
            f"{n_sequences - self.n_whole - self.n_without:,} in parts, {self.n_without:,} not at all."
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
        if self.n_labels and not self.n_pairs and n_tokens > n_sequences:
            others = "labels further apart" if self.is_conditional else "labels further apart and unlabeled tokens"
            lines.append(f"No two neighboring tokens are both labeled: of transitions tell only {others}.")
        elif self.never_left and n_tokens > n_sequences:
            lines.append(f"What follows was never labeled after: {listed(self.never_left)}.")
        return lines

    def to_dict(self) -> dict[str, Any]:
        return super().to_dict() | {
            "n_sequences": self.sequences.n_sequences,
            "n_whole": self.n_whole,
            "n_without": self.n_without,
            "n_tokens": self.sequences.n_tokens,
            "n_pairs": self.n_pairs,
            "never_left": list(self.never_left),
        }


def listed(names: tuple[Hashable, ...]) -> str:
    """Names with commas between; not more than a line holds."""
    shown = ", ".join(repr(name) for name in names[:_MOST_NAMES])
    return shown if len(names) <= _MOST_NAMES else f"{shown} and {len(names) - _MOST_NAMES} more"
