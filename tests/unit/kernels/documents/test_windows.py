"""Windows are looked at before they are walked through."""

import numpy as np
import pytest

from labelworth.kernels.documents.windows import are_clean

STARTS, WORDS, COUNTS = np.array([0, 2, 2, 4]), np.array([0, 3, 1, 2], dtype=np.int32), np.array([1.0, 2.0, 0.5, 1.0])


def test_sorted_positive_counts_within_the_columns_are_clean() -> None:
    assert are_clean(STARTS, WORDS, COUNTS, 4)


@pytest.mark.parametrize(
    ("words", "counts", "n_words"),
    [
        ([0, 3, 1, 2], [1.0, 2.0, 0.5, 1.0], 3),
        ([0, -3, 1, 2], [1.0, 2.0, 0.5, 1.0], 4),
        ([3, 0, 1, 2], [1.0, 2.0, 0.5, 1.0], 4),
        ([0, 3, 1, 1], [1.0, 2.0, 0.5, 1.0], 4),
        ([0, 3, 1, 2], [1.0, 0.0, 0.5, 1.0], 4),
        ([0, 3, 1, 2], [1.0, 2.0, -0.5, 1.0], 4),
        ([0, 3, 1, 2], [1.0, np.nan, 0.5, 1.0], 4),
        ([0, 3, 1, 2], [1.0, 2.0, 0.5, np.inf], 4),
    ],
)
def test_anything_else_is_not(words: list[int], counts: list[float], n_words: int) -> None:
    assert not are_clean(STARTS, np.array(words, dtype=np.int32), np.array(counts), n_words)


def test_ends_that_do_not_fit_are_not() -> None:
    for starts in ([0, 2, 1, 4], [1, 2, 2, 4], [0, 2, 2, 3], [0, 9, 9, 4]):
        assert not are_clean(np.array(starts), WORDS, COUNTS, 4)
