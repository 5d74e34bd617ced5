"""Forecasts, end to end on small data."""

import json

import numpy as np
import pytest
import scipy.sparse as sp

from labelworth.data.evidence import Evidence
from labelworth.data.samples import Samples
from labelworth.errors import InvalidInputError
from labelworth.policies.spec import parse_policy
from labelworth.simulation.basis import forecast_basis, simulated_sizes
from labelworth.simulation.forecast import forecast, forecast_from, forecasts, power_law_of
from labelworth.simulation.learner import MODES, keep_labels
from support.learners import conditional_learner, document_learner, documents, relabeled, sentence_learner, sentences

ASKED = [80, 160, 320]


@pytest.fixture(scope="module")
def both() -> dict:
    samples = documents(500)
    learner = document_learner(samples)
    return forecasts(learner, keep_labels(samples, np.arange(40)), ASKED, workers=1)


def test_both_modes_come_from_one_basis(both: dict) -> None:
    assert tuple(both) == MODES
    assert both["labels-only"].basis is both["semi-supervised"].basis
    for one in both.values():
        assert one.n_labeled == 40
        assert one.n_units == 500
        assert (one.error.low < one.error.values).all()
        assert (one.error.values < one.error.high).all()
        assert (one.log_loss.low < one.log_loss.high).all()
        assert one.source == "simulated"


def test_a_single_forecast_is_that_of_the_learner_s_mode(both: dict) -> None:
    samples = documents(500)
    learner = document_learner(samples).in_mode("labels-only")
    alone = forecast(learner, keep_labels(samples, np.arange(40)), ASKED, workers=2)
    np.testing.assert_array_equal(alone.error.values, both["labels-only"].error.values)


def test_other_sizes_follow_without_fits(both: dict) -> None:
    again = both["semi-supervised"].at([160])
    np.testing.assert_allclose(again.error.values, both["semi-supervised"].error.values[1:2])


def test_it_can_be_kept_and_told(both: dict) -> None:
    one = both["labels-only"]
    stored = json.loads(json.dumps(one.to_dict()))
    assert stored["sizes"] == ASKED
    assert stored["error"]["power_law"] == pytest.approx(one.error.power_law.tolist())
    lines = one.lines()
    assert "the labels only" in lines[0]
    assert lines[1].startswith("  80 labels: ")


def test_the_power_law_stands_beside_it(both: dict) -> None:
    one = both["labels-only"]
    law = power_law_of(one.basis, "labels-only", "error")
    np.testing.assert_array_equal(one.error.power_law, law.at(np.array(ASKED)))


def test_the_asymptotic_excess_is_moved_to_the_level_of_the_pilot(both: dict) -> None:
    basis = both["labels-only"].basis
    one = forecast_from(basis, ASKED, "labels-only", excess={"error": lambda sizes: 2.0 / sizes})
    points = basis.points["labels-only", "error"]
    expected = points.means[-1] + 2.0 / np.array(ASKED) - 2.0 / points.sizes[-1]
    np.testing.assert_allclose(one.error.asymptotic, expected)
    assert one.log_loss.asymptotic is None


def many_words(n_documents: int, rng: np.random.Generator, emission: np.ndarray) -> Samples:
    codes = rng.integers(len(emission), size=n_documents)
    counts = np.array([rng.multinomial(10, emission[code]) for code in codes], dtype=np.float64)
    return Samples(sp.csr_array(counts), Evidence(codes, ("a", "b", "c")))


def test_forecasts_are_near_what_is_realized_and_nearer_than_the_pilot_s_own_error() -> None:
    """Three classes over 200 words, labels that follow from the words: eight times the labels of five pilots."""
    gaps, stale = [], []
    for seed in range(5):
        rng = np.random.default_rng(seed)
        emission = rng.dirichlet(np.ones(200), size=3)
        samples, fresh = many_words(800, rng, emission), many_words(3000, rng, emission)
        learner = document_learner(samples).in_mode("labels-only")
        known = learner.fit(fresh)
        samples = relabeled(samples, learner.predict(known, samples).best)
        one = forecast(learner, keep_labels(samples, np.arange(60)), [480], workers=1)
        fitted = learner.fit(keep_labels(samples, np.arange(480)))
        realized = (learner.predict(fitted, fresh).best != learner.predict(known, fresh).best).mean()
        gaps.append(abs(one.error.values[0] - realized))
        stale.append(abs(one.error.points[-1] - realized))
    assert np.mean(gaps) < 0.03
    assert np.mean(gaps) < 0.3 * np.mean(stale)


def test_labels_that_do_not_follow_from_the_words_are_noticed() -> None:
    samples = documents(500, length=3)
    learner = document_learner(samples)
    sure = relabeled(samples, learner.predict(learner.fit(samples), samples).best)
    told = []
    for data in (sure, samples):
        basis = forecast_basis(learner, keep_labels(data, np.arange(150)), 200, n_replicates=1)
        told.append(any("do not seem to follow" in note for note in forecast_from(basis, [200], "labels-only").notes))
    assert told == [False, True]


def test_sequences_under_policies() -> None:
    data = sentences(60)
    learner = sentence_learner(data)
    shown = keep_labels(data, np.arange(15))
    basis = forecast_basis(learner, shown, 40, policies=[parse_policy("every-other")], n_replicates=1)
    half = forecast_from(basis, [30], "labels-only", policy="every-other")
    assert half.policy == "every-other"
    assert np.isfinite(half.error.values).all()


def test_a_conditional_field_has_one_mode() -> None:
    data = sentences(40)
    learner = conditional_learner()
    found = forecasts(learner, keep_labels(data, np.arange(15)), [30], n_replicates=1, workers=1)
    assert tuple(found) == ("labels-only",)
    with pytest.raises(InvalidInputError, match="Nothing was simulated"):
        forecast_from(found["labels-only"].basis, [30], "semi-supervised")


def test_beyond_the_pool_the_curve_is_extended_and_this_is_said(both: dict) -> None:
    assert simulated_sizes(np.array([5, 32]), 4000, 500)[-1] == 475
    far = both["labels-only"].at([4000])
    assert any("extended" in note for note in far.notes)


@pytest.mark.parametrize("sizes", [[], [0], [1.5], [[10]]])
def test_sizes_that_are_none_are_refused(both: dict, sizes: list) -> None:
    with pytest.raises(InvalidInputError, match="whole"):
        both["labels-only"].at(sizes)


def test_too_few_labels_or_workers_are_refused() -> None:
    samples = documents(50)
    learner = document_learner(samples)
    with pytest.raises(InvalidInputError, match="at least 10"):
        forecast(learner, keep_labels(samples, np.arange(5)), [20])
    with pytest.raises(InvalidInputError, match="worker"):
        forecast(learner, keep_labels(samples, np.arange(20)), [20], workers=0)
