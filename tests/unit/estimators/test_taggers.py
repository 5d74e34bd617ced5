"""The taggers learn from sequences that are labeled in parts, and keep scikit-learn's manners."""

import pickle
import warnings
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score

import labelworth as lw
from labelworth.data.readers import read_sequences
from support.sentences import LABELS, SENTENCES, draw_sentences

TAGGERS = [
    lw.HiddenMarkov(alpha=0.1, label_smoothing=0.1),
    lw.BoltzmannChain(c2=0.1),
    lw.ConditionalRandomField(c2=0.1),
    lw.ConditionalRandomField(c2=0.1, template="U0:%x[0,0]\nU1:%x[-1,0]\nB\n"),
]
GENERATIVE = TAGGERS[:2]
BY_NAME = pytest.mark.parametrize("tagger", TAGGERS, ids=["hidden-markov", "boltzmann", "crf", "crf-template"])
PARTIAL = [["D", "N", "V"], ["D", None, -1], [None, {"N", "V"}, "V"], None]


def fitted(tagger: Any, y: Any = PARTIAL) -> Any:
    return clone(tagger).fit(SENTENCES, y)


@BY_NAME
def test_labels_of_parts_are_learned_and_the_rest_is_filled_in(tagger: Any) -> None:
    trained = fitted(tagger)
    assert trained.predict(SENTENCES) == LABELS
    assert trained.classes_.tolist() == ["D", "N", "V"]
    assert trained.converged_
    assert trained.n_iter_ == trained.fit_.n_iterations > 0
    assert trained.score(SENTENCES, LABELS) == 1.0


@BY_NAME
def test_probabilities_are_those_of_all_label_sequences(tagger: Any) -> None:
    trained = fitted(tagger)
    for words in SENTENCES[:2]:
        [marginals] = trained.predict_proba([words])
        sequences = [list(labels) for labels in product("DNV", repeat=len(words))]
        logs = np.array(
            [trained.model_.log_evidence(trained.sequences([words], [labels]))[0] for labels in sequences]
        )
        shares = np.exp(logs - logs.max()) / np.exp(logs - logs.max()).sum()
        expected = np.zeros_like(marginals)
        for labels, share in zip(sequences, shares, strict=True):
            expected[np.arange(len(words)), ["DNV".index(label) for label in labels]] += share
        np.testing.assert_allclose(marginals, expected, atol=1e-9)
        assert trained.predict([words]) == [sequences[int(shares.argmax())]]


@BY_NAME
def test_known_labels_are_respected_and_tell_on_their_neighbors(tagger: Any) -> None:
    trained = fitted(tagger)
    words = [["the", "dog", "sleeps"]]
    assert trained.predict(words) == [["D", "N", "V"]]
    given = trained.predict(words, [["V", None, ["D", "N"]]])[0]
    assert given[0] == "V"
    assert given[2] in {"D", "N"}
    free, held = trained.predict_proba(words)[0], trained.predict_proba(words, [["V", None, None]])[0]
    np.testing.assert_allclose(held[0], [0.0, 0.0, 1.0], atol=1e-12)
    assert not np.allclose(free[1], held[1])


@BY_NAME
def test_an_empty_sequence_has_no_labels_and_is_no_sequence_to_learn_from(tagger: Any) -> None:
    trained = fitted(tagger)
    assert trained.predict([[], ["the"], []]) == [[], ["D"], []]
    assert [part.shape for part in trained.predict_proba([[], ["the"]])] == [(0, 3), (1, 3)]
    assert trained.predict([[]]) == [[]]
    with pytest.raises(lw.InvalidInputError, match=r"Sequence 1 .* has no token"):
        clone(tagger).fit([["the"], []], [["D"], []])


@BY_NAME
def test_one_token_is_a_sequence(tagger: Any) -> None:
    trained = clone(tagger).fit([["the"], ["cat"], ["the"]], [["D"], ["N"], [None]])
    assert trained.predict([["the"], ["cat"]]) == [["D"], ["N"]]


@BY_NAME
def test_words_never_met_are_handled_and_counted(tagger: Any) -> None:
    trained = fitted(tagger)
    new = [["the", "zebra", "sleeps"]]
    assert trained.predict(new) == [["D", "N", "V"]]
    coverage = trained.coverage(new)
    assert coverage.n_tokens == 3
    assert coverage.n_unknown == 1 + (trained.get_params().get("template") is not None)
    assert trained.coverage(SENTENCES).n_unknown == 0
    assert str(coverage.n_unknown) in coverage.words


