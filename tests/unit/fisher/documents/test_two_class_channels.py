import numpy as np
import pytest

from labelworth.channels.arm import Arm, menu
from labelworth.channels.channel import Channel
from labelworth.data.lengths import LengthDistribution
from labelworth.errors import InvalidInputError
from labelworth.fisher.criteria import CRITERIA
from labelworth.fisher.documents.channels import ArmSet, channel_information, enumerated_channels
from labelworth.fisher.documents.population import enumerate_outcomes
from labelworth.fisher.documents.two_class_channels import TwoClassChannels, two_class_channels
from labelworth.models.classes.multinomial import MultinomialModel
from support.small_models import drawn_multinomial

LLM = Channel("llm", [[0.9, 0.1], [0.2, 0.8]], unknown=True, votes=(1, 3))
ZEROS = Channel("zeros", [[0.9, 0.1, 0.0], [0.2, 0.5, 0.3]], unknown=True)
CROWD = Channel("crowd", accuracy=0.7, votes=(1, 3))
SURE = Channel("sure", [[1.0, 0.0], [0.3, 0.7]])


def arms_of(model: MultinomialModel) -> ArmSet:
    return ArmSet.of([*menu([LLM, ZEROS, CROWD, SURE])[2:], Arm.of(LLM, CROWD)], model.classes)


@pytest.mark.parametrize(("n_words", "lengths"), [(3, {4: 1.0}), (4, {3: 0.4, 5: 0.6}), (5, {1: 0.5, 4: 0.5})])
def test_figures_and_slopes_are_those_of_enumeration(n_words: int, lengths: dict[int, float]) -> None:
    model = drawn_multinomial(2, n_words, lengths)
    arms = arms_of(model)
    exact, formula = enumerated_channels(model, arms), two_class_channels(model, arms)
    n_arms, rng = len(arms.arms), np.random.default_rng(0)
    for weights in [*np.eye(n_arms), *rng.dirichlet(np.ones(n_arms), size=4)]:
        expected, found = exact.figures(weights), formula.figures(weights)
        assert found.is_identifiable == expected.is_identifiable
        if expected.is_identifiable:
            for name, value in expected.values.items():
                assert found.values[name] == pytest.approx(value, rel=1e-8), name
    unused = np.array([50.0, 2.0, *[0.0] * (n_arms - 2)])
    for counts in (rng.exponential(10, size=n_arms), unused):
        for name in ("total_variance", "excess_log_loss", "excess_marginal_log_loss", "log_volume"):
            points = [way.point(CRITERIA[name], counts) for way in (exact, formula)]
            assert points[1].value == pytest.approx(points[0].value, rel=1e-9)
            np.testing.assert_allclose(points[1].slope, points[0].slope, rtol=1e-8)


@pytest.mark.parametrize(
    "confusion", [[[0.97, 0.03], [0.27, 0.73]], [[0.85, 0.15], [0.15, 0.85]], [[1, 0], [0.4, 0.6]]]
)
def test_kappa_is_the_share_of_gold_that_is_lost(confusion: list[list[float]]) -> None:
    """I_a = I_X + E[p (1-p) (1 - kappa_a(p)) d d'], kappa = sum_z q(z|1) q(z|2) / (p q(z|1) + (1-p) q(z|2))."""
    model = drawn_multinomial(2, 4, {5: 1.0})
    table = np.array(confusion)
    found = enumerated_channels(model, ArmSet.of([Arm.of(Channel("x", table))], model.classes)).matrices
    outcomes = enumerate_outcomes(model)
    p, weights = outcomes.posterior[:, 0], outcomes.probabilities
    kappa = sum(a * b / (p * a + (1 - p) * b) for a, b in table.T if a * b > 0)
    scores = model.class_scores(outcomes.samples)
    apart = scores[:, 0] - scores[:, 1]
    expected = np.einsum("n,ni,nj->ij", weights * p * (1 - p) * (1 - kappa), apart, apart)
    np.testing.assert_allclose(found[2] - found[0], expected, rtol=1e-9, atol=1e-10)
    if table[0, 0] == table[1, 1]:
        t, reach = p * (1 - p), (2 * table[0, 0] - 1) ** 2
        np.testing.assert_allclose(1 - kappa, t * reach / (table[0, 0] * table[0, 1] + t * reach), atol=1e-14)


