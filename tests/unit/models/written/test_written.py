"""The multinomial and the Gaussian written by hand: the same information as the built-in ones."""

from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.polynomial.hermite_e import hermegauss
from scipy.special import gammaln
from scipy.stats import t as student

import labelworth as lw
from labelworth.criteria.information import document_information
from labelworth.data.lengths import LengthDistribution
from labelworth.data.samples import Samples
from labelworth.data.shards.folder import Shards
from labelworth.errors import InvalidInputError
from labelworth.estimation.fit import fit
from labelworth.estimators.written import WrittenModel
from labelworth.fisher.documents.observed import observed_information
from labelworth.fisher.documents.population import enumerated_information
from labelworth.models.classes.gaussian import GaussianModel
from labelworth.models.classes.multinomial import MultinomialModel
from support.oracles import numerical_gradient

jax = pytest.importorskip("jax")
jnp = jax.numpy

FALSE_ALARM = 1e-6
N_BATCHES = 64  # of sampled information, so that standard errors have 63 degrees of freedom
LENGTHS = {2: 0.3, 4: 0.7}


def multinomial_log_joint(parameters: Any, x: Any) -> Any:
    # The length has a probability too, and a bag as many orders as the coefficient says: the x then sum to one.
    length = x.sum()
    length_probability = jnp.where(length == 2, 0.3, 0.7)
    ways = jax.scipy.special.gammaln(length + 1) - jax.scipy.special.gammaln(x + 1).sum()
    words = jnp.log(parameters["word_probabilities"]) @ x
    return jnp.log(parameters["class_probabilities"]) + words + ways + jnp.log(length_probability)


def all_bags(n_words: int) -> np.ndarray:
    grid = np.array(list(product(range(5), repeat=n_words)), dtype=float)
    return grid[np.isin(grid.sum(axis=1), list(LENGTHS))]


