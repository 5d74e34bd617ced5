"""What to label now: only what has no label, at random, as the plan demands."""

import numpy as np
import pytest

from labelworth.errors import InfeasiblePlanError, InvalidInputError
from labelworth.planning.next import counts_of_policy, next_documents, next_sequences
from labelworth.policies.spec import parse_policy
from support.pilots import drawn_documents, drawn_sequences
from support.statistical import assert_share_is


def test_documents_without_a_label_are_drawn_once_each() -> None:
    batch = next_documents(drawn_documents(60, 20, seed=0), 30, seed=5)
    assert len(set(batch.rows.tolist())) == 30
    assert batch.rows.min() >= 20
    assert batch.n_labels == 30
    assert batch.n_pool == 40


def test_a_smaller_batch_of_the_same_seed_is_the_beginning_of_a_larger_one() -> None:
    data = drawn_documents(60, 20, seed=0)
    small, large = (next_documents(data, size, seed=5).rows for size in (7, 30))
    assert small.tolist() == large[:7].tolist()


@pytest.mark.statistical
def test_every_document_is_as_likely_to_come_first() -> None:
    labeled = np.arange(12) < 4
    first = [int(next_documents(labeled, 3, seed).rows[0]) for seed in range(4000)]
    assert_share_is(first.count(7), 4000, 1 / 8)
    with pytest.raises(AssertionError):
        assert_share_is(first.count(7), 4000, 1 / 4)


def test_sequences_get_the_rules_and_positions_of_the_plan() -> None:
    data = drawn_sequences(40, 10, seed=0)
    batch = next_sequences(data, {"everything": 5, "nothing": 9, "window:2": 8}, seed=1)
    assert sorted(batch.arms) == ["everything"] * 5 + ["window:2"] * 8
    assert batch.positions is not None
    for row, arm, positions in zip(batch.rows, batch.arms, batch.positions, strict=True):
        length = int(data.lengths[row])
        if arm == "everything":
            assert positions.tolist() == list(range(length))
        else:
            assert len(positions) == 2
            assert positions[1] == positions[0] + 1 < length
    assert batch.n_labels == sum(len(part) for part in batch.positions)


def test_a_policy_is_shared_out_in_whole_sequences() -> None:
    counts = counts_of_policy(parse_policy("0.5*everything + 0.3*window:2 + 0.2*every-other"), 7)
    assert sum(counts.values()) == 7
    exact = {"everything": 3.5, "window:2": 2.1, "every-other": 1.4}
    assert all(abs(counts[rule] - value) < 1 for rule, value in exact.items())


def test_more_than_the_pool_is_infeasible() -> None:
    with pytest.raises(InfeasiblePlanError, match="Only 40 documents"):
        next_documents(drawn_documents(60, 20, seed=0), 41, seed=0)
    with pytest.raises(InvalidInputError, match="at least one sequence"):
        next_sequences(drawn_sequences(40, 10, seed=0), {"nothing": 4}, seed=0)
