from itertools import product

import numpy as np
import pytest

from labelworth.arrays import UNLABELED
from labelworth.criteria.policy_information import policy_information
from labelworth.data.evidence import Evidence
from labelworth.data.lengths import LengthDistribution
from labelworth.data.sequences import Sequences
from labelworth.errors import InvalidInputError, MoreSamplesNeededError
from labelworth.fisher.criteria import CRITERIA
from labelworth.fisher.matrix_free.operator import DenseNeighbor, PolicyOperator, Shown
from labelworth.fisher.matrix_free.policies import matrix_free_policies
from labelworth.fisher.matrix_free.whitening import Whitening, labeled_shares
from labelworth.fisher.sequences.population import ChainPopulation
from labelworth.models.chains.hidden_markov import HiddenMarkovModel
from labelworth.policies.spec import parse_policy
from support.chain_models import chain_model
from support.chain_oracle import ChainOracle, drawn_tables
from support.plain_chains import open_counts

LENGTHS = {2: 0.3, 4: 0.7}
TABLES = drawn_tables("hidden-markov", 2, 3, 3)
MANY_WORDS = drawn_tables("hidden-markov", 2, 60, 3)
SHORT = {1: 0.3, 2: 0.7}
POLICIES = [
    "everything",
    "0.25*everything + 0.75*nothing",
    "window:1",
    "0.3*window:1 + 0.3*every-other + 0.4*random:0.3",
]


def population(tables=TABLES, lengths=LENGTHS) -> ChainPopulation:
    return ChainPopulation.of(chain_model("hidden-markov", tables), lengths=LengthDistribution.from_mapping(lengths))


def whitening(tables=TABLES, lengths=LENGTHS) -> Whitening:
    found = population(tables, lengths)
    assert isinstance(found.model, HiddenMarkovModel)
    return Whitening(found.model, found.lengths)


def open_scores(white: Whitening, seen: Sequences) -> np.ndarray:
    """Whitened scores of what labels leave open, spelled out, (n, n_named)."""
    model = white.model
    start, pairs, _ = model.word_chain.counts_by_sequence(seen)
    at_tokens, n_words = model.word_chain.marginals(seen), model.n_features
    counts = open_counts(start, pairs, at_tokens, seen.words, seen.evidence.codes, seen.offsets, n_words)
    front = model.n_classes * (1 + model.n_classes)
    words = counts[:, front:].reshape(-1, n_words, model.n_classes).transpose(0, 2, 1).reshape(len(counts), -1)
    return white.project((np.concatenate([counts[:, :front], words], axis=1) / white.roots).T).T


def test_complete_labels_carry_the_identity_on_the_tangent_space() -> None:
    white, oracle = whitening(), ChainOracle("hidden-markov", TABLES, LENGTHS)
    everything = oracle.rule_information("everything")
    # Free coordinates to white ones: named by the Jacobian, then scaled.
    change = oracle.jacobian / white.named_scale[:, None]
    np.testing.assert_allclose(change.T @ change, everything, rtol=1e-10, atol=1e-12)
    assert white.log_determinant() == pytest.approx(np.linalg.slogdet(everything)[1], rel=1e-12)
    np.testing.assert_allclose(white.project(change), change, atol=1e-12)
    np.testing.assert_allclose(white.row_roots.T @ change, 0.0, atol=1e-12)
    matrix = np.random.default_rng(0).standard_normal((white.size, white.size))
    matrix += matrix.T
    expected = white.project(white.project(matrix).T)
    white.project_matrix(matrix)
    np.testing.assert_allclose(matrix, expected, atol=1e-12)
    assert white.n_parameters == len(oracle.theta)


@pytest.mark.parametrize("rule", ["nothing", "window:2", "every-other", "prefix:1", "random:0.3"])
def test_what_labels_show_and_what_is_gathered_of_the_rest_are_all_the_information(rule: str) -> None:
    """diag(shares) + E[U U'], summed over every (x, y) and every set of positions, is the rule's information."""
    white, oracle = whitening(), ChainOracle("hidden-markov", TABLES, LENGTHS)
    policy, names, n_labels, n_words = parse_policy(rule), white.model.feature_names, 2, 3
    total = np.zeros((white.size, white.size))
    for length, share in LENGTHS.items():
        outcomes = np.array(list(product(range(n_labels), range(n_words), repeat=length)))
        labels, words = outcomes[:, 0::2], outcomes[:, 1::2]
        offsets = np.arange(len(outcomes) + 1) * length
        drawn = Sequences(words.ravel(), offsets, Evidence(labels.ravel(), white.model.classes), names)
        probabilities = np.exp(white.model.log_evidence(drawn))
        for chance, mask in policy.rules[0].outcomes(length):
            codes = np.where(np.tile(mask, len(outcomes)), labels.ravel(), UNLABELED)
            scores = open_scores(white, drawn.with_evidence(Evidence(codes, white.model.classes)))
            total += share * chance * (scores * probabilities[:, None]).T @ scores
    total += np.diag(labeled_shares(white, policy))
    change = oracle.jacobian / white.named_scale[:, None]
    np.testing.assert_allclose(change.T @ total @ change, oracle.rule_information(rule), rtol=1e-8, atol=1e-9)


