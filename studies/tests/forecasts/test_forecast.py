"""The forecast studies on small corpora made here."""

import json
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import norm

from labelworth.simulation.basis import ForecastBasis
from labelworth.simulation.calibration import TUNED, NormalMixture
from labelworth_studies.corpora import populations as forecast_data
from labelworth_studies.corpora.populations import CORPORA, Population
from labelworth_studies.forecasts import forecast
from labelworth_studies.forecasts import harm_verdict as forecast_harm
from labelworth_studies.forecasts.harm_verdict import agreement, truth_of
from labelworth_studies.forecasts.parts import forecast_cell
from labelworth_studies.forecasts.parts.forecast_cell import compute, drawn, grid
from labelworth_studies.forecasts.parts.forecast_constants import (
    fitted_without,
    judged_by,
    log_densities,
    search,
    surprise,
)
from labelworth_studies.forecasts.parts.forecast_scores import Score, curves_of, scores_of, summed_up
from support.learners import document_learner, documents, sentence_learner, sentences

SMALL = {
    "newsgroups": replace(CORPORA["newsgroups"], pilots=(20, 40), pools=(200, 330), n_held_out=150),
    "conll2000": replace(CORPORA["conll2000"], pilots=(12,), pools=(100,), n_held_out=40),
}


@pytest.fixture(scope="module")
def small_corpora() -> Iterator[None]:
    samples, sequences = documents(600), sentences(150)
    populations = {
        "newsgroups": Population(SMALL["newsgroups"], samples, np.arange(600), document_learner(samples)),
        "conll2000": Population(SMALL["conll2000"], sequences, np.arange(150), sentence_learner(sequences)),
    }
    with pytest.MonkeyPatch.context() as patch:
        for module in (forecast_cell, forecast_harm, forecast_data, forecast):
            patch.setattr(module, "CORPORA", SMALL, raising=False)
            patch.setattr(module, "population", lambda name, learner=None: populations[name], raising=False)
        yield


def test_pilots_are_nested_and_nothing_learned_from_is_tested(small_corpora: None) -> None:
    whole = forecast_cell.population("newsgroups")
    units, held_out = drawn(whole, 20, 3, 0)
    others, tested = drawn(whole, 20, 3, 1)
    np.testing.assert_array_equal(units[:20], others[:20])
    assert not np.array_equal(units[20:], others[20:])
    assert len(units) == 200
    assert len(held_out) == 150
    for one, two in ((units, held_out), (others, tested)):
        assert not np.intersect1d(one, two).size
        assert np.unique(one).size == one.size


@pytest.fixture(scope="module")
def pairs(small_corpora: None) -> list:
    cells = grid(("newsgroups", "conll2000"), 2, 0)
    return [(cell, json.loads(json.dumps(compute(cell)))) for cell in cells]


def test_the_table_and_its_figures(pairs: list) -> None:
    outcome = forecast.summarize(pairs)
    assert set(outcome.figures["error"]["corpora"]) == {"newsgroups", "conll2000"}
    assert set(outcome.figures["error"]["learners"]) == {"naive-bayes", "hidden-markov"}
    # Two pilots of 20 and two of 40 labels, in two modes, at three factors; 8 x 40 labels are more than the pool has.
    assert outcome.figures["error"]["cells"]["newsgroups/naive-bayes"]["n_forecasts"] == 2 * 2 * (3 + 3)
    assert len(outcome.tables) == 3
    assert "ratio" in outcome.words[0]
    json.dumps(outcome.figures)


def test_what_is_forecast_is_the_mean_over_extensions(pairs: list) -> None:
    cell, result = pairs[0]
    curves = curves_of([(cell, result)], "error")
    realized = np.mean([errors[0] for errors in result["realized"]["labels-only/4"]])
    assert curves[0].realized[1] == pytest.approx(realized)
    basis = ForecastBasis.from_dict(result["basis"])
    scores = scores_of(curves[:1], lambda curve: TUNED[curve.kind]["error"])
    assert [score.factor for score in scores] == [2, 4, 8]
    assert basis.n_labeled == 20