@BY_NAME
def test_labels_the_model_does_not_have_are_refused_as_evidence_and_missed_in_a_score(tagger: Any) -> None:
    trained = fitted(tagger)
    with pytest.raises(lw.InvalidInputError, match=r"Sequence 0, token 1 .*'X'.*not one of the classes"):
        trained.predict([["the", "cat"]], [[None, "X"]])
    assert trained.score([["the", "cat"]], [["D", "X"]]) == 0.5
    assert trained.score([["the", "cat", "sleeps"]], [["D", None, ["N", "V"]]]) == 1.0
    with pytest.raises(lw.InvalidInputError, match="nothing to evaluate"):
        trained.score([["the"]], [[None]])


@BY_NAME
def test_a_sequence_of_weight_zero_is_as_good_as_absent(tagger: Any) -> None:
    # Its words stay known; that is all.
    words = [*SENTENCES, ["cat", "the"]]
    weighted = clone(tagger).fit(words, [*LABELS, ["V", "V"]], [1.0] * 4 + [0.0])
    without = clone(tagger).fit(SENTENCES, LABELS)
    for one, two in zip(weighted.predict_proba(SENTENCES), without.predict_proba(SENTENCES), strict=True):
        np.testing.assert_allclose(one, two, atol=2e-3)
    heavy = clone(tagger).fit(words, [*LABELS, ["V", "V"]], [1.0] * 4 + [50.0])
    assert not np.allclose(
        heavy.predict_proba([["cat", "the"]])[0], without.predict_proba([["cat", "the"]])[0], atol=0.1
    )


@pytest.mark.parametrize(
    ("weights", "message"),
    [([1.0, np.nan, 1.0, 1.0], "finite"), ([1.0] * 3, "one weight per sequence"), ([1.0, -1.0, 1.0, 1.0], "weight")],
)
@BY_NAME
def test_bad_weights_are_refused(tagger: Any, weights: list[float], message: str) -> None:
    with pytest.raises(lw.InvalidInputError, match=message):
        clone(tagger).fit(SENTENCES, LABELS, weights)


@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        ("the cat", [["D"]], "list of"),
        ([["the", 3]], [["D", "N"]], r"(token must be a word|Sequence 0, token 1)"),
        ([["the", "cat"]], [["D"]], "2 token.* and 1 label"),
        ([["the"], ["cat"]], [["D"]], "one list of labels per sequence"),
        ([["the"]], [[None]], "Every token is unlabeled"),
        ([["the"]], [["D", "N"]], "1 token.* and 2 label"),
        ([["the"]], [[[]]], "empty candidate set"),
        ([["the", "cat"]], [["D", 1]], "of one kind"),
        ([], [], "no sequence"),
        ([["the"]], None, "classes="),
    ],
)
@BY_NAME
def test_bad_input_is_refused_in_words(tagger: Any, X: Any, y: Any, message: str) -> None:
    with pytest.raises(lw.InvalidInputError, match=message):
        clone(tagger).fit(X, y)


@pytest.mark.parametrize("tagger", GENERATIVE, ids=["hidden-markov", "boltzmann"])
def test_without_any_label_the_names_are_arbitrary_and_this_is_said(tagger: Any) -> None:
    unlabeled = clone(tagger).set_params(classes=["D", "N", "V"])
    with pytest.warns(lw.LabelworthWarning, match="names are arbitrary"):
        unlabeled.fit(SENTENCES, [None] * 4)
    assert {label for labels in unlabeled.predict(SENTENCES) for label in labels} <= {"D", "N", "V"}


def test_a_conditional_model_refuses_data_without_labels() -> None:
    with pytest.raises(lw.InvalidInputError, match="learns nothing from unlabeled"):
        lw.ConditionalRandomField(classes=["D", "N"]).fit(SENTENCES, [None] * 4)


@BY_NAME
def test_classes_may_be_named_beforehand(tagger: Any) -> None:
    trained = clone(tagger).set_params(classes=["V", "N", "D", "X"]).fit(SENTENCES, PARTIAL)
    assert trained.classes_.tolist() == ["V", "N", "D", "X"]
    assert trained.predict(SENTENCES) == LABELS
    with pytest.raises(lw.InvalidInputError, match=r"'V'.*not one of the classes"):
        clone(tagger).set_params(classes=["D", "N"]).fit(SENTENCES, PARTIAL)


@BY_NAME
def test_another_marker_lets_minus_one_be_a_label(tagger: Any) -> None:
    y = [[-1, 1, 2], [-1, None, None], [None, None, 2], None]
    trained = clone(tagger).set_params(unlabeled=None).fit(SENTENCES, y)
    assert trained.classes_.tolist() == [-1, 1, 2]
    assert trained.predict([["the", "cat", "sleeps"]]) == [[-1, 1, 2]]


