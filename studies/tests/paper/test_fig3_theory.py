import json
from itertools import pairwise

import numpy as np
import pytest

from labelworth.data.lengths import LengthDistribution
from labelworth.models.classes.multinomial import MultinomialModel
from labelworth_studies.paper.fig3_theory import (
    STUDY,
    cells,
    compute,
    drawn_model,
    grid,
    panel_of,
    summarize,
    theory_panel,
)
from support.oracles import enumerated_multinomial


def test_panel_is_the_theory_of_the_enumerated_model() -> None:
    priors, words = np.array([0.2, 0.8]), np.array([[0.5, 0.3, 0.2], [0.1, 0.4, 0.5]])
    model = MultinomialModel(("a", "b"), priors, words, LengthDistribution.single(5))
    panel = theory_panel(model, np.array([100.0, 400.0]), np.array([0.05, 1.0]))

    exact = enumerated_multinomial(priors, words, {5: 1.0})
    named = np.zeros((8, 5))
    named[:2, 0] = [1, -1]
    for start, column in ((2, 1), (5, 3)):
        named[start : start + 3, column : column + 2] = [[1, 0], [0, 1], [-1, -1]]
    for row, fraction in enumerate((0.05, 1.0)):
        inverse = np.linalg.inv(exact.information(fraction))
        for column, size in enumerate((100, 400)):
            variance = np.trace(named @ inverse @ named.T) / size
            log_loss = np.trace(exact.missing_information @ inverse) / 2 / size
            np.testing.assert_allclose(panel.total_variance[row, column], variance, rtol=1e-9)
            np.testing.assert_allclose(panel.log_trace[row, column], np.log(variance), rtol=1e-9)
            np.testing.assert_allclose(panel.excess_log_loss[row, column], log_loss, rtol=1e-9)


def test_model_is_drawn_as_said() -> None:
    model = drawn_model(50, 20, seed=0)

    rng = np.random.default_rng(0)
    expected = [rng.dirichlet(np.full(50, 5.0)) for _ in range(2)]
    np.testing.assert_array_equal(model.word_probabilities, expected)
    assert model.class_probabilities.tolist() == [0.2, 0.8]
    assert list(model.lengths.items()) == [(20, 1.0)]


@pytest.fixture(scope="module")
def pairs() -> list:
    small = [{**cell, "n_words": 40} for cell in cells(quick=True, seed=0)]
    return [(cell, json.loads(json.dumps(compute(cell)))) for cell in small]


def test_errors_fall_with_samples_with_labels_and_with_length(pairs: list) -> None:
    panels = [panel_of(result) for _, result in pairs]
    for panel in panels:
        assert panel.total_variance.shape == (50, 50)
        for surface in (panel.total_variance, panel.excess_log_loss):
            assert (np.diff(surface, axis=0) < 0).all()
            assert (np.diff(surface, axis=1) < 0).all()
    for shorter, longer in pairwise(panels):
        assert (longer.total_variance < shorter.total_variance).all()


def test_kept_columns_unfold_to_the_panel(pairs: list) -> None:
    cell, result = pairs[0]
    n_samples, fractions = grid()
    whole = theory_panel(drawn_model(40, cell["document_length"], 0), n_samples, fractions)

    np.testing.assert_allclose(panel_of(result).total_variance, whole.total_variance, rtol=1e-12)
    np.testing.assert_allclose(panel_of(result).excess_log_loss, whole.excess_log_loss, rtol=1e-12)


def test_summary_says_what_labels_are_worth(pairs: list) -> None:
    outcome = summarize(pairs)

    assert len(outcome.figures["panels"]) == 3
    assert "documents of 5 words" in outcome.words[0]
    assert set(outcome.pictures) == {"total-variance", "excess-log-loss"}
    json.dumps(outcome.figures)


def test_full_grid_has_both_vocabularies_and_all_lengths() -> None:
    asked = [(cell["n_words"], cell["document_length"]) for cell in STUDY.cells(False, 0)]

    assert asked == [(words, length) for words in (1000, 50_000) for length in (5, 20, 100)]
