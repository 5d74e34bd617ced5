"""What the demonstration on sequences draws, fits and says."""

from dataclasses import replace

import numpy as np
import pytest

from labelworth.demo.policies import (
    LENGTH,
    POLICIES,
    QUICK,
    blank,
    conditional,
    demonstrate_policies,
    draw_truth,
    outcome,
)
from labelworth.policies.spec import parse_policy
from labelworth.report.values import BarsPanel, CurvesPanel

SMALL = replace(QUICK, n_words=4, n_sequences=200, n_test=100, n_refits=3, n_labels=2)


def test_all_policies_buy_one_label_per_sequence() -> None:
    for policy in POLICIES.values():
        assert parse_policy(policy).expected_labels(LENGTH) == pytest.approx(1.0)


def test_the_truth_is_not_at_the_edge() -> None:
    truth = draw_truth(3, 12, np.random.default_rng(0))
    assert all(table.min() > 0.02 for table in truth.tables.values())


def test_conditional_probabilities_sum_to_one() -> None:
    truth = draw_truth(2, 3, np.random.default_rng(1))
    words = truth.sample(blank(truth, 1), np.random.default_rng(2))
    total = 0.0
    for code in range(2**LENGTH):
        labels = np.array([code >> position & 1 for position in range(LENGTH)])
        evidence = replace(words.evidence, codes=labels)
        total += np.exp(conditional(truth, words.with_evidence(evidence))[0])
    assert total == pytest.approx(1.0)


def test_the_same_seed_tells_the_same_story() -> None:
    first, second = (demonstrate_policies(SMALL, seed=4) for _ in range(2))
    np.testing.assert_array_equal(first.log_losses.draws, second.log_losses.draws)
    assert first.log_losses.draws.shape == (len(POLICIES), 3)
    assert outcome(first).figures == outcome(second).figures


def test_curves_pass_through_what_the_table_says() -> None:
    demo = demonstrate_policies(SMALL, seed=4)
    story = outcome(demo)
    [picture] = story.pictures.values()
    bars, _, curves, _ = picture.panels
    assert isinstance(bars, BarsPanel)
    assert isinstance(curves, CurvesPanel)
    losses = [point.figures["excess_log_loss"] for point in demo.table.points]
    np.testing.assert_array_equal(bars.series[0].y, losses)
    by_name = {curve.label: curve for curve in curves.curves if curve.label}
    for name, loss in list(zip(POLICIES, losses, strict=True))[1:]:
        curve = by_name[name]
        at_one = np.exp(np.interp(0.0, np.log(curve.x), np.log(curve.y)))
        # The table takes the bias of sampling off, the curves do not.
        assert at_one == pytest.approx(loss / losses[0], rel=0.05)


def test_people_are_told_who_wins_and_what_is_weak() -> None:
    demo = demonstrate_policies(SMALL, seed=4)
    story = outcome(demo)
    winner = list(POLICIES)[int(np.argmin([point.figures["excess_log_loss"] for point in demo.table.points]))]
    assert f"the theory puts '{winner}' first" in story.words[1]
    weak = [name for name, point in zip(POLICIES, demo.table.points, strict=True) if point.weak_directions]
    assert len(story.words) == 2 + len(weak)
    for name, words in zip(weak, story.words[2:], strict=True):
        assert words.startswith(f"Warning. '{name}' is weak: of ")
    assert [row[0] for row in story.tables[0].rows] == list(POLICIES)
