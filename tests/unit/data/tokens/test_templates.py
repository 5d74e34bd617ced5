import json

import pytest

from labelworth.data.tokens.templates import CHUNKING, Pattern, Reference, Template, parse_template
from labelworth.errors import InvalidInputError

FILE = """\
# Unigram
U00:%x[-2,0]
U05:%x[-1,0]/%x[0,0]

U10:%x[ +2 , 1 ]
U
# Bigram
B
"""


def test_a_file_of_crf_plus_plus_is_read() -> None:
    template = parse_template(FILE)
    assert [str(pattern) for pattern in template.patterns] == [
        "U00:%x[-2,0]", "U05:%x[-1,0]/%x[0,0]", "U10:%x[2,1]", "U",
    ]  # fmt: skip
    assert template.patterns[1] == Pattern(("U05:", "/", ""), (Reference(-1, 0), Reference(0, 0)))
    assert template.transitions
    assert template.edges == "marked"
    assert template.n_columns == 2


def test_without_b_there_are_no_transitions() -> None:
    assert not parse_template("U00:%x[0,0]\n").transitions
    assert parse_template("U00:%x[0,0]\nB01\n").transitions


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("U00:%x[0,0]\nX:%x[0,0]", "Line 2"),
        ("B00:%x[0,0]", "cannot depend on columns"),
        ("U00:%x[0]", "Line 1"),
        ("U00:%x[-1001,0]", "at most 1000 away"),
        ("U00:%x[9999999999999,0]", "%x[row,column]"),
        ("U00:%y[0,0]", "%x[row,column]"),
        ("U00:%x[0,-1]", "%x[row,column]"),
        ("# nothing\nB\n", "at least one pattern"),
        ("", "at least one pattern"),
    ],
)
def test_a_line_that_cannot_be_read_is_named(text: str, named: str) -> None:
    with pytest.raises(InvalidInputError) as error:
        parse_template(text)
    assert named in str(error.value)


def test_edges_are_marked_or_skipped() -> None:
    with pytest.raises(InvalidInputError, match="marked, skipped"):
        Template.of(["U00:%x[0,0]"], edges="wrapped")


@pytest.mark.parametrize("template", [CHUNKING, parse_template(FILE)])
def test_a_template_survives_json(template: Template) -> None:
    assert Template.from_mapping(json.loads(json.dumps(template.to_mapping()))) == template


def test_a_stored_template_must_be_whole() -> None:
    with pytest.raises(InvalidInputError, match="stored template"):
        Template.from_mapping({"patterns": ["U00:%x[0,0]"]})


def test_the_chunking_template_has_nineteen_patterns_over_two_columns() -> None:
    assert len(CHUNKING.patterns) == 19
    assert CHUNKING.n_columns == 2
    assert str(CHUNKING.patterns[5]) == "w[-1]|w[0]=%x[-1,0]|%x[0,0]"
