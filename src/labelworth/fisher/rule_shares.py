"""How much of every probability of a hidden Markov model a policy's labels show by themselves."""

import numpy as np

from labelworth.arrays import FloatArray
from labelworth.fisher.rule_whitening import Whitening
from labelworth.policies.policy import Policy


def labeled_shares(whitening: Whitening, policy: Policy) -> FloatArray:
    r"""The share of the uses of every entry that labels show, (n_named,), without any draw.

    An entry is a first label, a pair of neighboring labels, or a label beside its word; it is shown where all its
    labels are. Which positions are labeled does not depend on the labels, so the share is the expected number of
    uses at the labeled positions over the expected number of all; it is the same all along a row.
    """
    model, lengths = whitening.model, whitening.lengths
    tokens, pairs = np.zeros(lengths.longest), np.zeros(lengths.longest)
    for length, share in lengths.items():
        for rule, weight in policy.items():
            single, double = rule.shown(length)
            tokens[:length] += share * weight * single
            pairs[: length - 1] += share * weight * double
    labels = _label_probabilities(whitening)
    uses = [
        tokens[0] * model.start,
        ((pairs @ labels)[:, None] * model.transition).ravel(),
        ((tokens @ labels)[:, None] * model.emission).ravel(),
    ]
    return np.asarray(np.concatenate(uses) / whitening.counts)


def _label_probabilities(whitening: Whitening) -> FloatArray:
    """p(label) at every place, (longest, K)."""
    rows = [whitening.model.start]
    for _ in range(whitening.lengths.longest - 1):
        rows.append(rows[-1] @ whitening.model.transition)
    return np.array(rows)
