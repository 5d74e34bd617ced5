"""Answers of every kind against brute force; see `support.channel_oracle`."""

import numpy as np
import pytest

from labelworth.channels.arm import Arm
from labelworth.channels.channel import Channel
from labelworth.errors import InvalidInputError, NotIdentifiableError
from labelworth.fisher.criteria import CRITERIA
from labelworth.fisher.documents.channels import ArmSet, channel_information, enumerated_channels
from labelworth.fisher.documents.population import enumerated_information
from labelworth.models.classes.bernoulli import BernoulliModel
from labelworth.models.classes.multinomial import MultinomialModel
from support.channel_oracle import ChannelOracle, PlainArm
from support.oracles import enumerated_bernoulli, enumerated_sequences, numerical_gradient, simplex_jacobian
from support.small_models import drawn_multinomial, gaussian

SPECS = [(2, 3, {2: 1.0}), (2, 4, {3: 0.4, 5: 0.6}), (3, 4, {3: 1.0}), (4, 3, {4: 1.0})]
FIGURES = ("total_variance", "excess_log_loss")


def drawn_confusion(rng: np.random.Generator, n_classes: int, n_answers: int | None = None) -> np.ndarray:
    n_answers = n_answers or n_classes
    table = 0.4 * rng.dirichlet(np.ones(n_answers), size=n_classes)
    table[np.arange(n_classes), np.arange(n_classes) % n_answers] += 0.6
    return table


def channels_of(rng: np.random.Generator, model: MultinomialModel) -> dict[str, Channel]:
    """Of every kind: zeros, sets, a question, more answers than classes, unknown ones."""
    n = len(model.classes)
    with_zeros = drawn_confusion(rng, n)
    with_zeros[0, 1:] = 0.0
    with_zeros /= with_zeros.sum(axis=1, keepdims=True)
    sets = [model.classes[:2], model.classes[1:], model.classes[-1:]]
    return {
        "crowd": Channel("crowd", drawn_confusion(rng, n)),
        "zeros": Channel("zeros", with_zeros),
        "many": Channel("many", drawn_confusion(rng, n, n + 2)),
        "asked": Channel.question("asked", model.classes[:1], accuracy=0.9),
        "broad": Channel.sets("broad", sets),
        "llm": Channel("llm", drawn_confusion(rng, n), unknown=True),
        "poor": Channel("poor", with_zeros, unknown=True),
    }


ARMS = [
    ("crowd", False, ["crowd"]),
    ("zeros x 2", False, ["zeros", "zeros"]),
    ("many", False, ["many"]),
    ("asked", False, ["asked"]),
    ("broad", False, ["broad"]),
    ("llm", False, ["llm"]),
    ("llm x 3", False, ["llm"] * 3),
    ("gold + llm", True, ["llm"]),
    ("poor", False, ["poor"]),
    ("gold + poor x 2", True, ["poor", "poor"]),
    ("llm + poor + crowd", False, ["llm", "poor", "crowd"]),
]


def both(model: MultinomialModel, seed: int = 0) -> tuple[ArmSet, ChannelOracle, list[PlainArm]]:
    channels = channels_of(np.random.default_rng(seed), model)
    arms, plain = [], [PlainArm(), PlainArm(gold=True)]
    for name, gold, asked in ARMS:
        counts = {channel: asked.count(channel) for channel in dict.fromkeys(asked)}
        arms.append(Arm(name, gold, tuple((channels[channel], count) for channel, count in counts.items())))
        plain.append(PlainArm(gold, asked))
    tables = {name: channel.table(model.classes).probabilities for name, channel in channels.items()}
    lengths = dict(model.lengths.items())
    enumeration = enumerated_sequences(model.class_probabilities, model.word_probabilities, lengths)
    oracle = ChannelOracle(enumeration, tables, ["llm", "poor"])
    return ArmSet.of(arms, model.classes), oracle, plain


def designs(n_arms: int, rng: np.random.Generator) -> list[np.ndarray]:
    """Every arm alone, mixtures of all, of a few, and without gold or nothing."""
    mixtures = [rng.dirichlet(np.ones(n_arms)) for _ in range(3)]
    few = []
    for _ in range(8):
        weights = np.zeros(n_arms)
        weights[rng.choice(n_arms, size=3, replace=False)] = rng.dirichlet(np.ones(3))
        few.append(weights)
    return [*np.eye(n_arms), *mixtures, *few]


