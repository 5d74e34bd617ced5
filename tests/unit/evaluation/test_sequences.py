import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labelworth.data.sequences import Sequences
from labelworth.errors import InvalidInputError
from labelworth.evaluation.sequences import evaluate_labels
from support.sentences import Chunk, chunk_lists, tags_of
from support.token_lists import word_sequences


def sentences(labels: list[list[object]], classes: list[str]) -> Sequences:
    return word_sequences([["w"] * len(of_one) for of_one in labels], labels, classes=classes)


TAGS = ["B-X", "I-X", "O"]


def test_only_known_labels_count() -> None:
    truth = sentences([["B-X", None, "O"], ["O", "O"]], TAGS)
    scores = evaluate_labels(np.array([0, 0, 0, 2, 2]), truth)
    assert (scores.n_tokens, scores.accuracy) == (4, 0.75)
    # Ratios of 1 of 2 and 2 of 2 tokens, around 3/4.
    assert scores.accuracy_se == pytest.approx(np.sqrt(2 * (0.5**2 + 0.5**2)) / 4)


def test_chunks_are_counted_where_all_labels_are_known() -> None:
    truth = sentences([["B-X", None, "O"], ["B-X", "I-X", "O"]], TAGS)
    scores = evaluate_labels(np.array([0, 0, 0, 0, 1, 2]), truth)
    assert scores.chunks is not None
    assert (scores.chunks.n_tokens, scores.chunks.overall.n_true, scores.chunks.overall.f1) == (3, 1, 1.0)
    assert "1 sequences whose labels are all known" in scores.notes[0]


def test_plain_tags_have_no_chunks() -> None:
    truth = sentences([["DT", "NN"]], ["DT", "NN"])
    scores = evaluate_labels(np.array([0, 0]), truth)
    assert scores.chunks is None
    assert scores.accuracy == 0.5
    assert np.isnan(scores.accuracy_se)


def test_tags_that_the_script_does_not_know_are_converted() -> None:
    classes = ["B-X", "E-X", "I-X", "O", "S-X"]
    truth = sentences([["B-X", "E-X", "S-X", "S-X", "O"]], classes)
    perfect = evaluate_labels(truth.evidence.codes, truth)
    assert perfect.chunks is not None
    assert (perfect.chunks.overall.n_true, perfect.chunks.overall.f1) == (3, 1.0)
    assert "converted to IOB2" in perfect.notes[-1]
    # E then I: the second begins a chunk of its own, as E has ended the first.
    crooked = evaluate_labels(np.array([0, 1, 2, 4, 3]), truth)
    assert crooked.chunks is not None
    assert (crooked.chunks.overall.n_found, crooked.chunks.overall.n_correct) == (3, 3)


def test_partly_known_labels_have_no_chunks() -> None:
    scores = evaluate_labels(np.array([0, 1]), sentences([["B-X", None]], TAGS))
    assert scores.chunks is None
    assert "No sequence has all its labels" in scores.notes[0]


def test_bad_predictions_are_refused() -> None:
    truth = sentences([["O", "O"]], TAGS)
    with pytest.raises(InvalidInputError, match="codes from 0 to 2"):
        evaluate_labels(np.array([0, 3]), truth)
    with pytest.raises(InvalidInputError, match="shape"):
        evaluate_labels(np.array([0]), truth)
    with pytest.raises(InvalidInputError, match="nothing to evaluate"):
        evaluate_labels(np.array([0, 0]), truth.hide())


@settings(max_examples=60, deadline=None)
@given(chunk_lists, chunk_lists, st.sampled_from(["BIOES", "BILOU"]))
def test_chunks_are_counted_alike_in_every_scheme(
    chunks: list[list[Chunk]], others: list[list[Chunk]], scheme: str
) -> None:
    """Predictions are the tags of other chunks, cut to length: they may break off, in IOB2 as in the other scheme."""
    counts = []
    for written in (scheme, "IOB2"):
        truth = [tags_of(of_one, written) for of_one in chunks]
        size = sum(map(len, truth))
        claimed = [tag for of_one in others for tag in tags_of(of_one, written)][:size]
        claimed += ["O"] * (size - len(claimed))
        classes = sorted(
            {*claimed, *(tag for of_one in truth for tag in of_one), *tags_of([("X", 1), ("X", 3)], written)}
        )
        codes = np.array([classes.index(tag) for tag in claimed])
        chunked = evaluate_labels(codes, sentences([list(tags) for tags in truth], classes)).chunks
        counts.append(
            None if chunked is None else (chunked.overall.n_true, chunked.overall.n_found, chunked.overall.n_correct)
        )
    assert counts[0] == counts[1]
