"""Classifiers that are not ours, where an estimator of ours is asked for: plans, frontiers and checks of them."""

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import BaseEstimator, clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import RandomForestClassifier, StackingClassifier
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer, TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.semi_supervised import LabelSpreading, SelfTrainingClassifier
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

import labelworth as lw
from labelworth.errors import InvalidInputError, NotIdentifiableError
from labelworth.estimators.others.named_classifiers import NAMED, preparation_of
from support.blobs import texts, vectors

pytestmark = pytest.mark.usefixtures("few_replicates")

TFIDF = make_pipeline(TfidfVectorizer(), LogisticRegression())


def test_fit_and_predict_are_those_of_the_classifier() -> None:
    words, y = texts(60, 40)
    ours = lw.AnyClassifier(TFIDF).fit(words, y)
    theirs = clone(TFIDF).fit(words[:40], y[:40])
    assert ours.predict(words).tolist() == theirs.predict(words).tolist()
    np.testing.assert_allclose(ours.predict_proba(words), 0.999 * theirs.predict_proba(words) + 0.0005)
    assert ours.classes_.tolist() == ["a", "b"]
    assert ours.score(words[:40], y[:40]) == theirs.score(words[:40], y[:40])
    assert clone(ours).get_params()["estimator"].get_params().keys() == TFIDF.get_params().keys()


@pytest.mark.parametrize("name", list(NAMED))
def test_every_name_takes_texts_counts_and_vectors(name: str) -> None:
    words, y = texts(90, 60)
    counts = CountVectorizer().fit_transform(words)
    X, of_vectors = vectors(90, 60, distance=4.0)
    # Fewer words than dimensions that trees and neighbors are given: as many as there are.
    for given, labels in ((words, y), (counts, y), (X, of_vectors)):
        classifier = lw.AnyClassifier(name).fit(given, labels)
        assert classifier.score(given[:60], labels[:60]) > 0.8
        assert classifier.kind == name


@pytest.mark.parametrize("name", ["logistic", "nearest-neighbors"])
def test_texts_of_pandas_are_texts_in_a_column_or_alone(name: str) -> None:
    words, y = texts(90, 60)
    of_list = lw.AnyClassifier(name).fit(words, y).predict_proba(words)
    for given in (pd.Series(words, index=range(90, 0, -1)), pd.DataFrame({"text": words})):
        np.testing.assert_array_equal(lw.AnyClassifier(name).fit(given, y).predict_proba(given), of_list)
    plans = [lw.plan(given, y, model=name, budget=80).to_dict()["recommended"] for given in (words, pd.Series(words))]
    assert plans[0] == plans[1]


def test_there_is_no_classifier_of_another_name() -> None:
    with pytest.raises(InvalidInputError, match="There is no classifier 'logistics'"):
        lw.AnyClassifier("logistics").fit(*vectors(20, 10))
    with pytest.raises(InvalidInputError, match="model must be one of auto, multinomial"):
        lw.plan(*vectors(20, 10), model="logistics", budget=30)


def test_a_plan_of_a_pipeline_is_simulated_and_says_so(tmp_path: Path) -> None:
    words, y = texts(150, 40)
    plan = lw.plan(words, y, model=TFIDF, budget=80)
    assert plan.source == "simulated"
    assert plan.held.n_labels == 40
    assert plan.model == "LogisticRegression"
    assert not plan.uses_unlabeled
    text = "\n".join([*plan.lines(), *plan.notes])
    assert "no formulas for such a classifier" in text
    assert json.dumps(plan.to_dict())


@pytest.mark.parametrize(
    "estimator",
    [LinearSVC(), RandomForestClassifier(3), KNeighborsClassifier(5), SelfTrainingClassifier(GaussianNB())],
)
def test_every_kind_of_classifier_has_a_frontier(estimator: Any) -> None:
    frontier = lw.frontier(*vectors(120, 40, distance=1.2), model=estimator)
    errors = [point.error for point in frontier.boundary]
    assert errors == sorted(errors, reverse=True)
    assert 0 < errors[0] < 0.5


