"""Pilots drawn from labels: as many as asked for, each label with the same chance."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from labelworth.data.evidence import Evidence, encode_labels
from labelworth.errors import InvalidInputError
from labelworth_studies.corpora.pilots import draw_labeled


def pool(sizes: tuple[int, ...] = (7, 12, 4), n_unlabeled: int = 10) -> Evidence:
    labels: list[object] = [code for code, size in enumerate(sizes) for _ in range(size)]
    labels += [-1] * n_unlabeled + [[0, 1]] * 3
    np.random.default_rng(1).shuffle(labels)
    return encode_labels(labels)


def test_labels_are_drawn_per_class_and_small_classes_keep_all() -> None:
    evidence = pool()
    kept = draw_labeled(evidence, per_class=5, rng=np.random.default_rng(0))
    assert evidence.hidden(~kept).label_counts().tolist() == [5, 5, 4]
    assert not kept[~evidence.is_gold].any()


def test_a_count_or_a_fraction_of_all_labels_is_drawn() -> None:
    evidence = pool()
    assert draw_labeled(evidence, count=9, rng=np.random.default_rng(0)).sum() == 9
    assert draw_labeled(evidence, fraction=0.5, rng=np.random.default_rng(0)).sum() == round(0.5 * 23)
    assert draw_labeled(evidence, fraction=1e-6, rng=np.random.default_rng(0)).sum() == 1
    np.testing.assert_array_equal(draw_labeled(evidence, fraction=1, rng=np.random.default_rng(0)), evidence.is_gold)


@pytest.mark.statistical
def test_every_label_has_the_same_chance(seed: int) -> None:
    evidence, rng = pool((5, 20), 5), np.random.default_rng(seed)
    times = sum(draw_labeled(evidence, count=10, rng=rng).astype(int) for _ in range(4000))[evidence.is_gold]
    # Each row is kept 4000 * 10 / 25 times on average, with variance 4000 * .4 * .6; the sum is fixed, so that
    # sum (times - mean)^2 / (variance * n / (n - 1)) is chi-square with n - 1 degrees of freedom. False alarms: 1e-6.
    statistic = ((times - 1600) ** 2).sum() / (4000 * 0.4 * 0.6 * 25 / 24)
    assert stats.chi2.sf(statistic, 24) > 1e-6
    # Negative control: drawing per class is not drawing from all.
    per_class = sum(draw_labeled(evidence, per_class=5, rng=rng).astype(int) for _ in range(4000))[evidence.is_gold]
    assert stats.chi2.sf(((per_class - 1600) ** 2).sum() / (4000 * 0.4 * 0.6 * 25 / 24), 24) < 1e-6


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "exactly one"),
        ({"count": 1, "fraction": 0.5}, "exactly one"),
        ({"per_class": 0}, "at least 1"),
        ({"count": 0}, r"lie in \[1, 23\]"),
        ({"count": 24}, r"lie in \[1, 23\]"),
        ({"fraction": 0.0}, "fraction must lie in"),
        ({"fraction": 1.1}, "fraction must lie in"),
    ],
)
def test_sizes_that_cannot_be_drawn_are_refused(options: dict[str, float], message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        draw_labeled(pool(), rng=np.random.default_rng(0), **options)
    with pytest.raises(InvalidInputError, match="No row has a label"):
        draw_labeled(encode_labels([-1]), rng=np.random.default_rng(0), count=1)


@given(st.lists(st.integers(0, 6), min_size=1, max_size=4).filter(any), st.integers(1, 7), st.integers(0, 99))
def test_labels_drawn_per_class_are_as_many_as_there_are(sizes: list[int], per_class: int, seed: int) -> None:
    evidence = encode_labels(np.repeat(np.arange(len(sizes)), sizes), classes=range(len(sizes)))
    kept = draw_labeled(evidence, per_class=per_class, rng=np.random.default_rng(seed))
    assert evidence.hidden(~kept).label_counts().tolist() == [min(size, per_class) for size in sizes]
