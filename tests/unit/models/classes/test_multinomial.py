"""The multinomial model against a sum over all documents, and its doors."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.stats import multinomial as scipy_multinomial

from labelworth.data.evidence import Evidence, encode_labels
from labelworth.data.lengths import LengthDistribution
from labelworth.data.samples import Samples
from labelworth.errors import InvalidInputError
from labelworth.models.classes.multinomial import MultinomialFamily, MultinomialModel
from support.oracles import Enumeration, enumerated_multinomial
from support.small_models import multinomial
from support.statistical import assert_mean_is

LENGTHS = {2: 0.3, 4: 0.7}


@pytest.fixture
def rng(seed: int) -> np.random.Generator:
    return np.random.default_rng(seed)


@pytest.fixture
def model(rng: np.random.Generator) -> MultinomialModel:
    return multinomial(rng, n_words=3, lengths=LENGTHS)


@pytest.fixture
def oracle(model: MultinomialModel) -> Enumeration:
    return enumerated_multinomial(model.class_probabilities, model.word_probabilities, LENGTHS)


def samples_of(counts: np.ndarray, classes: tuple[str, ...]) -> Samples:
    return Samples(sp.csr_array(counts), Evidence(np.full(len(counts), -1), classes))


def test_the_oracle_is_a_distribution(oracle: Enumeration) -> None:
    np.testing.assert_allclose(oracle.joint.sum(), 1.0, rtol=1e-13)


def test_log_joint_is_the_joint_up_to_a_constant_in_x(model: MultinomialModel, oracle: Enumeration) -> None:
    log_joint = model.log_joint(samples_of(oracle.outcomes, model.classes))
    gap = np.log(oracle.joint) - log_joint
    np.testing.assert_allclose(gap, gap[:, :1] @ np.ones((1, 3)), rtol=1e-12, atol=1e-12)


def test_complete_information_is_the_variance_of_the_score(model: MultinomialModel, oracle: Enumeration) -> None:
    np.testing.assert_allclose(model.complete_information(), oracle.complete_information, rtol=1e-10, atol=1e-10)


def test_scores_equal_those_of_the_enumeration(model: MultinomialModel, oracle: Enumeration) -> None:
    scores = model.class_scores(samples_of(oracle.outcomes, model.classes))
    np.testing.assert_allclose(scores, oracle.complete_scores, rtol=1e-10, atol=1e-10)


@pytest.mark.statistical
def test_samples_follow_the_joint(model: MultinomialModel, oracle: Enumeration, rng: np.random.Generator) -> None:
    samples = model.sample(20_000, rng)
    rows = oracle.rows_of(samples.counts.toarray())
    hits = np.zeros((20_000, oracle.joint.size))
    hits[np.arange(20_000), rows * 3 + samples.evidence.codes] = 1.0
    common = oracle.joint.ravel() > 0.005  # enough hits for Student's t
    assert_mean_is(hits[:, common], oracle.joint.ravel()[common])
    wrong = model.sample(20_000, rng).counts.toarray()
    with pytest.raises(AssertionError):
        assert_mean_is(wrong, np.full(3, wrong.sum() / wrong.size))


@pytest.mark.parametrize("n_documents", [0, 1, 3, 40])
def test_log_joint_of_few_documents_and_many_words(n_documents: int, rng: np.random.Generator) -> None:
    words = rng.dirichlet(np.ones(50), size=3)
    model = MultinomialModel(("a", "b", "c"), rng.dirichlet(np.ones(3)), words, LengthDistribution.single(5))
    counts = rng.multinomial(5, words[0], size=n_documents).astype(float)
    expected = np.log(model.class_probabilities) + counts @ np.log(words).T
    np.testing.assert_allclose(model.log_joint(samples_of(counts, model.classes)), expected, rtol=1e-12)


def test_log_joint_equals_scipy_on_long_documents(rng: np.random.Generator) -> None:
    model = multinomial(rng, n_words=50)
    counts = rng.multinomial(400, np.full(50, 0.02), size=6).astype(float)
    ours = model.log_joint(samples_of(counts, model.classes)) - model.log_class_probabilities
    theirs = np.array(
        [[scipy_multinomial.logpmf(row, 400, theta) for theta in model.word_probabilities] for row in counts]
    )
    np.testing.assert_allclose(ours - ours[:, :1], theirs - theirs[:, :1], rtol=1e-9, atol=1e-9)


def test_a_word_a_class_never_uses_rules_it_out_and_only_then() -> None:
    model = MultinomialModel(("a", "b"), [0.5, 0.5], [[1.0, 0.0], [0.5, 0.5]], LengthDistribution.single(2))
    log_joint = model.log_joint(samples_of(np.array([[2.0, 0.0], [1.0, 1.0]]), ("a", "b")))
    np.testing.assert_allclose(log_joint[0], [np.log(0.5), np.log(0.5) + 2 * np.log(0.5)])
    assert np.isneginf(log_joint[1, 0])
    assert np.isfinite(log_joint[1, 1])


def test_stored_zeros_count_as_zeros() -> None:
    model = MultinomialModel(("a", "b"), [0.5, 0.5], [[1.0, 0.0], [0.5, 0.5]], LengthDistribution.single(2))
    counts = sp.csr_array((np.array([2.0, 0.0]), np.array([0, 1]), np.array([0, 2])), shape=(1, 2))
    assert np.isfinite(model.log_joint(Samples(counts, Evidence(np.array([-1]), ("a", "b"))))).all()


def test_the_boundary_has_no_information() -> None:
    model = MultinomialModel(("a", "b"), [0.5, 0.5], [[1.0, 0.0], [0.5, 0.5]], LengthDistribution.single(2))
    with pytest.raises(InvalidInputError, match="smoothing above 0"):
        model.complete_information()


def test_probabilities_whose_square_vanishes_have_no_information() -> None:
    model = MultinomialModel(("a", "b"), [0.5, 0.5], [[1.0, 1e-200], [0.5, 0.5]], LengthDistribution.single(2))
    with pytest.raises(InvalidInputError, match="at least 1e-150"):
        model.complete_information()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"class_probabilities": [0.5, 0.6]}, "sum to 1"),
        ({"class_probabilities": [1.5, -0.5]}, "non-negative"),
        ({"class_probabilities": [0.5, np.nan]}, "finite"),
        ({"class_probabilities": [1.0]}, "shape"),
        ({"word_probabilities": [[0.5, 0.5]]}, "shape"),
        ({"word_probabilities": [[0.5, 0.4], [0.5, 0.5]]}, "sum to 1"),
        ({"classes": ("a", "a")}, "distinct"),
        ({"classes": ()}, "at least one class"),
        ({"feature_names": ("only",)}, "one name per column"),
    ],
    ids=str,
)
def test_what_is_no_model_is_refused(change: dict[str, object], message: str) -> None:
    parts = {
        "classes": ("a", "b"),
        "class_probabilities": [0.5, 0.5],
        "word_probabilities": [[0.5, 0.5], [0.1, 0.9]],
        "lengths": LengthDistribution.single(2),
    }
    with pytest.raises(InvalidInputError, match=message):
        MultinomialModel(**(parts | change))


def test_one_word_and_one_class_have_nothing_free() -> None:
    model = MultinomialModel(("a",), [1.0], [[1.0]], LengthDistribution.single(2))
    assert model.coordinates.n_free == 0
    assert model.complete_information().shape == (0, 0)


def test_a_million_words_are_never_spelled_out() -> None:
    family = MultinomialFamily(("a", "b"), 1_000_000, lengths=LengthDistribution.single(5))
    names = family.neutral().coordinates
    assert names.name(names.n_free - 1) == "word_probabilities[b, word 999998]"


def test_lengths_are_read_off_the_documents_by_weight() -> None:
    counts = sp.csr_array(np.array([[1.0, 1.0], [2.0, 1.0], [0.0, 0.0], [0.4, 0.2]]))
    samples = Samples(counts, encode_labels(["a", "b", "a", "b"]))
    lengths = MultinomialFamily.for_samples(samples).adapted(samples, np.array([1.0, 2.0, 5.0, 1.0])).lengths
    assert lengths is not None
    assert dict(lengths.items()) == {1: 0.25, 2: 0.25, 3: 0.5}


def test_given_lengths_stay() -> None:
    samples = Samples(sp.csr_array(np.eye(2)), encode_labels(["a", "b"]))
    family = MultinomialFamily(("a", "b"), 2, lengths=LengthDistribution.single(7))
    assert family.adapted(samples, np.ones(2)).lengths.mean == 7.0


def test_a_family_without_lengths_names_the_cure() -> None:
    with pytest.raises(InvalidInputError, match="adapted"):
        MultinomialFamily(("a", "b"), 2).neutral()


def test_only_empty_documents_are_refused() -> None:
    samples = Samples(sp.csr_array((2, 3)), encode_labels(["a", "b"]))
    with pytest.raises(InvalidInputError, match="empty"):
        MultinomialFamily.for_samples(samples).adapted(samples, np.ones(2))


def test_dense_vectors_are_refused() -> None:
    samples = Samples(np.eye(2), encode_labels(["a", "b"]))
    with pytest.raises(InvalidInputError, match="sparse counts"):
        MultinomialFamily(("a", "b"), 2).prepare(samples, np.ones(2))


@pytest.mark.parametrize("weights", [np.ones(3), np.array([1.0, 0.0]), np.array([1.0, np.nan])], ids=str)
def test_row_weights_must_fit(weights: np.ndarray) -> None:
    samples = Samples(sp.csr_array(np.eye(2)), encode_labels(["a", "b"]))
    with pytest.raises(InvalidInputError, match="weight"):
        MultinomialFamily(("a", "b"), 2).prepare(samples, weights)


def test_other_classes_are_refused() -> None:
    samples = Samples(sp.csr_array(np.eye(2)), encode_labels(["a", "b"]))
    with pytest.raises(InvalidInputError, match="same classes"):
        MultinomialFamily(("b", "a"), 2).prepare(samples, np.ones(2))
