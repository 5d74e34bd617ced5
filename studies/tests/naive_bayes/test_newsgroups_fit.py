from dataclasses import replace

import numpy as np
import pytest

from labelworth.data.counts import as_counts
from labelworth.data.evidence import encode_labels
from labelworth.data.samples import Samples
from labelworth_studies.corpora.newsgroups_documents import Documents
from labelworth_studies.naive_bayes.parts import newsgroups_fit
from labelworth_studies.naive_bayes.parts.newsgroups_fit import Settings, cell_of, compute, fit_and_test

EM = Settings("counts", 20.0, 0.1, 1000.0)
SUPERVISED = replace(EM, unlabeled_weight=0.0)


def drawn_documents(rng: np.random.Generator, n_per_class: int = 150) -> Documents:
    """Three classes of 20-word documents over 60 words, of which few say anything about the class."""
    words = rng.dirichlet(np.full(60, 0.5), size=3) * 0.35 + rng.dirichlet(np.full(60, 0.5)) * 0.65

    def samples() -> Samples:
        counts = np.concatenate([rng.multinomial(20, row, size=n_per_class) for row in words])
        return Samples(as_counts(counts), encode_labels(np.repeat(["a", "b", "c"], n_per_class).tolist()))

    return Documents(samples(), samples())


@pytest.fixture
def documents(seed: int) -> Documents:
    return drawn_documents(np.random.default_rng(seed))


def supervised_accuracy(documents: Documents, labeled: list[int], smoothing: float) -> float:
    """Naive Bayes with equal classes, by hand."""
    counts, codes = documents.train.counts.toarray(), documents.train.evidence.codes
    totals = np.array([counts[[i for i in labeled if codes[i] == k]].sum(axis=0) for k in range(3)]) + smoothing
    log_words = np.log(totals / totals.sum(axis=1, keepdims=True))
    guesses = (documents.test.counts.toarray() @ log_words.T).argmax(axis=1)
    return float(np.mean(guesses == documents.test.evidence.codes))


def test_the_supervised_fit_is_naive_bayes_on_all_labels(documents: Documents) -> None:
    result = fit_and_test(documents, SUPERVISED, labels_per_class=1000, seed=0)
    assert result["n_labels"] == documents.train.n_samples
    expected = supervised_accuracy(documents, list(range(documents.train.n_samples)), 0.1)
    assert result["accuracy"] == pytest.approx(expected, abs=1e-12)


def test_with_every_label_seen_unlabeled_weight_makes_no_difference(documents: Documents) -> None:
    with_unlabeled = fit_and_test(documents, EM, labels_per_class=1000, seed=0)
    without = fit_and_test(documents, SUPERVISED, labels_per_class=1000, seed=0)
    assert with_unlabeled["accuracy"] == without["accuracy"]


def test_so_many_labels_are_drawn_of_every_class(documents: Documents) -> None:
    assert fit_and_test(documents, SUPERVISED, labels_per_class=4, seed=0)["n_labels"] == 12


def test_unlabeled_documents_help_where_the_model_is_right(documents: Documents) -> None:
    gains = [
        fit_and_test(documents, EM, 3, seed)["accuracy"] - fit_and_test(documents, SUPERVISED, 3, seed)["accuracy"]
        for seed in range(6)
    ]
    assert np.mean(gains) > 0.03


def test_what_is_learned_does_not_depend_on_the_labels_tested_on(documents: Documents) -> None:
    turned = Samples(documents.test.counts, encode_labels(np.repeat(["b", "c", "a"], 150).tolist()))
    honest = fit_and_test(documents, EM, 20, seed=1)
    blind = fit_and_test(Documents(documents.train, turned), EM, 20, seed=1)
    assert blind["accuracy"] < 0.5 < honest["accuracy"]
    assert blind["n_iterations"] == honest["n_iterations"]


def test_a_cell_says_everything_the_fit_depends_on(documents: Documents, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[object, ...]] = []

    def given(*request: object) -> Documents:
        asked.append(request)
        return documents

    monkeypatch.setattr(newsgroups_fit, "weighted_documents", given)
    assert compute(cell_of("later", EM, 5, seed=3)) == fit_and_test(documents, EM, 5, seed=3)
    assert asked == [("later", "counts", 20.0)]
