"""Where sequences come from: lengths, inputs and a model that is taken for true."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Literal, Protocol, get_args, runtime_checkable

import numpy as np
import scipy.sparse as sp
from scipy.linalg import block_diag

from labelworth.arrays import UNLABELED, FloatArray, IntArray, as_floats, require_probabilities, require_shape
from labelworth.data.evidence import Evidence
from labelworth.data.lengths import LengthDistribution
from labelworth.data.sequences import Sequences
from labelworth.data.shards.features import in_memory
from labelworth.errors import InvalidInputError
from labelworth.fisher.contrasts import Contrasts
from labelworth.fisher.information import GivesFigures
from labelworth.fisher.population import Labelings, Moments, Way
from labelworth.fisher.sequences.asked import Answered
from labelworth.fisher.sequences.position_shares import PositionCounts, label_counts
from labelworth.fisher.sequences.rule_list import RuleList
from labelworth.models.chains.hidden_markov import HiddenMarkovModel
from labelworth.models.chains.protocol import ChainModel, Reference
from labelworth.models.coordinates import Coordinates
from labelworth.policies.policy import Policy
from labelworth.progress import Progress

RuleMethod = Literal["auto", "enumeration", "sampling", "matrix-free"]

QUICK_WORK = 4e9
"""Enumeration is chosen while its products stay below some seconds of work."""

OUTCOME_LIMIT = 4_000_000
"""How many (x, y) are enumerated at most."""

SET_LIMIT = 1 << 14
"""How many sets of positions are gone through at most, over all lengths."""

FEWEST_FOR_PROBES = 100
"""Random probes need many directions to average over."""

MAX_PARAMETERS = 600
"""Up to so many, matrices of all batches fit into memory."""

_MAX_DRAWS = 1 << 21
_MAX_WORK = 4e11
_CHUNK = 1 << 21
_MASS_TOLERANCE = 1e-9


@runtime_checkable
class KnowsCompleteInformation(Protocol):
    """A model whose information of complete labels is known without sampling."""

    def complete_information(self, lengths: LengthDistribution) -> FloatArray:
        """Of one sequence, in free coordinates, (d, d)."""


@dataclass(frozen=True, eq=False)
class ChainPopulation:
    """A chain with its lengths; for a conditional model, also with what its inputs are. See `Population`."""

    model: ChainModel  # With the parameters taken for true.
    lengths: LengthDistribution  # q(m).
    # Sequences of which each is as probable as its weight says; a generative model takes only their lengths.
    inputs: Sequences | None = None
    # (n_features,), optional: A conditional model's words are drawn independently from it when there are no
    # `inputs`; uniform when absent.
    input_probabilities: FloatArray | None = None
    noun: ClassVar[str] = "sequences"
    methods: ClassVar[tuple[str, ...]] = get_args(RuleMethod)

    @classmethod
    def of(
        cls,
        model: ChainModel,
        *,
        lengths: LengthDistribution | None = None,
        inputs: Sequences | None = None,
        input_probabilities: FloatArray | None = None,
    ) -> "ChainPopulation":
        """Take the lengths from `inputs` when they are not given.

        Raises
        ------
        InvalidInputError
            Unless there is exactly one of `lengths` and `inputs`, and `input_probabilities` only where it is used.
        """
        conditional = model.reference is Reference.LABELS
        if inputs is not None and lengths is None:
            lengths = _lengths_of(inputs)
            if conditional and inputs.feature_names != model.feature_names:
                raise InvalidInputError("The inputs must have the words or attributes of the model, in that order.")
        elif lengths is None or inputs is not None:
            raise InvalidInputError("Say how long sequences are, once: lengths=, or inputs= for real ones.")
        if input_probabilities is not None:
            if not conditional or inputs is not None:
                raise InvalidInputError(
                    "input_probabilities are those of the words of a conditional model without inputs=; "
                    f"here {'there are inputs' if conditional else f'the model is a {model.kind}'}."
                )
            input_probabilities = as_floats("input_probabilities", input_probabilities, ndim=1)
            require_shape("input_probabilities", input_probabilities, (model.n_features,))
            require_probabilities("input_probabilities", input_probabilities)
        return cls(model, lengths, inputs, input_probabilities)

    @property
    def coordinates(self) -> Coordinates:
        return self.model.coordinates

    @property
    def n_classes(self) -> int:
        """How many labels there are."""
        return len(self.model.classes)

    @property
    def has_single_labels(self) -> bool:
        """Whether all sequences have one token."""
        return self.lengths.longest == 1

    @property
    def numbers_per_draw(self) -> int:
        """The score of one sequence."""
        return self.coordinates.n_free

    @property
    def is_conditional(self) -> bool:
        """Whether the model is one of labels given inputs."""
        return self.model.reference is Reference.LABELS

    @cached_property
    def _word_probabilities(self) -> FloatArray:
        n_words = self.model.n_features
        return np.full(n_words, 1 / n_words) if self.input_probabilities is None else self.input_probabilities

    def draw(self, n_sequences: int, rng: np.random.Generator) -> Sequences:
        """Fully labeled sequences, drawn independently."""
        if self.is_conditional and self.inputs is not None:
            shares = self.inputs.sequence_weights / self.inputs.sequence_weights.sum()
            chosen = self.inputs.take(rng.choice(self.inputs.n_sequences, size=n_sequences, p=shares))
            return self.model.sample(self._plain(in_memory(chosen.features), chosen.lengths), rng)
        lengths = self.lengths.sample(n_sequences, rng)
        n_tokens = int(lengths.sum())
        if self.is_conditional:
            words = rng.choice(self.model.n_features, size=n_tokens, p=self._word_probabilities)
        else:
            words = np.zeros(n_tokens, dtype=np.int64)
        return self.model.sample(self._plain(words, lengths), rng)

    def labels_of(self, rules: RuleList) -> FloatArray:
        """Labels per sequence under every rule, (n_rules,)."""
        return rules.expected_labels(self.lengths)

    def complete_information(self) -> FloatArray | None:
        """I_everything where the model knows it."""
        model = self.model
        return model.complete_information(self.lengths) if isinstance(model, KnowsCompleteInformation) else None

    def complete_of(self, rules: RuleList, index: int) -> FloatArray | None:
        """With what answers tell of channels where labels are known: answers of all tokens of every label."""
        complete = self.complete_information()
        if complete is None or not rules.nuisance:
            return complete
        counts = PositionCounts.of_policy(self.lengths, Policy.of(rules.rules[index]))
        own = rules.asked[rules.arm_of(index)].complete_information(label_counts(self.model, counts))
        return block_diag(complete, own)

    def known_contrasts(self) -> Contrasts | None:
        """To be found: a chain may be over-complete."""
        return None

    def moments(
        self, rules: RuleList, indices: list[int], n_batches: int, n_each: int, rng: np.random.Generator
    ) -> Moments:
        """Drawn sequences with their labels; scores under every rule come from the masked recursion."""
        drawn, size = self.draw(n_each * n_batches, rng), self.coordinates.n_free + len(rules.nuisance)
        complete = self.model.scores(drawn)
        whole = complete.reshape(n_batches, n_each, -1)
        seed, rows = int(rng.integers(2**63)), np.arange(drawn.n_sequences)
        seen, mixed = np.empty((2, n_batches, len(indices), size, size))
        own = np.empty_like(seen) if rules.nuisance else None
        for number, index in enumerate(indices):
            # The same random numbers for every rule: where fewer coins show heads, they are among the same ones.
            numbers, answers = np.random.default_rng(seed), rules.answers_of(index)
            mask = rules.rules[index].draw_for(drawn, rows, numbers)
            if answers is None:
                scores, of_rule = self.model.scores(drawn.hide(~mask)), whole
            else:
                answered = Answered.drawn(drawn, mask, answers, numbers.random(drawn.n_tokens))
                scores = np.concatenate([self.model.scores(answered.sequences), answered.scores(self.model)], axis=1)
                of_rule = np.concatenate([complete, answered.complete_scores()], axis=1).reshape(
                    n_batches, n_each, -1
                )
            transposed = scores.reshape(n_batches, n_each, -1).swapaxes(1, 2)
            seen[:, number] = transposed @ transposed.swapaxes(1, 2)
            mixed[:, number] = transposed @ of_rule
            if own is not None:
                own[:, number] = of_rule.swapaxes(1, 2) @ of_rule
        return Moments(whole.swapaxes(1, 2) @ whole, seen, mixed, own)

    def most_draws(self, rules: RuleList) -> int:
        """About two million, less for many parameters."""
        d = self.coordinates.n_free + len(rules.nuisance)
        if d > MAX_PARAMETERS:
            raise InvalidInputError(
                f"Sampling keeps many matrices of {d} x {d} numbers in memory; it is meant for up to "
                f"{MAX_PARAMETERS} parameters. Use method='matrix-free' with a hidden Markov model, or fewer words."
            )
        return min(_MAX_DRAWS, int(_MAX_WORK / (len(rules.rules) * d**2)))

    @property
    def n_outcomes(self) -> float:
        """How many (x, y) there are."""
        return sum(self.n_inputs(length) * _power(self.n_classes, length) for length, _ in self.lengths.items())

    def enumeration_work(self, rules: RuleList) -> float:
        """About how many multiplications enumeration takes; infinite if it is beyond the limits."""
        if self.n_outcomes > OUTCOME_LIMIT:
            return np.inf
        n_labels, d, work, n_sets = float(self.n_classes), self.coordinates.n_free, 0.0, 0.0
        for length, _ in self.lengths.items():
            if rules.n_sets(length) > SET_LIMIT:
                return np.inf
            n_inputs = self.n_inputs(length)
            for mask in rules.mask_shares(length):
                work += n_inputs * d * (d * rules.n_seen(mask, self.n_classes) + n_labels**length)
                n_sets += 1
        return work if n_sets <= SET_LIMIT else np.inf

    def require_enumerable(self, rules: RuleList) -> None:
        """Refuse too many sequences, or rules that draw too many sets of positions."""
        if not np.isfinite(self.enumeration_work(rules)):
            raise InvalidInputError(
                f"There are {self.n_outcomes:.3g} sequences of words and labels to enumerate, and rules that draw "
                f"many sets of positions; at most {OUTCOME_LIMIT} and {SET_LIMIT} are gone through. "
                "Use method='sampling', or shorter sequences."
            )

    def outcomes(self) -> Iterator[Labelings]:
        """Every input of every length with every sequence of labels."""
        d, mass = self.coordinates.n_free, 0.0
        for length, _ in self.lengths.items():
            n_labelings = self.n_classes**length
            for inputs, weights in self.weighted_inputs(length, max(1, _CHUNK // (n_labelings * d))):
                complete = self.all_labels(inputs, length)
                joint = np.exp(self.model.log_evidence(complete)).reshape(len(weights), n_labelings)
                joint *= weights[:, None]
                mass += float(joint.sum())
                yield Labelings(length, joint, self.model.scores(complete).reshape(len(weights), n_labelings, d))
        # Only a fault in a model can bring this about.
        if abs(mass - 1) > _MASS_TOLERANCE:
            raise ArithmeticError(f"The outcomes of a {self.model.kind} model have probability {mass!r}, not 1.")

    def way(self, method: str, rules: RuleList) -> Way:
        """Enumeration where that is quick; no matrices for hidden Markov models of many parameters."""
        d = self.coordinates.n_free
        if method == "matrix-free" and d < FEWEST_FOR_PROBES:
            return Way("sampling", "there are so few parameters that matrices of them tell more than random probes")
        if method != "auto":
            return Way(method, "asked for")
        if self.enumeration_work(rules) <= QUICK_WORK:
            return Way(
                "enumeration", f"there are only {self.n_outcomes:.3g} sequences of words and labels to sum over"
            )
        reason = f"there are {self.n_outcomes:.3g} sequences of words and labels, too many to sum over"
        if d > MAX_PARAMETERS and isinstance(self.model, HiddenMarkovModel):
            return Way("matrix-free", f"{reason}, and {d} parameters, too many for matrices of them")
        return Way("sampling", reason)

    def without_matrices(
        self,
        method: str,
        rules: RuleList,
        policies: Sequence[Policy],
        rng: np.random.Generator,
        max_draws: int | None,
        progress: Progress,
    ) -> GivesFigures:
        """By passes over drawn sequences."""
        # A room of its own: nothing else needs it.
        from labelworth.fisher.matrix_free.policies import matrix_free_policies

        return matrix_free_policies(self, policies, rng, rules=rules, n_draws=max_draws, progress=progress)

    def n_inputs(self, length: int) -> float:
        """How many distinct inputs of one length are summed over; infinity if there is no counting them."""
        if self.is_conditional and self.inputs is not None:
            return float((self.inputs.lengths == length).sum())
        return _power(self.model.n_features, length)

    def weighted_inputs(self, length: int, most: int) -> Iterator[tuple[Sequences, FloatArray]]:
        """Every input of one length, without labels, at most so many at a time, each with what it counts.

        That is q(m) p(x) for a conditional model, and q(m) for a generative one, whose p(x, y) has the rest in it.
        """
        share = float(self.lengths.probabilities[self.lengths.lengths == length][0])
        if self.is_conditional and self.inputs is not None:
            rows = np.flatnonzero(self.inputs.lengths == length)
            weights = self.inputs.sequence_weights / self.inputs.sequence_weights.sum()
            for start in range(0, len(rows), most):
                part = rows[start : start + most]
                chosen = self.inputs.take(part)
                yield self._plain(in_memory(chosen.features), chosen.lengths), weights[part]
            return
        count = self.model.n_features**length
        for start in range(0, count, most):
            codes = np.arange(start, min(start + most, count))
            words = _digits(codes, self.model.n_features, length)
            weights = np.full(len(codes), share)
            if self.is_conditional:
                weights *= self._word_probabilities[words].prod(axis=1)
            yield self._plain(words.ravel(), np.full(len(codes), length)), weights

    def all_labels(self, inputs: Sequences, length: int) -> Sequences:
        """Every input, all of the same length, with every sequence of labels, in order."""
        n_labels = len(self.model.classes)
        labels = _digits(np.arange(n_labels**length), n_labels, length)
        rows = np.repeat(np.arange(inputs.n_sequences), len(labels))
        repeated = inputs.take(rows)
        return repeated.with_evidence(Evidence(np.tile(labels.ravel(), inputs.n_sequences), self.model.classes))

    def _plain(self, features: "IntArray | sp.csr_array", lengths: IntArray) -> Sequences:
        offsets = np.concatenate([[0], np.cumsum(lengths)])
        evidence = Evidence(np.full(int(offsets[-1]), UNLABELED), self.model.classes)
        return Sequences(features, offsets, evidence, self.model.feature_names)


def _lengths_of(inputs: Sequences) -> LengthDistribution:
    """The share of every length, by the weights of the sequences."""
    if not inputs.n_sequences or inputs.sequence_weights.sum() <= 0:
        raise InvalidInputError("There must be at least one input sequence.")
    lengths, index = np.unique(inputs.lengths, return_inverse=True)
    shares = np.bincount(index, inputs.sequence_weights) / inputs.sequence_weights.sum()
    return LengthDistribution(lengths[shares > 0], shares[shares > 0])


def _power(base: int, exponent: int) -> float:
    """Infinite where no double holds it."""
    try:
        return float(base) ** exponent
    except OverflowError:
        return np.inf


def _digits(codes: IntArray, radix: int, count: int) -> IntArray:
    """The digits of numbers, most significant first, (n, count)."""
    return np.stack(np.unravel_index(codes, (radix,) * count), axis=1).astype(np.int64)