@pytest.mark.parametrize("whole", [0.0, 0.3])
def test_products_are_those_of_the_matrix_of_scores(whole: float) -> None:
    white = whitening()
    drawn = population().draw(8000, np.random.default_rng(0))
    policy = parse_policy(f"{whole}*everything + {1 - whole}*window:2")
    seen, _ = parse_policy("window:2").apply(drawn, 1)
    vectors = white.project(np.random.default_rng(2).standard_normal((white.size, 4)))
    shown = Shown(white, seen, labeled_shares(white, policy), 1 - whole)
    operator, scores = PolicyOperator(shown), open_scores(white, seen)
    inner, result = operator.gram(vectors)
    expected = shown.shares[:, None] * vectors + (1 - whole) * scores.T @ (scores @ vectors) / len(scores)
    np.testing.assert_allclose(result, expected, rtol=1e-9, atol=1e-10)
    np.testing.assert_allclose(operator.inner(vectors), inner, atol=1e-12)
    np.testing.assert_allclose(inner, scores @ vectors, rtol=1e-9, atol=1e-10)
    neighbor = DenseNeighbor.of(shown, 8000)
    np.testing.assert_allclose(neighbor.matrix @ vectors, result, rtol=1e-9, atol=1e-10)
    np.testing.assert_allclose(neighbor.matrix @ white.row_roots, white.row_roots, atol=1e-10)
    np.testing.assert_allclose(neighbor.met, 1.0, atol=0.1)
    tangent = np.linalg.inv(neighbor.matrix) - white.row_roots @ white.row_roots.T
    np.testing.assert_allclose(neighbor.inverse_diagonal(), np.diag(tangent), atol=1e-9)
    np.testing.assert_allclose(neighbor.solve(vectors), tangent @ vectors, atol=1e-9)
    np.testing.assert_allclose(
        neighbor.root(vectors) @ vectors.T, white.project(neighbor.lower @ vectors) @ vectors.T
    )
    other = DenseNeighbor.of(Shown(white, drawn.hide(), np.zeros(white.size), 1.0), 1000)
    assert neighbor.inverse_trace(other) == pytest.approx(np.trace(tangent @ other.matrix), rel=1e-9)


def test_sequences_labeled_whole_beside_unlabeled_ones_need_no_new_draws() -> None:
    white, policy = whitening(), parse_policy("0.3*everything + 0.7*nothing")
    drawn = population().draw(2000, np.random.default_rng(0)).hide()
    nothing, shares = Shown(white, drawn, np.zeros(white.size), 1.0), labeled_shares(white, policy)
    mixed = Shown(white, drawn, shares, 0.7)
    vectors = white.project(np.random.default_rng(2).standard_normal((white.size, 2)))
    np.testing.assert_allclose(
        PolicyOperator(nothing).weighted(shares, 0.7)(vectors), PolicyOperator(mixed)(vectors), rtol=1e-12
    )
    expected = DenseNeighbor.of(mixed, 2000)
    found = DenseNeighbor.of(nothing, 2000).weighted(shares, 0.7)
    np.testing.assert_allclose(found.matrix, expected.matrix, atol=1e-12)
    np.testing.assert_allclose(found.met, expected.met, rtol=1e-12)


@pytest.fixture(scope="module")
def errors_in_units() -> np.ndarray:
    """How many standard errors figures are off, (n_seeds, n_policies, n_figures); zeros where they are exact."""
    oracle = ChainOracle("hidden-markov", MANY_WORDS, SHORT)
    policies = [parse_policy(policy) for policy in POLICIES]
    names = [name for name in CRITERIA if name != "worst_direction"]
    truths = []
    for policy in policies:
        matrix = oracle.policy_information([rule.spec for rule in policy.rules], policy.weights)
        figures = oracle.figures(matrix, 1)
        truths.append([figures[name] for name in names])
    result = np.zeros((20, len(policies), len(names)))
    for seed in range(len(result)):
        found = matrix_free_policies(population(MANY_WORDS, SHORT), policies, np.random.default_rng(seed))
        for place, (estimate, truth) in enumerate(zip(found.answers, truths, strict=True)):
            assert np.isnan(estimate.values["worst_direction"])
            for column, name in enumerate(names):
                value, error = estimate.values[name], estimate.errors[name]
                assert error < 0.05 * abs(truth[column])
                if error == 0:
                    assert value == pytest.approx(truth[column], rel=1e-9)
                else:
                    result[seed, place, column] = (value - truth[column]) / error
    return result


