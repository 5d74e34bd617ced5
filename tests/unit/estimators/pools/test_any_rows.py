"""Any classifier behind the simulations: whatever X is, however it answers, whichever classes it was shown."""

from typing import Any

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.linear_model import LogisticRegression, RidgeClassifier, SGDClassifier
from sklearn.naive_bayes import GaussianNB, MultinomialNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.semi_supervised import LabelSpreading, SelfTrainingClassifier
from sklearn.svm import SVC, LinearSVC

import labelworth as lw
from labelworth.data.evidence import encode_labels
from labelworth.data.rows import Rows
from labelworth.errors import InvalidInputError
from labelworth.estimators.pools.any_rows import (
    AnyLearner,
    labels_only,
    last_step,
    learns_from_unlabeled,
    modes_of,
    require_classifier,
)
from support.blobs import texts, vectors


class NamesOnly(ClassifierMixin, BaseEstimator):
    """Predicts the class of the nearer mean of the first column, and says no more: no probabilities, no classes_."""

    def fit(self, X: Any, y: Any) -> "NamesOnly":
        self.means_ = {name: np.asarray(X)[np.asarray(y) == name].mean(axis=0) for name in np.unique(y).tolist()}
        return self

    def predict(self, X: Any) -> Any:
        gaps = [((np.asarray(X) - mean) ** 2).sum(axis=1) for mean in self.means_.values()]
        return np.array(list(self.means_))[np.argmin(gaps, axis=0)]


class SaysNothing(NamesOnly):
    def predict_proba(self, X: Any) -> Any:
        return np.full((len(X), len(self.means_)), np.nan)


class AsksForMore(NamesOnly):
    def fit(self, X: Any, y: Any) -> NamesOnly:
        assert len(y) > 10, "eleven rows at least"
        return super().fit(X, y)


class NumbersClasses(NamesOnly):
    def fit(self, X: Any, y: Any) -> NamesOnly:
        self.classes_ = np.arange(len(np.unique(y)))
        return super().fit(X, y)


def rows_of(X: Any, y: Any, **options: Any) -> Rows:
    return Rows(X, encode_labels(y, unlabeled=-1, **options))


def learner_of(estimator: Any, **options: Any) -> AnyLearner:
    modes = modes_of(estimator, None)
    return AnyLearner(estimator, mode=modes[-1], modes=modes, **options)


def posteriors(learner: AnyLearner, rows: Rows) -> Any:
    return np.exp(learner.predict(learner.fit(rows), rows).log_posteriors(1.0))


def _forms() -> dict[str, tuple[Any, Any, Any]]:
    import pandas as pd

    words, labels = texts(60, 30)
    X, y = vectors(60, 30)
    counts = CountVectorizer().fit_transform(words)
    return {
        "texts": (make_pipeline(TfidfVectorizer(), LogisticRegression()), words, labels),
        "array of texts": (make_pipeline(TfidfVectorizer(), LogisticRegression()), np.array(words, object), labels),
        "sparse": (MultinomialNB(), counts, labels),
        "dense": (LogisticRegression(), X, y),
        "list of lists": (LogisticRegression(), X.tolist(), y),
        "frame": (
            make_pipeline(StandardScaler(), LogisticRegression()),
            pd.DataFrame(X, columns=["u", "v", "w"], index=np.arange(60)[::-1]),
            y,
        ),
    }


@pytest.mark.parametrize("form", ["texts", "array of texts", "sparse", "dense", "list of lists", "frame"])
def test_every_form_of_X_is_fitted_as_scikit_learn_would_alone(form: str) -> None:
    estimator, X, y = _forms()[form]
    rows = rows_of(X, y)
    ours = posteriors(learner_of(estimator), rows)
    labeled = rows.take(rows.is_labeled)
    theirs = clone(estimator).fit(labeled.features, [label for label in y if label != -1]).predict_proba(X)
    np.testing.assert_allclose(ours, 0.999 * theirs + 0.001 / 2, rtol=1e-9)


@pytest.mark.parametrize(
    "estimator",
    [
        LinearSVC(),
        RidgeClassifier(),
        SVC(break_ties=True),
        SGDClassifier(),
        SVC(decision_function_shape="ovo"),
        NamesOnly(),
    ],
)
@pytest.mark.parametrize("names", [("a", "b"), ("a", "b", "c"), (3, 1, 2)])
def test_without_probabilities_the_predicted_class_stays_the_predicted_class(estimator: Any, names: Any) -> None:
    X, y = vectors(90, 60, names=names)
    rows = rows_of(X, y)
    learner = learner_of(estimator)
    model = learner.fit(rows)
    best = learner.predict(model, rows).best
    assert [rows.evidence.classes[code] for code in best] == model.estimator.predict(X).tolist()
    assert np.allclose(posteriors(learner, rows).sum(axis=1), 1.0)


