"""Sampled figures against enumeration.

Five of the own standard errors, from 64 batches, are exceeded with probability 5e-6 per figure (Student's t, 63
degrees of freedom). The figures of one model move together, so the rate per test is well below 1e-4; seeds are fixed.
"""

import numpy as np
import pytest
from scipy import stats

from labelworth.criteria.asymptotic import CRITERIA
from labelworth.data.lengths import LengthDistribution
from labelworth.errors import InvalidInputError, MoreSamplesNeededError
from labelworth.fisher import by_sampling
from labelworth.fisher.by_enumeration import enumerated_information
from labelworth.fisher.by_sampling import sampled_information
from labelworth.fisher.curve import Weight
from labelworth.fisher.fraction_information import FractionInformation
from labelworth.models.classes.bernoulli import BernoulliModel
from labelworth.models.classes.gaussian import GaussianModel
from labelworth.models.classes.multinomial import MultinomialModel
from support.small_models import ENUMERABLE, drawn_multinomial

FRACTIONS = np.array([1.0, 0.5, 0.1, 0.01])


def deviations(sampled, exact) -> dict[str, np.ndarray]:
    """By how many of its standard errors each sampled figure is off."""
    off = {}
    for name, criterion in CRITERIA.items():
        figure = criterion(sampled, 500, FRACTIONS)
        off[name] = (figure.values - criterion(exact, 500, FRACTIONS).values) / figure.standard_errors
    return off


@pytest.mark.statistical
@pytest.mark.parametrize(("n_classes", "n_words", "lengths"), ENUMERABLE)
def test_figures_lie_within_five_of_their_standard_errors_of_at_most_a_hundredth(n_classes, n_words, lengths) -> None:
    model = drawn_multinomial(n_classes, n_words, lengths, seed=2)
    sampled = sampled_information(model, FRACTIONS, np.random.default_rng(0))
    for name, off in deviations(sampled, enumerated_information(model)).items():
        assert np.abs(off).max() <= 5, (name, off)
        figure = CRITERIA[name](sampled, 500, FRACTIONS)
        assert np.all(figure.standard_errors <= 0.01 * np.abs(figure.values)), name


@pytest.mark.statistical
def test_figures_of_another_model_are_told_apart() -> None:
    """The negative control: a tenth more of one word is far outside five standard errors."""
    model = drawn_multinomial(3, 4, {3: 0.5, 5: 0.5}, seed=2)
    words = model.word_probabilities.copy()
    words[0] += 0.1 * (np.eye(4)[0] - np.eye(4)[1])
    other = MultinomialModel(model.classes, model.class_probabilities, words, model.lengths)
    sampled = sampled_information(model, FRACTIONS, np.random.default_rng(0))
    off = deviations(sampled, enumerated_information(other))
    assert np.abs(off["excess_log_loss"]).max() > 5
    assert np.abs(off["total_variance"]).max() > 5


@pytest.mark.statistical
def test_binary_features_are_sampled_as_well() -> None:
    rng = np.random.default_rng(3)
    model = BernoulliModel(("a", "b", "c"), [0.2, 0.3, 0.5], rng.uniform(0.1, 0.9, size=(3, 5)))
    sampled = sampled_information(model, FRACTIONS, np.random.default_rng(1))
    for name, off in deviations(sampled, enumerated_information(model)).items():
        assert np.abs(off).max() <= 5, (name, off)


PRIORS, MEANS, VARIANCE = (0.3, 0.7), (-0.8, 1.1), 1.3


def gaussian_by_quadrature() -> tuple[np.ndarray, np.ndarray]:
    """Complete and missing information of two classes on a line: scores by hand, summed over a fine grid."""
    x = np.linspace(-12, 12, 40_001)
    joint, scores = np.zeros((len(x), 2)), np.zeros((len(x), 2, 4))
    for code, (prior, mean) in enumerate(zip(PRIORS, MEANS, strict=True)):
        joint[:, code] = prior * stats.norm.pdf(x, mean, np.sqrt(VARIANCE)) * (x[1] - x[0])
        scores[:, code, 0] = (-1) ** code / prior
        scores[:, code, 1 + code] = (x - mean) / VARIANCE
        scores[:, code, 3] = (x - mean) ** 2 / (2 * VARIANCE**2) - 1 / (2 * VARIANCE)
    posterior = joint / joint.sum(axis=1, keepdims=True)
    spread = scores - np.einsum("xk,xkd->xd", posterior, scores)[:, None, :]
    complete, missing = (np.einsum("xk,xka,xkb->ab", joint, rows, rows) for rows in (scores, spread))
    return complete, missing


@pytest.mark.statistical
def test_gaussian_classes_equal_quadrature() -> None:
    model = GaussianModel(("a", "b"), PRIORS, np.array(MEANS)[:, None], [[[VARIANCE]]], "shared")
    sampled = sampled_information(model, FRACTIONS, np.random.default_rng(4))
    complete, missing = gaussian_by_quadrature()
    np.testing.assert_allclose(sampled.information.complete, complete, rtol=1e-9, atol=1e-9)
    exact = FractionInformation(model.coordinates, sampled.information.complete, missing, "enumeration")
    for name, off in deviations(sampled, exact).items():
        assert np.abs(off).max() <= 5, (name, off)


