from typing import Any

import numpy as np
import pytest

import labelworth as lw
from labelworth.channels.arm import Arm, Nuisance, Outcomes, menu
from labelworth.channels.channel import Channel
from labelworth.errors import InvalidInputError

CLASSES = ("a", "b", "c")
TABLE = [[0.8, 0.1, 0.1], [0.0, 0.9, 0.1], [0.2, 0.2, 0.6]]


def answers_of(*channels: Channel, votes: int | None = None) -> Outcomes:
    arm = Arm.of(*channels, votes=votes)
    return Outcomes.of(arm, CLASSES, Nuisance.of([arm], CLASSES))


def test_an_accuracy_is_one_coin() -> None:
    table = Channel("model", accuracy=0.9).table(CLASSES)
    np.testing.assert_allclose(table.probabilities, 0.9 * np.eye(3) + 0.05 * (1 - np.eye(3)))
    assert table.answers == CLASSES


def test_a_confusion_whose_rows_differ_in_length_is_refused_in_our_words() -> None:
    with pytest.raises(InvalidInputError, match="of channel 'x' must have as many answers in every row"):
        Channel("x", [[0.9, 0.1], [0.2, 0.5, 0.3]])


def test_a_question_is_answered_yes_or_no() -> None:
    table = Channel.question("screener", ["a", "c"], accuracy=0.9).table(CLASSES)
    np.testing.assert_allclose(table.probabilities, [[0.9, 0.1], [0.1, 0.9], [0.9, 0.1]])


def test_sets_hold_the_class_each_alike() -> None:
    table = Channel.sets("broad", [["a", "b"], ["b", "c"], ["c"]], accuracy=0.8).table(CLASSES)
    np.testing.assert_allclose(table.probabilities, [[0.8, 0.1, 0.1], [0.4, 0.4, 0.2], [0.2, 0.4, 0.4]])
    assert table.answers == ("a or b", "b or c", "c")


def test_votes_are_counts_with_the_probability_of_all_orders() -> None:
    answers = answers_of(Channel("crowd", TABLE), votes=3)
    assert len(answers.likelihood) == 10
    np.testing.assert_allclose(answers.likelihood.sum(axis=0), 1, rtol=1e-14)
    assert sorted(answers.likelihood[:, 0])[-1] == pytest.approx(0.8**3)


def test_answers_of_several_channels_multiply() -> None:
    answers = answers_of(Channel("crowd", TABLE), Channel("model", accuracy=0.9))
    assert answers.likelihood.shape == (9, 3)
    np.testing.assert_allclose(answers.likelihood.sum(axis=0), 1, rtol=1e-14)


def test_scores_of_unknown_channels_have_mean_zero_and_zeros_are_no_parameters() -> None:
    channels = [
        Channel("full", TABLE, unknown=True),
        Channel("coin", accuracy=0.7, unknown=True),
        Channel.question("asked", ["a"], accuracy=0.8, unknown=True),
        Channel.sets("broad", [["a", "b"], ["b", "c"], ["c"]], accuracy=0.8, unknown=True),
    ]
    arm = Arm("all", asked=tuple((channel, 2) for channel in channels[:2]) + tuple((c, 1) for c in channels[2:]))
    nuisance = Nuisance.of([arm], CLASSES)
    assert nuisance.size == 5 + 1 + 1 + 1
    answers = Outcomes.of(arm, CLASSES, nuisance)
    np.testing.assert_allclose(np.einsum("ak,akp->kp", answers.likelihood, answers.scores), 0, atol=1e-13)
    assert nuisance.parameters[:3] == ("full: b for a", "full: c for a", "full: c for b")


def test_the_menu_offers_votes_and_audits_of_what_is_unknown() -> None:
    arms = menu([Channel("crowd", TABLE, price=0.02, votes=(1, 3)), Channel("model", "unknown", price=0.001)])
    assert [arm.name for arm in arms] == ["nothing", "gold", "crowd", "crowd x 3", "model", "gold + model"]
    assert [arm.price(0.5) for arm in arms] == pytest.approx([0, 0.5, 0.02, 0.06, 0.001, 0.501])
    assert [arm.n_answers for arm in arms] == [0, 1, 1, 3, 1, 2]


