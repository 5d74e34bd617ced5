"""Tag schemes: how chunks are written as one tag per token, and which scheme some tags follow.

A tag is ``O`` (outside of chunks) or a letter with the type of the chunk, ``B-NP``; where there is one type only, the
letter may stand alone. What tells schemes apart is which tags may stand beside each other.
"""

import re
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, NamedTuple

import numpy as np

from labelworth.arrays import IntArray

_FEW_STRAYS = 0.1
"""Of the tokens in chunks: where no more have other tags, chunks were probably meant."""
_MOST_NAMED = 5
_TAG = re.compile(r"([BIELSU])(?:-(.+))?", re.DOTALL)


class Tag(NamedTuple):
    """A tag in its two parts; outside of chunks the letter is O and the type is empty."""

    letter: str
    kind: str

    def __str__(self) -> str:
        return f"{self.letter}-{self.kind}" if self.kind else self.letter


OUTSIDE = Tag("O", "")


class TagScheme(Enum):
    IO = "IO"
    IOB1 = "IOB1"
    IOB2 = "IOB2"
    IOE1 = "IOE1"
    IOE2 = "IOE2"
    BIOES = "BIOES"
    BILOU = "BILOU"
    PLAIN = "plain tags"

    @property
    def letters(self) -> str:
        """The letters of a tag inside of a chunk."""
        return "" if self is TagScheme.PLAIN else self.value.rstrip("12").replace("O", "")

    def allows(self, previous: Tag, following: Tag) -> bool:
        """Whether two tags may stand beside each other; beyond the ends of a sequence there is `OUTSIDE`."""
        same = previous.letter != "O" and following.letter != "O" and previous.kind == following.kind
        if self in (TagScheme.BIOES, TagScheme.BILOU):
            goes_on = previous.letter in "BI"
            comes_from = following.letter in ("I", "E" if self is TagScheme.BIOES else "L")
            return goes_on == comes_from and (same or not goes_on)
        # In IOB1 and IOE1 a mark is needed only between chunks that touch; in IOB2 and IOE2 always.
        wrong = {
            TagScheme.IOB1: following.letter == "B",
            TagScheme.IOB2: following.letter == "I",
            TagScheme.IOE1: previous.letter == "E",
            TagScheme.IOE2: previous.letter == "I",
        }
        return same or not wrong.get(self, False)


@dataclass(frozen=True)
class SchemeMatch:
    """Which scheme tags follow."""

    scheme: TagScheme  # The one that fits best.
    equals: tuple[TagScheme, ...] = ()  # Other schemes in which the same tags say the same.
    n_contradictions: int = 0  # How many neighbors may not stand beside each other in that scheme.
    # The token at which the first of them was met, the later of the two; may be one past the last token.
    first: int | None = None
    neighbors: tuple[str, ...] = ()  # Those two tags.
    nearest: TagScheme | None = None  # For plain tags: the scheme that nearly all of them follow.
    strays: tuple[str, ...] = ()  # The tags that do not belong to that scheme, most frequent first.
    n_strays: int = 0  # How many tokens have them.

    @property
    def is_doubtful(self) -> bool:
        """Whether people should look at their tags."""
        return self.n_contradictions > 0 or self.nearest is not None

    def describe(self) -> str:
        if self.nearest is not None:
            shown = ", ".join(self.strays[:_MOST_NAMED]) + (", .." if len(self.strays) > _MOST_NAMED else "")
            tokens = "1 token" if self.n_strays == 1 else f"{self.n_strays} tokens"
            return (
                f"The labels look like {self.nearest.value} tags, except for {shown} (on {tokens}). They are taken "
                "as plain tags, so no chunks are counted; correct these labels if chunks are meant."
            )
        if self.scheme is TagScheme.PLAIN:
            return "The labels are plain tags, not chunks."
        if not self.n_contradictions:
            also = " and ".join(other.value for other in self.equals)
            same = f"; read as {also} they would say the same" if also else ""
            return f"The tags follow {self.scheme.value}{same}."
        previous, following = self.neighbors
        places = "1 place" if self.n_contradictions == 1 else f"{self.n_contradictions} places"
        return (
            f"The tags contradict themselves: they come nearest to {self.scheme.value}, but break it in {places}. "
            f"{following} may not follow {previous}."
        )


def parse_tag(tag: Hashable) -> Tag | None:
    """Split a tag; None if it is not one of a chunk.

    Examples
    --------
    >>> parse_tag("B-NP"), parse_tag("O"), parse_tag("NN")
    (Tag(letter='B', kind='NP'), Tag(letter='O', kind=''), None)
    """
    if tag == "O":
        return OUTSIDE
    match = _TAG.fullmatch(tag) if isinstance(tag, str) else None
    return Tag(match[1], match[2] or "") if match else None


