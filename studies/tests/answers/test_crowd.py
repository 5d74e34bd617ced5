"""What is bought of the crowd's answers, and what crowd-kit is given of them."""

import numpy as np
import pytest
import scipy.sparse as sp

from labelworth.data.answers import Answers
from labelworth.data.evidence import Evidence, encode_labels
from labelworth.data.samples import Samples
from labelworth_studies.answers import crowd
from labelworth_studies.answers.parts import crowd_kit
from labelworth_studies.corpora.crowd import CrowdPosts

CLASSES = ("a", "b", "c")


def posts() -> CrowdPosts:
    """Six posts, of which the first has one answer and the others have three, of 10 to 25 seconds."""
    rows = np.array([0, *np.repeat(np.arange(1, 6), 3)])
    said = encode_labels([["a"], *[["a"], ["b", "c"], ["a"]] * 5], classes=CLASSES)
    answers = Answers(rows, np.append(0, np.tile([0, 1, 2], 5)), ("w0", "w1", "w2"), said)
    truth = np.zeros(6, dtype=np.int64)
    samples = Samples(sp.csr_array(np.ones((6, 1))), Evidence(truth, CLASSES))
    return CrowdPosts(samples, truth, answers, np.arange(10.0, 26.0), answers)


def test_answers_are_bought_until_their_seconds_are_spent() -> None:
    own, order = posts(), np.array([3, 0, 5, 1])
    for votes in (1, 3):
        for money in (0.0, 30.0, 60.0, 1e9):
            n_posts, bought = crowd.bought_answers(own, order, votes, money, np.random.default_rng(0))
            spent = own.seconds[bought].sum()
            # The posts that come first, each with so many answers as it can have.
            counts = np.bincount(own.answers.rows[bought], minlength=6)[order]
            assert counts.tolist() == [
                min(votes, 1 if row == 0 else 3) * (n < n_posts) for n, row in enumerate(order)
            ]
            assert spent <= money
            if n_posts < len(order):
                more = crowd.bought_answers(own, order[: n_posts + 1], votes, 1e9, np.random.default_rng(0))[1]
                assert own.seconds[more].sum() > money
    assert crowd.bought_answers(own, order[:0], 1, 60.0, np.random.default_rng(0))[0] == 0


def test_a_gold_label_costs_five_mean_answers() -> None:
    assert crowd.gold_seconds(posts()) == pytest.approx(5 * 17.5)


def test_crowd_kit_gets_a_row_for_every_class_that_is_named() -> None:
    answers = posts().answers
    rows = crowd_kit.as_rows(answers)
    given = set(zip(*(rows[name].tolist() for name in ("task", "worker", "label")), strict=True))
    assert len(rows["task"]) == len(given) == 1 + 4 * 5
    assert {(1, 1, 1), (1, 1, 2), (1, 0, 0), (0, 0, 0)} <= given
    assert (1, 1, 0) not in given


def test_ways_of_crowd_kit_are_in_the_grid_where_it_is_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    for is_installed in (True, False):
        monkeypatch.setattr(crowd_kit, "is_installed", lambda answer=is_installed: answer)
        ways = {cell["way"] for cell in crowd.cells(quick=True, seed=0) if "way" in cell}
        assert (set(crowd_kit.WAYS) <= ways) == is_installed
        assert set(crowd.WAYS) <= ways


def test_crowd_kit_finds_what_most_say() -> None:
    pytest.importorskip("crowdkit")
    said = encode_labels([["c"], ["c"], ["a"], ["b"], ["b"], ["a"]], classes=CLASSES)
    answers = Answers(np.repeat([0, 1], 3), np.tile([0, 1, 2], 2), ("w0", "w1", "w2"), said)
    assert crowd_kit.labels_of("crowd-kit, majority", answers, np.array([1, 0])).tolist() == [1, 2]
