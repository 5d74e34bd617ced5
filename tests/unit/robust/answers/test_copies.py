"""Votes that copy each other are told from independent ones, exactly with gold, roughly without."""

import numpy as np
import pytest

from labelworth.data.evidence import Evidence
from labelworth.robust.answers.audits import Audits
from labelworth.robust.answers.copies import (
    LEVEL,
    CopiesTest,
    SharedErrors,
    agreement,
    copies_by_model,
    copies_test,
)
from labelworth.robust.answers.permutation import permutation_p
from support.answering import answers_of, by_class, drawn_codes
from support.statistical import assert_share_is

CLASSES = ("a", "b", "c")
TABLE = 0.7 * np.eye(3) + 0.1


def votes(
    rng: np.random.Generator, codes: np.ndarray, n_annotators: int, copied: float = 0.0
) -> dict[str, np.ndarray]:
    """Votes of which the second copies the first on a share of the rows."""
    said = {f"w{index}": by_class(rng, codes, TABLE) for index in range(n_annotators)}
    said["w1"] = np.where(rng.random(len(codes)) < copied, said["w0"], said["w1"])
    return said


def judged(rng: np.random.Generator, n_rows: int, n_annotators: int, copied: float) -> CopiesTest:
    codes = rng.integers(3, size=n_rows)
    answers = answers_of(votes(rng, codes, n_annotators, copied), CLASSES)
    return copies_test(Audits.of(answers, Evidence(codes, CLASSES)), rng)


@pytest.mark.statistical
def test_independent_votes_are_seldom_called_copies(seed: int) -> None:
    rng = np.random.default_rng(seed)
    alarms = sum(judged(rng, 60, 2, 0.0).answer == "err together" for _ in range(300))
    assert_share_is(alarms, 300, LEVEL)
    with pytest.raises(AssertionError):
        assert_share_is(sum(judged(rng, 60, 2, 0.5).answer == "err together" for _ in range(100)), 100, LEVEL)


@pytest.mark.statistical
def test_copies_are_named(seed: int) -> None:
    found = judged(np.random.default_rng(seed), 300, 4, 0.5)
    assert found.answer == "err together"
    assert found.failing == (("w0", "w1"),)
    assert len(found.pairs) == 6
    assert found.p_together is not None
    assert found.p_together < LEVEL
    assert found.to_dict()["by"] == "gold"


@pytest.mark.statistical
def test_rows_that_are_hard_for_all_are_seen_together(seed: int) -> None:
    """Twenty annotators of whom two share six rows on average: pairs tell little, all of them tell."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(3, size=150)
    is_hard = rng.random(150) < 0.3
    said, rows = {}, {}
    for index in range(20):
        own = np.sort(rng.choice(150, size=30, replace=False))
        table = np.where(is_hard[own, None], 1 / 3, np.eye(3)[codes[own]])
        said[f"w{index:02d}"], rows[f"w{index:02d}"] = drawn_codes(rng, table), own
    found = copies_test(Audits.of(answers_of(said, CLASSES, rows), Evidence(codes, CLASSES)), rng)
    assert found.answer == "err together"
    assert found.p_together is not None
    assert found.p_together <= LEVEL


def test_the_statistic_of_all_is_that_of_their_pairs(seed: int) -> None:
    rng = np.random.default_rng(seed)
    codes = rng.integers(3, size=40)
    audits = Audits.of(answers_of(votes(rng, codes, 3), CLASSES), Evidence(codes, CLASSES))
    errors = SharedErrors.of(audits, np.arange(audits.size))
    of_all = {code: errors.deviations[audits.of_annotator(code)] for code in range(3)}
    by_hand = sum((of_all[a] * of_all[b]).sum() for a in range(3) for b in range(3))
    assert errors.observed == pytest.approx(by_hand)
    # A permutation keeps every annotator's habits: what is left are the pairs.
    drawn = errors.drawn(2000, rng)
    assert drawn[0] == pytest.approx(errors.observed)
    alone = sum(np.square(part).sum() for part in of_all.values())
    assert drawn[1:].mean() == pytest.approx(alone, rel=0.05)


def test_annotators_who_never_met_cannot_be_compared(seed: int) -> None:
    rng = np.random.default_rng(seed)
    codes = rng.integers(3, size=40)
    rows = {"w0": np.arange(20), "w1": np.arange(20, 40)}
    said = {name: by_class(rng, codes[own], TABLE) for name, own in rows.items()}
    found = copies_test(Audits.of(answers_of(said, CLASSES, rows), Evidence(codes, CLASSES)), rng)
    assert found.answer == "cannot be told"


@pytest.mark.statistical
def test_without_gold_a_model_that_knows_its_doubts_tells_copies_too(seed: int) -> None:
    rng = np.random.default_rng(seed)
    alarms = {0.0: 0, 0.6: 0}
    for copied in alarms:
        for _ in range(100):
            codes = rng.integers(3, size=300)
            x = rng.normal(size=(300, 3))
            x[np.arange(300), codes] += 2
            posterior = np.exp(2 * x)
            posterior /= posterior.sum(axis=1, keepdims=True)
            answers = answers_of(votes(rng, codes, 2, copied), CLASSES)
            found = copies_by_model(answers, posterior)
            assert found.by == "model"
            alarms[copied] += found.failing == (("w0", "w1"),)
    assert_share_is(alarms[0.0], 100, LEVEL)
    assert alarms[0.6] > 90


def test_of_equal_agreement_that_on_a_rare_answer_tells_more() -> None:
    """Both say a or b alike often, and c each once: to say c of the same row is the stronger sign."""
    codes = np.zeros(12, dtype=int)
    left = np.array([0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 2])
    on_rare = np.array([0, 0, 1, 1, 1, 1, 0, 0, 0, 0, 1, 2])
    on_usual = np.array([0, 0, 0, 1, 1, 1, 0, 0, 0, 2, 1, 1])
    sums = [agreement(np.eye(3)[left], np.eye(3)[right], codes) for right in (on_rare, on_usual)]
    assert np.array_equal(np.sort(on_rare), np.sort(on_usual))
    # As many say the same, and without a second look nothing sets them apart.
    assert sums[0].scores[0] == pytest.approx(sums[1].scores[0])
    assert sums[0].scores[1] > sums[1].scores[1] + 0.1
    found, other = (permutation_p(own, np.random.default_rng(0)) for own in sums)
    assert found < other
