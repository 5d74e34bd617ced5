"""What the next label is worth."""

import numpy as np
import pytest

from labelworth.criteria.exchange import exchange_rates
from labelworth.data.lengths import LengthDistribution
from labelworth.errors import InvalidInputError
from labelworth.fisher.by_enumeration import enumerated_information
from labelworth.fisher.two_class_formula import two_class_information
from labelworth.models.classes.multinomial import MultinomialModel
from labelworth.tradeoff.curve_accuracy import CurveAccuracy
from labelworth.tradeoff.matrix_accuracy import MatrixAccuracy
from labelworth.tradeoff.worth import worth_of_next
from support.menus import random_menu

MODEL = MultinomialModel(
    ("ham", "spam"), np.array([0.4, 0.6]), np.array([[0.5, 0.3, 0.2], [0.2, 0.2, 0.6]]), LengthDistribution.single(4)
)


@pytest.mark.parametrize("make", [CurveAccuracy, MatrixAccuracy.of_fractions])
def test_it_is_the_exchange_rate_of_the_fraction(make) -> None:
    information = enumerated_information(MODEL)
    worth = worth_of_next(make(information, "total_variance", held_labeled=20), np.array([10.0, 90.0]))
    rates = exchange_rates(information, np.array([0.25]))
    assert worth.labeled_example == pytest.approx(rates.labeled_example.values[0], rel=1e-9)
    assert worth.label == pytest.approx(rates.label.values[0], rel=1e-9)


def test_so_many_unlabeled_examples_really_do_as_much_good() -> None:
    accuracy = CurveAccuracy(enumerated_information(MODEL), "excess_log_loss")
    counts = np.array([3e5, 9e5])
    worth = worth_of_next(accuracy, counts)
    labeled = accuracy.error(counts + np.array([100.0, 0.0]))
    unlabeled = accuracy.error(counts + np.array([0.0, 100 * worth.labeled_example]))
    relabeled = accuracy.error(counts + np.array([100.0, -100.0]))
    assert accuracy.error(counts) - unlabeled == pytest.approx(accuracy.error(counts) - labeled, rel=1e-2)
    unlabeled = accuracy.error(counts + np.array([0.0, 100 * worth.label]))
    assert accuracy.error(counts) - unlabeled == pytest.approx(accuracy.error(counts) - relabeled, rel=1e-2)


def test_without_a_slope_one_more_sample_is_tried() -> None:
    accuracy = CurveAccuracy(two_class_information(MODEL), "worst_direction")
    counts = np.array([500.0, 900.0])
    worth = worth_of_next(accuracy, counts)
    exact = worth_of_next(CurveAccuracy(enumerated_information(MODEL), "worst_direction"), counts)
    assert worth.labeled_example == pytest.approx(exact.labeled_example, rel=1e-2)


def test_where_unlabeled_samples_tell_nothing_a_label_is_worth_infinitely_many() -> None:
    menu = random_menu(np.random.default_rng(0), 3, 4, n_blind=4)
    worth = worth_of_next(MatrixAccuracy.of_rules(menu, "total_variance"), np.array([5.0, 5.0, 5.0]))
    assert worth.labeled_example == np.inf
    assert worth.label == np.inf
    assert worth.by_arm["everything"] > 0


def test_without_both_arms_there_is_no_rate() -> None:
    menu = random_menu(np.random.default_rng(0), 3, 4)
    accuracy = MatrixAccuracy.of_rules(menu, "total_variance", menu=["everything", "random:0.5"])
    worth = worth_of_next(accuracy, np.ones(2))
    assert worth.labeled_example is None
    assert worth.label is None
    assert set(worth.by_arm) == {"everything", "random:0.5"}


def test_where_nothing_is_known_it_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="label some samples first"):
        worth_of_next(CurveAccuracy(enumerated_information(MODEL), "total_variance"), np.zeros(2))
