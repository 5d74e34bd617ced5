"""Sequences with the model fitted to them, and the menu of labeling rules to choose from with its prices."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from labelworth.arrays import BoolArray
from labelworth.criteria.policy_reading import read_rules
from labelworth.data.lengths import LengthDistribution
from labelworth.data.sequences import Sequences
from labelworth.errors import NotIdentifiableError
from labelworth.fisher.criteria import CRITERIA
from labelworth.models.chains.occurrence import Occurrence
from labelworth.models.chains.protocol import Reference
from labelworth.planning.answer import Held
from labelworth.policies.rule import Rule
from labelworth.progress import Progress
from labelworth.tradeoff.costs import ArmPrices, Prices

SEQUENCE_CRITERIA = ("error", "log_loss", *CRITERIA)
"""What "error" can mean for sequences; the first two by simulation."""
USUAL_MENU = ("everything", "nothing")
MOST_PARAMETERS = 300
"""Up to so many the information per rule is computed within seconds."""


@dataclass(frozen=True, eq=False)
class LabeledSequences:
    """Sequences with and without labels, and the model fitted to them.

    Attributes
    ----------
    sequences : Sequences
    model : ChainModel
        Fitted to all of them.
    converged : bool
    fit : function of sequences and a Progress
        Fits such a model to other sequences; answers with something that has ``model``.
    """

    sequences: Sequences
    model: Any
    converged: bool
    fit: Callable[[Sequences, Progress], Any]

    @property
    def labeled(self) -> BoolArray:
        """Which sequences carry a label."""
        return self.sequences.is_labeled

    @cached_property
    def is_whole(self) -> BoolArray:
        """Which of the sequences that carry a label have one at every token."""
        labeled = self.sequences.take(self.labeled)
        return np.logical_and.reduceat(~labeled.evidence.is_unlabeled, labeled.offsets[:-1])

    @property
    def n_labels(self) -> int:
        """Labeled tokens."""
        return int((~self.sequences.evidence.is_unlabeled).sum())

    @cached_property
    def occurrence(self) -> Occurrence:
        """Which words or attributes occur in the sequences; the others are left out of plans by formulas."""
        return Occurrence.of(self.sequences)

    @cached_property
    def occurring_model(self) -> Any:
        """The model with no other words or attributes than those that occur."""
        return self.occurrence.of_model(self.model)

    @property
    def n_parameters(self) -> int:
        """Of the model of what occurs."""
        return int(self.occurring_model.coordinates.n_free)

    @property
    def notes(self) -> list[str]:
        """What is left out of the count, where something is."""
        what = "attribute" if self.is_conditional else "word"
        return [] if self.occurrence.is_complete else [self.occurrence.note(what)]

    @property
    def is_conditional(self) -> bool:
        """Whether sequences without labels tell the model nothing."""
        return bool(self.model.reference is Reference.LABELS)

    @property
    def lengths(self) -> LengthDistribution:
        """Of all sequences."""
        found, counts = np.unique(self.sequences.lengths, return_counts=True)
        return LengthDistribution(found, counts / counts.sum())

    def held(self, prices: Prices, error: float | None) -> Held:
        """What there is before the plan."""
        labeled = self.labeled
        tokens = int(self.sequences.lengths[labeled].sum())
        cost = prices.fixed + prices.per_label * self.n_labels + prices.per_token * tokens
        return Held(
            "sequences",
            self.sequences.n_sequences,
            int(labeled.sum()),
            self.n_labels,
            int((~labeled).sum()),
            self.n_parameters,
            tuple(str(name) for name in self.sequences.evidence.classes),
            cost + prices.per_sequence * int(labeled.sum()),
            error,
        )


def read_menu(rules: Sequence[Any] | str | None, data: LabeledSequences, *, uses_unlabeled: bool) -> list[Rule]:
    """The rules to choose from; without "nothing" where unlabeled sequences are not to be learned from.

    Raises
    ------
    NotIdentifiableError
        If no rule labels anything.
    """
    listed = rules.split(",") if isinstance(rules, str) else rules
    menu = read_rules([rule.strip() if isinstance(rule, str) else rule for rule in listed or USUAL_MENU])
    menu = list(dict.fromkeys(menu))
    if data.is_conditional or not uses_unlabeled:
        menu = [rule for rule in menu if rule.spec != "nothing"]
    if not any(rule.expected_labels(length) > 0 for rule in menu for length in data.lengths.lengths.tolist()):
        raise NotIdentifiableError(
            "No rule on the menu labels anything, so labels have no names. Add one, as everything or window:5."
        )
    return menu


def menu_prices(menu: Sequence[Rule], data: LabeledSequences, prices: Prices) -> ArmPrices:
    """Of one more sequence by every rule; the fixed part was paid with the pilot."""
    each = prices.of_rules(list(menu), data.lengths)
    return ArmPrices(each.arms, each.per_sample)
