"""Shards add up to the whole."""

import numpy as np
import pytest

from labelworth.models.classes.responsibilities import ShardedPass
from support.small_models import gaussian


@pytest.fixture
def rng(seed: int) -> np.random.Generator:
    return np.random.default_rng(seed)


def sums(vectors: np.ndarray, responsibilities: np.ndarray) -> dict[str, np.ndarray]:
    return {"sums": responsibilities.T @ vectors}


def test_many_shards_equal_one(rng: np.random.Generator) -> None:
    model = gaussian(rng, "shared")
    samples = model.sample(97, rng).hide(np.arange(30, 97))
    weights = rng.uniform(0.5, 2.0, size=97)
    # One unit of work per row makes one shard; a large amount makes a shard of every row.
    one, many = (
        ShardedPass(samples.vectors, samples.evidence, weights, np.arange(98) * work, sums).expectation(model)
        for work in (1, 1 << 22)
    )
    for name in ("class_weights", "sums"):
        np.testing.assert_allclose(many.statistics[name], one.statistics[name], rtol=1e-12)
    np.testing.assert_allclose(many.log_likelihood, one.log_likelihood, rtol=1e-12)
