import numpy as np
import pytest
from scipy import stats

from labelworth.data.lengths import LengthDistribution
from labelworth.errors import InvalidInputError


def test_a_mapping_with_keys_of_text_is_read_in_order() -> None:
    lengths = LengthDistribution.from_mapping({"12": 0.25, "5": 0.75})
    assert lengths.lengths.tolist() == [5, 12]
    assert lengths.probabilities.tolist() == [0.75, 0.25]
    assert lengths.mean == 5 * 0.75 + 12 * 0.25
    assert lengths.longest == 12
    assert list(lengths.items()) == [(5, 0.75), (12, 0.25)]


def test_a_single_length_is_certain() -> None:
    lengths = LengthDistribution.single(6)
    assert list(lengths.items()) == [(6, 1.0)]
    assert lengths.sample(3, np.random.default_rng(0)).tolist() == [6, 6, 6]


@pytest.mark.statistical
def test_lengths_are_drawn_with_their_probabilities(seed: int) -> None:
    lengths = LengthDistribution.from_mapping({"1": 0.1, "4": 0.6, "9": 0.3})
    drawn = lengths.sample(10_000, np.random.default_rng(seed))
    observed = [int((drawn == length).sum()) for length in lengths.lengths]
    assert sum(observed) == 10_000
    # False-alarm rate 1e-6; negative control: the probabilities in another order.
    assert stats.chisquare(observed, 10_000 * lengths.probabilities).pvalue > 1e-6
    assert stats.chisquare(observed, 10_000 * lengths.probabilities[::-1]).pvalue < 1e-6


@pytest.mark.parametrize(
    ("mapping", "message"),
    [
        ({}, "must not be empty"),
        ({"0": 1.0}, "at least 1"),
        ({"-3": 1.0}, "at least 1"),
        ({"2.5": 1.0}, "whole number"),
        ({2.5: 1.0}, "whole number"),
        ({"five": 1.0}, "whole number"),
        ({None: 1.0}, "whole number"),
        ({"9" * 30: 1.0}, "at most"),
        ({"5": 0.5, "7": 0.4}, "sum to 1"),
        ({"5": 1.5, "7": -0.5}, "positive"),
        ({"5": 1.0, "7": 0.0}, "positive"),
        ({"5": float("nan")}, "finite"),
        ({"5": "much"}, "must be numbers"),
        ({"5": 0.5, "05": 0.5}, "distinct"),
        ({"5": 0.5, "05": "x"}, "must be numbers"),
    ],
)
def test_bad_lengths_are_refused(mapping: dict[object, float], message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        LengthDistribution.from_mapping(mapping)


def test_one_probability_belongs_to_each_length() -> None:
    with pytest.raises(InvalidInputError, match="one probability per length"):
        LengthDistribution(np.array([1, 2]), np.ones(1))
