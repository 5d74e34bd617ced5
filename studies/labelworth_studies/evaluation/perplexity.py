"""Log-perplexity: how surprised a model is by sequences whose labels are known."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from labelworth.arrays import FloatArray, IntArray
from labelworth.data.sequences import Sequences
from labelworth.errors import InvalidInputError
from labelworth.models.chains.protocol import ChainModel, Reference


@dataclass(frozen=True)
class LogPerplexity:
    """The mean of -log p, in nats; smaller is better."""

    per_sequence: float  # The mean over sequences, and its standard error; infinite if the model rules one out.
    per_sequence_se: float
    # The sum over sequences divided by the number of their tokens, and the standard error of this ratio.
    per_token: float
    per_token_se: float
    n_sequences: int
    n_tokens: int


@dataclass(frozen=True)
class ModelLogPerplexity:
    """The two of a model."""

    # Of words and labels, -log p(x, y); None for a conditional model, which knows nothing of words.
    joint: LogPerplexity | None
    conditional: LogPerplexity  # Of the labels given the words, -log p(y | x).


def log_perplexity(log_probabilities: ArrayLike, lengths: IntArray) -> LogPerplexity:
    r"""Average log-probabilities of sequences.

    Per sequence :math:`-\frac1n \sum_i \ell_i`, per token :math:`r = -\sum_i \ell_i / \sum_i m_i`, with the
    standard error :math:`\sqrt{\tfrac{n}{n-1}\sum_i (-\ell_i - r m_i)^2} / \sum_i m_i` of a ratio.

    Parameters
    ----------
    log_probabilities : array of shape (n_sequences,)
        :math:`\ell_i`, log p(x, y) or log p(y | x); minus infinity where the model rules a sequence out.
    lengths : integer array of shape (n_sequences,)
        :math:`m_i`.

    Examples
    --------
    >>> scores = log_perplexity(np.log([0.5, 0.125]), np.array([1, 3]))
    >>> round(scores.per_sequence, 4), round(scores.per_token, 4), round(scores.per_token_se, 4)
    (1.3863, 0.6931, 0.0)
    """
    losses = -np.asarray(log_probabilities, dtype=np.float64)
    if losses.ndim != 1 or losses.shape != np.shape(lengths) or not losses.size:
        raise InvalidInputError(
            f"There must be one log-probability per sequence, and a sequence. Got shape {losses.shape} "
            f"and {np.size(lengths)} length(s)."
        )
    if np.isnan(losses).any() or (losses == -np.inf).any():
        raise InvalidInputError("Log-probabilities must be numbers or minus infinity.")
    n, n_tokens = len(losses), int(np.sum(lengths))
    per_token = float(losses.sum() / n_tokens)
    return LogPerplexity(
        float(losses.mean()),
        _spread(losses, float(losses.mean())) / n,
        per_token,
        _spread(losses, per_token * np.asarray(lengths)) / n_tokens,
        n,
        n_tokens,
    )


def evaluate_log_perplexity(model: ChainModel, sequences: Sequences) -> ModelLogPerplexity:
    """The log-perplexities of a model on sequences whose labels are all known.

    log p(y | x) is the difference of two runs of the recursion, with the labels and without.

    Raises
    ------
    InvalidInputError
        If a label is not known.
    """
    require_gold(sequences)
    with_labels = model.log_evidence(sequences)
    if model.reference is Reference.LABELS:
        return ModelLogPerplexity(None, log_perplexity(with_labels, sequences.lengths))
    without = model.log_evidence(sequences.hide())
    # Where the words alone are ruled out so are the labels: p(y | x) is not defined, and no credit is given.
    with np.errstate(invalid="ignore"):
        conditional = np.where(np.isneginf(without), -np.inf, with_labels - without)
    return ModelLogPerplexity(
        log_perplexity(with_labels, sequences.lengths), log_perplexity(conditional, sequences.lengths)
    )


def require_gold(sequences: Sequences) -> None:
    """Refuse sequences with labels that are not known."""
    n_unknown = int((~sequences.evidence.is_gold).sum())
    if n_unknown:
        raise InvalidInputError(
            f"Only sequences whose labels are all known can be evaluated; {n_unknown} of {sequences.n_tokens} tokens "
            "have no label, or several candidates. Leave those sequences out with `take`."
        )


def _spread(losses: FloatArray, center: Any) -> float:
    """The standard error of the sum; not a number for a single sequence, infinite with an infinite loss."""
    n = len(losses)
    if n < 2:
        return float("nan")
    if not np.isfinite(losses).all():
        return float("inf")
    return float(np.sqrt(n / (n - 1) * ((losses - center) ** 2).sum()))
