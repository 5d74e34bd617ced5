from dataclasses import replace

import numpy as np
import pytest

from labelworth.fisher.by_fraction import FractionInformation
from labelworth.fisher.criteria import CRITERIA, Estimate, Weight
from labelworth.fisher.dense import DenseInformation
from labelworth.fisher.documents.population import enumerated_information
from labelworth.fisher.documents.two_class_formula import two_class_information
from labelworth.fisher.information import Information, of_fraction
from labelworth.models.coordinates import Coordinates, FreeTable
from support.small_models import drawn_multinomial

FRACTIONS = np.array([1.0, 0.4, 0.05])


TRACES = {criterion.weight: criterion for criterion in CRITERIA.values() if criterion.form == "trace"}


def exchange_rates(information: Information, fractions=FRACTIONS, weight: Weight = Weight.NAMED) -> Estimate:
    """At every labeled fraction."""
    pairs = [information.exchange_rate(TRACES[weight], of_fraction(fraction)) for fraction in fractions]
    errors = [error for _, error in pairs if error is not None]
    return Estimate(np.array([rate for rate, _ in pairs]), np.array(errors) if errors else None)


def gain(information: DenseInformation, weight: np.ndarray, fraction: float, added: np.ndarray) -> float:
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
    np.testing.assert_allclose(rates.values, expected, rtol=1e-6)


def line(mu: float, batches: np.ndarray | None = None) -> DenseInformation:
    one = Coordinates((FreeTable("mean", [""], ["x"]),))
    exact = DenseInformation.of_labels(one, np.array([[2.0]]), np.array([[2.0 * mu]]), "enumeration")
    if batches is None:
        return exact
    return replace(exact, batches=np.stack([np.full_like(batches, 2.0), 2.0 - batches], axis=1))


def test_in_one_dimension_the_rate_is_the_ratio_of_the_informations() -> None:
    rates = exchange_rates(line(0.75), FRACTIONS)
    np.testing.assert_allclose(rates.values, 4.0, rtol=1e-12)


def test_a_label_cannot_be_bought_with_examples_that_say_nothing() -> None:
    assert np.isinf(exchange_rates(line(1.0), np.array([0.5])).values).all()


def test_curves_without_matrices_give_the_same_rates() -> None:
    """The two-class formula through traces and slopes, enumeration through matrices."""
    model = drawn_multinomial(2, 4, {5: 1.0}, seed=2)
    for weight in Weight:
        np.testing.assert_allclose(
            exchange_rates(two_class_information(model), FRACTIONS, weight).values,
            exchange_rates(enumerated_information(model), FRACTIONS, weight).values,
            rtol=1e-8,
        )


NOISE = 1e-8 * np.array([-1.0, 0.0, 1.0])[:, None, None]


def test_in_one_dimension_the_standard_error_is_that_of_the_ratio() -> None:
    rates = exchange_rates(line(0.75, 2.0 * (0.75 + NOISE)))
    # rate = 1 / (1 - mu), so d rate / d mu = 16; the batches' mean has standard error 1e-8 / sqrt(3).
    np.testing.assert_allclose(rates.standard_errors, 16 * 1e-8 / np.sqrt(3), rtol=1e-6)


class TracesOnly(FractionInformation):
    """Traces and slopes with errors that are known, and no matrix: one direction, mu of which is missing."""

    method, n_parameters = "traces", 1

    def __init__(self, mu: float, error: float) -> None:
        self.mu, self.mu_error = mu, error

    def trace(self, weight: Weight, fractions: np.ndarray) -> Estimate:
        inverse = 1 / (2 * (1 - (1 - fractions) * self.mu))
        return Estimate(inverse, 2 * (1 - fractions) * inverse**2 * self.mu_error)

    def trace_slope(self, weight: Weight, fractions: np.ndarray) -> Estimate:
        rest = 1 - (1 - fractions) * self.mu
        derivative = (1 / rest**2 + 2 * self.mu * (1 - fractions) / rest**3) / 2
        return Estimate(-self.mu / (2 * rest**2), derivative * self.mu_error)

    def log_volume(self, fractions: np.ndarray) -> Estimate:
        raise AssertionError("Rates of exchange are ratios of traces: nobody should ask for another criterion.")

    worst_direction = log_volume

    def is_convex(self, criterion) -> bool:
        return False


def test_without_matrices_the_standard_error_is_an_upper_bound() -> None:
    exact = exchange_rates(line(0.75, 2.0 * (0.75 + NOISE)))
    bounded = exchange_rates(TracesOnly(0.75, 1e-8 / np.sqrt(3)))
    np.testing.assert_allclose(bounded.values, 4.0, rtol=1e-9)
    assert np.all(bounded.standard_errors >= exact.standard_errors * (1 - 1e-6))
    assert np.isinf(exchange_rates(TracesOnly(1.0, 0.0), np.array([0.5])).values).all()


def test_an_infinite_rate_stays_infinite_when_sampled() -> None:
    rate = exchange_rates(line(1.0, 2.0 * np.ones((4, 1, 1))), np.array([0.5]))
    assert not np.isfinite(rate.values).any()
