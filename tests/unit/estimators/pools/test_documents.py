"""Learners of classes."""

import numpy as np
import pytest
from scipy import stats

from labelworth.errors import InvalidInputError
from labelworth.estimators.pools.documents import ClassPrediction
from labelworth.policies.spec import parse_policy
from labelworth.simulation.learner import keep_labels
from support.learners import document_learner, documents, relabeled
from support.statistical import FALSE_ALARM_RATE


def test_labels_only_is_the_smoothed_share_of_labeled_rows() -> None:
    samples = documents(40)
    learner = document_learner(samples).in_mode("labels-only")
    kept = np.arange(10)
    model = learner.fit(keep_labels(samples, kept))
    counts = np.array([samples.counts[:10][samples.evidence.codes[:10] == code].sum(axis=0) for code in (0, 1)])
    expected = (counts + 1) / (counts + 1).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(model.tables["word_probabilities"], expected)


def test_unlabeled_rows_count_in_the_other_mode_alone() -> None:
    samples = documents(200)
    learner = document_learner(samples)
    shown = keep_labels(samples, np.arange(10))
    fewer = shown.take(np.arange(50))
    alone = learner.in_mode("labels-only")
    np.testing.assert_array_equal(
        alone.fit(shown).tables["word_probabilities"], alone.fit(fewer).tables["word_probabilities"]
    )
    together = [learner.fit(data).tables["word_probabilities"] for data in (shown, fewer)]
    assert np.abs(together[0] - together[1]).max() > 1e-3


def test_predictions_do_not_look_at_labels() -> None:
    samples = documents(30)
    learner = document_learner(samples)
    model = learner.fit(samples)
    wrong = relabeled(samples, 1 - samples.evidence.codes)
    np.testing.assert_array_equal(learner.predict(model, samples).log_joint, learner.predict(model, wrong).log_joint)


def test_temperature_divides_log_odds() -> None:
    prediction = ClassPrediction(np.log([[0.2, 0.1], [0.03, 0.3]]))
    odds = np.exp(prediction.log_posteriors(2.0))
    np.testing.assert_allclose(odds.sum(axis=1), 1)
    np.testing.assert_allclose(odds[:, 0] / odds[:, 1], np.sqrt([2.0, 0.1]))
    np.testing.assert_array_equal(prediction.best, [0, 1])


@pytest.mark.statistical
def test_labels_are_drawn_by_their_probabilities() -> None:
    prediction = ClassPrediction(np.log(np.tile([0.1, 0.3, 0.6], (20_000, 1))))
    drawn = np.bincount(prediction.draw(1.0, np.random.default_rng(0)), minlength=3)
    assert stats.chisquare(drawn, 20_000 * np.array([0.1, 0.3, 0.6])).pvalue > FALSE_ALARM_RATE
    assert stats.chisquare(drawn, 20_000 * np.array([0.12, 0.28, 0.6])).pvalue < FALSE_ALARM_RATE


def test_sharp_draws_are_the_predictions() -> None:
    prediction = ClassPrediction(np.log(np.tile([0.3, 0.7], (50, 1))))
    np.testing.assert_array_equal(prediction.draw(0.01, np.random.default_rng(0)), prediction.best)


def test_a_row_is_a_sequence_of_length_one_to_a_policy() -> None:
    samples = documents(10)
    for spec, n_known in (("everything", 3), ("every-other", 3), ("nothing", 0)):
        shown = keep_labels(samples, np.arange(3), parse_policy(spec))
        assert shown.is_labeled.tolist() == [True] * n_known + [False] * (10 - n_known)


def test_chosen_labels_and_a_fit_to_labels_alone_are_refused() -> None:
    samples = documents(100).hide(np.arange(30, 100))
    learner = document_learner(samples).in_mode("labels-only")
    with pytest.raises(InvalidInputError, match="5 points of error"):
        learner.scores("worth", learner.fit(samples), samples)


def test_uncertainty_is_what_is_left_to_the_best_class() -> None:
    samples = documents(100).hide(np.arange(30, 100))
    learner = document_learner(samples)
    model = learner.fit(samples)
    posterior = np.exp(learner.predict(model, samples).log_posteriors(1.0))
    np.testing.assert_allclose(learner.scores("uncertainty", model, samples), 1 - posterior.max(axis=1), atol=1e-12)
    assert (learner.scores("worth", model, samples)[30:] > 0).all()
