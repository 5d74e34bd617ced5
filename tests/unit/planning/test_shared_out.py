"""Who answers what: different annotators, equal loads, and chance in who meets whom."""

from collections import Counter
from itertools import combinations

import pytest

from labelworth.errors import InvalidInputError
from labelworth.planning.next import shared_out

NAMES = ["ann", "bob", "eve", "kim", "lee"]


@pytest.mark.parametrize("votes", [1, 2, 3, 5])
def test_votes_go_to_different_annotators_and_loads_are_equal_up_to_one(votes: int) -> None:
    shared = shared_out([{"crowd": votes}] * 101, {"crowd": NAMES}, seed=3)
    assert all(len({name for _, name in own}) == votes for own in shared)
    loads = Counter(name for own in shared for _, name in own)
    assert sum(loads.values()) == 101 * votes
    assert max(loads.values()) - min(loads.values()) <= 1
    # The first so many are balanced too: whoever stops early has asked all alike.
    early = Counter(name for own in shared[:40] for _, name in own)
    assert max(early.values()) - min(early.values()) <= 1


def test_everybody_meets_everybody() -> None:
    shared = shared_out([{"crowd": 2}] * 200, {"crowd": NAMES}, seed=0)
    met = Counter(frozenset(name for _, name in own) for own in shared)
    # Ten pairs, twenty meetings each if all were alike; a pair that never meets cannot be told apart by answers.
    assert all(met[frozenset(pair)] >= 8 for pair in combinations(NAMES, 2))


def test_the_seed_decides() -> None:
    asks = [{"crowd": 2, "model": 1}] * 30
    assert shared_out(asks, {"crowd": NAMES}, 1) == shared_out(asks, {"crowd": NAMES}, 1)
    assert shared_out(asks, {"crowd": NAMES}, 1) != shared_out(asks, {"crowd": NAMES}, 2)


def test_kinds_without_names_are_one_annotator_or_left_open() -> None:
    assert shared_out([{"model": 1}], {}, 0) == [[("model", "model")]]
    assert shared_out([{"crowd": 2}], {}, 0) == [[("crowd", ""), ("crowd", "")]]
    with pytest.raises(InvalidInputError, match=r"3 different annotators .* 2 are named of the kind 'crowd': a, b"):
        shared_out([{"crowd": 3}], {"crowd": ["a", "b"]}, 0)