@pytest.mark.statistical
def test_figures_are_within_their_standard_errors(errors_in_units) -> None:
    """Fixed seeds; standard errors have about nine degrees of freedom, and none of 320 figures is off by six."""
    assert np.abs(errors_in_units).max() < 6


@pytest.mark.statistical
def test_standard_errors_are_neither_too_small_nor_too_large(errors_in_units) -> None:
    """The mean square over twenty seeds is about one for every figure; on average there is no bias to speak of."""
    sampled = errors_in_units[:, :, np.abs(errors_in_units).max(axis=(0, 1)) > 0]
    squares = np.square(sampled).mean(axis=0)
    assert squares.max() < 3
    assert 0.5 < squares[squares > 0].mean() < 1.5
    # The mean of twenty has a standard error of 0.22.
    assert np.abs(sampled.mean(axis=0)).max() < 1.2


@pytest.mark.statistical
def test_what_is_rarely_labeled_is_told_by_the_labels_expected() -> None:
    """A label that says a word once in a million tokens: labels tell of it, although no draw shows it."""
    tables = {name: np.array(table) for name, table in MANY_WORDS.items()}
    tables["emission"][0, 0] = 1e-6
    tables["emission"][0] /= tables["emission"][0].sum()
    oracle = ChainOracle("hidden-markov", tables, SHORT)
    found = matrix_free_policies(population(tables, SHORT), [parse_policy("window:1")], np.random.default_rng(0))
    truth = oracle.figures(oracle.rule_information("window:1"), 1)
    for name, value in found.answers[0].values.items():
        assert name == "worst_direction" or abs(value - truth[name]) < 6 * found.answers[0].errors[name]


def test_what_no_draw_meets_is_refused_with_the_number_that_would() -> None:
    """A word that both labels say once in a million tokens: unless it is labeled, nothing is known of it."""
    tables = {name: np.array(table) for name, table in MANY_WORDS.items()}
    tables["emission"][:, 0] = 1e-6
    tables["emission"] /= tables["emission"].sum(axis=1, keepdims=True)
    few = parse_policy("0.01*everything + 0.99*nothing")
    found = matrix_free_policies(
        population(tables, SHORT), [few, parse_policy("everything")], np.random.default_rng(0)
    )
    assert found.n_hardly_met == 2
    assert "hardly meet 2 of the probabilities" in str(found.answers[0].refusal)
    assert "e+07 draws" in str(found.answers[0].refusal)
    assert found.answers[1].is_identifiable


def test_a_policy_that_leaves_a_direction_dark_has_no_figures() -> None:
    """Two tokens without any label: words alone do not tell a hidden Markov model."""
    found = matrix_free_policies(population(MANY_WORDS, SHORT), [parse_policy("nothing")], np.random.default_rng(0))
    assert "tells so little of some direction" in str(found.answers[0].refusal)


def test_a_table_of_many_parameters_is_made_without_matrices() -> None:
    table = policy_information(
        chain_model("hidden-markov", MANY_WORDS),
        policies=["window:1", "everything"],
        lengths=SHORT,
        n_samples=100,
        method="matrix-free",
        max_draws=8000,
    )
    assert table.method == "matrix-free"
    assert table.points[0].figures["worst_direction"] is None
    assert table.points[0].standard_errors["total_variance"] > 0
    assert table.to_dict()["n_estimable"] == table.n_parameters == 121
    with pytest.raises(InvalidInputError, match="does without"):
        table.matrices()


def test_few_parameters_are_sampled_with_matrices() -> None:
    table = policy_information(
        chain_model("hidden-markov", TABLES),
        policies=["window:2"],
        lengths=LENGTHS,
        n_samples=100,
        method="matrix-free",
        max_draws=16_384,
    )
    assert table.method == "sampling"


def test_what_cannot_be_done_is_refused() -> None:
    boltzmann = ChainPopulation.of(
        chain_model("boltzmann-chain", drawn_tables("boltzmann-chain", 2, 3, 0)),
        lengths=LengthDistribution.single(3),
    )
    with pytest.raises(InvalidInputError, match="hidden-markov"):
        matrix_free_policies(boltzmann, [parse_policy("everything")], np.random.default_rng(0))
    with pytest.raises(InvalidInputError, match="100 to 12000 parameters; there are 7"):
        matrix_free_policies(population(), [parse_policy("window:2")], np.random.default_rng(0))
    with pytest.raises(MoreSamplesNeededError, match="draw 7744"):
        matrix_free_policies(
            population(MANY_WORDS, SHORT), [parse_policy("window:1")], np.random.default_rng(0), n_draws=100
        )


def test_complete_labels_take_one_pass() -> None:
    found = matrix_free_policies(
        population(MANY_WORDS, SHORT), [parse_policy("everything")], np.random.default_rng(0), n_draws=8000
    )

    assert found.n_drawn == 8000
    assert found.n_passes == 1
