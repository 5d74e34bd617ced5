"""Information at nearby parameters: right at those parameters, with the noise that batches tell."""

import numpy as np
import pytest

from labelworth.data.lengths import LengthDistribution
from labelworth.fisher.sequences.nearby import NearbyRules
from labelworth.fisher.sequences.population import ChainPopulation
from labelworth.policies.spec import parse_rule
from support.chain_models import chain_model
from support.chain_oracle import ChainOracle, drawn_tables
from support.statistical import assert_mean_is

LENGTHS = {2: 0.5, 4: 0.5}
RULES = ["nothing", "window:2"]
N_SEEDS = 40


def tables_near(kind: str) -> dict[str, np.ndarray]:
    """Half of one set of tables and half of another: far enough to be told apart."""
    own, other = (drawn_tables(kind, 2, 3, seed) for seed in (1, 2))
    return {name: (np.asarray(own[name]) + np.asarray(other[name])) / 2 for name in own}


def population(kind: str, tables: dict[str, np.ndarray]) -> ChainPopulation:
    return ChainPopulation.of(chain_model(kind, tables), lengths=LengthDistribution.from_mapping(LENGTHS))


@pytest.mark.statistical
@pytest.mark.parametrize("kind", ["hidden-markov", "boltzmann-chain", "conditional-random-field"])
def test_the_information_is_that_of_the_other_parameters(kind: str) -> None:
    """Along random directions, whose shares of information have means that a t-test knows at 1e-6."""
    middle, away = drawn_tables(kind, 2, 3, 1), tables_near(kind)
    rules = [parse_rule(rule) for rule in RULES]
    near = NearbyRules.learned(population(kind, middle), rules, np.random.default_rng(0), n_draws=2048)
    found = [near.at(population(kind, away), np.random.default_rng([1, seed])).matrices[1] for seed in range(N_SEEDS)]
    exact, wrong = (ChainOracle(kind, tables, LENGTHS).rule_information("window:2") for tables in (away, middle))
    directions = np.random.default_rng(3).standard_normal((6, len(exact)))
    drawn, truth, elsewhere = (
        np.einsum("ia,...ab,ib->...i", directions, matrices, directions)
        for matrices in (np.array(found), exact, wrong)
    )
    assert_mean_is(drawn, truth)
    with pytest.raises(AssertionError):
        assert_mean_is(drawn, elsewhere)


@pytest.mark.parametrize("kind", ["hidden-markov", "boltzmann-chain"])
def test_complete_labels_are_known_exactly_and_noise_is_taken_off(kind: str) -> None:
    """The plain mean of squared scores of the same draws is at least twice as far from the truth."""
    away = tables_near(kind)
    near = NearbyRules.learned(
        population(kind, drawn_tables(kind, 2, 3, 1)),
        [parse_rule("window:2")],
        np.random.default_rng(0),
        n_draws=2048,
    )
    plain = NearbyRules(near.listed, near.n_draws, {}, None)
    oracle = ChainOracle(kind, away, LENGTHS)
    exact = oracle.rule_information("window:2")
    distances = []
    for seed in range(5):
        sharp, rough = (way.at(population(kind, away), np.random.default_rng(seed)) for way in (near, plain))
        np.testing.assert_allclose(
            sharp.matrices[sharp.everything], oracle.rule_information("everything"), rtol=1e-9, atol=1e-9
        )
        distances.append([np.linalg.norm(found.matrices[0] - exact) for found in (sharp, rough)])
    assert 2 * np.mean(distances, axis=0)[0] < np.mean(distances, axis=0)[1]


def test_batches_tell_the_noise_of_their_mean() -> None:
    kind = "hidden-markov"
    middle = population(kind, drawn_tables(kind, 2, 3, 1))
    near = NearbyRules.learned(middle, [parse_rule("window:2")], np.random.default_rng(0), n_draws=1024)
    found = near.at(middle, np.random.default_rng(1))
    assert found.batches is not None
    assert found.n_drawn == 1024
    np.testing.assert_allclose(found.batches.mean(axis=0), found.matrices, rtol=1e-12, atol=1e-12)
    assert found.batches[:, 0].std(axis=0).max() > 0
