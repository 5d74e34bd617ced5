"""Models and annotators fitted together, against plain loops over every class and every path of labels."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from labelworth.channels.channel import Channel
from labelworth.data.answers import Answers
from labelworth.data.evidence import encode_labels, from_weights
from labelworth.data.samples import Samples
from labelworth.errors import InvalidInputError
from labelworth.estimation.annotators import Annotators, ConfusionKind
from labelworth.estimation.answered import CONFUSION, AnsweredFamily, AnsweredModel, evidence_through
from labelworth.estimation.answered_fit import SeenByOthers, fit_answered, shared_strength, truth_posteriors
from labelworth.estimation.fit import fit
from labelworth.estimation.votes import Votes
from labelworth.models.classes.multinomial import MultinomialFamily
from support.answered import (
    N_ANNOTATORS,
    chains,
    confusions_near,
    documents,
    drawn_answers,
    mixed_annotators,
    objective,
    plain_log_likelihood,
    weights_of,
)
from support.small_models import CASES, multinomial


@pytest.fixture
def rng(seed: int) -> np.random.Generator:
    return np.random.default_rng(seed)


every_kind = pytest.mark.parametrize(
    "make", [*(documents(case) for case in CASES), chains], ids=[*(case.name for case in CASES), "hidden-markov"]
)


@every_kind
def test_the_likelihood_is_that_of_plain_loops(make: Any, rng: np.random.Generator) -> None:
    data, family, model = make(rng)
    annotators = mixed_annotators(data)
    tables = confusions_near(rng, N_ANNOTATORS, 3)
    weights = weights_of(data)
    answered = AnsweredFamily(family.adapted(data, weights), annotators)
    found = answered.prepare(data, weights).expectation(AnsweredModel(model, annotators, tables, np.ones((3, 3))))
    expected = plain_log_likelihood(model, tables, data, weights)
    assert found.log_likelihood == pytest.approx(expected, rel=1e-11)


@every_kind
def test_the_expected_counts_are_the_slopes_of_the_likelihood(make: Any, rng: np.random.Generator) -> None:
    """d log-likelihood / d q(v | y) = n(y, v) / q(v | y), along rows that stay probabilities (Fisher's identity)."""
    data, family, model = make(rng)
    annotators = mixed_annotators(data)
    tables = confusions_near(rng, N_ANNOTATORS, 3)
    weights = weights_of(data)
    answered = AnsweredFamily(family.adapted(data, weights), annotators)
    whole = AnsweredModel(model, annotators, tables, np.ones((3, 3)))
    ratios = answered.prepare(data, weights).expectation(whole).statistics[CONFUSION] / tables
    step = 1e-6
    for annotator, true_class, meant in np.ndindex(N_ANNOTATORS, 3, 2):
        likelihoods = []
        for sign in (1, -1):
            moved = tables.copy()
            moved[annotator, true_class, meant] += sign * step
            moved[annotator, true_class, 2] -= sign * step
            likelihoods.append(plain_log_likelihood(model, moved, data, weights))
        slope = (likelihoods[0] - likelihoods[1]) / (2 * step)
        row = ratios[annotator, true_class]
        assert row[meant] - row[2] == pytest.approx(slope, rel=1e-5, abs=1e-6)


def slopes(model: AnsweredModel[Any], family: AnsweredFamily[Any, Any], data: Any) -> np.ndarray:
    """Of the objective by plain loops, in unconstrained coordinates."""
    center = model.coordinates.unconstrained(model.tables)

    def at(vector: np.ndarray) -> float:
        return objective(model.with_tables(model.coordinates.from_unconstrained(vector)), family, data)

    step = 1e-5
    return np.array([(at(center + step * e) - at(center - step * e)) / (2 * step) for e in np.eye(len(center))])


@every_kind
def test_fits_climb_to_where_the_objective_is_flat(make: Any, rng: np.random.Generator) -> None:
    data, family, _ = make(rng)
    whole = AnsweredFamily(family, mixed_annotators(data))
    lighter = AnsweredFamily(family, mixed_annotators(data, answer_weight=0.4))
    for answered, accelerated in ((lighter, True), (whole, False), (whole, True)):
        fitted = fit(answered, data, tolerance=1e-13, max_iterations=20_000, accelerated=accelerated)
        path = fitted.objective_path
        assert (np.diff(path) >= -1e-11 * np.abs(path).max()).all()
        assert fitted.converged
        assert fitted.objective == pytest.approx(objective(fitted.model, fitted.family, data), rel=1e-10)
        assert np.abs(slopes(fitted.model, fitted.family, data)).max() < 2e-4
    # The known table did not move; and the test sees a wrong one.
    np.testing.assert_array_equal(fitted.model.confusions[0], whole.annotators.center[0])
    moved = fitted.model.confusions.copy()
    moved[2] = 0.9 * moved[2] + 0.1 / 3
    assert np.abs(slopes(replace(fitted.model, confusions=moved), fitted.family, data)).max() > 1e-2


def test_known_confusions_are_evidence(rng: np.random.Generator) -> None:
    """With all tables known the fit is that of the model to the product of label and answers."""
    data, family, _ = documents(CASES[0])(rng)
    tables = confusions_near(rng, N_ANNOTATORS, 3)
    channels = [Channel(f"w{code}", table) for code, table in enumerate(tables)]
    fitted = fit_answered(family, data, channels=channels, tolerance=1e-13, max_iterations=20_000)
    annotators = Annotators.of(data.answers.names, data.evidence.classes, channels=channels)
    known = evidence_through(annotators, tables, data)
    plain = fit(family, replace(data, evidence=known, answers=None), tolerance=1e-13, max_iterations=20_000)
    for name, table in plain.model.tables.items():
        np.testing.assert_allclose(fitted.model.inner.tables[name], table, rtol=1e-6)


def test_nobody_counts_twice_on_a_row(rng: np.random.Generator) -> None:
    data, family, _ = documents(CASES[0])(rng)
    answers = data.answers
    again = answers.take(np.concatenate([np.arange(answers.n_answers), np.arange(answers.n_answers)]))
    once = fit_answered(family, data, confusion="separate")
    twice = fit_answered(family, replace(data, answers=again), confusion="separate")
    np.testing.assert_allclose(twice.model.confusions, once.model.confusions, rtol=1e-12)
    channels = [Channel(name, "unknown", independent=True) for name in answers.names]
    anew = fit_answered(family, replace(data, answers=again), channels=channels)
    assert np.abs(anew.model.confusions - once.model.confusions).max() > 1e-3


def test_rows_with_answers_count_as_labeled(rng: np.random.Generator) -> None:
    data, family, _ = documents(CASES[0])(rng)
    without = fit_answered(family, data, unlabeled_weight=0.0, confusion="separate")
    told = data.take(np.flatnonzero(data.is_labeled))
    assert told.n_samples < data.n_samples
    alone = fit_answered(family, told, confusion="separate")
    np.testing.assert_allclose(without.model.confusions, alone.model.confusions, rtol=1e-12)


def test_those_who_cannot_say_say_nothing(rng: np.random.Generator) -> None:
    model = multinomial(rng)
    drawn = model.sample(30, rng)
    silent = from_weights(np.ones((20, 3)), model.classes)
    rows = np.arange(20)
    answers = Answers(rows, np.zeros(20, int), ("w0",), silent)
    samples = Samples(drawn.features, drawn.evidence.hidden(np.arange(10)), answers=answers)
    family = MultinomialFamily.for_samples(samples)
    plain = fit(family, replace(samples, answers=None), tolerance=1e-12)
    fitted = fit_answered(family, samples, tolerance=1e-12)
    np.testing.assert_allclose(fitted.model.inner.word_probabilities, plain.model.word_probabilities, rtol=1e-6)
    np.testing.assert_allclose(fitted.model.confusions[0], fitted.model.annotators.center[0], rtol=1e-12)


def test_taking_rows_takes_their_answers_as_often(rng: np.random.Generator) -> None:
    data, _, _ = documents(CASES[0])(rng)
    rows = np.array([5, 5, 2, 39, 5])
    taken = data.take(rows)
    for new, old in enumerate(rows):
        own, before = taken.answers.rows == new, data.answers.rows == old
        np.testing.assert_array_equal(taken.answers.annotators[own], data.answers.annotators[before])
        np.testing.assert_array_equal(taken.answers.evidence.dense()[own], data.answers.evidence.dense()[before])
    assert taken.answers.names == data.answers.names


def test_what_cannot_be_together_is_refused_by_name(rng: np.random.Generator) -> None:
    model = multinomial(rng)
    drawn = model.sample(6, rng)
    codes = np.array([0, 1, 2, 0, 0, 0])
    evidence = replace(drawn.evidence, codes=codes)
    answers = Answers(
        np.array([3, 4]), np.array([0, 1]), ("ann", "bob"), encode_labels(["ham", "spam"], classes=model.classes)
    )
    samples = Samples(drawn.features, evidence, answers=answers)
    family = MultinomialFamily.for_samples(samples)
    certain = Channel("bob", np.eye(3))
    with pytest.raises(InvalidInputError, match=r"Row 4 has labels and answers .of bob. that cannot be together"):
        fit_answered(family, samples, channels=[certain])
    with pytest.raises(InvalidInputError, match="No answer is by 'eve'"):
        fit_answered(family, samples, channels=[Channel("eve", np.eye(3))])
    with pytest.raises(InvalidInputError, match="about 2 answers"):
        fit_answered(family, samples, channels=[Channel("bob", [[0.9, 0.1], [0.5, 0.5], [0.1, 0.9]])])


def test_a_known_question_is_answered_as_it_was_said(rng: np.random.Generator) -> None:
    """P(yes | class) is the accuracy for the class asked about, and what is missing to one for the others."""
    channel = Channel.question("w0", ["spam"], accuracy=0.8)
    annotators = Annotators.of(("w0",), ("ham", "spam", "other"), channels=[channel])
    yes = np.array([0.0, 1.0, 0.0])
    np.testing.assert_allclose(annotators.center[0] @ yes, [0.2, 0.8, 0.2])
    np.testing.assert_allclose(annotators.center[0] @ (1 - yes), [0.8, 0.2, 0.8])


def seen(
    tables: np.ndarray, n_rows: int, rng: np.random.Generator, kinds: tuple[str, ...] = ("class",)
) -> SeenByOthers:
    """What each of many annotators says of as many rows of every class, which are known."""
    n_classes = tables.shape[1]
    truth = np.repeat(np.arange(n_classes), n_rows)
    answers = drawn_answers(truth, tables, ("a", "b", "c"), rng, asked=1.0, kinds=kinds)
    votes = Votes(answers, np.arange(len(tables)), len(tables))
    return SeenByOthers(votes, np.eye(n_classes)[truth][votes.positions][votes.row])


@pytest.mark.parametrize("kinds", [("class",), ("class", "set", "question", "probabilities")], ids=["plain", "vague"])
@pytest.mark.parametrize("strength", [3.0, 30.0])
def test_the_strength_that_annotators_share_is_found_again(
    strength: float, kinds: tuple[str, ...], rng: np.random.Generator
) -> None:
    center = np.array([[0.6, 0.25, 0.15], [0.2, 0.7, 0.1], [0.3, 0.2, 0.5]])
    tables = np.array([[rng.dirichlet(strength * row) for row in center] for _ in range(80)])
    everybody = np.broadcast_to(center, tables.shape)
    found = shared_strength(seen(tables, 30, rng, kinds), everybody)
    assert found == pytest.approx(strength, rel=0.5)
    assert shared_strength(seen(everybody, 30, rng, kinds), everybody) > 5 * strength


def test_shared_strength_is_nearer_to_the_truth_with_few_answers_each(rng: np.random.Generator) -> None:
    model = multinomial(rng, n_words=12, lengths={12: 1.0})
    drawn = model.sample(400, rng)
    truth = drawn.evidence.codes
    center = confusions_near(rng, 1, 3, diagonal=6.0)[0]
    tables = np.array([[rng.dirichlet(20 * row) for row in center] for _ in range(60)])
    answers = drawn_answers(truth, tables, model.classes, rng, asked=0.04, kinds=("class",))
    samples = Samples(drawn.features, drawn.evidence.hidden(np.arange(100, 400)), answers=answers)
    family = MultinomialFamily.for_samples(samples)
    errors = {}
    kinds: tuple[ConfusionKind, ...] = ("shared", "separate")
    for kind in kinds:
        fitted = fit_answered(family, samples, confusion=kind)
        errors[kind] = np.square(fitted.model.confusions - tables).mean()
    assert errors["shared"] < 0.6 * errors["separate"]


def test_truth_is_told_by_features_and_answers_together(rng: np.random.Generator) -> None:
    model = multinomial(rng, n_words=8, lengths={8: 1.0})
    drawn = model.sample(600, rng)
    truth = drawn.evidence.codes
    tables = confusions_near(rng, 4, 3, diagonal=5.0)
    answers = drawn_answers(truth, tables, model.classes, rng, asked=0.5)
    samples = Samples(drawn.features, drawn.evidence.hidden(), answers=answers)
    fitted = fit_answered(MultinomialFamily.for_samples(samples), samples)
    shares = truth_posteriors(fitted.model, samples)
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)
    best = Annotators.of(answers.names, model.classes, channels=[Channel(f"w{a}", t) for a, t in enumerate(tables)])
    oracle = AnsweredModel(model, best, tables, np.ones((4, 3)))
    ideal = (truth_posteriors(oracle, samples).argmax(axis=1) == truth).mean()
    features = (np.asarray(model.log_joint(samples)).argmax(axis=1) == truth).mean()
    found = (shares.argmax(axis=1) == truth).mean()
    assert features + 0.05 < found
    assert ideal - 0.04 < found
