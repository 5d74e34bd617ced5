"""Many experiments with partly labeled sequences: draw, hide by a policy, estimate. Nothing of the package."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from support.chain_oracle import ChainOracle, rule_outcomes

_SETTLED = 1e-10


@dataclass(frozen=True)
class Seen:
    """What sequences of one length show at one set of positions.

    Attributes
    ----------
    length : int
    membership : array of shape (K^m, n_seen)
        Which labelings show the same labels.
    counts : array of shape (n_replicates, V^m, n_seen)
        How often each experiment saw what.
    """

    length: int
    membership: np.ndarray
    counts: np.ndarray


def draw_seen(
    oracle: ChainOracle, policy: Mapping[str, float], n_samples: int, n_replicates: int, rng: np.random.Generator
) -> list[Seen]:
    """Draw `n_samples` sequences per experiment, each labeled by a rule of its own."""
    cells = [
        (length, mask, share * weight * probability)
        for length, share in oracle.lengths.items()
        for rule, weight in policy.items()
        for probability, mask in rule_outcomes(rule, length)
    ]
    sizes = rng.multinomial(n_samples, [probability for _, _, probability in cells], size=n_replicates)
    seen = []
    for (length, mask, _), size in zip(cells, sizes.T, strict=True):
        labels = oracle.labels_of(length)[:, np.flatnonzero(mask)]
        group = np.unique(labels, axis=0, return_inverse=True)[1].ravel() if any(mask) else np.zeros(len(labels), int)
        membership = np.eye(group.max() + 1)[group]
        table = oracle.joint_at(oracle.theta, length) @ membership
        counts = rng.multinomial(size, table.ravel() / table.sum()).reshape(n_replicates, *table.shape)
        seen.append(Seen(length, membership, counts.astype(float)))
    return seen


def features(oracle: ChainOracle, length: int) -> np.ndarray:
    """How often every (x, y) uses every named entry, (V^m, K^m, n_named)."""
    words, labels = oracle.words_of(length), oracle.labels_of(length)
    n_labels, n_words = oracle.n_labels, oracle.n_words
    parts = []
    if "start" in oracle.tables:
        first = np.eye(n_labels)[labels[:, 0]]
        parts.append(np.broadcast_to(first, (len(words), *first.shape)))
    pairs = sum(
        (np.eye(n_labels**2)[labels[:, place - 1] * n_labels + labels[:, place]] for place in range(1, length)),
        np.zeros((len(labels), n_labels**2)),
    )
    parts.append(np.broadcast_to(pairs, (len(words), *pairs.shape)))
    beside = labels[None, :, :] * n_words + words[:, None, :]
    parts.append(np.eye(n_labels * n_words)[beside].sum(axis=2))
    return np.concatenate(parts, axis=2)


def estimate(oracle: ChainOracle, data: list[Seen], start: np.ndarray, n_steps: int = 200) -> np.ndarray:
    """Maximum likelihood by Fisher scoring for all experiments at once; free coordinates, (n_replicates, d).

    Parameters
    ----------
    start : array of shape (n_replicates, d)
        Where each experiment begins.
    """
    used = {length: features(oracle, length) for length in {item.length for item in data}}
    theta = start.copy()
    for _ in range(n_steps):
        score, information = _moments(oracle, data, used, theta)
        step = np.einsum("rab,rb->ra", np.linalg.pinv(information, rcond=1e-9, hermitian=True), score)
        theta += _feasible(oracle, theta, step)[:, None] * step
        if np.abs(step).max() < _SETTLED:
            break
    return theta


def _named(oracle: ChainOracle, theta: np.ndarray) -> np.ndarray:
    if oracle.kind != "hidden-markov":
        return theta
    rows, place = [], 0
    for size in oracle.row_sizes:
        head = theta[:, place : place + size - 1]
        rows.append(np.concatenate([head, 1 - head.sum(axis=1, keepdims=True)], axis=1))
        place += size - 1
    return np.concatenate(rows, axis=1)


def _moments(
    oracle: ChainOracle, data: list[Seen], used: dict[int, np.ndarray], theta: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The score of every experiment, and the information of as many sequences of the same kinds."""
    named = _named(oracle, theta)
    is_probability = oracle.kind == "hidden-markov"
    log_weights = np.log(named) if is_probability else named
    n_replicates, d = theta.shape
    score, information = np.zeros((n_replicates, d)), np.zeros((n_replicates, d, d))
    for length, entries in used.items():
        joint = np.exp(np.einsum("xyf,rf->rxy", entries, log_weights))
        if not is_probability:
            joint /= joint.sum(axis=(1, 2), keepdims=True)
        mean = np.einsum("rxy,xyf->rf", joint, entries)
        for item in data:
            if item.length != length:
                continue
            seen = joint @ item.membership
            moved = np.einsum("rxy,ys,xyf->rxsf", joint, item.membership, entries, optimize=True) / seen[..., None]
            scores = moved / named[:, None, None, :] if is_probability else moved - mean[:, None, None, :]
            scores = scores @ oracle.jacobian
            score += np.einsum("rxs,rxsd->rd", item.counts, scores)
            size = item.counts.sum(axis=(1, 2))
            information += np.einsum("rxs,rxsa,rxsb->rab", size[:, None, None] * seen, scores, scores, optimize=True)
    return score, information


def _feasible(oracle: ChainOracle, theta: np.ndarray, step: np.ndarray) -> np.ndarray:
    """The largest share of each step, up to one, that leaves half of every probability, or moves no weight by two."""
    if oracle.kind != "hidden-markov":
        return 1 / np.maximum(1.0, np.abs(step).max(axis=1) / 2)
    named, change = _named(oracle, theta), step @ oracle.jacobian.T
    return 1 / np.maximum(1.0, (-2 * change / named).max(axis=1))
