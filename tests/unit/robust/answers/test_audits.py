import numpy as np
import pytest
from scipy.stats import binom

from labelworth.channels.channel import Channel
from labelworth.data.answers import Answers
from labelworth.data.evidence import Evidence, encode_labels
from labelworth.errors import InvalidInputError
from labelworth.robust.answers.audits import Accuracy, Audits, rests_on_faith

CLASSES = ("a", "b", "c")
GOLD = encode_labels(["a", "b", -1, "c", ["a", "b"]], classes=CLASSES)


def answers(rows: list[int], who: list[int], said: list[object]) -> Answers:
    names = ("ann", "bob", "cy")
    return Answers(np.array(rows), np.array(who), names, encode_labels(said, classes=CLASSES))


def test_rows_with_gold_and_an_answer_are_audited() -> None:
    given = answers([0, 1, 1, 2, 3, 4, 3], [0, 0, 1, 0, 1, 1, 0], ["a", ["b", "c"], "a", "a", -1, "a", "b"])
    audits = Audits.of(given, GOLD)
    assert list(zip(audits.rows, audits.annotators, strict=True)) == [(0, 0), (1, 0), (1, 1), (3, 0)]
    np.testing.assert_allclose(audits.shares, [[1, 0, 0], [0, 0.5, 0.5], [1, 0, 0], [0, 1, 0]])
    assert audits.classes.tolist() == [0, 1, 1, 2]
    assert audits.is_right.tolist() == [1, 1, 0, 0]
    assert [(one.n_right, one.n_audited) for one in audits.accuracies()] == [(2, 3), (0, 1), (0, 0)]


def test_an_annotator_who_answers_twice_is_one() -> None:
    audits = Audits.of(answers([0, 0, 0], [0, 0, 0], ["a", ["a", "b"], ["a", "c"]]), GOLD)
    np.testing.assert_allclose(audits.shares, [[1, 0, 0]])
    assert audits.is_right.tolist() == [1]


@pytest.mark.parametrize(("right", "total"), [(0, 5), (5, 5), (17, 20)])
def test_the_interval_is_clopper_and_pearsons(right: int, total: int) -> None:
    low, high = Accuracy(right, total).interval
    assert low == 0 if right == 0 else binom.sf(right - 1, total, low) == pytest.approx(0.025)
    assert high == 1 if right == total else binom.cdf(right, total, high) == pytest.approx(0.025)


def test_accuracies_in_words() -> None:
    assert Accuracy(17, 20).words() == "right on 17 of 20 audited rows, 85 % (62 % to 97 %)"
    assert Accuracy(0, 0).words() == "no row that was answered has gold"
    assert Accuracy(0, 0).to_dict()["share"] is None


def test_answers_of_other_classes_or_rows_are_refused() -> None:
    with pytest.raises(InvalidInputError, match="same classes in the same order"):
        Audits.of(answers([0], [0], ["a"]), encode_labels(["a", "b"]))
    with pytest.raises(InvalidInputError, match="answer about row or token 9"):
        Audits.of(answers([9], [0], ["a"]), GOLD)


@pytest.mark.statistical
def test_guessing_is_told_from_knowing_whatever_classes_are_frequent(seed: int) -> None:
    """Whoever always says the frequent class is right on nine rows of ten, and knows nothing."""
    rng = np.random.default_rng(seed)
    codes = (rng.random(200) < 0.1).astype(int)
    rows = np.arange(200)
    knows = np.where(rng.random(200) < 0.8, codes, 1 - codes)
    mostly = (rng.random(200) < 0.1).astype(int)
    said = np.concatenate([knows, mostly, np.zeros(200, dtype=int)])
    given = Answers(
        np.tile(rows, 3), np.repeat([0, 1, 2], 200), ("knows", "mostly", "always"), Evidence(said, ("a", "b"))
    )
    audits = Audits.of(given, Evidence(codes, ("a", "b")))
    knowing, guessing, constant = (audits.guessing_p(code, rng) for code in range(3))
    assert knowing < 0.01
    assert guessing > 1e-3
    assert constant == 1
    assert audits.accuracies()[1].share > audits.accuracies()[0].share - 0.1
    empty = Audits.of(given.at_entries(given.annotators == 0), Evidence(codes, ("a", "b")))
    assert empty.guessing_p(2, rng) is None


def test_unknown_channels_without_an_audited_row_rest_on_faith() -> None:
    channels = [Channel("ann", "unknown"), Channel("bob", "unknown"), Channel("cy", accuracy=0.9)]
    given = answers([0, 2], [0, 1], ["a", "b"])
    assert [words.split(" rests")[0] for words in rests_on_faith(given, channels, GOLD)] == [
        "What the plan says of 'bob'"
    ]
    assert "none of its answers is to a row whose class is known" in rests_on_faith(given, channels, GOLD)[0]
    assert len(rests_on_faith(given, channels)) == 2
    assert "it has not answered yet" in rests_on_faith(None, channels)[0]
    assert rests_on_faith(None, [Channel("cy", accuracy=0.9)]) == ()


def test_no_answers_at_all() -> None:
    empty = Answers(np.empty(0, dtype=int), np.empty(0, dtype=int), (), Evidence(np.empty(0, dtype=int), CLASSES))
    assert Audits.of(empty, GOLD).size == 0
