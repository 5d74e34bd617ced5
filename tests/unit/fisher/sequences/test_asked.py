"""What anybody's answers about the tokens of sequences tell, against brute force."""

import numpy as np
import pytest

from labelworth.channels.arm import GOLD, Arm
from labelworth.channels.channel import Channel
from labelworth.data.lengths import LengthDistribution
from labelworth.fisher.criteria import CRITERIA
from labelworth.fisher.dense import DenseInformation
from labelworth.fisher.enumeration import enumerated
from labelworth.fisher.sampling import sampled
from labelworth.fisher.sequences.asked import AskedRule
from labelworth.fisher.sequences.nearby import NearbyRules
from labelworth.fisher.sequences.population import ChainPopulation
from labelworth.fisher.sequences.rule_list import RuleList
from labelworth.models.chains.boltzmann_chain import BoltzmannChainModel
from labelworth.models.chains.conditional_random_field import ConditionalRandomFieldModel
from labelworth.models.chains.hidden_markov import HiddenMarkovModel
from labelworth.policies.spec import parse_rule
from support.asked_chain_oracle import AskedChainOracle, PlainAsked
from support.chain_oracle import ChainOracle, drawn_tables

CROWD = np.array([[0.8, 0.2], [0.3, 0.7]])
SURE = np.array([[1.0, 0.0], [0.25, 0.75]])  # With an answer that only one label gets.
LENGTHS = {2: 0.4, 3: 0.6}


def population_of(kind: str, seed: int = 3) -> tuple[ChainPopulation, ChainOracle]:
    tables = drawn_tables(kind, 2, 3, seed)
    lengths = LengthDistribution(np.array(list(LENGTHS)), np.array(list(LENGTHS.values())))
    classes, words = ("a", "b"), ("x", "y", "z")
    if kind == "hidden-markov":
        model = HiddenMarkovModel(classes, tables["start"], tables["transition"], tables["emission"], words)
    elif kind == "boltzmann-chain":
        model = BoltzmannChainModel(classes, tables["start"], tables["transition"], tables["emission"], words)
    else:
        model = ConditionalRandomFieldModel(classes, tables["start"], tables["transition"], tables["emission"], words)
    return ChainPopulation.of(model, lengths=lengths), ChainOracle(kind, tables, LENGTHS)


def listed(*asked: tuple[str, Arm]) -> RuleList:
    return RuleList.of([AskedRule(parse_rule(rule), arm) for rule, arm in asked], ("a", "b"))


def matrix(information: DenseInformation, name: str) -> np.ndarray:
    return information.matrices[information.rules.index(name)]


@pytest.mark.parametrize("kind", ["hidden-markov", "boltzmann-chain", "conditional-random-field"])
def test_known_confusions_have_the_information_of_brute_force(kind: str) -> None:
    population, chain = population_of(kind)
    crowd, sure = Channel("crowd", CROWD, votes=(1, 2)), Channel("sure", SURE)
    rules = listed(
        ("everything", Arm.of(crowd)),
        ("window:2", Arm.of(crowd, votes=2)),
        ("every-other", Arm.of(crowd, sure)),
        ("window:1", Arm.of(sure, gold=True)),
    )
    oracle = AskedChainOracle(chain, {"crowd": CROWD, "sure": SURE})
    plain = [
        PlainAsked("everything", asked=["crowd"]),
        PlainAsked("window:2", asked=["crowd", "crowd"]),
        PlainAsked("every-other", asked=["crowd", "sure"]),
        PlainAsked("window:1", gold=True, asked=["sure"]),
    ]
    information = enumerated(population, rules)
    for index, arm in enumerate(plain):
        np.testing.assert_allclose(information.matrices[index], oracle.information(arm), rtol=1e-8, atol=1e-10)
    wrong = AskedChainOracle(chain, {"crowd": CROWD[::-1], "sure": SURE})
    assert np.abs(information.matrices[0] - wrong.information(plain[0])).max() > 1e-3
    assert information.expected_labels[:4] == pytest.approx([2.6, 4.0, 2 * (0.4 + 0.6 * 2), 2.0])


