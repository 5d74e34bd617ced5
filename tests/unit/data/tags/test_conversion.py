import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labelworth.data.tags.conversion import convert_tags
from labelworth.data.tags.schemes import TagScheme, find_scheme
from labelworth.errors import InvalidInputError

SCHEMES = [scheme for scheme in TagScheme if scheme not in (TagScheme.PLAIN, TagScheme.IO)]


def written(chunks: list[tuple[str, int]], scheme: str) -> list[str]:
    """Tags of chunks given as (type, length), written from the definition of each scheme; type O is outside."""
    tags = []
    for index, (kind, length) in enumerate(chunks):
        before = chunks[index - 1][0] if index else None
        after = chunks[index + 1][0] if index + 1 < len(chunks) else None
        for place in range(length):
            first, last = place == 0, place == length - 1
            letter = {
                "IOB1": "B" if first and before == kind else "I",
                "IOB2": "B" if first else "I",
                "IOE1": "E" if last and after == kind else "I",
                "IOE2": "E" if last else "I",
                "BIOES": "S" if first and last else "B" if first else "E" if last else "I",
                "BILOU": "U" if first and last else "B" if first else "L" if last else "I",
            }[scheme]
            tags.append("O" if kind == "O" else f"{letter}-{kind}")
    return tags


sentences = st.lists(
    st.lists(st.tuples(st.sampled_from(["X", "Y", "O"]), st.integers(1, 3)), min_size=1, max_size=5),
    min_size=1,
    max_size=3,
)


@settings(max_examples=100, deadline=None)
@given(sentences, st.sampled_from(SCHEMES), st.sampled_from(SCHEMES))
def test_every_scheme_says_the_same(chunks: list[list[tuple[str, int]]], one: TagScheme, two: TagScheme) -> None:
    source = [written(of_one, one.value) for of_one in chunks]
    target = [written(of_one, two.value) for of_one in chunks]
    offsets = np.concatenate([[0], np.cumsum([len(tags) for tags in source])])
    flat = list(itertools.chain(*source))
    assert convert_tags(flat, offsets, source=one, target=two) == list(itertools.chain(*target))
    scheme = find_scheme(flat, offsets)
    if any(kind != "O" for of_one in chunks for kind, _ in of_one):
        assert scheme.n_contradictions == 0


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(["X", "O"]), st.integers(1, 2)), min_size=1, max_size=3), st.data())
def test_beside_unseen_tokens_all_that_is_possible_is_kept(
    chunks: list[tuple[str, int]], data: st.DataObject
) -> None:
    """What a conversion of hidden tags gives is what conversions of all consistent completions give, or more."""
    truth = written(chunks, "IOB2")
    hidden = data.draw(st.lists(st.booleans(), min_size=len(truth), max_size=len(truth)))
    partly = [None if hide else tag for tag, hide in zip(truth, hidden, strict=True)]
    offsets = np.array([0, len(truth)])
    answer = convert_tags(partly, offsets, source="IOB2", target="BIOES")
    possible: list[set[str]] = [set() for _ in truth]
    for completion in itertools.product(*(["O", "B-X", "I-X"] if tag is None else [tag] for tag in partly)):
        if find_scheme(list(completion), offsets).n_contradictions == 0 and valid_iob2(completion):
            for place, tag in enumerate(convert_tags(completion, offsets, source="IOB2", target="BIOES")):
                possible[place].add(tag)
    has_type = any(tag not in (None, "O") for tag in partly)
    for entry, tag, options in zip(answer, partly, possible, strict=True):
        if tag is None:
            assert entry is None
        elif has_type:
            assert options <= set(entry if isinstance(entry, list) else [entry])


def valid_iob2(tags: tuple[str, ...]) -> bool:
    return all(now != "I-X" or before in ("B-X", "I-X") for before, now in itertools.pairwise(("O", *tags)))


def test_a_tag_that_is_not_decided_becomes_a_candidate_set() -> None:
    offsets = np.array([0, 3])
    assert convert_tags(["B-X", None, "O"], offsets, source="IOB2", target="BIOES") == [["B-X", "S-X"], None, "O"]
    assert convert_tags([["B-X", "O"], "I-X", "O"], offsets, source="IOB2", target="BIOES") == ["B-X", "E-X", "O"]


def test_touching_chunks_cannot_be_written_in_io() -> None:
    offsets = np.array([0, 2])
    assert convert_tags(["B-X", "B-Y"], offsets, source="IOB2", target="IO") == ["I-X", "I-Y"]
    with pytest.raises(InvalidInputError, match="cannot be written in IO"):
        convert_tags(["B-X", "B-X"], offsets, source="IOB2", target="IO")


def test_contradictions_and_foreign_tags_are_named() -> None:
    with pytest.raises(InvalidInputError, match=r"Sequence 1, token 0 .*'O', 'I-X' contradict IOB2"):
        convert_tags(["O", "O", "I-X"], np.array([0, 1, 3]), source="IOB2", target="IOB1")
    with pytest.raises(InvalidInputError, match="'E-X' is not a tag of IOB2"):
        convert_tags(["E-X"], np.array([0, 1]), source="IOB2", target="IOB1")
    with pytest.raises(InvalidInputError, match="'NN' is not a tag"):
        convert_tags(["NN"], np.array([0, 1]), source="IOB2", target="IOB1")
