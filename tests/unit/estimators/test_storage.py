"""Models come back as they were; a file that is not what it should be is refused in words."""

import hashlib
import json
import pickle
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import NotFittedError

import labelworth as lw
from labelworth.data.lengths import LengthDistribution
from labelworth.data.text import Vocabulary
from labelworth.errors import DataUnavailableError, InvalidInputError
from labelworth.estimators.storage import VERSION, Reading, load, load_model, save, save_model
from labelworth.models.chains.boltzmann_chain import BoltzmannChainModel
from labelworth.models.chains.conditional_random_field import ConditionalRandomFieldModel
from labelworth.models.chains.hidden_markov import HiddenMarkovModel
from labelworth.models.classes.multinomial import MultinomialModel
from support.small_models import CASES, Case

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


@pytest.fixture
def model() -> MultinomialModel:
    return MultinomialModel(
        ("a", "b"), [0.25, 0.75], [[0.9, 0.1], [0.3, 0.7]], LengthDistribution.single(4), ("good", "bad")
    )


@pytest.fixture
def path(tmp_path: Path, model: MultinomialModel) -> Path:
    target = tmp_path / "model.lw"
    save_model(target, model, {"vocabulary": {"good": 0}, "settings": {"alpha": 0.1}})
    return target


def rewrite(path: Path, change: dict[str, Any]) -> None:
    """Write the archive again with some members replaced (None: left out), or the header's entries changed."""
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    if "header" in change:
        header = json.loads(members["header.json"]) | change.pop("header")
        members["header.json"] = json.dumps(header).encode()
    members |= change
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in members.items():
            if content is not None:
                archive.writestr(name, content)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_every_kind_of_model_comes_back_bit_for_bit(case: Case, tmp_path: Path, seed: int) -> None:
    rng = np.random.default_rng(seed)
    model = case.draw(rng)
    save_model(tmp_path / "model", model)
    again, extra = load_model(tmp_path / "model")
    assert type(again) is type(model)
    assert again.classes == model.classes
    assert extra == {}
    for name, array in model.to_arrays().items():
        np.testing.assert_array_equal(again.to_arrays()[name], array)


def test_names_and_extra_come_back(path: Path) -> None:
    model, extra = load_model(path)
    assert model.feature_names == ("good", "bad")
    assert extra == {"vocabulary": {"good": 0}, "settings": {"alpha": 0.1}}


@pytest.mark.parametrize(
    "classes",
    [("ham", "späm\udcff"), (0, 1), (0.1, float("inf")), (False, True), ("1", 1), (-(2**80), 3.0)],
    ids=str,
)
def test_classes_keep_value_and_type(classes: tuple[Any, ...], tmp_path: Path, model: MultinomialModel) -> None:
    save_model(tmp_path / "m", MultinomialModel(classes, [0.5, 0.5], [[0.5, 0.5]] * 2, model.lengths))
    again, _ = load_model(tmp_path / "m")
    assert again.classes == classes
    assert [type(name) for name in again.classes] == [type(name) for name in classes]


def test_the_same_model_gives_the_same_bytes(path: Path, tmp_path: Path, model: MultinomialModel) -> None:
    save_model(tmp_path / "again", model, {"settings": {"alpha": 0.1}, "vocabulary": {"good": 0}})
    assert (tmp_path / "again").read_bytes() == path.read_bytes()


def test_classes_json_cannot_hold_are_refused(tmp_path: Path, model: MultinomialModel) -> None:
    strange = MultinomialModel((("a", 1), "b"), [0.5, 0.5], [[0.5, 0.5]] * 2, model.lengths)
    with pytest.raises(InvalidInputError, match="tuple"):
        save_model(tmp_path / "m", strange)
    assert not (tmp_path / "m").exists()


@pytest.mark.parametrize("extra", [{"x": object()}, {"x": float("nan")}, {"x": {1, 2}}], ids=["object", "nan", "set"])
def test_extra_that_is_not_json_is_refused_and_nothing_is_written(
    extra: dict[str, Any], tmp_path: Path, model: MultinomialModel
) -> None:
    with pytest.raises(InvalidInputError, match="JSON"):
        save_model(tmp_path / "m", model, extra)
    assert list(tmp_path.iterdir()) == []


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataUnavailableError, match="no model file"):
        load_model(tmp_path / "nothing")


def test_a_folder_is_no_model(tmp_path: Path) -> None:
    with pytest.raises(DataUnavailableError, match="Cannot read"):
        load_model(tmp_path)


def test_every_truncation_is_refused(path: Path) -> None:
    content = path.read_bytes()
    for size in range(0, len(content), 61):
        path.write_bytes(content[:size])
        with pytest.raises(InvalidInputError, match="cannot be used as a model"):
            load_model(path)


def test_every_flipped_byte_is_refused_or_harmless(path: Path, model: MultinomialModel) -> None:
    content = path.read_bytes()
    for place in range(0, len(content), 7):
        changed = bytearray(content)
        changed[place] ^= 0x20
        path.write_bytes(bytes(changed))
        try:
            again, _ = load_model(path)
        except InvalidInputError:
            continue
        # Dates and flags of the archive may change; the model may not.
        np.testing.assert_array_equal(again.to_arrays()["word_probabilities"], model.word_probabilities)
        assert again.classes == model.classes


