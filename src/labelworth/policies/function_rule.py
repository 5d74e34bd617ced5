"""Rules that people write themselves, as a function of the length."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from labelworth.arrays import BoolArray, FloatArray, IntArray, require_probabilities
from labelworth.errors import InvalidInputError
from labelworth.policies.rule import Rule, require_length


@dataclass(frozen=True)
class _Outcomes:
    probabilities: FloatArray
    masks: BoolArray


@dataclass(frozen=True)
class FunctionRule(Rule):
    """A rule from a Python function of the length.

    Examples
    --------
    >>> ends = FunctionRule("ends", lambda length: [0, length - 1])
    >>> ends.positions(4, np.random.default_rng(0)).tolist()
    [0, 3]
    >>> either = FunctionRule("either-end", lambda length: [(0.5, [0]), (0.5, [length - 1])])
    >>> either.expected_labels(4)
    1.0
    """

    name: str  # How the rule is called in specs; no ``+``, ``*``, ``:`` or white space.
    # Given the length, it returns the positions to label (a list of whole numbers, or a mask of booleans); or,
    # for a rule with chance, a list of pairs (probability, positions or mask). It is asked once per length.
    function: Callable[[int], Any]
    _known: dict[int, _Outcomes] = field(default_factory=dict, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not self.name or any(character in "+*:" or character.isspace() for character in self.name):
            raise InvalidInputError(
                f"The name of a rule must be a word without '+', '*', ':' or white space. Got {self.name!r}."
            )

    @property
    def spec(self) -> str:
        return self.name

    def n_outcomes(self, length: int) -> int:
        """How many sets of positions the function gives."""
        return len(self._at(length).probabilities)

    def outcomes(self, length: int) -> Iterator[tuple[float, BoolArray]]:
        """What the function gives, as masks."""
        known = self._at(length)
        yield from zip(known.probabilities.tolist(), known.masks.copy(), strict=True)

    def expected_labels(self, length: int) -> float:
        """The mean over the outcomes."""
        known = self._at(length)
        return float(known.probabilities @ known.masks.sum(axis=1))

    def draw(self, lengths: IntArray, rng: np.random.Generator) -> BoolArray:
        """Length by length, in rising order."""
        drawn = np.empty(int(lengths.sum()), dtype=bool)
        starts = np.cumsum(lengths) - lengths
        order = np.argsort(lengths, kind="stable")
        distinct, counts = np.unique(lengths, return_counts=True)
        for length, rows in zip(distinct.tolist(), np.split(order, np.cumsum(counts)[:-1]), strict=True):
            known = self._at(length)
            if len(known.probabilities) == 1:
                chosen = np.zeros(len(rows), dtype=np.int64)
            else:
                chosen = rng.choice(len(known.probabilities), size=len(rows), p=known.probabilities)
            drawn[starts[rows][:, np.newaxis] + np.arange(length)] = known.masks[chosen]
        return drawn

    def _at(self, length: int) -> _Outcomes:
        require_length(length)
        if length not in self._known:
            self._known[length] = self._read(self.function(int(length)), int(length))
        return self._known[length]

    def _read(self, answer: Any, length: int) -> _Outcomes:
        pairs = _pairs(answer)
        probabilities = np.array([probability for probability, _ in pairs], dtype=np.float64)
        require_probabilities(f"The probabilities of rule {self.name!r} at length {length}", probabilities)
        masks = np.array([self._mask(positions, length) for _, positions in pairs])
        distinct, inverse = np.unique(masks, axis=0, return_inverse=True)
        summed = np.zeros(len(distinct))
        np.add.at(summed, inverse.ravel(), probabilities)
        return _Outcomes(summed[summed > 0], distinct[summed > 0])

    def _mask(self, positions: Any, length: int) -> BoolArray:
        try:
            given = np.asarray(positions if isinstance(positions, np.ndarray) else list(positions))
        except (TypeError, ValueError) as error:
            raise self._unreadable(positions, length) from error
        if given.shape == (length,) and given.dtype == np.bool_:
            return given
        whole = given.ndim == 1 and (given.size == 0 or given.dtype.kind in "iu")
        if not whole or (given.size and (int(given.min()) < 0 or int(given.max()) >= length)):
            raise self._unreadable(positions, length)
        mask = np.zeros(length, dtype=bool)
        mask[given.astype(np.int64)] = True
        return mask

    def _unreadable(self, positions: Any, length: int) -> InvalidInputError:
        return InvalidInputError(
            f"Rule {self.name!r} answered {positions!r} at length {length}. It must give positions from 0 to "
            f"{length - 1}, a mask of {length} booleans, or a list of pairs (probability, one of these)."
        )


def _pairs(answer: Any) -> list[tuple[float, Any]]:
    """The answer as a distribution; positions or a mask alone are certain."""
    if isinstance(answer, list | tuple) and answer and all(_is_pair(entry) for entry in answer):
        return [(float(probability), positions) for probability, positions in answer]
    return [(1.0, answer)]


def _is_pair(entry: Any) -> bool:
    if not isinstance(entry, list | tuple) or len(entry) != 2:
        return False
    return isinstance(entry[0], int | float | np.number) and not isinstance(entry[1], int | float | np.number)
