"""Models of p(y | x) fitted in turns with those who answer: CRFs, and any classifier that takes weights."""

from itertools import pairwise, product

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

import labelworth as lw
from labelworth.data.answers import Answers
from labelworth.data.evidence import Evidence
from labelworth.errors import InvalidInputError
from labelworth.estimation.annotators import Annotators
from labelworth.estimation.answered import AnsweredFamily
from labelworth.estimation.conditional_fit import ConditionalFamily
from labelworth.estimation.turns import fit_in_turns
from support.sentences import draw_sentences

CLASSES = ("a", "b", "c")
TABLES = {
    "ann": np.array([[0.9, 0.05, 0.05], [0.05, 0.9, 0.05], [0.05, 0.05, 0.9]]),
    "bob": np.array([[0.9, 0.1, 0.0], [0.6, 0.3, 0.1], [0.3, 0.1, 0.6]]),  # Says a where b is true.
    "eve": np.array([[0.8, 0.1, 0.1], [0.7, 0.2, 0.1], [0.4, 0.1, 0.5]]),
}


def answered(truth: np.ndarray, classes: tuple, seed: int = 0) -> Answers:
    """Two of three answer about every row or token."""
    rng, rows, who, said = np.random.default_rng(seed), [], [], []
    for row, label in enumerate(truth):
        for code in rng.permutation(3)[:2]:
            rows.append(row)
            who.append(code)
            said.append(rng.choice(3, p=list(TABLES.values())[code][label]))
    return Answers(np.array(rows), np.array(who), tuple(TABLES), Evidence(np.array(said), classes))


def majority(answers: Answers, n: int) -> np.ndarray:
    votes = 1e-6 * np.random.default_rng(1).random((n, 3))
    np.add.at(votes, (answers.rows, answers.evidence.codes), 1)
    return votes.argmax(axis=1)


