"""Parts of the pool: refits between the two ends that a forecast knows, in the same replicates."""

import json

import numpy as np
import pytest
from scipy.special import logit

from labelworth.data.samples import Samples
from labelworth.simulation.basis import ForecastBasis, forecast_basis, label_source
from labelworth.simulation.pool_use import PoolUse, simulate_pool_use
from labelworth.simulation.simulator import WHOLE, Design, Replicate, held_out_units
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
    return Replicate(learner, samples, label_source(learner, samples, use.source), n_held_out, 5, 0)


def test_the_ends_of_a_replicate_are_the_curves_of_the_basis(
    samples: Samples, basis: ForecastBasis, use: PoolUse, replicate: Replicate[Samples]
) -> None:
    learner, size = document_learner(samples), int(use.sizes[1])
    n_pool = N_DOCUMENTS - held_out_units(N_DOCUMENTS, int(use.sizes.max()))
    for mode, used in (("labels-only", size), ("semi-supervised", n_pool)):
        found = replicate.losses(learner, Design("semi-supervised"), size, used)
        for measure, value in zip(("error", "log_loss"), found, strict=True):
            assert value == pytest.approx(basis.simulated[use.source, mode, WHOLE, measure].values[0, 1], abs=1e-6)


def test_deviations_are_refits_to_parts_less_the_line_between_the_ends(
    samples: Samples, basis: ForecastBasis, use: PoolUse, replicate: Replicate[Samples]
) -> None:
    n_pool = len(replicate.order)
    for place, size in enumerate(use.sizes.tolist()):
        for at, share in enumerate(use.shares[place]):
            used = round(size * (n_pool / size) ** share)
            model = document_learner(samples).fit(
                replicate.pool.take(replicate.order[:used]).hide(np.arange(used) >= size)
            )
            wrong = model.log_joint(replicate.tested.hide()).argmax(axis=1)
            error = 1 - replicate.probabilities[np.arange(len(wrong)), wrong].mean()
            ends = [
                basis.simulated[use.source, mode, WHOLE, "error"].values[0, place]
                for mode in ("labels-only", "semi-supervised")
            ]
            expected = logit(error) - (1 - share) * logit(ends[0]) - share * logit(ends[1])
            assert use.deviations["error"][0, place, at] == pytest.approx(expected, abs=1e-9)


def test_its_noise_is_pooled_and_it_can_be_kept(use: PoolUse) -> None:
    values = use.deviations["log_loss"]
    assert values.shape == (2, len(use.sizes), 2)
    by_hand = np.sqrt(np.mean([(a - b) ** 2 / 2 for a, b in zip(values[0].flat, values[1].flat, strict=True)]) / 2)
    assert use.standard_error("log_loss") == pytest.approx(by_hand)
    again = PoolUse.from_dict(json.loads(json.dumps(use.to_dict())))
    assert again.to_dict() == use.to_dict()


def test_the_same_seed_gives_the_same_numbers_whatever_the_workers(
    samples: Samples, basis: ForecastBasis, use: PoolUse
) -> None:
    again = simulate_pool_use(document_learner(samples), samples, basis, seed=5, workers=2)
    assert again.to_dict() == use.to_dict()
    other = simulate_pool_use(document_learner(samples), samples, basis, seed=6)
    assert other.to_dict() != use.to_dict()
