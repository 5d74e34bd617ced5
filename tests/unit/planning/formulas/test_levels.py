"""Errors and log-losses as they will be measured, against sums over every document and drawn parameters."""

import numpy as np
import pytest
from scipy.stats import norm

from labelworth.data.lengths import LengthDistribution
from labelworth.data.samples import Samples
from labelworth.fisher.dense import DenseInformation
from labelworth.fisher.documents.population import enumerated_information
from labelworth.fisher.information import of_fraction
from labelworth.models.classes.multinomial import MultinomialModel
from labelworth.planning.formulas import levels
from labelworth.planning.formulas.levels import ErrorAccuracy, Inputs, ScoredInputs, entropy, variances_of
from labelworth.tradeoff.asymptotic_accuracy import AsymptoticAccuracy
from support.oracles import Enumeration, enumerated_multinomial
from support.pilots import LENGTH, SHARES, WORDS, drawn_documents, true_model
from support.small_models import drawn_multinomial
from support.statistical import assert_mean_is

FRACTIONS = np.array([1.0, 0.2])
TWO = MultinomialModel(("a", "b"), [0.45, 0.55], [[0.5, 0.3, 0.2], [0.3, 0.35, 0.35]], LengthDistribution.single(4))
THREE = ((0.5, 0.2, 0.1, 0.1, 0.1), (0.1, 0.5, 0.2, 0.1, 0.1), (0.1, 0.1, 0.1, 0.3, 0.4))


def bags() -> np.ndarray:
    """Every way to fill four places with five words, in order."""
    places = np.stack(np.unravel_index(np.arange(5**LENGTH), (5,) * LENGTH), axis=1)
    return np.stack([(places == word).sum(axis=1) for word in range(5)], axis=1)


def joint(shares: tuple[float, ...], words: tuple[tuple[float, ...], ...]) -> np.ndarray:
    """p(x, y) of every sequence of words, by multiplication."""
    return np.stack(
        [share * np.prod(np.power(row, bags()), axis=1) for share, row in zip(shares, words, strict=True)]
    )


def excess(
    model: MultinomialModel, information: DenseInformation, documents: Samples | None = None, **settings: float
) -> ErrorAccuracy:
    """What estimation adds; the documents are asked for only where there are too many to enumerate."""
    return ErrorAccuracy(model, information, documents or drawn_documents(5, 0, 0), adds_level=False, **settings)


def oracle_of(model: MultinomialModel) -> Enumeration:
    return enumerated_multinomial(model.class_probabilities, model.word_probabilities, dict(model.lengths.items()))


def test_two_classes_equal_the_sum_over_all_documents() -> None:
    oracle = enumerated_multinomial(SHARES, WORDS, {LENGTH: 1.0})
    model = true_model()
    accuracy = excess(model, enumerated_information(model), held_labeled=50.0)
    gradient = oracle.complete_scores[:, 0] - oracle.complete_scores[:, 1]
    margin = np.abs(np.log(oracle.joint[:, 0] / oracle.joint[:, 1]))
    for more, unlabeled in ((0.0, 400.0), (30.0, 100.0), (150.0, 0.0)):
        total = (50 + more) * oracle.complete_information + unlabeled * oracle.marginal_information
        spread = np.sqrt(np.einsum("nd,de,ne->n", gradient, np.linalg.inv(total), gradient))
        expected = np.abs(oracle.joint[:, 0] - oracle.joint[:, 1]) @ norm.cdf(-margin / spread)
        assert accuracy.error(np.array([more, unlabeled])) == pytest.approx(expected, rel=1e-9)
    assert accuracy.standard_error(np.array([10.0, 10.0])) is None