def test_the_seed_settles_all_chance_and_another_seed_differs(tmp_path: Path) -> None:
    X, y = vectors(80, 30, distance=1.0)
    forest = RandomForestClassifier(2)

    def forecast(seed: int, **options: Any) -> Any:
        plan = lw.plan(X, y, model=options.pop("model", forest), budget=60, seed=seed, **options).to_dict()
        return plan["recommended"]["error"], plan["forecast"]

    first = forecast(3, checkpoint=tmp_path / "kept")
    assert forecast(3) == first
    assert forecast(3, checkpoint=tmp_path / "kept") == first
    assert forecast(4) != first
    # A seed of its own is not overwritten by that of the plan.
    model = lw.AnyClassifier(forest, random_state=9)
    assert model.pool(X, y).learner.seed == 9
    assert model.random_state == 9


def test_unlabeled_rows_are_used_by_what_learns_from_them() -> None:
    X, y = vectors(100, 20, distance=2.5, seed=1)
    together = lw.plan(X, y, model=SelfTrainingClassifier(GaussianNB()), budget=60, use_unlabeled="yes")
    alone = lw.plan(X, y, model=SelfTrainingClassifier(GaussianNB()), budget=60, use_unlabeled="no")
    assert together.uses_unlabeled
    assert not alone.uses_unlabeled


def test_a_plan_survives_a_classifier_that_needs_more_labels_than_parts_of_the_pilot_have() -> None:
    X, y = vectors(120, 40, distance=1.0)
    plan = lw.plan(X, y, model=CalibratedClassifierCV(GaussianNB(), cv=5), budget=80)
    assert any("CalibratedClassifierCV cannot always be fitted to" in note for note in plan.notes)
    assert any("were left out of its curve" in note for note in plan.notes)
    without = lw.plan(X, y, model=GaussianNB(), budget=80)
    assert without.forecast is not None
    assert plan.forecast is not None
    # Five and ten labels are too few for five folds of two classes: what stood for its predictions is no point.
    assert without.forecast.measured_labels == (5, 10, 20, 32)
    assert plan.forecast.measured_labels == (20, 32)
    assert not any("cannot always be fitted" in note for note in without.notes)


def test_a_fit_that_stopped_at_its_last_step_did_not_converge() -> None:
    X, y = vectors(80, 40, distance=1.0)
    for steps, state in ((1, "warning"), (1000, "good")):
        plan = lw.plan(X, y, model=LogisticRegression(max_iter=steps, C=100.0), budget=60)
        assert next(check.state for check in plan.checks if check.name == "fit") == state


def test_sparse_values_that_are_no_counts_are_scaled_as_vectors_are() -> None:
    X, y = vectors(200, 100, distance=1.5)
    small = np.abs(X) / 16
    for name in ("linear-svm", "logistic", "nearest-neighbors"):
        dense, sparse = (lw.AnyClassifier(name).fit(own, y).predict(own) for own in (small, sp.csr_array(small)))
        assert (dense == sparse).mean() > 0.97
    counts = sp.csr_array(np.rint(10 * np.abs(X)))
    assert isinstance(preparation_of("logistic", counts)[0], TfidfTransformer)
    notes = [lw.AnyClassifier("logistic").pool(own, y).notes for own in (sp.csr_array(small), counts)]
    assert notes[0][0].startswith("The sparse matrix holds values that are no whole counts")
    assert notes[1] == []


