import numpy as np
import pytest

from labelworth.data.lengths import LengthDistribution
from labelworth.errors import InvalidInputError, MoreSamplesNeededError, NotIdentifiableError
from labelworth.fisher.criteria import CRITERIA
from labelworth.fisher.sampling import sampled
from labelworth.fisher.sequences.population import ChainPopulation
from labelworth.fisher.sequences.rule_list import RuleList
from labelworth.policies.spec import parse_policy, parse_rule
from support.chain_models import chain_model
from support.chain_oracle import ChainOracle, drawn_tables

RULES = ["everything", "nothing", "window:2", "random:0.4"]
WEIGHTS = [[0.2, 0.8, 0, 0], [0, 0, 1, 0], [0, 0.3, 0.3, 0.4]]
LENGTHS = {2: 0.5, 4: 0.5}


def sampled_chain(kind, seed, *, start=True, lengths=None, max_draws=16_384, **inputs):
    tables = drawn_tables(kind, 2, 3, 1, start=start)
    population = ChainPopulation.of(
        chain_model(kind, tables), lengths=LengthDistribution.from_mapping(lengths or LENGTHS), **inputs
    )
    rules = [parse_rule(rule) for rule in RULES]
    return sampled(population, RuleList.of(rules), [], np.random.default_rng(seed), max_draws=max_draws)


@pytest.mark.statistical
@pytest.mark.parametrize(("kind", "start"), [("hidden-markov", True), ("boltzmann-chain", False)])
def test_figures_are_within_their_standard_errors_over_many_seeds(kind, start) -> None:
    """Five standard errors each, and about as many within one and two as there should be."""
    oracle = ChainOracle(kind, drawn_tables(kind, 2, 3, 1, start=start), LENGTHS)
    distances = []
    for seed in range(8):
        information = sampled_chain(kind, seed, start=start, max_draws=4096)
        for weights in WEIGHTS:
            truth = oracle.figures(oracle.policy_information(RULES, weights), 1)
            estimate = information.figures(np.array(weights, float))
            distances.append([(estimate.values[name] - truth[name]) / estimate.errors[name] for name in CRITERIA])
    distances = np.abs(distances)
    assert distances.max() < 5
    assert np.mean(distances < 2) > 0.8
    # Standard errors are not idle: a good part of the figures is beyond half of one.
    assert np.mean(distances > 0.5) > 0.25


@pytest.mark.statistical
def test_what_is_known_of_the_noise_is_taken_off() -> None:
    """Beside the plain mean of squared scores, the sharpened information is at least four times as close."""
    kind, tables = "hidden-markov", drawn_tables("hidden-markov", 2, 3, 1)
    oracle = ChainOracle(kind, tables, LENGTHS)
    exact = oracle.rule_information("random:0.4")
    found = sampled_chain(kind, 0)
    population = ChainPopulation.of(chain_model(kind, tables), lengths=LengthDistribution.from_mapping(LENGTHS))
    rng = np.random.default_rng(0)
    drawn = population.draw(found.n_drawn, rng)
    mask = parse_rule("random:0.4").draw(drawn.lengths, rng)
    scores = population.model.scores(drawn.hide(~mask))
    plain = scores.T @ scores / len(scores)
    assert np.linalg.norm(found.matrices[RULES.index("random:0.4")] - exact) < np.linalg.norm(plain - exact) / 2


def test_a_rule_that_shows_everything_or_nothing_comes_out_exactly() -> None:
    """Directions a rule sees completely, or a conditional model not at all, have no noise."""
    kind = "hidden-markov"
    population = ChainPopulation.of(
        chain_model(kind, drawn_tables(kind, 2, 3, 1)), lengths=LengthDistribution.from_mapping(LENGTHS)
    )
    whole = [parse_rule("prefix:4")]
    found = sampled(population, RuleList.of(whole), [], np.random.default_rng(0), max_draws=2048)
    np.testing.assert_allclose(found.matrices[0], found.matrices[found.everything], rtol=1e-9, atol=1e-9)
    crf = sampled_chain("conditional-random-field", 0, max_draws=2048)
    assert not crf.matrices[crf.nothing].any()


