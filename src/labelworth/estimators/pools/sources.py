"""What takes the place of the truth in a simulation of rows: labels for the whole pool, from several sides."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.special import log_softmax

from labelworth.arrays import UNLABELED, FloatArray, IntArray
from labelworth.data.rows import Rows
from labelworth.data.samples import Samples
from labelworth.data.views import in_numbers
from labelworth.estimators.pools.documents import ClassLearner, ClassPrediction
from labelworth.progress import SILENT
from labelworth.simulation.jobs import run_jobs
from labelworth.simulation.learner import Learner, Prediction, Source, known_codes, own_sources

MIXTURE, NEIGHBORS = "mixture", "neighbors"
"""Classes as clusters of the pool, by EM; labels spread from neighbor to neighbor."""

_DOCUMENT_LENGTH = 20.0
_WORD_SMOOTHING = 0.1
_VECTOR_SMOOTHING = 0.1
_FEWEST_ROWS = 2
"""Columns that fewer rows have are left out of counts: they tell no two rows apart or together."""
_N_DIMENSIONS = 64
_N_MORE_DIMENSIONS = 10
_N_POWERS = 5
"""Dimensions beside those that are sought, and powers of the matrix, as scikit-learn's TruncatedSVD takes them."""
_N_NEIGHBORS = 10
_SPREADING = 0.9
"""How much a row believes its neighbors rather than its own label."""
_N_SPREADS = 30
_N_FOLDS = 5
_ENOUGH_ROWS = 4000
"""On so many rows the ways to read words are compared."""
_CHANCE = 1.5
"""Standard errors by which shares of classes may differ from those of the pilot."""


@dataclass(frozen=True, eq=False)
class View:
    """Rows in numbers, as sources look at them."""

    samples: Samples

    @classmethod
    def of(cls, samples: Samples) -> "View":
        """Vectors as they are; counts without the columns that one row alone has."""
        if not samples.is_sparse:
            return cls(samples)
        is_shared = np.bincount(samples.counts.indices, minlength=samples.n_features) >= _FEWEST_ROWS
        counts = samples.counts[:, is_shared] if is_shared.any() else samples.counts
        return cls(Samples(counts, samples.evidence))

    def _of_counts(self) -> FloatArray:
        """At most 64 columns in which near rows of counts are alike, of unit length."""
        from sklearn.feature_extraction.text import TfidfTransformer
        from sklearn.preprocessing import normalize
        from threadpoolctl import threadpool_limits

        weighted = TfidfTransformer(sublinear_tf=True).fit_transform(self.samples.counts)
        n = min(_N_DIMENSIONS, min(weighted.shape) - 1)
        if n < 1:
            return np.asarray(weighted.todense())
        # Matrices so narrow are not worth waking threads: on busy cores that takes three times as long.
        with threadpool_limits(1, user_api="blas"):
            return np.asarray(normalize(weighted @ _right_vectors(weighted, n), copy=False))

    @cached_property
    def _of_vectors(self) -> FloatArray:
        """At most 64 columns in which near vectors are alike, standardized."""
        from sklearn.decomposition import PCA
        from sklearn.preprocessing import StandardScaler

        varying = np.ptp(self.samples.vectors, axis=0) > 0
        scaled = StandardScaler().fit_transform(self.samples.vectors[:, varying])
        if min(scaled.shape) <= _N_DIMENSIONS:
            return np.asarray(scaled)
        return np.asarray(PCA(_N_DIMENSIONS, random_state=0).fit_transform(scaled))

    @cached_property
    def neighborhood(self) -> sp.csr_array:
        """Who is near whom, symmetric, divided by the square roots of the degrees."""
        from sklearn.neighbors import NearestNeighbors
        from threadpoolctl import threadpool_limits

        n = self.samples.n_samples
        k = min(_N_NEIGHBORS, n - 1)
        rows = self._of_counts() if self.samples.is_sparse else self._of_vectors
        # Which of several equally near rows are taken would follow the number of threads.
        with threadpool_limits(1, user_api="openmp"):
            near = NearestNeighbors(n_neighbors=k).fit(rows).kneighbors(return_distance=False)
        del rows
        links = sp.csr_array((np.ones(n * k), near.ravel(), np.arange(n + 1) * k), (n, n))
        links = sp.csr_array(links.maximum(links.T))
        roots = sp.diags_array(1 / np.sqrt(np.maximum(np.asarray(links.sum(axis=1)).ravel(), 1)))
        return sp.csr_array(roots @ links @ roots)

    @property
    def readings(self) -> tuple[Samples, ...]:
        """What the mixture may be of: words as they are or weighted by their rarity; or vectors in few dimensions.

        Long documents are shortened: they repeat themselves, and a mixture would be too sure of them.
        """
        from labelworth.data.counts import as_counts, document_lengths, inverse_document_weights, rescale_documents

        if not self.samples.is_sparse:
            return (Samples(self._of_vectors, self.samples.evidence),)
        counts = self.samples.counts
        weighted = as_counts(counts @ sp.diags_array(inverse_document_weights(counts)))
        lengths = (document_lengths(counts), document_lengths(weighted))
        # As many words as there were: weights alone would make all documents longer.
        kept = np.divide(lengths[0], lengths[1], out=np.zeros_like(lengths[0]), where=lengths[1] > 0)
        weighted = as_counts(sp.diags_array(kept) @ weighted)
        return tuple(
            Samples(rescale_documents(words, _DOCUMENT_LENGTH, only_longer=True), self.samples.evidence)
            for words in (counts, weighted)
        )

    def neighbors(self, codes: IntArray) -> ClassPrediction:
        """Labels spread over the neighborhood (Zhou et al. 2004)."""
        n_classes = self.samples.evidence.n_classes
        own = np.zeros((len(codes), n_classes))
        own[codes >= 0, codes[codes >= 0]] = 1.0
        spread = own.copy()
        for _ in range(_N_SPREADS):
            spread = _SPREADING * (self.neighborhood @ spread) + (1 - _SPREADING) * own
        # Rows that no label reaches: the shares of the classes.
        spread += 1e-9 * (own.sum(axis=0) + 0.5)
        return ClassPrediction(np.log(spread / spread.sum(axis=1, keepdims=True)))