def points(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    centers = 1.1 * np.random.default_rng(0).standard_normal((3, 6))
    labels = rng.integers(3, size=n)
    return centers[labels] + rng.standard_normal((n, 6)), labels


@pytest.fixture(scope="module")
def crowd() -> tuple:
    X, labels = points(600, 1)
    return X, labels, answered(labels, CLASSES)


@pytest.mark.parametrize("model", [LogisticRegression(), make_pipeline(StandardScaler(), LogisticRegression())])
def test_logistic_regression_climbs_recovers_confusions_and_beats_votes(model: object, crowd: tuple) -> None:
    X, labels, answers = crowd
    names, (tested, truth) = np.array(CLASSES), points(4000, 2)
    fitted = lw.AnyClassifier(model).fit(X, None, answers=answers, confusion="separate")
    steps = np.diff(fitted.fit_.objective_path)
    assert fitted.converged_
    assert steps.min() > -1e-3  # The tolerance of scikit-learn's own solver.
    for name, table in TABLES.items():
        # About 130 answers about each class: five standard errors.
        assert np.abs(fitted.annotators_.confusion(name) - table).max() < 5 * np.sqrt(0.25 / 130)
    assert np.abs(fitted.annotators_.confusion("bob") - TABLES["ann"]).max() > 0.3
    by_vote = lw.AnyClassifier(model).fit(X, names[majority(answers, 600)])
    accuracy, voted = ((one.predict(tested) == names[truth]).mean() for one in (fitted, by_vote))
    assert accuracy > voted + 0.05
    assert (fitted.answered_posteriors_.argmax(axis=1) == labels).mean() > (
        majority(answers, 600) == labels
    ).mean() + 0.1


def test_a_confusion_that_is_wrongly_taken_for_known_does_harm(crowd: tuple) -> None:
    X, _, answers = crowd
    tested, truth = points(4000, 2)
    wrong = [lw.Channel(name, np.roll(table, 1, axis=0)) for name, table in TABLES.items()]
    right = [lw.Channel(name, table) for name, table in TABLES.items()]
    scores = [
        (
            lw.AnyClassifier(LogisticRegression()).fit(X, None, answers=answers, channels=known).predict(tested)
            == np.array(CLASSES)[truth]
        ).mean()
        for known in (right, wrong)
    ]
    assert scores[0] > 0.85
    assert scores[1] < 0.5


def test_gold_beside_answers_counts_and_rows_without_either_change_nothing(crowd: tuple) -> None:
    X, labels, answers = crowd
    y = [CLASSES[label] if row < 100 else None for row, label in enumerate(labels)]
    few = answers.at(np.arange(300))
    first = lw.AnyClassifier(LogisticRegression()).fit(X[:300], y[:300], answers=few)
    more = lw.AnyClassifier(LogisticRegression()).fit(X, y, answers=few)
    np.testing.assert_allclose(first.predict_proba(X), more.predict_proba(X), atol=1e-6)
    assert lw.AnyClassifier(LogisticRegression()).fit(X[:100], y[:100]).predict_proba(X) == pytest.approx(
        lw.AnyClassifier(LogisticRegression()).fit(X[:100], y[:100], answers=few.at(np.arange(100))).predict_proba(X),
        abs=1e-3,
    )


def test_classifiers_that_climb_nothing_are_asked_about_rows_they_did_not_see(crowd: tuple) -> None:
    X, labels, answers = crowd
    fitted = lw.AnyClassifier(DecisionTreeClassifier()).fit(X, None, answers=answers, confusion="separate")
    # A tree repeats what it was taught: asked about its own rows it would take everybody's errors for the truth.
    assert fitted.annotators_.accuracies[0] < 0.97
    assert (fitted.answered_posteriors_.argmax(axis=1) == labels).mean() > (
        majority(answers, 600) == labels
    ).mean() + 0.1


def test_what_takes_no_weights_is_refused(crowd: tuple) -> None:
    X, _, answers = crowd
    with pytest.raises(InvalidInputError, match="takes no sample_weight"):
        lw.AnyClassifier(KNeighborsClassifier()).fit(X, None, answers=answers)


def sentences(n: int, seed: int) -> tuple[list, list, np.ndarray]:
    words, labels = draw_sentences(n, seed)
    return words, labels, np.array(["DNV".index(label) for own in labels for label in own])


def test_the_objective_of_a_crf_is_that_of_plain_loops() -> None:
    words, _, codes = sentences(6, 1)
    answers = answered(codes, ("D", "N", "V"))
    tagger = lw.ConditionalRandomField(c2=0.3, classes=["D", "N", "V"])
    data = tagger._read_answered(words, None, None, answers)
    annotators = Annotators.of(answers.names, data.evidence.classes)
    family = AnsweredFamily(ConditionalFamily(data.evidence.classes, 0.3, "observed", False, 1e-9, 1000), annotators)
    fitted = fit_in_turns(
        family,
        type(data)(data.features, data.offsets, data.evidence, data.feature_names, None, answers),
        tolerance=1e-9,
        max_turns=400,
    )
    model, tables = fitted.model.inner, fitted.model.confusions
    total = -0.3 * (np.square(model.transition).sum() + np.square(model.emission.data).sum())
    total += annotators.log_prior(tables)
    potentials = model.log_potentials(data)
    for first, last in zip(data.offsets[:-1], data.offsets[1:], strict=True):
        clamped, free = [], []
        for path in product(range(3), repeat=int(last - first)):
            score = sum(potentials.nodes[first + place, label] for place, label in enumerate(path))
            score += sum(potentials.transition[pair] for pair in pairwise(path))
            free.append(score)
            for place, label in enumerate(path):
                own = np.flatnonzero(answers.rows == first + place)
                score += np.log(tables[answers.annotators[own], label, answers.evidence.codes[own]]).sum()
            clamped.append(score)
        total += np.logaddexp.reduce(clamped) - np.logaddexp.reduce(free)
    assert fitted.objective == pytest.approx(total, abs=1e-8)
    assert np.diff(fitted.objective_path).min() > -1e-9
    assert fitted.converged


def test_a_crf_recovers_confusions_and_beats_votes() -> None:
    words, _, codes = sentences(250, 2)
    tested, truth, _ = sentences(200, 3)
    answers = answered(codes, ("D", "N", "V"))
    # Words that say little, so that answers matter.
    blurred = [[word if row % 3 else word[0] for word in own] for row, own in enumerate(words)]
    fitted = lw.ConditionalRandomField(c2=0.1).fit(blurred, None, answers=answers, confusion="separate")
    voted = iter(np.array(["D", "N", "V"])[majority(answers, len(codes))].tolist())
    by_vote = lw.ConditionalRandomField(c2=0.1).fit(blurred, [[next(voted) for _ in own] for own in words])
    assert fitted.score(tested, truth) > by_vote.score(tested, truth) + 0.03
    for name, table in TABLES.items():
        assert np.abs(fitted.annotators_.confusion(name) - table).max() < 0.2
    assert np.abs(fitted.annotators_.confusion("bob") - TABLES["ann"]).max() > 0.3
    assert np.diff(fitted.fit_.objective_path).min() > -1e-9
    assert not fitted.annotators_.errors_are_joint
