"""How a channel's probabilities are given: a whole table, or how often an answer is right."""

from abc import ABC, abstractmethod
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike

from labelworth.arrays import FloatArray, as_floats, require_probabilities
from labelworth.errors import InvalidInputError

Classes = Sequence[Hashable]


@dataclass(frozen=True, eq=False)
class AnswerTable:
    """q(answer | class) for given classes, and how it moves with the parameters of the channel."""

    answers: tuple[str, ...]
    probabilities: FloatArray  # (K, A): A row per class.
    parameters: tuple[str, ...]  # What they are called; those of an unknown channel are estimated.
    moves: FloatArray  # (p, K, A): The derivative of the probabilities in every parameter.
    # (K, any): What stays of the probabilities whatever the parameters are; classes with equal rows can be exchanged.
    anchors: FloatArray


class Form(Protocol):
    """What the kinds of channels differ in."""

    def table(self, channel: str, classes: Classes) -> AnswerTable:
        """The probabilities for these classes.

        Raises
        ------
        InvalidInputError
            If the channel and the classes do not go together.
        """

    @property
    def is_at_edge(self) -> bool:
        """Whether a parameter stands where it could move to one side only, so that it cannot be estimated."""


@dataclass(frozen=True, eq=False)
class Confusion:
    """A whole table; its parameters are the rows, each without its most probable answer.

    What has probability zero is taken for impossible, and is no parameter: in softmax coordinates its score is zero.
    """

    probabilities: FloatArray  # (K, A)
    answers: tuple[str, ...] | None = None  # The classes, or numbers, when absent.
    is_at_edge = False

    @classmethod
    def of(cls, channel: str, confusion: ArrayLike, answers: Sequence[object] | None) -> "Confusion":
        """Check a table that somebody gave."""
        called = f"The confusion of channel {channel!r}"
        table = as_floats(called, confusion, ndim=2)
        require_probabilities(f"{called}: each row, the probabilities of all answers to one class,", table)
        names = None if answers is None else tuple(str(answer) for answer in answers)
        if names is not None and (len(names) != table.shape[1] or len(set(names)) < len(names)):
            raise InvalidInputError(
                f"Channel {channel!r} needs a name of its own for each of the {table.shape[1]} answers of its "
                f"confusion. Got {', '.join(names) or 'none'}."
            )
        # To the last digit, so that products of many votes are probabilities too.
        return cls(table / table.sum(axis=1, keepdims=True), names)

    def table(self, channel: str, classes: Classes) -> AnswerTable:
        n_classes, n_answers = self.probabilities.shape
        if n_classes != len(classes):
            raise InvalidInputError(
                f"The confusion of channel {channel!r} must have a row for each of the {len(classes)} classes. "
                f"Got {n_classes} row(s)."
            )
        named = tuple(str(item) for item in classes)
        default = named if n_answers == n_classes else tuple(f"answer {code}" for code in range(n_answers))
        answers, names, moves = self.answers or default, [], []
        for code, row in enumerate(self.probabilities):
            # Left out is the most probable: 1 / q of a rare one would stand beside all others and hide them.
            usual = int(np.argmax(row))
            for answer in np.flatnonzero(row).tolist():
                if answer == usual:
                    continue
                move = np.zeros_like(self.probabilities)
                move[code, answer], move[code, usual] = 1.0, -1.0
                names.append(f"{channel}: {answers[answer]} for {named[code]}")
                moves.append(move)
        stacked = np.array(moves).reshape(-1, n_classes, n_answers)
        return AnswerTable(answers, self.probabilities, tuple(names), stacked, np.empty((n_classes, 0)))