@pytest.mark.parametrize("estimator", [LogisticRegression(), LinearSVC(), NamesOnly(), RandomForestClassifier(5)])
def test_a_class_that_no_label_names_is_never_predicted_and_never_impossible(estimator: Any) -> None:
    X, y = vectors(60, 40)
    rows = rows_of(X, y, classes=["a", "never", "b"])
    shares = posteriors(learner_of(estimator), rows)
    assert shares.shape == (60, 3)
    assert (shares.argmax(axis=1) != 1).all()
    assert (shares[:, 1] > 0).all()


def test_one_class_alone_gives_the_shares_of_the_labels() -> None:
    X, _ = vectors(20, 20)
    rows = rows_of(X, ["a"] * 7 + [-1] * 13, classes=["a", "b"])
    learner = learner_of(LogisticRegression())
    assert not learner.fit(rows).failure
    np.testing.assert_allclose(posteriors(learner, rows), np.tile([7.5 / 8, 0.5 / 8], (20, 1)))


@pytest.mark.parametrize("names", [("spam", "ham"), (2, 10), (True, False), ("a", 1), (0.5, 1.5), (-5, 7)])
@pytest.mark.parametrize("estimator", [LogisticRegression(), SelfTrainingClassifier(LogisticRegression())])
def test_names_of_classes_do_not_change_a_prediction(estimator: Any, names: Any) -> None:
    X, y = vectors(60, 30, names=(0, 1))
    codes = [names[label] if label != -1 else None for label in y]
    rows = Rows(X, encode_labels(codes, classes=list(names), unlabeled=None))
    plain = rows_of(X, y)
    learner = learner_of(estimator)
    np.testing.assert_allclose(posteriors(learner, rows), posteriors(learner, plain), rtol=1e-9)


def test_weights_by_the_name_of_a_class_reach_the_classifier() -> None:
    X, y = vectors(60, 40, distance=0.5)
    weighted = LogisticRegression(class_weight={"a": 100.0, "b": 1.0})
    rows = rows_of(X, y)
    assert posteriors(learner_of(weighted), rows)[:, 0].min() > 0.7
    # Of numbers too where unlabeled rows are learned from, which texts are not allowed beside.
    numbered = rows_of(X, [{"a": 4, "b": 9}.get(label, -1) for label in y])
    by_number = SelfTrainingClassifier(LogisticRegression(class_weight={4: 100.0, 9: 1.0}))
    assert posteriors(learner_of(by_number), numbered)[:, 0].min() > 0.7


def test_self_training_has_two_ways_to_learn_also_inside_a_pipeline() -> None:
    alone = SelfTrainingClassifier(LogisticRegression(), threshold=0.6)
    piped = make_pipeline(StandardScaler(), SelfTrainingClassifier(GaussianNB()))
    assert modes_of(alone, None) == modes_of(piped, None) == ("labels-only", "semi-supervised")
    assert isinstance(labels_only(alone), LogisticRegression)
    assert [type(step) for _, step in labels_only(piped).steps] == [StandardScaler, GaussianNB]
    assert isinstance(last_step(piped), SelfTrainingClassifier)
    X, y = vectors(200, 12, distance=1.5)
    rows = rows_of(X, y)
    for estimator in (alone, piped):
        learner = learner_of(estimator)
        together, apart = posteriors(learner, rows), posteriors(learner.in_mode("labels-only"), rows)
        assert not np.allclose(together, apart)
        labeled = rows.take(rows.is_labeled)
        again = posteriors(learner.in_mode("labels-only"), labeled)
        np.testing.assert_allclose(again, apart[:12])


def test_a_graph_of_neighbors_has_no_way_without_unlabeled_rows() -> None:
    assert modes_of(LabelSpreading(), None) == ("semi-supervised",)
    X, y = vectors(60, 20)
    rows = rows_of(X, y)
    learner = learner_of(LabelSpreading())
    assert learner.mode == "semi-supervised"
    assert (learner.predict(learner.fit(rows), rows).best == rows.evidence.codes)[:20].mean() > 0.9


def test_what_learns_from_unlabeled_rows_is_known_or_said() -> None:
    assert not learns_from_unlabeled(LogisticRegression())
    assert learns_from_unlabeled(lw.MultinomialNaiveBayes())
    assert modes_of(LogisticRegression(), True) == ("labels-only", "semi-supervised")
    assert modes_of(SelfTrainingClassifier(GaussianNB()), False) == ("labels-only",)


def test_chance_is_settled_by_the_seed_and_threads_are_off() -> None:
    nested = make_pipeline(StandardScaler(), SelfTrainingClassifier(RandomForestClassifier(5, n_jobs=-1)))
    settled = AnyLearner(nested, 7).prepared.get_params()
    assert settled["selftrainingclassifier__estimator__random_state"] == 7
    assert settled["selftrainingclassifier__estimator__n_jobs"] == 1
    assert nested.get_params()["selftrainingclassifier__estimator__random_state"] is None
    assert AnyLearner(RandomForestClassifier(random_state=3), 7).prepared.random_state == 3
    X, y = vectors(80, 40, distance=0.7)
    rows = rows_of(X, y)
    first, same, other = (posteriors(AnyLearner(nested, seed), rows) for seed in (1, 1, 2))
    assert (first == same).all()
    assert not np.allclose(first, other)