def _right_vectors(matrix: Any, n: int) -> FloatArray:
    """Singular vectors of a sparse matrix, (n_columns, n), by random directions (Halko et al. 2011).

    The numbers of scikit-learn's `TruncatedSVD` but for their signs, on which distances do not depend, in less
    memory: steps are taken in place, and nothing is held that is not asked for again.
    """
    from scipy.linalg import lu, qr, svd

    is_turned = matrix.shape[0] < matrix.shape[1]
    tall = matrix.T if is_turned else matrix
    directions: Any = np.random.RandomState(0).normal(size=(tall.shape[1], n + _N_MORE_DIMENSIONS))
    for _ in range(_N_POWERS):
        for factor in (tall, tall.T):
            directions = factor @ directions
            directions = lu(directions, permute_l=True, overwrite_a=True, check_finite=False)[0]
    directions = tall @ directions
    directions = qr(directions, mode="economic", overwrite_a=True, check_finite=False)[0]
    left, _, right = svd(directions.T @ tall, full_matrices=False, overwrite_a=True)
    return np.asarray((directions @ left)[:, :n] if is_turned else right[:n].T)


def row_sources(learner: Learner[Any], rows: Rows, workers: int | None = 1) -> dict[str, Source]:
    """The learner's own fits, the mixture and the neighbors, all with class shares like the pilot's.

    Features that are not numbers have no mixture and no neighbors that anybody but the learner knows.
    """
    samples, codes = in_numbers(rows), known_codes(rows)

    def own() -> dict[str, Source]:
        fits = own_sources(learner, rows)
        return {
            name: Source(matched(source.prediction, codes), is_drawn=learner.is_joint and name == "semi-supervised")
            for name, source in fits.items()
        }

    views: list[Callable[[], dict[str, Source]]] = [own]
    if samples is not None:
        view = View.of(samples)
        views += [
            lambda: {MIXTURE: _mixture_source(view, codes)},
            lambda: {NEIGHBORS: Source(matched(view.neighbors(codes), codes), missed(view.neighbors, codes))},
        ]
    views_found = run_jobs(
        lambda look: look(), views, workers=workers, title="labels from all sides", progress=SILENT
    )
    return {name: source for sources in views_found for name, source in sources.items()}


