import json

import numpy as np
import pytest
from sklearn.feature_extraction.text import CountVectorizer

from labelworth.data.readers.raw import RawTexts
from labelworth.data.text import LETTERS, Vocabulary, count_words
from labelworth.errors import InvalidInputError

TEXTS = ["The cat sat on the mat", "The dog sat; 2 dogs ran", "", "Straße naïve cat_7"]


def test_counts_are_those_of_scikit_learn() -> None:
    vocabulary, counts = count_words(TEXTS)
    vectorizer = CountVectorizer()
    np.testing.assert_array_equal(counts.toarray(), vectorizer.fit_transform(TEXTS).toarray())
    assert list(vocabulary.words) == vectorizer.get_feature_names_out().tolist()


def test_new_texts_are_counted_with_the_words_that_were_learned() -> None:
    vocabulary, counts = count_words(TEXTS, token_pattern=LETTERS, stop_words="english")
    np.testing.assert_array_equal(vocabulary.counts(TEXTS).toarray(), counts.toarray())
    new = vocabulary.counts(["CAT cat unicorn", "the"]).toarray()
    assert new.sum() == 2
    assert new[0, vocabulary.words.index("cat")] == 2
    assert "the" not in vocabulary.words


def test_texts_of_a_file_become_samples() -> None:
    samples = Vocabulary(("be", "to")).samples(RawTexts(("to be to", "or"), ("x", None), "here"), classes=["w", "x"])
    np.testing.assert_array_equal(samples.counts.toarray(), [[1, 2], [0, 0]])
    assert samples.evidence.codes.tolist() == [1, -1]
    assert samples.feature_names == ("be", "to")


def test_letters_are_runs_of_letters_in_any_script() -> None:
    assert count_words(["a1b_c Straße naïve x-y don't Ωmega"], token_pattern=LETTERS)[0].words == tuple(
        sorted(["a", "b", "c", "straße", "naïve", "x", "y", "don", "t", "ωmega"])
    )


def test_case_can_be_kept() -> None:
    assert count_words(["Cat cat"], lowercase=False)[0].words == ("Cat", "cat")


def test_rare_and_common_words_are_left_out() -> None:
    assert count_words(["aa bb", "aa cc", "aa bb"], min_df=2)[0].words == ("aa", "bb")
    assert count_words(["aa bb", "aa cc", "aa bb"], max_df=0.9)[0].words == ("bb", "cc")


def test_the_most_frequent_words_are_kept_and_ties_go_to_the_first() -> None:
    texts = ["zz zz zz mm mm", "bb bb aa aa", "cc cc"]
    vocabulary, counts = count_words(texts, max_features=3)
    assert vocabulary.words == ("aa", "bb", "zz")
    np.testing.assert_array_equal(counts.toarray(), [[0, 0, 3], [2, 2, 0], [0, 0, 0]])
    assert count_words(texts, max_features=99)[0].n_words == 5


def test_a_vocabulary_survives_storage() -> None:
    vocabulary = Vocabulary(("straße", "\x00", "b\ud800"), LETTERS, lowercase=False)
    assert Vocabulary.from_mapping(json.loads(json.dumps(vocabulary.to_mapping()))) == vocabulary


@pytest.mark.parametrize(
    ("texts", "options", "message"),
    [
        (["", " "], {}, "no words to count: the texts are empty"),
        (["the of"], {"stop_words": "english"}, "no words to count"),
        (["aa", "bb"], {"min_df": 2}, "no words to count: none is left with min_df=2. Ask for less"),
        (["aa"], {"stop_words": "klingon"}, "no words to count.*stop_words"),
        (["aa"], {"token_pattern": "("}, "not a regular expression"),
        (["aa"], {"token_pattern": "(a)(b)"}, "2 groups"),
        (["aa"], {"max_features": 0}, "max_features must be at least 1"),
        (["aa", None], {}, "Text 1 is of type NoneType"),
        ("aa", {}, "single one; put it in a list"),
    ],
)
def test_bad_texts_and_options_are_refused(texts: list[str], options: dict[str, object], message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        count_words(texts, **options)


@pytest.mark.parametrize(
    "mapping",
    [
        {},
        {"words": ["a"]},
        {"words": "abc", "token_pattern": "a", "lowercase": True},
        {"words": [], "token_pattern": "a", "lowercase": True},
        {"words": ["a", "a"], "token_pattern": "a", "lowercase": True},
        {"words": ["a", 1], "token_pattern": "a", "lowercase": True},
        {"words": ["a"], "token_pattern": "(", "lowercase": True},
        {"words": ["a"], "token_pattern": "a", "lowercase": 1},
        [],
    ],
)
def test_a_stored_vocabulary_is_checked(mapping: dict[str, object]) -> None:
    with pytest.raises(InvalidInputError):
        Vocabulary.from_mapping(mapping)
