"""Where the model is right, both forecasts agree with each other and with what happens."""

import numpy as np
import pytest

from labelworth.criteria.information import document_information
from labelworth.data.samples import Samples
from labelworth.demo.digits_forecast import Level, forecast_anyway, forecast_if_right
from labelworth.estimation.fit import fit
from labelworth.models.classes.gaussian import GaussianFamily, GaussianModel
from labelworth.robust.held_out import held_out_predictions

N_POOL = 1500
LABEL_COUNTS = np.array([40, 150, 600])
MEANS = np.array([[0.0, 0.0], [2.0, 0.0], [0.0, 2.0]])
TRUTH = GaussianModel(("a", "b", "c"), np.full(3, 1 / 3), MEANS, np.eye(2)[None], "shared")


def family_of(samples: Samples) -> GaussianFamily:
    return GaussianFamily.for_samples(samples).adapted(samples, samples.sample_weights)


@pytest.fixture(scope="module")
def forecasts() -> tuple[np.ndarray, np.ndarray, Level]:
    rng = np.random.default_rng(0)
    pilot = TRUTH.sample(400, rng)
    family = family_of(pilot)
    model = fit(family, pilot).model
    level = Level.of(held_out_predictions(family, pilot, (0.0,), n_folds=5, rng=rng), 5)
    dense = document_information(
        model, labeled_fractions=LABEL_COUNTS / N_POOL, n_samples=N_POOL, method="sampling", relative_error=0.05
    ).dense
    if_right = forecast_if_right(model, dense, level, LABEL_COUNTS, N_POOL, rng)
    anyway = forecast_anyway(family, pilot, level, LABEL_COUNTS, N_POOL, (0.0, 1.0), rng)
    return if_right, anyway, level


@pytest.fixture(scope="module")
def realized() -> np.ndarray:
    """Mean errors over draws, shape (2, n_sizes)."""
    rng = np.random.default_rng(1)
    test = TRUTH.sample(20_000, rng)
    errors = np.empty((2, 8, len(LABEL_COUNTS)))
    for draw in range(errors.shape[1]):
        pool = TRUTH.sample(N_POOL, rng)
        for size, count in enumerate(LABEL_COUNTS):
            shown = pool.hide(np.arange(N_POOL) >= count)
            for row, weight in enumerate((0.0, 1.0)):
                model = fit(family_of(pool), shown, unlabeled_weight=weight).model
                errors[row, draw, size] = (model.log_joint(test).argmax(axis=1) != test.evidence.codes).mean()
    return errors.mean(axis=1)


def test_the_level_is_that_of_the_folds(forecasts: tuple[np.ndarray, np.ndarray, Level]) -> None:
    level = forecasts[2]
    assert level.n_labels == 320
    assert level.standard_error == pytest.approx(np.sqrt(level.error * (1 - level.error) / 399))


def test_a_right_model_needs_no_sandwich(forecasts: tuple[np.ndarray, np.ndarray, Level]) -> None:
    if_right, anyway, _ = forecasts
    # The sandwich has only 400 rows to look at: half a percent is their noise.
    np.testing.assert_allclose(anyway, if_right, atol=0.01)


def test_both_foresee_what_happens(forecasts: tuple[np.ndarray, np.ndarray, Level], realized: np.ndarray) -> None:
    if_right, anyway, level = forecasts
    for forecast in (if_right, anyway):
        # The level is known to its standard error; five of them, for all sizes at once.
        np.testing.assert_allclose(forecast, realized, atol=5 * level.standard_error)
        # What differs between sizes is known much better.
        changes = forecast - forecast[:, -1:]
        np.testing.assert_allclose(changes, realized - realized[:, -1:], atol=0.02)


def test_unlabeled_rows_are_foreseen_to_help_most_where_labels_are_few(
    forecasts: tuple[np.ndarray, np.ndarray, Level], realized: np.ndarray
) -> None:
    for errors in (*forecasts[:2], realized):
        gains = errors[0] - errors[1]
        assert gains[0] > gains[1] > gains[2] > -0.002
