import numpy as np
import pytest

from labelworth.fisher.curve import Weight
from labelworth.fisher.fraction_information import FractionInformation
from labelworth.fisher.sampled_information import SampledInformation
from labelworth.models.coordinates import Coordinates, FreeTable

FRACTIONS = np.array([0.5, 0.1])


def noisy(d: int, n_per_batch: int, seed: int, n_batches: int = 64) -> SampledInformation:
    """Complete information 1, missing 0.6 in every direction, seen through Wishart noise."""
    rng = np.random.default_rng(seed)
    rows = rng.standard_normal((n_batches, n_per_batch, d)) * np.sqrt(0.6)
    batches = rows.transpose(0, 2, 1) @ rows / n_per_batch
    where = Coordinates((FreeTable("mean", [""], [str(i) for i in range(d)]),))
    information = FractionInformation(where, np.eye(d), batches.mean(axis=0), "sampling", batches)
    return SampledInformation(information, n_batches * n_per_batch)


@pytest.mark.statistical
def test_the_bias_of_inverting_a_noisy_matrix_is_corrected() -> None:
    """Many parameters: plugging in is off by more than five standard errors, the corrected figure by less."""
    exact = 120 / (1 - (1 - FRACTIONS) * 0.6)
    sampled = noisy(120, n_per_batch=90, seed=0)
    plugged = sampled.information.trace(Weight.NAMED, FRACTIONS)
    corrected = sampled.trace(Weight.NAMED, FRACTIONS)
    assert np.all((plugged.values - exact) / plugged.standard_errors > 5)
    assert np.all(np.abs(corrected.values - exact) <= 5 * corrected.standard_errors)
    assert np.all(np.abs(corrected.values - exact) < 0.3 * np.abs(plugged.values - exact))


def test_joint_log_loss_stays_the_sum_of_its_parts() -> None:
    sampled = noisy(5, n_per_batch=40, seed=1)
    parts = [sampled.trace(weight, FRACTIONS).values for weight in (Weight.MISSING, Weight.MARGINAL)]
    np.testing.assert_allclose(sampled.trace(Weight.COMPLETE, FRACTIONS).values, sum(parts), rtol=1e-12)


def test_more_draws_are_asked_for_in_proportion_to_the_variance() -> None:
    sampled = noisy(5, n_per_batch=40, seed=2)
    needed = sampled.draws_needed(FRACTIONS, 1e-3)
    assert needed > sampled.n_drawn
    assert sampled.draws_needed(FRACTIONS, 1e-4) == pytest.approx(100 * needed, rel=1e-6)
    assert sampled.draws_needed(FRACTIONS, 10.0) == sampled.n_drawn


def test_halves_that_disagree_ask_for_more_draws() -> None:
    sampled = noisy(3, n_per_batch=4000, seed=3)
    batches = sampled.information.missing_batches.copy()
    batches[:32] *= 1.03
    information = FractionInformation(
        sampled.coordinates, sampled.information.complete, batches.mean(axis=0), "sampling", batches
    )
    assert SampledInformation(information, 100).draws_needed(FRACTIONS, 10.0) == 200


def test_covariances_are_those_of_all_draws() -> None:
    sampled = noisy(4, n_per_batch=40, seed=4)
    root = sampled.covariance_root(10, 0.5)
    np.testing.assert_allclose(root @ root.T, sampled.covariance(10, 0.5), rtol=1e-12)
    np.testing.assert_allclose(
        sampled.covariance(10, 0.5), np.linalg.inv(10 * sampled.information.at(0.5)), rtol=1e-9, atol=1e-12
    )
