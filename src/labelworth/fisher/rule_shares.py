"""How much of every probability of a hidden Markov model a rule's labels show, as expected."""

import numpy as np

from labelworth.arrays import BoolArray, FloatArray, IntArray
from labelworth.data.sequences import Sequences
from labelworth.fisher.rule_whitening import Whitening

_FEWEST_MEETINGS = 16


def labeled_shares(whitening: Whitening, seen: Sequences) -> FloatArray:
    r"""The share of the uses of every entry that the labels show, (n_named,).

    An entry is a first label, a pair of neighboring labels, or a label beside its word; it is shown where all its
    labels are. Which positions are labeled does not depend on the labels, so the share is the expected number of
    uses at the labeled positions over the expected number of all.

    Parameters
    ----------
    whitening : Whitening
    seen : Sequences
        Drawn, with the labels a rule shows.
    """
    is_seen = seen.evidence.codes >= 0
    places = np.arange(seen.n_tokens) - np.repeat(seen.offsets[:-1], seen.lengths)
    # A pair stands at its first token, and is seen where both labels are, within one sequence.
    pair_seen = np.zeros(seen.n_tokens, dtype=bool)
    pair_seen[:-1] = is_seen[:-1] & is_seen[1:] & (places[1:] > 0)
    model, labels = whitening.model, _label_probabilities(whitening)
    first, pairs, tokens = (
        _expected(chosen, places, labels) / seen.n_sequences
        for chosen in (is_seen & (places == 0), pair_seen, is_seen)
    )
    uses = [first, (pairs[:, None] * model.transition).ravel(), (tokens[:, None] * model.emission).ravel()]
    return np.asarray(np.concatenate(uses) / whitening.counts)


def rarely_met(whitening: Whitening, shares: FloatArray, n_draws: int) -> BoolArray:
    """Entries of which labels tell, but so rarely that `n_draws` draws show them a few times or never, (n_named,)."""
    rare: BoolArray = (shares > 0) & (n_draws * whitening.counts * shares < _FEWEST_MEETINGS)
    return rare


def _label_probabilities(whitening: Whitening) -> FloatArray:
    """p(label) at every place, (longest, K)."""
    rows = [whitening.model.start]
    for _ in range(whitening.lengths.longest - 1):
        rows.append(rows[-1] @ whitening.model.transition)
    return np.array(rows)


def _expected(chosen: BoolArray, places: IntArray, labels: FloatArray) -> FloatArray:
    """How often every label is expected at the chosen tokens, (K,)."""
    return np.asarray(np.bincount(places[chosen], minlength=len(labels)) @ labels)
