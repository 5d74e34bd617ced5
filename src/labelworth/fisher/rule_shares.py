"""What labels alone tell of every probability of a hidden Markov model: found in draws, and expected."""

import numpy as np

from labelworth.arrays import BoolArray, FloatArray, IntArray
from labelworth.data.sequences import Sequences
from labelworth.fisher.rule_whitening import Whitening


def unmet_shares(whitening: Whitening, seen: Sequences) -> FloatArray:
    r"""Expected minus found, (n_named,): what draws should have shown of every entry and by accident did not.

    A label seen beside its word adds :math:`1 / (N_r \theta_{rw})` to the diagonal of the whitened information, with
    probability :math:`\theta_{rw}`: for a rare word a draw in a million, without which the information would look
    singular. The mean of that part is known - which positions are labeled does not depend on the labels - so the part
    that was found is exchanged for it. The same goes for pairs of labels that are both seen, and for first labels.

    Parameters
    ----------
    whitening : Whitening
    seen : Sequences
        Drawn, with the labels a rule shows.
    """
    model = whitening.model
    codes, words = seen.evidence.codes, seen.words
    places = np.arange(seen.n_tokens) - np.repeat(seen.offsets[:-1], seen.lengths)
    is_seen = codes >= 0
    # A pair is seen where both of its labels are, within one sequence; it stands at its first token.
    pair_seen = np.zeros(seen.n_tokens, dtype=bool)
    pair_seen[:-1] = is_seen[:-1] & is_seen[1:] & (places[1:] > 0)
    first_seen = is_seen & (places == 0)
    n_labels, n_words = model.emission.shape
    pairs = np.flatnonzero(pair_seen)
    found = [
        np.bincount(codes[first_seen], minlength=n_labels),
        np.bincount(codes[pairs] * n_labels + codes[pairs + 1], minlength=n_labels**2),
        np.bincount(codes[is_seen] * n_words + words[is_seen], minlength=n_labels * n_words),
    ]
    labels = _label_probabilities(whitening)
    expected = [
        _at_places(first_seen, places, labels),
        (_at_places(pair_seen, places, labels)[:, None] * model.transition).ravel(),
        (_at_places(is_seen, places, labels)[:, None] * model.emission).ravel(),
    ]
    difference = np.concatenate(expected) - np.concatenate(found)
    return np.asarray(difference / (seen.n_sequences * whitening.counts))


def _label_probabilities(whitening: Whitening) -> FloatArray:
    """p(label) at every place, (longest, K)."""
    rows = [whitening.model.start]
    for _ in range(whitening.lengths.longest - 1):
        rows.append(rows[-1] @ whitening.model.transition)
    return np.array(rows)


def _at_places(chosen: BoolArray, places: IntArray, labels: FloatArray) -> FloatArray:
    """How often every label is expected at the chosen tokens, (K,)."""
    return np.asarray(np.bincount(places[chosen], minlength=len(labels)) @ labels)
