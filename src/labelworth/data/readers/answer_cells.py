"""What a cell of an answer means: a class, a set, yes or no to a question, probabilities, or "cannot say"."""

import difflib
import json
import math
import re
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from labelworth.arrays import UNLABELED, FloatArray
from labelworth.data.labels import by_text
from labelworth.data.readers.cells import is_empty, require_unicode, short, whole
from labelworth.errors import InvalidInputError

CANNOT_SAY = (
    "cannot say", "can't say", "cannot tell", "can't tell", "don't know", "do not know", "not sure", "unsure", "skip",
    "skipped", "?",
)  # fmt: skip
"""Answers that say nothing of the class, whatever their capitals, unless a class is called so."""
_YES, _NO = ("yes", "y", "true", "1"), ("no", "n", "false", "0")
_BETWEEN = "|"
_ASKED = re.compile(r"is it (?:one of )?(?P<about>.+?) ?\?", re.IGNORECASE)
_WHICH = re.compile(r"which(?: class)?(?: is it)? ?\?", re.IGNORECASE)
_FEWEST_OFF, _OFF_PER_CLASS = 0.01, 0.005
"""By how much probabilities may miss 1: what rounding each to two digits does."""


@dataclass(frozen=True)
class Said:
    """An answer, before classes are numbers."""

    labels: tuple[Any, ...] = ()  # The classes that it names; none, and no weights either: "cannot say".
    weights: tuple[float, ...] | None = None  # Of `labels`, or without any of all classes in order; None: alike.
    is_no: bool = False  # Whether it is any class but those it names.

    def evidence(self, code_of: Mapping[Any, int]) -> FloatArray:
        """A weight per class."""
        codes = [code_of[label] for label in self.labels]
        row: FloatArray
        if self.weights is not None:
            row = np.zeros(len(code_of))
            row[codes or slice(None)] = self.weights
            row /= row.sum()
            return row
        row = np.full(len(code_of), 1.0 if self.is_no or not codes else 0.0)
        row[codes] = 0.0 if self.is_no else 1.0
        return row


