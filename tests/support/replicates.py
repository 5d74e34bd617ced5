"""Many small experiments at once: draw documents, hide labels by coin, estimate by EM; nothing of the package."""

from dataclasses import dataclass

import numpy as np

from support.oracles import Enumeration

_SETTLED = 1e-12


@dataclass(frozen=True)
class Replicates:
    """Counts of what each experiment saw.

    Attributes
    ----------
    bags : array of shape (n_outcomes, V)
        Every document.
    labeled : array of shape (n_replicates, n_outcomes, K)
        How often each document was seen with each class.
    unlabeled : array of shape (n_replicates, n_outcomes)
        How often without.
    """

    bags: np.ndarray
    labeled: np.ndarray
    unlabeled: np.ndarray


def draw_replicates(
    oracle: Enumeration, n_samples: int, label_probabilities: np.ndarray, n_replicates: int, rng: np.random.Generator
) -> Replicates:
    """Draw `n_samples` documents per experiment; a document of class k shows its label with probability k's entry."""
    n_outcomes, n_classes = oracle.joint.shape
    cells = rng.multinomial(n_samples, oracle.joint.ravel() / oracle.joint.sum(), size=n_replicates)
    cells = cells.reshape(n_replicates, n_outcomes, n_classes)
    labeled = rng.binomial(cells, label_probabilities)
    return Replicates(oracle.outcomes, labeled.astype(float), (cells - labeled).sum(axis=2).astype(float))


def estimate(data: Replicates, start: np.ndarray | None = None, n_steps: int = 5000) -> np.ndarray:
    """Maximum likelihood by plain EM for all experiments at once; free coordinates, (n_replicates, d).

    Parameters
    ----------
    start : array of shape (n_replicates, n_outcomes, K), optional
        p(y | x) to begin with; that of the labels alone (with half a count added) when absent.
    """
    priors, words = _maximized(data.bags, data.labeled, 0.5)
    posterior = _posterior(data.bags, priors, words) if start is None else start
    for _ in range(n_steps):
        expected = data.labeled + data.unlabeled[:, :, None] * posterior
        priors, words = _maximized(data.bags, expected, 0.0)
        update = _posterior(data.bags, priors, words)
        settled = np.abs(update - posterior).max() < _SETTLED
        posterior = update
        if settled:
            break
    return np.concatenate([priors[:, :-1], words[:, :, :-1].reshape(len(words), -1)], axis=1)


def _maximized(bags: np.ndarray, weights: np.ndarray, extra: float) -> tuple[np.ndarray, np.ndarray]:
    classes = weights.sum(axis=1) + extra
    counts = np.einsum("rxk,xv->rkv", weights, bags) + extra
    return classes / classes.sum(axis=1, keepdims=True), counts / counts.sum(axis=2, keepdims=True)


def _posterior(bags: np.ndarray, priors: np.ndarray, words: np.ndarray) -> np.ndarray:
    with np.errstate(divide="ignore"):
        log_joint = np.einsum("xv,rkv->rxk", bags, np.log(words)) + np.log(priors)[:, None, :]
    joint = np.exp(log_joint - log_joint.max(axis=2, keepdims=True))
    return joint / joint.sum(axis=2, keepdims=True)
