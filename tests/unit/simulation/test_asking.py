"""What to label next where a pilot is too small: never more than there is."""

import numpy as np
import pytest

from labelworth.errors import InvalidInputError
from labelworth.simulation.asking import label_at_random
from labelworth.simulation.learner import keep_labels
from labelworth.simulation.metrics import RateAtLevel, pilot_units
from labelworth.simulation.pilot_points import labeled_units
from support.learners import documents


@pytest.mark.parametrize(
    ("n_units", "step"),
    [
        (300, r"Label 5 more drawn at random \(`labelworth next --count 5`\), then plan again\.$"),
        (8, r"Label the 3 rows that are left, get more rows, then plan again\.$"),
        (6, r"Label the row that is left, get more rows, then plan again\.$"),
        (5, r"No row without a label is left: get more rows\.$"),
    ],
)
def test_no_pilot_is_asked_to_grow_beyond_its_rows(n_units: int, step: str) -> None:
    with pytest.raises(InvalidInputError, match=f"Got 5. {step}"):
        labeled_units(keep_labels(documents(n_units), np.arange(5)))


@pytest.mark.parametrize(
    ("n_unlabeled", "step"),
    [
        (400, r"Label about 360 more drawn at random \(`labelworth next --count 360`\), or some of the class, then"),
        (20, "Label the 20 rows that are left, get more rows, then plan again"),
        (0, "No row without a label is left: get more rows"),
    ],
)
def test_no_examples_of_a_class_are_looked_for_beyond_the_rows(n_unlabeled: int, step: str) -> None:
    codes = np.array([0] * 89 + [1] + [-1] * n_unlabeled)
    with pytest.raises(InvalidInputError, match=step):
        pilot_units(RateAtLevel("recall", "spam", 0.9), codes, np.arange(len(codes)), ("ham", "spam"))


def test_no_more_than_ten_times_the_labels_held_are_asked_for() -> None:
    assert label_at_random(4000, 90, 10_000)[0] == 900
    # Twenty are little to ask for.
    assert label_at_random(50, 1, 10_000)[0] == 20
