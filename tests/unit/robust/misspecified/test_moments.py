"""Moments of scores over real rows equal numerical derivatives of the likelihoods."""

from typing import Any

import numpy as np
import pytest

from labelworth.errors import InvalidInputError
from labelworth.robust.misspecified.row_forms import RowForms
from labelworth.robust.misspecified.sandwich import score_moments
from support.oracles import numerical_gradient
from support.small_models import CASES, Case

every_model = pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)


@pytest.fixture
def rng(seed: int) -> np.random.Generator:
    return np.random.default_rng(seed)


def row_log_likelihoods(model: Any, samples: Any, theta: np.ndarray) -> np.ndarray:
    """log p(x, y) and log p(x) of every row, (n, 2)."""
    joint = model.with_tables(model.coordinates.named(theta)).log_joint(samples)
    labeled = joint[np.arange(len(joint)), samples.evidence.codes]
    return np.stack([labeled, np.logaddexp.reduce(joint, axis=1)], axis=1)


def numerical_hessian(function: Any, theta: np.ndarray) -> np.ndarray:
    step = 1e-4

    def gradient(at: np.ndarray) -> np.ndarray:
        return numerical_gradient(function, at, step=step)

    return numerical_gradient(gradient, theta, step=step)


@every_model
def test_moments_equal_numerical_derivatives(case: Case, rng: np.random.Generator) -> None:
    # Rows of one model, moments at another: nothing may rest on the model being right.
    population = case.draw(rng).sample(12, rng).weighted(rng.uniform(0.5, 2.0, size=12))
    model = case.draw(rng)
    theta = model.coordinates.flatten(model.tables)
    shares = population.sample_weights / population.sample_weights.sum()

    def mean(at: np.ndarray) -> np.ndarray:
        return shares @ row_log_likelihoods(model, population, at)

    scores = numerical_gradient(lambda at: row_log_likelihoods(model, population, at), theta)
    hessian = numerical_hessian(mean, theta)
    moments = score_moments(model, population)
    scale = np.abs(hessian).max()
    np.testing.assert_allclose(moments.labeled.curvature, -hessian[0], atol=1e-5 * scale)
    np.testing.assert_allclose(moments.hidden.curvature, -hessian[1], atol=1e-5 * scale)
    for kind, part in enumerate([moments.labeled, moments.hidden]):
        expected = shares @ scores[:, kind]
        centered = scores[:, kind] - expected
        np.testing.assert_allclose(part.mean, expected, atol=1e-6 * np.abs(scores).max())
        np.testing.assert_allclose(
            part.variance, (centered * shares[:, None]).T @ centered, atol=1e-6 * np.abs(scores).max() ** 2
        )
    labeled, marginal = row_log_likelihoods(model, population, theta).T
    assert moments.labeled_log_loss == pytest.approx(-shares @ labeled, rel=1e-12)
    assert moments.conditional_log_loss == pytest.approx(shares @ (marginal - labeled), rel=1e-9)


@every_model
def test_row_forms_equal_plain_sums(case: Case, rng: np.random.Generator) -> None:
    model = case.draw(rng)
    samples = model.sample(9, rng)
    scores = model.class_scores(samples)
    forms = RowForms(model, samples)
    weights = rng.standard_normal((9, 3, 3))
    weights += weights.transpose(0, 2, 1)
    matrix = rng.standard_normal((scores.shape[2], scores.shape[2]))
    vectors = rng.standard_normal((9, 3))
    pairs = [
        (forms.total(weights), np.einsum("nka,nkl,nlb->ab", scores, weights, scores)),
        (forms.each(matrix), np.einsum("nka,ab,nlb->nkl", scores, matrix, scores)),
        (forms.mean(vectors), np.einsum("nk,nka->a", vectors, scores)),
        (forms.contracted(vectors), np.einsum("nk,nka->na", vectors, scores)),
    ]
    for total, expected in pairs:
        np.testing.assert_allclose(total, expected, rtol=1e-9, atol=1e-9 * np.abs(expected).max())


def test_chunks_do_not_change_the_sums(rng: np.random.Generator) -> None:
    model = CASES[0].draw(rng)
    samples = model.sample(9, rng)
    whole = RowForms(model, samples).total(np.ones((9, 3, 3)))
    by_row = RowForms(model, samples, chunk_bytes=1, kept_bytes=1)
    assert len(list(by_row.chunks())) == 9
    np.testing.assert_allclose(by_row.total(np.ones((9, 3, 3))), whole, rtol=1e-12)


def test_a_population_with_unlabeled_rows_is_refused(rng: np.random.Generator) -> None:
    model = CASES[0].draw(rng)
    with pytest.raises(InvalidInputError, match="class of every row"):
        score_moments(model, model.sample(5, rng).hide(np.array([2])))
