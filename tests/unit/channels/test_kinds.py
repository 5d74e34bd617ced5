"""Kinds of labels as people type them."""

import json
from pathlib import Path

import numpy as np
import pytest

from labelworth.channels.arm import Arm, Together
from labelworth.channels.channel import Channel
from labelworth.channels.kinds import kinds_of, read_kind, read_kinds, split_kinds
from labelworth.errors import DataUnavailableError, InvalidInputError

CLASSES = ("ham", "spam")
CROWD = "crowd: price 0.02, confusion 0.85 0.15 / 0.30 0.70, votes 1 3 5, unknown"
SAID = {
    "expert": {"price": 0.5, "accuracy": 0.97},
    "crowd": {"price": 0.02, "confusion": [[0.85, 0.15], [0.30, 0.70]], "votes": [1, 3, 5], "unknown": True},
    "screener": {"question": "spam", "price": 0.05, "accuracy": 0.95},
}


def same(one: Channel, other: Channel) -> bool:
    own = [(c.name, c.price, c.votes, c.is_unknown, c.is_independent) for c in (one, other)]
    tables = [c.table(CLASSES) for c in (one, other)]
    return (
        own[0] == own[1]
        and tables[0].answers == tables[1].answers
        and np.array_equal(tables[0].probabilities, tables[1].probabilities)
    )


EXPECTED = (
    Channel("expert", accuracy=0.97, price=0.5),
    Channel("crowd", [[0.85, 0.15], [0.30, 0.70]], price=0.02, votes=(1, 3, 5), unknown=True),
    Channel.question("screener", ["spam"], accuracy=0.95, price=0.05),
)
LINES = f"expert: price 0.5, accuracy 97%\n{CROWD}\nscreener: question spam, price .05, accuracy .95\n"
BLOCKS = """\
# Who can be asked, and for how much.
expert:
  price: 0.5   # each
  accuracy: 0.97
crowd:
  price: 0.02
  confusion:
    - [0.85, 0.15]
    - [0.30, 0.70]
  votes: [1, 3, 5]
  unknown: true
screener: question spam, price .05, accuracy .95
"""
LISTED = """\
- name: expert
  price: 0.5
  accuracy: 0.97
- name: crowd
  price: 0.02
  confusion: [[0.85, 0.15], [0.30, 0.70]]
  votes: [1, 3, 5]
  unknown: yes
- name: "screener"
  question: spam
  price: 0.05
  accuracy: 0.95
"""


def headed(text: str) -> str:
    """Under a heading, all the deeper."""
    return "# Kinds.\nkinds:\n" + "".join(f"  {line}\n" for line in text.splitlines())


@pytest.mark.parametrize(
    "text",
    [
        LINES,
        BLOCKS,
        LISTED,
        headed(LINES),
        headed(BLOCKS),
        headed(LISTED),
        f"kinds:\n{LISTED}",
        json.dumps(SAID),
        json.dumps([{"name": name, **said} for name, said in SAID.items()]),
    ],
    ids=[
        *("lines", "blocks", "a list of blocks"),
        *("lines below", "blocks below", "a list below", "a flat list below"),
        *("JSON by name", "JSON in a list"),
    ],
)
def test_every_form_of_a_file_says_the_same(tmp_path: Path, text: str) -> None:
    path = tmp_path / "kinds.yaml"
    path.write_text(text, encoding="utf-8")
    read = read_kinds(path)
    assert len(read) == 3
    assert all(same(own, expected) for own, expected in zip(read, EXPECTED, strict=True))


def test_votes_with_commas_between_are_refused_with_how_to_write_them() -> None:
    with pytest.raises(InvalidInputError, match="have blanks between, as votes 1 3: commas part words"):
        read_kind("a: price 0.5, accuracy 0.9, votes 1,3")


def test_lines_are_the_same_words() -> None:
    assert all(
        same(own, expected) for own, expected in zip(kinds_of(LINES.strip().split("\n")), EXPECTED, strict=True)
    )


def test_channels_pass_as_they_are() -> None:
    assert kinds_of(EXPECTED) == list(EXPECTED)
    assert kinds_of(EXPECTED[0]) == [EXPECTED[0]]


def test_a_question_may_be_about_several_classes_and_about_numbers() -> None:
    read = read_kind("screener: question very bad / 3, accuracy 0.9")
    np.testing.assert_allclose(
        read.table(("very bad", "good", 3)).probabilities, [[0.9, 0.1], [0.1, 0.9], [0.9, 0.1]]
    )


