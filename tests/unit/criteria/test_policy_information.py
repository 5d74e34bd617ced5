import numpy as np
import pytest

from labelworth.criteria.information import information
from labelworth.criteria.policy_information import policy_information
from labelworth.data.evidence import Evidence
from labelworth.data.lengths import LengthDistribution
from labelworth.data.sequences import Sequences
from labelworth.errors import InvalidInputError, MoreSamplesNeededError
from labelworth.models.classes.multinomial import MultinomialModel
from labelworth.policies.catalog import Everything, Nothing, Window
from labelworth.policies.policy import Policy
from support.chain_models import chain_model
from support.chain_oracle import ChainOracle, drawn_tables

LENGTHS = {2: 0.5, 3: 0.5}
HMM = chain_model("hidden-markov", drawn_tables("hidden-markov", 2, 3, 1))


def test_policies_are_read_in_every_form() -> None:
    rules = ["everything", "nothing", "window:2"]
    by_weights = policy_information(HMM, policies=[[0.5, 0.3, 0.2]], rules=rules, lengths=LENGTHS, n_samples=10)
    by_text = policy_information(
        HMM, policies=["0.5*everything + 0.3*nothing + 0.2*window:2"], lengths=LENGTHS, n_samples=10
    )
    by_value = policy_information(
        HMM,
        policies=[Policy((Everything(), Nothing(), Window(2)), (0.5, 0.3, 0.2))],
        lengths=LengthDistribution.from_mapping(LENGTHS),
        n_samples=10,
    )
    assert by_weights.points[0].figures == by_text.points[0].figures == by_value.points[0].figures


@pytest.mark.parametrize("n_words", [2, 3])
def test_chains_of_length_one_are_documents_of_one_word(n_words) -> None:
    """Everything and nothing at length one: the naive Bayes model of classification, transitions left out."""
    tables = drawn_tables("hidden-markov", 2, n_words, 2)
    documents = MultinomialModel(("A", "B"), tables["start"], tables["emission"], LengthDistribution.single(1))
    fractions = [1.0, 0.5, 0.1]
    expected = information(documents, labeled_fractions=fractions, n_samples=500)
    chains = information(
        chain_model("hidden-markov", tables),
        policies=[[f, 1 - f] for f in fractions],
        rules=["everything", "nothing"],
        lengths={1: 1.0},
        n_samples=500,
    )
    assert chains.n_parameters - chains.n_estimable == 2  # the two rows of the transition
    for one, other in zip(chains.points, expected.points, strict=True):
        assert one.expected_labels == other.labeled_fraction
        for name, value in one.figures.items():
            assert value == pytest.approx(other.figures[name], rel=1e-9), name
    assert any("cannot be told by any data" in note for note in chains.notes)


def test_the_inputs_of_a_conditional_model_are_the_population() -> None:
    """Three real sentences, by brute force: the mean of what each tells."""
    kind, tables = "conditional-random-field", drawn_tables("conditional-random-field", 2, 3, 3)
    model = chain_model(kind, tables)
    words = [[0, 2], [1, 1], [2, 0, 1]]
    inputs = Sequences(
        np.concatenate([np.array(row) for row in words]),
        np.array([0, 2, 4, 7]),
        Evidence(np.full(7, -1), model.classes),
        model.feature_names,
        np.array([1.0, 2.0, 1.0]),
    )
    table = policy_information(model, policies=["every-other"], inputs=inputs, n_samples=1)
    expected = np.zeros_like(table.information.matrices[0])
    for row, weight in zip(words, (0.25, 0.5, 0.25), strict=True):
        oracle = ChainOracle(kind, tables, {len(row): 1.0})
        place = int(np.flatnonzero((oracle.words_of(len(row)) == row).all(axis=1))[0])
        joint, gradient = oracle.gradient(len(row))
        labels = oracle.labels_of(len(row))[:, ::2]
        share = joint[place].sum()
        for seen in np.unique(labels, axis=0):
            chosen = (labels == seen).all(axis=1)
            moved = gradient[place, chosen].sum(axis=0) / share
            expected += weight * np.outer(moved, moved) / (joint[place, chosen].sum() / share)
    np.testing.assert_allclose(table.information.matrices[0], expected, rtol=1e-8, atol=1e-12)
    assert table.points[0].expected_labels == pytest.approx(0.75 * 1 + 0.25 * 2)