def multinomial_sample(parameters: Any, n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    codes = rng.choice(3, size=n, p=parameters["class_probabilities"])
    lengths = rng.choice([2, 4], size=n, p=[0.3, 0.7])
    return rng.multinomial(lengths, parameters["word_probabilities"][codes]), codes


MULTINOMIAL = {
    "class_probabilities": np.array([0.5, 0.3, 0.2]),
    "word_probabilities": np.array([[0.6, 0.3, 0.1], [0.2, 0.3, 0.5], [0.1, 0.7, 0.2]]),
}
NAMES = ("a", "b", "c")


def hand_multinomial(**doors: Any) -> WrittenModel:
    constraints = dict.fromkeys(MULTINOMIAL, "simplex")
    return WrittenModel(multinomial_log_joint, MULTINOMIAL, classes=NAMES, constraints=constraints, **doors)


def built_in_multinomial() -> MultinomialModel:
    return MultinomialModel(NAMES, *MULTINOMIAL.values(), LengthDistribution.from_mapping(LENGTHS))


GAUSSIAN = {
    "class_probabilities": np.array([0.6, 0.4]),
    "means": np.array([[0.0, 0.0], [1.5, -1.0]]),
    "triangle": np.array([1.0, 0.3, 0.8]),  # of the covariance: (0, 0), (1, 0), (1, 1)
}


def gaussian_log_joint(parameters: Any, x: Any) -> Any:
    a, b, c = parameters["triangle"]
    covariance = jnp.array([[a, b], [b, c]])
    densities = jax.vmap(lambda mean: jax.scipy.stats.multivariate_normal.logpdf(x, mean, covariance))
    return jnp.log(parameters["class_probabilities"]) + densities(parameters["means"])


def gaussian_sample(parameters: Any, n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    codes = rng.choice(2, size=n, p=parameters["class_probabilities"])
    a, b, c = parameters["triangle"]
    root = np.linalg.cholesky(np.array([[a, b], [b, c]]))
    return parameters["means"][codes] + rng.standard_normal((n, 2)) @ root.T, codes


def gaussian_m_step(responsibilities: np.ndarray, X: np.ndarray, weights: np.ndarray) -> dict[str, np.ndarray]:
    weighted = weights[:, None] * responsibilities
    totals = weighted.sum(axis=0)
    means = weighted.T @ X / totals[:, None]
    centered = X[:, None, :] - means
    covariance = np.einsum("nk,nka,nkb->ab", weighted, centered, centered) / totals.sum()
    triangle = covariance[np.tril_indices(2)]
    return {"class_probabilities": totals / totals.sum(), "means": means, "triangle": triangle}


def hand_gaussian(**doors: Any) -> WrittenModel:
    constraints = {"class_probabilities": "simplex"}
    return WrittenModel(gaussian_log_joint, GAUSSIAN, classes=("a", "b"), constraints=constraints, **doors)


def built_in_gaussian() -> GaussianModel:
    a, b, c = GAUSSIAN["triangle"]
    return GaussianModel(
        ("a", "b"),
        GAUSSIAN["class_probabilities"],
        GAUSSIAN["means"],
        np.array([[[a, b], [b, c]]]),
        "shared",
    )


def test_the_enumerated_information_of_a_multinomial_is_the_built_in_one() -> None:
    model = hand_multinomial(support=all_bags(3)).at()
    information, expected = enumerated_information(model), enumerated_information(built_in_multinomial())
    np.testing.assert_allclose(information.matrices, expected.matrices, rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(information.missing, expected.missing, rtol=1e-8, atol=1e-8)
    closed_form = built_in_multinomial().complete_information()
    np.testing.assert_allclose(model.complete_information(), closed_form, rtol=1e-8, atol=1e-8)


def test_the_scores_of_a_gaussian_integrate_to_the_closed_form() -> None:
    # Scores are quadratic in x, so a Gauss-Hermite rule of five nodes per axis integrates their squares exactly.
    nodes, weights = hermegauss(5)
    grid = np.stack(np.meshgrid(nodes, nodes), axis=-1).reshape(-1, 2)
    shares = np.outer(weights, weights).ravel() / weights.sum() ** 2
    model, expected = hand_gaussian().at(n_features=2), built_in_gaussian()
    root = np.linalg.cholesky(expected.covariances[0])
    total = np.zeros((8, 8))
    for code, probability in enumerate(expected.class_probabilities):
        rows = expected.means[code] + grid @ root.T
        scores = model._scores(rows)[:, code]
        total += probability * np.einsum("n,ni,nj->ij", shares, scores, scores)
    np.testing.assert_allclose(total, expected.complete_information(), rtol=1e-8, atol=1e-8)


def test_the_observed_information_of_a_gaussian_is_the_built_in_one(seed: int) -> None:
    rng = np.random.default_rng(seed)
    expected = built_in_gaussian()
    samples = expected.sample(400, rng).hide(np.arange(80, 400))
    model = fit(hand_gaussian()._family(samples), samples, tolerance=1e-13).model
    a, b, c = model.parameters["triangle"]
    same = GaussianModel(
        ("a", "b"),
        model.parameters["class_probabilities"],
        model.parameters["means"],
        np.array([[[a, b], [b, c]]]),
        "shared",
    )
    np.testing.assert_allclose(model.class_scores(samples), same.class_scores(samples), rtol=1e-8, atol=1e-8)
    observed, built_in = (observed_information(each, samples, np.zeros((8, 8))) for each in (model, same))
    np.testing.assert_allclose(observed.matrices, built_in.matrices, rtol=1e-8, atol=1e-8)


@pytest.mark.statistical
def test_sampled_information_is_that_of_the_built_in_models(seed: int) -> None:
    # The table of the built-in covariance has its off-diagonal entries twice, and so another total variance.
    criteria = ("log_volume", "excess_log_loss")
    pairs = [
        (hand_multinomial(sample=multinomial_sample).at(), built_in_multinomial(), (*criteria, "total_variance")),
        (hand_gaussian(sample=gaussian_sample).at(), built_in_gaussian(), criteria),
    ]
    distances = []
    for model, expected, names in pairs:
        question = {"labeled_fractions": [1.0, 0.5, 0.1], "n_samples": 1000, "seed": seed, "max_draws": 1 << 15}
        ours = document_information(model, **question)
        theirs = document_information(expected, **question | {"seed": seed + 1000})
        assert ours.method == "sampling"
        for point, other in zip(ours.points, theirs.points, strict=True):
            for name in names:
                error = np.hypot(point.standard_errors[name], other.standard_errors.get(name, 0.0))
                distances.append(abs(point.figures[name] - other.figures[name]) / error)
    # Student's law for the standard errors, split over all figures: one false alarm in a million runs.
    assert max(distances) < student.isf(FALSE_ALARM / 2 / len(distances), N_BATCHES - 1)


@pytest.mark.statistical
def test_the_same_comparison_refuses_another_model(seed: int) -> None:
    other = {**GAUSSIAN, "means": np.array([[0.0, 0.0], [1.3, -1.0]])}
    question = {"labeled_fractions": [0.1], "n_samples": 1000, "seed": seed, "max_draws": 1 << 15}
    ours = document_information(hand_gaussian(sample=gaussian_sample).at(other), **question).points[0]
    theirs = document_information(built_in_gaussian(), **question | {"seed": seed + 1000}).points[0]
    name = "excess_log_loss"
    error = np.hypot(ours.standard_errors[name], theirs.standard_errors[name])
    assert abs(ours.figures[name] - theirs.figures[name]) / error > student.isf(FALSE_ALARM / 2, N_BATCHES - 1)


def at(model: Any, theta: np.ndarray) -> Any:
    return model.with_tables(model.coordinates.named(theta))


@pytest.mark.parametrize("hand", [hand_multinomial, hand_gaussian])
def test_scores_and_curvatures_are_derivatives(hand: Any, seed: int) -> None:
    rng = np.random.default_rng(seed)
    model = hand(sample=multinomial_sample if hand is hand_multinomial else gaussian_sample).at()
    samples = model.sample(7, rng)
    theta = model.coordinates.flatten(model.tables)
    numerical = numerical_gradient(lambda other: at(model, other).log_joint(samples), theta)
    np.testing.assert_allclose(model.class_scores(samples), numerical, rtol=1e-7, atol=1e-6)
    weights = rng.dirichlet(np.ones(len(model.classes)), size=7)

    def gradient(other: np.ndarray) -> np.ndarray:
        return np.einsum("nk,nkd->d", weights, at(model, other).class_scores(samples))

    curvature = -numerical_gradient(gradient, theta)
    np.testing.assert_allclose(
        model.complete_curvature(samples, weights), curvature, rtol=1e-6, atol=1e-6 * np.abs(curvature).max()
    )


def test_the_slope_of_the_objective_is_its_derivative_with_all_kinds_of_evidence(seed: int) -> None:
    rng = np.random.default_rng(seed)
    classifier = hand_multinomial(log_prior=lambda parameters: jnp.log(parameters["class_probabilities"]).sum())
    labels = ["a", None, ["a", "c"], "c", None, ["b", "c"], "b"]
    rows = all_bags(3)[rng.integers(15, size=7)]
    samples = classifier._read_to_fit(rows, labels, None)
    laid_out: Any = classifier._family(samples).prepare(samples, rng.uniform(0.5, 2.0, size=7))
    model = classifier.at(n_features=3)
    vector = model.coordinates.unconstrained(model.tables) + 0.1 * rng.standard_normal(12)
    moved = model.with_tables(model.coordinates.from_unconstrained(vector))
    value, slope = laid_out.slope(vector)
    expected = laid_out.expectation(moved).log_likelihood + laid_out.family.log_prior(moved)
    np.testing.assert_allclose(value, expected, rtol=1e-12)
    numerical = numerical_gradient(lambda other: np.array(laid_out.slope(other)[0]), vector)
    np.testing.assert_allclose(slope, numerical, rtol=1e-6, atol=1e-6)


def test_em_and_slope_find_the_same_maximum(seed: int) -> None:
    rng = np.random.default_rng(seed)
    samples = built_in_gaussian().sample(300, rng).hide(np.arange(60, 300))
    climbed = fit(hand_gaussian()._family(samples), samples, tolerance=1e-12)
    stepped = fit(hand_gaussian(maximize=gaussian_m_step)._family(samples), samples, tolerance=1e-12)
    assert climbed.converged
    assert stepped.converged
    np.testing.assert_allclose(climbed.log_likelihood, stepped.log_likelihood, rtol=1e-9)
    for name, table in climbed.model.tables.items():
        np.testing.assert_allclose(table, stepped.model.tables[name], rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("m_step", [{}, {"maximize": gaussian_m_step}], ids=["slope", "m step"])
def test_rows_in_shards_are_fitted_as_those_in_memory(m_step: dict[str, Any], seed: int, tmp_path: Path) -> None:
    rng = np.random.default_rng(seed)
    samples = built_in_gaussian().sample(40, rng).hide(np.arange(20, 40))
    shards = Shards.write(tmp_path / "shards", samples, stored_per_shard=40)
    assert len(shards.manifest.shards) > 1
    family = hand_gaussian(**m_step)._family(samples)
    # Rows that were read lie otherwise in memory, and libraries may add them in another order.
    np.testing.assert_allclose(fit(family, shards.data).objective, fit(family, samples).objective, rtol=1e-12)


def test_rows_of_a_support_and_of_the_data_are_drawn_where_there_is_no_sampler(seed: int) -> None:
    rng = np.random.default_rng(seed)
    drawn = hand_multinomial(support=all_bags(3)).at().sample(20_000, rng)
    expected = built_in_multinomial()
    # Six binomial standard errors.
    shares = drawn.evidence.label_counts() / 20_000
    np.testing.assert_allclose(shares, expected.class_probabilities, atol=6 * np.sqrt(0.25 / 20_000))
    mean = sum(m * q for m, q in LENGTHS.items()) * expected.class_probabilities @ expected.word_probabilities
    np.testing.assert_allclose(drawn.vectors.mean(axis=0), mean, atol=6 * np.sqrt(2.0 / 20_000))
    rows = all_bags(3)[:9]
    classifier = hand_multinomial()
    samples = Samples(rows, drawn.evidence.take(np.arange(9)))
    model = classifier._family(samples).adapted(samples, np.ones(9)).neutral()
    assert {tuple(row) for row in model.sample(50, rng).vectors} <= {tuple(row) for row in rows}


def test_a_sampler_of_rare_words_is_taken_and_one_that_never_draws_a_word_refused() -> None:
    rare = {
        "class_probabilities": np.array([0.9, 0.09, 0.01]),
        "word_probabilities": np.array([[0.899, 0.1, 0.001], [0.0005, 0.9, 0.0995], [0.5, 0.4995, 0.0005]]),
    }
    model = hand_multinomial(sample=multinomial_sample).at(rare)
    assert model.sample(10, np.random.default_rng(0)).n_samples == 10

    def never_the_first(parameters: Any, n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        words = parameters["word_probabilities"] * [0, 1, 1]
        others = {**parameters, "word_probabilities": words / words.sum(axis=1, keepdims=True)}
        return multinomial_sample(others, n, rng)

    seldom = {**MULTINOMIAL, "word_probabilities": np.array([[0.01, 0.89, 0.1], [0.02, 0.48, 0.5], [0.1, 0.7, 0.2]])}
    with pytest.raises(InvalidInputError, match=r"do not describe the same .* the score of word_probabilities"):
        hand_multinomial(sample=never_the_first).at(seldom).sample(10, np.random.default_rng(0))


def test_multinomial_coefficients_are_counted_in_the_page_of_the_support() -> None:
    joint = np.exp(hand_multinomial(support=all_bags(3)).at().log_joint_of(all_bags(3)))
    bags = all_bags(3)
    ways = np.exp(gammaln(bags.sum(axis=1) + 1) - gammaln(bags + 1).sum(axis=1))
    lengths = np.where(bags.sum(axis=1) == 2, 0.3, 0.7)
    words = np.exp(bags @ np.log(MULTINOMIAL["word_probabilities"]).T)
    np.testing.assert_allclose(joint, (lengths * ways)[:, None] * words * MULTINOMIAL["class_probabilities"])


def three_words_log_joint(parameters: Any, x: Any) -> Any:
    ways = jnp.log(6.0) - jax.scipy.special.gammaln(x + 1).sum()
    return jnp.log(parameters["class_probabilities"]) + jnp.log(parameters["word_probabilities"]) @ x + ways


def test_a_plan_with_the_multinomial_written_by_hand_is_the_built_in_plan(seed: int) -> None:
    rng = np.random.default_rng(seed)
    truth = {name: table[:2] for name, table in MULTINOMIAL.items()} | {"class_probabilities": np.array([0.6, 0.4])}
    codes = rng.choice(2, size=500, p=truth["class_probabilities"])
    counts = rng.multinomial(3, truth["word_probabilities"][codes])
    labels = np.where(np.arange(500) < 100, codes, -1)
    grid = np.array(list(product(range(4), repeat=3)), dtype=float)
    hand = WrittenModel(
        three_words_log_joint,
        truth,
        classes=(0, 1),
        constraints=dict.fromkeys(truth, "simplex"),
        support=grid[grid.sum(axis=1) == 3],
        tol=1e-10,
    )
    built_in = lw.MultinomialNaiveBayes(alpha=0.0, class_smoothing=0.0, tol=1e-10)
    question = {"target": 0.004, "criterion": "excess_log_loss", "source": "asymptotic", "n_draws": 10}
    plans = [lw.plan(counts, labels, model=model, use_unlabeled="yes", **question) for model in (hand, built_in)]
    errors = [plan.recommended.error for plan in plans]
    np.testing.assert_allclose(errors[0], errors[1], rtol=1e-4)
    np.testing.assert_allclose(plans[0].recommended.labels, plans[1].recommended.labels, atol=1)
    assert plans[0].recommended.labels > 0