def test_three_classes_agree_within_chance() -> None:
    shares = (0.5, 0.3, 0.2)
    oracle = enumerated_multinomial(shares, THREE, {LENGTH: 1.0})
    model = true_model(THREE, shares)
    accuracy = excess(model, enumerated_information(model), held_labeled=50.0)
    total = 50 * oracle.complete_information + 400 * oracle.marginal_information
    errors = np.random.default_rng(0).multivariate_normal(np.zeros(len(total)), np.linalg.inv(total), size=4000)
    moved = np.log(oracle.joint)[:, :, None] + oracle.complete_scores @ errors.T
    chosen = np.take_along_axis(oracle.joint[:, :, None], moved.argmax(axis=1)[:, None], axis=1)[:, 0]
    lost = oracle.joint.max(axis=1).sum() - chosen.sum(axis=0)
    expected, own = lost.mean(), lost.std(ddof=1) / np.sqrt(len(lost))
    error, noise = accuracy.error(np.array([0.0, 400.0])), accuracy.standard_error(np.array([0.0, 400.0]))
    assert noise is not None
    assert abs(error - expected) < 5 * np.hypot(noise, own)
    assert abs(2 * error - expected) > 5 * np.hypot(noise, own)


def realized_losses(model: MultinomialModel, covariance: np.ndarray, n_draws: int, seed: int) -> np.ndarray:
    """Excess error of each drawn estimate: the real classifier of the real parameters, on every document."""
    oracle = oracle_of(model)
    rng = np.random.default_rng(seed)
    errors = rng.multivariate_normal(np.zeros(len(oracle.theta)), covariance, size=n_draws)
    best = oracle.joint.max(axis=1).sum()
    rows = np.arange(len(oracle.joint))
    return np.array(
        [best - oracle.joint[rows, oracle.joint_at(oracle.theta + error).argmax(axis=1)].sum() for error in errors]
    )


@pytest.mark.statistical
@pytest.mark.parametrize("index", [0, 1])
def test_two_classes_equal_what_drawn_parameters_lose(index: int) -> None:
    """False-alarm rate 1e-6; 10 % for the curvature of the log-odds at this size."""
    information, counts = enumerated_information(TWO), 4000 * of_fraction(FRACTIONS[index])
    value = excess(TWO, information).error(counts)
    losses = realized_losses(TWO, information.covariance(counts), 20_000, seed=index)
    assert_mean_is(losses, value, model_tolerance=0.1 * value)
    with pytest.raises(AssertionError):
        assert_mean_is(losses, 1.5 * value, model_tolerance=0.1 * value)


@pytest.mark.statistical
def test_more_classes_equal_what_drawn_parameters_lose(monkeypatch: pytest.MonkeyPatch) -> None:
    """False-alarm rate 1e-6 for the simulation; the prediction's own error and 10 % of curvature are allowed for."""
    monkeypatch.setattr(levels, "_N_DRAWS", 40_000)
    model = drawn_multinomial(3, 3, {4: 1.0}, seed=3)
    information, counts = enumerated_information(model), 1500 * of_fraction(0.3)
    accuracy = excess(model, information)
    value, noise = accuracy.error(counts), accuracy.standard_error(counts)
    assert noise is not None
    own = 5 * noise
    assert own < 0.2 * value
    losses = realized_losses(model, information.covariance(counts), 10_000, seed=2)
    assert_mean_is(losses, value, model_tolerance=0.1 * value + own)
    with pytest.raises(AssertionError):
        assert_mean_is(losses, 1.5 * value, model_tolerance=0.1 * value + own)


@pytest.mark.statistical
def test_draws_agree_with_the_formula_of_two_classes() -> None:
    """Five standard errors: a rate of 6e-7."""
    information, inputs = enumerated_information(TWO), Inputs.enumerated(TWO, 1000)
    assert inputs is not None
    draws = np.random.default_rng(1).standard_normal((information.n_parameters, 50_000))
    scored = ScoredInputs.of(TWO, inputs, information, draws)
    for fraction in FRACTIONS:
        counts = 2000 * of_fraction(fraction)
        exact = excess(TWO, information).error(counts)
        losses = inputs.weights @ scored.lost(variances_of(information, counts))
        error = losses.std(ddof=1) / np.sqrt(len(losses))
        assert error < 0.02 * exact
        assert abs(losses.mean() - exact) <= 5 * error