@pytest.mark.parametrize("spec", SPECS)
def test_every_arm_and_mixture_has_the_figures_of_brute_force(spec) -> None:
    model = drawn_multinomial(*spec)
    arms, oracle, plain = both(model)
    information = enumerated_channels(model, arms)
    n_classes, n_words = model.word_probabilities.shape
    jacobian = simplex_jacobian([n_classes, *[n_words] * n_classes])
    n_identified = 0
    for weights in designs(len(plain), np.random.default_rng(1)):
        figures, expected = information.figures(weights), oracle.figures(plain, weights, jacobian)
        assert figures.is_identifiable == (expected is not None), weights
        if expected is not None:
            n_identified += 1
            for name in FIGURES:
                assert figures.values[name] == pytest.approx(expected[name], rel=1e-8), (name, weights)
    assert n_identified >= 9


def test_known_channels_of_bernoulli_models_have_the_information_of_brute_force() -> None:
    rng = np.random.default_rng(3)
    model = BernoulliModel(("a", "b", "c"), [0.2, 0.3, 0.5], rng.uniform(0.1, 0.9, size=(3, 3)))
    table = drawn_confusion(rng, 3)
    arms = ArmSet.of([Arm.of(Channel("crowd", table), votes=2)], model.classes)
    oracle = ChannelOracle(enumerated_bernoulli(model.class_probabilities, model.feature_probabilities), {"c": table})
    expected = oracle.information(PlainArm(asked=["c", "c"]))
    np.testing.assert_allclose(enumerated_channels(model, arms).matrices[2], expected, rtol=1e-10, atol=1e-10)


def test_joint_information_is_the_curvature_of_log_p_by_differences() -> None:
    """Minus the mean second derivative of log p(x, z) in theta and the free coordinates of the confusion."""
    model = drawn_multinomial(2, 3, {3: 1.0})
    table = np.array([[0.8, 0.2], [0.3, 0.7]])
    arms = ArmSet.of([Arm.of(Channel("llm", table, unknown=True), votes=2)], model.classes)
    enumeration = enumerated_sequences(model.class_probabilities, model.word_probabilities, {3: 1.0})
    d = len(enumeration.theta)

    def log_seen(parameters: np.ndarray) -> np.ndarray:
        rare, other = parameters[d:]
        rows = np.array([[1 - rare, rare], [other, 1 - other]])
        joint = enumeration.joint_at(parameters[:d])
        return np.log(np.concatenate([joint @ (rows[:, a] * rows[:, b]) for a in range(2) for b in range(2)]))

    start = np.concatenate([enumeration.theta, [table[0, 1], table[1, 0]]])
    curvature = numerical_gradient(lambda at: numerical_gradient(log_seen, at, 1e-3), start, 1e-3)
    expected = -np.einsum("s,sij->ij", np.exp(log_seen(start)), curvature)
    found = enumerated_channels(model, arms).matrices[2]
    np.testing.assert_allclose(found, expected, rtol=2e-5, atol=2e-5 * np.abs(expected).max())


