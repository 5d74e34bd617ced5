"""Predicted labels of sequences: token accuracy, and chunks where the labels are tags of chunks."""

from dataclasses import dataclass

import numpy as np

from labelworth.arrays import BoolArray, IntArray, require_shape
from labelworth.data.sequences import Sequences
from labelworth.data.tags.conversion import convert_tags
from labelworth.data.tags.schemes import TagScheme, find_scheme
from labelworth.errors import InvalidInputError
from labelworth.evaluation.chunks import ChunkEvaluation, evaluate_chunks

_CONVERTED = (TagScheme.BIOES, TagScheme.BILOU)


@dataclass(frozen=True)
class SequenceEvaluation:
    """Scores of predicted labels."""

    n_tokens: int  # How many tokens have a known label; the others do not count.
    # The share of right labels among them, and its standard error: tokens of a sequence are not independent, so
    # it is that of a ratio over sequences.
    accuracy: float
    accuracy_se: float
    # As conlleval counts, over the sequences whose labels are all known; None where labels are not tags of
    # chunks, or there is no such sequence.
    chunks: ChunkEvaluation | None
    notes: tuple[str, ...] = ()  # What was left out or converted.


def evaluate_labels(predicted: IntArray, sequences: Sequences) -> SequenceEvaluation:
    """Score predicted labels against those that are known.

    Parameters
    ----------
    predicted : integer array of shape (n_tokens,)
        Label codes, in the order of the classes of `sequences`.
    sequences : Sequences
        Truth.

    Raises
    ------
    InvalidInputError
        If no label is known, or a code is invalid.

    Examples
    --------
    >>> from labelworth.data.tokens.lists import word_sequences
    >>> truth = word_sequences([["a", "b", "c"]], [["B-X", "I-X", "O"]])
    >>> scores = evaluate_labels(np.array([0, 1, 1]), truth)
    >>> round(scores.accuracy, 4), scores.chunks.overall.f1
    (0.6667, 0.0)
    """
    predicted = np.asarray(predicted)
    require_shape("predicted", predicted, (sequences.n_tokens,))
    classes = sequences.evidence.classes
    if predicted.dtype.kind not in "iu" or predicted.min() < 0 or predicted.max() >= len(classes):
        raise InvalidInputError(f"Predicted labels must be codes from 0 to {len(classes) - 1}.")
    gold = sequences.evidence.is_gold
    if not gold.any():
        raise InvalidInputError("There is nothing to evaluate on: no token has a known label.")
    starts = sequences.offsets[:-1]
    known = np.add.reduceat(gold.astype(np.int64), starts)
    right = np.add.reduceat(((predicted == sequences.evidence.codes) & gold).astype(np.int64), starts)
    accuracy = float(right.sum() / known.sum())
    used = known > 0
    chunks, notes = _chunks(predicted, sequences, known == sequences.lengths)
    error = _ratio_error(right[used], known[used], accuracy)
    return SequenceEvaluation(int(known.sum()), accuracy, error, chunks, notes)


def _ratio_error(parts: IntArray, wholes: IntArray, ratio: float) -> float:
    n = len(parts)
    if n < 2:
        return float("nan")
    return float(np.sqrt(n / (n - 1) * ((parts - ratio * wholes) ** 2).sum()) / wholes.sum())


def _chunks(
    predicted: IntArray, sequences: Sequences, whole: BoolArray
) -> tuple[ChunkEvaluation | None, tuple[str, ...]]:
    classes = sequences.evidence.classes
    rows = np.flatnonzero(whole)
    if not rows.size:
        return None, ("No sequence has all its labels, so no chunks are counted.",)
    kept = sequences.take(rows)
    names = np.empty(len(classes), dtype=object)
    names[:] = classes
    truth, claimed = names[kept.evidence.codes].tolist(), names[predicted[sequences.positions_of(rows)]].tolist()
    scheme = find_scheme(truth, kept.offsets)
    if scheme.scheme is TagScheme.PLAIN:
        return None, ()
    notes = []
    if len(rows) < sequences.n_sequences:
        notes.append(f"Chunks are counted in the {len(rows)} sequences whose labels are all known.")
    if scheme.scheme in _CONVERTED and not scheme.n_contradictions:
        truth = convert_tags(truth, kept.offsets, source=scheme.scheme, target=TagScheme.IOB2)
        claimed = _loosely(claimed)
        notes.append(f"conlleval does not know {scheme.scheme.value}; the tags were converted to IOB2 before.")
    return evaluate_chunks(truth, claimed, kept.offsets), tuple(notes)


def _loosely(tags: list[str]) -> list[str]:
    """Predicted tags of BIOES or BILOU in IOB2, even if they contradict themselves.

    S and U begin; E, L and I go on, unless the tag before has ended its chunk. Ends of sequences need no care: no
    chunk is counted over them.
    """
    written = []
    ended = False
    for tag in tags:
        begins = tag[0] in "BSU" or ended
        written.append(tag if tag == "O" else ("B" if begins else "I") + tag[1:])
        ended = tag[0] in "ESLU"
    return written
