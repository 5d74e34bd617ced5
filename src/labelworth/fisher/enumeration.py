"""Exact information per rule of small models: sum over every input, every labeling and every set of positions."""

import numpy as np

from labelworth.arrays import FloatArray
from labelworth.fisher.dense import DenseInformation
from labelworth.fisher.population import Labelings, Mask, Population, RulesT


def enumerated(population: Population[RulesT], rules: RulesT) -> DenseInformation:
    r"""One information matrix per rule, without any sampling.

    By Fisher's identity the score of what is seen is the mean of the complete score S given what is seen, so the
    table of S over all (x, y) gives every set of positions by sums over the labels that are hidden:

    .. math::

        \operatorname{Var}(\nabla \log p(Y_S, X)) = \sum_{x, y_S} \frac{g g'}{p(x, y_S)}, \qquad
        g = \sum_{y_{\bar S}} p(x, y)\, S(x, y)

    Where every sample has one label, what is lost with it, :math:`\sum_x p(x) \operatorname{Var}(S \mid x)`, is
    summed by itself: it has all its digits even where labels hardly matter.

    Raises
    ------
    InvalidInputError
        If there is too much to enumerate.

    Notes
    -----
    Sets of positions that several rules share are gone through once. A conditional model tells nothing where nothing
    is labeled, p(no label | x) = 1, so its information is zero there, exactly.

    Paper: prop:efficiency1, prop:efficiency2.
    """
    population.require_enumerable(rules)
    d, complete = population.coordinates.n_free, population.complete_information()
    matrices, missing = np.zeros((len(rules.specs), d, d)), np.zeros((d, d))
    is_summed = np.arange(len(rules.specs)) != (-1 if complete is None else rules.everything)
    for labelings in population.outcomes():
        moved = labelings.scores * labelings.joint[:, :, None]
        if population.has_single_labels:
            missing += _spread(labelings)
        for mask, shares in rules.mask_shares(labelings.length).items():
            if population.is_conditional and not any(mask):
                continue
            # What is known need not be summed.
            wanted = shares * is_summed
            if wanted.any():
                matrices += wanted[:, None, None] * _seen_square(labelings.joint, moved, mask, population.n_classes)
    if complete is not None:
        matrices[rules.everything] = complete
    return DenseInformation(
        population.coordinates,
        rules.specs,
        matrices,
        rules.everything,
        rules.nothing,
        population.labels_of(rules),
        "enumeration",
        known_missing=missing if population.has_single_labels else None,
        known_contrasts=population.known_contrasts(),
    )


def _spread(labelings: Labelings) -> FloatArray:
    """The sum of p(x) Var(S | x)."""
    joint = labelings.joint
    total = joint.sum(axis=1)
    posterior = np.divide(joint, total[:, None], out=np.zeros_like(joint), where=total[:, None] > 0)
    means = np.matmul(posterior[:, None, :], labelings.scores)
    rows = (labelings.scores - means) * np.sqrt(joint)[:, :, None]
    flat = rows.reshape(-1, rows.shape[2])
    return np.asarray(flat.T @ flat)


def _seen_square(joint: FloatArray, moved: FloatArray, mask: Mask, n_labels: int) -> FloatArray:
    """Sum of g g' / p(x, y_S) over everything seen."""
    n_inputs, d = len(joint), moved.shape[2]
    axes = (n_labels,) * len(mask)
    hidden = tuple(position + 1 for position, is_seen in enumerate(mask) if not is_seen)
    seen = joint.reshape(n_inputs, *axes).sum(axis=hidden).ravel()
    sums = moved.reshape(n_inputs, *axes, d).sum(axis=hidden).reshape(-1, d)
    # What is so improbable that a double cannot hold it counts nothing.
    roots = np.sqrt(np.divide(1.0, seen, out=np.zeros_like(seen), where=seen > 0))
    scaled = sums * roots[:, None]
    return np.asarray(scaled.T @ scaled)
