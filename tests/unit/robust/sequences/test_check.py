"""Sequences are counted, condensed and judged; what is left open is told in the user's words."""

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import labelworth as lw
from labelworth.data.evidence import encode_labels
from labelworth.data.sequences import NO_WORD, Sequences
from labelworth.robust.sequences.check import OTHER_WORDS, condense
from labelworth.robust.sequences.identifiability import NOT_ANCHORED, NOT_KNOWN
from labelworth.robust.support import SequenceSupport
from support.sentences import draw_sentences
from support.token_lists import attribute_sequences, word_sequences

WORDS, LABELS = draw_sentences(60)


def keep(chosen: Any) -> list[list[str | None]]:
    """Only the labels of the tokens for which `chosen` (sequence, token) says so."""
    return [
        [label if chosen(row, token) else None for token, label in enumerate(sentence)]
        for row, sentence in enumerate(LABELS)
    ]


def test_labels_and_pairs_are_counted() -> None:
    sequences = word_sequences(
        [["a", "b", "c"], ["a", "b"], ["c", "c"]], [["X", "Y", None], [None, ["X", "Z"]], None]
    )
    support = SequenceSupport.of(sequences)
    assert support.label_counts == (("X", 1), ("Y", 1), ("Z", 0))
    assert (support.sequences.n_sequences, support.n_whole, support.n_without) == (3, 0, 1)
    assert (support.sequences.n_tokens, support.n_labels, support.n_ambiguous, support.n_pairs) == (7, 2, 1, 1)
    assert support.never_left == ("Y", "Z")
    assert "What follows was never labeled after: 'Y', 'Z'." in support.lines()
    assert support.to_dict()["n_pairs"] == 1


def test_pairs_do_not_reach_over_the_ends_of_sequences() -> None:
    support = SequenceSupport.of(word_sequences([["a"], ["b"]], [["X"], ["Y"]]))
    assert support.n_pairs == 0
    assert not any("neighboring" in line for line in support.lines())


def test_frequent_words_are_kept_and_the_others_taken_together() -> None:
    sequences = word_sequences([["a", "b", "a", "c"], ["b", "a", "d"]], classes=["X"])
    few, notes = condense(sequences, n_features=3, longest=100)
    names = few.feature_names
    assert names == ("a", "b", OTHER_WORDS)
    assert [names[code] for code in few.words] == ["a", "b", "a", OTHER_WORDS, "b", "a", OTHER_WORDS]
    assert "2 most frequent of 5 words (71 % of the tokens)" in notes[0]
    assert condense(sequences, n_features=5, longest=4)[0] is sequences


def test_a_word_that_was_not_seen_stays_so() -> None:
    sequences = Sequences(
        np.array([0, NO_WORD, 2]), np.array([0, 3]), encode_labels([None] * 3, classes=["X"]), ("a", "b", "c")
    )
    assert condense(sequences, n_features=2, longest=9)[0].words.tolist() == [0, NO_WORD, 1]


def test_frequent_attributes_are_kept_and_the_others_left_out() -> None:
    sequences = attribute_sequences([[["a", "b"], ["b"], ["b", "c", "a"]]], classes=["X"])
    few, _ = condense(sequences, n_features=2, longest=9)
    assert few.feature_names == ("a", "b")
    assert isinstance(few.features, sp.csr_array)
    assert few.features.toarray().tolist() == [[1, 1], [0, 1], [1, 1]]


def test_long_sequences_are_cut_into_pieces_with_their_weights() -> None:
    sequences = word_sequences([list("abcde"), list("ab")], [list("XXYYX"), [None, "Y"]], weights=[2.0, 3.0])
    cut, _ = condense(sequences, n_features=99, longest=2)
    assert cut.lengths.tolist() == [2, 2, 1, 2]
    assert cut.sequence_weights.tolist() == [2.0, 2.0, 2.0, 3.0]
    assert cut.evidence is sequences.evidence


@pytest.mark.parametrize("tagger", [lw.HiddenMarkov(), lw.ConditionalRandomField()], ids=["hmm", "crf"])
def test_whole_labels_identify(tagger: Any) -> None:
    report = tagger.check(WORDS, LABELS)
    assert report.verdict == "identified"
    assert report.exit_code == 0
    assert report.policies[0].point.smallest_share == pytest.approx(1.0)


