"""Where EM begins, and which classes labels cannot tell apart."""

import numpy as np
import pytest
import scipy.sparse as sp

from labelworth.data.evidence import Evidence, encode_labels
from labelworth.data.samples import Samples
from labelworth.estimation.starts import exchangeable_classes, starting_models
from labelworth.models.classes.multinomial import MultinomialFamily
from support.small_models import multinomial

CLASSES = ("a", "b", "c")


@pytest.fixture
def rng(seed: int) -> np.random.Generator:
    return np.random.default_rng(seed)


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        (["a", "b", "c", -1], ()),
        (["a", "b", -1], ()),
        (["a", -1], (("b", "c"),)),
        ([-1, -1], (CLASSES,)),
        (["a", ["b", "c"]], (("b", "c"),)),
        (["a", ["a", "b"]], ()),
        ([["a", "b"], -1], (("a", "b"),)),
        ([["a", "b"], ["b", "c"]], ()),
    ],
    ids=str,
)
def test_classes_are_exchangeable_where_no_evidence_singles_them_out(
    labels: list[object], expected: tuple[tuple[str, ...], ...]
) -> None:
    assert exchangeable_classes(encode_labels(labels, classes=CLASSES)) == expected


def test_the_first_start_is_the_supervised_model() -> None:
    counts = np.array([[3.0, 1.0, 0.0], [0.0, 2.0, 2.0], [1.0, 5.0, 0.0]])
    samples = Samples(sp.csr_array(counts), encode_labels(["a", "b", -1]))
    family = MultinomialFamily.for_samples(samples, smoothing=0.5).adapted(samples, np.ones(3))
    (model,) = starting_models(family, samples, np.array([1.0, 2.0, 1.0]), 1, np.random.default_rng(0))
    np.testing.assert_allclose(model.word_probabilities[0], [3.5 / 5.5, 1.5 / 5.5, 0.5 / 5.5])
    np.testing.assert_allclose(model.word_probabilities[1], [0.5 / 9.5, 4.5 / 9.5, 4.5 / 9.5])


def test_candidate_sets_enter_in_proportion_to_their_weights() -> None:
    counts = np.array([[2.0, 0.0], [0.0, 2.0], [4.0, 0.0]])
    evidence = Evidence(np.array([0, 1, -2]), ("a", "b", "c"), np.array([[0.0, 3.0, 1.0]]))
    samples = Samples(sp.csr_array(counts), evidence)
    family = MultinomialFamily.for_samples(samples, smoothing=1.0).adapted(samples, np.ones(3))
    (model,) = starting_models(family, samples, np.ones(3), 1, np.random.default_rng(0))
    np.testing.assert_allclose(model.word_probabilities[1], [4 / 7, 3 / 7])
    np.testing.assert_allclose(model.word_probabilities[2], [2 / 3, 1 / 3])


@pytest.mark.parametrize(
    "labels", [[-1] * 30, ["a", ["b", "c"]] + [["b", "c"]] * 28, ["a"] + [-1] * 29], ids=lambda x: str(x[:2])
)
def test_classes_that_labels_leave_alike_begin_apart(labels: list[object], rng: np.random.Generator) -> None:
    drawn = multinomial(rng).sample(30, rng)
    samples = Samples(drawn.features, encode_labels(labels, classes=CLASSES))
    family = MultinomialFamily.for_samples(samples).adapted(samples, np.ones(30))
    (model,) = starting_models(family, samples, np.ones(30), 1, rng)
    assert np.abs(model.word_probabilities[1] - model.word_probabilities[2]).max() > 1e-3


def test_further_starts_differ_and_follow_the_seed(rng: np.random.Generator, seed: int) -> None:
    drawn = multinomial(rng).sample(30, rng).hide(np.arange(10, 30))
    family = MultinomialFamily.for_samples(drawn).adapted(drawn, np.ones(30))
    first, second = (
        [
            model.word_probabilities
            for model in starting_models(family, drawn, np.ones(30), 3, np.random.default_rng(seed))
        ]
        for _ in range(2)
    )
    assert np.abs(first[0] - first[1]).max() > 1e-3
    assert np.abs(first[1] - first[2]).max() > 1e-3
    for one, other in zip(first, second, strict=True):
        np.testing.assert_array_equal(one, other)


def test_more_classes_than_rows_still_begin_somewhere(rng: np.random.Generator) -> None:
    samples = Samples(sp.csr_array(np.array([[1.0, 2.0]])), encode_labels([-1], classes=CLASSES))
    family = MultinomialFamily.for_samples(samples).adapted(samples, np.ones(1))
    (model,) = starting_models(family, samples, np.ones(1), 1, rng)
    np.testing.assert_allclose(model.word_probabilities.sum(axis=1), 1.0)
