"""Positions of a sequence that anybody answers for: which part, by a rule, and who, by an arm of channels."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from labelworth.arrays import UNLABELED, BoolArray, FloatArray, IntArray
from labelworth.channels.arm import Arm, Outcomes
from labelworth.data.evidence import Evidence
from labelworth.data.protocol import Data
from labelworth.data.sequences import Sequences
from labelworth.models.chains.protocol import ChainModel
from labelworth.policies.rule import Rule


@dataclass(frozen=True)
class AskedRule(Rule):
    """Each position that a rule draws is asked what an arm asks."""

    rule: Rule
    arm: Arm

    @property
    def spec(self) -> str:
        return self.arm.asked_about(self.rule.spec)

    def n_outcomes(self, length: int) -> int:
        return self.rule.n_outcomes(length)

    def outcomes(self, length: int) -> Iterator[tuple[float, BoolArray]]:
        return self.rule.outcomes(length)

    def expected_labels(self, length: int) -> float:
        """Answers, gold among them."""
        return self.arm.n_answers * self.rule.expected_labels(length)

    def shown(self, length: int) -> tuple[FloatArray, FloatArray]:
        return self.rule.shown(length)

    def draw(self, lengths: IntArray, rng: np.random.Generator) -> BoolArray:
        return self.rule.draw(lengths, rng)

    def draw_for(self, data: Data, rows: IntArray, rng: np.random.Generator) -> BoolArray:
        return self.rule.draw_for(data, rows, rng)


@dataclass(frozen=True, eq=False)
class Answered:
    """Drawn sequences with answers for their labels."""

    sequences: Sequences  # What is known of labels is the likelihood of the answers.
    positions: IntArray  # The tokens that were asked about.
    labels: IntArray  # Of these: the label, and the number of the combination of answers.
    said: IntArray
    answers: Outcomes

    @classmethod
    def drawn(cls, complete: Sequences, mask: BoolArray, answers: Outcomes, uniforms: FloatArray) -> "Answered":
        """Answers to the masked tokens of sequences whose labels are known, by a uniform number for each token."""
        positions = np.flatnonzero(mask)
        labels = complete.evidence.codes[positions]
        said = np.empty(len(positions), dtype=np.int64)
        for label, row in enumerate(answers.likelihood.T.cumsum(axis=1)):
            own = np.flatnonzero(labels == label)
            # Never what is impossible, where the sum of all falls short of one by rounding.
            last = int(np.flatnonzero(answers.likelihood[:, label])[-1])
            said[own] = np.minimum(np.searchsorted(row, uniforms[positions[own]] * row[-1], side="right"), last)
        codes = np.full(complete.n_tokens, UNLABELED)
        codes[positions] = labels if answers.has_gold else -2 - said
        evidence = Evidence(codes, complete.evidence.classes, answers.likelihood)
        return cls(complete.with_evidence(evidence), positions, labels, said, answers)

    def complete_scores(self) -> FloatArray:
        """In the parameters of the channels, labels known, (n_sequences, p)."""
        return self._summed(self.answers.scores[self.said, self.labels])

    def scores(self, model: ChainModel) -> FloatArray:
        """In the parameters of the channels, given inputs and answers alone, (n_sequences, p)."""
        if not self.answers.scores.any():
            return np.zeros((self.sequences.n_sequences, self.answers.scores.shape[2]))
        posterior = model.marginals(self.sequences)[self.positions]
        return self._summed(np.einsum("tk,tkp->tp", posterior, self.answers.scores[self.said]))

    def _summed(self, by_token: FloatArray) -> FloatArray:
        """Over the tokens of every sequence."""
        padded = np.zeros((self.sequences.n_tokens, by_token.shape[1]))
        padded[self.positions] = by_token
        return np.asarray(np.add.reduceat(padded, self.sequences.offsets[:-1], axis=0))
