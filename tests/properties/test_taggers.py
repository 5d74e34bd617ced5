"""Whatever sequences are thrown at a tagger, it works or says what is wrong."""

import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone

from labelworth import BoltzmannChain, ConditionalRandomField, HiddenMarkov, LabelworthWarning

TAGGERS = [
    HiddenMarkov(),
    HiddenMarkov(alpha=0.0, label_smoothing=0.0, min_count=2, rare_words="none", accelerate=False),
    HiddenMarkov(rare_words="shapes", min_count=2, unlabeled_weight=0.3, n_init=2, random_state=0),
    BoltzmannChain(max_iter=30),
    BoltzmannChain(c2=0.01, start_weights=False, max_iter=30),
    ConditionalRandomField(max_iter=30),
    ConditionalRandomField(template="U0:%x[0,0]\nU1:%x[1,0]\nB", pairs="all", start_weights=True, max_iter=30),
]
WORDS = st.sampled_from(["a", "b", "Rome", "1999", "well-known", "<unseen>", "é", ""])
LABELS = ["X", "Y", None, -1, float("nan"), ["X", "Y"], {"X"}, ["X", "Z"], []]
ODD = [3, None, {"w": "a"}, ["a", "b"], 0.5]


@st.composite
def problems(draw: st.DrawFn) -> tuple[Any, Any, Any]:
    """Words, labels and weights, mostly in order."""
    tokens = WORDS if draw(st.integers(0, 4)) else WORDS | st.sampled_from(ODD)
    shortest = draw(st.sampled_from([1, 1, 1, 0]))
    sequences = draw(st.lists(st.lists(tokens, min_size=shortest, max_size=4), max_size=5))
    pool = draw(st.sampled_from([["X", "Y"], ["X", "Y", None], [None], ["X", -1], LABELS, [0, 1, -1]]))
    labels: list[Any] = [
        draw(st.lists(st.sampled_from(pool), min_size=len(one), max_size=len(one) + (not draw(st.integers(0, 9)))))
        for one in sequences
    ]
    if labels and not draw(st.integers(0, 3)):
        labels[0] = None
    weights = draw(
        st.none()
        | st.lists(st.sampled_from([0.0, 1.0, 2.5, -1.0, float("nan")]), min_size=len(labels), max_size=len(labels))
    )
    return sequences, labels, weights


@pytest.mark.parametrize("tagger", TAGGERS, ids=str)
@given(problem=problems())
@settings(max_examples=30, deadline=None)
def test_a_fit_works_or_says_what_is_wrong(tagger: Any, problem: tuple[Any, Any, Any]) -> None:
    X, y, weights = problem
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LabelworthWarning)
        try:
            fitted = clone(tagger).fit(X, y, weights)
            tables, best = fitted.predict_proba(X), fitted.predict(X)
        except ValueError as error:
            message = str(error)
        else:
            message = ""
    if message:
        assert len(message) > 20, "too short to help"
        return
    names = fitted.classes_.tolist()
    assert [len(labels) for labels in best] == [len(words) for words in X]
    for table, labels in zip(tables, best, strict=True):
        assert table.shape == (len(labels), len(names))
        np.testing.assert_allclose(table.sum(axis=1), 1.0, rtol=1e-9)
        assert set(labels) <= set(names)


@st.composite
def known_labels(draw: st.DrawFn) -> list[list[Any]]:
    """What is known of the labels of two sequences of four tokens."""
    entries = st.sampled_from(["X", "Y", "Z", None, ("X", "Z"), ("Y", "Z")])
    return [draw(st.lists(entries, min_size=4, max_size=4)) for _ in range(2)]


@pytest.fixture(scope="module")
def fitted_taggers() -> list[Any]:
    words = [list("abca"), list("bcab"), list("ccab")]
    labels = [list("XYZX"), ["Y", None, "X", None], [None, "Z", None, "Y"]]
    return [clone(tagger).fit(words, labels) for tagger in (TAGGERS[0], TAGGERS[3], TAGGERS[5])]


@given(known=known_labels())
@settings(max_examples=40, deadline=None)
def test_what_is_known_is_respected(fitted_taggers: list[Any], known: list[list[Any]]) -> None:
    words = [list("abca"), list("ccba")]
    for tagger in fitted_taggers:
        predicted, tables = tagger.predict(words, known), tagger.predict_proba(words, known)
        for labels, table, given_labels in zip(predicted, tables, known, strict=True):
            for label, row, allowed in zip(labels, table, given_labels, strict=True):
                candidates = {"X", "Y", "Z"} if allowed is None else set(allowed)
                assert label in candidates
                outside = [code for code, name in enumerate(tagger.classes_) if name not in candidates]
                np.testing.assert_array_equal(row[outside], 0.0)


@pytest.mark.parametrize("tagger", [TAGGERS[0], TAGGERS[3], TAGGERS[5]], ids=str)
def test_other_names_for_the_labels_change_only_the_names(tagger: Any) -> None:
    words = [list("abca"), list("bcab"), list("ccab")]
    labels = [list("XYZX"), ["Y", None, "X", None], [None, "Z", None, "Y"]]
    other = {"X": "r", "Y": "q", "Z": "p", None: None}
    plain = clone(tagger).fit(words, labels)
    named = clone(tagger).fit(words, [[other[label] for label in one] for one in labels])
    assert named.predict(words) == [[other[label] for label in one] for one in plain.predict(words)]
    order = [plain.classes_.tolist().index(name) for name in ("Z", "Y", "X")]
    for one, two in zip(plain.predict_proba(words), named.predict_proba(words), strict=True):
        np.testing.assert_allclose(one[:, order], two, atol=1e-4)
