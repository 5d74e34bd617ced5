"""What passes cost on paper."""

from pathlib import Path

import numpy as np
import pytest

from labelworth_studies.scale.parts.cost import Cost, Work


def test_two_sizes_say_what_a_third_takes() -> None:
    truth = Cost(40e-9, 6e-9)
    small, middle, large = (Work.of(10**power, 18.6, 200_000, 20) for power in (5, 6, 7))
    found = Cost.through((small, truth.seconds(small)), (large, truth.seconds(large)))
    assert found.per_value == pytest.approx(truth.per_value)
    assert found.seconds(middle) == pytest.approx(truth.seconds(middle))


def test_times_are_never_negative() -> None:
    small, large = (Work.of(10**power, 18.6, 200_000, 20) for power in (5, 7))
    found = Cost.through((small, 0.01), (large, 100.0))
    assert min(found.per_value, found.per_number) >= 0
    assert found.seconds(large) == pytest.approx(100.0)


def test_sums_do_not_outnumber_what_is_read() -> None:
    for n_words in (10**4, 10**5, 200_000):
        work = Work.of(10**8, 18.6, n_words, 20)
        assert work.sum_bytes < 2 * work.shard_bytes
    assert np.isclose(Work.of(10**6, 18.6, 200_000, 20).shard_bytes, 98e6, rtol=1e-3)


def test_the_page_has_the_arithmetic_of_the_web() -> None:
    page = (Path(__file__).parents[3] / "docs" / "scale.md").read_text().splitlines()
    web = Work.of(10**9, 18.6, 10**6, 20)
    expected = {
        "| shards, ": f"{web.n_shards}",
        "| features read ": f"{web.shard_bytes / 1e9:.0f} GB",
        "| floating-point operations ": f"{web.operations:.1e}",
        "| parameters out ": f"{web.table_bytes / 1e6:.0f} MB",
        "| kept passes, ": f"{web.table_bytes / 1e6:.0f} MB",
        "| sums back ": f"{web.sum_bytes / 1e9:.0f} GB",
        "| head's memory ": f"{web.head_bytes / 1e9:.0f} GB",
    }
    for begin, value in expected.items():
        (row,) = (line for line in page if line.startswith(begin))
        assert row.endswith(f"| {value} |")
