"""What a model says of classes, against enumeration."""

import numpy as np
import pytest
import scipy.sparse as sp

from labelworth.data.evidence import Evidence, encode_labels
from labelworth.data.lengths import LengthDistribution
from labelworth.data.samples import Samples
from labelworth.errors import InvalidInputError
from labelworth.models.classes.multinomial import MultinomialModel
from labelworth.models.classes.responsibilities import posterior
from support.oracles import enumerated_multinomial
from support.small_models import multinomial


def test_the_posterior_is_that_of_the_enumeration(seed: int) -> None:
    model = multinomial(np.random.default_rng(seed), n_words=3, lengths={3: 1.0})
    oracle = enumerated_multinomial(model.class_probabilities, model.word_probabilities, {3: 1.0})
    samples = Samples(sp.csr_array(oracle.outcomes), Evidence(np.full(len(oracle.outcomes), -1), model.classes))
    np.testing.assert_allclose(posterior(model, samples), oracle.posterior, rtol=1e-12)


def test_evidence_takes_part(seed: int) -> None:
    model = multinomial(np.random.default_rng(seed))
    samples = model.sample(4, np.random.default_rng(seed))
    ambiguous = Samples(samples.features, encode_labels([["ham", "spam"]] * 4, classes=model.classes))
    free = posterior(model, samples.hide())
    expected = free[:, :2] / free[:, :2].sum(axis=1, keepdims=True)
    np.testing.assert_allclose(posterior(model, ambiguous)[:, :2], expected, rtol=1e-12)
    np.testing.assert_array_equal(posterior(model, ambiguous)[:, 2], 0.0)


def test_a_sample_no_class_can_explain_is_refused_with_a_cure() -> None:
    model = MultinomialModel(("a", "b"), [0.5, 0.5], [[1.0, 0.0], [1.0, 0.0]], LengthDistribution.single(1))
    samples = Samples(sp.csr_array(np.array([[1.0, 0.0], [0.0, 1.0]])), encode_labels([-1, -1], classes=("a", "b")))
    with pytest.raises(InvalidInputError, match=r"row 1.*smoothing above 0"):
        posterior(model, samples)


def test_other_classes_are_refused(seed: int) -> None:
    model = multinomial(np.random.default_rng(seed))
    samples = Samples(sp.csr_array(np.ones((1, 4))), encode_labels([-1], classes=("x", "y", "z")))
    with pytest.raises(InvalidInputError, match="same classes"):
        posterior(model, samples)
