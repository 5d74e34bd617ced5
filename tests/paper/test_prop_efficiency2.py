"""prop:efficiency2: under a labeling policy sqrt(n) (theta_hat - theta) is asymptotically N(0, I(policy)^-1).

False-alarm rate 1e-6 per assertion, shared by all directions; the stated tolerance is for finite n.
"""

from functools import cache

import numpy as np
import pytest

from labelworth.criteria.information import information
from labelworth.criteria.table import InformationTable
from support.chain_models import chain_model
from support.chain_oracle import ChainOracle
from support.chain_replicates import draw_seen, estimate
from support.statistical import assert_covariance_is, assert_mean_is

pytestmark = pytest.mark.statistical

N_SAMPLES, N_REPLICATES, TOLERANCE = 40_000, 800, 0.03
LENGTHS = {2: 0.5, 4: 0.5}
TABLES = {
    "hidden-markov": {
        "start": [0.6, 0.4],
        "transition": [[0.75, 0.25], [0.3, 0.7]],
        "emission": [[0.8, 0.2], [0.25, 0.75]],
    },
    "boltzmann-chain": {"transition": [[0.6, -0.2], [-0.4, 0.5]], "emission": [[0.9, -0.6], [-0.7, 0.6]]},
}
POLICIES = {
    "full": {"everything": 1.0},
    "window": {"window:2": 1.0},
    "prefix": {"prefix:0.5": 1.0},
    "first only": {"prefix:1": 1.0},
    "mixture": {"everything": 0.2, "every-other": 0.3, "nothing": 0.5},
}
CASES = [(kind, name) for kind in TABLES for name in POLICIES]


@cache
def oracle_of(kind: str) -> ChainOracle:
    return ChainOracle(kind, TABLES[kind], LENGTHS)


@cache
def table_of(kind: str) -> InformationTable:
    """What the package predicts, one point per policy."""
    texts = [" + ".join(f"{weight}*{rule}" for rule, weight in policy.items()) for policy in POLICIES.values()]
    return information(chain_model(kind, TABLES[kind]), policies=texts, lengths=LENGTHS, n_samples=N_SAMPLES)


def predicted(kind: str, name: str) -> np.ndarray:
    """The covariance of the estimable contrasts."""
    table, basis = table_of(kind), oracle_of(kind).estimable
    matrix = table.information_of(table.points[list(POLICIES).index(name)])
    return np.linalg.inv(basis.T @ matrix @ basis) / N_SAMPLES


@cache
def errors_of(kind: str, name: str) -> np.ndarray:
    """Errors of many maximum-likelihood estimates, on the estimable contrasts."""
    oracle = oracle_of(kind)
    rng = np.random.default_rng(CASES.index((kind, name)))
    data = draw_seen(oracle, POLICIES[name], N_SAMPLES, N_REPLICATES, rng)
    found = estimate(oracle, data, np.tile(oracle.theta, (N_REPLICATES, 1)))
    return (found - oracle.theta) @ oracle.estimable


@pytest.mark.parametrize(("kind", "name"), CASES)
def test_the_covariance_of_the_estimates_is_the_inverse_information(kind, name) -> None:
    assert_covariance_is(errors_of(kind, name), predicted(kind, name), model_tolerance=TOLERANCE)


@pytest.mark.parametrize("kind", TABLES)
@pytest.mark.parametrize("name", [name for name in POLICIES if name != "full"])
def test_the_information_of_complete_labels_is_rejected_for_a_partial_policy(kind, name) -> None:
    with pytest.raises(AssertionError):
        assert_covariance_is(errors_of(kind, name), predicted(kind, "full"), model_tolerance=TOLERANCE)


@pytest.mark.parametrize(("kind", "name"), CASES)
def test_the_information_itself_is_rejected(kind, name) -> None:
    """As prop:efficiency2 would have it if its Sigma were read as that of prop:efficiency1."""
    information_itself = np.linalg.inv(predicted(kind, name)) / N_SAMPLES**2
    with pytest.raises(AssertionError):
        assert_covariance_is(errors_of(kind, name), information_itself, model_tolerance=TOLERANCE)


@pytest.mark.parametrize("kind", TABLES)
def test_labels_alone_are_rejected_where_the_rest_helps(kind) -> None:
    """Sequences without labels count: the mixture is not its labeled half alone."""
    labeled = {rule: weight for rule, weight in POLICIES["mixture"].items() if rule != "nothing"}
    basis = oracle_of(kind).estimable
    matrix = oracle_of(kind).policy_information(list(labeled), list(labeled.values()))
    alone = np.linalg.inv(basis.T @ matrix @ basis) / N_SAMPLES
    with pytest.raises(AssertionError):
        assert_covariance_is(errors_of(kind, "mixture"), alone, model_tolerance=TOLERANCE)


@pytest.mark.parametrize("kind", TABLES)
@pytest.mark.parametrize("name", ["window", "first only"])
def test_the_total_variance_is_the_expected_squared_error(kind, name) -> None:
    oracle, table = oracle_of(kind), table_of(kind)
    point = table.points[list(POLICIES).index(name)]
    named = errors_of(kind, name) @ oracle.estimable.T @ oracle.jacobian.T
    expected = point.figures["total_variance"]
    assert_mean_is(np.square(named).sum(axis=1), expected, model_tolerance=TOLERANCE * expected)
    with pytest.raises(AssertionError):
        assert_mean_is(np.square(named).sum(axis=1), table.points[0].figures["total_variance"])


@pytest.mark.parametrize("kind", TABLES)
def test_the_excess_log_losses_are_those_the_estimates_pay(kind) -> None:
    """Exactly evaluated, on every sequence of words and labels."""
    oracle, table = oracle_of(kind), table_of(kind)
    point = table.points[list(POLICIES).index("prefix")]
    found = oracle.theta + errors_of(kind, "prefix") @ oracle.estimable.T
    joint, marginal = np.zeros(len(found)), np.zeros(len(found))
    for length, share in LENGTHS.items():
        truth = oracle.joint_at(oracle.theta, length)
        for place, theta in enumerate(found):
            guess = oracle.joint_at(theta, length)
            joint[place] += share * np.sum(truth * np.log(truth / guess))
            marginal[place] += share * np.sum(truth.sum(axis=1) * np.log(truth.sum(axis=1) / guess.sum(axis=1)))
    paid = {
        "excess_joint_log_loss": joint,
        "excess_marginal_log_loss": marginal,
        "excess_log_loss": joint - marginal,
    }
    for name, losses in paid.items():
        expected = point.figures[name]
        assert_mean_is(losses, expected, model_tolerance=TOLERANCE * expected)
        with pytest.raises(AssertionError):
            assert_mean_is(losses, 2 * expected, model_tolerance=TOLERANCE * expected)