def test_a_classifier_that_fails_on_all_of_the_data_is_refused_in_words() -> None:
    X, y = vectors(60, 40)
    X[3, 1] = np.nan
    with pytest.raises(
        InvalidInputError, match="LogisticRegression cannot be fitted to these data: Input X contains"
    ):
        lw.plan(X, y, model=LogisticRegression(), budget=80)
    with pytest.raises(InvalidInputError, match="cannot be fitted to these data: Input X contains"):
        lw.check(X, y, model=LogisticRegression())
    with pytest.raises(InvalidInputError, match="logistic takes texts, counts or vectors"):
        lw.AnyClassifier("logistic").fit([["a", "b"]] * 20, ["x", "y"] * 10)
    with pytest.raises(InvalidInputError, match="one label entry per sample"):
        lw.plan(X[:50], y, model=LogisticRegression(), budget=80)
    with pytest.raises(NotIdentifiableError, match="No document is labeled"):
        lw.plan(X, [-1] * 60, classes=["a", "b"], model=LogisticRegression(), budget=80)
    with pytest.raises(InvalidInputError, match="write parentheses"):
        lw.plan(X, y, model=LogisticRegression, budget=80)


def test_formulas_and_rules_are_refused() -> None:
    X, y = vectors(60, 40)
    with pytest.raises(InvalidInputError, match="no formulas for such a classifier"):
        lw.plan(X, y, model=LogisticRegression(), budget=80, source="asymptotic")
    with pytest.raises(InvalidInputError, match="rules= is for sequences"):
        lw.plan(X, y, model=LogisticRegression(), budget=80, rules=["everything"])


def test_it_is_not_written_to_a_file_that_runs_nothing(tmp_path: Path) -> None:
    classifier = lw.AnyClassifier(LogisticRegression()).fit(*vectors(30, 20))
    with pytest.raises(InvalidInputError, match="cannot be written to a file"):
        classifier.save(tmp_path / "model.lw")
    assert not list(tmp_path.iterdir())


def test_a_check_says_that_nothing_is_learned_from_unlabeled_rows() -> None:
    report = lw.check(*vectors(90, 40), model=LogisticRegression())
    assert report.verdict == "not used"
    assert report.exit_code == 0
    text = " ".join(report.lines())
    assert "LogisticRegression can learn nothing from unlabeled rows" in text
    assert re.search(r"Its error is \d+\.\d % on 40 held-out labels", text)
    assert re.search(r"has a standard error of \d\.\d points: plans deal other folds", text)
    assert "parameters" not in text
    assert json.loads(json.dumps(report.to_dict()))["verdict"] == "not used"


@pytest.mark.statistical
def test_a_check_finds_out_where_unlabeled_rows_help_and_where_they_hurt(seed: int) -> None:
    rng = np.random.default_rng(seed)
    classes = rng.integers(2, size=3000)
    X = rng.standard_normal((3000, 600)) + 0.16 * classes[:, None]
    y = np.where(np.arange(3000) < 200, classes, -1)
    self_training = SelfTrainingClassifier(GaussianNB(), threshold=0.9)
    helped = lw.check(X, y, model=self_training, seed=seed)
    assert helped.verdict == "helps"
    assert helped.harm is not None
    assert helped.harm.error.with_unlabeled < helped.harm.error.labels_only
    # Rows that are no such rows: their labels are guessed all the same.
    others = np.where(y[:, None] == -1, 30 * rng.standard_normal(X.shape), X)
    hurt = lw.check(others, y, model=self_training, seed=seed)
    assert hurt.verdict == "hurts"
    # Self-training has no weight to be made smaller.
    assert "unlabeled_weight" not in " ".join(hurt.lines())
    # Negative control: self-training that never begins.
    idle = lw.check(X, y, model=SelfTrainingClassifier(GaussianNB(), max_iter=0), seed=seed)
    assert idle.verdict == "cannot be told"


def test_a_check_of_a_graph_has_nothing_to_compare_with() -> None:
    report = lw.check(*vectors(60, 20), model=LabelSpreading())
    assert report.verdict == "cannot be told"
    assert "LabelSpreading cannot be fitted without the unlabeled rows" in report.lines()[-1]


def test_a_check_names_classes_without_labels_and_ends_with_1() -> None:
    X, y = vectors(60, 20)
    for model in (LogisticRegression(), SelfTrainingClassifier(GaussianNB())):
        report = lw.check(X, y, model=model, classes=["a", "b", "never"])
        assert report.verdict == "not identified"
        assert report.exit_code == 1
        assert "no row is labeled 'never'" in " ".join(report.lines())