def test_what_is_labeled_is_held_against_policies() -> None:
    report = lw.HiddenMarkov().check(WORDS, keep(lambda row, token: token == 0), policies=["everything", "nothing"])
    labeled, everything, nothing = report.policies
    assert report.verdict == labeled.verdict
    assert labeled.point.smallest_share < everything.point.smallest_share == pytest.approx(1.0)
    assert nothing.verdict == NOT_ANCHORED
    assert report.exit_code == 1
    lines = " ".join(report.lines())
    assert "No two neighboring tokens are both labeled" in lines
    assert "up to their order" in lines
    assert "transition" in lines


def test_a_conditional_model_without_labels_is_open() -> None:
    report = lw.ConditionalRandomField().check(WORDS, LABELS, policies=["nothing"])
    assert report.policies[1].verdict == "not identified: directions left open"
    assert report.exit_code == 1


def test_labels_that_could_be_swapped_are_told_apart_from_weak_ones() -> None:
    report = lw.HiddenMarkov(classes=["D", "N", "V", "X", "Y"]).check(WORDS, LABELS)
    assert report.verdict == NOT_ANCHORED
    assert report.support.indistinguishable == (("X", "Y"),)
    assert report.policies == ()
    assert "Nothing anchors 'X', 'Y'" in " ".join(report.lines())
    assert report.to_dict()["identified"] is False


def test_a_single_label_never_used_is_said() -> None:
    report = lw.HiddenMarkov(classes=["D", "N", "V", "X"]).check(WORDS, keep(lambda row, token: row % 2 == 0))
    assert report.support.never_labeled == ("X",)
    assert "No token is labeled 'X'" in " ".join(report.lines())


def test_many_labels_are_judged_by_counting() -> None:
    rng = np.random.default_rng(0)
    labels = [[f"L{rng.integers(26)}" for _ in sentence] for sentence in LABELS]
    hidden = [[label if token else None for token, label in enumerate(sentence)] for sentence in labels]
    partly = [sentence if row % 2 else None for row, sentence in enumerate(labels)]
    apart = [[None if token % 2 else label for token, label in enumerate(sentence)] for sentence in labels]
    for y, verdict in ((labels, "identified"), (partly, "identified"), (hidden, NOT_KNOWN), (apart, NOT_KNOWN)):
        report = lw.HiddenMarkov().check(WORDS, y)
        assert report.verdict == verdict
        assert report.exit_code == 0
        assert "701 parameters" in " ".join(report.lines())
    assert "may leave directions open" in " ".join(report.lines())


def test_a_conditional_model_is_told_the_truth_about_labels_never_used() -> None:
    report = lw.ConditionalRandomField(classes=["D", "N", "V", "X", "Y"]).check(WORDS, LABELS)
    assert report.verdict == NOT_ANCHORED
    lines = " ".join(report.lines())
    assert "'X', 'Y'. A conditional model learns of such a label only what is not it" in lines
    assert "swapped" not in lines
    alike = [[["X", "Y"] if label == "N" else label for label in sentence] for sentence in LABELS]
    report = lw.ConditionalRandomField().check(WORDS, alike)
    assert report.support.indistinguishable == (("X", "Y"),)
    assert report.verdict == NOT_ANCHORED


def test_policies_are_judged_where_labels_could_be_swapped() -> None:
    nothing_labeled = [None] * len(WORDS)
    report = lw.HiddenMarkov(classes=["D", "N", "V"]).check(
        WORDS, nothing_labeled, policies=["everything", "window:2", "nothing"]
    )
    assert report.verdict == report.policies[0].verdict == NOT_ANCHORED
    assert report.policies[1].verdict == "identified"
    assert report.policies[2].verdict.startswith("identified")
    assert report.policies[3].verdict == NOT_ANCHORED
    assert report.exit_code == 1


def test_what_is_mixed_in_is_said() -> None:
    assert "1 % of each row spread evenly" in " ".join(lw.HiddenMarkov().check(WORDS, LABELS).notes)
    assert "spread evenly" not in " ".join(lw.BoltzmannChain().check(WORDS, LABELS).notes)


def test_the_same_seed_gives_the_same_report() -> None:
    y = keep(lambda row, token: row % 3 == 0)
    first, second = (lw.HiddenMarkov().check(WORDS, y, seed=3).to_dict() for _ in range(2))
    assert first == second


def test_plain_probabilities_of_zero_do_not_stop_a_check() -> None:
    report = lw.HiddenMarkov(alpha=0.0, label_smoothing=0.0).check(WORDS, LABELS, policies=["every-other"])
    assert report.verdict == "identified"
    assert report.policies[1].point.smallest_share > 0