def test_sets_answers_and_flags() -> None:
    broad = read_kind("broad: sets a b / c, accuracy 0.8, independent")
    assert broad.is_independent
    assert broad.table(("a", "b", "c")).answers == ("a or b", "c")
    named = read_kind("m: confusion 0.5 0.3 0.2 / 0.1 0.2 0.7, answers no yes unsure")
    assert named.table(CLASSES).answers == ("no", "yes", "unsure")
    assert read_kind("llm: unknown, price 0.001").form is None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("expert", "a name, a colon"),
        (": price 1", "a name, a colon"),
        ("expert: price 0.5", "how often it is right"),
        ("expert: price cheap, accuracy 0.9", "price of the kind 'expert' must be a number, .* Got 'cheap'"),
        ("expert: price $0.02, accuracy 0.9", r"with nothing beside it. Got '\$0.02'"),
        ("expert: price nan, accuracy 0.9", "non-negative number. Got nan"),
        ("expert: price 0.1; accuracy 0.9", "Got '0.1; accuracy 0.9'. Part words by commas"),
        ("expert: accuracy 90 percent", "with nothing beside it. Got '90 percent'"),
        ('{"expert": {"accuracy": 0.9}}', "a name, a colon"),
        ("expert: ,,,", "how often it is right"),
        ("expert: unknown, unknown", "says its unknown twice"),
        ("crowd: accuracy 0.9, votes 1-5", "whole numbers, as 1 3 5. Got '1-5'"),
        ("crowd: accuracy 0.9, votes 2 2", r"distinct numbers. Got \[2, 2\]"),
        ("crowd: confusion 0.9,0.1/0.2,0.8", "with a point"),
        ("crowd: confusion nan 0.5 / 0.5 0.5", "must be finite"),
        ("crowd: accuracy 0.9, answers yes no", "answers name the columns of a confusion"),
        ("screener: question spam", "how often its answers to the question are right"),
        ("screener: sets a b / c, unknown", "how often its answers to the sets are right"),
        ("both: crowd +", "names with \\+ between, as 'both: model \\+ crowd x 3'. Got 'both: crowd \\+'"),
        ("both: crowd + + expert", "names with \\+ between"),
        ("both: crowd x + expert", "names with \\+ between"),
        ("both: crowd + expert, price 0.1", "names with \\+ between"),
        ("both: crowd x 2.5 + expert", "whole numbers, as 1 3 5. Got '2.5'"),
        ("gold for answered: accuracy 0.9", "plans call what is asked of documents that are held so"),
        ("expert: accuracy -0.2", r"must lie in \[0, 1\]"),
        ("expert: accuracy 1.2", r"must lie in \[0, 1\]"),
        ("expert: accuracy 97", "97 % is 0.97"),
        ("expert: accurate 0.9", "Is 'accuracy' meant?"),
        ("expert: accuracy 0,9", "with a point"),
        ("expert: price 0.5 accuracy 0.9", "Part words by commas"),
        ("crowd: confusion 0.9 0.1 / 0.1", "rows of 1 and 2 numbers"),
        ("both: a + b x 0", "one answer or more"),
        ("a x 3: accuracy 0.9", "three votes of one"),
        ("Gold: accuracy 0.9", "No channel may be called 'Gold'"),
        ("expert: price -1, accuracy 0.9", "non-negative"),
        ("expert: cost 0.5, accuracy 0.9", "one can say price, accuracy.*Got cost"),
        ("expert: accuracy 0.9, accuracy 0.8", "says its accuracy twice"),
        ("expert: accuracy", "names its accuracy and does not say it"),
        ("crowd: accuracy 0.9, votes 1.5", "whole numbers"),
        ("crowd: accuracy 0.9, votes 0", "from 1"),
        ("crowd: confusion 0.9 0.2 / 0.1 0.9", "each row"),
        ("crowd: confusion 0.9 0.1, accuracy 0.9", "either a confusion"),
        ("crowd: unknown maybe, accuracy 0.9", "true or false"),
        ("s: question a, confusion 1 0 / 0 1", "not both"),
        ("gold: price 1, accuracy 0.9", "No channel may be called 'gold'"),
    ],
)
def test_what_is_no_kind_is_refused_in_words(text: str, message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        read_kind(text)


@pytest.mark.parametrize(
    "text",
    [
        "crowd: price=0.02, accuracy=0.9",
        "crowd: Price 0.02, ACCURACY: 90 %",
        "crowd: {'price': 0.02, 'accuracy': 0.9}",
        "crowd: price 2e-2, accuracy 9e-1",
        "crowd: confusion [[0.9, 0.1], [0.1, 0.9]], price 0.02",
    ],
)
def test_a_line_may_be_written_as_people_write_such_lines(text: str) -> None:
    read = read_kind(text)
    assert read.price == 0.02
    np.testing.assert_allclose(read.table(CLASSES).probabilities, [[0.9, 0.1], [0.1, 0.9]])


def test_files_that_hold_no_kinds_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "kinds.yaml"
    for text, message in (
        ("", "names no kind"),
        ("just words\n", "line 1"),
        ("  price: 0.5\n", "line 1"),
        ("a: accuracy 0.9\na: accuracy 0.8\n", "line 2: there are two"),
        ("a:\n  accuracy: 0.9\n  accuracy: 0.8\n", "line 3: a kind says its accuracy twice"),
        ("{", "cannot be read as JSON"),
        ('{"a": {"accuracy": 0.9}, "a": {"accuracy": 0.8}}', "'a' stands twice"),
        ("[1]", "A kind of label is"),
        ('{"a": 3}', "must be said what it is"),
    ):
        path.write_text(text, encoding="utf-8")
        with pytest.raises(InvalidInputError, match=message):
            read_kinds(path)
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InvalidInputError, match="not UTF-8"):
        read_kinds(path)
    with pytest.raises(DataUnavailableError):
        read_kinds(tmp_path / "absent.yaml")