def _quadratic(formula: TwoClassChannels, arm: int, constant: float, per_word: np.ndarray) -> float:
    """E[Var(S | x, z)] along a direction in which the scores of the two classes differ by constant + per_word . c."""
    moments, classes = formula.moments[arm].missing, formula.classes
    scaled = per_word * np.sqrt(classes.word_probabilities.prod(axis=0)) / classes.whitening
    pairs = moments.pair_factor.T @ scaled
    linear = (2 * constant * per_word + per_word**2) @ moments.first
    return float(constant**2 * moments.zeroth + linear + pairs @ moments.pair_core @ pairs)


@pytest.mark.statistical
def test_fifty_thousand_words_are_those_of_drawn_documents() -> None:
    """Three directions of three arms within five standard errors: 9 x 6e-7 = 5e-6; fixed seed. Another arm's fail."""
    rng, n_words = np.random.default_rng(4), 50_000
    rows = 0.9 * rng.dirichlet(np.full(n_words, 0.5), size=2) + 0.1 / n_words
    # Classes near enough for 20 words to leave doubt.
    rows[1] = 0.8 * rows[0] + 0.2 * rows[1]
    model = MultinomialModel(("a", "b"), [0.3, 0.7], rows, LengthDistribution.from_mapping({15: 0.5, 20: 0.5}))
    arms = ArmSet.of([Arm.of(CROWD), Arm.of(CROWD, votes=3), Arm.of(SURE)], model.classes)
    formula = two_class_channels(model, arms)
    samples = model.sample(40_000, rng).hide()
    log_joint = model.log_joint(samples)
    posterior = 1 / (1 + np.exp(log_joint[:, 1] - log_joint[:, 0]))
    left = []
    for answers in arms.answers[2:]:
        joint = np.stack([posterior, 1 - posterior], axis=1)[:, None, :] * answers.likelihood
        seen = joint.sum(axis=2)
        left.append(np.divide(joint.prod(axis=2), seen, out=np.zeros_like(seen), where=seen > 0).sum(axis=1))
    for constant, scale in ((1 / 0.3 + 1 / 0.7, 0.0), (0.0, 1.0), (2.0, -0.5)):
        per_word = scale * rng.standard_normal(n_words)
        apart = np.square(constant + samples.counts @ per_word)
        for arm, share in enumerate(left):
            draws = share * apart
            error = draws.std(ddof=1) / np.sqrt(len(draws))
            assert abs(draws.mean() - _quadratic(formula, 2 + arm, constant, per_word)) <= 5 * error
            assert abs(draws.mean() - _quadratic(formula, 2 + (arm + 1) % 3, constant, per_word)) > 5 * error
    criterion = CRITERIA["excess_log_loss"]
    mixed, plain = ([0.5, 0.1, 0.2, 0.1, 0.1], [0.9, 0.1, 0, 0, 0])
    assert formula.estimate(criterion, np.array(mixed))[0] < formula.estimate(criterion, np.array(plain))[0]
    assert formula.n_parameters == 2 * n_words - 1


def test_the_formula_is_chosen_for_many_words_and_refused_for_many_classes() -> None:
    model = drawn_multinomial(2, 40, {30: 1.0})
    arms = ArmSet.of([Arm.of(CROWD)], model.classes)
    weights = np.array([0.5, 0.2, 0.3])
    chosen = channel_information(model, arms, [weights], "auto", np.random.default_rng(0))
    assert chosen.information.method == "formula"
    assert "exact formula" in chosen.reason
    other = drawn_multinomial(3, 4, {3: 1.0})
    with pytest.raises(InvalidInputError, match=r"for two classes. Got 3"):
        channel_information(
            other, ArmSet.of([Arm.of(CROWD)], other.classes), [weights], "formula", np.random.default_rng(0)
        )
