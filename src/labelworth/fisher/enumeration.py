"""Exact information per rule of small models: sum over every input, every labeling and every set of positions."""

from collections.abc import Sequence

import numpy as np

from labelworth.arrays import FloatArray
from labelworth.channels.arm import Outcomes
from labelworth.fisher.dense import DenseInformation
from labelworth.fisher.population import Labelings, Mask, Population, RuleSet, RulesT


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
    size = d + len(rules.nuisance)
    matrices, missing = np.zeros((len(rules.specs), size, size)), np.zeros((d, d))
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
                square = _square(labelings.joint, moved, mask, population.n_classes, rules)
                matrices += wanted[:, None, None] * square
    if complete is not None:
        matrices[rules.everything, :d, :d] = complete
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
        nuisance=rules.nuisance,
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


def _square(joint: FloatArray, moved: FloatArray, mask: Mask, n_labels: int, rules: RuleSet) -> FloatArray:
    """Of what is seen, in the parameters of the model and those that rules bring, (d + p, d + p)."""
    if max(mask) > 1:
        return _answered_square(joint, moved, [_view(rules.asked[code]) for code in mask])
    square = _seen_square(joint, moved, mask, n_labels)
    return np.pad(square, (0, len(rules.nuisance))) if rules.nuisance else square


def _seen_square(joint: FloatArray, moved: FloatArray, mask: Mask, n_labels: int) -> FloatArray:
    """Sum of g g' / p(x, y_S) over everything seen."""
    n_inputs, d = len(joint), moved.shape[2]
    axes = (n_labels,) * len(mask)
    hidden = tuple(position + 1 for position, is_seen in enumerate(mask) if not is_seen)
    seen = joint.reshape(n_inputs, *axes).sum(axis=hidden).ravel()
    sums = moved.reshape(n_inputs, *axes, d).sum(axis=hidden).reshape(-1, d)
    return _weighed_square(seen, sums)


def _weighed_square(seen: FloatArray, sums: FloatArray) -> FloatArray:
    # What is so improbable that a double cannot hold it counts nothing.
    roots = np.sqrt(np.divide(1.0, seen, out=np.zeros_like(seen), where=seen > 0))
    scaled = sums * roots[:, None]
    return np.asarray(scaled.T @ scaled)


_View = tuple[FloatArray, FloatArray]
"""What can be seen of a position: its probability given the label, (A, K), and its scores, (A, K, p)."""


def _answered_square(joint: FloatArray, moved: FloatArray, views: Sequence[_View]) -> FloatArray:
    """The same where z was answered: of p(x, z) = sum_y p(x, y) prod_t L(z_t|y_t), in theta and the channels'."""
    n_inputs, d, (_, n_labels, p) = len(joint), moved.shape[2], views[0][1].shape
    axes = (n_inputs, *(n_labels,) * len(views))
    both = np.concatenate([joint[:, :, None], moved], axis=2).reshape(*axes, 1 + d)
    seen = _contracted(both, [likelihood for likelihood, _ in views]).reshape(-1, 1 + d)
    own = np.zeros((len(seen), p))
    for position, (likelihood, scores) in enumerate(views):
        if not scores.any():
            continue
        for parameter in range(p):
            tables = [table for table, _ in views]
            tables[position] = likelihood * scores[:, :, parameter]
            own[:, parameter] += _contracted(joint.reshape(*axes, 1), tables).ravel()
    return _weighed_square(seen[:, 0], np.concatenate([seen[:, 1:], own], axis=1))


def _view(answers: Outcomes) -> _View:
    if not answers.has_gold:
        return answers.likelihood, answers.scores
    n_labels = answers.likelihood.shape[1]
    likelihood = np.eye(n_labels)[:, None, :] * answers.likelihood
    return likelihood.reshape(-1, n_labels), np.tile(answers.scores, (n_labels, 1, 1))


def _contracted(values: FloatArray, tables: Sequence[FloatArray]) -> FloatArray:
    """Sum over the label of every position, axes 1 to m, against a table (A, K) each, which takes its place."""
    for position, table in enumerate(tables):
        values = np.moveaxis(np.tensordot(values, table, axes=(position + 1, 1)), -1, position + 1)
    return values
