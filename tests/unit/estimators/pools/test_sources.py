"""Where simulated labels come from."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from scipy.stats import binom
from sklearn.decomposition import TruncatedSVD
from threadpoolctl import threadpool_limits

from labelworth.data.evidence import Evidence
from labelworth.data.rows import Rows
from labelworth.data.samples import Samples
from labelworth.data.views import in_numbers
from labelworth.estimators.pools.any_rows import AnyLearner
from labelworth.estimators.pools.documents import ClassLearner, ClassPrediction
from labelworth.estimators.pools.sources import MIXTURE, NEIGHBORS, View, _right_vectors, matched
from labelworth.models.classes.multinomial import MultinomialFamily
from labelworth.simulation.basis import forecast_basis, sources_of
from labelworth.simulation.forecast import forecast

N, N_LABELED = 600, 60
CLASSES = ("a", "b", "c")


def clusters(rng: np.random.Generator, kind: str) -> tuple[object, np.ndarray]:
    """Three clusters that are the classes, as counts of words or as vectors."""
    classes = rng.integers(3, size=N)
    if kind == "vectors":
        return rng.standard_normal((N, 4)) + 4 * np.eye(3, 4)[classes], classes
    emission = 0.7 * np.repeat(np.eye(3), 10, axis=1) / 10 + 0.3 / 30
    return sp.csr_array(np.stack([rng.multinomial(15, emission[k]) for k in classes]).astype(float)), classes


def shown(features: object, classes: np.ndarray) -> Rows:
    return Rows(features, Evidence(np.where(np.arange(N) < N_LABELED, classes, -1), CLASSES))


@pytest.mark.parametrize("kind", ["counts", "vectors"])
def test_mixture_and_neighbors_label_clusters_as_their_few_labels_say(kind: str) -> None:
    from sklearn.linear_model import LogisticRegression

    features, classes = clusters(np.random.default_rng(0), kind)
    learner = AnyLearner(LogisticRegression(), mode="labels-only", modes=("labels-only",))
    sources = sources_of(learner, shown(features, classes))
    assert list(sources) == ["labels-only", MIXTURE, NEIGHBORS]
    for name in (MIXTURE, NEIGHBORS):
        assert (sources[name].prediction.best == classes).mean() > 0.95
        assert sources[name].error < 0.1
    # Negative control: labels that do not follow the clusters are missed when they are held out.
    shuffled = np.random.default_rng(1).permutation(classes)
    others = sources_of(learner, shown(features, shuffled))
    assert min(others[name].error for name in (MIXTURE, NEIGHBORS)) > 0.4


def test_of_equally_near_rows_the_same_are_neighbors_whatever_the_number_of_threads() -> None:
    rng = np.random.default_rng(0)
    repeated = rng.standard_normal((150, 30))[rng.integers(150, size=1500)]
    rows = Samples(repeated, Evidence(np.full(1500, -1), CLASSES))

    def neighborhood(threads: int) -> sp.csr_array:
        with threadpool_limits(threads, user_api="openmp"):
            return View.of(rows).neighborhood

    assert (neighborhood(1) != neighborhood(2)).nnz == 0


def test_sources_are_the_same_bits_whatever_the_number_of_workers() -> None:
    from sklearn.linear_model import LogisticRegression

    learner = AnyLearner(LogisticRegression(), mode="labels-only", modes=("labels-only",))
    rows = shown(*clusters(np.random.default_rng(0), "counts"))
    alone, together = (sources_of(learner, rows, workers) for workers in (1, 3))
    assert list(alone) == list(together)
    for name in alone:
        assert alone[name].error == together[name].error
        np.testing.assert_array_equal(
            alone[name].prediction.log_posteriors(1.0), together[name].prediction.log_posteriors(1.0)
        )


def test_a_word_of_one_text_is_not_looked_at() -> None:
    features, classes = clusters(np.random.default_rng(0), "counts")
    evidence = shown(features, classes).evidence
    once = sp.csr_array(np.eye(N, 5))
    plain, more = (View.of(Samples(x, evidence)) for x in (features, sp.hstack([features, once], format="csr")))
    np.testing.assert_array_equal(more.samples.counts.toarray(), features.toarray())
    for reading, same in zip(more.readings, plain.readings, strict=True):
        np.testing.assert_array_equal(reading.counts.toarray(), same.counts.toarray())
    # Where every word stands in one text alone, all are looked at.
    assert View.of(Samples(sp.csr_array(np.eye(N)), evidence)).samples.n_features == N


def test_what_only_the_learner_reads_has_no_other_source() -> None:
    from sklearn.dummy import DummyClassifier

    rows = Rows([{"a": 1}] * 20, Evidence(np.array([0, 1] * 10), ("x", "y")))
    learner = AnyLearner(DummyClassifier(), mode="labels-only", modes=("labels-only",))
    assert list(sources_of(learner, rows)) == ["labels-only"]


def test_shares_are_moved_only_where_chance_does_not_explain_the_gap() -> None:
    rng = np.random.default_rng(0)
    scores = rng.standard_normal(2000)
    codes = np.full(2000, -1)
    codes[:100] = np.arange(100) < 13
    taken_for_common = ClassPrediction(np.column_stack([np.zeros(2000), scores + 0.25]))
    before, after = (
        (prediction.best == 1).mean() for prediction in (taken_for_common, matched(taken_for_common, codes))
    )
    chance = 1.5 * np.sqrt(0.134 * 0.866 / 100)
    assert before > 0.5
    assert after == pytest.approx(0.134 + chance, abs=0.02)
    # A prediction within chance of the pilot keeps every label.
    codes[:100] = np.arange(100) < 57
    np.testing.assert_array_equal(matched(taken_for_common, codes).best, taken_for_common.best)


def test_rows_of_any_form_in_numbers() -> None:
    evidence = Evidence(np.array([0, 1, -1]), ("x", "y"))
    texts = in_numbers(Rows(["red fox", "red hen", "blue hen"], evidence))
    assert texts is not None
    np.testing.assert_array_equal(np.asarray(texts.counts.sum(axis=0)).ravel(), [2, 2])
    frame = in_numbers(Rows(pd.DataFrame({"a": [1.0, np.nan, 3.0], "b": [1, 2, 3]}), evidence))
    assert frame is not None
    np.testing.assert_array_equal(frame.vectors, [[1, 1], [2, 2], [3, 3]])
    words = in_numbers(Rows(pd.DataFrame({"a": ["red", "red", "blue"], "b": [10, 10, 20]}), evidence))
    assert words is not None
    assert words.is_sparse
    assert in_numbers(Rows(sp.csr_array(np.array([[1.0], [-1.0], [0.0]])), evidence)) is None
    assert in_numbers(Rows([{"a": 1}, {"a": 2}, {"a": 3}], evidence)) is None
    samples = Samples(np.eye(3), evidence)
    assert in_numbers(samples) is samples


def test_words_are_read_as_they_are_and_by_their_rarity_long_documents_shortened() -> None:
    """By hand: document 0 has 40 words and is halved; word 2 is in every document and weighs nothing by rarity."""
    counts = np.array([[30.0, 0, 10], [0, 3, 1], [2, 0, 2]])
    plain, weighted = View(Samples(sp.csr_array(counts), Evidence(np.array([0, 1, -1]), ("a", "b")))).readings
    np.testing.assert_allclose(plain.counts.toarray(), [[15, 0, 5], [0, 3, 1], [2, 0, 2]])
    np.testing.assert_allclose(weighted.counts.toarray(), [[20, 0, 0], [0, 4, 0], [4, 0, 0]])


def overlapping(n_words: int) -> tuple[Samples, np.ndarray, float]:
    """Two classes over two kinds of words, with labels drawn by the classes; and the Bayes error, enumerated."""
    rng = np.random.default_rng(3)
    classes = rng.integers(2, size=2000)
    p = np.array([0.3, 0.7])
    first = rng.binomial(n_words, p[classes])
    k = np.arange(n_words + 1)
    odds = [binom.pmf(k, n_words, share) / 2 for share in p]
    codes = np.where(np.arange(2000) < 200, classes, -1)
    counts = sp.csr_array(np.column_stack([first, n_words - first]).astype(float))
    return Samples(counts, Evidence(codes, ("a", "b"))), classes, float(np.minimum(*odds).sum())


def test_labels_are_drawn_where_classes_overlap_and_not_where_the_pilot_contradicts_it() -> None:
    samples, _, bayes = overlapping(5)
    learner = ClassLearner(MultinomialFamily.for_samples(samples, smoothing=1.0, class_smoothing=1.0))
    noisy = forecast_basis(learner, samples, 400)
    # The mixture finds the overlap itself: 2000 documents give its parameters to about one percent.
    assert noisy.source_overlaps[MIXTURE, "error"] == pytest.approx(bayes, abs=0.03)
    assert not sources_of(learner, samples)[NEIGHBORS].is_drawn
    # The same words with labels that follow from them: what the mixture says of its overlap is contradicted.
    by_words = (samples.counts.toarray()[:, 0] > 2.5).astype(int)
    codes = np.where(np.arange(2000) < 200, by_words, -1)
    sharp = forecast_basis(learner, Samples(samples.counts, Evidence(codes, ("a", "b"))), 400)
    assert sharp.source_overlaps[MIXTURE, "error"] < 0.01
    assert forecast(sharp, "labels-only", "error", [400]).values[0] < 0.03 < bayes


@pytest.mark.parametrize("shape", [(120, 300), (300, 120)])
def test_singular_vectors_are_those_of_scikit_learn_but_for_signs(shape: tuple[int, int]) -> None:
    matrix = sp.csr_array(np.random.default_rng(1).poisson(0.1, shape).astype(np.float64))
    n = 64
    own = matrix @ _right_vectors(matrix, n)
    theirs = TruncatedSVD(n, random_state=0).fit_transform(matrix)
    np.testing.assert_allclose(np.abs(own), np.abs(theirs), rtol=1e-9, atol=1e-12)
    # Other random directions end elsewhere: what is compared is not the same of any.
    assert np.abs(np.abs(TruncatedSVD(n, random_state=1).fit_transform(matrix)) - np.abs(own)).max() > 1e-6