def test_an_open_direction_is_found_open_and_not_called_noise() -> None:
    """One token of two labels and three words: words alone leave directions open, exactly."""
    information = sampled_chain("hidden-markov", 0, lengths={1: 1.0})
    estimate = information.figures(np.array([0.0, 1.0, 0.0, 0.0]))
    assert not estimate.is_identifiable
    assert estimate.weak_directions[0].relative_information == 0
    assert all(np.isnan(value) for value in estimate.values.values())


def test_draws_stop_where_every_figure_is_known_well_enough() -> None:
    kind = "hidden-markov"
    population = ChainPopulation.of(
        chain_model(kind, drawn_tables(kind, 2, 3, 1)), lengths=LengthDistribution.from_mapping(LENGTHS)
    )
    policy = parse_policy("0.3*everything + 0.7*nothing")
    rules = RuleList.of(policy.rules)
    found = sampled(population, rules, [rules.weights_of(policy)], np.random.default_rng(0), relative_error=0.02)
    estimate = found.figures(rules.weights_of(policy))
    assert max(estimate.relative_errors(found.n_estimable).values()) <= 0.02


def test_too_few_draws_are_refused_with_the_number_that_may_do() -> None:
    information = sampled_chain("boltzmann-chain", 0, max_draws=64)
    with pytest.raises(MoreSamplesNeededError, match="draw"):
        information.figures(np.array([0.0, 1.0, 0.0, 0.0]))


def test_the_same_seed_gives_the_same_bits() -> None:
    first, second = (
        sampled_chain("hidden-markov", 5, max_draws=1024),
        sampled_chain("hidden-markov", 5, max_draws=1024),
    )
    np.testing.assert_array_equal(first.matrices, second.matrices)
    assert np.abs(sampled_chain("hidden-markov", 6, max_draws=1024).matrices - first.matrices).max() > 0


def test_models_too_large_for_matrices_are_refused() -> None:
    tables = drawn_tables("boltzmann-chain", 2, 400, 1)
    population = ChainPopulation.of(
        chain_model("boltzmann-chain", tables), lengths=LengthDistribution.from_mapping(LENGTHS)
    )
    with pytest.raises(InvalidInputError, match="parameters"):
        sampled(population, RuleList.of([]), [], np.random.default_rng(0))


def test_weights_too_far_apart_to_be_told_are_named() -> None:
    tables = drawn_tables("boltzmann-chain", 2, 3, 1)
    tables["transition"] = [[-100.0, 0.2], [0.3, 0.7]]
    population = ChainPopulation.of(
        chain_model("boltzmann-chain", tables), lengths=LengthDistribution.from_mapping(LENGTHS)
    )
    rules = RuleList.of([parse_rule("everything"), parse_rule("nothing")])
    with pytest.raises(NotIdentifiableError, match=r"Even complete labels do not pin the model down.* along "):
        sampled(population, rules, [], np.random.default_rng(0), max_draws=4096)


def test_parameters_that_draws_hardly_meet_are_counted() -> None:
    """A word said once in a hundred thousand tokens; with an ordinary one instead nothing is said."""
    for rare, expected in ((1e-5, True), (0.1, False)):
        tables = drawn_tables("hidden-markov", 2, 3, 1)
        tables["emission"] = [[0.5 - rare, 0.5, rare], [0.3, 0.3, 0.4]]
        population = ChainPopulation.of(
            chain_model("hidden-markov", tables), lengths=LengthDistribution.from_mapping(LENGTHS)
        )
        found = sampled(
            population, RuleList.of([parse_rule("window:2")]), [], np.random.default_rng(0), max_draws=4096
        )
        assert (found.n_hardly_met > 0) == expected


@pytest.mark.parametrize(("rare", "expected"), [(1e-12, 1 << 17), (2e-4, 1 << 17)])
def test_what_is_too_rare_for_all_draws_is_not_waited_for(rare: float, expected: int) -> None:
    tables = drawn_tables("hidden-markov", 2, 3, 1)
    tables["emission"] = [[0.5 - rare, 0.5, rare], [0.3, 0.3, 0.4]]
    population = ChainPopulation.of(
        chain_model("hidden-markov", tables), lengths=LengthDistribution.from_mapping(LENGTHS)
    )
    rules = RuleList.of([parse_rule("window:2")])
    found = sampled(population, rules, [], np.random.default_rng(0), max_draws=1 << 20)
    assert (found.n_hardly_met > 0) == (rare < 1e-6)
    assert found.n_drawn <= expected