@pytest.mark.parametrize("content", [b"", b"hello", pickle.dumps({"a": 1}), b"PK\x05\x06" + 18 * b"\0"], ids=repr)
def test_a_foreign_file_is_refused(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "foreign").write_bytes(content)
    with pytest.raises(InvalidInputError, match="cannot be used as a model"):
        load_model(tmp_path / "foreign")


def test_a_newer_version_asks_for_an_update(path: Path) -> None:
    rewrite(path, {"header": {"version": VERSION + 1}})
    with pytest.raises(InvalidInputError, match="Update labelworth"):
        load_model(path)


def test_an_exchanged_array_is_refused(path: Path) -> None:
    with zipfile.ZipFile(path) as archive:
        other = archive.read("lengths.npy")
    rewrite(path, {"class_probabilities.npy": other})
    with pytest.raises(InvalidInputError, match="class_probabilities"):
        load_model(path)


@pytest.mark.parametrize(
    "header",
    [
        {"format": "other"},
        {"kind": "unheard-of"},
        {"kind": ["list"]},
        {"classes": "ab"},
        {"classes": [["tuple", [1, 2]], ["str", "b"]]},
        {"classes": [["int", True], ["str", "b"]]},
        {"classes": [["float", "wrong"], ["str", "b"]]},
        {"classes": [["str", "a"]]},
        {"feature_names": [1, 2]},
        {"feature_names": ["only one"]},
        {"arrays": {}},
        {"arrays": {"class_probabilities.npy": 3}},
        {"version": "1"},
        {"extra": []},
    ],
    ids=str,
)
def test_a_header_that_makes_no_sense_is_refused(header: dict[str, Any], path: Path) -> None:
    rewrite(path, {"header": header})
    with pytest.raises(InvalidInputError, match="cannot be used as a model"):
        load_model(path)


def test_pickled_arrays_are_never_loaded(path: Path, tmp_path: Path) -> None:
    with (tmp_path / "evil.npy").open("wb") as stream:
        np.save(stream, np.array([{"run": "me"}], dtype=object), allow_pickle=True)
    content = (tmp_path / "evil.npy").read_bytes()
    rewrite(
        path,
        {
            "header": {"arrays": {"class_probabilities.npy": hashlib.sha256(content).hexdigest()}},
            "class_probabilities.npy": content,
        },
    )
    with pytest.raises(InvalidInputError, match="cannot be read"):
        load_model(path)


def test_compressed_parts_are_refused(path: Path) -> None:
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    with pytest.raises(InvalidInputError, match="compressed"):
        load_model(path)


def test_a_failed_save_leaves_the_old_model(path: Path, model: MultinomialModel) -> None:
    before = path.read_bytes()
    with pytest.raises(InvalidInputError):
        save_model(path, model, {"bad": object()})
    assert path.read_bytes() == before


CHAINS = [
    HiddenMarkovModel(("A", 1), [0.5, 0.5], [[0.9, 0.1], [0.2, 0.8]], [[0.7, 0.3], [0.1, 0.9]], ("x", "y")),
    BoltzmannChainModel(("A", "B"), None, [[1.0, 0.0], [0.0, 1.0]], [[0.5], [0.0]], ("x",)),
    BoltzmannChainModel(("A", "B"), [0.25, 0.0], [[1.0, 0.0], [0.0, 1.0]], [[0.5], [0.0]], ("x",)),
    ConditionalRandomFieldModel(
        ("A", "B"),
        None,
        [[1.0, 0.0], [0.0, 1.0]],
        sp.csc_array(([0.5, 0.0], ([0, 1], [0, 1])), (2, 2)),
        ("w=the", "w=a"),
        np.eye(2, dtype=bool),
    ),
]


@pytest.mark.parametrize("chain", CHAINS, ids=lambda chain: chain.kind)
def test_chains_come_back_bit_for_bit(chain: Any, tmp_path: Path) -> None:
    save_model(tmp_path / "model", chain)
    again, _ = load_model(tmp_path / "model")
    assert type(again) is type(chain)
    assert (again.classes, again.feature_names) == (chain.classes, chain.feature_names)
    assert again.to_arrays().keys() == chain.to_arrays().keys()
    for name, array in chain.to_arrays().items():
        np.testing.assert_array_equal(again.to_arrays()[name], array)
    assert again.coordinates.n_free == chain.coordinates.n_free


@pytest.mark.parametrize("chain", CHAINS, ids=lambda chain: chain.kind)
@pytest.mark.parametrize("change", [{"header": {"feature_names": None}}, {"transition.npy": None}])
def test_a_chain_without_names_or_tables_is_refused(chain: Any, change: dict[str, Any], tmp_path: Path) -> None:
    save_model(tmp_path / "model", chain)
    rewrite(tmp_path / "model", dict(change))
    with pytest.raises(InvalidInputError, match="cannot be used as a model"):
        load_model(tmp_path / "model")
