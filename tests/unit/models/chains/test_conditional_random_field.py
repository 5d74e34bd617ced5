import numpy as np
import pytest
import scipy.sparse as sp

from labelworth.data.evidence import Evidence
from labelworth.data.sequences import Sequences
from labelworth.errors import InvalidInputError
from labelworth.models.chains.conditional_random_field import ConditionalRandomFieldModel
from labelworth.models.chains.crf_features import feature_set
from support.log_weight_chains import Drawn, drawn_sequences, log_evidence_by_hand
from support.plain_chains import path_scores, plain_evidence, plain_sums

MIXED = Drawn(gold=0.4, ambiguous=0.3, real_values=True)


def drawn_model(
    sequences: Sequences, rng: np.random.Generator, *, sparse: bool = False, start: bool = True
) -> ConditionalRandomFieldModel:
    n_labels, n_attributes = sequences.evidence.n_classes, sequences.n_features
    emission = rng.normal(size=(n_labels, n_attributes))
    transition, support = rng.normal(size=(n_labels, n_labels)), None
    if sparse:
        emission = sp.csc_array(np.where(rng.random(emission.shape) < 0.5, emission, 0))
        support = rng.random(transition.shape) < 0.7
        transition = np.where(support, transition, 0)
    first = rng.normal(size=n_labels) if start else None
    return ConditionalRandomFieldModel(
        sequences.evidence.classes, first, transition, emission, sequences.feature_names, support
    )


@pytest.fixture(params=range(3))
def rng(request: pytest.FixtureRequest) -> np.random.Generator:
    return np.random.default_rng(request.param)


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("start", [False, True])
def test_log_evidence_and_marginals_equal_enumeration(rng: np.random.Generator, sparse: bool, start: bool) -> None:
    sequences = drawn_sequences(MIXED, rng)
    model = drawn_model(sequences, rng, sparse=sparse, start=start)
    first = model.start if start else np.zeros(3)
    expected = log_evidence_by_hand(sequences, first, model.transition, model.tables["emission"])
    np.testing.assert_allclose(model.log_evidence(sequences), expected, atol=1e-12)
    nodes = sequences.attributes.toarray() @ model.tables["emission"].T
    evidence = plain_evidence(sequences.evidence.codes, sequences.evidence.weights, 3)
    sums = plain_sums(nodes, model.transition, first, evidence, sequences.offsets.tolist())
    np.testing.assert_allclose(model.marginals(sequences), sums.marginals, atol=1e-12)
    np.testing.assert_allclose(model.log_potentials(sequences).nodes, nodes, atol=1e-12)


def test_nothing_labeled_is_certain(rng: np.random.Generator) -> None:
    sequences = drawn_sequences(MIXED, rng).hide()
    model = drawn_model(sequences, rng)
    assert (model.log_evidence(sequences) == 0.0).all()
    assert (model.scores(sequences) == 0.0).all()


def test_the_best_labels_are_the_best_of_all_and_respect_what_is_known(rng: np.random.Generator) -> None:
    sequences = drawn_sequences(MIXED, rng)
    model = drawn_model(sequences, rng)
    labels = model.best_labels(sequences)
    potentials = model.log_potentials(sequences)
    evidence = plain_evidence(sequences.evidence.codes, sequences.evidence.weights, 3)
    for first, last in zip(sequences.offsets, sequences.offsets[1:], strict=False):
        paths, scores = path_scores(
            potentials.nodes[first:last], model.transition, potentials.start, evidence[first:last]
        )
        assert tuple(labels[first:last]) == paths[int(np.argmax(scores))]


@pytest.mark.parametrize("sparse", [False, True])
def test_scores_are_the_gradient(rng: np.random.Generator, sparse: bool) -> None:
    sequences = drawn_sequences(MIXED, rng)
    model = drawn_model(sequences, rng, sparse=sparse)
    coordinates = model.coordinates
    theta, scores, step = coordinates.flatten(model.tables), model.scores(sequences), 1e-5
    assert scores.shape == (sequences.n_sequences, coordinates.n_free)
    for place in range(coordinates.n_free):
        moved = []
        for sign in (1, -1):
            shifted = theta.copy()
            shifted[place] += sign * step
            moved.append(model.with_tables(coordinates.named(shifted)).log_evidence(sequences))
        np.testing.assert_allclose(scores[:, place], (moved[0] - moved[1]) / (2 * step), atol=1e-8)


@pytest.mark.statistical
def test_labels_are_drawn_given_the_attributes() -> None:
    """Frequencies of label sequences; 3**2 = 9 of them, 5.6 standard errors each: false alarm below 1e-6."""
    rng = np.random.default_rng(5)
    one = drawn_sequences(Drawn(lengths=(2,), gold=1.0), rng)
    model = drawn_model(one, rng)
    n_draws = 20_000
    many = one.take(np.zeros(n_draws, dtype=int))
    drawn = model.sample(many, rng)
    assert drawn.attributes is many.attributes
    codes = drawn.evidence.codes.reshape(n_draws, 2)
    potentials = model.log_potentials(one)
    paths, scores = path_scores(potentials.nodes, model.transition, potentials.start, np.ones((2, 3)))
    probabilities = np.exp(scores - np.logaddexp.reduce(scores))
    for path, probability in zip(paths, probabilities, strict=True):
        share = (codes == path).all(axis=1).mean()
        assert abs(share - probability) < 5.6 * np.sqrt(probability * (1 - probability) / n_draws)