class AnswerCells:
    """How cells of answers are read; `classes` are all there are, or None where the answers tell."""

    def __init__(
        self,
        classes: Sequence[Hashable] | None,
        cannot_say: Sequence[Hashable],
        rename: Mapping[str, Hashable] | None = None,
    ) -> None:
        self._rename, self._renamed = rename or {}, set[str]()
        self._known = None if classes is None else by_text(classes)
        self._n_classes = None if classes is None else len(classes)
        numbers = [isinstance(name, int | float) and not isinstance(name, bool) for name in classes or ()]
        self._are_numbers = bool(numbers) and all(numbers)
        self._cannot_say = {str(marker).casefold() for marker in cannot_say}
        # Where names that are no classes stand, each place once: questions are looked at twice.
        self._unknown: dict[str, dict[str, None]] = {}

    def read(self, cell: Any, question: Any, location: str) -> Said | None:
        """What was said; None where nothing was yet.

        Parameters
        ----------
        question : cell
            A class or a set: is it one of these? Empty: which class is it?
        location : str
            Named in an error.
        """
        cell = _plain(cell)
        if is_empty(cell):
            return None
        about = self._about(question, location)
        if self._says_nothing(cell):
            return Said()
        if about is None:
            return self._class_or_more(cell, location)
        word = str(whole(cell)).strip().casefold()
        if word not in (*_YES, *_NO):
            raise InvalidInputError(
                f"{location}: the answer to a question about {_BETWEEN.join(map(str, about))!r:.60} is yes, no or "
                f"'cannot say'. Got {short(cell)}."
            )
        said = Said(about, is_no=word in _NO)
        if said.is_no and self._n_classes is not None and len(set(about)) >= self._n_classes:
            raise InvalidInputError(f"{location}: no to a question about all classes leaves none. Correct it.")
        return said

    def asked(self, question: Any, location: str) -> str:
        """A question as the classes it is about, however it is written; empty: which class is it?"""
        return _BETWEEN.join(sorted(map(str, self._about(question, location) or ())))

    def vector(self, cells: Sequence[Any], location: str) -> Said | None:
        """Probabilities in columns of their own, one per class in order; None where none is filled in."""
        numbers = [_plain(cell) for cell in cells]
        if all(is_empty(number) for number in numbers):
            return None
        return Said(weights=_probabilities([0.0 if is_empty(cell) else cell for cell in numbers], location))

    def require_known(self) -> None:
        """Refuse classes that are not among those given: all of them at once, with what was probably meant.

        Refuse names that were to be renamed and do not occur, too.
        """
        idle = [name for name in self._rename if name not in self._renamed]
        if idle:
            raise InvalidInputError(f"No answer names {idle[0]!r}, which was to be renamed. Leave it out.")
        if not self._unknown or self._known is None:
            return
        known = list(self._known)
        problems = []
        for name, locations in self._unknown.items():
            near = difflib.get_close_matches(name.casefold(), [other.casefold() for other in known], n=1)
            meant = next((f" Is {other!r} meant?" for other in known if near and other.casefold() == near[0]), "")
            count = "1 answer names" if len(locations) == 1 else f"{len(locations):,} answers name"
            problems.append(f"{count} {name!r:.60}, first at {next(iter(locations))}.{meant}")
        more = f" And {len(problems) - 5:,} more." if len(problems) > 5 else ""
        classes = ",".join([*known, *self._unknown]) if len(known) + len(self._unknown) <= 30 else "..."
        raise InvalidInputError(
            f"Answers name what is not one of the classes ({', '.join(known[:30])}). {' '.join(problems[:5])}{more} "
            f"Correct or rename them, or name all classes there are with classes={classes}"
        )

    def _says_nothing(self, cell: Any) -> bool:
        if not isinstance(cell, str | int | float):
            return False
        word = str(whole(cell)).strip()
        return word.casefold() in self._cannot_say and not self._is_class(word)

    def _about(self, question: Any, location: str) -> tuple[Any, ...] | None:
        question = _plain(question)
        if is_empty(question):
            return None
        if isinstance(question, str) and not self._is_class(question.strip()):
            if _WHICH.fullmatch(question.strip()):
                return None
            asked = _ASKED.fullmatch(question.strip())
            question = asked["about"] if asked else question
        said = self._class_or_more(question, location)
        if said.weights is not None or not said.labels:
            raise InvalidInputError(
                f"{location}: a question is about a class, or several with {_BETWEEN!r} between. Got "
                f"{short(question)}."
            )
        return said.labels

    def _class_or_more(self, cell: Any, location: str) -> Said:
        if isinstance(cell, str):
            require_unicode(cell, location)
            return self._written(cell.strip(), location)
        if isinstance(cell, Mapping):
            labels = tuple(self._label(name, location) for name in cell)
            return Said(labels, _probabilities(list(cell.values()), location))
        if isinstance(cell, list):
            return self._list(cell, location)
        if isinstance(cell, int | float) and not (isinstance(cell, float) and math.isinf(cell)):
            return Said((self._label(cell, location),))
        raise InvalidInputError(
            f"{location}: the answer is {short(cell)}. An answer is a class, a list of classes (one of these), "
            "probabilities by class, or yes or no to a question."
        )

    def _written(self, text: str, location: str) -> Said:
        """Text that is no class may be a list or an object of JSON, or classes with ``|`` between."""
        if self._is_class(text):
            return Said((self._label(text, location),))
        if text[:1] in ("[", "{"):
            try:
                held = json.loads(text)
            except (ValueError, RecursionError):
                held = None
            if isinstance(held, list | dict):
                return self._class_or_more(held, location)
        if _BETWEEN not in text:
            return Said((self._label(text, location),))
        parts = [part.strip() for part in text.split(_BETWEEN)]
        if not all(parts):
            raise InvalidInputError(f"{location}: the set {short(text)} names an empty class. Correct it.")
        return self._set(parts, location)

    def _list(self, members: list[Any], location: str) -> Said:
        if not members:
            raise InvalidInputError(
                f"{location}: the set is empty, which rules out every class. Leave the answer empty if there is "
                f"none, or write {CANNOT_SAY[0]!r}."
            )
        if not all(isinstance(member, int | float) and not isinstance(member, bool) for member in members):
            return self._set(members, location)
        are_classes = self._are_numbers and all(self._is_class(str(whole(member))) for member in members)
        may_be_vector = len(members) == self._n_classes and _is_distribution(members)
        if are_classes and may_be_vector:
            raise InvalidInputError(
                f"{location}: {short(members)} may be a set of classes or their probabilities. Write "
                '{"class": probability, ...} for these, and classes with | between for a set.'
            )
        if are_classes or (self._known is None and all(isinstance(whole(member), int) for member in members)):
            return self._set(members, location)
        if len(members) != self._n_classes:
            held = "no classes were given" if self._n_classes is None else f"there are {self._n_classes} classes"
            raise InvalidInputError(
                f"{location}: {short(members)} is no list of classes, and for probabilities {held}. Give one per "
                'class in their order (and classes=), or write {"class": probability, ...}.'
            )
        return Said(weights=_probabilities(members, location))

    def _set(self, members: Sequence[Any], location: str) -> Said:
        for member in members:
            if is_empty(member) or not isinstance(member, str | int | float):
                raise InvalidInputError(f"{location}: the members of a set are classes. Got {short(member)}.")
        labels = (self._label(member.strip() if isinstance(member, str) else member, location) for member in members)
        # Sorted, so that a|b and b|a are the same answer.
        return Said(tuple(sorted(set(labels), key=lambda label: (str(type(label)), str(label)))))

    def _is_class(self, text: str) -> bool:
        return text in self._rename or (self._known is not None and text in self._known)

    def _label(self, label: Any, location: str) -> Any:
        label = whole(label)
        if str(label) in self._rename:
            self._renamed.add(str(label))
            label = self._rename[str(label)]
        if isinstance(label, str):
            require_unicode(label, location)
        if self._known is None:
            if str(label) == str(UNLABELED):
                raise InvalidInputError(
                    f"{location}: the answer is -1, which means 'cannot say' in some files and is a class in others. "
                    "Name it with cannot_say=, or all classes with classes=."
                )
            return label
        if str(label) not in self._known:
            self._unknown.setdefault(str(label), {})[location] = None
        return self._known.get(str(label), label)


def _plain(cell: Any) -> Any:
    """Arrays and scalars of NumPy, sets and missing values of pandas as Python has them."""
    if isinstance(cell, np.generic | np.ndarray):
        cell = cell.tolist()
    if type(cell).__name__ in {"NAType", "NaTType"}:
        return None
    return list(cell) if isinstance(cell, tuple | set | frozenset) else cell


def _is_distribution(numbers: Sequence[Any]) -> bool:
    off = max(_FEWEST_OFF, _OFF_PER_CLASS * len(numbers))
    return all(0 <= number <= 1 + off for number in numbers) and abs(math.fsum(numbers) - 1) <= off


def _probabilities(cells: Sequence[Any], location: str) -> tuple[float, ...]:
    try:
        numbers = tuple(float(cell) for cell in cells if not isinstance(cell, bool))
    except (TypeError, ValueError, OverflowError):
        numbers = ()
    if len(numbers) != len(cells) or not all(map(math.isfinite, numbers)) or not _is_distribution(numbers):
        raise InvalidInputError(
            f"{location}: probabilities of classes are numbers from 0 to 1 that sum to 1. Got {short(list(cells))}."
        )
    return numbers
