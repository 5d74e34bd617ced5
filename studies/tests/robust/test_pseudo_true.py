"""The pseudo-true path: stationary points of the population objective, from full labels down."""

from functools import partial

import numpy as np
import pytest

from labelworth.errors import InvalidInputError
from labelworth.models.classes.multinomial import MultinomialFamily
from labelworth_studies.robust.pseudo_true import pseudo_true_path
from labelworth_studies.robust.sandwich import score_moments
from support.oracles import numerical_gradient
from support.wrong_populations import bursty_documents


def test_the_population_objective_is_flat_there(seed: int) -> None:
    population = bursty_documents(np.random.default_rng(seed), 120)
    family = MultinomialFamily.for_samples(population, smoothing=0.7, class_smoothing=0.5)
    n_samples, weight, fractions = 50.0, 0.6, [0.1, 1.0, 0.4]
    path = pseudo_true_path(family, population, fractions, n_samples=n_samples, unlabeled_weight=weight)
    coordinates = path[0].coordinates

    def objective(theta: np.ndarray, fraction: float) -> np.ndarray:
        at = path[0].with_tables(coordinates.named(theta))
        joint = at.log_joint(population)
        labeled = joint[np.arange(len(joint)), population.evidence.codes].mean()
        hidden = np.logaddexp.reduce(joint, axis=1).mean()
        return np.array(n_samples * (fraction * labeled + (1 - fraction) * weight * hidden) + family.log_prior(at))

    for fraction, model in zip(fractions, path, strict=True):
        gradient = numerical_gradient(partial(objective, fraction=fraction), coordinates.flatten(model.tables))
        curvature = score_moments(model, population).labeled.curvature * n_samples
        # In standard errors of a sample of n rows.
        assert np.abs(gradient / np.sqrt(np.diag(curvature))).max() < 1e-4


def test_full_labels_give_the_smoothed_shares(seed: int) -> None:
    population = bursty_documents(np.random.default_rng(seed), 80)
    family = MultinomialFamily.for_samples(population, smoothing=1.0)
    (model,) = pseudo_true_path(family, population, [1.0], n_samples=200)
    counts, codes = population.counts.toarray(), population.evidence.codes
    words = np.stack([counts[codes == code].sum(axis=0) for code in (0, 1)]) * 200 / 80 + 1
    np.testing.assert_allclose(model.word_probabilities, words / words.sum(axis=1, keepdims=True), rtol=1e-10)


def test_a_wrong_model_moves_along_the_path(seed: int) -> None:
    population = bursty_documents(np.random.default_rng(seed), 400, burstiness=4.0)
    family = MultinomialFamily.for_samples(population)
    first, last = pseudo_true_path(family, population, [1.0, 0.05], n_samples=1e6)
    assert np.abs(first.word_probabilities - last.word_probabilities).max() > 0.01


@pytest.mark.parametrize("fractions", [[], [0.0], [1.5]])
def test_fractions_that_make_no_sense_are_refused(fractions: list[float], seed: int) -> None:
    population = bursty_documents(np.random.default_rng(seed), 30)
    with pytest.raises(InvalidInputError, match="fraction"):
        pseudo_true_path(MultinomialFamily.for_samples(population), population, fractions, n_samples=10)
