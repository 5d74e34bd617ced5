"""What the labels pin down: which classes have none, and how many there are per parameter."""

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np

from labelworth.data.samples import Samples
from labelworth.estimation.starts import exchangeable_classes
from labelworth.models.protocol import AnyFamily

_MOST_NAMES = 8
_FEW_LABELS = 10


@dataclass(frozen=True)
class LabelSupport:
    """How far the labels identify the model.

    Attributes
    ----------
    label_counts : tuple of (class, int)
        Labels per class.
    n_labels, n_unlabeled, n_ambiguous : int
        Rows of each kind.
    n_parameters : int
    never_labeled : tuple
        Classes that neither a label nor a candidate set names.
    indistinguishable : tuple of tuples
        Groups of classes that no label or candidate set tells apart: swapping their names changes nothing.
    """

    label_counts: tuple[tuple[Hashable, int], ...]
    n_labels: int
    n_unlabeled: int
    n_ambiguous: int
    n_parameters: int
    never_labeled: tuple[Hashable, ...]
    indistinguishable: tuple[tuple[Hashable, ...], ...]

    @property
    def identified(self) -> bool:
        """Whether there are two classes or more, each anchored, told apart, and unlabeled rows to ask about."""
        anchored = not self.never_labeled and not self.indistinguishable
        return len(self.label_counts) > 1 and anchored and self.n_unlabeled > 0

    @property
    def labels_per_parameter(self) -> float:
        """Below 1 the labels alone cannot pin the model down without the prior."""
        return self.n_labels / max(self.n_parameters, 1)

    @property
    def n_testable(self) -> int:
        """Labels in classes that keep one when another is held out."""
        return sum(count for _, count in self.label_counts if count > 1)

    def lines(self) -> list[str]:
        """What is there and what is missing, a sentence each."""
        lines = [
            f"{self.n_labels:,} labeled and {self.n_unlabeled:,} unlabeled rows, {len(self.label_counts)} classes, "
            f"{self.n_parameters:,} parameters."
        ]
        if len(self.label_counts) < 2:
            lines.append("There is only one class, so there is nothing to tell apart. Label rows of other classes.")
        if self.n_unlabeled == 0:
            lines.append("There are no unlabeled rows, so they can neither help nor hurt. Add some.")
        if self.never_labeled:
            lines.append(
                f"Not identified: no row is labeled {_listed(self.never_labeled)}. Unlabeled rows may form a "
                "cluster, but nothing says that it is this class. Label at least one row of each, better ten."
            )
        for group in self.indistinguishable:
            lines.append(f"Nothing tells {_listed(group)} apart: their names could be swapped.")
        scarce = tuple(name for name, count in self.label_counts if 0 < count < _FEW_LABELS)
        if scarce and self.identified:
            lines.append(
                f"Fewer than {_FEW_LABELS} labels: {_listed(scarce)}. The answers below are shaky for these classes."
            )
        if self.identified and self.labels_per_parameter < 1:
            lines.append(
                f"{self.labels_per_parameter:.2g} labels per parameter: the labels alone lean on the smoothing, and "
                "asymptotic formulas rank choices rather than forecast levels."
            )
        return lines

    def to_dict(self) -> dict[str, Any]:
        """As JSON knows it."""
        return {
            "label_counts": [{"class": name, "n_labels": count} for name, count in self.label_counts],
            "n_labels": self.n_labels,
            "n_unlabeled": self.n_unlabeled,
            "n_ambiguous": self.n_ambiguous,
            "n_parameters": self.n_parameters,
            "labels_per_parameter": self.labels_per_parameter,
            "never_labeled": list(self.never_labeled),
            "indistinguishable": [list(group) for group in self.indistinguishable],
        }


def label_support(family: AnyFamily, samples: Samples) -> LabelSupport:
    """Count the labels of every class against the parameters of the family."""
    evidence = samples.evidence
    counts = evidence.label_counts()
    named = (counts > 0) | (evidence.weights > 0).any(axis=0)
    neutral = family.adapted(samples, samples.sample_weights).neutral()
    return LabelSupport(
        tuple((name, int(count)) for name, count in zip(evidence.classes, counts, strict=True)),
        int(counts.sum()),
        int(evidence.is_unlabeled.sum()),
        int(evidence.is_ambiguous.sum()),
        neutral.coordinates.n_free,
        tuple(evidence.classes[code] for code in np.flatnonzero(~named)),
        exchangeable_classes(evidence),
    )


def _listed(names: tuple[Hashable, ...]) -> str:
    shown = ", ".join(repr(name) for name in names[:_MOST_NAMES])
    return shown if len(names) <= _MOST_NAMES else f"{shown} and {len(names) - _MOST_NAMES} more"
