from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from labelworth.data.evidence import Evidence
from labelworth.data.sequences import Sequences
from labelworth.data.tokens.attributes import align_attributes, extract_attributes
from labelworth.data.tokens.templates import Template, parse_template
from labelworth.errors import InvalidInputError

WORDS = ["He", "sees", "it", ".", "Go", "!", "He"]
TAGS = ["P", "V", "P", ".", "V", ".", "P"]
OFFSETS = np.array([0, 4, 6, 7])


def attributes_by_hand(template: Template, columns: list[list[str]], offsets: np.ndarray) -> list[Counter]:
    """Token by token, as the definition says."""
    rows = []
    for first, last in pairwise(offsets.tolist()):
        for token in range(first, last):
            found: Counter = Counter()
            for pattern in template.patterns:
                name, outside = pattern.texts[0], False
                for reference, text in zip(pattern.references, pattern.texts[1:], strict=True):
                    place = token + reference.row
                    if place < first:
                        value, outside = f"_B-{first - place}", True
                    elif place >= last:
                        value, outside = f"_B+{place - last + 1}", True
                    else:
                        value = columns[reference.column][place]
                    name += value + text
                if not (outside and template.edges == "skipped"):
                    found[name] += 1
            if template.first and token == first:
                found[template.first] += 1
            if template.last and token == last - 1:
                found[template.last] += 1
            rows.append(found)
    return rows


def as_counters(rows: sp.csr_array, names: tuple[str, ...]) -> list[Counter]:
    dense = rows.toarray()
    return [Counter({names[place]: int(row[place]) for place in np.flatnonzero(row)}) for row in dense]


references = st.tuples(st.integers(-3, 3), st.integers(0, 1))
patterns = st.lists(st.lists(references, max_size=3), min_size=1, max_size=5)
sentences = st.lists(
    st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("XY")), min_size=1, max_size=6), min_size=1, max_size=4
)


@given(patterns, sentences, st.sampled_from(["marked", "skipped"]), st.booleans())
def test_every_token_has_the_attributes_of_the_definition(
    lines: list[list[tuple[int, int]]], sentences: list[list[tuple[str, str]]], edges: str, prefixed: bool
) -> None:
    template = Template.of(
        [
            (f"U{n}:" if prefixed else "U:") + "/".join(f"%x[{row},{column}]" for row, column in line)
            for n, line in enumerate(lines)
        ],
        edges=edges,
        first="BOS",
        last="EOS",
    )
    columns = [[token[column] for sentence in sentences for token in sentence] for column in (0, 1)]
    offsets = np.concatenate([[0], np.cumsum([len(sentence) for sentence in sentences])])
    found = extract_attributes(template, columns, offsets)
    assert len(set(found.names)) == len(found.names)
    assert found.n_ignored == 0
    assert as_counters(found.rows, found.names) == attributes_by_hand(template, columns, offsets)


def test_beyond_the_ends_as_crf_plus_plus_marks_them() -> None:
    found = extract_attributes(parse_template("U0:%x[-2,0]\nU1:%x[1,1]"), [WORDS, TAGS], OFFSETS)
    first, _, _, last, *_, single = as_counters(found.rows, found.names)
    assert first == {"U0:_B-2": 1, "U1:V": 1}
    assert last == {"U0:sees": 1, "U1:_B+1": 1}
    assert single == {"U0:_B-2": 1, "U1:_B+1": 1}


def test_the_same_text_from_two_patterns_is_the_same_attribute_counted_twice() -> None:
    found = extract_attributes(parse_template("U:%x[0,0]\nU:%x[1,0]"), [["a", "a", "b"]], np.array([0, 3]))
    assert as_counters(found.rows, found.names)[0] == {"U:a": 2}


def test_known_names_are_looked_for_and_others_counted() -> None:
    template = parse_template("U:%x[0,0]")
    found = extract_attributes(template, [WORDS], OFFSETS)
    again = extract_attributes(template, [["He", "ran", "it"]], np.array([0, 3]), names=found.names)
    assert again.names == found.names
    assert again.n_ignored == 1
    assert as_counters(again.rows, again.names) == [{"U:He": 1}, {}, {"U:it": 1}]


def test_rare_attributes_can_be_left_out() -> None:
    found = extract_attributes(parse_template("U:%x[0,0]"), [WORDS], OFFSETS, min_count=2)
    assert found.names == ("U:He",)
    assert found.n_ignored == 5


def test_columns_must_fit() -> None:
    with pytest.raises(InvalidInputError, match="column 1"):
        extract_attributes(parse_template("U:%x[0,1]"), [WORDS], OFFSETS)
    with pytest.raises(InvalidInputError, match="Column 1 has 2"):
        extract_attributes(parse_template("U:%x[0,0]"), [WORDS, ["a", "b"]], OFFSETS)


def labeled(features: object, names: tuple[str, ...]) -> Sequences:
    return Sequences(features, np.array([0, 2, 3]), Evidence(np.zeros(3, dtype=int), ("y",)), names)


def test_features_are_brought_into_the_order_of_a_model() -> None:
    rows = sp.csr_array(np.array([[1.0, 0, 2], [0, 3, 0], [0, 0, 4]]))
    aligned, n_ignored = align_attributes(labeled(rows, ("a", "b", "c")), ("c", "z", "a"))
    np.testing.assert_array_equal(aligned.attributes.toarray(), [[2, 0, 1], [0, 0, 0], [4, 0, 0]])
    assert n_ignored == 1
    assert aligned.feature_names == ("c", "z", "a")


def test_words_become_attributes_and_unknown_ones_are_counted() -> None:
    aligned, n_ignored = align_attributes(labeled(np.array([1, -1, 0]), ("a", "b")), ("b", "a"))
    np.testing.assert_array_equal(aligned.attributes.toarray(), [[1, 0], [0, 0], [0, 1]])
    assert n_ignored == 1
