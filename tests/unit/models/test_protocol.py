"""Every model keeps what the protocol promises: one list of models, one property per test."""

from typing import Any

import numpy as np
import pytest

from labelworth.data.samples import Samples
from labelworth.errors import InvalidInputError
from labelworth.models.protocol import Family, Model
from support.oracles import numerical_gradient
from support.small_models import CASES, Case

every_model = pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)


def at(model: Any, theta: np.ndarray) -> Any:
    return model.with_tables(model.coordinates.named(theta))


def theta_of(model: Any) -> np.ndarray:
    return model.coordinates.flatten(model.tables)


@pytest.fixture
def rng(seed: int) -> np.random.Generator:
    return np.random.default_rng(seed)


@every_model
def test_tables_begin_with_the_class_probabilities_and_match_the_coordinates(
    case: Case, rng: np.random.Generator
) -> None:
    model: Model = case.draw(rng)
    assert next(iter(model.tables)) == "class_probabilities"
    assert {block.table: block.shape for block in model.coordinates.blocks} == {
        name: table.shape for name, table in model.tables.items()
    }


@every_model
def test_free_coordinates_round_trip(case: Case, rng: np.random.Generator) -> None:
    model = case.draw(rng)
    again = at(model, theta_of(model))
    for name, table in model.tables.items():
        np.testing.assert_allclose(again.tables[name], table, rtol=1e-13)


@every_model
def test_unconstrained_coordinates_round_trip(case: Case, rng: np.random.Generator) -> None:
    model = case.draw(rng)
    vector = model.coordinates.unconstrained(model.tables)
    assert vector.shape == (sum(block.n_unconstrained for block in model.coordinates.blocks),)
    for name, table in model.coordinates.from_unconstrained(vector).items():
        np.testing.assert_allclose(table, model.tables[name], rtol=1e-13)


@every_model
def test_any_unconstrained_step_gives_a_valid_model(case: Case, rng: np.random.Generator) -> None:
    model = case.draw(rng)
    vector = model.coordinates.unconstrained(model.tables)
    stepped = model.with_tables(model.coordinates.from_unconstrained(vector + rng.standard_normal(vector.shape)))
    assert np.isfinite(stepped.log_joint(model.sample(5, rng))).all()


@every_model
def test_class_scores_are_the_gradient_of_log_joint(case: Case, rng: np.random.Generator) -> None:
    model = case.draw(rng)
    samples = model.sample(7, rng)
    numerical = numerical_gradient(lambda theta: at(model, theta).log_joint(samples), theta_of(model))
    # Richardson differences with steps of 1e-6 are good to about 1e-9 of the largest value.
    np.testing.assert_allclose(model.class_scores(samples), numerical, rtol=1e-7, atol=1e-6)


@every_model
def test_complete_curvature_is_minus_the_hessian(case: Case, rng: np.random.Generator) -> None:
    model = case.draw(rng)
    samples = model.sample(7, rng)
    weights = rng.dirichlet(np.ones(3), size=7) * rng.uniform(0.5, 2.0, size=(7, 1))

    def gradient(theta: np.ndarray) -> np.ndarray:
        return np.einsum("nk,nkd->d", weights, at(model, theta).class_scores(samples))

    numerical = -numerical_gradient(gradient, theta_of(model))
    curvature = model.complete_curvature(samples, weights)
    np.testing.assert_allclose(curvature, numerical, rtol=1e-6, atol=1e-6 * np.abs(numerical).max())
    np.testing.assert_allclose(curvature, curvature.T, rtol=1e-12)


@every_model
def test_divergence_is_half_the_squared_step_in_the_complete_information(
    case: Case, rng: np.random.Generator
) -> None:
    model = case.draw(rng)
    step = 1e-5 * rng.standard_normal(model.coordinates.n_free)
    expected = 0.5 * step @ model.complete_information() @ step
    np.testing.assert_allclose(model.divergence(at(model, theta_of(model) + step)), expected, rtol=1e-3)


@every_model
def test_arrays_build_the_same_model_again(case: Case, rng: np.random.Generator) -> None:
    model = case.draw(rng)
    again = type(model).from_arrays(model.to_arrays(), classes=model.classes)
    samples = model.sample(5, rng)
    np.testing.assert_array_equal(again.log_joint(samples), model.log_joint(samples))


@every_model
def test_a_missing_array_is_named(case: Case, rng: np.random.Generator) -> None:
    model = case.draw(rng)
    arrays = model.to_arrays()
    arrays.pop("class_probabilities")
    with pytest.raises(InvalidInputError, match="class_probabilities"):
        type(model).from_arrays(arrays, classes=model.classes)


@every_model
def test_samples_with_other_columns_are_refused(case: Case, rng: np.random.Generator) -> None:
    model = case.draw(rng)
    samples = model.sample(5, rng)
    narrow = Samples(samples.features[:, :-1], samples.evidence)
    with pytest.raises(InvalidInputError, match="features"):
        model.log_joint(narrow)


