"""Answers to rows whose class is known, and how often they are right there."""

from collections.abc import Collection, Hashable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import beta

from labelworth.arrays import FloatArray, IntArray
from labelworth.channels.channel import Channel
from labelworth.data.answers import Answers
from labelworth.data.evidence import Evidence
from labelworth.robust.answers.permutation import LinearSums, permutation_p
from labelworth.wording import percent

COVERAGE = 0.95
"""Of the interval of an accuracy."""


@dataclass(frozen=True, eq=False)
class Audits:
    """The answers that say something about a row whose class is known, one per row and annotator.

    Tests on them permute answers among rows of one class. That is exact whatever rows were audited, as long as it
    was not decided by the answers which.
    """

    names: tuple[str, ...]  # Of all annotators, audited or not.
    rows: IntArray  # (m,): The sample, or the token counted over all sequences.
    annotators: IntArray  # (m,): Codes of `names`.
    classes: IntArray  # (m,): The true class of the row.
    shares: FloatArray  # (m, K): What was said, weights that sum to one.
    class_names: tuple[Hashable, ...]

    @classmethod
    def of(cls, answers: Answers, gold: Evidence, independent: Collection[str] = ()) -> "Audits":
        """Pick them out; all answers of those in `independent`, though there are several to a row.

        Raises
        ------
        InvalidInputError
            If answers and labels are of other classes, or of other rows.
        """
        answers.require_about("row or token", gold.n_samples, gold.classes)
        entries = np.flatnonzero(gold.is_gold[answers.rows] & answers.is_telling)
        kept = answers.at_entries(entries).one_vote_each(independent)
        weights = kept.evidence.dense()
        shares = weights / weights.sum(axis=1, keepdims=True)
        return cls(answers.names, kept.rows, kept.annotators, gold.codes[kept.rows], shares, gold.classes)

    @property
    def size(self) -> int:
        return len(self.rows)

    @property
    def is_right(self) -> FloatArray:
        """1 where no class has more weight than the true one, else 0, (m,): a set is right if it holds the class."""
        own = self.shares[np.arange(self.size), self.classes]
        return np.asarray(own >= self.shares.max(axis=1), dtype=np.float64)

    def of_annotator(self, code: int) -> IntArray:
        """Which entries are this annotator's."""
        return np.flatnonzero(self.annotators == code)

    def guessing_p(self, code: int, rng: np.random.Generator) -> float | None:
        """P(answers agree with the classes so often though they know nothing of them), exact; None without any."""
        own = self.of_annotator(code)
        if not own.size:
            return None
        gold = np.eye(self.shares.shape[1])[self.classes[own]]
        agreement = LinearSums.of(
            self.shares[own], gold[:, :, None], np.zeros(own.size, dtype=np.int64), one_sided=True
        )
        return permutation_p(agreement, rng) if agreement.is_open else 1.0

    def accuracies(self) -> tuple["Accuracy", ...]:
        """Of every annotator, in the order of `names`."""
        right = np.bincount(self.annotators, self.is_right, minlength=len(self.names)).astype(np.int64)
        total = np.bincount(self.annotators, minlength=len(self.names))
        return tuple(Accuracy(int(hits), int(n)) for hits, n in zip(right, total, strict=True))


@dataclass(frozen=True)
class Accuracy:
    """How often answers are right, on audited rows."""

    n_right: int
    n_audited: int

    @property
    def share(self) -> float:
        """NaN where nothing was audited."""
        return self.n_right / self.n_audited if self.n_audited else float("nan")

    @property
    def interval(self) -> tuple[float, float]:
        """Clopper and Pearson's, which holds the truth with probability 0.95 at least, however few rows there are."""
        tail, hits, misses = (1 - COVERAGE) / 2, self.n_right, self.n_audited - self.n_right
        low = float(beta.ppf(tail, hits, misses + 1)) if hits else 0.0
        high = float(beta.isf(tail, hits + 1, misses)) if misses else 1.0
        return low, high

    def words(self, unit: str = "row") -> str:
        """The accuracy, or that nobody knows it."""
        if not self.n_audited:
            return f"no {unit} that was answered has gold"
        low, high = self.interval
        return (
            f"right on {self.n_right} of {self.n_audited} audited {unit}s, {percent(self.share)} "
            f"({percent(low)} to {percent(high)})"
        )

    def to_dict(self) -> dict[str, Any]:
        low, high = self.interval
        share = self.share if self.n_audited else None
        return {"n_audited": self.n_audited, "n_right": self.n_right, "share": share, "interval": [low, high]}


def rests_on_faith(
    answers: Answers | None, channels: Iterable[Channel], gold: Evidence | None = None
) -> tuple[str, ...]:
    """What a plan must say of channels of unknown confusion that no audited row speaks of, a sentence each.

    Parameters
    ----------
    answers : Answers, optional
        What was answered so far; an annotator is the channel of the same name.
    channels : Channel
        Those that the plan asks.
    gold : Evidence, optional
        Of the rows that were answered.
    """
    audited: set[str] = set()
    if answers is not None and gold is not None:
        audits = Audits.of(answers, gold)
        audited = {audits.names[code] for code in np.unique(audits.annotators)}
    answered = set() if answers is None else set(answers.names)
    words = []
    for channel in channels:
        if not channel.is_unknown or channel.name in audited:
            continue
        seen = (
            "none of its answers is to a row whose class is known"
            if channel.name in answered
            else "it has not answered yet"
        )
        words.append(
            f"What the plan says of {channel.name!r} rests on faith: how often it errs is not known, and {seen}. "
            "Have it answer some rows that have gold too (50 tell its accuracy to about 10 points)."
        )
    return tuple(words)
