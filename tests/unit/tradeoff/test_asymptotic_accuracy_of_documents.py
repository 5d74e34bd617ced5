"""A curve over the labeled fraction as a function of labeled and unlabeled examples."""

import numpy as np
import pytest

from labelworth.data.lengths import LengthDistribution
from labelworth.errors import InvalidInputError, NotIdentifiableError
from labelworth.estimation.fit import fit
from labelworth.fisher.criteria import CRITERIA
from labelworth.fisher.documents.observed import observed_information
from labelworth.fisher.documents.population import LABEL_OR_NOT, DocumentPopulation, enumerated_information
from labelworth.fisher.documents.probing import matrix_free_information
from labelworth.fisher.documents.two_class_formula import two_class_information
from labelworth.fisher.information import of_fraction, over_fractions
from labelworth.fisher.sampling import sampled
from labelworth.models.classes.multinomial import MultinomialFamily, MultinomialModel
from labelworth.tradeoff.asymptotic_accuracy import AsymptoticAccuracy
from labelworth.tradeoff.costs import ArmPrices
from support.menus import by_matrices, solved

COUNTS = np.array([30.0, 90.0])
PRICES = ArmPrices(("everything", "nothing"), np.array([1.0, 0.05]))


@pytest.fixture(scope="module")
def model() -> MultinomialModel:
    return MultinomialModel(
        ("ham", "spam"),
        np.array([0.4, 0.6]),
        np.array([[0.5, 0.3, 0.2], [0.2, 0.2, 0.6]]),
        LengthDistribution.single(4),
    )


@pytest.fixture(scope="module")
def curves(model):
    rng = np.random.default_rng(0)
    samples = model.sample(400, rng).hide(np.arange(400) >= 100)
    family = MultinomialFamily.for_samples(samples)
    fitted = fit(family, samples, tolerance=1e-15).model
    return {
        "enumeration": enumerated_information(model),
        "formula": two_class_information(model),
        "sampling": sampled(
            DocumentPopulation(model), LABEL_OR_NOT, [of_fraction(f) for f in (0.05, 0.5, 1.0)], rng, max_draws=20_000
        ),
        "observed": observed_information(fitted, samples, family.prior_curvature(fitted)),
        "matrix-free": matrix_free_information(fitted, family, samples, rng),
    }


def differences(accuracy: AsymptoticAccuracy, counts, step: float = 1e-4) -> np.ndarray:
    units = step * np.eye(2)
    return np.array([(accuracy.error(counts + unit) - accuracy.error(counts - unit)) / (2 * step) for unit in units])


METHODS = ("enumeration", "formula", "sampling", "observed", "matrix-free")


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("criterion", CRITERIA)
def test_the_error_is_the_criterion_and_the_slope_its_derivative(curves, method: str, criterion: str) -> None:
    curve = curves[method]
    if method == "matrix-free" and criterion == "worst_direction":
        with pytest.raises(InvalidInputError, match="not computed matrix-free"):
            AsymptoticAccuracy.of(curve, criterion)
        return
    accuracy = AsymptoticAccuracy.of(curve, criterion, held={"everything": 25, "nothing": 10})
    estimate = over_fractions(curve, criterion, np.array([55 / 155]), n_samples=155.0)
    # Designs are compared by the mean of all draws, which is convex; what its bias is stands in the standard error.
    plain = curve.without_batches() if method == "sampling" else curve
    plugged = over_fractions(plain, criterion, np.array([55 / 155]), n_samples=155.0).values[0]
    assert accuracy.error(COUNTS) == pytest.approx(plugged, rel=1e-10)
    error = accuracy.standard_error(COUNTS)
    assert (error is None) == (estimate.standard_errors is None)
    if error is not None:
        assert error == pytest.approx(estimate.standard_errors[0], rel=1e-12)
    if method == "formula" and criterion == "worst_direction":
        assert not accuracy.is_convex
        with pytest.raises(InvalidInputError, match="slope of the worst direction"):
            accuracy.slope(COUNTS)
        return
    np.testing.assert_allclose(accuracy.slope(COUNTS), differences(accuracy, COUNTS), rtol=1e-5)


@pytest.mark.parametrize("criterion", CRITERIA)
def test_it_agrees_with_matrices(curves, criterion: str) -> None:
    information = curves["enumeration"]
    curve = AsymptoticAccuracy.of(information, criterion, held={"everything": 5, "nothing": 7})
    matrices = by_matrices(information, criterion, held={"everything": 5, "nothing": 7})
    assert curve.error(COUNTS) == pytest.approx(matrices.error(COUNTS), rel=1e-9)
    np.testing.assert_allclose(curve.slope(COUNTS), matrices.slope(COUNTS), rtol=1e-7)


def test_without_labels_it_is_infinite_and_says_what_is_open() -> None:
    # Documents of one word: the classes cannot be told apart without labels.
    model = MultinomialModel(
        ("ham", "spam"), np.array([0.4, 0.6]), np.array([[0.7, 0.3], [0.2, 0.8]]), LengthDistribution.single(1)
    )
    accuracy = AsymptoticAccuracy.of(enumerated_information(model), "total_variance")
    assert accuracy.error(np.array([0.0, 100.0])) == np.inf
    assert accuracy.standard_error(np.array([0.0, 100.0])) == np.inf
    assert accuracy.error(np.zeros(2)) == np.inf
    with pytest.raises(NotIdentifiableError) as caught:
        accuracy.slope(np.array([0.0, 100.0]))
    assert caught.value.directions
    assert accuracy.open_directions(COUNTS) == ()


def test_below_the_fitted_fraction_nothing_is_known(curves) -> None:
    for method in ("observed", "matrix-free"):
        accuracy = AsymptoticAccuracy.of(curves[method], "total_variance")
        assert accuracy.error(np.array([24.0, 76.0])) == np.inf
        assert np.isfinite(accuracy.error(np.array([25.0, 75.0])))


def test_whether_convexity_is_a_theorem_is_told(curves) -> None:
    told = {method: AsymptoticAccuracy.of(curve, "total_variance").is_convex for method, curve in curves.items()}
    assert told == {"enumeration": True, "formula": True, "sampling": True, "observed": True, "matrix-free": False}


@pytest.mark.parametrize("method", METHODS)
def test_every_curve_can_be_planned_with(curves, method: str) -> None:
    accuracy = AsymptoticAccuracy.of(curves[method], "excess_log_loss", held={"everything": 100})
    solution = solved(accuracy, PRICES, budget=40.0, pool=300.0)
    labeled = np.linspace(0.0, 40.0, 1001)
    unlabeled = np.minimum((40.0 - labeled) / 0.05, 300.0 - labeled)
    line = [accuracy.error(np.array(counts)) for counts in zip(labeled, unlabeled, strict=True)]
    assert min(line) * (1 - 1e-4) <= solution.error <= min(line) * (1 + 1e-9)
    assert solution.is_certified == accuracy.is_convex


def test_bad_input_is_told(curves) -> None:
    with pytest.raises(InvalidInputError, match="criterion must be one of"):
        AsymptoticAccuracy.of(curves["formula"], "accuracy")
    with pytest.raises(InvalidInputError, match="held must be a non-negative number"):
        AsymptoticAccuracy.of(curves["formula"], "total_variance", held={"everything": -1})