@every_model
def test_samples_are_labeled_in_proportion_to_the_class_probabilities(case: Case, rng: np.random.Generator) -> None:
    model = case.draw(rng)
    counts = model.sample(4000, rng).evidence.label_counts()
    # Six binomial standard errors: false alarms below 1e-6 over the three classes.
    slack = 6 * np.sqrt(4000 * model.class_probabilities * (1 - model.class_probabilities))
    assert (np.abs(counts - 4000 * model.class_probabilities) <= slack).all()


@every_model
def test_relabeling_the_classes_permutes_log_joint(case: Case, rng: np.random.Generator) -> None:
    model = case.draw(rng)
    samples = model.sample(6, rng)
    order = [2, 0, 1]
    tables = {
        name: table[:, order] if name == "class_probabilities" else table[order] if len(table) == 3 else table
        for name, table in model.tables.items()
    }
    permuted = model.with_tables(tables)
    np.testing.assert_allclose(permuted.log_joint(samples), model.log_joint(samples)[:, order], rtol=1e-12)


def fitted_pieces(case: Case, rng: np.random.Generator, **strengths: float) -> tuple[Family[Any], Any, Samples]:
    model = case.draw(rng)
    samples = model.sample(40, rng)
    family = case.family(samples, **strengths).adapted(samples, np.ones(40))
    return family, model, samples


@every_model
def test_maximize_is_a_stationary_point_of_expected_likelihood_plus_prior(
    case: Case, rng: np.random.Generator
) -> None:
    family, model, samples = fitted_pieces(case, rng, smoothing=0.7, class_smoothing=0.3)
    weights = rng.uniform(0.5, 2.0, size=40)
    hidden = samples.hide(np.arange(10, 40))
    expectation = family.prepare(hidden, weights).expectation(model)
    posterior = np.exp(model.log_joint(hidden))
    posterior[:10] = np.eye(3)[samples.evidence.codes[:10]]
    posterior *= (weights / posterior.sum(axis=1))[:, None]
    best = family.maximize(expectation.statistics)

    def objective(theta: np.ndarray) -> np.ndarray:
        other = at(best, theta)
        return np.array(np.sum(posterior * other.log_joint(hidden)) + family.log_prior(other))

    gradient = numerical_gradient(objective, theta_of(best), step=1e-5)
    scale = np.abs(np.einsum("nk,nkd->d", posterior, np.abs(best.class_scores(hidden))))
    np.testing.assert_array_less(np.abs(gradient), 1e-6 * (scale + 1))


@every_model
def test_prior_curvature_is_minus_the_hessian_of_the_log_prior(case: Case, rng: np.random.Generator) -> None:
    family, model, _ = fitted_pieces(case, rng, smoothing=0.7, class_smoothing=0.3)

    def gradient(theta: np.ndarray) -> np.ndarray:
        return numerical_gradient(lambda inner: np.array(family.log_prior(at(model, inner))), theta, step=1e-4)

    numerical = -numerical_gradient(gradient, theta_of(model), step=1e-3)
    curvature = family.prior_curvature(model)
    np.testing.assert_allclose(curvature, numerical, rtol=1e-3, atol=1e-3 * np.abs(curvature).max())


@every_model
def test_a_smoother_family_has_a_stronger_prior(case: Case, rng: np.random.Generator) -> None:
    family, model, _ = fitted_pieces(case, rng)
    np.testing.assert_allclose(family.smoother(3.0).log_prior(model), 3 * family.log_prior(model), rtol=1e-12)


@every_model
def test_without_a_prior_the_smoother_family_has_one(case: Case, rng: np.random.Generator) -> None:
    on_means = {"mean_smoothing": 0.0} if case.name.startswith("gaussian") else {}
    family, model, _ = fitted_pieces(case, rng, smoothing=0.0, class_smoothing=0.0, **on_means)
    assert family.log_prior(model) == 0.0
    assert family.smoother(2.0).smoothing == family.smoother(2.0).class_smoothing == 2.0
    assert abs(family.smoother(2.0).log_prior(model)) > 1.0


@every_model
def test_features_say_nothing_under_the_neutral_model(case: Case, rng: np.random.Generator) -> None:
    family, _, samples = fitted_pieces(case, rng)
    log_joint = family.neutral().log_joint(samples)
    np.testing.assert_allclose(log_joint, log_joint[:, :1] @ np.ones((1, 3)), rtol=1e-12)


@every_model
def test_negative_strengths_are_refused(case: Case, rng: np.random.Generator) -> None:
    samples = case.draw(rng).sample(5, rng)
    with pytest.raises(InvalidInputError, match="at least 0"):
        case.family(samples, smoothing=-1.0)
