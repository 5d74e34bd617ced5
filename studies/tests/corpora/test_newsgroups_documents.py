import numpy as np
import pytest
import scipy.sparse as sp

from labelworth.data.counts import as_counts, document_lengths
from labelworth.data.readers.raw import RawTexts
from labelworth.errors import DataUnavailableError, InvalidInputError
from labelworth_studies.corpora import newsgroups_documents as documents_module
from labelworth_studies.corpora.newsgroups_documents import (
    Documents,
    count_documents,
    counted_documents,
    is_earlier,
    weighted_documents,
    word_weights_of,
)

TRAIN = RawTexts(
    ("The goal, the GOAL and a puck!", "puck goal", "orbit of 7 moons; the orbit", "moons orbit unseen"),
    ("hockey", "hockey", "space", "space"),
    "train",
)
TEST = RawTexts(("moons moons goal penalty", "penalty"), ("space", "hockey"), "test")


@pytest.fixture
def documents() -> Documents:
    return count_documents(TRAIN, TEST)


def test_the_vocabulary_is_that_of_the_training_posts_alone(documents: Documents) -> None:
    # goal, moons, orbit, puck: "penalty" is in the test posts only, "unseen" in one training post only.
    np.testing.assert_array_equal(
        documents.train.counts.toarray(), [[2, 0, 0, 1], [1, 0, 0, 1], [0, 1, 2, 0], [0, 1, 1, 0]]
    )
    np.testing.assert_array_equal(documents.test.counts.toarray(), [[1, 2, 0, 0], [0, 0, 0, 0]])


def test_test_posts_get_the_class_codes_of_the_training_posts(documents: Documents) -> None:
    assert documents.test.evidence.classes == documents.train.evidence.classes == ("hockey", "space")
    assert documents.test.evidence.codes.tolist() == [1, 0]


def test_inverse_document_weights_are_the_logarithm_of_the_share_of_posts_that_hold_the_word() -> None:
    counts = as_counts([[5, 1, 0, 0], [0, 2, 1, 0], [0, 3, 1, 0], [0, 1, 0, 0]])
    weights = word_weights_of(counts, "inverse-document")
    # The last word is in no post: it can weigh nothing, whatever the number.
    np.testing.assert_allclose(weights[:3], [np.log(4.0), 0.0, np.log(2.0)], rtol=1e-14)
    assert np.isfinite(weights).all()


def test_plain_counts_weigh_the_same() -> None:
    assert word_weights_of(as_counts([[5, 1]]), "counts").tolist() == [1.0, 1.0]


def test_weighted_posts_all_have_the_length_asked_for(documents: Documents, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(documents_module, "counted_documents", lambda division: documents)
    weighted = weighted_documents("later", "inverse-document", 6.0)
    np.testing.assert_allclose(document_lengths(weighted.train.counts), 6.0, rtol=1e-14)
    # The second test post has no word of the vocabulary.
    np.testing.assert_allclose(document_lengths(weighted.test.counts), [6.0, 0.0], rtol=1e-14)


def test_test_posts_borrow_the_weights_of_the_training_posts(monkeypatch: pytest.MonkeyPatch) -> None:
    train = RawTexts(("goal puck", "goal", "goal puck", "goal moons", "moons goal", "orbit"), ("a",) * 6, "train")
    test = RawTexts(("goal moons",), ("a",), "test")
    counted = count_documents(train, test)
    monkeypatch.setattr(documents_module, "counted_documents", lambda division: counted)
    weighted = weighted_documents("later", "inverse-document", 1.0).test.counts
    goal, moons = np.log(6 / 5), np.log(6 / 2)
    np.testing.assert_allclose(weighted.toarray(), [[goal / (goal + moons), moons / (goal + moons), 0.0]], rtol=1e-14)


def test_the_earlier_posts_come_first_in_every_class(seed: int) -> None:
    codes = np.sort(np.random.default_rng(seed).integers(0, 3, 100))
    earlier = is_earlier(codes, 0.6)
    for code in range(3):
        marks = earlier[codes == code]
        assert marks.sum() == round(0.6 * marks.size)
        assert not np.any(~marks[:-1] & marks[1:])


@pytest.mark.parametrize(("division", "word_weights"), [("validation", "counts"), ("later", "tf-idf")])
def test_an_unknown_choice_is_refused_with_the_known_ones(
    division: str, word_weights: str, documents: Documents, monkeypatch: pytest.MonkeyPatch
) -> None:
    if division == "later":
        monkeypatch.setattr(documents_module, "counted_documents", lambda division: documents)
    with pytest.raises(InvalidInputError, match="must be one of"):
        weighted_documents(division, word_weights, 6.0)


@pytest.mark.corpus
def test_the_tuning_division_holds_every_training_post_once_and_no_test_post() -> None:
    try:
        later = counted_documents("later")
    except DataUnavailableError as error:
        pytest.skip(str(error))
    sizes = later.train.n_samples, later.test.n_samples
    assert sum(sizes) == 11_314
    assert sizes[0] / 11_314 == pytest.approx(0.6, abs=0.001)
    assert isinstance(later.train.features, sp.csr_array)
    assert later.train.evidence.is_gold.all()
    assert later.test.evidence.is_gold.all()