@pytest.mark.statistical
def test_sampled_inputs_of_a_conditional_model_are_within_their_standard_errors() -> None:
    """Five standard errors, from 64 batches: 5e-6 per figure; fixed seed."""
    kind, tables = "conditional-random-field", drawn_tables("conditional-random-field", 2, 3, 3, start=False)
    model = chain_model(kind, tables)
    rng = np.random.default_rng(0)
    lengths = rng.integers(2, 5, size=30)
    inputs = Sequences(
        rng.integers(0, 3, size=lengths.sum()),
        np.concatenate([[0], np.cumsum(lengths)]),
        Evidence(np.full(lengths.sum(), -1), model.classes),
        model.feature_names,
    )
    exact, sampled = (
        policy_information(
            model, policies=["everything", "window:2"], inputs=inputs, n_samples=1, method=method, max_draws=20_000
        )
        for method in ("enumeration", "sampling")
    )
    for one, other in zip(sampled.points, exact.points, strict=True):
        for name, value in other.figures.items():
            assert abs(one.figures[name] - value) <= 5 * one.standard_errors[name] + 1e-12, name


def test_what_the_draws_do_not_tell_is_refused_point_by_point() -> None:
    """Fewer draws than parameters."""
    boltzmann = chain_model("boltzmann-chain", drawn_tables("boltzmann-chain", 4, 16, 1))
    asked = {"lengths": {6: 1.0}, "n_samples": 1, "method": "sampling", "max_draws": 64}
    table = policy_information(boltzmann, policies=["everything", "nothing"], **asked)
    whole, dark = table.points
    assert whole.is_identifiable
    assert dark.refusal is not None
    assert not dark.is_identifiable
    assert set(dark.figures.values()) == {None}
    assert any(note.startswith("nothing: ") and "draws" in note for note in table.notes)
    with pytest.raises(MoreSamplesNeededError):
        policy_information(boltzmann, policies=["nothing"], **asked)


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ({"policies": [[1.0]]}, "rules="),
        ({"policies": "everything"}, "must be a list"),
        ({"policies": ["everything"], "lengths": None}, "how long"),
        ({"policies": ["everything"], "lengths": [3]}, "mapping"),
        ({"policies": ["everything"], "n_samples": 0}, "n_samples"),
        ({"policies": ["everything"], "n_samples": float("nan")}, "n_samples"),
        ({"policies": ["everything"], "method": "guess"}, "guess"),
        ({"policies": ["everything"], "input_probabilities": [1.0, 0.0, 0.0]}, "conditional"),
        ({"policies": ["everything"], "rules": ["nothing"]}, "not one of"),
        ({"policies": [[0.5, 0.6]], "rules": ["everything", "nothing"]}, "sum to 1"),
        ({"policies": [[1.0, float("nan")]], "rules": ["everything", "nothing"]}, "finite"),
    ],
)
def test_questions_that_make_no_sense_are_refused(question, words) -> None:
    with pytest.raises(InvalidInputError, match=words):
        policy_information(HMM, **{"lengths": LENGTHS, "n_samples": 10, **question})


def test_each_kind_of_model_is_asked_in_its_own_terms() -> None:
    with pytest.raises(InvalidInputError, match="policies="):
        information(HMM, labeled_fractions=[1.0], n_samples=10)
    documents = MultinomialModel(("A", "B"), [0.5, 0.5], [[0.5, 0.5], [0.1, 0.9]], LengthDistribution.single(2))
    with pytest.raises(InvalidInputError, match="labeled_fractions="):
        information(documents, policies=["everything"], n_samples=10)
