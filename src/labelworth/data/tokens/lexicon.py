"""The lexicon: words and their codes, and what becomes of words that are rare or were never seen."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import repeat
from typing import Literal, Self, get_args

import numpy as np

from labelworth.arrays import BoolArray, IntArray
from labelworth.data.sequences import NO_WORD
from labelworth.errors import InvalidInputError
from labelworth.wording import percent

RareWords = Literal["entry", "shapes", "none"]
"""One entry for all of them, an entry per shape, or no entry at all (`NO_WORD`)."""

UNSEEN = "<unseen>"
SHAPES = tuple(
    f"<unseen:{shape}>" for shape in ("number", "digits", "symbol", "hyphen", "CAPITALS", "Capital", "lower")
)


@dataclass(frozen=True)
class Lexicon:
    """Words with codes. Rare and unseen words share entries behind them, so that nothing else happens in silence.

    Notes
    -----
    A model learns about ``<unseen>`` from the rare words of its own data. With ``min_count=1`` there are none, and
    what it knows of unseen words comes from smoothing alone.

    Examples
    --------
    >>> lexicon = Lexicon.from_words(["the", "cat", "the", "dog"], min_count=2)
    >>> lexicon.names, lexicon.encode(["the", "cow"]).tolist()
    (('the', '<unseen>'), [0, 1])
    """

    words: tuple[str, ...]  # The words with an entry of their own.
    # What all other words become: the one entry ``<unseen>``; an entry by what they look like, such as
    # ``<unseen:Capital>``; or `NO_WORD`, no word at all.
    rare: RareWords = "entry"
    min_count: int = 1  # How often a word had to occur to have an entry of its own.

    def __post_init__(self) -> None:
        if self.rare not in get_args(RareWords):
            raise InvalidInputError(f"Rare words become {', '.join(get_args(RareWords))}. Got {self.rare!r} instead.")
        if len(self._code_of) != len(self.words) or set(self._shared) & self._code_of.keys():
            raise InvalidInputError("The words of a lexicon must be distinct, and none may be called <unseen>.")

    @classmethod
    def from_words(cls, words: Iterable[str], *, min_count: int = 1, rare: RareWords = "entry") -> Self:
        """The words that occur at least `min_count` times, in the order in which they first occur."""
        if min_count < 1:
            raise InvalidInputError(f"min_count must be at least 1. Got {min_count!r} instead.")
        counts = Counter(words)
        shared = {UNSEEN, *SHAPES}
        return cls(tuple(w for w, n in counts.items() if n >= min_count and w not in shared), rare, min_count)

    @cached_property
    def _code_of(self) -> dict[str, int]:
        return {word: code for code, word in enumerate(self.words)}

    @property
    def _shared(self) -> tuple[str, ...]:
        return shared_entries(self.rare)

    @property
    def names(self) -> tuple[str, ...]:
        """What the codes stand for: the words, then the entries of rare and unseen ones."""
        return (*self.words, *self._shared)

    def encode(self, words: Sequence[str]) -> IntArray:
        """The code of every word, shape (n_tokens,)."""
        codes = np.fromiter(map(self._code_of.get, words, repeat(NO_WORD)), dtype=np.int64, count=len(words))
        if self.rare == "entry":
            codes[codes == NO_WORD] = len(self.words)
        elif self.rare == "shapes":
            for token in np.flatnonzero(codes == NO_WORD).tolist():
                codes[token] = len(self.words) + SHAPES.index(f"<unseen:{shape(words[token])}>")
        return codes

    def is_rare(self, codes: IntArray) -> BoolArray:
        """Which codes stand for rare or unseen words."""
        rare: BoolArray = (codes == NO_WORD) | (codes >= len(self.words))
        return rare

    def describe(self, codes: IntArray) -> str:
        """Say how many words have no entry of their own."""
        n_rare = int(self.is_rare(codes).sum())
        become = {"entry": UNSEEN, "shapes": "the entry of their shape", "none": "no word at all"}[self.rare]
        share = n_rare / len(codes) if len(codes) else 0.0
        return (
            f"{n_rare} of {len(codes)} tokens ({percent(share, 1)}) are words without an entry; they become {become}."
        )


def shared_entries(rare: RareWords) -> tuple[str, ...]:
    """The entries that rare and unseen words share; they stand behind the words."""
    return {"entry": (UNSEEN,), "shapes": SHAPES, "none": ()}[rare]


def shape(word: str) -> str:
    """What a word looks like.

    Examples
    --------
    >>> [shape(word) for word in ("1,234", "A-1", "%", "well-known", "IBM", "Rome", "run")]
    ['number', 'digits', 'symbol', 'hyphen', 'CAPITALS', 'Capital', 'lower']
    """
    letters = any(character.isalpha() for character in word)
    if any(character.isdigit() for character in word):
        return "digits" if letters else "number"
    if not letters:
        return "symbol"
    if "-" in word:
        return "hyphen"
    if word.isupper() and len(word) > 1:
        return "CAPITALS"
    return "Capital" if word[0].isupper() else "lower"
