"""From one tag scheme to another."""

from collections.abc import Hashable, Iterable, Sequence
from typing import Any

import numpy as np

from labelworth.arrays import IntArray
from labelworth.data.tags.schemes import OUTSIDE, Between, Tag, TagScheme, parse_tag, require_scheme
from labelworth.errors import InvalidInputError

# Seen from a token, on one side: whether its chunk goes on there, and whether a chunk of the same type touches it.
_Side = tuple[bool, bool]


def convert_tags(
    labels: Sequence[Any], offsets: IntArray, *, source: str | TagScheme, target: str | TagScheme
) -> list[Any]:
    """Write tags in another scheme.

    Parameters
    ----------
    labels : one entry per token
        A tag, None (not seen), or a list of tags (one of these).
    offsets : integer array of shape (n_sequences + 1,)
        Where the sequences begin.
    source, target : TagScheme or its name

    Returns
    -------
    list
        The tags in the new scheme. Beside a token that was not seen a tag may not be decided: IOB2's ``B-NP`` is
        ``B-NP`` or ``S-NP`` in BIOES, depending on what follows. Then it is the list of all that are possible.

    Raises
    ------
    InvalidInputError
        If the tags are not those of `source`, contradict themselves, or `target` cannot say what they say (IO, where
        two chunks of a type touch).

    Examples
    --------
    >>> convert_tags(["B-NP", "I-NP", "B-NP", None], np.array([0, 4]), source="IOB2", target="BIOES")
    ['B-NP', 'E-NP', ['B-NP', 'S-NP'], None]
    """
    before, after = require_scheme(source), require_scheme(target)
    entries: dict[Hashable, int] = {"O": 0}
    keys = [_key(label) for label in labels]
    codes = np.array([entries.setdefault(key, len(entries)) for key in keys], dtype=np.int64)
    possible = _possible(list(entries), before)
    first, last = np.zeros(len(codes), dtype=bool), np.zeros(len(codes), dtype=bool)
    first[offsets[:-1]] = True
    last[offsets[1:] - 1] = True
    previous, following = np.where(first, 0, np.roll(codes, 1)), np.where(last, 0, np.roll(codes, -1))
    # Neighborhoods are many and distinct ones few: each is converted once.
    size = len(entries)
    neighborhoods, where, inverse = np.unique(
        (previous * size + codes) * size + following, return_index=True, return_inverse=True
    )
    written: list[Any] = []
    wrong = []
    for neighborhood, token in zip(neighborhoods.tolist(), where.tolist(), strict=True):
        left, middle, right = neighborhood // size**2, neighborhood // size % size, neighborhood % size
        if keys[token] is None:
            written.append(None)
            continue
        tags = _converted(possible[left], possible[middle], possible[right], before, after)
        if not tags:
            wrong.append(token)
        written.append(tags[0] if len(tags) == 1 else tags)
    if wrong:
        raise _contradiction(labels, offsets, min(wrong), before, after)
    return [written[index] for index in inverse.tolist()]


def _key(label: Any) -> Hashable:
    return tuple(label) if isinstance(label, list | tuple | set | frozenset) else label


def _possible(entries: list[Hashable], scheme: TagScheme) -> list[list[Tag]]:
    """The tags each entry stands for; all of them where nothing was seen."""
    read = [_tags(entry, scheme) for entry in entries]
    kinds = sorted({tag.kind for tags in read for tag in tags if tag != OUTSIDE})
    everything = [OUTSIDE, *(Tag(letter, kind) for kind in kinds for letter in scheme.letters)]
    return [everything if entry is None else tags for entry, tags in zip(entries, read, strict=True)]


def _tags(entry: Hashable, scheme: TagScheme) -> list[Tag]:
    if entry is None:
        return []
    tags = []
    for name in entry if isinstance(entry, tuple) else (entry,):
        tag = parse_tag(name)
        if tag is None or (tag != OUTSIDE and tag.letter not in scheme.letters):
            raise InvalidInputError(f"{name!r} is not a tag of {scheme.value}, which has O and {scheme.letters}.")
        tags.append(tag)
    return tags


def _converted(
    left: Iterable[Tag], middle: Iterable[Tag], right: Iterable[Tag], source: TagScheme, target: TagScheme
) -> list[str]:
    """All tags that a token may have in `target`, given what it and its neighbors may be in `source`."""
    written = set()
    for tag in middle:
        before = {side for other in left if (side := _side(source.between(other, tag), other, tag))}
        after = {side for other in right if (side := _side(source.between(tag, other), tag, other))}
        for one in before:
            for two in after:
                letter = "O" if tag == OUTSIDE else _letter(target, one, two)
                if letter:
                    written.add(str(Tag(letter, tag.kind)))
    return sorted(written)


def _side(between: Between, previous: Tag, following: Tag) -> _Side | None:
    if between is Between.INVALID:
        return None
    same = OUTSIDE not in (previous, following) and previous.kind == following.kind
    return between is Between.JOINED, same


def _letter(scheme: TagScheme, before: _Side, after: _Side) -> str | None:
    """How a token in a chunk is marked; None where the scheme cannot say it."""
    (from_before, touched_before), (goes_on, touched_after) = before, after
    begins_beside, ends_beside = touched_before and not from_before, touched_after and not goes_on
    single, begin, inside, end = "UBIL" if scheme is TagScheme.BILOU else "SBIE"
    strict = (inside if goes_on else end) if from_before else (begin if goes_on else single)
    return {
        TagScheme.IO: None if begins_beside or ends_beside else "I",
        TagScheme.IOB1: "B" if begins_beside else "I",
        TagScheme.IOB2: "I" if from_before else "B",
        TagScheme.IOE1: "E" if ends_beside else "I",
        TagScheme.IOE2: "I" if goes_on else "E",
    }.get(scheme, strict)


def _contradiction(
    labels: Sequence[Any], offsets: IntArray, token: int, source: TagScheme, target: TagScheme
) -> InvalidInputError:
    sequence = int(np.searchsorted(offsets, token, side="right")) - 1
    start, end = int(offsets[sequence]), int(offsets[sequence + 1])
    near = ", ".join(repr(label) for label in labels[max(start, token - 1) : min(end, token + 2)])
    return InvalidInputError(
        f"Sequence {sequence}, token {token - start} (counted from 0): the tags {near} contradict "
        f"{source.value}, or cannot be written in {target.value}. Correct them, or name their true scheme."
    )
