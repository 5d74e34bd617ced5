"""By which rules the labels held were bought, as far as they tell."""

from collections.abc import Sequence

import numpy as np

from labelworth.data.sequences import Sequences
from labelworth.policies.rule import Rule


def held_by_rule(sequences: Sequences, menu: Sequence[Rule]) -> dict[str, float]:
    """How many sequences with labels count to every rule of a menu.

    A sequence counts to the rule that asks for the nearest number of labels at its length, of several such to the
    first: which rule it was labeled by is not on record.

    Examples
    --------
    >>> from labelworth.data.evidence import Evidence
    >>> from labelworth.policies.spec import parse_rule
    >>> codes = np.array([0, 1, 0, 1, -1, 1, 0, -1, -1, -1, -1, -1])
    >>> three = Sequences(np.zeros(12, dtype=int), np.array([0, 4, 8, 12]), Evidence(codes, ("A", "B")), ("x",))
    >>> held_by_rule(three, [parse_rule("everything"), parse_rule("window:2"), parse_rule("nothing")])
    {'everything': 1.0, 'window:2': 1.0, 'nothing': 0.0}
    """
    seen = (~sequences.evidence.is_unlabeled).astype(np.int64)
    labels = np.add.reduceat(seen, sequences.offsets[:-1])
    held = {rule.spec: 0.0 for rule in menu} | {"nothing": 0.0}
    labeling = [rule for rule in menu if rule.spec != "nothing"]
    pairs, counts = np.unique(np.stack([sequences.lengths, labels])[:, labels > 0], axis=1, return_counts=True)
    for (length, number), count in zip(pairs.T.tolist(), counts.tolist(), strict=True):
        nearest = min(labeling, key=lambda rule: abs(rule.expected_labels(length) - number))
        held[nearest.spec] += count
    return held