def test_names_below_a_heading_are_read_whole_or_refused(tmp_path: Path) -> None:
    path = tmp_path / "kinds.yaml"
    path.write_text("kinds:\n    crowd: price 0.02\n  expert: price 1\n", encoding="utf-8")
    with pytest.raises(InvalidInputError, match="line 2: a line is a kind"):
        read_kinds(path)


@pytest.mark.parametrize(
    "text",
    [
        "expert: {price: 0.5, accuracy: 0.97}\n",
        "kinds:\n  - name: expert\n    price: 0.5\n    accuracy: 0.97\n",
        '{"kinds": [{"name": "expert", "price": 0.5, "accuracy": 0.97}]}',
    ],
)
def test_other_ways_to_write_the_same_file(tmp_path: Path, text: str) -> None:
    path = tmp_path / "kinds.yaml"
    path.write_text(text, encoding="utf-8")
    [expert] = read_kinds(path)
    assert (expert.name, expert.price, expert.form.accuracy) == ("expert", 0.5, 0.97)


def test_two_kinds_of_one_name_are_refused() -> None:
    with pytest.raises(InvalidInputError, match="two kinds of labels called 'a'"):
        kinds_of(["a: accuracy 0.9", "a: accuracy 0.8"])


def test_several_kinds_on_one_row_are_a_sum_of_their_names(tmp_path: Path) -> None:
    both = Together("both", (("expert", 1), ("crowd", 3)))
    assert read_kind("both: expert + crowd x 3") == both
    expert, crowd = EXPECTED[:2]
    arm = Arm(name="both", asked=((expert, 1), (crowd, 3)))
    assert kinds_of([expert, crowd, arm])[2] == both
    path = tmp_path / "kinds.yaml"
    path.write_text(f"{LINES}both: expert + crowd x 3\n", encoding="utf-8")
    channels, together = split_kinds(read_kinds(path))
    assert [channel.name for channel in channels] == ["expert", "crowd", "screener"]
    assert together == (both,)
    assert together[0].arm(channels).asked == ((channels[0], 1), (channels[1], 3))
    with pytest.raises(InvalidInputError, match=r"kinds of labels are expert\. Name those"):
        split_kinds(kinds_of([expert, "both: expert + crowd"]))
    with pytest.raises(
        InvalidInputError, match=r"there are no other kinds of labels\. Name those\. Gold and an unknown"
    ):
        split_kinds(kinds_of("both: gold + crowd"))
    with pytest.raises(InvalidInputError, match="two or more different ones"):
        read_kind("both: expert + expert")
    with pytest.raises(InvalidInputError, match="votes of the kind 'both' are whole numbers"):
        read_kind("both: expert + crowd x many")


def test_a_kind_may_be_called_x() -> None:
    assert read_kind("both: x + crowd x 3") == Together("both", (("x", 1), ("crowd", 3)))
    assert read_kind("both: x x 2 + y") == Together("both", (("x", 2), ("y", 1)))
    with pytest.raises(InvalidInputError, match="names with \\+ between"):
        read_kind("both: crowd x + y")
