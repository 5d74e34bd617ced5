"""Positions in texts as Java and JavaScript count them: in units of UTF-16, two for an emoji."""

from itertools import accumulate


def units_before(text: str) -> list[int]:
    """How many units stand before each character, and in all.

    >>> units_before("a😀b")
    [0, 1, 3, 4]
    """
    return [0, *accumulate(2 if character > "\uffff" else 1 for character in text)]


def characters_at(text: str) -> dict[int, int]:
    """By the number of units before it, the number of a character; halves of one have none."""
    return {units: character for character, units in enumerate(units_before(text))}
