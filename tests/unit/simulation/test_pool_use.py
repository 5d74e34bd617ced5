"""Parts of the pool: refits between the two ends that a forecast knows, in the same replicates."""

import json

import numpy as np
import pytest

from labelworth.data.samples import Samples
from labelworth.simulation.basis import ForecastBasis, first_replicate, forecast_basis, label_source, sources_of
from labelworth.simulation.pool_use import N_REPLICATES, SHARES, PoolUse, simulate_pool_use
from labelworth.simulation.simulator import WHOLE, CurveDesign, Replicate, held_out_units
from support.learners import document_learner, documents

N_DOCUMENTS = 300


@pytest.fixture(scope="module")
def samples() -> Samples:
    hidden = np.arange(N_DOCUMENTS) >= 40
    return documents(N_DOCUMENTS, seed=3).hide(hidden)


@pytest.fixture(scope="module")
def basis(samples: Samples) -> ForecastBasis:
    return forecast_basis(document_learner(samples), samples, 160, seed=5)


@pytest.fixture(scope="module")
def use(samples: Samples, basis: ForecastBasis) -> PoolUse:
    return simulate_pool_use(document_learner(samples), samples, basis, seed=5)


@pytest.fixture(scope="module")
def replicate(samples: Samples, basis: ForecastBasis, use: PoolUse) -> Replicate[Samples]:
    learner = document_learner(samples)
    n_held_out = held_out_units(N_DOCUMENTS, int(use.sizes.max()))
    source = label_source(sources_of(learner, samples)[use.source], 1.0, 1)
    return Replicate(samples, source, n_held_out, 5, first_replicate(basis.source_errors, use.source))


def test_the_ends_of_a_replicate_are_the_curves_of_the_basis(
    samples: Samples, basis: ForecastBasis, use: PoolUse, replicate: Replicate[Samples]
) -> None:
    learner, size = document_learner(samples), int(use.sizes[1])
    n_pool = N_DOCUMENTS - held_out_units(N_DOCUMENTS, int(use.sizes.max()))
    for mode, used in (("labels-only", size), ("semi-supervised", n_pool)):
        found = replicate.losses(learner, CurveDesign("semi-supervised"), size, used)
        for measure, value in zip(("error", "log_loss"), found, strict=True):
            assert value == pytest.approx(basis.simulated[use.source, mode, WHOLE, measure].values[0, 1], abs=1e-6)


def test_gains_are_those_of_refits_to_parts(
    samples: Samples, basis: ForecastBasis, use: PoolUse, replicate: Replicate[Samples]
) -> None:
    n_pool = len(replicate.order)
    for place, size in enumerate(use.sizes.tolist()):
        alone = basis.simulated[use.source, "labels-only", WHOLE, "error"].values[0, place]
        for at, share in enumerate(SHARES):
            used = round(size * (n_pool / size) ** share)
            part = replicate.pool.take(replicate.order[:used]).hide(np.arange(used) >= size)
            best = document_learner(samples).fit(part).log_joint(replicate.tested.hide()).argmax(axis=1)
            error = 1 - replicate.probabilities[np.arange(len(best)), best].mean()
            assert use.gains["error"][0, place, at] == pytest.approx(alone - error, abs=1e-9)


def test_fractions_are_least_squares_through_the_origin() -> None:
    rng = np.random.default_rng(1)
    whole = rng.normal(0.1, 0.05, size=(2, 4))
    gains = np.stack([-0.2 * whole, 0.9 * whole], axis=2) + rng.normal(0, 0.01, size=(2, 4, 2))
    use = PoolUse("labels-only", np.arange(1, 5), {"error": gains}, {"error": whole})
    errors = use.fraction_errors("error")
    assert errors is not None
    for at in range(2):
        x, y = whole.ravel()[:, None], gains[:, :, at].ravel()
        solution = np.linalg.lstsq(x, y, rcond=None)[0]
        assert use.fractions("error")[at] == pytest.approx(solution[0])
        left_out = []
        for place in range(len(y)):
            rest = np.arange(len(y)) != place
            left_out.append(y[place] - x[place, 0] * np.linalg.lstsq(x[rest], y[rest], rcond=None)[0][0])
        variance = np.sum((x[:, 0] * np.array(left_out)) ** 2) / (x**2).sum() ** 2
        assert errors[at] == pytest.approx(np.sqrt(variance))


def test_a_pool_that_does_nothing_is_a_straight_line() -> None:
    use = PoolUse("labels-only", np.arange(2), {"error": np.zeros((2, 2, 2))}, {"error": np.zeros((2, 2))})
    assert use.fractions("error").tolist() == list(SHARES)
    assert use.fraction_errors("error") is None


def test_one_refit_alone_is_no_certainty() -> None:
    whole = np.array([[0.6, 0.01], [0.01, 0.02]])
    gains = whole[:, :, None] * np.array([0.3, 0.9]) + 0.01 * np.array([[[1], [1]], [[-1], [1]]])
    use = PoolUse("labels-only", np.arange(2), {"error": gains}, {"error": whole})
    errors = use.fraction_errors("error")
    assert errors is not None
    residuals = gains - use.fractions("error") * whole[:, :, None]
    plain = np.sqrt(np.square(whole[:, :, None] * residuals).sum(axis=(0, 1))) / np.square(whole).sum()
    assert (plain < 0.01).all()
    assert (errors > 0.3).all()
    alone = PoolUse("labels-only", np.arange(2), {"error": gains}, {"error": np.array([[0.6, 0.0], [0.0, 0.0]])})
    assert alone.fraction_errors("error") is None


def test_it_can_be_kept(use: PoolUse) -> None:
    again = PoolUse.from_dict(json.loads(json.dumps(use.to_dict())))
    assert again.to_dict() == use.to_dict()
    assert again.gains["log_loss"].shape == (N_REPLICATES, len(use.sizes), 2)


def test_the_same_seed_gives_the_same_numbers_whatever_the_workers(
    samples: Samples, basis: ForecastBasis, use: PoolUse
) -> None:
    again = simulate_pool_use(document_learner(samples), samples, basis, seed=5, workers=2)
    assert again.to_dict() == use.to_dict()
    other = simulate_pool_use(document_learner(samples), samples, basis, seed=6)
    assert other.to_dict() != use.to_dict()
