"""Chosen rows in a plan: a line beside rows at random, simulated or by formulas."""

import numpy as np
import pytest

import labelworth as lw
from labelworth.estimation.fit import settled
from labelworth.fisher.documents.worth import row_worth
from labelworth.models.classes.gaussian import GaussianFamily
from labelworth.planning.chosen import _as_random
from labelworth.planning.words import CHOICE_NOISE
from labelworth.policies.choosing import Choosing
from support.learners import documents


def hidden_documents(n_documents=400, n_labeled=60):
    samples = documents(n_documents, length=3)
    labels = np.array(["ab"[code] for code in samples.evidence.codes], dtype=object)
    return samples.counts, [label if row < n_labeled else None for row, label in enumerate(labels)]


def gaussian_rows(n_rows=600, n_labeled=150, seed=0):
    rng = np.random.default_rng(seed)
    classes = (rng.random(n_rows) < 0.1).astype(int)
    return rng.standard_normal((n_rows, 2)) + 1.5 * classes[:, None], np.where(
        np.arange(n_rows) < n_labeled, classes, -1
    )


@pytest.mark.parametrize("by", ["worth", "uncertainty"])
def test_a_simulated_plan_says_what_chosen_rows_buy(by):
    X, y = hidden_documents()
    options = {"model": "multinomial", "source": "simulated", "use_unlabeled": "yes", "unlabeled": None}
    plan = lw.plan(X, y, budget=160, by=by, currency="EUR", **options)
    told = plan.chosen
    assert (told.by, told.n_rows, told.n_next, told.cost) == (by, 100, 100, 100.0)
    assert told.interval.low < told.error < told.interval.high
    # The plan itself, and its forecast, are of labels at random.
    plain = lw.plan(X, y, budget=160, currency="EUR", **options)
    assert plain.chosen is None
    assert plain.recommended.error == plan.recommended.error
    assert told.error_at_random == pytest.approx(plan.recommended.error, rel=1e-6)
    (line,) = (line for line in plan.lines() if "chosen by" in line)
    assert line.startswith(f"With 100 rows chosen by {by} the error is")
    is_clear = told.error_at_random - told.error > CHOICE_NOISE
    assert ("choosing pays" in line) == is_clear
    assert ("rows at random are the safe choice" in line) != is_clear
    assert "at random" in line
    assert plan.to_dict()["chosen"]["n_rows"] == 100
    assert "chosen" not in plain.to_dict()


def test_with_a_price_of_error_the_next_rows_are_told_in_money():
    X, y = hidden_documents()
    options = {"model": "logistic", "by": "uncertainty", "unlabeled": None}
    for alpha, said in ((1e6, "more than they cost"), (1e-3, "less than they cost")):
        plan = lw.plan(X, y, alpha=alpha, **options)
        line = next(line for line in plan.lines() if "chosen by" in line)
        assert said in line or plan.chosen.gain <= 0


def test_by_formulas_chosen_rows_are_as_many_at_random():
    X, y = gaussian_rows()
    options = {"model": "gaussian", "budget": 250, "criterion": "excess_log_loss", "n_draws": 10}
    plan = lw.plan(X, y, by="worth", **options)
    told = plan.chosen
    assert told.as_many > 1.1 * told.n_rows
    assert told.error < told.error_at_random
    assert told.error_at_random == pytest.approx(plan.recommended.error, rel=0.05)
    assert f"as {round(told.as_many)} at random would have" in " ".join(plan.lines())


def test_rows_at_random_are_as_many_as_they_are():
    X, y = gaussian_rows()
    samples = lw.GaussianClasses().pool(X, y).data
    fitted = settled(GaussianFamily.for_samples(samples, "shared", smoothing=1.0), samples)
    worth, is_open = row_worth(fitted.model, fitted.family, samples), samples.evidence.is_unlabeled
    even = Choosing("random").probabilities(np.ones(is_open.sum()), 90)[0]
    assert _as_random(worth, is_open, even) == pytest.approx(90, abs=0.01)
    gains = worth.gains(np.zeros(len(is_open)))[is_open]
    assert _as_random(worth, is_open, Choosing("worth").probabilities(gains, 90)[0]) > 91
    # The other way round they are worth less.
    least = Choosing("worth").probabilities(1 / np.maximum(gains, 1e-12), 90)[0]
    assert _as_random(worth, is_open, least) < 89


def test_labels_alone_of_chosen_rows_are_not_forecast_but_told():
    X, y = hidden_documents()
    plan = lw.plan(X, y, budget=160, model="multinomial", use_unlabeled="no", by="uncertainty", unlabeled=None)
    assert plan.chosen is None
    assert any("5 points of error" in note for note in plan.notes)
    plan = lw.plan(X, y, budget=160, model="nearest-neighbors", by="worth", unlabeled=None)
    assert any("by='uncertainty' is" in note for note in plan.notes)


def test_what_nobody_can_choose_by_is_refused():
    X, y = hidden_documents()
    with pytest.raises(lw.InvalidInputError, match="by must be one of"):
        lw.plan(X, y, budget=160, by="luck", unlabeled=None)
