"""Who agrees with whom: every answer beside gold, and beside what others said of the same."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from labelworth.campaign.values import Unit

Against = Literal["gold", "others"]


class Said(NamedTuple):
    """What one answer says of one document or token."""

    annotator: int
    is_gold: bool  # Whether it is a label that is taken as the truth.
    is_file: bool  # Whether it came with a file: nobody said it to be compared with others.
    question: tuple[str, ...]
    unit: Unit


Cell = tuple[int, Against, str, str]
"""An annotator, beside what they are held, what that says, and what they said."""


@dataclass
class Tally:
    """How often somebody said what, where something else was said."""

    cells: Counter[Cell] = field(default_factory=Counter)

    def add(self, said: Sequence[Said], classes: Sequence[str]) -> None:
        """Count all pairs of answers about one document or token."""
        for own in said:
            for other in said:
                if own.annotator == other.annotator:
                    continue
                terms = compared(own, other, classes)
                if terms is None:
                    continue
                if other.is_gold:
                    self.cells[own.annotator, "gold", *terms] += 1
                if not other.is_file and not own.is_file:
                    self.cells[own.annotator, "others", *terms] += 1


def tally(units: Iterable[Sequence[Said]], classes: Sequence[str]) -> Tally:
    """Of many documents and tokens; what was said of each."""
    counted = Tally()
    for said in units:
        if len(said) > 1:
            counted.add(said, classes)
    return counted


def compared(own: Said, other: Said, classes: Sequence[str]) -> tuple[str, str] | None:
    """What the other and what they themselves say, in the same terms; None where that cannot be compared.

    >>> spam = Said(1, False, False, (), "spam")
    >>> compared(Said(2, False, False, ("ham",), False), spam, ["ham", "news", "spam"])
    ('not ham', 'not ham')
    """
    own_class, other_class = _single(own, classes), _single(other, classes)
    if own_class is not None and other_class is not None:
        return other_class, own_class
    if own.question == other.question:
        return _terms(own.question, other.unit, own.unit)
    if other_class is not None and own.question:
        return _terms(own.question, other_class in own.question, own.unit)
    if own_class is not None and other.question:
        return _terms(other.question, other.unit, own_class in other.question)
    return None


def _single(said: Said, classes: Sequence[str]) -> str | None:
    """The one class that an answer leaves."""
    if isinstance(said.unit, str):
        return said.unit
    if not isinstance(said.unit, bool):
        return None
    left = [name for name in classes if (name in said.question) == said.unit]
    return left[0] if len(left) == 1 else None


def _terms(question: tuple[str, ...], other: Unit, own: Unit) -> tuple[str, str] | None:
    if not isinstance(other, bool) or not isinstance(own, bool):
        return None
    about = " or ".join(question)
    words = {True: about, False: f"not {about}"}
    return words[other], words[own]
