"""The unlabeled weight of least risk: one where the model is right, none where unlabeled rows mislead."""

import json

import numpy as np
import pytest

from labelworth.data.lengths import LengthDistribution
from labelworth.errors import InvalidInputError
from labelworth.estimation.fit import fit
from labelworth.models.classes.multinomial import MultinomialFamily, MultinomialModel
from labelworth.robust.unlabeled_weight import choose_unlabeled_weight, sandwich_risks
from support.statistical import assert_mean_is
from support.wrong_populations import CLASSES, bursty_documents, crossing_topics, with_labels


@pytest.mark.statistical
@pytest.mark.parametrize("method", ["sandwich", "cross-validation"])
def test_misleading_rows_are_left_out(method: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    samples = with_labels(crossing_topics(rng, 600), 100)
    found = choose_unlabeled_weight(MultinomialFamily.for_samples(samples), samples, rng=rng, method=method)
    assert found.best <= 0.03
    assert found.method == method
    assert found.risks[-1] > 2 * found.risks[0]


@pytest.mark.statistical
def test_the_estimated_risk_is_unbiased_for_a_wrong_model(seed: int) -> None:
    """150 draws of 500 rows for 7 parameters: the mean estimate is the mean excess joint log-loss, within 15 %."""
    rng = np.random.default_rng(seed)
    population = bursty_documents(rng, 200, n_words=4, length=15, burstiness=6.0)
    family = MultinomialFamily.for_samples(population, smoothing=0.01, class_smoothing=0.01)
    # Endless data: the prior does not count.
    target = fit(family, population.weighted(np.full(population.n_samples, 1e9))).model
    weights = (0.0, 0.2, 1.0)
    metric = target.complete_information()
    theta = target.coordinates.flatten(target.tables)
    estimated, realized = [], []
    for _ in range(150):
        samples = with_labels(population.take(rng.integers(population.n_samples, size=500)), 150)
        estimated.append(sandwich_risks(family, samples, weights))
        errors = []
        for weight in weights:
            model = fit(family, samples, unlabeled_weight=weight, tolerance=1e-8).model
            gap = model.coordinates.flatten(model.tables) - theta
            errors.append(gap @ metric @ gap / 2)
        realized.append(errors)
    means = np.mean(realized, axis=0)
    assert_mean_is(np.array(estimated) - np.array(realized), 0.0, model_tolerance=0.15 * float(means.min()))
    # Negative control: without taking off the noise of the difference the risk would be overstated.
    with pytest.raises(AssertionError):
        assert_mean_is(np.array(estimated) - 2 * np.array(realized), 0.0, model_tolerance=0.15 * float(means.min()))


def test_a_right_model_with_many_labels_takes_the_sandwich(seed: int) -> None:
    rng = np.random.default_rng(seed)
    model = MultinomialModel(CLASSES, [0.5, 0.5], [[0.7, 0.2, 0.1], [0.1, 0.2, 0.7]], LengthDistribution.single(5))
    samples = with_labels(model.sample(2000, rng), 60)
    found = choose_unlabeled_weight(MultinomialFamily.for_samples(samples), samples, rng=rng)
    assert found.method == "sandwich"
    assert found.best > 0
    assert "unlabeled_weight" in found.words()
    assert json.loads(json.dumps(found.to_dict()))["weights"][0] == 0.0


def test_few_labels_take_cross_validation(seed: int) -> None:
    rng = np.random.default_rng(seed)
    samples = with_labels(bursty_documents(rng, 80), 30)
    found = choose_unlabeled_weight(
        MultinomialFamily.for_samples(samples), samples, rng=rng, weights=(0.5, 1.0), n_folds=3
    )
    assert found.method == "cross-validation"
    assert found.weights == (0.0, 0.5, 1.0)
    assert found.standard_errors is not None
    assert found.standard_errors[found.weights.index(found.best)] == 0


def test_senseless_arguments_are_refused(seed: int) -> None:
    rng = np.random.default_rng(seed)
    samples = with_labels(bursty_documents(rng, 40), 20)
    family = MultinomialFamily.for_samples(samples)
    with pytest.raises(InvalidInputError, match="must not be negative"):
        choose_unlabeled_weight(family, samples, rng=rng, weights=(-1.0,))
    with pytest.raises(InvalidInputError, match="method must be one of"):
        choose_unlabeled_weight(family, samples, rng=rng, method="guess")
