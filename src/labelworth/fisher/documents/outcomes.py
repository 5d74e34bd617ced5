"""Every x a small model can produce, with its probability under each class."""

from dataclasses import dataclass
from math import comb

import numpy as np
import scipy.sparse as sp
from scipy.special import gammaln, softmax

from labelworth.arrays import UNLABELED, FloatArray, IntArray
from labelworth.data.evidence import Evidence
from labelworth.data.samples import Samples
from labelworth.errors import InvalidInputError
from labelworth.models.classes.multinomial import MultinomialModel
from labelworth.models.protocol import Model

OUTCOME_LIMIT = 2_000_000
"""How many distinct x are enumerated at most."""

_MASS_TOLERANCE = 1e-9


@dataclass(frozen=True)
class Outcomes:
    """All distinct x of a model."""

    samples: Samples  # Every x, unlabeled.
    # (n_outcomes, K): log p(x, y); of long documents p(x, y) itself may be too small for a double.
    log_joint: FloatArray

    @property
    def probabilities(self) -> FloatArray:
        return np.asarray(np.exp(self.log_joint).sum(axis=1))

    @property
    def posterior(self) -> FloatArray:
        """p(y | x), shape (n_outcomes, K)."""
        return np.asarray(softmax(self.log_joint, axis=1))


def n_outcomes(model: Model) -> int | None:
    """How many distinct x there are; None if they cannot be enumerated."""
    if isinstance(model, MultinomialModel):
        return sum(comb(int(length) + model.n_features - 1, model.n_features - 1) for length in model.lengths.lengths)
    if model.kind == "bernoulli":
        return 1 << model.n_features
    return None


def require_outcomes(model: Model) -> int:
    """How many distinct x there are; refuse infinitely many, or more than `OUTCOME_LIMIT`."""
    count = n_outcomes(model)
    if count is None:
        raise InvalidInputError(f"A {model.kind} model has no finite set of outcomes; use method='sampling'.")
    if count > OUTCOME_LIMIT:
        raise InvalidInputError(
            f"There are {count:.3g} distinct samples to enumerate; at most {OUTCOME_LIMIT} are. Use "
            "method='formula' for two classes of documents, else method='sampling'."
        )
    return count


def enumerate_outcomes(model: Model) -> Outcomes:
    """Every x: all bags of words of each length (multinomial), all binary vectors (Bernoulli).

    Raises
    ------
    InvalidInputError
        If there are more than `OUTCOME_LIMIT`, or infinitely many.
    """
    count = require_outcomes(model)
    if isinstance(model, MultinomialModel):
        features, log_multiplicity = _all_bags(model)
    else:
        bits = (np.arange(count)[:, None] >> np.arange(model.n_features)[::-1]) & 1
        features, log_multiplicity = bits.astype(np.float64), np.zeros(count)
    samples = Samples(sp.csr_array(features), Evidence(np.full(count, UNLABELED), model.classes))
    outcomes = Outcomes(samples, model.log_joint(samples) + log_multiplicity[:, None])
    mass = float(outcomes.probabilities.sum())
    # Only a fault in the enumeration itself can bring this about; logarithms of many ways are rounded.
    rounding = 8 * np.finfo(np.float64).eps * float(np.max(np.abs(outcomes.log_joint), initial=0.0))
    if abs(mass - 1) > _MASS_TOLERANCE + rounding:
        raise ArithmeticError(f"The enumerated outcomes of a {model.kind} model have probability {mass!r}, not 1.")
    return outcomes


def _all_bags(model: MultinomialModel) -> tuple[FloatArray, FloatArray]:
    """Counts (n, V) of every bag of every length, and log q(m) plus the log multinomial coefficient."""
    bags, log_multiplicity = [], []
    for length, probability in model.lengths.items():
        counts = bags_of_words(length, model.n_features).astype(np.float64)
        bags.append(counts)
        log_multiplicity.append(np.log(probability) + gammaln(length + 1) - gammaln(counts + 1).sum(axis=1))
    return np.concatenate(bags), np.concatenate(log_multiplicity)


def bags_of_words(length: int, n_words: int) -> IntArray:
    """Every way of spreading `length` tokens over the words, one per row.

    Examples
    --------
    >>> bags_of_words(2, 2).tolist()
    [[0, 2], [1, 1], [2, 0]]
    """
    columns: list[IntArray] = []
    left = np.array([length])
    for _ in range(n_words - 1):
        choices = left + 1
        parent = np.repeat(np.arange(len(left)), choices)
        first = np.cumsum(choices) - choices
        taken = np.arange(len(parent)) - first[parent]
        columns = [*(column[parent] for column in columns), taken]
        left = left[parent] - taken
    return np.stack([*columns, left], axis=1)