@BY_NAME
def test_it_clones_pickles_and_survives_its_file(tagger: Any, tmp_path: Path) -> None:
    trained = fitted(tagger)
    assert clone(trained).get_params() == tagger.get_params()
    trained.save(tmp_path / "model.lw")
    for again in (lw.load(tmp_path / "model.lw"), pickle.loads(pickle.dumps(trained))):
        assert type(again) is type(trained)
        assert again.get_params() == trained.get_params()
        assert (again.n_iter_, again.converged_) == (trained.n_iter_, trained.converged_)
        for one, two in zip(again.predict_proba(SENTENCES), trained.predict_proba(SENTENCES), strict=True):
            np.testing.assert_array_equal(one, two)
        assert again.coverage([["the", "zebra"]]) == trained.coverage([["the", "zebra"]])


@BY_NAME
def test_an_unfitted_tagger_refuses(tagger: Any, tmp_path: Path) -> None:
    for ask in (
        lambda: clone(tagger).predict(SENTENCES),
        lambda: clone(tagger).predict_proba(SENTENCES),
        lambda: clone(tagger).score(SENTENCES, LABELS),
        lambda: clone(tagger).save(tmp_path / "model.lw"),
        lambda: clone(tagger).information(SENTENCES, policies=["everything"]),
    ):
        with pytest.raises(NotFittedError):
            ask()
    assert not (tmp_path / "model.lw").exists()


@pytest.mark.parametrize(
    ("tagger", "name"),
    [
        (lw.HiddenMarkov(alpha=-1.0), "alpha"),
        (lw.HiddenMarkov(label_smoothing=np.inf), "label_smoothing"),
        (lw.HiddenMarkov(rare_words="all"), "rare_words"),
        (lw.HiddenMarkov(min_count=0), "min_count"),
        (lw.HiddenMarkov(n_init=0), "n_init"),
        (lw.HiddenMarkov(start_smoothing=0), "start_smoothing"),
        (lw.HiddenMarkov(classes=3), "classes"),
        (lw.BoltzmannChain(c2="x"), "c2"),
        (lw.BoltzmannChain(start_weights=1.5), "start_weights"),
        (lw.BoltzmannChain(unlabeled_weight=-1), "unlabeled_weight"),
        (lw.ConditionalRandomField(pairs="some"), "pairs"),
        (lw.ConditionalRandomField(template=3), "template"),
        (lw.ConditionalRandomField(tol=0), "tol"),
        (lw.ConditionalRandomField(max_iter=1.5), "max_iter"),
    ],
)
def test_a_bad_parameter_is_named_as_it_was_given(tagger: Any, name: str) -> None:
    for ask in (tagger.fit, tagger.check):
        with pytest.raises(lw.InvalidInputError, match=f"The '{name}' parameter of {type(tagger).__name__} must"):
            ask(SENTENCES, LABELS)


@BY_NAME
def test_searches_and_cross_validation_take_lists(tagger: Any) -> None:
    words, labels = draw_sentences(40)
    scores = cross_val_score(clone(tagger), words, labels, cv=4)
    assert scores.shape == (4,)
    assert (scores > 0.9).all()
    name = "alpha" if "alpha" in tagger.get_params() else "c2"

    def missed(estimator: Any, X: Any, y: Any) -> float:
        pairs = zip(estimator.predict(X), y, strict=True)
        return -float(sum(one != two for found, true in pairs for one, two in zip(found, true, strict=True)))

    search = GridSearchCV(clone(tagger), {name: [0.1, 1e5]}, cv=2, scoring=missed).fit(words, labels)
    assert search.best_params_ == {name: 0.1}
    assert search.predict([["the", "cat"]]) == [["D", "N"]]


@pytest.mark.parametrize("rare_words", ["entry", "shapes", "none"])
def test_rare_words_share_what_was_asked_for(rare_words: Any, tmp_path: Path) -> None:
    tagger = lw.HiddenMarkov(min_count=2, rare_words=rare_words).fit(SENTENCES, LABELS)
    assert set(tagger.lexicon_.words) == {"the", "cat", "sleeps"}
    assert tagger.coverage([["the", "dog", "1999"]]).n_unknown == 2
    tagger.save(tmp_path / "model.lw")
    assert lw.load(tmp_path / "model.lw").lexicon_ == tagger.lexicon_


@pytest.mark.parametrize("tagger", GENERATIVE, ids=["hidden-markov", "boltzmann"])
def test_a_weight_of_zero_leaves_sequences_without_labels_out(tagger: Any) -> None:
    y = [*LABELS[:2], None, None]
    weightless = clone(tagger).set_params(unlabeled_weight=0.0).fit(SENTENCES, y)
    alone = clone(tagger).fit(SENTENCES, y)
    without = clone(tagger).fit(SENTENCES, y, [1.0, 1.0, 0.0, 0.0])
    for one, two in zip(weightless.predict_proba(SENTENCES), without.predict_proba(SENTENCES), strict=True):
        np.testing.assert_allclose(one, two, rtol=1e-12)
    assert not np.allclose(alone.predict_proba(SENTENCES)[3], weightless.predict_proba(SENTENCES)[3], atol=1e-6)


