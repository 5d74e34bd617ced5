import numpy as np
import pytest

from labelworth.criteria.exchange import exchange_rates
from labelworth.fisher.by_enumeration import enumerated_information
from labelworth.fisher.curve import Weight
from labelworth.fisher.fraction_information import FractionInformation
from labelworth.fisher.sampled_information import SampledInformation
from labelworth.fisher.two_class_formula import two_class_information
from labelworth.models.coordinates import Coordinates, FreeTable
from support.small_models import drawn_multinomial

FRACTIONS = np.array([1.0, 0.4, 0.05])


def gain(information: FractionInformation, weight: np.ndarray, fraction: float, added: np.ndarray) -> float:
    """What a thousandth of an example more, of information `added`, takes off trace(G M^-1) of 1000 examples."""
    whole, step = 1000 * information.at(fraction), 1e-3
    less = np.trace(weight @ np.linalg.inv(whole - step * added))
    more = np.trace(weight @ np.linalg.inv(whole + step * added))
    return (less - more) / (2 * step)


@pytest.mark.parametrize("weight", list(Weight))
def test_rates_equal_the_ratio_of_what_examples_do_to_the_criterion(weight) -> None:
    information = enumerated_information(drawn_multinomial(3, 4, {5: 1.0}, seed=2))
    jacobian = information.coordinates.jacobian()
    matrix = {
        Weight.NAMED: jacobian.T @ jacobian,
        Weight.COMPLETE: information.complete,
        Weight.MISSING: information.missing,
        Weight.MARGINAL: information.complete - information.missing,
    }[weight]
    expected = [
        gain(information, matrix, fraction, information.complete)
        / gain(information, matrix, fraction, information.complete - information.missing)
        for fraction in FRACTIONS
    ]
    rates = exchange_rates(information, FRACTIONS, weight)
    np.testing.assert_allclose(rates.labeled_example.values, expected, rtol=1e-6)
    np.testing.assert_allclose(rates.label.values, np.array(expected) - 1, rtol=1e-6)


def line(mu: float, batches: np.ndarray | None = None) -> FractionInformation:
    one = Coordinates((FreeTable("mean", [""], ["x"]),))
    return FractionInformation(one, np.array([[2.0]]), np.array([[2.0 * mu]]), "enumeration", batches)


def test_in_one_dimension_the_rate_is_the_ratio_of_the_informations() -> None:
    rates = exchange_rates(line(0.75), FRACTIONS)
    np.testing.assert_allclose(rates.labeled_example.values, 4.0, rtol=1e-12)
    np.testing.assert_allclose(rates.label.values, 3.0, rtol=1e-12)


def test_a_label_cannot_be_bought_with_examples_that_say_nothing() -> None:
    assert np.isinf(exchange_rates(line(1.0), np.array([0.5])).labeled_example.values).all()


def test_curves_without_matrices_give_the_same_rates() -> None:
    """The two-class formula through traces and slopes, enumeration through matrices."""
    model = drawn_multinomial(2, 4, {5: 1.0}, seed=2)
    for weight in Weight:
        np.testing.assert_allclose(
            exchange_rates(two_class_information(model), FRACTIONS, weight).labeled_example.values,
            exchange_rates(enumerated_information(model), FRACTIONS, weight).labeled_example.values,
            rtol=1e-8,
        )


def test_in_one_dimension_the_standard_error_is_that_of_the_ratio() -> None:
    batches = 2.0 * (0.75 + 0.01 * np.array([-1.0, 0.0, 1.0]))[:, None, None]
    rates = exchange_rates(line(0.75, batches), FRACTIONS)
    # rate = 1 / (1 - mu), so d rate / d mu = 16; the batches' mean has standard error 0.01 / sqrt(3).
    np.testing.assert_allclose(rates.labeled_example.standard_errors, 16 * 0.01 / np.sqrt(3), rtol=1e-9)


class TracesOnly:
    """A curve that knows traces and slopes with their errors, and no matrix."""

    def __init__(self, information: FractionInformation) -> None:
        self.trace, self.trace_slope = information.trace, information.trace_slope


def test_without_matrices_the_standard_error_is_an_upper_bound() -> None:
    batches = 2.0 * (0.75 + 0.01 * np.array([-1.0, 0.0, 1.0]))[:, None, None]
    known = line(0.75, batches)
    exact = exchange_rates(known, FRACTIONS).labeled_example
    bounded = exchange_rates(TracesOnly(known), FRACTIONS).labeled_example
    np.testing.assert_allclose(bounded.values, exact.values, rtol=1e-9)
    assert np.all(bounded.standard_errors >= exact.standard_errors * (1 - 1e-9))
    assert np.isinf(exchange_rates(TracesOnly(line(1.0)), np.array([0.5])).labeled_example.values).all()


def test_an_infinite_rate_stays_infinite_when_sampled() -> None:
    batches = 2.0 * np.ones((4, 1, 1))
    sampled = SampledInformation(line(1.0, batches), 100)
    rate = exchange_rates(sampled, np.array([0.5])).labeled_example
    assert not np.isfinite(rate.values).any()
