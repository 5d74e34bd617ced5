"""What fits of chains lose: the paper's formula where the model is right, simulated fits where it is wrong."""

import numpy as np
import pytest

from labelworth.data.sequences import Sequences
from labelworth.errors import InvalidInputError, LabelworthWarning, NotIdentifiableError
from labelworth.estimation.boltzmann_chain_fit import fit_boltzmann_chain
from labelworth.models.chains.boltzmann_chain import BoltzmannChainFamily, BoltzmannChainModel
from labelworth.models.chains.conditional_random_field import ConditionalRandomFieldModel
from labelworth.policies.spec import parse_policy
from labelworth_studies.robust.chain_risk import (
    ShownPopulation,
    mean_log_losses,
    pseudo_true_chain,
    sequence_moments,
    sequence_risk,
)
from labelworth_studies.robust.curvature import reference_covariance
from support.chain_oracle import ChainOracle
from support.log_weight_chains import KINDS, PlainChain, few, model_of
from support.statistical import assert_mean_is
from support.wrong_chains import EMISSION, LABELS, TRANSITION, WORDS, exact_population, wrong_population

RULES, SHARES = ["everything", "nothing", "prefix:1"], [0.4, 0.4, 0.2]
POLICY = "0.4*everything + 0.4*nothing + 0.2*prefix:1"
WEAK = 1e-5
"""A penalty that only settles the directions along which a chain of log-weights does not change."""
WHOLE = [0, 1, 1, 0, 1, 1, 0]


@pytest.mark.parametrize("kind", KINDS)
def test_moments_are_those_of_a_coin_over_rules(kind):
    model = model_of(kind, np.random.default_rng(2))
    whole, plain = few(WHOLE), PlainChain(model, kind)
    population = ShownPopulation.of(whole, parse_policy("0.3*everything + 0.7*prefix:1"), np.random.default_rng(0))
    prefix = few([0, -1, -1, 0, 1, -1, -1])
    scores = np.concatenate([plain.scores(whole), plain.scores(prefix)])
    shares = np.repeat([0.1, 0.7 / 3], 3)
    mean = shares @ scores
    moments = sequence_moments(model, population, reference_covariance(model, whole))
    np.testing.assert_allclose(moments.mean, mean, atol=1e-7)
    np.testing.assert_allclose(moments.variance, (scores - mean).T * shares @ (scores - mean), atol=1e-7)
    curvature = 0.3 * plain.curvature(whole) + 0.7 * plain.curvature(prefix)
    np.testing.assert_allclose(moments.curvature, curvature, atol=1e-6)
    # The variance is around the mean of all rules together: left out, it shows.
    assert np.abs(moments.variance - scores.T * shares @ scores).max() > 1e-2


def test_losses_are_joint_and_conditional():
    model = model_of("boltzmann", np.random.default_rng(3))
    whole, plain = few(WHOLE), PlainChain(model, "boltzmann")
    joint = plain.log_likelihood(whole)
    losses = mean_log_losses(model, whole, whole.hide())
    assert losses["joint"] == pytest.approx(-joint.mean())
    assert losses["conditional"] == pytest.approx(-(joint - plain.log_likelihood(whole.hide())).mean())
    assert list(mean_log_losses(model_of("crf", np.random.default_rng(3)), whole, whole.hide())) == ["conditional"]


def test_weights_of_the_parts_add_up_to_n():
    population = ShownPopulation.of(
        wrong_population(20, 4, 0), parse_policy("0.25*everything + 0.75*window:2"), np.random.default_rng(0)
    )
    weighted = population.weighted(50)
    assert weighted.n_sequences == 40
    assert weighted.sequence_weights.sum() == pytest.approx(50)
    assert weighted.sequence_weights[0] == pytest.approx(0.25 * 50 / 20)
    assert population.shown[1].evidence.is_gold.sum() == 40


def test_a_population_needs_all_its_labels_and_words():
    policy, rng = parse_policy("everything"), np.random.default_rng(0)
    with pytest.raises(InvalidInputError, match="the label of every token"):
        ShownPopulation.of(few([0, -1, 1, 0, 1, 1, 0]), policy, rng)
    sequences = few(WHOLE)
    unknown = Sequences(np.array([0, -1, 2, 2, 0, 1, 1]), sequences.offsets, sequences.evidence, WORDS)
    with pytest.raises(InvalidInputError, match="a known word per token"):
        ShownPopulation.of(unknown, policy, rng)


def shown(population, policy=POLICY):
    return ShownPopulation.of(population, parse_policy(policy), np.random.default_rng(0))


def right_model() -> BoltzmannChainModel:
    return BoltzmannChainModel(LABELS, None, np.log(TRANSITION), np.log(EMISSION), WORDS)


@pytest.mark.parametrize("kind", ["boltzmann-chain", "conditional-random-field"])
def test_where_the_model_is_right_it_is_the_papers_formula(kind):
    population = exact_population(2)
    tables = {"transition": np.log(TRANSITION), "emission": np.log(EMISSION)}
    model = right_model()
    inputs = None
    if kind != "boltzmann-chain":
        model = ConditionalRandomFieldModel(LABELS, None, tables["transition"], tables["emission"], WORDS)
        # Inputs are words drawn independently here, so only a population of such words would be right.
        inputs = np.bincount(population.words, minlength=3) / population.n_tokens
    oracle = ChainOracle(kind, tables, {2: 1.0}, inputs)
    [risk] = sequence_risk(model, shown(population), [1000], penalty=WEAK)
    expected = oracle.figures(oracle.policy_information(RULES, SHARES), 1000)
    if kind == "boltzmann-chain":
        assert risk.excess["joint"] == pytest.approx(expected["excess_joint_log_loss"], rel=1e-4)
        assert risk.excess["conditional"] == pytest.approx(expected["excess_log_loss"], rel=1e-4)
        assert risk.bias["joint"] == pytest.approx(0, abs=1e-8)
    else:
        # Labels given words are right; the words are not quite independent, so inputs differ a little.
        assert risk.excess["conditional"] == pytest.approx(expected["excess_log_loss"], rel=0.1)


