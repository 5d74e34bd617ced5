"""The unlabeled weight of least risk: one where the model is right, none where unlabeled rows mislead."""

import json

import numpy as np
import pytest

from labelworth.data.lengths import LengthDistribution
from labelworth.data.samples import Samples
from labelworth.estimation.fit import fit
from labelworth.models.classes.multinomial import MultinomialFamily, MultinomialModel
from labelworth.robust.held_out import held_out_predictions
from labelworth.robust.unlabeled_weight import WEIGHTS, WeightChoice, choice_by_sandwich, choice_of, sandwich_risks
from support.statistical import assert_mean_is
from support.wrong_populations import CLASSES, bursty_documents, crossing_topics, with_labels


def choose(method: str, samples: Samples, rng: np.random.Generator) -> WeightChoice:
    family = MultinomialFamily.for_samples(samples)
    if method == "sandwich":
        return choice_by_sandwich(family, samples)
    return choice_of(held_out_predictions(family, samples, WEIGHTS, n_folds=5, rng=rng))


@pytest.mark.statistical
@pytest.mark.parametrize("method", ["sandwich", "cross-validation"])
def test_misleading_rows_are_left_out(method: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    samples = with_labels(crossing_topics(rng, 600), 100)
    choice = choose(method, samples, rng)
    assert choice.best <= 0.03
    assert choice.method == method
    assert choice.risks[-1] > 2 * choice.risks[0]


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


def test_a_right_model_takes_unlabeled_rows_in(seed: int) -> None:
    rng = np.random.default_rng(seed)
    model = MultinomialModel(CLASSES, [0.5, 0.5], [[0.7, 0.2, 0.1], [0.1, 0.2, 0.7]], LengthDistribution.single(5))
    samples = with_labels(model.sample(2000, rng), 60)
    choice = choose("sandwich", samples, rng)
    assert choice.best > 0
    assert "unlabeled_weight" in choice.words()
    assert json.loads(json.dumps(choice.to_dict()))["weights"][0] == 0.0


def test_held_out_predictions_have_standard_errors_beside_the_best_weight(seed: int) -> None:
    rng = np.random.default_rng(seed)
    samples = with_labels(bursty_documents(rng, 80), 30)
    family = MultinomialFamily.for_samples(samples)
    choice = choice_of(held_out_predictions(family, samples, (0.0, 0.5, 1.0), n_folds=3, rng=rng))
    assert choice.method == "cross-validation"
    assert choice.weights == (0.0, 0.5, 1.0)
    assert choice.standard_errors is not None
    assert choice.standard_errors[choice.weights.index(choice.best)] == 0
