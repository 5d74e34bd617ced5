"""Prices from annotation times."""

import numpy as np
import pytest

from labelworth.errors import InvalidInputError
from labelworth.tradeoff.annotation_times import prices_from_times


def drawn(rng: np.random.Generator, n_items: int = 300):
    tokens = rng.integers(3, 40, n_items).astype(float)
    labels = np.floor(tokens * rng.uniform(0.1, 1.0, n_items))
    # Long items vary more.
    seconds = 6.0 + 1.5 * labels + 0.3 * tokens + rng.uniform(-1, 1, n_items) * 0.1 * tokens
    return seconds, labels, tokens


def test_exact_times_give_exact_prices() -> None:
    labels, tokens = np.array([1.0, 2, 3, 5, 8]), np.array([9.0, 4, 7, 20, 11])
    timed = prices_from_times(6 + 1.5 * labels + 0.3 * tokens, labels, tokens)
    assert timed.prices.per_label == pytest.approx(1.5)
    assert timed.prices.per_token == pytest.approx(0.3)
    assert timed.prices.per_sequence == pytest.approx(6.0)
    paid = prices_from_times(6 + 1.5 * labels + 0.3 * tokens, labels, tokens, per_hour=36.0)
    assert paid.prices.per_label == pytest.approx(0.015)


@pytest.mark.statistical
def test_standard_errors_are_those_of_repetitions() -> None:
    truth = {"per_sequence": 6.0, "per_label": 1.5, "per_token": 0.3}
    rng = np.random.default_rng(0)
    runs = [prices_from_times(*drawn(rng)) for _ in range(400)]
    for name, value in truth.items():
        found = np.array([getattr(run.prices, name) for run in runs])
        claimed = np.array([run.standard_errors[name] for run in runs])
        # A standard deviation of 400 runs is known to 3.6 %; 4.9 of those is a false alarm in a million.
        assert found.std() == pytest.approx(claimed.mean(), rel=0.18), name
        assert abs(found.mean() - value) <= 4.9 * found.std() / 20, name


def test_a_price_below_zero_is_taken_for_zero_and_said() -> None:
    rng = np.random.default_rng(1)
    labels = rng.integers(1, 20, 200).astype(float)
    tokens = rng.integers(20, 60, 200).astype(float)
    timed = prices_from_times(100 + 2.0 * labels - 0.5 * tokens, labels, tokens)
    assert timed.prices.per_token == 0.0
    assert timed.standard_errors["per_token"] is None
    assert timed.standard_errors["per_label"] > 0


def test_without_tokens() -> None:
    labels = np.array([1.0, 2, 3, 5, 8])
    timed = prices_from_times(4 + 2 * labels, labels)
    assert (timed.prices.per_sequence, timed.prices.per_label) == (pytest.approx(4.0), pytest.approx(2.0))
    assert timed.prices.per_token == 0.0
    assert set(timed.standard_errors) == {"per_sequence", "per_label"}


def test_bad_input_is_told() -> None:
    labels = np.array([1.0, 2, 3, 5, 8])
    with pytest.raises(InvalidInputError, match="cannot tell the prices"):
        prices_from_times(labels, np.full(5, 2.0))
    with pytest.raises(InvalidInputError, match="cannot tell the prices"):
        prices_from_times(labels, labels, 2 * labels)
    with pytest.raises(InvalidInputError, match="need more than 2 items"):
        prices_from_times([1.0, 2.0], [1.0, 2.0])
    with pytest.raises(InvalidInputError, match="seconds must be non-negative"):
        prices_from_times(-labels, labels)
    with pytest.raises(InvalidInputError, match="labels must be non-negative"):
        prices_from_times(labels, -labels)
    with pytest.raises(InvalidInputError, match="seconds must be finite"):
        prices_from_times([1.0, np.nan, 2.0, 3.0], [1.0, 2.0, 3.0, 4.0])
    with pytest.raises(InvalidInputError, match="per_hour must be a positive number"):
        prices_from_times(labels, labels, per_hour=0.0)


def test_documents_with_one_label_each_have_one_price_per_label() -> None:
    tokens = np.array([9.0, 4, 7, 20, 11])
    timed = prices_from_times(6 + 0.3 * tokens, np.ones(5), tokens)
    assert timed.prices.per_label == pytest.approx(6.0)
    assert timed.prices.per_token == pytest.approx(0.3)
    assert timed.prices.per_sequence == 0.0
    assert "from 5 timed samples: 6 (standard error" in timed.words()
