import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labelworth.data.tag_schemes import SchemeMatch, Tag, TagScheme, find_scheme, parse_tag
from support.sentences import Chunk, chunk_lists, tags_of


def match_of(*sentences: str) -> SchemeMatch:
    tags = [[None if tag == "?" else tag for tag in sentence.split()] for sentence in sentences]
    offsets = np.concatenate([[0], np.cumsum([len(of_one) for of_one in tags])])
    return find_scheme([tag for of_one in tags for tag in of_one], offsets)


@pytest.mark.parametrize(
    ("sentences", "scheme"),
    [
        (["B-NP I-NP O B-VP", "B-NP"], TagScheme.IOB2),
        (["I-NP I-NP B-NP O I-VP"], TagScheme.IOB1),
        (["I-NP E-NP E-NP O E-VP"], TagScheme.IOE2),
        (["I-NP E-NP I-NP O I-VP"], TagScheme.IOE1),
        (["B-NP E-NP S-VP O B-X I-X E-X"], TagScheme.BIOES),
        (["B-NP L-NP U-VP O B-X I-X L-X"], TagScheme.BILOU),
        (["I-NP I-NP O I-VP"], TagScheme.IO),
        (["B I O B"], TagScheme.IOB2),
        (["DT NN VB"], TagScheme.PLAIN),
        (["B-NP NN"], TagScheme.PLAIN),
        (["O O O"], TagScheme.PLAIN),
        (["B-NP L-NP S-VP"], TagScheme.PLAIN),
    ],
)
def test_schemes_are_found(sentences: list[str], scheme: TagScheme) -> None:
    answer = match_of(*sentences)
    assert (answer.scheme, answer.n_contradictions) == (scheme, 0)


def test_the_end_of_a_sequence_is_an_end() -> None:
    assert match_of("I-NP", "I-NP B-NP").scheme is TagScheme.IOB1
    assert match_of("B-NP", "I-NP B-NP").n_contradictions == 1
    broken = match_of("B-X I-X", "B-X E-X")
    assert broken.neighbors == ("I-X", "the end of a sequence")
    assert match_of("E-X", "B-X E-X").neighbors == ("the beginning of a sequence", "E-X")


def test_contradictions_are_counted_and_the_first_is_named() -> None:
    answer = match_of("B-NP I-NP O I-NP", "O B-VP I-NP")
    assert (answer.scheme, answer.n_contradictions, answer.first) == (TagScheme.IOB2, 2, 3)
    assert answer.neighbors == ("O", "I-NP")
    assert "come nearest to IOB2, but break it in 2 places. I-NP may not follow O." in answer.describe()


def test_schemes_that_are_mixed_are_told_with_their_strays() -> None:
    answer = match_of("B-NP E-NP S-VP O S-X", "B-X I-X L-X")
    assert (answer.scheme, answer.nearest, answer.strays) == (TagScheme.PLAIN, TagScheme.BIOES, ("'L-X'",))
    assert answer.is_doubtful
    assert "look like BIOES tags, except for 'L-X' (on 1 token)" in answer.describe()
    assert "taken as plain tags" in answer.describe()


def test_a_stray_tag_among_many_is_told() -> None:
    sentence = "B-NP I-NP O B-VP I-VP " * 3
    answer = match_of(sentence, "B-NP b-NP")
    assert (answer.nearest, answer.strays, answer.n_strays) == (TagScheme.IOB2, ("'b-NP'",), 1)
    assert match_of(sentence, "x y z x y z w w w").nearest is None


def test_plain_labels_that_only_begin_alike_are_not_doubted() -> None:
    for sentence in ("S L S L U", "B-NP NN", "NN VB O", "B M E S"):
        assert not match_of(sentence).is_doubtful


def test_nothing_is_concluded_from_labels_that_were_not_seen() -> None:
    answer = match_of("B-NP ? I-NP", "? I-VP")
    assert (answer.scheme, answer.n_contradictions) == (TagScheme.IOB2, 0)
    both = match_of("? B-NP", "? I-NP")
    assert (both.scheme, both.equals) == (TagScheme.IOB2, (TagScheme.IOB1,))
    assert both.describe() == "The tags follow IOB2; read as IOB1 they would say the same."


def test_candidate_sets_and_numbers_are_no_tags() -> None:
    assert find_scheme([["B-X", "O"], "B-X", "I-X"], np.array([0, 3])).scheme is TagScheme.IOB2
    assert find_scheme([1, 2, 1], np.array([0, 3])).scheme is TagScheme.PLAIN
    assert find_scheme([None], np.array([0, 1])).scheme is TagScheme.PLAIN


def test_tags_are_split_at_the_first_hyphen() -> None:
    assert parse_tag("B-geo-loc") == Tag("B", "geo-loc")
    assert str(Tag("B", "geo-loc")) == "B-geo-loc"
    assert str(parse_tag("I")) == "I"
    assert parse_tag("B-") is None
    assert parse_tag(3) is None


@settings(max_examples=100, deadline=None)
@given(chunk_lists, st.sampled_from(["IOB1", "IOB2", "IOE1", "IOE2", "BIOES", "BILOU"]))
def test_tags_written_by_a_scheme_do_not_contradict_it(chunks: list[list[Chunk]], scheme: str) -> None:
    match = match_of(*(" ".join(tags_of(of_one, scheme)) for of_one in chunks))
    if any(kind != "O" for of_one in chunks for kind, _ in of_one):
        assert match.n_contradictions == 0