def test_a_check_calls_classifiers_and_counts_as_people_do() -> None:
    rows, labels = vectors(80, 40)
    told = "\n".join(lw.check(rows, labels, model="linear-svm").lines())
    assert "Linear SVM can learn nothing from unlabeled rows" in told
    one = "\n".join(lw.check(rows, [0] * 40 + [-1] * 40, model="linear-svm").lines())
    assert "40 labeled and 40 unlabeled rows, 1 class." in one


def test_a_check_with_too_few_labels_or_failing_folds_says_so() -> None:
    X, y = vectors(60, 60)
    few = lw.check(X, [*y[:2], *[-1] * 58], model=SelfTrainingClassifier(GaussianNB()))
    assert few.verdict == "cannot be told"
    assert "too few labels" in few.lines()[-1]
    scarce = [*y[:40], *[-1] * 20]
    for row in [row for row, label in enumerate(scarce) if label == "b"][5:]:
        scarce[row] = "a"
    report = lw.check(X, scarce, model=CalibratedClassifierCV(GaussianNB(), cv=5))
    assert report.verdict == "not used"
    assert "Not every fold could be fitted" in " ".join(report.lines())


def test_a_check_refuses_what_it_does_not_know() -> None:
    with pytest.raises(InvalidInputError, match="no option policies="):
        lw.check(*vectors(60, 20), model=LogisticRegression(), policies=["everything"])


def test_what_predicts_amounts_is_refused() -> None:
    from sklearn.linear_model import LinearRegression

    with pytest.raises(InvalidInputError, match="LinearRegression predicts amounts"):
        lw.plan(np.eye(20), [0, 1] * 10, model=LinearRegression(), budget=30)


class OnlyProbabilities(BaseEstimator):
    """Gaussian classes that can be fitted and asked how probable they are, and nothing else."""

    def fit(self, X: np.ndarray, y: np.ndarray) -> "OnlyProbabilities":
        self.inner_ = GaussianNB().fit(X, y)
        self.classes_ = self.inner_.classes_
        return self

    def predict_proba(self, X: np.ndarray) -> np.ndarray:
        return np.asarray(self.inner_.predict_proba(X))


def test_what_a_classifier_can_be_asked_shows_once_it_is_fitted() -> None:
    rows, labels = vectors(80, 40)
    stacked = StackingClassifier([("bayes", GaussianNB()), ("trees", DecisionTreeClassifier(max_depth=2))], cv=2)
    # Before it is fitted nobody knows its last step.
    assert not hasattr(stacked, "predict_proba")
    for model in (stacked, OnlyProbabilities()):
        pool = lw.AnyClassifier(model).pool(rows, labels)
        assert pool.learner.has_scores
    found = lw.plan(rows, labels, model=OnlyProbabilities(), target="recall of a >= 60% at precision 60%")
    assert found.model == "OnlyProbabilities"


def test_what_cannot_predict_is_refused_once_it_is_fitted() -> None:
    with pytest.raises(InvalidInputError, match="once it is fitted, it has neither predict_proba, decision_function"):
        lw.plan(*vectors(60, 30), model=StandardScaler(), budget=40)
    with pytest.raises(InvalidInputError, match=r"fit and get_params that predicts.* Got object\."):
        lw.plan(*vectors(60, 30), model=object(), budget=40)


def test_a_pilot_of_one_class_is_refused_though_others_are_named() -> None:
    from sklearn.linear_model import LogisticRegression

    with pytest.raises(NotIdentifiableError, match="All labels say 0"):
        lw.plan(np.eye(20), [0] * 10 + [-1] * 10, model=LogisticRegression(), classes=[0, 1], budget=15)


def test_texts_that_share_no_word_are_told_that() -> None:
    texts = [f"word{index} other{index}" for index in range(40)]
    with pytest.raises(InvalidInputError, match="No word stands in two of the texts"):
        lw.plan(texts, ["a", "b"] * 10 + [None] * 20, budget=30)