def _mixture_source(view: View, codes: IntArray) -> Source:
    """The mixture that misses least of the pilot. Where rows abound it is chosen on a part of them, fitted to all."""
    order = np.concatenate(
        [np.flatnonzero(codes >= 0), np.random.default_rng(0).permutation(np.flatnonzero(codes < 0))]
    )
    part = np.sort(order[: max(_ENOUGH_ROWS, int((codes >= 0).sum()))])
    readings = view.readings
    errors = [missed(partial(_mixture, rows.take(part)), codes[part]) for rows in readings]
    least = int(np.argmin(errors))
    return Source(matched(_mixture(readings[least], codes), codes), errors[least], is_drawn=True)


def _mixture(rows: Samples, codes: IntArray) -> ClassPrediction:
    """Classes as clusters: naive Bayes on words, or Gaussian classes of one covariance, by EM from the labels."""
    from labelworth.models.classes.multinomial import MultinomialFamily

    known = Samples(rows.features, replace(rows.evidence, codes=codes, weights=np.empty((0, 0))))
    if rows.is_sparse:
        family: Any = MultinomialFamily.for_samples(known, smoothing=_WORD_SMOOTHING, class_smoothing=1.0)
    else:
        from labelworth.models.classes.gaussian import GaussianFamily

        family = GaussianFamily.for_samples(known, smoothing=_VECTOR_SMOOTHING, class_smoothing=1.0)
    learner: ClassLearner[Any] = ClassLearner(family)
    return learner.predict(learner.fit(known), known)


def missed(label: Callable[[IntArray], Prediction], codes: IntArray) -> float:
    """The share of the pilot's labels that a source misses when it is not shown them, fold by fold."""
    pilot = np.random.default_rng(0).permutation(np.flatnonzero(codes >= 0))
    wrong = 0
    for fold in range(_N_FOLDS):
        tested, shown = pilot[fold::_N_FOLDS], codes.copy()
        shown[tested] = UNLABELED
        if (shown >= 0).any():
            wrong += int((matched(label(shown), shown).best[tested] != codes[tested]).sum())
    return wrong / len(pilot)


def matched(prediction: Prediction, codes: IntArray) -> ClassPrediction:
    """The same prediction with log-odds moved until its classes have shares that the pilot does not contradict.

    A source that takes a rare class for a common one would simulate another task. What the pilot's own shares miss
    by chance is left alone: to follow it would turn right labels into wrong ones.
    """
    log_posteriors = prediction.log_posteriors(1.0)
    n_classes = log_posteriors.shape[1]
    known = np.bincount(codes[codes >= 0], minlength=n_classes)
    own = np.bincount(log_posteriors.argmax(axis=1), minlength=n_classes) / len(log_posteriors)
    shares = (known + 0.5) / (known.sum() + 0.5 * n_classes)
    gaps = shares - own
    chance = _CHANCE * np.sqrt(shares * (1 - shares) / max(known.sum(), 1))
    target = own + np.sign(gaps) * np.maximum(np.abs(gaps) - chance, 0.0)
    target /= target.sum()
    top = np.sort(log_posteriors, axis=1)[:, -2:]
    scale = max(1.0, float(np.median(top[:, 1] - top[:, 0])))
    offsets, least = np.zeros(n_classes), 0.5 / len(log_posteriors)
    for step in range(40):
        now = np.bincount((log_posteriors + offsets).argmax(axis=1), minlength=n_classes) / len(log_posteriors)
        offsets += scale / (1 + 0.2 * step) * np.log((target + least) / (now + least))
    return ClassPrediction(np.asarray(log_softmax(log_posteriors + offsets, axis=1)))
