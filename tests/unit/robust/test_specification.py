"""The specification test keeps its level when the model is right and finds a model that is wrong."""

import json

import numpy as np
import pytest

from labelworth.data.lengths import LengthDistribution
from labelworth.data.samples import Samples
from labelworth.errors import InvalidInputError, NotIdentifiableError
from labelworth.models.classes.multinomial import MultinomialFamily, MultinomialModel
from labelworth.robust.specification import SpecificationTest, specification_test
from support.statistical import assert_share_is
from support.wrong_populations import CLASSES, bursty_documents, with_labels

LEVEL = 0.1


def right_documents(rng: np.random.Generator, n_rows: int, n_words: int, length: int) -> Samples:
    words = rng.dirichlet(np.full(n_words, 2.0), size=2)
    return MultinomialModel(CLASSES, [0.4, 0.6], words, LengthDistribution.single(length)).sample(n_rows, rng)


def p_value(samples: Samples, rng: np.random.Generator, **options: object) -> float:
    return specification_test(MultinomialFamily.for_samples(samples), samples, rng=rng, **options).p_value


@pytest.mark.statistical
def test_the_chi_square_test_keeps_its_level(seed: int) -> None:
    rng = np.random.default_rng(seed)
    refused = sum(
        p_value(with_labels(right_documents(rng, 800, 4, 12), 200), rng, tolerance=1e-9) <= LEVEL for _ in range(150)
    )
    assert_share_is(refused, 150, LEVEL)


@pytest.mark.statistical
def test_the_bootstrap_test_keeps_its_level(seed: int) -> None:
    """More parameters than labels."""
    rng = np.random.default_rng(seed)
    refused = sum(
        p_value(with_labels(right_documents(rng, 120, 30, 15), 20), rng, n_bootstrap=9) <= LEVEL for _ in range(60)
    )
    assert_share_is(refused, 60, LEVEL)


@pytest.mark.statistical
@pytest.mark.parametrize(("n_words", "n_rows", "n_labels"), [(4, 1500, 300), (30, 600, 60)])
def test_bursty_words_are_found(n_words: int, n_rows: int, n_labels: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    samples = with_labels(bursty_documents(rng, n_rows, n_words=n_words, length=20, burstiness=5.0), n_labels)
    found = specification_test(MultinomialFamily.for_samples(samples), samples, rng=rng, n_bootstrap=39)
    assert found.method == ("chi-square" if n_words == 4 else "bootstrap")
    assert found.rejects()
    assert "model is wrong" in found.words()


def test_the_answer_is_json_and_words(seed: int) -> None:
    found = SpecificationTest(3.0, 0.4, "bootstrap", None, 19, 20, 59)
    assert json.loads(json.dumps(found.to_dict()))["p_value"] == 0.4
    assert "nothing speaks against" in found.words()
    assert not found.rejects()


def test_a_class_without_labels_is_told(seed: int) -> None:
    samples = right_documents(np.random.default_rng(seed), 50, 4, 6)
    hidden = samples.hide(np.flatnonzero(samples.evidence.codes == 1))
    with pytest.raises(NotIdentifiableError, match="spam") as caught:
        p_value(hidden, np.random.default_rng(0))
    assert caught.value.directions == ("spam",)


def test_what_cannot_be_tested_is_refused(seed: int) -> None:
    samples = right_documents(np.random.default_rng(seed), 50, 4, 6)
    rng = np.random.default_rng(0)
    with pytest.raises(InvalidInputError, match="no unlabeled row"):
        p_value(samples, rng)
    with pytest.raises(InvalidInputError, match="method must be one of"):
        p_value(with_labels(samples, 20), rng, method="guess")
    with pytest.raises(InvalidInputError, match="sample weights"):
        p_value(with_labels(samples, 20).weighted(np.ones(50)), rng)
