import numpy as np
import pytest

from labelworth_studies.benchmarks import limits as benchmark_limits
from labelworth_studies.benchmarks.limits import LIMITS, Limit
from labelworth_studies.benchmarks.race_documents import SMALL, drawn_documents


@pytest.mark.parametrize("name", LIMITS)
def test_every_limit_can_be_measured(name: str) -> None:
    limit = LIMITS[name](True)
    assert limit.value > 0
    assert limit.detail


def test_a_limit_is_met_up_to_its_value() -> None:
    assert Limit("x", "", 1.5, 1.5).is_met
    assert not Limit("x", "", 1.6, 1.5).is_met


def test_copied_documents_are_the_same_again() -> None:
    few = drawn_documents(SMALL)
    many = benchmark_limits._copied(few, 3)
    assert many.n_samples == 3 * few.n_samples
    last = many.counts[2 * few.n_samples :]
    assert (last != few.counts).nnz == 0
    np.testing.assert_array_equal(many.evidence.codes[-few.n_samples :], few.evidence.codes)


def test_peak_counts_what_is_held_at_once() -> None:
    def work() -> None:
        for _ in range(3):
            np.ones(10**6).sum()

    assert 8e6 <= benchmark_limits._peak(work) < 9e6


def test_drawn_documents_have_the_shape_asked_for() -> None:
    samples = drawn_documents(SMALL)
    assert samples.counts.nnz / samples.n_samples == pytest.approx(SMALL.n_distinct, rel=0.1)
