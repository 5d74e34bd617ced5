"""Sampled figures against enumeration.

Five of the own standard errors, from 64 batches, are exceeded with probability 5e-6 per figure (Student's t, 63
degrees of freedom). The figures of one model move together, so the rate per test is well below 1e-4; seeds are fixed.
"""

import numpy as np
import pytest
from scipy import stats

from labelworth.data.lengths import LengthDistribution
from labelworth.errors import InvalidInputError, MoreSamplesNeededError
from labelworth.fisher import sampling
from labelworth.fisher.criteria import CRITERIA
from labelworth.fisher.dense import DenseInformation
from labelworth.fisher.documents.population import LABEL_OR_NOT, DocumentPopulation, enumerated_information
from labelworth.fisher.information import of_fraction, over_fractions
from labelworth.fisher.sampling import sampled
from labelworth.models.classes.bernoulli import BernoulliModel
from labelworth.models.classes.gaussian import GaussianModel
from labelworth.models.classes.multinomial import MultinomialModel
from support.small_models import ENUMERABLE, drawn_multinomial

FRACTIONS = np.array([1.0, 0.5, 0.1, 0.01])


def sampled_information(model, fractions, rng, **options) -> DenseInformation:
    weights = [of_fraction(fraction) for fraction in fractions]
    return sampled(DocumentPopulation(model), LABEL_OR_NOT, weights, rng, **options)


def figures(information, fractions=FRACTIONS):
    return [information.figures(of_fraction(fraction)) for fraction in fractions]


def deviations(information, exact) -> dict[str, np.ndarray]:
    """By how many of its standard errors each sampled figure is off."""
    off = {}
    for name in CRITERIA:
        figure = over_fractions(information, name, FRACTIONS, n_samples=500)
        exactly = over_fractions(exact, name, FRACTIONS, n_samples=500).values
        off[name] = (figure.values - exactly) / figure.standard_errors
    return off


@pytest.mark.statistical
@pytest.mark.parametrize(("n_classes", "n_words", "lengths"), ENUMERABLE)
def test_figures_lie_within_five_of_their_standard_errors_of_at_most_a_hundredth(n_classes, n_words, lengths) -> None:
    model = drawn_multinomial(n_classes, n_words, lengths, seed=2)
    information = sampled_information(model, FRACTIONS, np.random.default_rng(0))
    for name, off in deviations(information, enumerated_information(model)).items():
        assert np.abs(off).max() <= 5, (name, off)
        figure = over_fractions(information, name, FRACTIONS, n_samples=500)
        assert np.all(figure.standard_errors <= 0.01 * np.abs(figure.values)), name


@pytest.mark.statistical
def test_figures_of_another_model_are_told_apart() -> None:
    """The negative control: a tenth more of one word is far outside five standard errors."""
    model = drawn_multinomial(3, 4, {3: 0.5, 5: 0.5}, seed=2)
    words = model.word_probabilities.copy()
    words[0] += 0.1 * (np.eye(4)[0] - np.eye(4)[1])
    other = MultinomialModel(model.classes, model.class_probabilities, words, model.lengths)
    information = sampled_information(model, FRACTIONS, np.random.default_rng(0))
    off = deviations(information, enumerated_information(other))
    assert np.abs(off["excess_log_loss"]).max() > 5
    assert np.abs(off["total_variance"]).max() > 5


@pytest.mark.statistical
def test_binary_features_are_sampled_as_well() -> None:
    rng = np.random.default_rng(3)
    model = BernoulliModel(("a", "b", "c"), [0.2, 0.3, 0.5], rng.uniform(0.1, 0.9, size=(3, 5)))
    information = sampled_information(model, FRACTIONS, np.random.default_rng(1))
    for name, off in deviations(information, enumerated_information(model)).items():
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
    information = sampled_information(model, FRACTIONS, np.random.default_rng(4))
    complete, missing = gaussian_by_quadrature()
    np.testing.assert_allclose(information.complete, complete, rtol=1e-9, atol=1e-9)
    exact = DenseInformation.of_labels(model.coordinates, information.complete, missing, "enumeration")
    for name, off in deviations(information, exact).items():
        assert np.abs(off).max() <= 5, (name, off)


@pytest.mark.statistical
def test_with_many_parameters_the_bias_of_the_inverse_stays_within_the_standard_error() -> None:
    """Two classes of 40 words, 79 parameters, against the exact formula."""
    from labelworth.fisher.documents.two_class_formula import two_class_information

    rng = np.random.default_rng(5)
    model = MultinomialModel(
        ("a", "b"), [0.4, 0.6], rng.dirichlet(np.full(40, 5.0), size=2), LengthDistribution.single(12)
    )
    information = sampled_information(model, FRACTIONS, np.random.default_rng(2))
    for name, off in deviations(information, two_class_information(model)).items():
        assert np.abs(off).max() <= 5, (name, off)


