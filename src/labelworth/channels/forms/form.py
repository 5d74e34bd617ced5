"""What every kind of channel is: a table of answers given the class, and how it moves; most are right or wrong."""

from abc import ABC, abstractmethod
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Protocol

from labelworth.arrays import FloatArray
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