def test_copies_of_one_annotator_are_not_multiplied() -> None:
    copied = Channel("model", TABLE)
    with pytest.raises(InvalidInputError, match=r"asks channel 'model' more than once.*independent=True"):
        Arm.of(copied, copied)
    anew = Channel("model", TABLE, independent=True)
    np.testing.assert_allclose(
        np.sort(answers_of(anew, anew).likelihood.sum(axis=1))[-1], sum(np.square(np.array(TABLE)[:, 1]))
    )


def test_one_name_is_one_channel() -> None:
    arms = [Arm.of(Channel("model", TABLE)), Arm.of(Channel("model", accuracy=0.9), name="other")]
    with pytest.raises(InvalidInputError, match="two channels called 'model'"):
        Nuisance.of(arms, CLASSES)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"confusion": [[0.5, 0.6], [0.5, 0.5]]}, r"'x'.*must sum to 1. Got a sum of 1.1"),
        ({"confusion": [[1.5, -0.5], [0.5, 0.5]]}, r"'x'.*must be non-negative. Got -0.5"),
        ({"confusion": [[np.nan, 1], [0.5, 0.5]]}, r"'x' must be finite"),
        ({"confusion": [0.5, 0.5]}, r"must have 2 dimension"),
        ({"confusion": "known"}, r"a table or 'unknown'. Got 'known'"),
        ({}, r"Got neither"),
        ({"confusion": TABLE, "accuracy": 0.9}, r"Got both"),
        ({"accuracy": 1.5}, r"accuracy of channel 'x' must lie in \[0, 1\]"),
        ({"accuracy": "high"}, r"must be a number. Got 'high'"),
        ({"accuracy": 1.0, "unknown": True}, r"cannot be 0 or 1 at the start"),
        ({"accuracy": 0.9, "price": -1}, r"non-negative number. Got -1"),
        ({"accuracy": 0.9, "price": np.nan}, r"non-negative number. Got nan"),
        ({"accuracy": 0.9, "price": "cheap"}, r"must be a number. Got 'cheap'"),
        ({"accuracy": 0.9, "votes": 0}, r"whole numbers from 1 to 1000. Got 0"),
        ({"accuracy": 0.9, "votes": 1.5}, r"whole numbers from 1 to 1000. Got 1.5"),
        ({"accuracy": 0.9, "votes": (3, 3)}, r"distinct numbers"),
        ({"accuracy": 0.9, "votes": ()}, r"distinct numbers"),
        ({"confusion": TABLE, "answers": ["a", "a", "b"]}, r"a name of its own for each of the 3 answers"),
    ],
)
def test_what_is_no_channel_is_refused(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        lw.Channel("x", **arguments)


@pytest.mark.parametrize("name", ["", "gold", "nothing", "everything", 3])
def test_names_that_mean_something_else_are_refused(name: Any) -> None:
    with pytest.raises(InvalidInputError, match=r"needs a name|may be called"):
        Channel(name, accuracy=0.9)


@pytest.mark.parametrize(
    ("channel", "message"),
    [
        (Channel("x", [[0.9, 0.1], [0.2, 0.8]]), r"a row for each of the 3 classes. Got 2"),
        (Channel("x", "unknown"), r"Nothing is known of the confusion of channel 'x' yet"),
        (Channel.question("x", ["d"]), r"classes out of 'a', 'b', 'c'. Got 'd'"),
        (Channel.question("x", []), r"Got none"),
        (Channel.question("x", CLASSES), r"the answer is yes"),
        (Channel.sets("x", [["a"], ["b"]]), r"class 'c' is in no set"),
        (Channel.sets("x", [["a", "b", "c"], ["a"]], accuracy=0.9), r"class 'a' is in every set"),
    ],
)
def test_channels_of_other_classes_are_refused(channel: Channel, message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        channel.table(CLASSES)


def test_too_many_answers_are_refused() -> None:
    with pytest.raises(InvalidInputError, match=r"'crowd x 300' can be answered in 4.55e\+04 ways"):
        answers_of(Channel("crowd", TABLE), votes=300)


def test_a_guess_keeps_all_else() -> None:
    guessed = Channel("model", "unknown", price=0.5, votes=(1, 2)).guessed(TABLE)
    assert (guessed.is_unknown, guessed.price, guessed.votes) == (True, 0.5, (1, 2))
    np.testing.assert_allclose(guessed.table(CLASSES).probabilities, TABLE)
