"""Sums over rows of products of class scores, against plain sums."""

import numpy as np
import pytest

from labelworth.robust.row_forms import RowForms
from support.small_models import CASES, Case


@pytest.fixture
def rng(seed: int) -> np.random.Generator:
    return np.random.default_rng(seed)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
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