def find_scheme(labels: Sequence[Any], offsets: IntArray) -> SchemeMatch:
    """Find the scheme of `labels`, one entry per token; None and candidate sets are passed over.

    Examples
    --------
    >>> find_scheme(["I-NP", "I-NP", "B-NP", "O"], np.array([0, 4])).describe()
    'The tags follow IOB1.'
    """
    codes, tags = _coded(labels)
    parsed = [parse_tag(tag) for tag in tags]
    chunks = [tag for tag in parsed if tag is not None]
    candidates = _candidates({tag.letter for tag in chunks} - {"O"})
    if len(chunks) < len(parsed) or not candidates:
        return _plain(np.bincount(codes[codes >= 0], minlength=len(tags)), tags, parsed)
    judged = [_judge(scheme, codes, chunks, offsets) for scheme in candidates]
    best = min(judged, key=lambda judgment: judgment.n_contradictions)
    if best.n_contradictions:
        return best
    equals = tuple(other.scheme for other in judged if other is not best and not other.n_contradictions)
    return SchemeMatch(best.scheme, equals)


def _plain(counts: IntArray, tags: list[Hashable], parsed: list[Tag | None]) -> SchemeMatch:
    """Plain tags; with the scheme that they nearly follow, where only a few tokens or letters speak against it."""
    mixed = all(tag is not None for tag in parsed)
    best = SchemeMatch(TagScheme.PLAIN)
    if not any(tag is not None and tag.kind for tag in parsed):
        return best
    n_marked = sum(count for count, tag in zip(counts.tolist(), parsed, strict=True) if tag != OUTSIDE)
    for scheme in (TagScheme.IOB2, TagScheme.IOE2, TagScheme.BIOES, TagScheme.BILOU):
        stray = [tag is None or (tag != OUTSIDE and tag.letter not in scheme.letters) for tag in parsed]
        codes = sorted(np.flatnonzero(stray).tolist(), key=lambda code: -counts[code])
        n_strays = int(counts[codes].sum())
        is_near = mixed or n_strays <= _FEW_STRAYS * n_marked
        if is_near and (best.nearest is None or n_strays < best.n_strays):
            names = tuple(repr(tags[code]) for code in codes)
            best = SchemeMatch(TagScheme.PLAIN, nearest=scheme, strays=names, n_strays=n_strays)
    return best


def _candidates(letters: set[str]) -> list[TagScheme]:
    """The schemes with those letters, the likeliest first."""
    if not letters:
        return []
    if letters <= {"I"}:
        return [TagScheme.IO, TagScheme.IOB1, TagScheme.IOE1]
    if letters <= {"B", "I"}:
        return [TagScheme.IOB2, TagScheme.IOB1]
    if letters <= {"I", "E"}:
        return [TagScheme.IOE2, TagScheme.IOE1]
    if letters <= set("BIES"):
        return [TagScheme.BIOES]
    return [TagScheme.BILOU] if letters <= set("BILU") else []


def _coded(labels: Sequence[Any]) -> tuple[IntArray, list[Hashable]]:
    """Every token's tag as a code, -1 where there is no single one."""
    code_of: dict[Hashable, int] = {}
    codes = [
        -1
        if label is None or isinstance(label, list | tuple | set | frozenset)
        else code_of.setdefault(label, len(code_of))
        for label in labels
    ]
    return np.array(codes, dtype=np.int64), list(code_of)


def _judge(scheme: TagScheme, codes: IntArray, tags: list[Tag], offsets: IntArray) -> SchemeMatch:
    """Look at every two neighbors whose tags are both known, and at the ends."""
    everything = [*tags, OUTSIDE]
    table = np.array([[not scheme.allows(left, right) for right in everything] for left in everything])
    # Two codes per seam between tokens: between sequences there is a seam to the outside on either side.
    inner = np.ones(len(codes) + 1, dtype=bool)
    inner[offsets] = False
    beyond = len(tags)
    before, after = np.append(beyond, codes), np.append(codes, beyond)
    wrong = np.zeros(len(codes) + 1, dtype=bool)
    for left, right, seams in (
        (before, after, inner),
        (before, np.full(len(before), beyond), ~inner),
        (np.full(len(after), beyond), after, ~inner),
    ):
        known = seams & (left >= 0) & (right >= 0)
        wrong[known] |= table[left[known], right[known]]
    broken = np.flatnonzero(wrong)
    if not broken.size:
        return SchemeMatch(scheme)
    first = int(broken[0])
    return SchemeMatch(scheme, (), len(broken), first, _neighbors(first, codes, everything, inner, table))


def _neighbors(seam: int, codes: IntArray, tags: list[Tag], inner: Any, table: Any) -> tuple[str, str]:
    """The two tags at a seam that do not agree."""
    beyond = len(tags) - 1
    if inner[seam]:
        return str(tags[codes[seam - 1]]), str(tags[codes[seam]])
    if seam > 0 and codes[seam - 1] >= 0 and table[codes[seam - 1], beyond]:
        return str(tags[codes[seam - 1]]), "the end of a sequence"
    return "the beginning of a sequence", str(tags[codes[seam]])
