"""The labels of data as a labeling rule, and data small enough to ask what that rule is worth."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp

from labelworth.arrays import BoolArray, IntArray
from labelworth.data.sequences import NO_WORD, Sequences
from labelworth.errors import InvalidInputError
from labelworth.policies.rule import Rule

OTHER_WORDS = "<other words>"


class AsLabeled(Rule):
    """Label the positions that are labeled in one of the given sequences of that length, drawn at random.

    Tokens with several candidates count as not labeled, so that what the labels tell is rather understated.

    Parameters
    ----------
    sequences : Sequences
    """

    def __init__(self, sequences: Sequences) -> None:
        self._labeled: BoolArray = sequences.evidence.is_gold
        self._offsets = sequences.offsets
        self._rows: dict[int, IntArray] = {
            int(length): np.flatnonzero(sequences.lengths == length) for length in np.unique(sequences.lengths)
        }

    @property
    def spec(self) -> str:
        """``as labeled``."""
        return "as labeled"

    def n_outcomes(self, length: int) -> int:
        """How many distinct sets of positions are labeled in sequences of that length."""
        return len(self._distinct(length)[0])

    def outcomes(self, length: int) -> Iterator[tuple[float, BoolArray]]:
        """Every such set with the share of the sequences that have it."""
        masks, counts = self._distinct(length)
        for mask, count in zip(masks, counts, strict=True):
            yield float(count / counts.sum()), mask

    def expected_labels(self, length: int) -> float:
        """The mean over the sequences of that length."""
        return float(self._masks(length).sum(axis=1).mean())

    def draw(self, lengths: IntArray, rng: np.random.Generator) -> BoolArray:
        """A sequence of the data for each."""
        ends = np.cumsum(lengths)
        labeled = np.zeros(int(lengths.sum()), dtype=bool)
        for length in np.unique(lengths).tolist():
            masks = self._masks(length)
            starts = (ends - lengths)[lengths == length]
            chosen = masks[rng.integers(len(masks), size=len(starts))]
            labeled[starts[:, None] + np.arange(length)] = chosen
        return labeled

    def _masks(self, length: int) -> BoolArray:
        if length not in self._rows:
            raise InvalidInputError(f"There is no sequence of length {length} in the data whose labels to imitate.")
        starts = self._offsets[self._rows[length]]
        masks: BoolArray = self._labeled[starts[:, None] + np.arange(length)]
        return masks

    def _distinct(self, length: int) -> tuple[BoolArray, IntArray]:
        masks, counts = np.unique(self._masks(length), axis=0, return_counts=True)
        return masks, counts


@dataclass(frozen=True, eq=False)
class Condensed:
    """Sequences of fewer words and moderate lengths, with what was done to them.

    Attributes
    ----------
    sequences : Sequences
    notes : tuple of str
    """

    sequences: Sequences
    notes: tuple[str, ...]


def condense(sequences: Sequences, *, n_features: int, longest: int) -> Condensed:
    """Keep the most frequent words or attributes, and cut long sequences into pieces.

    Parameters
    ----------
    sequences : Sequences
    n_features : int
        Other words share one entry; other attributes are left out.
    longest : int
        Longer sequences are cut into pieces of at most so many tokens.
    """
    notes = []
    if sequences.n_features > n_features:
        sequences, note = _fewer_features(sequences, n_features)
        notes.append(note)
    if int(sequences.lengths.max()) > longest:
        notes.append(f"Sequences of more than {longest} tokens are judged in pieces of that length.")
        sequences = _pieces(sequences, longest)
    return Condensed(sequences, tuple(notes))


def _fewer_features(sequences: Sequences, n_features: int) -> tuple[Sequences, str]:
    names = sequences.feature_names
    if isinstance(sequences.features, sp.csr_array):
        counts = np.bincount(sequences.features.indices, minlength=len(names))
        kept = np.sort(np.argsort(-counts, kind="stable")[:n_features])
        rows = sp.csr_array(sequences.features[:, kept])
        chosen = tuple(names[place] for place in kept.tolist())
        note = f"Judged by the {n_features} most frequent of {len(names):,} attributes."
        return replace(sequences, features=rows, feature_names=chosen), note
    seen = sequences.words[sequences.words != NO_WORD]
    counts = np.bincount(seen, minlength=len(names))
    kept = np.sort(np.argsort(-counts, kind="stable")[: n_features - 1])
    code_of = np.full(len(names) + 1, len(kept), dtype=np.int64)
    code_of[kept] = np.arange(len(kept))
    code_of[NO_WORD] = NO_WORD
    chosen = (*(names[place] for place in kept.tolist()), OTHER_WORDS)
    share = counts[kept].sum() / max(1, counts.sum())
    note = (
        f"Judged by the {len(kept)} most frequent of {len(names):,} words ({share:.0%} of the tokens), the others "
        "taken together: what words tell is rather understated."
    )
    return replace(sequences, features=code_of[sequences.words], feature_names=chosen), note


def _pieces(sequences: Sequences, longest: int) -> Sequences:
    starts = [
        np.arange(first, last, longest) for first, last in zip(sequences.offsets, sequences.offsets[1:], strict=False)
    ]
    owners = np.repeat(np.arange(sequences.n_sequences), [len(part) for part in starts])
    weights = None if sequences.weights is None else sequences.weights[owners]
    return replace(sequences, offsets=np.append(np.concatenate(starts), sequences.n_tokens), weights=weights)
