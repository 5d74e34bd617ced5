"""Predicted labels of sequences: token accuracy, and chunks as the script conlleval of the CoNLL tasks counts them.

Counts of chunks are those of the Perl script (version of 2004-01-26), whatever the tags are: a chunk also begins at
an ``I`` after ``O`` or after another type, and a chunk is found only if both its ends and its type are right. The
script knows the letters B, I, O, E, and ``[``, ``]``, ``.`` of bracket schemes; to it S, L and U are letters like any
other, so that two chunks of a type that touch in BIOES or BILOU are one. Such tags are converted to IOB2 before.
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from labelworth.arrays import BoolArray, IntArray, require_shape
from labelworth.data.sequences import Sequences
from labelworth.data.tag_schemes import TagScheme, find_scheme
from labelworth.errors import InvalidInputError

_LETTERS = {"O": 0, "B": 1, "I": 2, "E": 3, "[": 4, "]": 5, ".": 6}
_OUT, _BEGIN, _IN, _END, _OPEN, _CLOSE, _DOT = range(7)
_CONVERTED = (TagScheme.BIOES, TagScheme.BILOU)


@dataclass(frozen=True)
class ChunkScores:
    """How well chunks of one type, or of all, are found."""

    name: str  # The type; empty for all together.
    n_true: int  # How many there are, how many were predicted, how many of these are right.
    n_found: int
    n_correct: int

    @property
    def precision(self) -> float:
        """The share of right ones among those predicted; 0 if none was."""
        return self.n_correct / self.n_found if self.n_found else 0.0

    @property
    def recall(self) -> float:
        """The share found among those there are; 0 if there is none."""
        return self.n_correct / self.n_true if self.n_true else 0.0

    @property
    def f1(self) -> float:
        """The harmonic mean of the two; 0 if both are."""
        total = self.precision + self.recall
        return 2 * self.precision * self.recall / total if total > 0 else 0.0


@dataclass(frozen=True)
class ChunkEvaluation:
    """What conlleval prints."""

    n_tokens: int  # Tokens, and those whose whole tag is right.
    n_right: int
    overall: ChunkScores
    types: tuple[ChunkScores, ...]  # Type by type, in the order of their names.

    @property
    def accuracy(self) -> float:
        """The share of tokens whose tag is right."""
        return self.n_right / self.n_tokens

    def report(self) -> str:
        """The text that conlleval prints, without its last line end."""
        total = self.overall
        lines = [
            f"processed {self.n_tokens} tokens with {total.n_true} phrases; "
            f"found: {total.n_found} phrases; correct: {total.n_correct}.",
            f"accuracy: {100 * self.accuracy:6.2f}%; {_figures(total)}",
        ]
        return "\n".join(lines + [f"{kind.name:>17}: {_figures(kind)}  {kind.n_found}" for kind in self.types])


def evaluate_chunks(truth: Sequence[Hashable], predicted: Sequence[Hashable], offsets: IntArray) -> ChunkEvaluation:
    """Count chunks as conlleval does.

    Parameters
    ----------
    truth, predicted : one tag per token
        Such as ``B-NP``. The part before the first hyphen is the letter, all behind it the type.
    offsets : integer array of shape (n_sequences + 1,)
        Where the sequences begin; no chunk reaches over an end.

    Raises
    ------
    InvalidInputError
        If the numbers of tags disagree, or there are none.

    Examples
    --------
    >>> truth, predicted = ["B-NP", "I-NP", "O", "B-VP"], ["B-NP", "I-NP", "I-VP", "B-VP"]
    >>> scores = evaluate_chunks(truth, predicted, np.array([0, 4]))
    >>> scores.overall.n_true, scores.overall.n_found, scores.overall.n_correct, scores.accuracy
    (2, 3, 2, 0.75)
    """
    if not len(truth) == len(predicted) == int(offsets[-1]) or not len(truth):
        raise InvalidInputError(
            f"There must be a true and a predicted tag per token, and a token. Got {len(truth)} true and "
            f"{len(predicted)} predicted tags of {int(offsets[-1])} tokens."
        )
    letter_of, kind_of = dict(_LETTERS), {"": 0}
    true = _tags(truth, offsets, letter_of, kind_of)
    claimed = _tags(predicted, offsets, letter_of, kind_of)
    n_boundaries = len(true.letters) - len(truth)
    n_right = int(((true.letters == claimed.letters) & (true.kinds == claimed.kinds)).sum()) - n_boundaries
    counts = [
        np.bincount(kinds, minlength=len(kind_of))
        for kinds in (true.kinds[1:][true.begins], claimed.kinds[1:][claimed.begins], _correct(true, claimed))
    ]
    overall = ChunkScores("", *(int(count.sum()) for count in counts))
    occurring = sorted((name, code) for name, code in kind_of.items() if counts[0][code] or counts[1][code])
    types = tuple(ChunkScores(name, *(int(count[code]) for count in counts)) for name, code in occurring)
    return ChunkEvaluation(len(truth), n_right, overall, types)


class _Tags(NamedTuple):
    """Tags as codes, with a tag O before, between and behind the sequences; one seam less than tags."""

    letters: IntArray
    kinds: IntArray
    ends: BoolArray
    begins: BoolArray


def _tags(tags: Sequence[Hashable], offsets: IntArray, letter_of: dict[str, int], kind_of: dict[str, int]) -> _Tags:
    coded: dict[Hashable, tuple[int, int]] = {}
    for tag in dict.fromkeys(tags):
        letter, _, kind = str(tag).partition("-")
        # Perl takes the text "0" for false, and the script then takes the type for empty.
        kind = "" if kind == "0" else kind
        coded[tag] = letter_of.setdefault(letter, len(letter_of)), kind_of.setdefault(kind, len(kind_of))
    pairs = np.array([coded[tag] for tag in tags], dtype=np.int64)
    padded = np.zeros((len(tags) + len(offsets), 2), dtype=np.int64)
    padded[np.arange(len(tags)) + 1 + np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))] = pairs
    letters, kinds = padded[:, 0], padded[:, 1]
    return _Tags(letters, kinds, *_seams(letters[:-1], letters[1:], kinds[:-1] != kinds[1:]))


def _seams(previous: IntArray, following: IntArray, differ: BoolArray) -> tuple[BoolArray, BoolArray]:
    """Whether a chunk ends, and whether one begins, between neighboring tags."""
    ends = (
        (np.isin(previous, [_BEGIN, _IN]) & np.isin(following, [_BEGIN, _OUT]))
        | ((previous == _END) & np.isin(following, [_END, _IN, _OUT]))
        | (~np.isin(previous, [_OUT, _DOT]) & differ)
        | np.isin(previous, [_OPEN, _CLOSE])
    )
    begins = (
        (np.isin(previous, [_BEGIN, _IN, _OUT]) & (following == _BEGIN))
        | (np.isin(previous, [_OUT, _END]) & np.isin(following, [_IN, _END]))
        | (~np.isin(following, [_OUT, _DOT]) & differ)
        | np.isin(following, [_OPEN, _CLOSE])
    )
    return ends, begins


def _correct(true: _Tags, claimed: _Tags) -> IntArray:
    """The types of the chunks that are right.

    The script walks on with a flag, "in a chunk that is right so far". It is raised where both begin a chunk of one
    type; it falls, and the chunk counts, where both end it; it falls where one of them ends, or their types differ.
    So at a seam it is up if it was raised last, after it last had reason to fall.
    """
    agree = true.kinds == claimed.kinds
    completed = true.ends & claimed.ends & agree[:-1]
    falls = completed | (true.ends != claimed.ends) | ~agree[1:]
    raised = true.begins & claimed.begins & agree[1:]
    seams = np.arange(len(raised))
    last_raised = np.append(-1, np.maximum.accumulate(np.where(raised, seams, -1)))
    last_fall = np.append(-1, np.maximum.accumulate(np.where(falls, seams, -1)))
    # A seam may do both, first fall and then rise.
    is_up = (last_raised >= 0) & (last_raised >= last_fall)
    still_up = true.kinds[-1:][is_up[-1:]]
    return np.concatenate([true.kinds[:-1][completed & is_up[:-1]], still_up])


def _figures(scores: ChunkScores) -> str:
    precision, recall, f1 = 100 * scores.precision, 100 * scores.recall, 100 * scores.f1
    return f"precision: {precision:6.2f}%; recall: {recall:6.2f}%; FB1: {f1:6.2f}"


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
    >>> from labelworth.data.evidence import encode_labels
    >>> evidence = encode_labels(["B-X", "I-X", "O"])
    >>> truth = Sequences(np.zeros(3, dtype=int), np.array([0, 3]), evidence, ("word",))
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
        truth, claimed = _as_iob2(truth), _as_iob2(claimed)
        notes.append(f"conlleval does not know {scheme.scheme.value}; the tags were converted to IOB2 before.")
    return evaluate_chunks(truth, claimed, kept.offsets), tuple(notes)


def _as_iob2(tags: list[str]) -> list[str]:
    """Tags of BIOES or BILOU in IOB2; predicted ones may contradict themselves.

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
