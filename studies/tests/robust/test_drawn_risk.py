import numpy as np
import pytest

from labelworth.data.lengths import LengthDistribution
from labelworth.data.samples import Samples
from labelworth.errors import InvalidInputError
from labelworth.models.classes.multinomial import MultinomialFamily, MultinomialModel
from labelworth_studies.robust.drawn_risk import DrawnRisk, drawn_risk
from labelworth_studies.robust.risk import full_label_model, misspecified_risk

FRACTIONS = [1.0, 0.5, 0.1]
N_SAMPLES = 300
# Three figures, at a rate of false alarms of 1e-6 together.
QUANTILE = 5.1


@pytest.fixture(scope="module")
def population() -> Samples:
    """Documents whose words come in pairs, which the model knows nothing of."""
    rng = np.random.default_rng(5)
    words = rng.dirichlet(np.full(8, 0.7), 3) + 0.01
    words /= words.sum(axis=1, keepdims=True)
    model = MultinomialModel(("a", "b", "c"), np.array([0.5, 0.3, 0.2]), words, LengthDistribution.single(3))
    drawn = model.sample(250, rng)
    return Samples(2 * drawn.counts, drawn.evidence)


@pytest.fixture(scope="module")
def family(population: Samples) -> MultinomialFamily:
    return MultinomialFamily.for_samples(population, smoothing=1.0, class_smoothing=1.0)


@pytest.fixture(scope="module")
def risks(population: Samples, family: MultinomialFamily) -> list[DrawnRisk]:
    target = full_label_model(family, population)
    rng = np.random.default_rng(0)
    return drawn_risk(family, population, FRACTIONS, target, rng, n_samples=N_SAMPLES, n_draws=400)


@pytest.mark.statistical
def test_random_estimates_have_the_bias_and_variance_of_the_dense_formula(
    population: Samples, family: MultinomialFamily, risks: list[DrawnRisk]
) -> None:
    dense = misspecified_risk(
        family, population, FRACTIONS, n_samples=N_SAMPLES, method="endless-data", random_labels=False
    )

    np.testing.assert_allclose([risk.bias_squared for risk in risks], dense.bias_squared, rtol=1e-4)
    deviations = [(risk.mse - mse) / risk.mse_se for risk, mse in zip(risks, dense.mse, strict=True)]
    assert np.abs(deviations).max() < QUANTILE


@pytest.mark.statistical
def test_a_formula_that_takes_the_model_for_right_would_be_told_apart(
    population: Samples, family: MultinomialFamily, risks: list[DrawnRisk]
) -> None:
    model = full_label_model(family, population)
    words, classes = model.word_probabilities, model.class_probabilities
    naive = (classes * (1 - classes)).sum() + ((words * (1 - words)).sum(axis=1) / (6 * classes)).sum()

    assert abs(risks[0].variances.mean() - naive / N_SAMPLES) > QUANTILE * risks[0].mse_se


def test_error_is_that_of_the_center_when_there_is_no_noise_to_speak_of(
    population: Samples, family: MultinomialFamily
) -> None:
    target = full_label_model(family, population)
    rng = np.random.default_rng(0)

    (risk,) = drawn_risk(family, population, [0.5], target, rng, n_samples=1e12, n_draws=3)

    chosen = risk.center.log_joint(population).argmax(axis=1)
    assert risk.error == pytest.approx(np.mean(chosen != population.evidence.codes), abs=1e-12)
    assert risk.error_se == pytest.approx(0.0, abs=1e-12)
    assert risk.variances.max() < 1e-9


def test_a_single_draw_has_no_standard_error(population: Samples, family: MultinomialFamily) -> None:
    target = full_label_model(family, population)
    with pytest.raises(InvalidInputError, match="n_draws"):
        drawn_risk(family, population, [0.5], target, np.random.default_rng(0), n_samples=100, n_draws=1)