def test_a_reader_may_give_x_with_its_labels(tmp_path: Path) -> None:
    path = tmp_path / "data.conll"
    path.write_text("the D\ncat N\nsleeps V\n\nthe D\ndog _\nsleeps _\n")
    raw = read_sequences(path)
    for tagger in TAGGERS:
        trained = clone(tagger).fit(raw)
        lists = clone(tagger).fit(SENTENCES[:2], PARTIAL[:2])
        # Labels of the file are not looked at unless they are given.
        assert trained.predict(raw) == trained.predict(SENTENCES[:2])
        for one, two in zip(trained.predict_proba(raw), lists.predict_proba(SENTENCES[:2]), strict=True):
            np.testing.assert_array_equal(one, two)
        assert trained.score(raw) == 1.0


def test_attributes_are_read_as_sklearn_crfsuite_takes_them() -> None:
    mappings = [[{"w": word, "long": len(word) > 3, "size": len(word)} for word in words] for words in SENTENCES]
    lists = [[[f"w:{word}", *(["long"] if len(word) > 3 else [])] for word in words] for words in SENTENCES]
    for X in (mappings, lists):
        tagger = lw.ConditionalRandomField(c2=0.1).fit(X, PARTIAL)
        assert tagger.predict(X) == LABELS
        assert "w:cat" in tagger.model_.feature_names
        with pytest.raises(lw.InvalidInputError, match="no attribute that the model knows"):
            tagger.predict([[{"other": "cat"}]])


def test_a_template_reads_rows_of_columns() -> None:
    rows = [[(word, word[0]) for word in words] for words in SENTENCES]
    tagger = lw.ConditionalRandomField(template="U0:%x[0,0]\nU1:%x[0,1]\nB").fit(rows, LABELS)
    assert tagger.predict(rows) == LABELS
    assert {"U0:cat", "U1:c"} <= set(tagger.model_.feature_names)
    for X, message in (
        ([[("cat", "c"), ("the",)]], "1 column"),
        ([[{"w": "cat"}]], "template=None"),
        ([["cat"]], "refers to column 1"),
    ):
        with pytest.raises(lw.InvalidInputError, match=message):
            tagger.predict(X)


@pytest.mark.parametrize(
    ("template", "message"),
    [("none-such", "no template 'none-such'"), ("U0:%x[0,0]", "no line B"), ("X:%x[0,0]\nB", "Line 1")],
)
def test_a_template_that_is_none_is_refused(template: str, message: str) -> None:
    with pytest.raises(lw.InvalidInputError, match=message):
        lw.ConditionalRandomField(template=template).fit(SENTENCES, LABELS)


def test_a_template_of_ones_own_is_stored(tmp_path: Path) -> None:
    template = lw.Template.of(["w=%x[0,0]"], first="begin")
    tagger = lw.ConditionalRandomField(template=template).fit(SENTENCES, LABELS)
    tagger.save(tmp_path / "model.lw")
    loaded = lw.load(tmp_path / "model.lw")
    assert loaded.template == template
    assert loaded.predict(SENTENCES) == tagger.predict(SENTENCES)


def test_words_for_a_model_of_words_only() -> None:
    with pytest.raises(lw.InvalidInputError, match="A token must be a word"):
        lw.HiddenMarkov().fit([[{"w": "the"}]], [["D"]])


@BY_NAME
def test_information_is_that_of_the_fitted_model(tagger: Any) -> None:
    trained = clone(tagger).fit(SENTENCES, LABELS)
    policies = ["everything", "every-other"]
    asked = trained.information(
        SENTENCES, policies=policies, method="enumeration" if tagger is TAGGERS[2] else "auto"
    )
    expected = lw.information(
        trained.model_,
        policies=policies,
        inputs=trained.sequences(SENTENCES).hide(),
        n_samples=4,
        method="enumeration" if tagger is TAGGERS[2] else "auto",
    )
    assert asked.n_samples == 4
    assert [p.figures["total_variance"] for p in asked.points] == [
        p.figures["total_variance"] for p in expected.points
    ]
    first, second = (point.figures["total_variance"] for point in asked.points)
    assert first < second
    with pytest.raises(lw.InvalidInputError, match="n_samples="):
        trained.information(policies=policies, lengths={3: 1.0})


def test_words_of_probability_zero_are_said() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", lw.LabelworthWarning)
        tagger = lw.HiddenMarkov(alpha=0.0, label_smoothing=0.0).fit(SENTENCES[:2], LABELS[:2])
    for ask in (tagger.predict, tagger.predict_proba):
        with pytest.raises(lw.InvalidInputError, match=r"Sequence 1 .* has probability zero"):
            ask([["the"], ["sleeps", "the"]])
