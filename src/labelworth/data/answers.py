"""Answers: who said what about which sample or token, for how long and for how much."""

from dataclasses import dataclass, replace

import numpy as np

from labelworth.arrays import AnyArray, FloatArray, IntArray
from labelworth.data.evidence import Evidence
from labelworth.errors import InvalidInputError


@dataclass(frozen=True, eq=False)
class Answers:
    r"""What annotators said, an entry per answer.

    Somebody who is asked has one class in mind, v with probability q(v | y) where y is the true one, and what they
    say is evidence of it: a class is v itself, a set "one of these", yes to "is it A?" the set of A and no the set
    of all others, a probability vector its own weights, "cannot say" nothing. So an answer has the probability
    :math:`\sum_v e(v)\, q(v | y)`, whatever its kind, up to a constant that knows neither v nor y.
    """

    rows: IntArray  # (m,): The sample, or the token counted over all sequences, from 0.
    annotators: IntArray  # (m,): Who, as a code of `names`.
    names: tuple[str, ...]  # Of the annotators.
    evidence: Evidence  # (m entries): What they said, as evidence of the class they had in mind.
    seconds: FloatArray | None = None  # (m,): How long an answer took; NaN where nobody knows.
    prices: FloatArray | None = None  # (m,): What an answer cost; NaN where nobody knows.

    def __post_init__(self) -> None:
        for name, codes, end in (("row", self.rows, None), ("annotator", self.annotators, len(self.names))):
            if codes.shape != (self.n_answers,) or codes.dtype.kind not in "iu":
                raise InvalidInputError(
                    f"There must be one whole number per answer to say its {name}. Got shape {codes.shape} of "
                    f"{codes.dtype} for {self.n_answers} answers."
                )
            if codes.size and (int(codes.min()) < 0 or (end is not None and int(codes.max()) >= end)):
                raise InvalidInputError(
                    f"The {name} of an answer is counted from 0. Got {codes.min()} to {codes.max()}."
                )
        if len(set(self.names)) != len(self.names):
            raise InvalidInputError("Every annotator must have a name of their own.")
        for name, values in (("seconds", self.seconds), ("prices", self.prices)):
            if values is not None and (values.shape != (self.n_answers,) or (values < 0).any()):
                raise InvalidInputError(f"There must be one non-negative number per answer in {name}, or NaN.")

    @property
    def n_answers(self) -> int:
        return self.evidence.n_samples

    @property
    def classes(self) -> tuple[object, ...]:
        return self.evidence.classes

    def take(self, entries: AnyArray) -> "Answers":
        """Keep these answers (indices or a mask), in that order, and the annotators who gave them."""
        codes = self.annotators[entries]
        kept = np.unique(codes)
        return replace(
            self,
            rows=self.rows[entries],
            annotators=np.searchsorted(kept, codes),
            names=tuple(self.names[code] for code in kept),
            evidence=self.evidence.take(entries),
            seconds=None if self.seconds is None else self.seconds[entries],
            prices=None if self.prices is None else self.prices[entries],
        )
