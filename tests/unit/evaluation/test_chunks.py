import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labelworth.errors import InvalidInputError
from labelworth.evaluation.sequences import ChunkEvaluation, evaluate_chunks
from support.conlleval_walk import walk


def scored(truth: str, predicted: str) -> ChunkEvaluation:
    """Sentences are separated by a bar."""
    sentences = [sentence.split() for sentence in truth.split("|")]
    offsets = np.concatenate([[0], np.cumsum([len(sentence) for sentence in sentences])])
    return evaluate_chunks(truth.replace("|", " ").split(), predicted.replace("|", " ").split(), offsets)


def counts(scores: ChunkEvaluation) -> tuple[int, int, int]:
    return scores.overall.n_true, scores.overall.n_found, scores.overall.n_correct


@pytest.mark.parametrize(
    ("truth", "predicted", "expected"),
    [
        ("B-NP I-NP O B-VP", "B-NP I-NP O B-VP", (2, 2, 2)),
        ("B-NP I-NP O", "B-NP O O", (1, 1, 0)),  # the end is wrong
        ("B-NP I-NP I-NP", "O I-NP I-NP", (1, 1, 0)),  # the beginning is wrong
        ("B-NP I-NP", "B-VP I-VP", (1, 1, 0)),  # the type is wrong
        ("B-NP I-NP", "I-NP I-NP", (1, 1, 1)),  # an I after O begins a chunk
        ("B-NP B-NP", "I-NP B-NP", (2, 2, 2)),  # IOB1 against IOB2
        ("B-NP B-NP", "B-NP I-NP", (2, 1, 0)),
        ("B-NP I-VP", "B-NP B-VP", (2, 2, 2)),  # an I of another type begins a chunk
        ("I-NP E-NP", "B-NP I-NP", (1, 1, 1)),
        ("E-NP E-NP", "B-NP B-NP", (2, 2, 2)),
        ("B-NP E-NP B-NP E-NP", "B-NP I-NP B-NP I-NP", (1, 2, 0)),  # the script does not end a chunk at E before B
        ("S-NP S-NP", "B-NP B-NP", (1, 2, 0)),  # nor does it know S
        ("B-NP | I-NP", "B-NP | I-NP", (2, 2, 2)),  # no chunk reaches over the end of a sentence
        ("B-NP | B-NP", "B-NP | I-NP", (2, 2, 2)),
        ("NN VB", "NN VB", (0, 0, 0)),  # plain tags are no chunks
        ("B I O B", "B I O O", (2, 1, 1)),  # chunks of one type need no name
        ("B-a-b I-a-b", "B-a-b I-a-c", (1, 2, 0)),  # hyphens within the type
        ("[-NP [-NP", "[-NP ]-NP", (2, 2, 2)),
        ("O O", "O O", (0, 0, 0)),
    ],
)
def test_counts_of_hand_made_cases(truth: str, predicted: str, expected: tuple[int, int, int]) -> None:
    assert counts(scored(truth, predicted)) == expected


def test_types_have_their_own_figures() -> None:
    scores = scored("B-NP I-NP B-VP B-NP O", "B-NP I-NP B-NP B-NP B-PP")
    assert counts(scores) == (3, 4, 2)
    assert scores.accuracy == 3 / 5
    assert (scores.overall.precision, scores.overall.recall) == (2 / 4, 2 / 3)
    assert scores.overall.f1 == pytest.approx(2 * 2 / (3 + 4))
    by_name = {kind.name: kind for kind in scores.types}
    assert list(by_name) == ["NP", "PP", "VP"]
    assert (by_name["NP"].precision, by_name["NP"].recall) == (2 / 3, 1.0)
    assert (by_name["PP"].precision, by_name["PP"].recall, by_name["PP"].f1) == (0.0, 0.0, 0.0)
    assert (by_name["VP"].n_true, by_name["VP"].n_found) == (1, 0)


def test_the_report_reads_like_that_of_the_script() -> None:
    report = scored("B-NP I-NP B-VP O", "B-NP I-NP B-NP O").report()
    assert report.splitlines() == [
        "processed 4 tokens with 2 phrases; found: 2 phrases; correct: 1.",
        "accuracy:  75.00%; precision:  50.00%; recall:  50.00%; FB1:  50.00",
        "               NP: precision:  50.00%; recall: 100.00%; FB1:  66.67  2",
        "               VP: precision:   0.00%; recall:   0.00%; FB1:   0.00  0",
    ]


letters = st.sampled_from(["B", "I", "O", "E", "S", "[", "]", "."])
tags = st.one_of(st.just("O"), st.builds("{}-{}".format, letters, st.sampled_from(["X", "Y", "0", ""])), letters)
sentences = st.lists(st.lists(st.tuples(tags, tags), min_size=1, max_size=8), min_size=1, max_size=4)


@settings(max_examples=500, deadline=None)
@given(sentences)
def test_counts_are_those_of_a_walk_by_the_rules_of_the_script(pairs: list[list[tuple[str, str]]]) -> None:
    there, found, right, n_right = walk(pairs)
    offsets = np.concatenate([[0], np.cumsum([len(sentence) for sentence in pairs])])
    truth, predicted = zip(*(pair for sentence in pairs for pair in sentence), strict=True)
    scores = evaluate_chunks(truth, predicted, offsets)
    assert counts(scores) == (there.total(), found.total(), right.total())
    assert scores.n_right == n_right
    for kind in scores.types:
        assert (kind.n_true, kind.n_found, kind.n_correct) == (there[kind.name], found[kind.name], right[kind.name])
    assert {kind.name for kind in scores.types} == set(there) | set(found)


def test_numbers_of_tags_must_agree() -> None:
    with pytest.raises(InvalidInputError, match="2 true and 1 predicted tags of 2"):
        evaluate_chunks(["O", "O"], ["O"], np.array([0, 2]))
    with pytest.raises(InvalidInputError, match="and a token"):
        evaluate_chunks([], [], np.array([0]))
