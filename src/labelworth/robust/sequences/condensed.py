"""Sequences condensed: few words and moderate lengths, so that what their labels tell is computed in seconds."""

from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
import scipy.sparse as sp

from labelworth.data.sequences import NO_WORD, Sequences

OTHER_WORDS = "<other words>"


@dataclass(frozen=True, eq=False)
class Condensed:
    """Sequences of fewer words and moderate lengths, with notes on what was done to them."""

    sequences: Sequences
    notes: tuple[str, ...]


def condense(sequences: Sequences, *, n_features: int, longest: int) -> Condensed:
    """Keep the most frequent words or attributes, and cut long sequences into pieces.

    Parameters
    ----------
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
        chosen = tuple(names[column] for column in kept.tolist())
        note = f"Judged by the {n_features} most frequent of {len(names):,} attributes."
        return replace(sequences, features=rows, feature_names=chosen), note
    seen = sequences.words[sequences.words != NO_WORD]
    counts = np.bincount(seen, minlength=len(names))
    kept = np.sort(np.argsort(-counts, kind="stable")[: n_features - 1])
    code_of = np.full(len(names) + 1, len(kept), dtype=np.int64)
    code_of[kept] = np.arange(len(kept))
    code_of[NO_WORD] = NO_WORD
    chosen = (*(names[code] for code in kept.tolist()), OTHER_WORDS)
    share = counts[kept].sum() / max(1, counts.sum())
    note = (
        f"Judged by the {len(kept)} most frequent of {len(names):,} words ({share:.0%} of the tokens), the others "
        "taken together: what words tell is rather understated."
    )
    return replace(sequences, features=code_of[sequences.words], feature_names=chosen), note


def _pieces(sequences: Sequences, longest: int) -> Sequences:
    starts = [np.arange(first, last, longest) for first, last in pairwise(sequences.offsets.tolist())]
    owners = np.repeat(np.arange(sequences.n_sequences), [len(part) for part in starts])
    weights = None if sequences.weights is None else sequences.weights[owners]
    return replace(sequences, offsets=np.append(np.concatenate(starts), sequences.n_tokens), weights=weights)
