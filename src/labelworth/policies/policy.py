"""Policies: mixtures of labeling rules, one rule drawn per sequence; what was drawn is kept, to be hidden again."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from labelworth.arrays import BoolArray, FloatArray, IntArray, as_floats, require_probabilities
from labelworth.data.protocol import Data, DataT
from labelworth.errors import InvalidInputError
from labelworth.policies.catalog import plain_number, require_count
from labelworth.policies.rule import Rule


@dataclass(frozen=True, eq=False)
class Draw:
    """The record of a policy applied to sequences."""

    policy: str  # The spec of the policy.
    rules: tuple[str, ...]  # The specs of its rules.
    seed: int  # Of the draw.
    offsets: IntArray  # (n_sequences + 1,): Where the sequences began.
    rule_of_sequence: IntArray  # (n_sequences,): Which of `rules` each sequence drew.
    labeled: BoolArray  # (n_tokens,): The positions to label.

    @property
    def n_labels(self) -> int:
        return int(self.labeled.sum())

    def positions(self, sequence: int) -> IntArray:
        """The positions to label in one sequence."""
        return np.flatnonzero(self.labeled[self.offsets[sequence] : self.offsets[sequence + 1]])

    def hide(self, sequences: DataT) -> DataT:
        """Forget the labels at all other positions.

        Raises
        ------
        InvalidInputError
            If these are not sequences of the same lengths.
        """
        if not np.array_equal(sequences.lengths, np.diff(self.offsets)):
            raise InvalidInputError(
                f"The draw was made for {len(self.offsets) - 1} sequences with {int(self.offsets[-1])} tokens; these "
                f"are {sequences.n_samples} with {sequences.evidence.n_samples}, or of other lengths. Use the same "
                "data."
            )
        return sequences.hide(~self.labeled)


@dataclass(frozen=True)
class Policy:
    r"""A mixture of rules: every sequence is labeled by rule :math:`j` with probability :math:`\lambda_j`.

    A rule that is named twice is kept once, with the sum of its weights; rules of weight zero are left out.

    Attributes
    ----------
    rules : tuple of Rule
    weights : tuple of float
        The probability of each rule; they sum to one.

    Notes
    -----
    Paper: eq:policyExample

    Examples
    --------
    >>> from labelworth.policies.spec import parse_policy
    >>> policy = parse_policy("0.25*everything + 0.75*window:5")
    >>> policy.expected_labels(20)
    8.75
    """

    rules: tuple[Rule, ...]
    weights: tuple[float, ...]

    def __post_init__(self) -> None:
        if not self.rules or len(self.rules) != len(self.weights):
            raise InvalidInputError(
                f"A policy needs one weight per rule, and a rule. Got {len(self.rules)} rule(s) "
                f"and {len(self.weights)} weight(s)."
            )
        weights = as_floats("The weights of a policy", self.weights, ndim=1)
        require_probabilities("The weights of a policy", weights)
        merged: dict[Rule, float] = {}
        for rule, weight in zip(self.rules, weights.tolist(), strict=True):
            merged[rule] = merged.get(rule, 0.0) + weight
        merged = {rule: weight for rule, weight in merged.items() if weight > 0}
        if len(merged) == 1:  # shares that were added up may miss one by rounding
            merged = dict.fromkeys(merged, 1.0)
        object.__setattr__(self, "rules", tuple(merged))
        object.__setattr__(self, "weights", tuple(merged.values()))

    @classmethod
    def of(cls, rule: Rule) -> "Policy":
        """One rule for all sequences."""
        return cls((rule,), (1.0,))

    @property
    def spec(self) -> str:
        """How the policy is written; `parse_policy` reads it back."""
        if len(self.rules) == 1:
            return self.rules[0].spec
        return " + ".join(f"{plain_number(weight)}*{rule.spec}" for rule, weight in self.items())

    def __str__(self) -> str:
        return self.spec

    def items(self) -> Iterator[tuple[Rule, float]]:
        """Each rule with its weight."""
        yield from zip(self.rules, self.weights, strict=True)

    def weights_over(self, rules: Sequence[Rule]) -> FloatArray:
        """The weights in the order of `rules`, zero where the policy does not use one; shape (n_rules,).

        Raises
        ------
        InvalidInputError
            If the policy uses a rule that is not among them.
        """
        absent = [rule.spec for rule in self.rules if rule not in rules]
        if absent:
            listed = ", ".join(rule.spec for rule in rules)
            raise InvalidInputError(f"The policy uses the rule {absent[0]}, which is not one of: {listed}.")
        weight_of = dict(self.items())
        return np.array([weight_of.get(rule, 0.0) for rule in rules])

    def expected_labels(self, length: int) -> float:
        """How many positions of a sequence of that length are labeled on average."""
        return float(sum(weight * rule.expected_labels(length) for rule, weight in self.items()))

    def draw(self, data: Data, seed: int) -> Draw:
        """Draw a rule for every sequence, and the positions that it labels; a document is a sequence of length one.

        Each sequence draws its rule by itself, so the share of a rule varies around its weight.
        """
        require_count("seed", seed, at_least=0)
        rng = np.random.default_rng(seed)
        n_sequences = data.n_samples
        if len(self.rules) == 1:
            rule_of_sequence = np.zeros(n_sequences, dtype=np.int64)
        else:
            rule_of_sequence = rng.choice(len(self.rules), size=n_sequences, p=np.array(self.weights))
        labeled = np.zeros(data.evidence.n_samples, dtype=bool)
        for index, rule in enumerate(self.rules):
            rows = np.flatnonzero(rule_of_sequence == index)
            labeled[data.positions_of(rows)] = rule.draw_for(data, rows, rng)
        specs = tuple(rule.spec for rule in self.rules)
        offsets = np.concatenate([[0], np.cumsum(data.lengths)])
        return Draw(self.spec, specs, seed, offsets, rule_of_sequence, labeled)

    def apply(self, sequences: DataT, seed: int) -> tuple[DataT, Draw]:
        """Hide the labels that this policy would not have bought.

        Parameters
        ----------
        sequences : Sequences
            What is known at a position that is drawn stays known, be it a label, a candidate set or nothing.
        seed : int
            The same seed gives the same draw.

        Returns
        -------
        sequences : Sequences
            With labels where the rules put them, and nowhere else.
        draw : Draw
            What was drawn; `Draw.hide` does it again on the same sequences.
        """
        draw = self.draw(sequences, seed)
        return draw.hide(sequences), draw
