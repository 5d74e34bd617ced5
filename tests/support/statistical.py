"""Assertions about chance with a known rate of false alarms.

Each fails with probability at most `false_alarm_rate` when what it asserts is true; tests use 1e-6. A test that calls
one also feeds it a wrong formula that must be refused.
"""

from functools import cache
from itertools import combinations

import numpy as np
from scipy import stats

FALSE_ALARM_RATE = 1e-6


def assert_mean_is(
    values: np.ndarray,
    expected: np.ndarray | float,
    *,
    model_tolerance: float = 0.0,
    false_alarm_rate: float = FALSE_ALARM_RATE,
) -> None:
    """Fail only if the columns of independent rows do not have the given means, up to an absolute tolerance.

    Student's t for every column, the rate shared evenly; rows must be many or nearly Gaussian.
    """
    rows = np.asarray(values, float).reshape(len(values), -1)
    n_rows, n_columns = rows.shape
    quantile = _student_quantile(false_alarm_rate / (2 * n_columns), n_rows - 1)
    standard_error = rows.std(axis=0, ddof=1) / np.sqrt(n_rows)
    off = np.abs(rows.mean(axis=0) - np.ravel(expected)) - model_tolerance
    worst = int(np.argmax(off - quantile * standard_error))
    assert (off <= quantile * standard_error).all(), (
        f"column {worst}: mean {rows[:, worst].mean():.6g} is {off[worst] / standard_error[worst]:.2f} "
        f"standard errors ({standard_error[worst]:.3g}) off; {quantile:.2f} are allowed"
    )


def assert_covariance_is(
    errors: np.ndarray,
    covariance: np.ndarray,
    *,
    model_tolerance: float = 0.0,
    false_alarm_rate: float = FALSE_ALARM_RATE,
) -> None:
    """Fail only if Gaussian rows of mean zero do not have the given covariance, up to a relative tolerance.

    If rows ~ N(0, C), the whitened sum of squares is chi-square with n * d degrees of freedom; along an eigenvector
    of C, and half-way between any two, with n. A third of the rate goes to the total, which sees a common factor,
    a third is shared by the eigenvectors, which see errors that cancel in the total, a third by the pairs, which
    see correlations.
    """
    n_draws, dimension = errors.shape
    eigenvalues, eigenvectors = np.linalg.eigh(covariance)
    whitened = errors @ eigenvectors / np.sqrt(eigenvalues)
    third = false_alarm_rate / 3
    total = float(np.square(whitened).sum())
    _assert_mean_square(total, n_draws * dimension, model_tolerance, third, "all directions")
    if dimension == 1:
        return
    for direction, sum_of_squares in enumerate(np.square(whitened).sum(axis=0)):
        name = f"direction {direction} of variance {eigenvalues[direction]:.3g}"
        _assert_mean_square(sum_of_squares, n_draws, model_tolerance, third / dimension, name)
    pairs = list(combinations(range(dimension), 2))
    for first, second in pairs:
        between = float(np.square(whitened[:, first] + whitened[:, second]).sum()) / 2
        name = f"between directions {first} and {second}"
        _assert_mean_square(between, n_draws, model_tolerance, third / len(pairs), name)


def assert_share_is(
    n_hits: int, n_trials: int, expected: float, *, false_alarm_rate: float = FALSE_ALARM_RATE
) -> None:
    """Fail only if independent trials do not succeed with the given probability (exact binomial test)."""
    low, high = _binomial_bounds(n_trials, expected, false_alarm_rate)
    assert low <= n_hits <= high, f"{n_hits} of {n_trials} outside [{low:.0f}, {high:.0f}]"


def _assert_mean_square(
    statistic: float, degrees: int, model_tolerance: float, false_alarm_rate: float, name: str
) -> None:
    low, high = _chi_square_bounds(degrees, false_alarm_rate)
    low, high = (1 - model_tolerance) * low, (1 + model_tolerance) * high
    assert low <= statistic <= high, (
        f"{name}: whitened mean square {statistic / degrees:.4f} outside [{low / degrees:.4f}, {high / degrees:.4f}]"
    )


@cache
def _student_quantile(tail: float, degrees: int) -> float:
    return float(stats.t.isf(tail, degrees))


@cache
def _chi_square_bounds(degrees: int, false_alarm_rate: float) -> tuple[float, float]:
    tail = false_alarm_rate / 2
    return float(stats.chi2.ppf(tail, degrees)), float(stats.chi2.isf(tail, degrees))


@cache
def _binomial_bounds(n_trials: int, expected: float, false_alarm_rate: float) -> tuple[float, float]:
    tail = false_alarm_rate / 2
    return float(stats.binom.ppf(tail, n_trials, expected)), float(stats.binom.isf(tail, n_trials, expected))
