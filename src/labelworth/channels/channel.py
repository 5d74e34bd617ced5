"""A channel: somebody who answers, how often with what, and for how much."""

import re
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, fields
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from labelworth.arrays import require_between
from labelworth.channels.forms.confusion import Confusion
from labelworth.channels.forms.form import AnswerTable, Classes, Form
from labelworth.channels.forms.question import IsItOneOf
from labelworth.channels.forms.sets import WhichSet
from labelworth.channels.forms.which_class import WhichClass
from labelworth.errors import InvalidInputError

RESERVED = ("nothing", "gold", "everything")
"""What rows are asked without any channel."""

_MOST_VOTES = 1000
_VOTES = re.compile(r" x \d+$")
_ENDINGS = (" for answered", " for labeled", " (held)", ", audited")


@dataclass(frozen=True, eq=False, init=False)
class Channel:
    r"""Somebody who answers: an expert, a crowd, a language model, anybody who is asked yes or no.

    An answer z to a row of class y has the probability q(z | y), whatever else the row holds.

    Parameters
    ----------
    name : str
        Who it is. One name is one annotator, or one crowd of alike ones; channels of the same name are copies.
    confusion : array-like of shape (K, A), or "unknown"
        q(answer | class), a row per class in the order of the model's classes. Answers need not be classes. With
        ``unknown=True`` it is a guess, at which figures are computed. What has probability zero is impossible.
    accuracy : float, optional
        Instead of `confusion`: the answer is the class with this probability, else any other class alike.
    price : float
        Of one answer.
    votes : int or sequence of int
        How many different annotators of this kind answer a row, each by themselves; several numbers are a menu.
    unknown : bool
        Whether the confusion (or the accuracy) is estimated together with the model.
    answers : sequence of str, optional
        What the columns of `confusion` are called; the classes, if there are as many.
    independent : bool
        Whether answers of this very channel, asked again, may be counted as new ones. A program that says the same
        every time may not.

    Examples
    --------
    >>> crowd = Channel("crowd", [[0.85, 0.15], [0.30, 0.70]], price=0.02, votes=(1, 3, 5))
    >>> Channel("model", accuracy=0.9).table(("a", "b", "c")).probabilities.round(3).tolist()[0]
    [0.9, 0.05, 0.05]
    >>> Channel.question("screener", ["a"], accuracy=0.95).table(("a", "b", "c")).answers
    ('yes', 'no')
    """

    name: str
    form: Form | None  # How the probabilities are given; None where nothing is known of them yet.
    price: float
    votes: tuple[int, ...]
    is_unknown: bool
    is_independent: bool

    def __init__(
        self,
        name: str,
        confusion: ArrayLike | Literal["unknown"] | Form | None = None,
        *,
        accuracy: float | None = None,
        price: float = 0.0,
        votes: int | Iterable[int] = 1,
        unknown: bool = False,
        answers: Sequence[object] | None = None,
        independent: bool = False,
    ) -> None:
        given: Any = name
        if not isinstance(given, str) or not given.strip():
            raise InvalidInputError(f"A channel needs a name, as 'crowd'. Got {name!r}.")
        if name.strip().casefold() in RESERVED:
            raise InvalidInputError(f"No channel may be called {name!r}: {', '.join(RESERVED)} mean something else.")
        if " + " in name or _VOTES.search(name):
            raise InvalidInputError(
                f"No channel may be called {name!r}: 'a + b' is two on one row, and 'a x 3' three votes of one."
            )
        if name.endswith(_ENDINGS):
            raise InvalidInputError(
                f"No channel may be called {name!r}: plans call what is asked of documents that are held so. Take "
                "another name."
            )
        if isinstance(confusion, str) and confusion != "unknown":
            raise InvalidInputError(f"The confusion of channel {name!r} is a table or 'unknown'. Got {confusion!r}.")
        is_open = isinstance(confusion, str)
        is_table = confusion is not None and not is_open
        if (is_table and accuracy is not None) or (confusion is None and accuracy is None):
            raise InvalidInputError(
                f"Channel {name!r} has either a confusion (a table, or 'unknown') or an accuracy. Got "
                f"{'neither' if accuracy is None else 'both'}."
            )
        form = _form(name, None if is_open else confusion, accuracy, answers)
        unknown = bool(unknown or is_open)
        if unknown and form is not None and form.is_at_edge:
            raise InvalidInputError(
                f"The accuracy of channel {name!r} is to be estimated, so it cannot be 0 or 1 at the start: give a "
                "guess in between."
            )
        values = (name, form, _price(name, price), _vote_counts(name, votes), unknown, bool(independent))
        for field, value in zip(fields(self), values, strict=True):
            object.__setattr__(self, field.name, value)

    @classmethod
    def question(cls, name: str, about: Sequence[Hashable], *, accuracy: float = 1.0, **rest: Any) -> "Channel":
        """Is it one of these classes? That is answered yes or no, rightly with probability `accuracy`.

        `rest` are price, votes, unknown and independent, as above.
        """
        return cls(name, IsItOneOf(_share(name, accuracy), tuple(about)), **rest)

    @classmethod
    def sets(cls, name: str, sets: Sequence[Sequence[Hashable]], *, accuracy: float = 1.0, **rest: Any) -> "Channel":
        """Answers that are sets of classes; with probability `accuracy` one that holds the class, each alike."""
        return cls(name, WhichSet(_share(name, accuracy), tuple(tuple(members) for members in sets)), **rest)

    def guessed(self, confusion: ArrayLike) -> "Channel":
        """The same channel with other probabilities, such as those that a pilot told."""
        return Channel(
            self.name,
            confusion,
            price=self.price,
            votes=self.votes,
            unknown=self.is_unknown,
            independent=self.is_independent,
        )

    def table(self, classes: Classes) -> AnswerTable:
        """The probabilities for these classes.

        Raises
        ------
        InvalidInputError
            If there are none yet, or they are of other classes.
        """
        if self.form is None:
            raise InvalidInputError(
                f"Nothing is known of the confusion of channel {self.name!r} yet: give a guess, as in "
                f"'{self.name}: accuracy 0.8, unknown', or answers of a pilot (answers=)."
            )
        return self.form.table(self.name, classes)