def test_unknown_accuracies_of_answers_questions_and_sets_have_the_information_of_brute_force() -> None:
    """E[s s'] over every x and all answers, s the gradient of log p(x, z) by complex steps."""
    model = drawn_multinomial(3, 3, {3: 1.0})
    classes = model.classes
    sets = [[classes[0], classes[1]], [classes[1], classes[2]], [classes[2]]]
    channels = [
        Channel("coin", accuracy=0.7, unknown=True),
        Channel.question("asked", classes[:1], accuracy=0.85, unknown=True),
        Channel.sets("broad", sets, accuracy=0.8, unknown=True),
    ]
    enumeration = enumerated_sequences(model.class_probabilities, model.word_probabilities, {3: 1.0})
    d, eye = len(enumeration.theta), np.eye(3)
    holds = np.array([[1, 0, 0], [1, 1, 0], [0, 1, 1]], dtype=float)

    def tables(accuracies: np.ndarray) -> list[np.ndarray]:
        coin, asked, broad = accuracies
        inside = eye[:, :1]
        return [
            coin * eye + (1 - coin) / 2 * (1 - eye),
            asked * np.hstack([inside, 1 - inside]) + (1 - asked) * np.hstack([1 - inside, inside]),
            broad * holds / holds.sum(axis=1, keepdims=True)
            + (1 - broad) * (1 - holds) / (1 - holds).sum(axis=1, keepdims=True),
        ]

    for asked in ([0, 0], [1], [2], [0, 1, 2]):
        counts = {index: asked.count(index) for index in dict.fromkeys(asked)}
        arm = Arm("arm", False, tuple((channels[index], count) for index, count in counts.items()))
        used = sorted(counts)

        def seen(parameters: np.ndarray, asked: list[int] = asked, used: list[int] = used) -> np.ndarray:
            accuracies = np.array([0.7, 0.85, 0.8], dtype=parameters.dtype)
            accuracies[used] = parameters[d:]
            own = tables(accuracies)
            likelihood = np.ones((1, 3))
            for index in asked:
                likelihood = (likelihood[:, None] * own[index].T[None]).reshape(-1, 3)
            return (enumeration.joint_at(parameters[:d]) @ likelihood.T).ravel()

        start = np.concatenate([enumeration.theta, np.array([0.7, 0.85, 0.8])[used]])
        probabilities = seen(start)
        slopes = np.stack([seen(start + 1e-30j * unit).imag / 1e-30 for unit in np.eye(len(start))], axis=1)
        expected = (slopes / probabilities[:, None]).T @ slopes
        found = enumerated_channels(model, ArmSet.of([arm], classes)).matrices[2]
        np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-8 * np.abs(expected).max())


