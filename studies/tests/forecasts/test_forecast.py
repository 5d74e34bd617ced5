"""The forecast studies on small corpora made here."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

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
    AHEADS,
    HELD,
    Chosen,
    chosen_on_all,
    chosen_without,
    judged_by,
    log_densities,
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


def several(pairs: list, names: tuple[str, ...]) -> list:
    """The curves of documents, each copy under the name of another corpus, whose truth lies more or less far off."""
    own = [curve for curve in curves_of(pairs, "error") if curve.corpus == "newsgroups"]
    return [
        replace(curve, corpus=name, realized=curve.realized * (1 + 0.05 * place))
        for place, name in enumerate(names)
        for curve in own
    ]


def test_a_corpus_is_judged_by_constants_chosen_without_it(pairs: list) -> None:
    curves = several(pairs, ("r52", "sms", "trec", "webkb"))
    constants = chosen_without(curves, "error")
    others = [curve for curve in curves if curve.corpus != "webkb"]
    chosen = chosen_on_all(others, "error")["generative"]
    judged = judged_by(constants)(curves[-1])
    assert (judged.tilt_mean, judged.ahead_sd) == chosen
    assert judged.level_sd == TUNED["generative"]["error"].level_sd
    # What the corpus itself says plays no part, unless it is another that is judged.
    strange = [replace(curve, realized=np.full(len(curve.realized), 0.9)) for curve in curves[-len(others) // 3 :]]
    assert chosen_without([*others, *strange], "error")["webkb"] == constants["webkb"]
    assert chosen_without([*others, *strange], "error")["r52"] != constants["r52"]


def test_the_spread_ahead_is_the_least_that_holds_enough(pairs: list) -> None:
    curves = several(pairs, ("r52", "sms", "trec"))
    chosen = chosen_on_all(curves, "error")["generative"]

    def held(ahead_sd: float) -> float:
        constants = Chosen(chosen.tilt_mean, ahead_sd).of(TUNED["generative"]["error"])
        return float(np.mean([score.is_held for score in scores_of(curves, lambda curve: constants)]))

    assert held(chosen.ahead_sd) >= HELD
    assert all(held(ahead_sd) < HELD for ahead_sd in AHEADS if ahead_sd < chosen.ahead_sd)


def test_too_few_corpora_choose_nothing_and_sequences_take_what_documents_choose(pairs: list) -> None:
    both = curves_of(pairs, "error")
    assert chosen_on_all(both, "error") == {}
    assert chosen_without(both, "error")["newsgroups"]["generative"] == TUNED["generative"]["error"]
    sentences = [curve for curve in both if curve.corpus == "conll2000"]
    curves = several(pairs, ("r52", "sms", "trec"))
    chosen = chosen_on_all(curves, "error")["generative"]
    judged = chosen_without([*curves, *sentences], "error")["conll2000"]["sequences"]
    assert (judged.tilt_mean, judged.ahead_sd) == chosen


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


@pytest.mark.parametrize("measure", ["error", "log_loss"])
@pytest.mark.parametrize(
    ("study", "kinds"), [("forecast", {"generative", "linear", "local"}), ("forecast-vectors", {"vectors"})]
)
def test_constants_in_use_are_what_the_rule_chose_on_all_corpora(study: str, kinds: set[str], measure: str) -> None:
    record = json.loads((Path(__file__).resolve().parents[3] / "results" / f"{study}.json").read_text())
    chosen = record["figures"][measure]["on_all"]
    assert set(chosen) == kinds
    for kind, own in chosen.items():
        used = TUNED[kind][measure]
        assert {"tilt_mean": used.tilt_mean, "ahead_sd": used.ahead_sd} == own
