"""Predicted bias and variance against draws from a population the model does not describe."""

import numpy as np
import pytest

from labelworth.errors import InvalidInputError
from labelworth.estimation.fit import fit
from labelworth.models.classes.multinomial import MultinomialFamily
from labelworth_studies.robust.pseudo_true import pseudo_true_path
from labelworth_studies.robust.risk import full_label_model, mean_log_losses, misspecified_risk
from labelworth_studies.robust.sandwich import Sandwich, sandwich, score_moments
from support.small_models import CASES
from support.statistical import assert_mean_is
from support.wrong_populations import bursty_documents


@pytest.mark.statistical
@pytest.mark.parametrize("weight", [1.0, 0.3])
def test_the_realized_error_is_bias_and_sandwich(seed: int, weight: float) -> None:
    """1000 rows for 11 parameters: asymptotics hold within 10 %, the sampling error aside."""
    rng = np.random.default_rng(seed)
    population = bursty_documents(rng, 200, n_words=6, length=15, burstiness=3.0)
    family = MultinomialFamily.for_samples(population)
    n_samples, fraction = 1000, 0.2
    curve = misspecified_risk(
        family, population, [fraction], n_samples=n_samples, unlabeled_weight=weight, method="endless-data"
    )
    target = full_label_model(family, population)
    wanted = target.coordinates.flatten_named(target.tables)
    squares, joint_losses = [], []
    for _ in range(300):
        samples = population.take(rng.integers(population.n_samples, size=n_samples))
        samples = samples.hide(np.flatnonzero(rng.random(n_samples) >= fraction))
        model = fit(family, samples, unlabeled_weight=weight, tolerance=1e-9).model
        squares.append(np.sum((model.coordinates.flatten_named(model.tables) - wanted) ** 2))
        gap = (target.log_joint(population) - model.log_joint(population))[
            np.arange(population.n_samples), population.evidence.codes
        ]
        joint_losses.append(gap.mean())
    for realized, predicted in ((squares, curve.mse[0]), (joint_losses, curve.excess_joint_log_loss[0])):
        assert_mean_is(np.array(realized)[:, None], predicted, model_tolerance=0.1 * predicted)
    # Negative control: the inverse curvature, which would be right if the model were, is far off.
    (model,) = pseudo_true_path(family, population, [fraction], n_samples=n_samples, unlabeled_weight=weight)
    bread = sandwich(model.coordinates, score_moments(model, population), fraction, unlabeled_weight=weight).bread
    naive = Sandwich(model.coordinates, bread, bread).total_variance / n_samples
    with pytest.raises(AssertionError):
        assert_mean_is(np.array(squares)[:, None], naive, model_tolerance=0.1 * curve.mse[0])


@pytest.mark.statistical
def test_the_predicted_conditional_log_loss_is_realized(seed: int) -> None:
    rng = np.random.default_rng(seed)
    population = bursty_documents(rng, 200, n_words=6, length=15, burstiness=8.0)
    family = MultinomialFamily.for_samples(population)
    curve = misspecified_risk(family, population, [0.2], n_samples=1000, method="endless-data")
    losses = []
    for _ in range(150):
        samples = population.take(rng.integers(population.n_samples, size=1000))
        model = fit(family, samples.hide(np.flatnonzero(rng.random(1000) >= 0.2)), tolerance=1e-9).model
        joint = model.log_joint(population)
        labeled = joint[np.arange(population.n_samples), population.evidence.codes]
        losses.append((np.logaddexp.reduce(joint, axis=1) - labeled).mean())
    # What is compared is the loss beyond that of full labels.
    best = misspecified_risk(family, population, [1.0], n_samples=1e9, method="endless-data").conditional_log_loss[0]
    excess = curve.conditional_log_loss[0] - best
    assert_mean_is(np.array(losses)[:, None] - best, excess, model_tolerance=0.1 * abs(excess) + 0.002)


def test_the_parts_of_a_curve_add_up(seed: int) -> None:
    population = bursty_documents(np.random.default_rng(seed), 60, n_words=5)
    curve = misspecified_risk(MultinomialFamily.for_samples(population), population, [0.5, 1.0], n_samples=100)
    np.testing.assert_allclose(curve.mse, curve.bias_squared + curve.variance)
    assert curve.fractions.tolist() == [0.5, 1.0]


def test_an_unknown_method_is_refused(seed: int) -> None:
    population = bursty_documents(np.random.default_rng(seed), 20)
    with pytest.raises(InvalidInputError, match="method must be one of"):
        misspecified_risk(MultinomialFamily.for_samples(population), population, [1.0], n_samples=9, method="guess")


def test_mean_log_losses_are_those_of_the_rows(seed: int) -> None:
    rng = np.random.default_rng(seed)
    case = CASES[0]
    population = case.draw(rng).sample(12, rng).weighted(rng.uniform(0.5, 2.0, size=12))
    model = case.draw(rng)
    rows = [population.take(np.array([row])) for row in range(12)]
    shares = population.sample_weights / population.sample_weights.sum()
    joint = [float(model.log_joint(row)[0, row.evidence.codes[0]]) for row in rows]
    marginal = [float(np.log(np.exp(model.log_joint(row)[0]).sum())) for row in rows]
    labeled, conditional = mean_log_losses(model, population)
    assert labeled == pytest.approx(-shares @ joint, rel=1e-12)
    assert conditional == pytest.approx(shares @ np.subtract(marginal, joint), rel=1e-9)