@dataclass(frozen=True)
class Accurate(ABC):
    """Right with one probability, whatever the class: one parameter."""

    accuracy: float

    @property
    def is_at_edge(self) -> bool:
        return self.accuracy in (0.0, 1.0)

    def table(self, channel: str, classes: Classes) -> AnswerTable:
        answers, right, wrong = self.split(channel, tuple(classes))
        mixed = self.accuracy * right + (1 - self.accuracy) * wrong
        # Where wrong answers are the right ones of other classes, an accuracy a cannot be told from 1 - a.
        is_open = sorted(right.tolist()) == sorted(wrong.tolist())
        anchors = right[:, :0] if is_open else right
        return AnswerTable(answers, mixed, (f"{channel}: accuracy",), (right - wrong)[None], anchors)

    @abstractmethod
    def split(self, channel: str, classes: tuple[Hashable, ...]) -> tuple[tuple[str, ...], FloatArray, FloatArray]:
        """The answers, and their probabilities where the answer is right and where it is wrong, (K, A) each."""


@dataclass(frozen=True)
class WhichClass(Accurate):
    """Which class is it? A wrong answer is each of the others alike (one coin)."""

    def split(self, channel: str, classes: tuple[Hashable, ...]) -> tuple[tuple[str, ...], FloatArray, FloatArray]:
        size = len(classes)
        right = np.eye(size)
        return tuple(str(item) for item in classes), right, (1 - right) / (size - 1)


@dataclass(frozen=True)
class IsItOneOf(Accurate):
    """Is it one of these? Yes or no."""

    about: tuple[Hashable, ...]

    def split(self, channel: str, classes: tuple[Hashable, ...]) -> tuple[tuple[str, ...], FloatArray, FloatArray]:
        inside = self.inside(channel, classes)
        if inside.all():
            raise InvalidInputError(
                f"Channel {channel!r} asks whether it is one of {len(classes)} classes, and there are no others: "
                "the answer is yes."
            )
        right = np.stack([inside, 1 - inside], axis=1)
        return ("yes", "no"), right, right[:, ::-1]

    def inside(self, channel: str, classes: Classes) -> FloatArray:
        """One for each of the classes that are asked about, zero for others, (K,)."""
        about = require_known(channel, self.about, tuple(classes))
        return np.array([item in about for item in classes], dtype=np.float64)


@dataclass(frozen=True)
class WhichSet(Accurate):
    """Which of these sets is it in? A right answer is each of the sets with the class alike."""

    sets: tuple[tuple[Hashable, ...], ...]

    def split(self, channel: str, classes: tuple[Hashable, ...]) -> tuple[tuple[str, ...], FloatArray, FloatArray]:
        sets = [require_known(channel, members, classes) for members in self.sets]
        holds = np.array([[item in members for members in sets] for item in classes], dtype=np.float64)
        parts = []
        for member, words, is_needed in ((holds, "no set", True), (1 - holds, "every set", self.accuracy < 1)):
            sums = member.sum(axis=1, keepdims=True)
            if is_needed and not sums.all():
                lost = classes[int(np.argmin(sums))]
                raise InvalidInputError(
                    f"The class {lost!r} is in {words} of channel {channel!r}, so a "
                    f"{'right' if words == 'no set' else 'wrong'} answer cannot be given."
                )
            parts.append(np.divide(member, sums, out=np.zeros_like(member), where=sums > 0))
        names = tuple(" or ".join(str(item) for item in members) for members in self.sets)
        return names, parts[0], parts[1]


def require_known(channel: str, named: Sequence[Hashable], classes: tuple[Hashable, ...]) -> list[Hashable]:
    """The classes that are named, also where a text names one that is none; those that there are not are refused."""
    in_words = {str(item): item for item in classes}
    known = [item if item in classes else in_words.get(str(item), item) for item in named]
    absent = [item for item in known if item not in classes]
    if absent or not named:
        told = f"Got {', '.join(repr(item) for item in absent)}." if absent else "Got none."
        raise InvalidInputError(
            f"Channel {channel!r} asks about classes out of {', '.join(repr(item) for item in classes)}. {told}"
        )
    return known
