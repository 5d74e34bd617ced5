"""Answers: who said what about which sample or token, for how long and for how much."""

from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from labelworth.arrays import AnyArray, BoolArray, FloatArray, IntArray
from labelworth.data.evidence import Evidence, from_weights, recoded
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
    kinds: AnyArray | None = None  # (m,): Of which kind of label each is, as a text; empty where nobody says.
    notes: tuple[str, ...] = ()  # What was found and decided while reading, in words.

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
        if self.kinds is not None and self.kinds.shape != (self.n_answers,):
            raise InvalidInputError(f"There must be one kind per answer. Got {self.kinds.shape}.")

    @classmethod
    def of(
        cls,
        table: Any,
        *,
        classes: Sequence[Hashable] | None = None,
        ids: Sequence[Any] | None = None,
        n_samples: int | None = None,
        offsets: Sequence[int] | IntArray | None = None,
        columns: Mapping[str, str] | None = None,
        annotator_columns: Sequence[str] | None = None,
        count_from: int | None = None,
        cannot_say: Sequence[Hashable] | None = None,
        repeated: Literal["last", "refuse"] = "last",
        outside: Literal["refuse", "drop"] = "refuse",
        independent: Sequence[str] = (),
        rename: Mapping[str, Hashable] | None = None,
    ) -> "Answers":
        """Read a table of answers: long, a row per answer, or wide, a row per sample and a column per annotator.

        An answer is a class; a set, as a list or with ``|`` between; yes or no where ``question`` names a class or a
        set; probabilities, as a mapping of classes, a list in their order, or columns called ``p_CLASS``; or "cannot
        say". An empty cell is no answer.

        The same annotator twice on one sample: the same answer is one vote; another answer to the same question takes
        the place of the earlier one; answers to several questions all stand, and `one_vote_each` takes them together.

        Parameters
        ----------
        table : data frame, mapping of columns, or array with a column per annotator
            Long, with columns such as item, annotator and answer, or task, worker and label; also question, seconds,
            price, and when an answer was given. A wide table may have a column of items; without one, its rows are
            the samples in their order.
        classes : sequence, optional
            All classes, in order; an answer that names another is refused. Found in the answers unless given.
        ids : sequence, optional
            What the samples are called in the column of items, one per sample. Unless given, items are numbers of
            samples.
        n_samples : int, optional
            How many samples there are, where `ids` does not say.
        offsets : sequence of int, optional
            For tokens: sequence i has the tokens ``offsets[i]`` to ``offsets[i + 1]``. Items are then sequences, and
            a column ``token`` or ``position`` says which of its tokens is meant.
        columns : mapping, optional
            Which column is the item, annotator, answer, question, seconds, price, kind, when or token, where it has
            another name than the usual ones: ``{"item": "post", "annotator": "who"}``.
        annotator_columns : sequence of str, optional
            The columns of a wide table that are answers; all but those of items and tokens unless given.
        count_from : 0 or 1, optional
            Where numbers of samples and tokens begin, if they do not show it.
        cannot_say : sequence, optional
            Answers that say nothing: "cannot say", "don't know", "not sure", "skip", "?" and the like unless given.
        repeated : "last" or "refuse"
            What to do where an annotator said different things of one sample.
        outside : "refuse" or "drop"
            What to do with answers about items that are no samples.
        independent : sequence of str
            Annotators who really answer anew when they are asked again, so that all they said is kept.
        rename : mapping, optional
            Classes that mean another one: ``{"Spam": "spam"}``.

        Raises
        ------
        InvalidInputError
            If something cannot be read: says where, and what to do.

        Examples
        --------
        >>> table = {"task": ["a", "a", "b"], "worker": ["w1", "w2", "w1"], "label": ["ham", "spam", "ham|spam"]}
        >>> answers = Answers.of(table, classes=["ham", "news", "spam"], ids=["a", "b"])
        >>> answers.names, answers.rows.tolist(), answers.evidence.dense().tolist()
        (('w1', 'w2'), [0, 0, 1], [[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 1.0]])
        """
        from labelworth.data.readers.answer_cells import CANNOT_SAY
        from labelworth.data.readers.answer_entries import AnswerOptions, rows_of_table
        from labelworth.data.readers.answers import answers_of

        options = AnswerOptions(
            classes=classes,
            ids=ids,
            n_samples=n_samples,
            offsets=offsets,
            columns=columns,
            annotator_columns=annotator_columns,
            count_from=count_from,
            cannot_say=CANNOT_SAY if cannot_say is None else cannot_say,
            repeated=repeated,
            outside=outside,
            independent=independent,
            rename=rename,
        )
        return answers_of(rows_of_table(table), "the table", options)

    @property
    def n_answers(self) -> int:
        return self.evidence.n_samples

    @property
    def classes(self) -> tuple[Hashable, ...]:
        return self.evidence.classes

    def require_about(self, unit: str, n_positions: int, classes: tuple[Hashable, ...]) -> None:
        """Refuse answers about other rows or tokens than there are, or about other classes."""
        if self.n_answers and int(self.rows.max()) >= n_positions:
            raise InvalidInputError(
                f"There are {n_positions} {unit}s, counted from 0, and an answer about {unit} {int(self.rows.max())}."
            )
        if self.classes != classes:
            raise InvalidInputError(
                f"The answers have the classes {self.classes!r}, the labels {classes!r}. Both must name the same "
                "classes in the same order."
            )

    @property
    def is_telling(self) -> BoolArray:
        """Which answers say something: all but "cannot say"."""
        return ~self.evidence.is_unlabeled

    def told(self, n_positions: int) -> BoolArray:
        """Which of so many samples or tokens have an answer that says something."""
        told = np.zeros(n_positions, dtype=bool)
        told[self.rows[self.is_telling]] = True
        return told

    def at(self, positions: IntArray) -> "Answers":
        """The answers about these samples or tokens, counted anew from 0; one named twice has its answers twice.

        All annotators are kept, so that their codes stay what they are.
        """
        order = np.argsort(self.rows, kind="stable")
        ends = np.searchsorted(self.rows[order], positions, side="right")
        counts = ends - np.searchsorted(self.rows[order], positions, side="left")
        behind = np.cumsum(counts)
        entries = order[np.repeat(ends - behind, counts) + np.arange(counts.sum())]
        return replace(self.at_entries(entries), rows=np.repeat(np.arange(len(positions)), counts))

    def recoded(self, classes: tuple[Hashable, ...]) -> "Answers":
        """The same answers in another order of classes, or among more."""
        return replace(self, evidence=recoded(self.evidence, classes))

    def one_vote_each(self, independent: Collection[str] = ()) -> "Answers":
        """Let nobody count twice on a row: what one annotator says of it again is no new evidence.

        They have one class in mind, so what they say of it holds together: "not A" and "not B", or "A or B" and then
        "A", are the classes that all of it allows. Where that is none, or probabilities are given, the last counts.
        Annotators in `independent` really answer anew, and are left as they are.
        """
        pairs = self.rows * len(self.names) + self.annotators
        order = np.argsort(pairs, kind="stable")
        first = np.flatnonzero(np.diff(pairs[order], prepend=-1))
        if len(first) == len(pairs):
            return self
        free = np.isin(self.annotators, [code for code, name in enumerate(self.names) if name in independent])
        dense = self.evidence.dense()
        keeps = np.ones(len(pairs), dtype=bool)
        for start, stop in zip(first, [*first[1:], len(pairs)], strict=True):
            entries = order[start:stop]
            if len(entries) == 1 or free[entries[0]]:
                continue
            keeps[entries[:-1]] = False
            said = dense[entries]
            common = said.prod(axis=0)
            if common.any() and np.isin(said, (0.0, 1.0)).all():
                dense[entries[-1]] = common
        return self.at_entries(keeps).with_weights(dense[keeps])

    def noted(self, *notes: str) -> "Answers":
        """The same answers, with more to be said of them."""
        return replace(self, notes=(*self.notes, *notes))

    def with_weights(self, weights: FloatArray) -> "Answers":
        """The same answers, with other evidence, a row of weights each."""
        return replace(self, evidence=from_weights(weights, self.evidence.classes))

    def take(self, entries: AnyArray) -> "Answers":
        """Keep these answers (indices or a mask), in that order, and the annotators who gave them."""
        taken = self.at_entries(entries)
        kept = np.unique(taken.annotators)
        return replace(
            taken,
            annotators=np.searchsorted(kept, taken.annotators),
            names=tuple(self.names[code] for code in kept),
        )

    def at_entries(self, entries: AnyArray) -> "Answers":
        """Keep these answers (indices or a mask), in that order, and all annotators."""
        return replace(
            self,
            rows=self.rows[entries],
            annotators=self.annotators[entries],
            evidence=self.evidence.take(entries),
            seconds=None if self.seconds is None else self.seconds[entries],
            prices=None if self.prices is None else self.prices[entries],
            kinds=None if self.kinds is None else self.kinds[entries],
        )


def as_answers(value: Any) -> Answers:
    """The same, where these are answers.

    Raises
    ------
    InvalidInputError
        If they are something else: says what reads it.
    """
    if not isinstance(value, Answers):
        got = f"the class {value.__name__}" if isinstance(value, type) else f"{type(value).__name__} {value!r:.60}"
        raise InvalidInputError(
            "answers= takes what labelworth.read_answers(file) makes of a file, or labelworth.Answers.of(table) of a "
            f"table with a row per answer. Got {got}."
        )
    return value