@pytest.mark.parametrize(
    ("estimator", "why"),
    [
        (CalibratedClassifierCV(GaussianNB(), cv=5), "cross-validation"),
        (KNeighborsClassifier(5), "n_neighbors"),
        (SaysNothing(), "not numbers"),
        (AsksForMore(), "eleven rows at least"),
    ],
)
def test_what_cannot_be_fitted_to_so_few_labels_predicts_shares_and_says_why(estimator: Any, why: str) -> None:
    X, y = vectors(30, 4)
    rows = rows_of(X, y)
    learner = learner_of(estimator)
    assert why in learner.failure(rows)
    np.testing.assert_allclose(posteriors(learner, rows), np.full((30, 2), 0.5))


def test_classes_that_nobody_showed_to_a_classifier_are_refused_in_words() -> None:
    X, y = vectors(30, 20)
    with pytest.raises(InvalidInputError, match=r"They are 0, 1, and fit was given 'a', 'b'\."):
        learner_of(NumbersClasses()).fit(rows_of(X, y))


def test_who_can_be_fitted_to_nearly_the_whole_pilot_alone_asks_for_as_many_labels_again() -> None:
    X, y = vectors(60, 20)
    with pytest.raises(InvalidInputError, match=r"to the half of 20 labels\. Label 20 more drawn at random"):
        lw.plan(X, y, model=AsksForMore(), budget=40)


def test_what_can_be_fitted_has_no_failure() -> None:
    X, y = vectors(60, 50)
    for estimator in (CalibratedClassifierCV(GaussianNB(), cv=5), KNeighborsClassifier(5), NamesOnly()):
        assert not learner_of(estimator).failure(rows_of(X, y))


@pytest.mark.parametrize(
    ("kind", "estimator"),
    [
        ("linear", LogisticRegression()),
        ("linear", make_pipeline(StandardScaler(), LinearSVC())),
        ("linear", SelfTrainingClassifier(SGDClassifier())),
        ("generative", MultinomialNB()),
        ("vectors", GaussianNB()),
        ("local", RandomForestClassifier()),
        ("local", KNeighborsClassifier()),
    ],
)
def test_forecasts_take_the_constants_of_the_kind_of_learner(kind: str, estimator: Any) -> None:
    assert learner_of(estimator).kind == kind


def test_what_is_no_classifier_is_refused_in_words() -> None:
    with pytest.raises(InvalidInputError, match="not an instance: write parentheses"):
        require_classifier(LogisticRegression)
    with pytest.raises(InvalidInputError, match="Got object"):
        require_classifier(object())
    require_classifier(NamesOnly())


@pytest.mark.parametrize(
    ("X", "got"), [(None, "NoneType"), ("one text", "str"), (3.0, "float"), (np.array(3), "nda")]
)
def test_what_is_no_table_of_rows_is_refused_in_words(X: Any, got: str) -> None:
    with pytest.raises(InvalidInputError, match=f"a row per sample. Got {got}"):
        rows_of(X, ["a", "b"])


def test_the_worth_of_rows_is_known_of_logistic_regression_with_a_ridge() -> None:
    X, y = vectors(200, 60)
    rows = Rows(X, encode_labels(y))
    learner = AnyLearner(make_pipeline(StandardScaler(), LogisticRegression(C=2.0)), mode="labels-only")
    worths = learner.scores("worth", learner.fit(rows), rows)
    unsure = learner.scores("uncertainty", learner.fit(rows), rows)
    is_open = rows.evidence.is_unlabeled
    assert (worths[~is_open] == 0).all()
    assert (worths[is_open] > 0).all()
    # A row of which the model is nearly sure is worth nearly nothing.
    assert worths[is_open][np.argsort(unsure[is_open])[:20]].mean() < 0.5 * worths[is_open].mean()


@pytest.mark.parametrize("estimator", [GaussianNB(), LogisticRegression(l1_ratio=1.0, solver="liblinear")])
def test_the_worth_of_rows_is_refused_where_it_is_not_known(estimator: Any) -> None:
    X, y = vectors(80, 60)
    rows = Rows(X, encode_labels(y))
    learner = AnyLearner(estimator, mode="labels-only")
    with pytest.raises(InvalidInputError, match="Take one of these, as model='multinomial', or"):
        learner.scores("worth", learner.fit(rows), rows)


def test_uncertainty_is_refused_where_a_model_only_names_classes() -> None:
    X, y = vectors(80, 60)
    rows = Rows(X, encode_labels(y))
    learner = AnyLearner(NamesOnly(), mode="labels-only")
    with pytest.raises(InvalidInputError, match="how sure it is"):
        learner.scores("uncertainty", learner.fit(rows), rows)
