"""Those who answered, in words and a table."""

from dataclasses import replace

import numpy as np
import pytest

from labelworth.data.answers import Answers
from labelworth.data.evidence import encode_labels
from labelworth.estimators.answered import FittedAnnotators
from labelworth.report.annotators import GUESSING, TOO_FEW, WORSE, AnnotatorsReport
from labelworth.report.tables import words

CLASSES = ("a", "b")


def fitted(accuracies: list[float], errors: list[float], known: tuple[int, ...] = ()) -> FittedAnnotators:
    tables = np.array([[[own, 1 - own], [1 - own, own]] for own in accuracies])
    size = len(accuracies)
    return FittedAnnotators(
        tuple(f"w{index}" for index in range(size)),
        CLASSES,
        tables,
        np.zeros_like(tables),
        np.array(accuracies),
        np.array(errors),
        np.full(size, 30),
        np.isin(np.arange(size), known),
        errors_are_joint=True,
    )


def report(own: FittedAnnotators, labels: list[str | None]) -> AnnotatorsReport:
    rows = np.arange(len(labels))
    said = {"row": rows, "annotator": ["w0", "w1"] * (len(rows) // 2), "answer": ["a", "a|b"] * (len(rows) // 2)}
    answers = Answers.of(said, classes=CLASSES, n_samples=len(labels))
    answers = Answers(answers.rows, answers.annotators, own.names, answers.evidence)
    posteriors = np.full((len(rows), 2), 0.5)
    return AnnotatorsReport.of(answers, encode_labels(labels, classes=CLASSES), own, posteriors, "row")


def test_who_guesses_is_right_by_chance_alone() -> None:
    own = fitted([0.9, 0.55, 0.52, 0.6, 0.2, 0.5], [0.02, 0.04, np.nan, 0.2, 0.05, 0.0], known=(5,))
    told = report(own, ["a", "b", None, None])
    assert told.chances == pytest.approx(0.5)
    verdicts = [told.verdict(index) for index in range(6)]
    assert verdicts == ["", GUESSING, TOO_FEW, TOO_FEW, WORSE, "given"]
    lines = told.lines()
    assert any(line.startswith("Not told from guessing: w1;") for line in lines)
    assert any(line.startswith("Worse than guessing: w4;") for line in lines)


def test_nothing_is_told_of_who_gave_so_few_answers_that_the_prior_speaks() -> None:
    """Two answers that nobody audited: 80 % give or take 16 are what was assumed."""
    own = fitted([0.8, 0.97, 0.1], [0.16, 0.09, 0.15])
    told = report(own, ["a", "b", None, None])
    assert [told.verdict(index) for index in range(3)] == [TOO_FEW, "", TOO_FEW]


def test_nothing_is_told_of_who_hardly_said_anything_however_sure_the_others_make_them() -> None:
    own = replace(fitted([0.8, 0.86, 0.9], [0.07, 0.05, 0.05]), n_answers=np.array([0, 3, 5]))
    told = report(own, ["a", "b", None, None])
    assert [told.verdict(index) for index in range(3)] == [TOO_FEW, TOO_FEW, ""]


def test_an_annotator_who_always_says_the_same_guesses_however_often_that_is_right() -> None:
    own = fitted([0.8, 0.8], [0.01, 0.01])
    own.confusions[0] = [[1.0, 0.0], [1.0, 0.0]]
    rows = {"row": [0, 1], "annotator": ["w0", "w1"], "answer": ["a", "a"]}
    posteriors = np.array([[0.8, 0.2], [0.8, 0.2]])
    answers = Answers.of(rows, classes=CLASSES)
    told = AnnotatorsReport.of(answers, encode_labels(["a", None], classes=CLASSES), own, posteriors, "row")
    assert [told.verdict(0), told.verdict(1)] == [GUESSING, ""]


def test_agreement_with_labels_is_counted() -> None:
    told = report(fitted([0.9, 0.8], [0.02, 0.02]), ["a", "b", "b", None])
    # A set of all classes says nothing, and is not compared.
    assert told.lines()[:2] == [
        "60 answers of 2 annotators about 2 rows, 2 of them with a label.",
        "Of 2 answers about a row with a label, 1 (50 %) agrees with it.",
    ]
    figures = told.to_dict()
    assert (figures["n_compared"], figures["n_agreeing"], figures["n_rows"]) == (2, 1, 2)
    nothing = report(fitted([0.9, 0.8], [0.02, 0.02]), [None] * 4)
    assert nothing.lines()[1].startswith("No row with an answer has a label")


def test_labels_that_contradict_the_fit_are_told() -> None:
    rows = {"row": list(range(60)), "annotator": ["w0", "w1"] * 30, "answer": ["a"] * 60}
    answers = Answers.of(rows, classes=CLASSES)
    posteriors = np.full((60, 2), 0.5)
    gold = encode_labels(["a"] * 48 + ["b"] * 12, classes=CLASSES)

    def told(accuracies: list[float]) -> AnnotatorsReport:
        return AnnotatorsReport.of(answers, gold, fitted(accuracies, [0.05, 0.05]), posteriors, "row")

    warned = [line for line in told([0.3, 0.3]).lines() if line.startswith("Warning")]
    assert "of 60 such answers that name one class, 48 agree, and the fit expects 18" in warned[0]
    assert told([0.3, 0.3]).to_dict()["contradicts_labels"]
    assert not any(line.startswith("Warning") for line in told([0.8, 0.75]).lines())


def test_the_worst_come_first_and_twenty_are_shown() -> None:
    told = report(fitted(list(np.linspace(0.95, 0.6, 23)), [0.02] * 23), ["a", None, None, None])
    table = told.table()
    assert [row[0] for row in table.rows][:2] == ["w22", "w21"]
    assert len(table.rows) == 20
    assert table.note.startswith("3 annotators with more are not shown.")
    assert words(table.rows[0][3]) == "60.0 ± 2.0"
    assert table.rows[-1][2] is None
