"""Errors and log-losses as they will be measured, against the criteria of one (n, labeled fraction) at a time."""

import numpy as np
import pytest

from labelworth.criteria.classification_error import excess_error
from labelworth.fisher.documents.population import enumerated_information
from labelworth.planning.formulas.levels import ErrorAccuracy, entropy
from labelworth.tradeoff.asymptotic_accuracy import AsymptoticAccuracy
from support.pilots import LENGTH, WORDS, drawn_documents, true_model

THREE = ((0.5, 0.2, 0.1, 0.1, 0.1), (0.1, 0.5, 0.2, 0.1, 0.1), (0.1, 0.1, 0.1, 0.3, 0.4))


def bags() -> np.ndarray:
    """Every way to fill four places with five words, in order."""
    places = np.stack(np.unravel_index(np.arange(5**LENGTH), (5,) * LENGTH), axis=1)
    return np.stack([(places == word).sum(axis=1) for word in range(5)], axis=1)


def joint(shares: tuple[float, ...], words: tuple[tuple[float, ...], ...]) -> np.ndarray:
    """p(x, y) of every sequence of words, by multiplication."""
    return np.stack(
        [share * np.prod(np.power(row, bags()), axis=1) for share, row in zip(shares, words, strict=True)]
    )


def test_two_classes_equal_the_criterion_exactly() -> None:
    model = true_model()
    information = enumerated_information(model)
    accuracy = ErrorAccuracy(model, information, drawn_documents(5, 0, 0), held_labeled=50.0, adds_level=False)
    for more, unlabeled in ((0.0, 400.0), (30.0, 100.0), (150.0, 0.0)):
        n = 50 + more + unlabeled
        fraction = np.array([(50 + more) / n])
        expected = excess_error(model, information, n, fraction, np.random.default_rng(0))
        assert accuracy.error(np.array([more, unlabeled])) == pytest.approx(float(expected.values[0]), rel=1e-10)
    assert accuracy.standard_error(np.array([10.0, 10.0])) is None


def test_three_classes_agree_within_chance() -> None:
    model = true_model(THREE, (0.5, 0.3, 0.2))
    information = enumerated_information(model)
    accuracy = ErrorAccuracy(model, information, drawn_documents(5, 0, 0), held_labeled=50.0, adds_level=False)
    expected = excess_error(model, information, 450.0, np.array([50 / 450]), np.random.default_rng(0), n_draws=4000)
    assert expected.standard_errors is not None
    found, noise = accuracy.error(np.array([0.0, 400.0])), accuracy.standard_error(np.array([0.0, 400.0]))
    assert noise is not None
    assert abs(found - expected.values[0]) < 5 * np.hypot(noise, expected.standard_errors[0])
    assert abs(2 * found - expected.values[0]) > 5 * np.hypot(noise, expected.standard_errors[0])


def test_levels_are_those_of_the_true_model() -> None:
    model = true_model()
    both = joint((0.4, 0.6), WORDS)
    posterior = both / both.sum(axis=0)
    bayes = float((both.sum(axis=0) * (1 - posterior.max(axis=0))).sum())
    expected_entropy = -float((both * np.log(posterior)).sum())
    information = enumerated_information(model)
    accuracy = ErrorAccuracy(model, information, drawn_documents(5, 0, 0), held_labeled=50.0)
    assert accuracy.level == pytest.approx(bayes, rel=1e-10)
    assert entropy(model, drawn_documents(5, 0, 0)) == pytest.approx(expected_entropy, rel=1e-10)
    excess = ErrorAccuracy(model, information, drawn_documents(5, 0, 0), held_labeled=50.0, adds_level=False)
    counts = np.array([20.0, 300.0])
    assert accuracy.error(counts) == pytest.approx(bayes + excess.error(counts), rel=1e-12)


def test_a_log_loss_is_its_level_and_its_excess() -> None:
    information = enumerated_information(true_model())
    excess = AsymptoticAccuracy.of(information, "excess_log_loss", held={"everything": 50.0})
    accuracy = AsymptoticAccuracy.of(information, "excess_log_loss", held={"everything": 50.0}, level=0.3)
    counts = np.array([20.0, 300.0])
    assert accuracy.error(counts) == pytest.approx(0.3 + excess.error(counts), rel=1e-12)
    assert accuracy.slope(counts).tolist() == excess.slope(counts).tolist()


def test_labels_alone_are_worth_what_they_are_without_unlabeled_documents() -> None:
    information = enumerated_information(true_model())
    both = AsymptoticAccuracy.of(information, "excess_log_loss", held={"everything": 50.0})
    alone = AsymptoticAccuracy.of(information, "excess_log_loss", menu=["everything"], held={"everything": 50.0})
    assert alone.arms == ("everything",)
    assert alone.error(np.array([70.0])) == both.error(np.array([70.0, 0.0]))
    assert alone.slope(np.array([70.0])).tolist() == both.slope(np.array([70.0, 0.0]))[:1].tolist()
    # Complete labels: half the number of parameters over n for the joint, less for the conditional.
    assert alone.error(np.array([150.0])) == pytest.approx(alone.error(np.array([50.0])) / 2, rel=1e-10)
