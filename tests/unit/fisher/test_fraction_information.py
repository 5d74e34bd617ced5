import numpy as np
import pytest

from labelworth.errors import InvalidInputError, MoreSamplesNeededError, NotIdentifiableError
from labelworth.fisher.curve import Weight
from labelworth.fisher.fraction_information import FractionInformation
from labelworth.models.coordinates import Coordinates, FreeTable, SimplexRows

FRACTIONS = np.array([1.0, 0.5, 0.1, 0.01])


def coordinates(n_rows: int = 2, n_columns: int = 4) -> Coordinates:
    rows, columns = [f"row {i}" for i in range(n_rows)], [f"word {j}" for j in range(n_columns)]
    return Coordinates(
        (
            SimplexRows("class_probabilities", [""], ["ham", "spam"]),
            SimplexRows("word_probabilities", rows, columns),
        )
    )


def matrices(d: int, seed: int, mu: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Complete and missing information with known eigenvalues mu."""
    rng = np.random.default_rng(seed)
    root = rng.standard_normal((d, d)) + 2 * np.eye(d)
    if mu is None:
        mu = rng.uniform(0.05, 0.98, size=d)
    rotation, _ = np.linalg.qr(rng.standard_normal((d, d)))
    return root @ root.T, root @ (rotation * mu) @ rotation.T @ root.T


def dense(seed: int = 0, batches: np.ndarray | None = None, mu: np.ndarray | None = None) -> FractionInformation:
    where = coordinates()
    complete, missing = matrices(where.n_free, seed, mu)
    return FractionInformation(where, complete, missing, "enumeration", batches)


def weight_matrix(information: FractionInformation, weight: Weight) -> np.ndarray:
    jacobian = information.coordinates.jacobian()
    return {
        Weight.NAMED: jacobian.T @ jacobian,
        Weight.COMPLETE: information.complete,
        Weight.MISSING: information.missing,
        Weight.MARGINAL: information.complete - information.missing,
    }[weight]


@pytest.mark.parametrize("weight", list(Weight))
def test_traces_equal_those_of_an_explicit_inverse(weight: Weight) -> None:
    information = dense()
    expected = [
        np.trace(weight_matrix(information, weight) @ np.linalg.inv(information.at(fraction)))
        for fraction in FRACTIONS
    ]
    estimate = information.trace(weight, FRACTIONS)
    np.testing.assert_allclose(estimate.values, expected, rtol=1e-10)
    assert estimate.standard_errors is None


@pytest.mark.parametrize("weight", list(Weight))
def test_slopes_equal_the_explicit_product(weight: Weight) -> None:
    information = dense(seed=1)
    expected = []
    for fraction in FRACTIONS:
        inverse = np.linalg.inv(information.at(fraction))
        expected.append(-np.trace(weight_matrix(information, weight) @ inverse @ information.missing @ inverse))
    np.testing.assert_allclose(information.trace_slope(weight, FRACTIONS).values, expected, rtol=1e-9)


@pytest.mark.parametrize("weight", list(Weight))
def test_slopes_are_the_derivatives_of_the_traces(weight: Weight) -> None:
    information, step = dense(seed=2), 1e-5
    inside = np.array([0.3, 0.7])
    difference = information.trace(weight, inside + step).values - information.trace(weight, inside - step).values
    np.testing.assert_allclose(information.trace_slope(weight, inside).values, difference / (2 * step), rtol=1e-6)


def test_log_volume_is_the_log_determinant_of_the_inverse() -> None:
    information = dense(seed=3)
    expected = [-np.linalg.slogdet(information.at(fraction))[1] for fraction in FRACTIONS]
    np.testing.assert_allclose(information.log_volume(FRACTIONS).values, expected, rtol=1e-10)


def test_worst_direction_is_the_largest_eigenvalue_of_the_named_covariance() -> None:
    information = dense(seed=4)
    jacobian = information.coordinates.jacobian()
    expected = [
        np.linalg.eigvalsh(jacobian @ np.linalg.inv(information.at(fraction)) @ jacobian.T)[-1]
        for fraction in FRACTIONS
    ]
    np.testing.assert_allclose(information.worst_direction(FRACTIONS).values, expected, rtol=1e-10)


def test_covariance_inverts_the_information_of_all_samples() -> None:
    information = dense(seed=5)
    np.testing.assert_allclose(
        information.covariance(40, 0.2) @ (40 * information.at(0.2)), np.eye(information.n_parameters), atol=1e-10
    )


def test_convergence_rates_are_the_eigenvalues_of_the_share_that_is_missing() -> None:
    mu = np.array([0.9, 0.1, 0.3, 0.5, 0.7, 0.2, 0.6])
    np.testing.assert_allclose(dense(mu=mu).convergence_rates(0.25), 0.75 * np.sort(mu)[::-1], rtol=1e-10)


def test_a_direction_unlabeled_samples_do_not_see_is_pinned_by_labels() -> None:
    mu = np.array([1.0, 1.0, 0.3, 0.5, 0.7, 0.2, 0.6])
    information = dense(mu=mu)
    assert information.n_open == 2
    joint = information.trace(Weight.COMPLETE, np.array([0.01, 1e-6])).values
    expected = [np.sum(1 / (1 - (1 - fraction) * mu)) for fraction in (0.01, 1e-6)]
    np.testing.assert_allclose(joint, expected, rtol=1e-8)


def test_without_labels_such_a_direction_leaves_no_number() -> None:
    information = dense(mu=np.array([1.0, 0.1, 0.3, 0.5, 0.7, 0.2, 0.6]))
    assert information.identified(np.array([0.0, 0.5])).tolist() == [False, True]
    estimate = information.trace(Weight.NAMED, np.array([0.0, 0.5]))
    assert np.isnan(estimate.values).tolist() == [True, False]
    with pytest.raises(NotIdentifiableError, match="fraction 0"):
        information.covariance(10, 0.0)


def test_without_such_a_direction_no_labels_are_needed() -> None:
    information = dense(seed=6)
    assert information.identified(np.array([0.0])).all()
    expected = np.trace(
        weight_matrix(information, Weight.NAMED) @ np.linalg.inv(information.complete - information.missing)
    )
    assert information.trace(Weight.NAMED, np.array([0.0])).values[0] == pytest.approx(expected, rel=1e-9)


def test_singular_complete_information_names_the_parameters() -> None:
    where = coordinates()
    complete = np.eye(where.n_free)
    complete[3, 3] = 0
    information = FractionInformation(where, complete, 0.5 * complete, "enumeration")
    with pytest.raises(NotIdentifiableError) as caught:
        information.trace(Weight.NAMED, FRACTIONS)
    assert caught.value.directions == (where.name(3),)
    assert where.name(3) in str(caught.value)


def test_noise_that_makes_the_information_indefinite_is_refused_not_clipped() -> None:
    information = dense(mu=np.array([1.3, 0.1, 0.3, 0.5, 0.7, 0.2, 0.6]))
    with pytest.raises(MoreSamplesNeededError, match=r"fraction 0\.1"):
        information.trace(Weight.NAMED, np.array([1.0, 0.5, 0.1]))
    assert np.isfinite(information.trace(Weight.NAMED, np.array([1.0, 0.5])).values).all()


def test_fractions_below_the_fitted_one_are_refused() -> None:
    where = coordinates()
    complete, missing = matrices(where.n_free, 7)
    information = FractionInformation(where, complete, missing, "observed", lowest_fraction=0.2)
    with pytest.raises(InvalidInputError, match=r"from 0\.2 up"):
        information.at(0.1)


@pytest.mark.parametrize("fraction", [-0.1, 1.1, np.nan])
def test_a_fraction_outside_zero_and_one_is_refused(fraction: float) -> None:
    with pytest.raises(InvalidInputError, match="labeled_fraction"):
        dense().trace(Weight.NAMED, np.array([fraction]))


def batch_noise(d: int, n_batches: int, seed: int, size: float) -> np.ndarray:
    noise = size * np.random.default_rng(seed).standard_normal((n_batches, d, d))
    return (noise + noise.transpose(0, 2, 1)) / 2


CRITERIA = {
    **{f"trace {w.value}": (lambda info, f, w=w: info.trace(w, f)) for w in Weight},
    **{f"slope {w.value}": (lambda info, f, w=w: info.trace_slope(w, f)) for w in Weight},
    **{f"exchange {w.value}": (lambda info, f, w=w: info.exchange_rate(w, f)) for w in Weight},
    "log_volume": lambda info, f: info.log_volume(f),
    "worst_direction": lambda info, f: info.worst_direction(f),
}


@pytest.mark.parametrize("name", CRITERIA)
def test_standard_errors_are_those_of_finite_differences(name: str) -> None:
    """Each batch's shift by the delta method equals the change of the criterion when that batch moves the mean."""
    exact, n_batches, step = dense(seed=8), 5, 1e-5
    d, fractions = exact.n_parameters, np.array([0.6, 0.1])
    noise = batch_noise(d, n_batches, seed=9, size=0.05)
    noise -= noise.mean(axis=0)
    batches = exact.missing + noise
    with_batches = FractionInformation(exact.coordinates, exact.complete, exact.missing, "sampling", batches)
    shifts = np.array(
        [
            CRITERIA[name](
                FractionInformation(exact.coordinates, exact.complete, exact.missing + step * part, ""), fractions
            ).values
            - CRITERIA[name](
                FractionInformation(exact.coordinates, exact.complete, exact.missing - step * part, ""), fractions
            ).values
            for part in noise
        ]
    ) / (2 * step)
    expected = shifts.std(axis=0, ddof=1) / np.sqrt(n_batches)
    np.testing.assert_allclose(CRITERIA[name](with_batches, fractions).standard_errors, expected, rtol=1e-5)


def test_one_batch_is_refused() -> None:
    exact = dense()
    with pytest.raises(InvalidInputError, match="two batches"):
        FractionInformation(exact.coordinates, exact.complete, exact.missing, "sampling", exact.missing[None])


def test_named_figures_count_the_dropped_entry_too() -> None:
    """With one row of three entries the dropped one has the variance of the sum of the others."""
    simplex = Coordinates((SimplexRows("table", [""], ["a", "b", "c"]),))
    free = Coordinates((FreeTable("table", [""], ["a", "b"]),))
    complete = np.array([[4.0, 1.0], [1.0, 3.0]])
    covariance = np.linalg.inv(complete)
    none = np.zeros((2, 2))
    value = FractionInformation(simplex, complete, none, "").trace(Weight.NAMED, np.array([1.0])).values[0]
    without = FractionInformation(free, complete, none, "").trace(Weight.NAMED, np.array([1.0])).values[0]
    assert without == pytest.approx(np.trace(covariance), rel=1e-12)
    assert value == pytest.approx(np.trace(covariance) + covariance.sum(), rel=1e-12)
