"""Words of the same counts in every document, fitted as one."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from labelworth.data.evidence import Evidence
from labelworth.data.lengths import LengthDistribution
from labelworth.data.samples import Samples
from labelworth.estimation.fit import fit
from labelworth.models.classes import alike_words
from labelworth.models.classes.alike_words import AlikeWords
from labelworth.models.classes.multinomial import MultinomialFamily

CLASSES = ("a", "b", "c")


def documents(n_alike: int = 30, seed: int = 0, *, whole: bool = True) -> Samples:
    """60 documents, a third of them labeled; some words nobody has, and many are in one document."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(3, size=60)
    probabilities = rng.dirichlet(np.full(12, 0.5), size=3)
    counts = np.array([rng.multinomial(20, probabilities[code]) for code in codes]).astype(float)
    if not whole:
        counts *= rng.uniform(0.5, 2.0, size=(60, 1))
    owners = rng.integers(8, size=n_alike)
    rare = np.zeros((60, n_alike))
    rare[owners, np.arange(n_alike)] = rng.integers(1, 3, size=n_alike)
    table = np.hstack([counts, counts[:, :2], rare, np.zeros((60, 5))])[:, rng.permutation(19 + n_alike)]
    shown = np.where(np.arange(60) < 20, codes, -1)
    shown[20] = -2
    return Samples(sp.csr_array(table), Evidence(shown, CLASSES, np.array([[1.0, 1.0, 0.0]])))


@pytest.mark.filterwarnings("ignore::labelworth.errors.DidNotConvergeWarning")
@pytest.mark.parametrize("smoothing", [0.1, 1.0])
@pytest.mark.parametrize("accelerated", [True, False])
@pytest.mark.parametrize("whole", [True, False])
def test_every_step_of_em_is_that_of_the_words_apart(smoothing: float, accelerated: bool, whole: bool) -> None:
    samples = documents(whole=whole)
    family = MultinomialFamily.for_samples(samples, smoothing=smoothing, class_smoothing=0.5)
    alike = AlikeWords.of(family, samples)
    assert alike is not None
    assert alike.samples.n_features < samples.n_features - 10
    constant = None
    for n_steps in (1, 2, 3, 5):
        options: dict[str, Any] = {"max_iterations": n_steps, "tolerance": 1e-12, "accelerated": accelerated}
        apart, together = fit(family, samples, **options), fit(alike.family, alike.samples, **options)
        model = alike.apart(together.model)
        np.testing.assert_allclose(model.word_probabilities, apart.model.word_probabilities, rtol=1e-9)
        np.testing.assert_allclose(model.class_probabilities, apart.model.class_probabilities, rtol=1e-9)
        assert together.n_evaluations == apart.n_evaluations
        differences = together.objective_path - apart.objective_path
        constant = differences[0] if constant is None else constant
        np.testing.assert_allclose(differences, constant, atol=1e-7)


def test_a_prior_that_counts_a_group_once_is_another() -> None:
    """Negative control: the sizes of groups matter."""
    samples = documents()
    family = MultinomialFamily.for_samples(samples)
    alike = AlikeWords.of(family, samples)
    assert alike is not None
    wrong = replace(alike.family, sizes=np.ones(alike.samples.n_features))
    apart, together = fit(family, samples).model, fit(wrong, alike.samples).model
    assert np.abs(alike.apart(together).word_probabilities / apart.word_probabilities - 1).max() > 0.01


def test_without_smoothing_a_class_of_empty_documents_has_all_words_alike() -> None:
    samples = Samples(
        sp.csr_array([[1.0, 0, 0, 2], [3.0, 0, 0, 0], [0, 0, 0, 0]]), Evidence(np.array([0, 0, 1]), CLASSES[:2])
    )
    family = MultinomialFamily(CLASSES[:2], 4, smoothing=0.0, lengths=LengthDistribution.single(3))
    alike = AlikeWords.of(family, samples)
    assert alike is not None
    model = alike.apart(fit(alike.family, alike.samples).model)
    np.testing.assert_allclose(model.word_probabilities, [[4 / 6, 0, 0, 2 / 6], [0.25] * 4])


def test_names_of_words_come_back() -> None:
    samples = replace(documents(), feature_names=tuple(f"w{number}" for number in range(49)))
    alike = AlikeWords.of(MultinomialFamily.for_samples(samples), samples)
    assert alike is not None
    assert alike.apart(fit(alike.family, alike.samples).model).feature_names == samples.feature_names


def test_words_that_all_differ_and_vectors_are_left_alone() -> None:
    samples = Samples(sp.csr_array([[1.0, 2.0], [1.0, 0.0]]), Evidence(np.array([0, 1]), CLASSES[:2]))
    family = MultinomialFamily.for_samples(samples)
    assert AlikeWords.of(family, samples) is None
    assert AlikeWords.of(family, replace(samples, features=np.eye(2))) is None


def test_words_that_only_seem_alike_are_not_merged(monkeypatch: pytest.MonkeyPatch) -> None:
    """Marks that collide are seen: words in the same number of documents, in others or with other counts."""
    samples = documents()
    family = MultinomialFamily.for_samples(samples)
    for table in ([[1.0, 0.0], [0.0, 1.0]], [[1.0, 2.0], [1.0, 1.0]], [[1.0, 1.0], [1.0, 0.0]]):
        counts = sp.csr_array(table)
        merged = (np.zeros(2, dtype=np.int64), np.zeros(1, dtype=np.int64), np.full(1, 2))
        monkeypatch.setattr(alike_words, "_groups", lambda given, merged=merged: merged)
        pair = Samples(counts, Evidence(np.array([0, 1]), CLASSES))
        assert AlikeWords.of(replace(family, n_features=2), pair) is None
    alike = Samples(sp.csr_array([[1.0, 1.0], [2.0, 2.0]]), Evidence(np.array([0, 1]), CLASSES))
    assert AlikeWords.of(replace(family, n_features=2), alike) is not None
