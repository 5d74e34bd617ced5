"""Those who answer, as a fit knows them: whose confusion is known, whose is estimated, and from what prior."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Literal, Self

import numpy as np
from scipy.special import xlog1py, xlogy

from labelworth.arrays import FloatArray, IntArray
from labelworth.channels.channel import Channel
from labelworth.channels.forms.question import IsItOneOf
from labelworth.channels.forms.sets import WhichSet
from labelworth.channels.forms.which_class import WhichClass
from labelworth.data.answers import Answers
from labelworth.errors import InvalidInputError
from labelworth.estimation.votes import Votes

ConfusionKind = Literal["shared", "separate", "accuracy"]
"""Whole tables that borrow strength from all annotators, whole tables each alone, or an accuracy each."""

PRIOR_ACCURACY = 0.7
PRIOR_STRENGTH = 2.0  # answers about each class


@dataclass(frozen=True, eq=False)
class Annotators:
    """Confusion tables q(v | y), some fixed and some estimated, and whose they are.

    The prior of a table is a Dirichlet, as pseudo-counts of (y, v): heavier on the diagonal, since classes could be
    exchanged otherwise. An accuracy a stands for the table a on the diagonal and (1 - a) `errors` beside it.
    """

    names: tuple[str, ...]  # Of the annotators, as in `Answers`.
    channels: IntArray  # (n_annotators,): The table of each; those who are pooled have one together.
    channel_names: tuple[str, ...]  # What the tables are called.
    center: FloatArray  # (n_channels, K, K): The known tables; of the others, where estimates begin.
    pseudo_counts: FloatArray  # (n_channels, K, K): Of the prior; zero where nothing is estimated.
    whole: IntArray  # The tables that are estimated whole.
    coins: IntArray  # The tables of which the accuracy alone is estimated.
    errors: FloatArray  # (K, K): What wrong answers are, where only the accuracy is estimated; diagonal zero.
    answer_weight: float = 1.0  # How much an answer counts: below 1 where annotators err together on a row.

    @classmethod
    def of(
        cls,
        names: tuple[str, ...],
        classes: tuple[Hashable, ...],
        *,
        channels: Sequence[Channel] = (),
        accuracy_only: bool = False,
        pooled: bool = False,
        prior_accuracy: float = PRIOR_ACCURACY,
        prior_strength: float = PRIOR_STRENGTH,
        answer_weight: float = 1.0,
    ) -> Self:
        """A table for every annotator; of those who are no channel, one for all where they are pooled.

        A channel says of the annotator of its name what is known: the confusion, or that it is to be estimated,
        whole (``confusion="unknown"`` or a guess) or by its accuracy (``accuracy=0.8, unknown=True``).

        Raises
        ------
        InvalidInputError
            If a channel's answers are not about classes, or a name is none of an annotator.
        """
        given = {channel.name: channel for channel in channels}
        for name in given:
            if name not in names:
                known = ", ".join(repr(other) for other in names[:8]) + (", ..." if len(names) > 8 else "")
                raise InvalidInputError(f"No answer is by {name!r}, of whom a channel was given. There are {known}.")
        n_classes = len(classes)
        errors = np.full((n_classes, n_classes), 1 / max(n_classes - 1, 1))
        np.fill_diagonal(errors, 0.0)
        usual = prior_accuracy * np.eye(n_classes) + (1 - prior_accuracy) * errors
        if n_classes == 1:
            usual = np.ones((1, 1))
        codes, called, centers, strengths = np.empty(len(names), dtype=np.int64), list[str](), [], []
        whole, coins = list[int](), list[int]()
        shared: int | None = None
        for code, name in enumerate(names):
            channel = given.get(name)
            if channel is None and pooled and shared is not None:
                codes[code] = shared
                continue
            codes[code] = len(called)
            is_coin = accuracy_only if channel is None else isinstance(channel.form, WhichClass)
            if channel is None or channel.is_unknown:
                (coins if is_coin and n_classes > 1 else whole).append(len(called))
                strengths.append(prior_strength)
            else:
                strengths.append(0.0)
            if channel is None and pooled:
                shared = len(called)
            called.append("all others" if channel is None and pooled and given else name)
            is_told = channel is not None and channel.form is not None
            centers.append(_table(channel, classes) if channel is not None and is_told else usual)
        center = np.array(centers).reshape(-1, n_classes, n_classes)
        if pooled and shared is not None and not given:
            called[shared] = "everybody"
        pseudo_counts = np.array(strengths)[:, None, None] * center
        return cls(
            names,
            codes,
            tuple(called),
            center,
            pseudo_counts,
            np.array(whole, int),
            np.array(coins, int),
            errors,
            answer_weight,
        )

    @property
    def n_channels(self) -> int:
        return len(self.channel_names)

    @property
    def n_classes(self) -> int:
        return int(self.center.shape[1])

    def votes(self, answers: Answers) -> Votes:
        """Answers laid out by these tables."""
        self.require_names(answers.names)
        return Votes(answers, self.channels, self.n_channels, self.answer_weight)

    def with_prior(self, center: FloatArray, strengths: FloatArray) -> Self:
        """The same annotators with other prior means (n_channels, K, K) and strengths (n_channels, K)."""
        estimated = np.zeros(self.n_channels, dtype=bool)
        estimated[self.whole], estimated[self.coins] = True, True
        center = np.where(estimated[:, None, None], center, self.center)
        return replace(self, center=center, pseudo_counts=(strengths * estimated[:, None])[:, :, None] * center)

    def coin_tables(self, accuracies: FloatArray) -> FloatArray:
        """The tables of these accuracies, (n, K, K)."""
        right = accuracies[:, None, None]
        return np.asarray(right * np.eye(self.n_classes) + (1 - right) * self.errors)

    @staticmethod
    def coin_counts(counts: FloatArray) -> tuple[FloatArray, FloatArray]:
        """How often an answer was right and wrong, from counts of (y, v) along the last two axes."""
        right = np.trace(counts, axis1=-2, axis2=-1)
        return np.asarray(right), np.asarray(counts.sum(axis=(-2, -1)) - right)

    def maximize(self, counts: FloatArray) -> FloatArray:
        """The tables that fit expected counts (n_channels, K, K) and the prior best; known ones stay as they are."""
        tables, total = self.center.copy(), counts + self.pseudo_counts
        sums = total.sum(axis=2, keepdims=True)
        # Of a class that nobody was asked about, and without a prior, every row is as good: it stays where it was.
        shares = np.divide(total, sums, out=tables.copy(), where=sums > 0)
        tables[self.whole] = shares[self.whole]
        right, wrong = self.coin_counts(total[self.coins])
        both = right + wrong
        before = tables[self.coins, 0, 0]
        tables[self.coins] = self.coin_tables(np.divide(right, both, out=before, where=both > 0))
        return tables

    def log_prior(self, tables: FloatArray) -> float:
        """Pseudo-counts times log-probabilities, up to a constant."""
        total = float(xlogy(self.pseudo_counts[self.whole], tables[self.whole]).sum())
        right, wrong = self.coin_counts(self.pseudo_counts[self.coins])
        accuracies = tables[self.coins, 0, 0]
        return total + float(xlogy(right, accuracies).sum() + xlog1py(wrong, -accuracies).sum())

    def require_names(self, names: tuple[str, ...]) -> None:
        """Refuse answers of others."""
        if names != self.names:
            raise InvalidInputError("The answers are of other annotators than those who are to be fitted.")


def _table(channel: Channel, classes: tuple[Hashable, ...]) -> FloatArray:
    """q(v | y) over classes that an annotator has in mind."""
    told = channel.table(classes).probabilities
    if isinstance(channel.form, IsItOneOf):
        # "Yes" is a class among those asked about, whichever; "no" one of the others.
        inside = channel.form.inside(channel.name, classes)
        shares = np.stack([inside / inside.sum(), (1 - inside) / (1 - inside).sum()])
        return np.asarray(told @ shares)
    if isinstance(channel.form, WhichSet) or told.shape[1] != len(classes):
        raise InvalidInputError(
            f"The confusion of channel {channel.name!r} is about {told.shape[1]} answers, and a fit needs it about "
            f"the {len(classes)} classes: how often each of them is meant where each is true. Give such a table, or "
            'let it be estimated (confusion="unknown"); a set that is answered is taken for "one of these is meant".'
        )
    return told