def test_where_the_model_is_wrong_it_is_another_formula():
    population = wrong_population(3000, 4, 0)
    [limit] = sequence_risk(right_model(), shown(population, "everything"), [10**6], penalty=WEAK)
    target = limit.center
    [risk] = sequence_risk(target, shown(population, "0.1*everything + 0.9*nothing"), [1000], penalty=WEAK)
    tables = {"transition": target.transition, "emission": target.emission}
    oracle = ChainOracle("boltzmann-chain", tables, {4: 1.0})
    information = oracle.policy_information(["everything", "nothing"], [0.1, 0.9])
    assert risk.bias["joint"] > 2 * oracle.figures(information, 1000)["excess_joint_log_loss"]


def test_the_center_is_a_maximum_of_what_it_maximizes():
    population = shown(wrong_population(300, 4, 1))
    truth = pseudo_true_chain(right_model(), population, 200, 0.1)
    model, moments = truth.model, truth.moments
    theta = model.coordinates.flatten(model.tables)
    np.testing.assert_allclose(200 * moments.mean, 0.2 * theta, atol=1e-3)

    def objective(change: np.ndarray) -> float:
        moved = model.with_tables(model.coordinates.named(theta + change))
        total = sum(
            share * moved.log_evidence(part).mean()
            for share, part in zip(population.shares, population.shown, strict=True)
        )
        return 200 * float(total) - 0.1 * float(np.square(theta + change).sum())

    best = objective(np.zeros_like(theta))
    rng = np.random.default_rng(0)
    assert all(objective(0.05 * rng.normal(size=len(theta))) < best for _ in range(20))


@pytest.mark.statistical
def test_fits_to_draws_of_a_wrong_population_scatter_as_predicted():
    """120 fits; Gaussian means and squares at a false-alarm rate of 1e-6, the paper's formula must be refused."""
    population, policy, n_samples, penalty = wrong_population(2000, 4, 2), "0.5*everything + 0.5*nothing", 800, 0.05
    target = right_model()
    [risk] = sequence_risk(target, shown(population, policy), [n_samples], penalty=penalty)
    family = BoltzmannChainFamily.for_sequences(population, penalty=penalty, with_start=False)
    rng = np.random.default_rng(5)
    center = risk.center.coordinates.flatten(risk.center.tables)
    moves, losses = [], []
    for seed in range(120):
        rows = rng.integers(population.n_sequences, size=n_samples)
        drawn, _ = parse_policy(policy).apply(population.take(rows), seed)
        model = fit_boltzmann_chain(family, drawn, start=risk.center, tolerance=1e-8).model
        moves.append(model.coordinates.flatten(model.tables) - center)
        losses.append(mean_log_losses(model, population, population.hide())["joint"])
    moves = np.array(moves)
    # The total variance, and that along its largest direction.
    values, vectors = np.linalg.eigh(risk.covariance)
    squares = np.stack([np.square(moves).sum(axis=1), np.square(moves @ vectors[:, -1])], axis=1)
    expected = np.array([values.sum(), values[-1]])
    assert_mean_is(squares, expected, model_tolerance=0.05 * values[-1])
    excess = np.array(losses) - mean_log_losses(target, population, population.hide())["joint"]
    assert_mean_is(excess, risk.excess["joint"], model_tolerance=0.05 * risk.noise["joint"])
    # The negative control: the inverse information, as if the model were right.
    tables = {"transition": target.transition, "emission": target.emission}
    oracle = ChainOracle("boltzmann-chain", tables, {4: 1.0})
    paper = oracle.figures(oracle.policy_information(["everything", "nothing"], [0.5, 0.5]), n_samples)
    with pytest.raises(AssertionError):
        assert_mean_is(excess, paper["excess_joint_log_loss"])


def test_random_fits_have_the_covariance():
    [risk] = sequence_risk(right_model(), shown(exact_population(2)), [500], penalty=0.1)
    models = risk.draw(4000, np.random.default_rng(0))
    thetas = np.array([model.coordinates.flatten(model.tables) for model in models])
    center = risk.center.coordinates.flatten(risk.center.tables)
    np.testing.assert_allclose(thetas.mean(axis=0), center, atol=0.02)
    np.testing.assert_allclose(np.cov(thetas.T), risk.covariance, atol=0.08 * risk.covariance.max())


def test_without_any_label_there_is_no_maximum_to_speak_of():
    with pytest.warns(LabelworthWarning, match="No label"), pytest.raises(NotIdentifiableError):
        sequence_risk(right_model(), shown(exact_population(1), "nothing"), [100], penalty=0.0)


def test_more_sequences_and_several_at_once():
    population = shown(wrong_population(300, 4, 1))
    several = sequence_risk(right_model(), population, [100, 400], penalty=0.1)
    [alone] = sequence_risk(right_model(), population, [400], penalty=0.1)
    assert several[1].excess["joint"] == pytest.approx(alone.excess["joint"], rel=1e-3)
    assert several[0].noise["joint"] > 2 * several[1].noise["joint"]
