"""A whole table of answers given the class."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from labelworth.arrays import FloatArray, as_floats, require_probabilities
from labelworth.channels.forms.form import AnswerTable, Classes
from labelworth.errors import InvalidInputError


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
        if isinstance(confusion, list | tuple) and len({np.size(row) for row in confusion}) > 1:
            raise InvalidInputError(f"{called} must have as many answers in every row. Got {confusion!r:.100}.")
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