def test_attributes_are_known_by_name_and_others_counted(rng: np.random.Generator) -> None:
    sequences = drawn_sequences(MIXED, rng)
    model = drawn_model(sequences, rng)
    order = rng.permutation(5)
    wider = sp.csr_array(sp.hstack([sequences.attributes[:, order], np.ones((sequences.n_tokens, 1))]))
    names = (*(sequences.feature_names[place] for place in order), "new")
    shuffled = Sequences(wider, sequences.offsets, sequences.evidence, names)
    np.testing.assert_allclose(model.log_evidence(shuffled), model.log_evidence(sequences), atol=1e-13)
    assert model.aligned(shuffled)[1] == sequences.n_tokens
    assert model.aligned(sequences)[1] == 0


def test_words_are_attributes() -> None:
    evidence = Evidence(np.array([0, 1, 0]), ("A", "B"))
    words = Sequences(np.array([1, -1, 0]), np.array([0, 2, 3]), evidence, ("x", "y"))
    model = ConditionalRandomFieldModel(("A", "B"), None, np.zeros((2, 2)), [[0.0, 1.0], [0.0, 0.0]], ("x", "y"))
    expected = [-np.log1p(np.exp(-1)) - np.log(2), -np.log(2)]
    np.testing.assert_allclose(model.log_evidence(words), expected, atol=1e-14)


@pytest.mark.parametrize("sparse", [False, True])
def test_arrays_build_the_model_again(rng: np.random.Generator, sparse: bool) -> None:
    sequences = drawn_sequences(MIXED, rng)
    model = drawn_model(sequences, rng, sparse=sparse, start=not sparse)
    again = ConditionalRandomFieldModel.from_arrays(
        model.to_arrays(), classes=model.classes, feature_names=model.feature_names
    )
    assert again.coordinates.names() == model.coordinates.names()
    np.testing.assert_array_equal(again.log_evidence(sequences), model.log_evidence(sequences))


def test_zeros_are_uniform(rng: np.random.Generator) -> None:
    sequences = drawn_sequences(Drawn(), rng)
    features = feature_set(sequences)
    model = ConditionalRandomFieldModel.zeros(features, sequences.evidence.classes, sequences.feature_names)
    np.testing.assert_allclose(model.log_evidence(sequences), -sequences.lengths * np.log(3), atol=1e-12)
    assert model.coordinates.n_free == features.n_weights
    np.testing.assert_array_equal(model.features.labels, features.labels)
    np.testing.assert_array_equal(model.features.transitions, features.transitions)


def test_relabeling_permutes_everything(rng: np.random.Generator) -> None:
    sequences = drawn_sequences(Drawn(gold=0.5), rng)
    model = drawn_model(sequences, rng)
    order = np.array([2, 0, 1])
    codes = sequences.evidence.codes
    renamed = np.where(codes >= 0, np.argsort(order)[codes], codes)
    classes = tuple(model.classes[place] for place in order)
    other = ConditionalRandomFieldModel(
        classes,
        model.start[order],
        model.transition[np.ix_(order, order)],
        model.tables["emission"][order],
        model.feature_names,
    )
    relabeled = sequences.with_evidence(Evidence(renamed, classes))
    np.testing.assert_allclose(other.log_evidence(relabeled), model.log_evidence(sequences), atol=1e-12)
    np.testing.assert_allclose(other.marginals(relabeled), model.marginals(sequences)[:, order], atol=1e-12)


def test_what_does_not_fit_is_refused(rng: np.random.Generator) -> None:
    sequences = drawn_sequences(Drawn(), rng)
    model = drawn_model(sequences, rng, sparse=True)
    others = Sequences(sequences.attributes, sequences.offsets, sequences.evidence, tuple("vwxyz"))
    with pytest.raises(InvalidInputError, match="no attribute that the model knows"):
        model.log_evidence(others)
    with pytest.raises(InvalidInputError, match="same labels"):
        model.log_evidence(sequences.with_evidence(Evidence(sequences.evidence.codes, ("X", "Y", "Z"))))
    with pytest.raises(InvalidInputError, match="no parameters must be zero"):
        model.with_tables({**model.tables, "emission": np.ones((3, 5))})
    with pytest.raises(InvalidInputError, match="Transitions that are no parameters"):
        model.with_tables({**model.tables, "transition": np.ones((3, 3))})
    with pytest.raises(InvalidInputError, match="a row for each of the 2 labels"):
        ConditionalRandomFieldModel(("A", "B"), None, np.zeros((2, 2)), np.zeros((3, 4)))
    with pytest.raises(InvalidInputError, match="finite"):
        ConditionalRandomFieldModel(("A", "B"), None, np.zeros((2, 2)), np.full((2, 4), np.nan))
    broken = {**model.to_arrays(), "emission_labels": model.emission.indices + 5}
    with pytest.raises(InvalidInputError, match="do not fit together"):
        ConditionalRandomFieldModel.from_arrays(broken, classes=model.classes, feature_names=model.feature_names)