@pytest.mark.parametrize("kind", ["hidden-markov", "conditional-random-field"])
def test_unknown_confusions_cost_what_brute_force_says(kind: str) -> None:
    population, chain = population_of(kind)
    crowd = Channel("crowd", CROWD, unknown=True)
    coin = Channel("coin", accuracy=0.75)
    rules = listed(
        ("everything", Arm.of(crowd)),
        ("window:1", Arm.of(crowd, gold=True)),
        ("every-other", Arm.of(crowd, coin)),
    )
    oracle = AskedChainOracle(chain, {"crowd": CROWD, "coin": np.array([[0.75, 0.25], [0.25, 0.75]])}, ["crowd"])
    plain = [
        PlainAsked("everything", asked=["crowd"]),
        PlainAsked("window:1", gold=True, asked=["crowd"]),
        PlainAsked("every-other", asked=["crowd", "coin"]),
        PlainAsked("everything", gold=True),
    ]
    information = enumerated(population, rules)
    assert information.nuisance == ("crowd: b for a", "crowd: a for b")
    for counts in ([5.0, 2.0, 0.0, 3.0], [3.0, 0.0, 2.0, 1.0], [4.0, 0.0, 0.0, 2.0]):
        told = oracle.of_model(plain, counts)
        basis = information.contrasts.basis
        expected = basis @ np.linalg.inv(basis.T @ told @ basis) @ basis.T
        # Rules are those listed, then everything and nothing.
        np.testing.assert_allclose(information.covariance(np.array([*counts, 0.0])), expected, rtol=1e-7, atol=1e-10)
    known = AskedChainOracle(chain, oracle.confusions).of_model(plain, [4.0, 0.0, 0.0, 2.0])
    assert np.trace(basis.T @ known @ basis) > 1.001 * np.trace(basis.T @ told @ basis)


def test_garbling_never_adds_gold_is_the_identity_and_a_constant_tells_nothing() -> None:
    population, _ = population_of("hidden-markov")
    noise = np.array([[0.9, 0.1], [0.2, 0.8]])
    kinds = {
        "sure": Channel("sure", np.eye(2)),
        "crowd": Channel("crowd", CROWD),
        "worse": Channel("worse", CROWD @ noise),
        "deaf": Channel("deaf", [[0.4, 0.6], [0.4, 0.6]]),
    }
    arms = {name: Arm.of(channel) for name, channel in kinds.items()}
    information = enumerated(
        population, listed(*((rule, arm) for rule in ("everything", "window:2") for arm in arms.values()))
    )
    for rule in ("everything", "window:2"):
        gold = information.matrices[information.rules.index(rule)] if rule == "everything" else None
        sure, crowd, worse, deaf = (matrix(information, f"{rule} by {name}") for name in kinds)
        if gold is not None:
            np.testing.assert_allclose(sure, gold, atol=1e-10)
        np.testing.assert_allclose(deaf, matrix(information, "nothing"), atol=1e-10)
        for more, less in ((sure, crowd), (crowd, worse), (worse, deaf)):
            assert np.linalg.eigvalsh(more - less)[0] > -1e-10
            # The control: the other way round it does not hold.
            assert np.linalg.eigvalsh(less - more)[0] < -1e-3


@pytest.mark.statistical
@pytest.mark.parametrize("kind", ["hidden-markov", "conditional-random-field"])
def test_drawn_answers_tell_what_a_sum_over_all_of_them_does(kind: str) -> None:
    population, _ = population_of(kind)
    crowd, model = Channel("crowd", CROWD, unknown=True), Channel("model", SURE @ CROWD)
    rules = listed(
        ("everything", Arm.of(crowd, votes=2)),
        ("window:2", Arm.of(model)),
        ("window:1", Arm.of(crowd, gold=True)),
    )
    exact = enumerated(population, rules)
    designs = [np.array(shares) for shares in ([0.5, 0.0, 0.2, 0.3, 0.0], [0.0, 0.5, 0.0, 0.5, 0.0])]
    drawn = sampled(population, rules, designs, np.random.default_rng(5), max_draws=1 << 16)
    criterion = CRITERIA["excess_log_loss"]
    for design in designs:
        expected = exact.estimate(criterion, design)[0]
        value, error = drawn.estimate(criterion, design)
        assert error is not None
        assert abs(value - expected) < 6 * error  # 64 or 32 batches: beyond Student's 1e-6 quantile.
        assert error < 0.02 * expected
        assert abs(1.2 * expected - value) > 6 * error
    twin = NearbyRules.learned(population, rules.rules[:3], np.random.default_rng(6)).at(
        population, np.random.default_rng(7), n_batches=32
    )
    value, error = twin.estimate(criterion, designs[0])
    assert error is not None
    assert abs(value - exact.estimate(criterion, designs[0])[0]) < 6.5 * error


def test_gold_of_a_rule_is_the_rule() -> None:
    rules = listed(("everything", GOLD), ("window:2", GOLD))
    assert rules.specs == ("everything", "window:2", "nothing")
    assert rules.nuisance == ()
