from dataclasses import replace

import numpy as np
import pytest

from labelworth.criteria.policy_table import policy_information
from labelworth.data.lengths import LengthDistribution
from labelworth.errors import InvalidInputError, MoreSamplesNeededError
from labelworth.fisher.chain_population import ChainPopulation
from labelworth.fisher.policy_figures import FIGURES
from labelworth.fisher.rule_matrix_free import matrix_free_policies
from labelworth.fisher.rule_operator import PARTS, DenseNeighbor, PolicyOperator, Shown
from labelworth.fisher.rule_shares import labeled_shares, rarely_met
from labelworth.fisher.rule_whitening import Whitening
from labelworth.models.hidden_markov_model import HiddenMarkovModel
from labelworth.policies.spec import parse_policy
from support.chain_models import chain_model
from support.chain_oracle import ChainOracle, drawn_tables

LENGTHS = {2: 0.3, 4: 0.7}
TABLES = drawn_tables("hidden-markov", 2, 3, 3)
POLICIES = [
    "everything",
    "0.25*everything + 0.75*nothing",
    "window:2",
    "0.3*window:2 + 0.3*every-other + 0.4*random:0.3",
]


def population(tables=TABLES, lengths=LENGTHS) -> ChainPopulation:
    return ChainPopulation.of(chain_model("hidden-markov", tables), lengths=LengthDistribution.from_mapping(lengths))


def whitening(tables=TABLES) -> Whitening:
    found = population(tables)
    assert isinstance(found.model, HiddenMarkovModel)
    return Whitening(found.model, found.lengths)


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
    np.testing.assert_allclose(white.project_matrix(matrix), white.project(white.project(matrix).T), atol=1e-12)
    assert white.n_parameters == len(oracle.theta)


@pytest.mark.parametrize("whole", [0.0, 0.3])
def test_products_are_those_of_the_matrix_of_scores(whole) -> None:
    white = whitening()
    drawn = population().draw(8000, np.random.default_rng(0))
    seen, _ = parse_policy("0.5*window:2 + 0.5*nothing").apply(drawn, 1)
    vectors = white.project(np.random.default_rng(2).standard_normal((white.size, 4)))
    shown = Shown.of(white, seen, whole)
    assert not shown.rare.any()
    # What happens once in thousands is counted alone: pretend that two entries do.
    shown = replace(shown, rare=np.arange(white.size) % 5 == 3)
    product = PolicyOperator(shown)(np.tile(vectors, PARTS))
    oracle = ChainOracle("hidden-markov", TABLES, LENGTHS)
    scores = white.model.scores(seen) @ np.linalg.pinv(oracle.jacobian / white.named_scale[:, None])
    keep = np.diag(1.0 - shown.rare)

    def expected(part: slice) -> np.ndarray:
        matrix = keep @ scores[part].T @ scores[part] @ keep / len(scores[part])
        matrix += np.diag(np.where(shown.rare, shown.shares, 0.0))
        return whole * vectors + (1 - whole) * white.project(matrix @ vectors)

    np.testing.assert_allclose(product[:, :4], expected(slice(None)), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(product[:, 8:12], expected(slice(1000, 2000)), rtol=1e-9, atol=1e-9)
    neighbor = DenseNeighbor.of(shown)
    np.testing.assert_allclose(neighbor.matrix @ vectors, product[:, :4], rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(neighbor.solve(neighbor.matrix @ vectors), vectors, rtol=1e-8, atol=1e-9)


def test_shares_are_those_of_the_uses_that_labels_show() -> None:
    """Complete labels show all uses; found in many draws, the share is the expected one."""
    white = whitening()
    drawn = population().draw(20_000, np.random.default_rng(0))
    np.testing.assert_allclose(labeled_shares(white, drawn), 1.0, rtol=0.02)
    assert not labeled_shares(white, drawn.hide()).any()
    seen, _ = parse_policy("prefix:1").apply(drawn, 0)
    first = labeled_shares(white, seen)[: white.model.n_classes]
    np.testing.assert_allclose(first, 1.0, rtol=1e-12)
    assert not labeled_shares(white, seen)[white.model.n_classes : white.model.n_classes + 4].any()
    assert rarely_met(white, np.full(white.size, 0.5), 10).all()
    assert not rarely_met(white, np.full(white.size, 0.5), 10_000).any()
    assert not rarely_met(white, np.zeros(white.size), 10).any()


@pytest.mark.statistical
@pytest.mark.parametrize("seed", range(4))
def test_figures_are_within_their_standard_errors(seed) -> None:
    """Seven standard errors, from four probes and eight groups; fixed seeds."""
    oracle = ChainOracle("hidden-markov", TABLES, LENGTHS)
    policies = [parse_policy(policy) for policy in POLICIES]
    found = matrix_free_policies(population(), policies, np.random.default_rng(seed), n_draws=20_000)
    for policy, estimate in zip(policies, found.estimates, strict=True):
        matrix = oracle.policy_information([rule.spec for rule in policy.rules], policy.weights)
        truth = oracle.figures(matrix, 1)
        for name in FIGURES:
            if name == "worst_direction":
                assert np.isnan(estimate.values[name])
                continue
            error = estimate.errors[name] + 1e-9 * abs(truth[name])
            assert abs(estimate.values[name] - truth[name]) < 7 * error, (policy.spec, name)
            assert error < 0.1 * abs(truth[name]), (policy.spec, name)


@pytest.mark.statistical
def test_words_too_rare_to_be_drawn_do_not_make_the_information_singular() -> None:
    """A label that says a word once in a million tokens: labels tell of it, although no draw shows it."""
    tables = {
        "start": [0.5, 0.5],
        "transition": [[0.7, 0.3], [0.4, 0.6]],
        "emission": [[0.5, 0.4999, 0.0001 - 1e-6, 1e-6], [0.2, 0.3, 0.3, 0.2]],
    }
    oracle = ChainOracle("hidden-markov", tables, {3: 1.0})
    policy = parse_policy("window:2")
    found = matrix_free_policies(population(tables, {3: 1.0}), [policy], np.random.default_rng(0), n_draws=20_000)
    truth = oracle.figures(oracle.rule_information("window:2"), 1)["excess_joint_log_loss"]
    assert found.estimates[0].values["excess_joint_log_loss"] == pytest.approx(truth, rel=0.05)


def test_a_table_of_many_parameters_is_made_without_matrices() -> None:
    table = policy_information(
        chain_model("hidden-markov", TABLES),
        policies=["window:2", "everything"],
        lengths=LENGTHS,
        n_samples=100,
        method="matrix-free",
        max_draws=8000,
    )
    assert table.method == "matrix-free"
    assert table.information is None
    assert table.points[0].figures["worst_direction"] is None
    assert table.points[0].standard_errors["total_variance"] > 0
    assert table.to_dict()["n_estimable"] == table.n_parameters == 7
    with pytest.raises(InvalidInputError, match="does without"):
        table.matrices()


def test_what_cannot_be_done_is_refused() -> None:
    boltzmann = ChainPopulation.of(
        chain_model("boltzmann-chain", drawn_tables("boltzmann-chain", 2, 3, 0)),
        lengths=LengthDistribution.single(3),
    )
    with pytest.raises(InvalidInputError, match="hidden-markov"):
        matrix_free_policies(boltzmann, [parse_policy("everything")], np.random.default_rng(0))
    with pytest.raises(MoreSamplesNeededError, match="draw 448"):
        matrix_free_policies(population(), [parse_policy("window:2")], np.random.default_rng(0), n_draws=100)
