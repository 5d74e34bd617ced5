import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labelworth.errors import InvalidInputError
from labelworth.policies.choosing import Choosing, systematic
from support.statistical import assert_mean_is

SCORES = np.array([0.0, 0.01, 0.3, 0.3, 2.0, 0.5, 0.0, 1.5, 0.2, 0.1])


@settings(max_examples=200, deadline=None)
@given(
    scores=st.lists(st.one_of(st.just(0.0), st.floats(1e-12, 1e6)), min_size=1, max_size=40),
    part=st.floats(0, 1),
    share=st.floats(0, 1),
    floor=st.floats(0.001, 1),
)
def test_probabilities_sum_to_the_count_and_are_never_zero(scores, part, share, floor):
    count = max(1, round(part * len(scores)))
    probabilities, even = Choosing("worth", share, floor).probabilities(np.array(scores), count)
    assert probabilities.sum() == pytest.approx(count, rel=1e-9)
    assert (probabilities > 0).all()
    assert (probabilities <= 1 + 1e-9).all()
    assert (probabilities >= even * (1 - 1e-9)).all()
    # A larger score is never drawn less often.
    order = np.argsort(scores, kind="stable")
    assert (np.diff(probabilities[order]) >= -1e-9).all()


def test_the_highest_scores_are_drawn_for_sure_and_ties_share_what_is_left():
    probabilities, even = Choosing("worth", 0.25, 0.05).probabilities(SCORES, 4)
    assert even == pytest.approx(0.1)
    # Four rows: one at random, 0.2 spread as the floor, and 2.8 / 0.88 above it.
    np.testing.assert_allclose(probabilities[[4, 7, 5]], 1.0)
    others = np.setdiff1d(np.arange(10), [2, 3, 4, 5, 7])
    np.testing.assert_allclose(probabilities[others], 0.12)
    np.testing.assert_allclose(probabilities[[2, 3]], (4 - 3 - 5 * 0.12) / 2)


@pytest.mark.parametrize("count", [1, 3, 9])
def test_rows_are_drawn_with_their_probabilities(count):
    choosing, rng = Choosing("worth", 0.3, 0.05), np.random.default_rng(0)
    probabilities, even = choosing.probabilities(SCORES, count)
    hits, random = np.zeros((4000, 10)), np.zeros((4000, 10))
    for trial in range(4000):
        drawn = choosing.draw(SCORES, count, rng)
        assert len(set(drawn.rows.tolist())) == count
        np.testing.assert_array_equal(drawn.probabilities, probabilities[drawn.rows])
        hits[trial, drawn.rows] = 1
        random[trial, drawn.rows[drawn.is_random]] = 1
    varied = probabilities < 1 - 1e-9
    assert hits[:, ~varied].all()
    assert_mean_is(hits[:, varied], probabilities[varied])
    # The random share is uniform, whatever the scores.
    assert_mean_is(random, np.full(10, even))
    with pytest.raises(AssertionError):
        assert_mean_is(hits[:, varied], np.full(int(varied.sum()), count / 10))


def test_a_systematic_draw_of_certain_rows_is_those_rows():
    drawn = systematic(np.array([1.0, 0.0, 1.0, 1.0]), 3, np.random.default_rng(0))
    assert sorted(drawn.tolist()) == [0, 2, 3]


def test_at_random_scores_do_not_matter():
    drawn = Choosing("random").draw(SCORES, 4, np.random.default_rng(1))
    np.testing.assert_allclose(drawn.probabilities, 0.4)
    assert drawn.is_random.all()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"by": "luck"}, "by must be one of random, uncertainty, worth"),
        ({"by": "worth", "random_share": 1.5}, "random_share must lie between 0 and 1"),
        ({"by": "worth", "random_share": 0.0, "floor": 0.0}, "set one of the two above zero"),
    ],
)
def test_what_cannot_be_is_refused(options, words):
    with pytest.raises(InvalidInputError, match=words):
        Choosing(**options)


@pytest.mark.parametrize(("scores", "count"), [(SCORES, 11), (SCORES, 0), (np.array([-1.0, 2.0]), 1)])
def test_scores_and_counts_that_cannot_be_are_refused(scores, count):
    with pytest.raises(InvalidInputError):
        Choosing("worth").probabilities(scores, count)
