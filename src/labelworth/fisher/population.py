"""Where samples come from: a model taken for true, and what it offers for summing or averaging over its samples."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

import numpy as np

from labelworth.arrays import FloatArray
from labelworth.channels.arm import Outcomes
from labelworth.fisher.contrasts import Contrasts
from labelworth.fisher.information import GivesFigures
from labelworth.models.coordinates import Coordinates
from labelworth.progress import Progress

Mask = tuple[int, ...]
"""What is asked of every position, as `RuleSet.asked` counts it: 0 nothing, 1 its label; truth values will do."""


class RuleSet(Protocol):
    """Distinct labeling rules, complete labels and none among them."""

    @property
    def specs(self) -> tuple[str, ...]:
        """What they are called."""

    @property
    def everything(self) -> int:
        """The index of complete labels."""

    @property
    def nothing(self) -> int:
        """The index of no labels."""

    def weights_of(self, policy: Any) -> FloatArray:
        """The weight of every rule in a policy: a mixture of them, or a labeled fraction."""

    @property
    def nuisance(self) -> tuple[str, ...]:
        """Parameters that rules bring and that are estimated with the model, as confusions of channels, by name."""

    @property
    def asked(self) -> Sequence[Outcomes]:
        """All that can be answered to what a position is asked: nothing, its label, and what channels are asked."""

    def mask_shares(self, length: int) -> Mapping[Mask, FloatArray]:
        """Every set of positions drawn at one length, with its probability under every rule, (n_rules,)."""


@dataclass(frozen=True, eq=False)
class Labelings:
    """Some of the x that can occur, each with every labeling."""

    length: int  # Positions per sample.
    # (n, n_labelings): p(x, y), the probability of the length included; labelings in the order of the digits of
    # their number.
    joint: FloatArray
    scores: FloatArray  # (n, n_labelings, d): Of (x, y).


@dataclass(frozen=True, eq=False)
class Moments:
    """Sums over drawn samples, in batches."""

    complete: FloatArray  # (n_batches, d, d): Of S S', S the complete score.
    seen: FloatArray  # (n_batches, n_rules, d, d): Of s s', s the score of what a rule shows.
    # (n_batches, n_rules, d, d) or None: Of s S'; None where S S' was averaged over the labels, so that it
    # would be s s'.
    mixed: FloatArray | None
    # (n_batches, n_rules, d + p, d + p) or None: Where rules bring p parameters, of the complete score with theirs
    # behind it; `seen` and `mixed` are then as large.
    own: FloatArray | None = None


@dataclass(frozen=True)
class Way:
    """A method, and, for people, why it was taken."""

    method: str
    reason: str


RulesT = TypeVar("RulesT", bound=RuleSet)
RulesT_contra = TypeVar("RulesT_contra", bound=RuleSet, contravariant=True)


class Population(Protocol[RulesT_contra]):
    """Samples of a model; single ones, or sequences."""

    @property
    def noun(self) -> str:
        """What a sample is called, in the plural."""

    @property
    def coordinates(self) -> Coordinates: ...

    @property
    def n_classes(self) -> int:
        """How many labels there are to choose from."""

    @property
    def is_conditional(self) -> bool:
        """Whether the model is one of labels given inputs, which learns nothing where nothing is labeled."""

    @property
    def has_single_labels(self) -> bool:
        """Whether every sample has one label."""

    @property
    def numbers_per_draw(self) -> int:
        """How many numbers the scores of one drawn sample are."""

    def labels_of(self, rules: RulesT_contra) -> FloatArray:
        """Expected labels per sample under every rule, (n_rules,)."""

    def complete_information(self) -> FloatArray | None:
        """I_everything, (d, d), where it is known without summing or sampling."""

    def complete_of(self, rules: RulesT_contra, index: int) -> FloatArray | None:
        """The same of a rule: with that of the parameters rules bring behind it, (d + p, d + p), labels known."""

    def known_contrasts(self) -> Contrasts | None:
        """The directions that figures are about, where they need not be found."""

    def require_enumerable(self, rules: RulesT_contra) -> None:
        """Refuse to go through all outcomes where there are too many."""

    def outcomes(self) -> Iterator[Labelings]:
        """All of them, some at a time."""

    def moments(
        self, rules: RulesT_contra, indices: list[int], n_batches: int, n_each: int, rng: np.random.Generator
    ) -> Moments:
        """Draw `n_each` samples for each batch; the same samples for the rules of all `indices`."""

    def most_draws(self, rules: RulesT_contra) -> int:
        """How many samples are worth drawing.

        Raises
        ------
        InvalidInputError
            If the matrices of all batches would not fit into memory.
        """

    @property
    def methods(self) -> tuple[str, ...]:
        """What may be asked for."""

    def way(self, method: str, rules: RulesT_contra) -> Way:
        """What is done where `method` is asked for; "auto" prefers exact ways to sampling, and matrices to none."""

    def without_matrices(
        self,
        method: str,
        rules: RulesT_contra,
        policies: Sequence[Any],
        rng: np.random.Generator,
        max_draws: int | None,
        progress: Progress,
    ) -> GivesFigures:
        """The way that only this kind of population has: by formula, or matrix-free."""
