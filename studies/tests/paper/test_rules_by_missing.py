"""The information of rules by what labels leave open, against enumeration."""

import numpy as np
import pytest

from labelworth.data.lengths import LengthDistribution
from labelworth.errors import InvalidInputError
from labelworth.fisher.criteria import CRITERIA
from labelworth.fisher.sequences.population import ChainPopulation
from labelworth.policies.spec import parse_rule
from labelworth_studies.paper.parts.rules_by_missing import rules_by_missing
from support.chain_models import chain_model
from support.chain_oracle import ChainOracle, drawn_tables

RULES = ["everything", "nothing", "window:2", "random:0.4"]
WEIGHTS = [[0.2, 0.8, 0, 0], [0, 0, 1, 0], [0.1, 0.3, 0.3, 0.3]]
LENGTHS = {2: 0.5, 4: 0.5}
KINDS = ("boltzmann-chain", "conditional-random-field")


def missing(kind, seed, n_draws=2048):
    tables = drawn_tables(kind, 2, 3, 1, start=False)
    population = ChainPopulation.of(chain_model(kind, tables), lengths=LengthDistribution.from_mapping(LENGTHS))
    rules = [parse_rule(rule) for rule in RULES]
    return rules_by_missing(population, rules, np.random.default_rng(seed), n_draws=n_draws)


@pytest.mark.statistical
@pytest.mark.parametrize("kind", KINDS)
def test_figures_are_within_their_standard_errors_over_many_seeds(kind):
    """Six standard errors each (16 batches: Student's t at a false-alarm rate near 1e-6 a figure)."""
    oracle = ChainOracle(kind, drawn_tables(kind, 2, 3, 1, start=False), LENGTHS)
    distances, wrong = [], []
    for seed in range(6):
        information = missing(kind, seed)
        for weights in WEIGHTS:
            truth = oracle.figures(oracle.policy_information(RULES, weights), 1)
            estimate = information.figures(np.array(weights, float))
            # What unlabeled sequences tell a CRF is zero exactly.
            names = [name for name in CRITERIA if kind == KINDS[0] or name != "excess_marginal_log_loss"]
            distances += [abs(estimate.values[name] - truth[name]) / estimate.errors[name] for name in names]
            other = oracle.figures(oracle.policy_information(RULES, np.roll(weights, 1)), 1)["total_variance"]
            wrong.append(abs(estimate.values["total_variance"] - other) / estimate.errors["total_variance"])
    assert max(distances) < 6
    assert np.mean(np.array(distances) < 2) > 0.7
    # The figures of another policy are told apart.
    assert min(wrong) > 6


def test_complete_labels_and_none_of_a_crf_are_exact():
    boltzmann, crf = (missing(kind, 0, 64) for kind in KINDS)
    oracle = ChainOracle(KINDS[0], drawn_tables(KINDS[0], 2, 3, 1, start=False), LENGTHS)
    np.testing.assert_allclose(boltzmann.matrices[0], oracle.rule_information("everything"), atol=1e-12)
    assert not crf.matrices[1].any()


def test_a_hidden_markov_model_is_refused():
    population = ChainPopulation.of(
        chain_model("hidden-markov", drawn_tables("hidden-markov", 2, 3, 1)),
        lengths=LengthDistribution.from_mapping({2: 1}),
    )
    with pytest.raises(InvalidInputError, match="Boltzmann chains and CRFs"):
        rules_by_missing(population, [parse_rule("nothing")], np.random.default_rng(0), n_draws=64)