def test_directions_only_labels_see_come_out_exactly() -> None:
    model = drawn_multinomial(4, 2, {2: 1.0})
    information = sampled_information(model, np.array([0.01]), np.random.default_rng(0))
    exact = enumerated_information(model)
    for known in (information, exact):
        shares, _ = known.whitened.shares(of_fraction(0.0))
        assert (shares <= 1e-10).sum() == 5
    assert [item.is_identifiable for item in figures(information, (0.0, 0.01))] == [False, True]


def model_with_a_rare_word(rare: float) -> MultinomialModel:
    words = [[0.5, 0.5 - rare, rare], [0.2, 0.8 - 2 * rare, 2 * rare]]
    return MultinomialModel(("a", "b"), [0.4, 0.6], words, LengthDistribution.single(2))


@pytest.mark.statistical
@pytest.mark.parametrize("seed", [0, 2, 4])
def test_a_word_too_rare_for_the_first_draws_is_waited_for(seed) -> None:
    """The first 16 384 draws have it about once: batches would agree, thousands of standard errors off."""
    model = model_with_a_rare_word(2e-5)
    information = sampled_information(model, FRACTIONS, np.random.default_rng(seed), relative_error=0.05)
    assert information.n_hardly_met == 0
    for name, off in deviations(information, enumerated_information(model)).items():
        assert np.abs(off).max() <= 5, (name, off)


def test_a_word_that_was_not_drawn_asks_for_more_draws() -> None:
    model = model_with_a_rare_word(1e-9)
    information = sampled_information(model, np.array([1.0, 0.5]), np.random.default_rng(0), max_draws=20_000)
    # The last word is in the score of every word of its class.
    assert information.n_hardly_met == 4
    assert any("too rare to be drawn" in note for note in information.notes(figures(information, (1.0, 0.5)), 10.0))


def test_the_same_seed_gives_the_same_figures() -> None:
    model = drawn_multinomial(2, 3, {4: 1.0})
    first, second, third = (
        sampled_information(model, FRACTIONS, np.random.default_rng(seed)).missing for seed in (7, 7, 8)
    )
    assert np.array_equal(first, second)
    assert not np.array_equal(first, third)


def test_at_the_limit_it_says_how_many_draws_would_do() -> None:
    model = drawn_multinomial(4, 5, {2: 0.3, 3: 0.6, 5: 0.1}, seed=1)
    information = sampled_information(model, FRACTIONS, np.random.default_rng(0), max_draws=20_000)
    assert information.n_drawn <= 20_000
    needed = information.draws_needed(figures(information), 0.01)
    assert needed > 20_000
    assert information.draws_needed(figures(information), 0.005) == pytest.approx(4 * needed, rel=1e-3)


def test_a_sampled_matrix_that_makes_no_sense_is_refused(monkeypatch) -> None:
    """As few draws as parameters: the noise drowns what labels tell."""
    monkeypatch.setattr(sampling, "_FIRST_DRAWS", 64)
    monkeypatch.setattr(sampling, "_DRAWS_PER_PARAMETER", 1)
    model = MultinomialModel(
        ("a", "b"),
        [0.5, 0.5],
        np.random.default_rng(1).dirichlet(np.full(30, 5.0), size=2),
        LengthDistribution.single(8),
    )
    information = sampled_information(model, np.array([1e-4]), np.random.default_rng(0), max_draws=64)
    with pytest.raises(MoreSamplesNeededError, match="64 draws"):
        information.figures(of_fraction(1e-4))


def test_too_many_parameters_for_dense_matrices_are_refused() -> None:
    model = MultinomialModel(("a", "b"), [0.5, 0.5], np.full((2, 1000), 1e-3), LengthDistribution.single(5))
    with pytest.raises(InvalidInputError, match="1999 x 1999"):
        sampled_information(model, FRACTIONS, np.random.default_rng(0))


def test_classes_that_are_certain_need_no_endless_draws() -> None:
    words = [[0.998, 0.001, 0.001], [0.001, 0.001, 0.998]]
    model = MultinomialModel(("a", "b"), [0.5, 0.5], words, LengthDistribution.single(60))
    information = sampled_information(model, np.array([0.5]), np.random.default_rng(0))
    (half,) = figures(information, (0.5,))
    assert abs(half.values["excess_log_loss"]) < 1e-12 * half.values["excess_joint_log_loss"]
    assert information.n_drawn == 16_384
