import numpy as np
import pytest

from labelworth.data.sequences import NO_WORD
from labelworth.data.tokens.lexicon import SHAPES, UNSEEN, Lexicon
from labelworth.errors import InvalidInputError

WORDS = ["the", "cat", "the", "Dog", "1,234", "the"]


def test_rare_and_unseen_words_share_one_entry() -> None:
    lexicon = Lexicon.from_words(WORDS, min_count=2)
    assert lexicon.names == ("the", UNSEEN)
    codes = lexicon.encode(["the", "cat", "new"])
    assert codes.tolist() == [0, 1, 1]
    assert lexicon.is_rare(codes).tolist() == [False, True, True]
    assert lexicon.describe(codes) == ("2 of 3 tokens (66.7 %) are words without an entry; they become <unseen>.")


def test_rare_words_may_be_told_apart_by_their_shape() -> None:
    lexicon = Lexicon.from_words(WORDS, min_count=2, rare="shapes")
    assert lexicon.names == ("the", *SHAPES)
    named = [lexicon.names[code] for code in lexicon.encode(["the", "Rome", "42", "IBM", "x-ray", "B52", "%", "cow"])]
    assert named == [
        "the", "<unseen:Capital>", "<unseen:number>", "<unseen:CAPITALS>", "<unseen:hyphen>", "<unseen:digits>",
        "<unseen:symbol>", "<unseen:lower>",
    ]  # fmt: skip


def test_rare_words_may_be_no_words() -> None:
    lexicon = Lexicon.from_words(WORDS, rare="none")
    assert lexicon.names == ("the", "cat", "Dog", "1,234")
    codes = lexicon.encode(["cat", "cow"])
    assert codes.tolist() == [1, NO_WORD]
    assert "no word at all" in lexicon.describe(codes)


def test_the_word_unseen_is_its_own_entry() -> None:
    lexicon = Lexicon.from_words(["a", UNSEEN])
    assert lexicon.names == ("a", UNSEEN)
    assert lexicon.encode([UNSEEN, "b"]).tolist() == [1, 1]


def test_an_empty_list_of_words_is_encoded() -> None:
    assert Lexicon.from_words(["a"]).encode([]).dtype == np.int64
    assert Lexicon.from_words(["a"]).describe(np.array([], dtype=np.int64)).startswith("0 of 0 tokens (0.0 %)")


def test_bad_settings_are_named() -> None:
    with pytest.raises(InvalidInputError, match="min_count must be at least 1"):
        Lexicon.from_words(WORDS, min_count=0)
    with pytest.raises(InvalidInputError, match="Rare words become entry, shapes, none"):
        Lexicon(("a",), rare="dropped")
    with pytest.raises(InvalidInputError, match="distinct"):
        Lexicon(("a", "a"))
    with pytest.raises(InvalidInputError, match="distinct"):
        Lexicon(("a", UNSEEN))
