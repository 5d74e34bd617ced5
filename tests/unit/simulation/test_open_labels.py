"""How many labels may not follow from the features."""

import numpy as np
import pytest

from labelworth.simulation.open_labels import class_shares, open_labels

EVEN = np.array([50, 50])


def mean(class_counts: np.ndarray, missed: float) -> float:
    """Errors that are expected to stay, as a share of all labels."""
    found = open_labels(class_counts, 100, missed)
    return float((1 - class_shares(class_counts).max()) * found.shares @ found.probabilities)


@pytest.mark.parametrize("missed", [0.0, 0.02, 0.3, 0.5, 0.9])
def test_probabilities_sum_to_one_and_what_stays_is_less_than_what_the_best_source_misses(missed: float) -> None:
    found = open_labels(EVEN, 100, missed)
    assert found.probabilities.sum() == pytest.approx(1.0)
    assert (found.probabilities > 0).all()
    assert (0.5 * found.shares < (100 * missed + 0.5) / 101).all()
    assert (found.shares < 1).all()


def test_the_more_the_best_source_misses_the_larger_is_the_part_that_stays() -> None:
    parts = [mean(EVEN, missed) / missed for missed in (0.05, 0.2, 0.45)]
    assert parts == sorted(parts)
    assert parts[-1] > 1.5 * parts[0]


def test_of_many_classes_less_stays() -> None:
    """At the same share of chance."""
    many = np.full(20, 5)
    assert mean(many, 0.95 * 0.5) / 0.95 < mean(EVEN, 0.25) / 0.5


def test_classes_with_one_label_are_missed_whatever_they_follow_from() -> None:
    alone = np.array([40, 40, *np.ones(20, dtype=int)])
    found, none = open_labels(alone, 100, 0.2), open_labels(alone, 100, 0.0)
    np.testing.assert_allclose(found.shares, none.shares)
    # The same misses of classes that others have say more.
    shared = open_labels(np.array([40, 40, 20]), 100, 0.2)
    assert shared.shares[-1] > 10 * found.shares[-1]
