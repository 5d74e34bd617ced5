import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

import labelworth as lw
from labelworth.data.text import Vocabulary
from labelworth.estimators.model_file import save_model
from labelworth.estimators.storage import Reading, load, save

RNG = np.random.default_rng(0)
X = RNG.poisson(2.0, (30, 3)).astype(float)
Y = np.array([0, 1, -1] * 10)


@pytest.mark.parametrize(
    "classifier",
    [
        lw.MultinomialNaiveBayes(alpha=0.25, document_length=9.0, random_state=3),
        lw.BernoulliNaiveBayes(binarize=1.0, unlabeled_weight=0.5),
        lw.GaussianClasses(covariance="full", smoothing=2.0),
    ],
    ids=repr,
)
def test_a_classifier_survives_its_file(tmp_path: Path, classifier: Any) -> None:
    classifier.fit(X, Y).save(tmp_path / "model.lw")
    loaded = lw.load(tmp_path / "model.lw")
    assert type(loaded) is type(classifier)
    assert loaded.get_params() == classifier.get_params()
    assert (loaded.n_iter_, loaded.converged_) == (classifier.n_iter_, classifier.converged_)
    np.testing.assert_array_equal(loaded.classes_, classifier.classes_)
    np.testing.assert_array_equal(loaded.predict_proba(X), classifier.predict_proba(X))


@pytest.mark.parametrize("y", [["ham", "spam", -1] * 10, [True, False, None] * 10, [0.5, 1.5, np.nan] * 10])
def test_classes_of_any_kind_come_back(tmp_path: Path, y: list[Any]) -> None:
    labels = [str(label) if isinstance(label, float) and label == label else label for label in y]
    classifier = lw.MultinomialNaiveBayes().fit(X, labels)
    classifier.save(tmp_path / "model.lw")
    loaded = lw.load(tmp_path / "model.lw")
    assert loaded.classes_.tolist() == classifier.classes_.tolist()
    assert loaded.classes_.dtype.kind == classifier.classes_.dtype.kind


def test_names_of_columns_come_back(tmp_path: Path) -> None:
    import pandas as pd

    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    lw.GaussianClasses().fit(frame, Y).save(tmp_path / "model.lw")
    loaded = lw.load(tmp_path / "model.lw")
    assert loaded.feature_names_in_.tolist() == ["a", "b", "c"]
    with pytest.raises(lw.InvalidInputError, match="feature names should match"):
        loaded.predict(frame.rename(columns={"a": "z"}))


def test_how_features_were_read_comes_back_and_is_kept_on_the_next_save(tmp_path: Path) -> None:
    reading = Reading(Vocabulary(("goal", "law", "vote")), zero_based=False)
    save(lw.MultinomialNaiveBayes().fit(X, Y), tmp_path / "first.lw", reading=reading)
    save(load(tmp_path / "first.lw"), tmp_path / "second.lw")
    assert load(tmp_path / "second.lw").reading_ == reading


def test_a_random_state_that_is_no_number_is_left_out(tmp_path: Path) -> None:
    lw.MultinomialNaiveBayes(random_state=np.random.RandomState(0)).fit(X, Y).save(tmp_path / "model.lw")
    assert lw.load(tmp_path / "model.lw").random_state is None


def test_settings_from_a_search_over_numpys_numbers_are_kept(tmp_path: Path) -> None:
    lw.MultinomialNaiveBayes(alpha=np.float32(0.5), n_init=np.int64(2)).fit(X, Y).save(tmp_path / "model.lw")
    loaded = lw.load(tmp_path / "model.lw")
    assert (loaded.alpha, loaded.n_init) == (0.5, 2)


def test_an_unfitted_classifier_is_refused(tmp_path: Path) -> None:
    with pytest.raises(NotFittedError):
        lw.MultinomialNaiveBayes().save(tmp_path / "model.lw")
    assert not (tmp_path / "model.lw").exists()


@pytest.mark.parametrize(
    "extra",
    [
        {},
        {"settings": {"unknown": 1}, "n_iterations": 1, "converged": True, "reading": {}},
        {"settings": {"document_length": "x"}, "n_iterations": 1, "converged": True, "reading": {}},
        {"settings": {}, "n_iterations": "many", "converged": True, "reading": {}},
        {"settings": {}, "n_iterations": 1, "converged": True, "reading": {"zero_based": 3}},
        {"settings": {}, "n_iterations": 1, "converged": True, "reading": []},
        {"settings": {}, "n_iterations": 1, "converged": True, "reading": {"vocabulary": {"words": []}}},
    ],
)
def test_a_model_without_its_settings_is_refused(tmp_path: Path, extra: dict[str, Any]) -> None:
    save_model(tmp_path / "model.lw", lw.MultinomialNaiveBayes().fit(X, Y).model_, extra)
    with pytest.raises(lw.InvalidInputError, match="not a classifier"):
        load(tmp_path / "model.lw")


def test_the_file_holds_plain_arrays_and_json_alone(tmp_path: Path) -> None:
    lw.MultinomialNaiveBayes().fit(X, Y).save(tmp_path / "model.lw")
    with zipfile.ZipFile(tmp_path / "model.lw") as archive:
        names = archive.namelist()
        assert json.loads(archive.read("header.json"))["extra"]["settings"]["alpha"] == 1.0
    assert all(name.endswith((".npy", ".json")) for name in names)
