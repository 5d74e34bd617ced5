import time
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labelworth.data.tokens.lexicon import Lexicon
from labelworth.data.tokens.lists import flatten
from labelworth.errors import InvalidInputError
from labelworth.estimators.token_input import recoded
from support.token_lists import attribute_sequences, word_sequences


def test_words_and_labels_become_codes() -> None:
    sequences = word_sequences([["the", "cat"], ["go"]], [["D", "N"], ["V"]])
    assert sequences.words.tolist() == [0, 1, 2]
    assert sequences.offsets.tolist() == [0, 2, 3]
    assert sequences.evidence.classes == ("D", "N", "V")
    assert sequences.feature_names == ("the", "cat", "go", "<unseen>")


def test_labels_are_read_as_people_write_them() -> None:
    labels: list[Any] = [["D", None], [float("nan"), -1], None, [{"D", "N"}, ["N", "V"]], np.array(["N", "V"])]
    sequences = word_sequences([["a", "b"]] * 5, labels)
    assert sequences.evidence.codes.tolist() == [0, -1, -1, -1, -1, -1, -2, -3, 1, 2]
    assert sequences.evidence.weights.tolist() == [[1, 1, 0], [0, 1, 1]]
    named = word_sequences([["a", "b"]], [["?", -1]], unlabeled="?")
    assert named.evidence.classes == (-1,)


def test_a_lexicon_and_classes_of_earlier_are_kept() -> None:
    lexicon = Lexicon.from_words(["the", "cat"])
    sequences = recoded(word_sequences([["cat", "dog"]], None, classes=["D", "N"]), lexicon)
    assert sequences.words.tolist() == [1, 2]
    assert sequences.evidence.is_unlabeled.all()
    with pytest.raises(
        InvalidInputError, match=r"Sequence 1, token 0 \(counted from 0\), has the label 'X'.*'D', 'N'"
    ):
        word_sequences([["cat"], ["cat"]], [["D"], ["X"]], classes=["D", "N"])


def test_empty_sequences_are_refused_or_dropped() -> None:
    tokens: list[list[str]] = [["a"], [], ["b"]]
    with pytest.raises(InvalidInputError, match=r"Sequence 1 .* has no token.*Leave empty sequences out"):
        word_sequences(tokens, [["X"], [], ["Y"]])
    sequences = word_sequences(tokens, [["X"], [], ["Y"]], weights=[1.0, 2.0, 3.0], empty="drop")
    assert sequences.lengths.tolist() == [1, 1]
    assert sequences.evidence.codes.tolist() == [0, 1]
    assert sequences.sequence_weights.tolist() == [1.0, 3.0]
    assert flatten(tokens, empty="drop").rows.tolist() == [0, 2]
    with pytest.raises(InvalidInputError, match="no sequence with a token"):
        word_sequences([[]], [[]], empty="drop")


@pytest.mark.parametrize(
    ("tokens", "labels", "message"),
    [
        ("the cat", None, "list of lists of tokens"),
        (7, None, "list of lists of tokens"),
        (["the cat"], [["D"]], r"Sequence 0 .* must be a list of tokens. Got 'the cat'"),
        ([["the", 3]], [["D", "N"]], r"Sequence 0, token 1 \(counted from 0\), is 3. A token must be a word"),
        ([["a", "b"]], [["D"]], r"Sequence 0 .* 2 token\(s\) and 1 label\(s\)"),
        ([["a"], ["b"]], [["D"]], "one list of labels per sequence"),
        ([["a"]], ["D"], "must be a list of labels. Got 'D'"),
        ([["a"]], None, "there must be classes="),
        ([["a"]], [[[]]], "empty candidate set"),
        ([["a", "b"]], [["D", 3]], "of one kind"),
    ],
)
def test_bad_lists_are_named(tokens: Any, labels: Any, message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        word_sequences(tokens, labels)


@pytest.mark.parametrize("weights", [[1.0], [1.0, np.nan], [1.0, -1.0]])
def test_bad_weights_are_refused(weights: list[float]) -> None:
    with pytest.raises(InvalidInputError, match="weight"):
        word_sequences([["a"], ["b"]], [["X"], ["Y"]], weights=weights)


@pytest.mark.parametrize(
    ("token", "message"),
    [
        ({"a": None}, "the attribute 'a' with the value None"),
        ({"a": float("nan")}, "weights must be finite"),
        ({1: 2.0}, "must be text"),
        (["a", 2], "must be text"),
        ("word", "its attributes|attributes must be a list"),
        ({"a": ["x", {"b": 1}]}, "must be text"),
    ],
)
def test_what_is_no_attribute_is_named(token: Any, message: str) -> None:
    with pytest.raises(InvalidInputError, match=message) as caught:
        attribute_sequences([[["fine"], token]], [["X", "Y"]])
    assert "Sequence 0, token 1" in str(caught.value)


names = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=4)
numbers = st.booleans() | st.integers(-5, 5) | st.floats(-5, 5).map(lambda value: float(np.float32(value)))
lists = st.lists(names, max_size=3, unique=True)
values = st.recursive(
    names | numbers | lists | lists.map(set), lambda inner: st.dictionaries(names, inner, max_size=3), max_leaves=6
)
items = st.dictionaries(names, values, max_size=4) | lists


@settings(max_examples=100, deadline=None)
@given(st.lists(items, min_size=1, max_size=4))
def test_attributes_are_those_of_python_crfsuite(tokens: list[Any]) -> None:
    pycrfsuite = pytest.importorskip("pycrfsuite")
    sequences = attribute_sequences([tokens], classes=["X"])
    rows = sequences.attributes.toarray()
    ours = [{sequences.feature_names[column]: row[column] for column in np.flatnonzero(row)} for row in rows]
    theirs = [
        {name: weight for name, weight in item.items() if weight} for item in pycrfsuite.ItemSequence(tokens).items()
    ]
    repeated = any(len(named(token)) > len(set(named(token))) for token in tokens)
    if not repeated:  # there, a name that is made twice is shown once
        assert ours == theirs


def named(token: Any) -> list[str]:
    if isinstance(token, dict):
        return [
            f"{name}:{inner}" if inner else name
            for name, value in token.items()
            for inner in ([value] if isinstance(value, str) else named(value))
        ]
    return list(token) if isinstance(token, list | set) else [""]


def test_repeated_attributes_add_up() -> None:
    sequences = attribute_sequences([[["a", "a", "b"]]], [["X"]])
    assert sequences.attributes.toarray().tolist() == [[2.0, 1.0]]


def test_a_million_tokens_are_read_fast() -> None:
    tokens, labels = [["the", "cat", "sat", "down", "again"] * 200_000], [["D", "N", None, "V", "D"] * 200_000]
    begun = time.process_time()
    sequences = word_sequences(tokens, labels)
    assert time.process_time() - begun < 5.0
    assert (sequences.n_sequences, sequences.n_tokens) == (1, 1_000_000)
