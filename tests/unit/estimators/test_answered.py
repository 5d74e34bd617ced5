"""Estimators that learn from answers: what they take, keep, refuse and store."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import labelworth as lw
from labelworth.channels.channel import Channel
from labelworth.data.answers import Answers
from labelworth.data.evidence import encode_labels, from_weights
from labelworth.errors import InvalidInputError
from labelworth.estimation.answered_fit import fit_answered
from labelworth.estimators.answered import FittedAnnotators
from labelworth.models.classes.multinomial import MultinomialFamily
from support.answered import confusions_near, drawn_answers
from support.small_models import multinomial


@pytest.fixture
def rng(seed: int) -> np.random.Generator:
    return np.random.default_rng(seed)


def crowd(rng: np.random.Generator) -> tuple[Any, list[Any], Answers, np.ndarray, np.ndarray]:
    """Documents, gold of some, answers to most, and the truth."""
    model = multinomial(rng, n_words=8, lengths={10: 1.0})
    drawn = model.sample(300, rng)
    truth = drawn.evidence.codes
    tables = confusions_near(rng, 4, 3, diagonal=6.0)
    answers = drawn_answers(truth, tables, model.classes, rng, asked=0.5)
    y = [model.classes[code] if row < 40 else -1 for row, code in enumerate(truth)]
    return drawn.features, y, answers, truth, tables


def test_a_fit_to_answers_is_that_of_the_family(rng: np.random.Generator) -> None:
    X, y, answers, _, _ = crowd(rng)
    classifier = lw.MultinomialNaiveBayes().fit(X, y, answers=answers)
    # Classes are sorted, as scikit-learn has them, and answers follow.
    assert classifier.classes_.tolist() == ["ham", "other", "spam"]
    samples = lw.MultinomialNaiveBayes()._read_to_fit(X, y, None)
    samples = type(samples)(samples.features, samples.evidence, answers=answers.recoded(samples.evidence.classes))
    fitted = fit_answered(MultinomialFamily.for_samples(samples), samples)
    np.testing.assert_array_equal(classifier.annotators_.confusions, fitted.model.confusions)
    np.testing.assert_array_equal(classifier.model_.word_probabilities, fitted.model.inner.word_probabilities)
    assert classifier.converged_
    assert classifier.predict(X).shape == (300,)


def test_what_was_answered_is_told(rng: np.random.Generator) -> None:
    X, y, answers, truth, tables = crowd(rng)
    classifier = lw.MultinomialNaiveBayes().fit(X, y, answers=answers)
    rows, posteriors = classifier.answered_rows_, classifier.answered_posteriors_
    assert set(rows.tolist()) == set(answers.rows[answers.is_telling].tolist())
    np.testing.assert_allclose(posteriors.sum(axis=1), 1.0)
    names = classifier.classes_[posteriors.argmax(axis=1)]
    classes = np.array(["ham", "spam", "other"])
    gold = rows < 40
    assert (names[gold] == classes[truth[rows[gold]]]).all()
    assert (names == classes[truth[rows]]).mean() > 0.75
    people = classifier.annotators_
    assert isinstance(people, FittedAnnotators)
    assert people.names == ("w0", "w1", "w2", "w3")
    assert people.errors_are_joint
    order = [0, 2, 1]
    truths = tables[:, order][:, :, order]
    assert (np.abs(people.confusions - truths) < 6 * people.standard_errors + 0.02).all()
    assert (np.abs(people.accuracies - np.einsum("ckk->c", truths) / 3) < 0.2).all()
    assert str(people).splitlines()[0].startswith(people.names[int(people.accuracies.argmax())])
    assert people.channel("w1", price=0.02).is_unknown


def test_answers_alone_name_the_classes(rng: np.random.Generator) -> None:
    X, y, answers, truth, _ = crowd(rng)
    for nothing in (None, [-1] * len(y)):
        classifier = lw.MultinomialNaiveBayes().fit(X, nothing, answers=answers)
        assert set(classifier.classes_.tolist()) == {"ham", "spam", "other"}
    accuracy = (classifier.predict(X) == np.array(["ham", "spam", "other"])[truth]).mean()
    assert accuracy > 0.6


def test_known_annotators_stay_as_they_were_given(rng: np.random.Generator) -> None:
    X, y, answers, _, tables = crowd(rng)
    order = [0, 2, 1]
    channel = Channel("w0", tables[0][order][:, order])
    classifier = lw.MultinomialNaiveBayes().fit(X, y, answers=answers, channels=[channel])
    np.testing.assert_allclose(classifier.annotators_.confusions[0], tables[0][order][:, order])
    assert classifier.annotators_.is_known.tolist() == [True, False, False, False]
    np.testing.assert_array_equal(classifier.annotators_.standard_errors[0], 0.0)
    assert "(given)" in str(classifier.annotators_)


def test_an_error_of_an_annotator_is_printed_as_the_report_has_it(rng: np.random.Generator) -> None:
    X, y, answers, _, _ = crowd(rng)
    annotators = lw.MultinomialNaiveBayes().fit(X, y, answers=answers).annotators_
    lines = str(annotators).splitlines()
    assert lines[-1] == "(+- is one standard error)"
    for name, accuracy, error in zip(
        annotators.names, annotators.accuracies, annotators.accuracy_errors, strict=True
    ):
        [line] = [line for line in lines if line.startswith(name)]
        assert f"{100 * accuracy:.1f} % +- {100 * error:.1f}, " in line


@pytest.mark.parametrize("given", [{"item": [0]}, [(0, "ann", "ham")], "a.csv", Answers], ids=str)
def test_what_is_no_answers_is_refused_with_what_reads_it(rng: np.random.Generator, given: Any) -> None:
    X, y, _, _, _ = crowd(rng)
    classifier = lw.MultinomialNaiveBayes(unlabeled=-1)
    for door in (
        lambda: classifier.fit(X, y, answers=given),
        lambda: classifier.answered_calibration(X, y, answers=given),
        lambda: lw.check(X, y, model="multinomial", unlabeled=-1, answers=given),
        lambda: lw.plan(X, y, model="multinomial", unlabeled=-1, answers=given, budget=100),
    ):
        with pytest.raises(
            InvalidInputError, match=r"labelworth\.read_answers\(file\).*labelworth\.Answers\.of\(table\)"
        ):
            door()


def test_a_tagger_learns_from_answers_about_tokens() -> None:
    X = [["the", "cat", "sleeps"], ["the", "dog", "sleeps"], ["a", "cat", "runs"], ["a", "dog", "runs"]]
    y = [["D", "N", "V"], None, None, None]
    said = encode_labels(["D", "N", "V", "D", "N", ["N", "V"]], classes=("D", "N", "V"))
    answers = Answers(np.array([3, 4, 5, 6, 7, 8]), np.array([0, 0, 0, 1, 1, 1]), ("ann", "bob"), said)
    tagger = lw.HiddenMarkov(alpha=0.1, label_smoothing=0.1).fit(X, y, answers=answers)
    assert tagger.predict([["a", "dog", "sleeps"]]) == [["D", "N", "V"]]
    assert tagger.answered_rows_.tolist() == [3, 4, 5, 6, 7, 8]
    assert tagger.answered_posteriors_.argmax(axis=1).tolist() == [0, 1, 2, 0, 1, 2]
    alone = lw.HiddenMarkov(alpha=0.1, label_smoothing=0.1).fit(X, answers=answers)
    assert alone.classes_.tolist() == ["D", "N", "V"]


def test_annotators_are_kept_in_files(rng: np.random.Generator, tmp_path: Path) -> None:
    X, y, answers, _, _ = crowd(rng)
    classifier = lw.MultinomialNaiveBayes().fit(X, y, answers=answers)
    classifier.save(tmp_path / "model.lw")
    again = lw.load(tmp_path / "model.lw")
    before, after = classifier.annotators_, again.annotators_
    assert after.names == before.names
    assert after.classes == before.classes
    for name in ("confusions", "standard_errors", "accuracies", "accuracy_errors", "n_answers", "is_known"):
        np.testing.assert_array_equal(getattr(after, name), getattr(before, name))
    np.testing.assert_array_equal(again.predict(X), classifier.predict(X))


def test_a_fit_without_answers_forgets_them(rng: np.random.Generator) -> None:
    X, y, answers, _, _ = crowd(rng)
    classifier = lw.MultinomialNaiveBayes().fit(X, y, answers=answers)
    plain = lw.MultinomialNaiveBayes().fit(X, y)
    classifier.fit(X, y)
    assert not hasattr(classifier, "annotators_")
    np.testing.assert_array_equal(classifier.model_.word_probabilities, plain.model_.word_probabilities)


def test_what_cannot_learn_from_answers_says_so(rng: np.random.Generator) -> None:
    X, y, answers, _, _ = crowd(rng)
    nonsense: Any = "no"
    tags = Answers(np.array([0]), np.array([0]), ("ann",), from_weights(np.eye(2)[:1], ("A", "B")))
    with pytest.raises(InvalidInputError, match="cannot learn from answers"):
        lw.BoltzmannChain().fit([["a", "b"]], [["A", "B"]], answers=tags)
    with pytest.raises(InvalidInputError, match="there are no answers="):
        lw.MultinomialNaiveBayes().fit(X, y, channels=[Channel("w0", np.eye(3))])
    with pytest.raises(InvalidInputError, match="confusion must be"):
        lw.MultinomialNaiveBayes().fit(X, y, answers=answers, confusion=nonsense)
    outside = Answers(np.array([300]), np.array([0]), ("ann",), from_weights(np.eye(3)[:1], ("ham", "other", "spam")))
    with pytest.raises(InvalidInputError, match="There are 300 rows, counted from 0, and an answer about row 300"):
        lw.MultinomialNaiveBayes().fit(X, y, answers=outside)


def test_posteriors_are_held_against_gold_that_was_held_out(rng: np.random.Generator) -> None:
    X, y, answers, _, _ = crowd(rng)
    classifier = lw.MultinomialNaiveBayes()
    found = classifier.answered_calibration(X, y, answers=answers, n_folds=3)
    told = answers.told(300)[:40]
    assert found.n_rows == told.sum()
    assert found.accuracy > 0.6
    # Gold was held out: else everything would be right.
    assert found.accuracy < 1.0
    assert not hasattr(classifier, "model_")
    with pytest.raises(InvalidInputError, match="cannot be held out in 50 parts"):
        classifier.answered_calibration(X, y, answers=answers, n_folds=50)


def test_answers_may_count_less(rng: np.random.Generator) -> None:
    X, y, answers, _, _ = crowd(rng)
    whole = lw.MultinomialNaiveBayes().fit(X, y, answers=answers)
    less = lw.MultinomialNaiveBayes().fit(X, y, answers=answers, answer_weight=0.2)
    assert less.answered_posteriors_.max(axis=1).mean() < whole.answered_posteriors_.max(axis=1).mean()
    with pytest.raises(InvalidInputError, match="answer_weight"):
        lw.MultinomialNaiveBayes().fit(X, y, answers=answers, answer_weight=0.0)


def test_annotators_are_drawn(rng: np.random.Generator, tmp_path: Path) -> None:
    X, y, answers, _, _ = crowd(rng)
    classifier = lw.MultinomialNaiveBayes().fit(X, y, answers=answers)
    display = lw.AnnotatorsDisplay.from_estimator(classifier)
    display.save(tmp_path / "few.png")
    assert (tmp_path / "few.png").stat().st_size > 10_000
    picture = display.picture()
    assert len(picture.panels) == 5  # accuracies, and a table for each of four
    axes = display.plot()
    best = classifier.annotators_.names[int(classifier.annotators_.accuracies.argmax())]
    assert axes.get_xticklabels()[0].get_text() == best
    with pytest.raises(InvalidInputError, match="Nobody answered"):
        lw.AnnotatorsDisplay.from_estimator(lw.MultinomialNaiveBayes().fit(X, y))


@pytest.mark.parametrize("confusion", ["shared", "separate", "accuracy"])
@pytest.mark.parametrize("n_annotators", [1, 2])
def test_nothing_said_is_nothing_learned(confusion: Any, n_annotators: int, rng: np.random.Generator) -> None:
    """Nobody answered, everybody could not say, or there is one class only."""
    X, y, _, _, _ = crowd(rng)
    names = tuple(f"w{code}" for code in range(n_annotators))
    classes = ("ham", "spam", "other")
    plain = lw.MultinomialNaiveBayes(tol=1e-9).fit(X, y)
    for n_silent in (0, 3):
        rows, people = np.arange(n_silent), np.arange(n_silent) % n_annotators
        silent = Answers(rows, people, names, from_weights(np.ones((n_silent, 3)), classes))
        fitted = lw.MultinomialNaiveBayes(tol=1e-9).fit(X, y, answers=silent, confusion=confusion)
        assert fitted.answered_posteriors_.shape == (0, 3)
        np.testing.assert_allclose(fitted.predict_proba(X), plain.predict_proba(X), atol=1e-3)
        assert (fitted.annotators_.accuracy_errors > 0.05).all()
    single = Answers(np.arange(2), np.arange(2) % n_annotators, names, from_weights(np.ones((2, 1)), ("ham",)))
    only = lw.MultinomialNaiveBayes().fit(X, answers=single, confusion=confusion)
    assert only.annotators_.accuracies.tolist() == [1.0] * n_annotators