def test_a_corpus_is_judged_by_constants_fitted_without_it(pairs: list) -> None:
    curves = curves_of(pairs, "error")
    coordinates = fitted_without(curves, "error")
    others = [curve for curve in curves if curve.corpus == "conll2000"]
    own = coordinates["newsgroups"]["sequences"]
    np.testing.assert_array_equal(own, search(others, "error"))
    assert surprise(others, "error", own) < surprise(others, "error", np.zeros(3))
    judged = judged_by(coordinates, "error")(replace(others[0], corpus="newsgroups"))
    assert judged.level_sd == pytest.approx(TUNED["sequences"]["error"].level_sd * np.exp(own[0]))


def test_a_kind_of_learner_that_only_the_judged_corpus_has_keeps_the_constants_in_use(pairs: list) -> None:
    coordinates = fitted_without(curves_of(pairs, "error"), "error")
    np.testing.assert_array_equal(coordinates["newsgroups"]["generative"], np.zeros(3))
    np.testing.assert_array_equal(coordinates["conll2000"]["sequences"], np.zeros(3))


def test_log_densities_are_those_of_the_mixture() -> None:
    mixture = NormalMixture(
        np.array([0.7, 0.3]), np.array([[0.0, 1.0], [3.0, -2.0]]), np.array([[1.0, 0.25], [0.04, 4.0]])
    )
    values = np.array([0.5, -1.0])
    expected = np.log(mixture.weights @ norm.pdf(values, mixture.means, np.sqrt(mixture.variances)))
    np.testing.assert_allclose(log_densities(mixture, values), expected)


def test_scores_are_summed_up_by_hand() -> None:
    scores = [
        Score("r52", "naive-bayes", "labels-only", 100, 2, 0.2, 0.1, 0.3, 0.4, 0.25),
        Score("r52", "naive-bayes", "labels-only", 100, 4, 0.3, 0.28, 0.4, 0.2, 0.25),
    ]
    found = summed_up(scores)
    assert found["mean_absolute_error"] == pytest.approx(0.05)
    assert found["power_law"] == pytest.approx(0.1)
    assert found["ratio"] == pytest.approx(0.5)
    assert found["bias"] == pytest.approx(0.0)
    assert found["coverage"] == 0.5


def test_a_pilot_counts_once_where_intervals_are_judged() -> None:

    def score(seed: int, factor: int, *, is_held: bool) -> Score:
        return Score(
            "r52", "naive-bayes", "labels-only", 100, factor, 0.2, 0.1, 0.3, 0.4, 0.25 if is_held else 0.5, seed=seed
        )

    # The farthest forecasts of the first two pilots fail, nearer ones do not count.
    held = [[True, False], [False, False], [False, True]]
    scores = [
        score(seed, 2 + 2 * at, is_held=is_held) for seed, own in enumerate(held) for at, is_held in enumerate(own)
    ]
    found = summed_up(scores)
    assert (found["n_pilots"], found["n_pilots_held"]) == (3, 1)
    assert found["p_of_pilots"] == pytest.approx(0.1**3 + 3 * 0.9 * 0.1**2)
    assert found["coverage"] == pytest.approx(1 / 3)


def test_truth_and_agreement() -> None:
    assert truth_of([[0.03, 0.01], [0.02, 0.01]]) == "hurts"
    assert truth_of([[-0.03, 0.01], [-0.02, 0.01]]) == "helps"
    assert truth_of([[0.03, 0.01], [-0.02, 0.01]]) == "cannot be told"
    assert agreement("helps", "helps") == "right"
    assert agreement("helps", "hurts") == "wrong"
    assert agreement("cannot be told", "hurts") == "open"
    assert agreement("hurts", "cannot be told") == "said of a tie"
    assert agreement("cannot be told", "cannot be told") == "open on a tie"


def test_verdicts_on_documents_and_sentences(small_corpora: None) -> None:
    cells = [forecast_cell.cell_of("newsgroups", 20, 0), forecast_cell.cell_of("conll2000", 12, 0)]
    pairs = [(cell, json.loads(json.dumps(forecast_harm.compute(cell)))) for cell in cells]
    assert len(pairs[0][1]["gaps"]) == 2
    outcome = forecast_harm.summarize(pairs)
    assert sum(outcome.figures["total"].values()) == 2
    assert len(outcome.words) == 2