@pytest.mark.statistical
@pytest.mark.parametrize("n_classes", [2, 3])
def test_sampled_documents_agree_with_all_of_them(n_classes: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Five joint standard errors: a rate of 6e-7."""
    model = TWO if n_classes == 2 else drawn_multinomial(3, 3, {4: 1.0}, seed=3)
    information, designs = enumerated_information(model), [300 * of_fraction(fraction) for fraction in FRACTIONS]

    def figures(documents: Samples | None, seed: int) -> tuple[np.ndarray, np.ndarray]:
        accuracy = excess(model, information, documents, seed=seed)
        noise = [accuracy.standard_error(counts) or 0.0 for counts in designs]
        return np.array([accuracy.error(counts) for counts in designs]), np.array(noise)

    monkeypatch.setattr(levels, "_N_DRAWS", 4000)
    exact, own = figures(None, seed=0)
    monkeypatch.setattr(levels, "_N_DRAWS", 400)
    monkeypatch.setattr(levels, "MOST_ENUMERATED", 0)
    monkeypatch.setattr(levels, "MOST_DOCUMENTS", 20_000)
    sampled, noise = figures(model.sample(20_000, np.random.default_rng(1)), seed=1)
    assert np.all(noise > 0)
    assert np.all(noise < 0.2 * sampled)
    assert np.all(np.abs(sampled - exact) <= 5 * np.hypot(own, noise))


def test_more_labels_and_more_samples_lower_the_error() -> None:
    accuracy, fractions = excess(TWO, enumerated_information(TWO)), np.linspace(0.05, 1, 8)
    few, many = ([accuracy.error(n * of_fraction(fraction)) for fraction in fractions] for n in (300, 3000))
    assert np.all(np.diff(few) < 0)
    assert np.all(np.array(many) < few)


def test_levels_are_those_of_the_true_model() -> None:
    model = true_model()
    both = joint((0.4, 0.6), WORDS)
    posterior = both / both.sum(axis=0)
    bayes = float((both.sum(axis=0) * (1 - posterior.max(axis=0))).sum())
    expected_entropy = -float((both * np.log(posterior)).sum())
    information = enumerated_information(model)
    accuracy = ErrorAccuracy(model, information, drawn_documents(5, 0, 0), held_labeled=50.0)
    assert accuracy.level == pytest.approx(bayes, rel=1e-10)
    assert entropy(model, drawn_documents(5, 0, 0)) == pytest.approx(expected_entropy, rel=1e-10)
    excess = ErrorAccuracy(model, information, drawn_documents(5, 0, 0), held_labeled=50.0, adds_level=False)
    counts = np.array([20.0, 300.0])
    assert accuracy.error(counts) == pytest.approx(bayes + excess.error(counts), rel=1e-12)


def test_a_log_loss_is_its_level_and_its_excess() -> None:
    information = enumerated_information(true_model())
    excess = AsymptoticAccuracy.of(information, "excess_log_loss", held={"everything": 50.0})
    accuracy = AsymptoticAccuracy.of(information, "excess_log_loss", held={"everything": 50.0}, level=0.3)
    counts = np.array([20.0, 300.0])
    assert accuracy.error(counts) == pytest.approx(0.3 + excess.error(counts), rel=1e-12)
    assert accuracy.slope(counts).tolist() == excess.slope(counts).tolist()


def test_labels_alone_are_worth_what_they_are_without_unlabeled_documents() -> None:
    information = enumerated_information(true_model())
    both = AsymptoticAccuracy.of(information, "excess_log_loss", held={"everything": 50.0})
    alone = AsymptoticAccuracy.of(information, "excess_log_loss", menu=["everything"], held={"everything": 50.0})
    assert alone.arms == ("everything",)
    assert alone.error(np.array([70.0])) == both.error(np.array([70.0, 0.0]))
    assert alone.slope(np.array([70.0])).tolist() == both.slope(np.array([70.0, 0.0]))[:1].tolist()
    # Complete labels: half the number of parameters over n for the joint, less for the conditional.
    assert alone.error(np.array([150.0])) == pytest.approx(alone.error(np.array([50.0])) / 2, rel=1e-10)
