"""Were the labels drawn at random? Labeled samples are held against the others, by permutation."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from scipy.special import gammaln

from labelworth.arrays import BoolArray, FloatArray, IntArray
from labelworth.data.samples import Samples
from labelworth.data.sequences import Sequences

FALSE_ALARM_RATE = 0.01
"""How often labels that were drawn at random are said not to be."""
_N_TESTS = 3
_N_PERMUTATIONS = 999
_MOST_FEATURES = 200
_MOST_ROWS = 4000
_FEWEST = 5  # in either group: below it nothing can be said


@dataclass(frozen=True)
class Randomness:
    """What a comparison of labeled and unlabeled samples found."""

    # By test: the size of samples, the features, and how evenly classes are labeled. For the last it is a bound
    # on the probability, whatever the shares of the classes.
    p_values: dict[str, float]

    @property
    def suspicious(self) -> tuple[str, ...]:
        """The tests that labels drawn at random would pass, all together with probability 0.99."""
        return tuple(name for name, value in self.p_values.items() if value <= FALSE_ALARM_RATE / _N_TESTS)

    def words(self) -> str:
        if not self.p_values:
            return "There is too little to tell whether the labels were drawn at random."
        if not self.suspicious:
            return "Nothing suggests that the labels held were not drawn at random."
        tests = "; ".join(f"{name} (p = {self.p_values[name]:.2g})" for name in self.suspicious)
        return (
            f"The labels held do not look drawn at random: {tests}. Forecasts take them for a random draw; draw the "
            f"next batch with `labelworth next`. Labels drawn at random are suspected with probability "
            f"{FALSE_ALARM_RATE:g} at most."
        )


def randomness(data: Samples | Sequences | None, seed: int) -> Randomness:
    """Compare the labeled samples with the others.

    Parameters
    ----------
    data : Samples, Sequences or None
        A sequence counts as labeled if one of its tokens is. None: features that are not numbers, nothing is tested.
    seed : int
        Of the permutations.

    Notes
    -----
    Under a random draw every set of that size is as probable as any other, so the tests of sizes and features are
    exact: the share of permutations with a statistic as large. Labels chosen by their class alone leave both alone
    where classes look alike; equally many of each, to the last one, gives that away: whatever the shares of the
    classes, n labels fall so with probability at most :math:`n! / ((n/K)!)^K K^{-n}`.
    """
    if data is None:
        return Randomness({})
    rng = np.random.default_rng([seed, 7])
    labeled = data.is_labeled
    p_values: dict[str, float] = {}
    if min(labeled.sum(), (~labeled).sum()) >= _FEWEST:
        rows = _few(labeled, rng)
        chosen: Samples | Sequences = data.take(rows)
        sizes, features = _sizes(chosen), _features(chosen)
        draws = _draws(labeled[rows], rng)
        p_values["labeled samples differ in size"] = _p_value(sp.csr_array(sizes[:, None]), draws)
        p_values["labeled samples differ in their features"] = _p_value(features, draws)
    counts = data.evidence.label_counts()
    if isinstance(data, Samples) and len(counts) > 1 and counts.sum() > 0:
        p_values["equally many labels of every class"] = _evenness(counts)
    return Randomness(p_values)


def _few(labeled: BoolArray, rng: np.random.Generator) -> IntArray:
    """At most 4,000 of either group: a random part of a random draw is one."""
    parts = [rng.permutation(np.flatnonzero(group))[:_MOST_ROWS] for group in (labeled, ~labeled)]
    return np.sort(np.concatenate(parts))


def _sizes(data: Samples | Sequences) -> FloatArray:
    if isinstance(data, Sequences):
        return np.log(data.lengths.astype(np.float64))
    if data.is_sparse:
        return np.log1p(data.row_sums())
    return np.asarray(np.linalg.norm(data.vectors, axis=1))


def _features(data: Samples | Sequences) -> sp.csr_array:
    """Presence of the most frequent words, or vectors as they are."""
    if isinstance(data, Samples) and not data.is_sparse:
        return sp.csr_array(data.vectors)
    if isinstance(data, Samples):
        present = data.counts.sign()
    else:
        sequence = np.repeat(np.arange(data.n_sequences), data.lengths)
        belongs = sp.csr_array((np.ones(data.n_tokens), (sequence, np.arange(data.n_tokens))))
        present = (belongs @ data.attributes).sign()
    frequent = np.argsort(-np.asarray(present.sum(axis=0)).ravel(), kind="stable")[:_MOST_FEATURES]
    return sp.csr_array(sp.csr_array(present)[:, frequent])


def _draws(labeled: BoolArray, rng: np.random.Generator) -> sp.csr_array:
    """The labeled rows and 999 other sets as large, each as a row of ones."""
    n_rows, size = len(labeled), int(labeled.sum())
    sets: Sequence[IntArray] = [
        np.flatnonzero(labeled),
        *(rng.choice(n_rows, size=size, replace=False) for _ in range(_N_PERMUTATIONS)),
    ]
    starts = np.arange(len(sets) + 1) * size
    return sp.csr_array((np.ones(len(sets) * size), np.concatenate(sets), starts), (len(sets), n_rows))


def _p_value(features: sp.csr_array, draws: sp.csr_array) -> float:
    """How often another set departs as far from the mean of all, squares summed over standardized features."""
    n_rows = features.shape[0]
    means = np.asarray(features.sum(axis=0)).ravel() / n_rows
    squares = np.asarray(features.power(2).sum(axis=0)).ravel() / n_rows
    spread = squares - means**2
    varied = spread > 1e-12 * np.maximum(squares, 1e-300)
    if not varied.any():
        return 1.0
    size = draws.indptr[1]
    sums = np.asarray((draws @ features[:, np.flatnonzero(varied)]).todense())
    departures = np.square(sums / size - means[varied]) @ (1 / spread[varied])
    # Ties are as far: equal sums in another order differ by rounding.
    return float((departures >= departures[0] * (1 - 1e-9)).mean())


def _evenness(counts: IntArray) -> float:
    """A bound on the probability that classes share the labels evenly; 1 if they do not."""
    total, each = int(counts.sum()), int(counts[0])
    if (counts != each).any():
        return 1.0
    log_bound = gammaln(total + 1) - len(counts) * gammaln(each + 1) - total * np.log(len(counts))
    return float(np.exp(log_bound))