@pytest.mark.parametrize("spec", SPECS)
def test_gold_is_the_identity_and_a_constant_answer_is_none(spec) -> None:
    model = drawn_multinomial(*spec)
    n = len(model.classes)
    constant = np.tile(np.random.default_rng(0).dirichlet(np.ones(3)), (n, 1))
    arms = ArmSet.of([Arm.of(Channel("same", np.eye(n))), Arm.of(Channel("constant", constant))], model.classes)
    nothing, gold, same, idle = enumerated_channels(model, arms).matrices
    base = enumerated_information(model)
    np.testing.assert_allclose(gold, base.complete, rtol=1e-12)
    np.testing.assert_allclose(same, gold, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(idle, nothing, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(nothing, base.complete - base.missing, rtol=1e-12, atol=1e-12)


def test_the_tilt_identity() -> None:
    """Answers leave missing what other class probabilities would, in the softmax coordinates of the classes."""
    model = drawn_multinomial(3, 4, {3: 0.5, 5: 0.5})
    table = drawn_confusion(np.random.default_rng(5), 3)
    found = enumerated_channels(model, ArmSet.of([Arm.of(Channel("crowd", table))], model.classes)).matrices
    expected = np.zeros_like(found[1])
    for answer in range(3):
        joint = model.class_probabilities * table[:, answer]
        tilted = MultinomialModel(model.classes, joint / joint.sum(), model.word_probabilities, model.lengths)
        # Class scores differ by their coordinates alone: softmax scores are the same whatever the probabilities.
        turn = _softmax_to_free(model.class_probabilities, found.shape[1])
        back = np.linalg.inv(_softmax_to_free(tilted.class_probabilities, found.shape[1]))
        expected += joint.sum() * turn @ back @ enumerated_information(tilted).missing @ back.T @ turn.T
    np.testing.assert_allclose(found[1] - found[2], expected, rtol=1e-9, atol=1e-10)


def _softmax_to_free(priors: np.ndarray, size: int) -> np.ndarray:
    """Scores in softmax coordinates (the last logit zero) -> scores in probabilities without the last."""
    turn = np.eye(size)
    k = len(priors) - 1
    turn[:k, :k] = np.linalg.inv(np.diag(priors[:-1]) - np.outer(priors[:-1], priors[:-1]))
    return turn


def test_slopes_are_those_of_differences_where_a_channel_is_used_and_where_it_is_not() -> None:
    model = drawn_multinomial(3, 4, {3: 1.0})
    arms, _, plain = both(model)
    information = enumerated_channels(model, arms)
    inside, step = np.random.default_rng(2).dirichlet(np.ones(len(plain))), 1e-6
    for name in ("total_variance", "excess_log_loss", "log_volume"):
        slope = information.point(CRITERIA[name], inside).slope
        for index, unit in enumerate(np.eye(len(plain))):
            values = [information.point(CRITERIA[name], inside + sign * step * unit).value for sign in (1, -1)]
            assert slope[index] == pytest.approx((values[0] - values[1]) / (2 * step), rel=1e-5)


def test_slopes_of_an_unused_unknown_channel_are_its_derivative() -> None:
    model = drawn_multinomial(2, 4, {3: 1.0})
    llm = Channel("llm", [[0.9, 0.1], [0.3, 0.7]], unknown=True)
    information = enumerated_channels(model, ArmSet.of([Arm.of(llm)], model.classes))
    criterion, counts = CRITERIA["excess_log_loss"], np.array([8.0, 2.0, 0.0])
    point = information.point(criterion, counts)
    for step in (1e-4, 1e-6, 1e-9):
        moved = information.point(criterion, counts + step * np.eye(3)[2])
        # Both values are rounded, some units in the last place: of the smallest step that is the larger part.
        rounding = 16 * np.finfo(float).eps * point.value / step
        bound = max(1e-3 * step / 1e-4, 1e-5) * abs(point.slope[2]) + rounding
        assert abs((moved.value - point.value) / step - point.slope[2]) <= bound
        # Nearly unused, it is seen through a matrix of tiny blocks.
        assert moved.slope[2] == pytest.approx(point.slope[2], rel=1e-3)


def test_planes_lie_below_the_error_wherever_they_touch() -> None:
    """Where several unused arms share an open confusion there is no derivative; the slope is a subgradient."""
    model = drawn_multinomial(2, 4, {3: 1.0})
    llm = Channel("llm", [[0.9, 0.1], [0.3, 0.7]], unknown=True)
    arms = ArmSet.of([Arm.of(llm), Arm.of(llm, votes=3), Arm.of(llm, gold=True)], model.classes)
    information, criterion = enumerated_channels(model, arms), CRITERIA["excess_log_loss"]
    rng, touched = np.random.default_rng(0), np.array([8.0, 2.0, 0.0, 0.0, 0.0])
    point = information.point(criterion, touched)
    for _ in range(200):
        other = touched * rng.uniform(0.2, 3, size=5) + rng.exponential(size=5) * (rng.random(5) < 0.6)
        value = information.point(criterion, other).value
        assert value >= point.value + point.slope @ (other - touched) - 1e-12


def test_sampling_agrees_with_enumeration() -> None:
    """Six figures of four designs within five standard errors of 64 batches: 5e-6 each, fixed seed."""
    model = drawn_multinomial(3, 4, {3: 0.5, 5: 0.5})
    arms, _, plain = both(model)
    rng = np.random.default_rng(7)
    weights = [rng.dirichlet(np.ones(len(plain))) for _ in range(4)]
    exact = enumerated_channels(model, arms)
    drawn = channel_information(model, arms, weights, "sampling", rng, max_draws=20_000).information
    wrong = enumerated_channels(model, ArmSet.of([Arm.of(Channel("x", accuracy=0.6))], model.classes))
    for design in weights:
        truth, figures = exact.figures(design), drawn.figures(design)
        for name, value in figures.values.items():
            assert abs(value - truth.values[name]) <= 5 * figures.errors[name], name
        # Another channel's figures are told apart.
        other = wrong.figures(np.array([0.5, 0.2, 0.3])).values["total_variance"]
        assert abs(figures.values["total_variance"] - other) > 5 * figures.errors["total_variance"]


def test_gaussian_models_are_drawn() -> None:
    model = gaussian(np.random.default_rng(0), "diagonal")
    arms = ArmSet.of([Arm.of(Channel("crowd", accuracy=0.8))], model.classes)
    weights = np.array([0.3, 0.2, 0.5])
    drawn = channel_information(model, arms, [weights], "auto", np.random.default_rng(0), max_draws=30_000)
    figures = [
        drawn.information.figures(design) for design in (np.array([0.8, 0.2, 0]), weights, np.array([0, 1.0, 0]))
    ]
    variances = [item.values["total_variance"] for item in figures]
    assert variances[0] > variances[1] > variances[2]


def test_unaudited_features_that_say_nothing_leave_everything_open() -> None:
    """Classes alike in their words: an unknown channel alone cannot tell them apart, gold elsewhere can."""
    words = np.tile([0.2, 0.3, 0.5], (2, 1))
    model = MultinomialModel(("a", "b"), [0.4, 0.6], words, drawn_multinomial(2, 3, {3: 1.0}).lengths)
    llm = Channel("llm", [[0.9, 0.1], [0.3, 0.7]], unknown=True)
    information = enumerated_channels(model, ArmSet.of([Arm.of(llm)], model.classes))
    assert not information.figures(np.array([0.0, 0.0, 1.0])).is_identifiable
    with pytest.raises(NotIdentifiableError):
        information.covariance(np.array([0.0, 0.0, 1.0]))
    assert information.figures(np.array([0.0, 0.1, 0.9])).is_identifiable


@pytest.mark.parametrize(
    ("length", "n_annotators", "gold", "is_identified"),
    [(1, 1, 0.0, False), (1, 2, 0.0, True), (2, 1, 0.0, True), (1, 1, 0.1, True), (1, 0, 0.0, False)],
)
def test_an_annotator_is_one_more_view(length: int, n_annotators: int, gold: float, is_identified: bool) -> None:
    """Three views of full rank identify two classes, words or annotators; two do not."""
    model = drawn_multinomial(2, 4, {length: 1.0})
    tables = ([[0.9, 0.1], [0.3, 0.7]], [[0.8, 0.2], [0.1, 0.9]])
    asked = [Channel(f"w{index}", table, unknown=True) for index, table in enumerate(tables)][:n_annotators]
    arm = Arm.of(*asked) if asked else Arm.of(Channel("idle", [[1.0], [1.0]]))
    information = enumerated_channels(model, ArmSet.of([arm], model.classes))
    design = np.array([0.0, gold, 1 - gold])
    assert information.figures(design).is_identifiable is is_identified
    assert (information.point(CRITERIA["total_variance"], design) is not None) is is_identified
    assert bool(information.open_directions(design)) is not is_identified


def test_rare_answers_do_not_hide_the_others() -> None:
    """An answer of probability 1e-17, the last of its row, changes nothing: figures are those without it."""
    model = drawn_multinomial(2, 3, {3: 1.0})
    rare = [[0.7, 0.3 - 1e-17, 1e-17], [0.2, 0.8, 0.0]]
    figures = []
    for table in (rare, [[0.7, 0.3], [0.2, 0.8]]):
        arms = ArmSet.of([Arm.of(Channel("llm", table, unknown=True))], model.classes)
        figures.append(enumerated_channels(model, arms).figures(np.array([0.3, 0.2, 0.5])).values["total_variance"])
    assert figures[0] == pytest.approx(figures[1], rel=1e-9)


def test_which_classes_can_be_exchanged() -> None:
    classes = ("a", "b", "c", "d")
    llm = Channel("llm", 0.6 * np.eye(4) + 0.1, unknown=True)
    asked = Channel.question("asked", ["a"], accuracy=0.9)
    half = Channel.question("half", ["a", "b"], accuracy=0.9, unknown=True)
    coin = Channel("coin", accuracy=0.7, unknown=True)
    arms = ArmSet.of([Arm.of(channel) for channel in (llm, asked, half, coin)], classes)
    assert arms.exchangeable(np.array([0.5, 0, 0.5, 0, 0, 0])) == [classes]
    assert arms.exchangeable(np.array([0.5, 0, 0.2, 0.3, 0, 0])) == [("b", "c", "d")]
    assert arms.exchangeable(np.array([0.5, 0, 0, 0, 0.5, 0])) == [classes]
    assert arms.exchangeable(np.array([0.5, 0, 0, 0, 0, 0.5])) == []
    assert arms.exchangeable(np.array([0.4, 0.1, 0.5, 0, 0, 0])) == []


def test_names_that_stand_twice_and_designs_that_do_not_fit_are_refused() -> None:
    crowd = Channel("crowd", accuracy=0.8)
    with pytest.raises(InvalidInputError, match=r"name of its own. Got twice: crowd"):
        ArmSet.of([Arm.of(crowd), Arm.of(crowd)], ("a", "b"))
    arms = ArmSet.of([Arm.of(crowd)], ("a", "b"))
    with pytest.raises(InvalidInputError, match=r"a share for each of nothing, gold, crowd, 3 in all. Got 2"):
        arms.weights_of([0.5, 0.5])
    with pytest.raises(InvalidInputError, match="must sum to 1"):
        arms.weights_of([0.5, 0.5, 0.5])