@pytest.mark.statistical
def test_with_many_parameters_the_bias_of_the_inverse_stays_within_the_standard_error() -> None:
    """Two classes of 40 words, 79 parameters, against the exact formula."""
    from labelworth.fisher.two_class_formula import two_class_information

    rng = np.random.default_rng(5)
    model = MultinomialModel(
        ("a", "b"), [0.4, 0.6], rng.dirichlet(np.full(40, 5.0), size=2), LengthDistribution.single(12)
    )
    sampled = sampled_information(model, FRACTIONS, np.random.default_rng(2))
    for name, off in deviations(sampled, two_class_information(model)).items():
        assert np.abs(off).max() <= 5, (name, off)


def test_directions_only_labels_see_come_out_exactly() -> None:
    model = drawn_multinomial(4, 2, {2: 1.0})
    sampled = sampled_information(model, np.array([0.01]), np.random.default_rng(0))
    exact = enumerated_information(model)
    assert sampled.information.n_open == exact.n_open == 5
    assert sampled.identified(np.array([0.0, 0.01])).tolist() == [False, True]


def model_with_a_rare_word(rare: float) -> MultinomialModel:
    words = [[0.5, 0.5 - rare, rare], [0.2, 0.8 - 2 * rare, 2 * rare]]
    return MultinomialModel(("a", "b"), [0.4, 0.6], words, LengthDistribution.single(2))


@pytest.mark.statistical
@pytest.mark.parametrize("seed", [0, 2, 4])
def test_a_word_too_rare_for_the_first_draws_is_waited_for(seed) -> None:
    """The first 16 384 draws have it about once: batches would agree, thousands of standard errors off."""
    model = model_with_a_rare_word(2e-5)
    sampled = sampled_information(model, FRACTIONS, np.random.default_rng(seed), relative_error=0.05)
    assert sampled.n_hardly_met == 0
    for name, off in deviations(sampled, enumerated_information(model)).items():
        assert np.abs(off).max() <= 5, (name, off)


def test_a_word_that_was_not_drawn_asks_for_more_draws() -> None:
    model = model_with_a_rare_word(1e-9)
    sampled = sampled_information(model, np.array([1.0, 0.5]), np.random.default_rng(0), max_draws=20_000)
    # The last word is in the score of every word of its class.
    assert sampled.n_hardly_met == 4
    assert sampled.draws_needed(FRACTIONS, 10.0) == 2 * sampled.n_drawn


def test_the_same_seed_gives_the_same_figures() -> None:
    model = drawn_multinomial(2, 3, {4: 1.0})
    first, second, third = (
        sampled_information(model, FRACTIONS, np.random.default_rng(seed)).information.missing for seed in (7, 7, 8)
    )
    assert np.array_equal(first, second)
    assert not np.array_equal(first, third)


def test_at_the_limit_it_says_how_many_draws_would_do() -> None:
    model = drawn_multinomial(4, 5, {2: 0.3, 3: 0.6, 5: 0.1}, seed=1)
    sampled = sampled_information(model, FRACTIONS, np.random.default_rng(0), max_draws=20_000)
    assert sampled.n_drawn <= 20_000
    needed = sampled.draws_needed(FRACTIONS, 0.01)
    assert needed > 20_000
    assert sampled.draws_needed(FRACTIONS, 0.005) == pytest.approx(4 * needed, rel=1e-3)


def test_a_sampled_matrix_that_makes_no_sense_is_refused(monkeypatch) -> None:
    """As few draws as parameters: the noise drowns what labels tell."""
    monkeypatch.setattr(by_sampling, "_FIRST_DRAWS", 64)
    monkeypatch.setattr(by_sampling, "_DRAWS_PER_PARAMETER", 1)
    model = MultinomialModel(
        ("a", "b"),
        [0.5, 0.5],
        np.random.default_rng(1).dirichlet(np.full(30, 5.0), size=2),
        LengthDistribution.single(8),
    )
    with pytest.raises(MoreSamplesNeededError, match="64 were drawn; double max_draws"):
        sampled_information(model, np.array([1e-4]), np.random.default_rng(0), max_draws=64)


def test_too_many_parameters_for_dense_matrices_are_refused() -> None:
    model = MultinomialModel(("a", "b"), [0.5, 0.5], np.full((2, 1000), 1e-3), LengthDistribution.single(5))
    with pytest.raises(InvalidInputError, match="1999 x 1999"):
        sampled_information(model, FRACTIONS, np.random.default_rng(0))


def test_classes_that_are_certain_need_no_endless_draws() -> None:
    words = [[0.998, 0.001, 0.001], [0.001, 0.001, 0.998]]
    model = MultinomialModel(("a", "b"), [0.5, 0.5], words, LengthDistribution.single(60))
    sampled = sampled_information(model, np.array([0.5]), np.random.default_rng(0))
    complete = sampled.trace(Weight.COMPLETE, np.array([0.5])).values
    assert sampled.trace(Weight.MISSING, np.array([0.5])).values[0] < 1e-12 * complete[0]