def _form(name: str, confusion: Any, accuracy: float | None, answers: Sequence[object] | None) -> Form | None:
    if accuracy is not None:
        return WhichClass(_share(name, accuracy))
    if confusion is None or hasattr(confusion, "is_at_edge"):
        form: Form | None = confusion
        return form
    return Confusion.of(name, confusion, answers)


def _price(name: str, price: float) -> float:
    if isinstance(price, bool) or not isinstance(price, int | float | np.number):
        raise InvalidInputError(f"The price of channel {name!r} must be a number. Got {price!r}.")
    if not (np.isfinite(price) and price >= 0):
        raise InvalidInputError(f"The price of channel {name!r} must be a non-negative number. Got {price!r}.")
    return float(price)


def _share(name: str, accuracy: float) -> float:
    if isinstance(accuracy, bool) or not isinstance(accuracy, int | float | np.number):
        raise InvalidInputError(f"The accuracy of channel {name!r} must be a number. Got {accuracy!r}.")
    if 2 <= accuracy <= 100:
        raise InvalidInputError(
            f"The accuracy of channel {name!r} is a share: {accuracy:g} % is {accuracy / 100:g}. Got {accuracy:g}."
        )
    require_between(f"The accuracy of channel {name!r}", float(accuracy), 0.0, 1.0)
    return float(accuracy)


def _vote_counts(name: str, votes: Any) -> tuple[int, ...]:
    counts = tuple(votes) if isinstance(votes, Iterable) and not isinstance(votes, str) else (votes,)
    for count in counts:
        if isinstance(count, bool) or not isinstance(count, int | np.integer) or not 1 <= count <= _MOST_VOTES:
            raise InvalidInputError(
                f"The votes of channel {name!r} are whole numbers from 1 to {_MOST_VOTES}. Got {count!r}."
            )
    if not counts or len(set(counts)) < len(counts):
        raise InvalidInputError(f"The votes of channel {name!r} must be distinct numbers. Got {list(counts)}.")
    return tuple(int(count) for count in counts)
