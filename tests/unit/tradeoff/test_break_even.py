"""Arms that are answers, through the solver that was there: certificates, shadow prices, where arms switch."""

import numpy as np
import pytest

from labelworth.channels.arm import menu
from labelworth.channels.channel import Channel
from labelworth.data.lengths import LengthDistribution
from labelworth.errors import InvalidInputError
from labelworth.fisher.documents.channels import ArmSet, enumerated_channels
from labelworth.fisher.documents.two_class_channels import two_class_channels
from labelworth.models.classes.multinomial import MultinomialModel
from labelworth.planning.kinds.menu import KindMenu, Part
from labelworth.policies.catalog import Everything
from labelworth.tradeoff.asymptotic_accuracy import AsymptoticAccuracy
from labelworth.tradeoff.break_even import break_even_prices, shares_of, worths
from labelworth.tradeoff.costs import ArmPrices
from labelworth.tradeoff.problem import Question, Solution
from labelworth.tradeoff.solve import solve
from labelworth.tradeoff.whole_counts import whole_counts

MODEL = MultinomialModel(
    ("a", "b"), [0.4, 0.6], [[0.4, 0.3, 0.2, 0.1], [0.15, 0.2, 0.3, 0.35]], LengthDistribution.single(4)
)
GOLD = 0.5


def asked(
    channels: list[Channel], *, budget: float, pool: float = 2000.0, formula: bool = False, audits: bool = True
):
    arms = ArmSet.of(menu(channels, audits=audits)[2:], MODEL.classes)
    information = two_class_channels(MODEL, arms) if formula else enumerated_channels(MODEL, arms)
    accuracy = AsymptoticAccuracy.of(information, "excess_log_loss")
    prices = ArmPrices(arms.names, np.array([arm.price(GOLD) for arm in arms.arms]))
    return accuracy, prices, solve(accuracy, prices, Question.of(budget=budget, pool=pool))


def llm(price: float, *, unknown: bool = False) -> Channel:
    return Channel("llm", [[0.97, 0.03], [0.27, 0.73]], price=price, unknown=unknown)


def crowd(price: float, *, unknown: bool = False) -> Channel:
    return Channel("crowd", [[0.85, 0.15], [0.30, 0.70]], price=price, votes=(1, 3, 5), unknown=unknown)


@pytest.mark.parametrize("budget", [20.0, 100.0, 400.0])
@pytest.mark.parametrize("unknown", [False, True])
def test_mixes_of_all_kinds_are_certified(budget: float, unknown: bool) -> None:
    channels = [llm(0.05, unknown=unknown), crowd(0.02, unknown=unknown)]
    accuracy, prices, best = asked(channels, budget=budget)
    assert best.is_certified
    assert best.gap <= 1e-8 * best.error
    # No other design is better: many drawn at random on the limits of money and samples.
    rng = np.random.default_rng(0)
    for _ in range(300):
        counts = rng.dirichlet(np.full(len(prices.arms), 0.3))
        counts *= min(2000.0 / counts.sum(), budget / float(prices.per_sample @ counts))
        assert accuracy.error(counts) >= best.error * (1 - 1e-8)


def test_certificates_hold_where_unused_arms_would_learn_the_same_confusion() -> None:
    """Near the prices at which they come in, no plane at the optimum shows it: the slope there is one of many."""
    for price in (0.0065, 0.0929, 0.1212):
        for channels in ([llm(price, unknown=True)], [llm(price, unknown=True), crowd(price / 3, unknown=True)]):
            best = asked(channels, budget=20.0)[2]
            assert best.is_certified
            assert best.gap <= 1e-8 * best.error


def test_shadow_prices_are_those_of_differences() -> None:
    channels = [llm(0.05, unknown=True), crowd(0.02)]
    _, _, best = asked(channels, budget=50.0)
    more, less = (asked(channels, budget=50.0 + step)[2].error for step in (0.01, -0.01))
    assert best.shadow_price_of_money == pytest.approx((less - more) / 0.02, rel=1e-3)


def test_the_formula_gives_the_same_mix() -> None:
    channels = [llm(0.05, unknown=True), crowd(0.02)]
    (_, _, exact), (_, _, formula) = (asked(channels, budget=50.0, formula=way) for way in (False, True))
    assert formula.error == pytest.approx(exact.error, rel=1e-8)
    assert formula.is_certified


@pytest.mark.parametrize(("channel", "unknown"), [(llm, False), (crowd, False), (llm, True)])
def test_switch_prices_of_the_optimizer_are_the_break_even_prices(channel, unknown: bool) -> None:
    """The price at which an arm comes in, found by bisection, is that of the formula at the design without it."""

    def of(price: float):
        return asked([with_one_vote(channel(price, unknown=unknown))], budget=20.0, audits=False)

    accuracy, _, without = of(10.0)
    assert without.counts[2] <= 1e-6
    formula = break_even_prices(accuracy, without)[2]
    low, high = 0.5 * formula, 2 * formula
    assert of(low)[2].counts[2] > 1
    for _ in range(9):
        middle = (low + high) / 2
        if of(middle)[2].counts[2] > 1e-3:
            low = middle
        else:
            high = middle
    assert (low + high) / 2 == pytest.approx(formula, rel=0.01)
    # With free unlabeled samples it is a share of the price of gold.
    share = shares_of(accuracy, without.counts, gold=1, nothing=0)[2]
    assert formula == pytest.approx(GOLD * share, rel=1e-6)


def with_one_vote(channel: Channel) -> Channel:
    return Channel(channel.name, channel.form, price=channel.price, unknown=channel.is_unknown)


def test_what_is_bought_breaks_even_at_its_price() -> None:
    accuracy, prices, best = asked([llm(0.02), crowd(0.02)], budget=20.0)
    found = break_even_prices(accuracy, best)
    used = best.counts > 1e-3
    assert used.sum() >= 2
    np.testing.assert_allclose(found[used], prices.per_sample[used], rtol=1e-4, atol=1e-6)
    assert (found[~used] <= prices.per_sample[~used] * (1 + 1e-6) + 1e-9).all()


def test_worths_of_an_unused_arm_are_its_own() -> None:
    """With its audits on the menu too, an unused unknown channel is worth what it is worth alone."""
    counts = np.array([1900.0, 100.0])
    alone, _, _ = asked([llm(0.05, unknown=True)], budget=20.0, audits=False)
    beside, _, _ = asked([llm(0.05, unknown=True)], budget=20.0)
    first = worths(alone, np.append(counts, 0.0))[2]
    assert worths(beside, np.append(counts, [0.0, 0.0]))[2] == pytest.approx(first, rel=1e-5)


def test_without_shadow_prices_there_is_no_break_even() -> None:
    accuracy, _, best = asked([llm(0.02)], budget=20.0)
    bare = Solution(best.question, best.criterion, best.counts, best.cost, best.error)
    with pytest.raises(InvalidInputError, match="shadow prices"):
        break_even_prices(accuracy, bare)


def of_menu(channels: list[Channel]) -> tuple[KindMenu, AsymptoticAccuracy]:
    menu_of = KindMenu.of(channels, MODEL.classes, [Part(Everything(), 1.0, GOLD)], 0.0, uses_unlabeled=True)
    information = enumerated_channels(MODEL, menu_of.arm_set)
    return menu_of, AsymptoticAccuracy.of(information, "excess_log_loss", menu=menu_of.names, held={"gold": 20.0})


QUESTIONS = (
    Question.of(budget=20.0, pool=2000),
    Question.of(target=0.004, pool=2000),
    Question.of(alpha=20000.0, pool=2000),
)


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: question.kind)
@pytest.mark.parametrize("channel", [llm, crowd])
@pytest.mark.parametrize("unknown", [False, True])
def test_a_kind_with_all_its_votes_and_audits_comes_in_at_the_price_that_is_told(channel, unknown, question) -> None:
    """Beside another unknown kind: the optimizer buys any of it a hundredth below that price, and none above."""

    def kinds(price: float) -> list[Channel]:
        return [channel(price, unknown=unknown), Channel("other", accuracy=0.8, price=0.03, unknown=True)]

    menu_of, accuracy = of_menu(kinds(0.01))
    told = menu_of.worths(accuracy, question, np.zeros(len(menu_of.arms)))[0].worth
    bought = []
    for factor in (0.99, 1.01):
        at_price, same = of_menu(kinds(factor * told))
        best = solve(same, at_price.prices, question)
        bought.append(best.counts[at_price.asking(at_price.channels[0])].sum())
    assert bought[0] > 1
    assert bought[1] <= 1e-3


@pytest.mark.parametrize("question", [*QUESTIONS, Question.of(budget=60.7, pool=2000)], ids=str)
@pytest.mark.parametrize("channel", [llm, crowd])
@pytest.mark.parametrize("unknown", [False, True])
def test_whole_designs_buy_none_of_a_kind_that_is_a_twentieth_too_dear(channel, unknown, question) -> None:
    """Beside another unknown kind: cents that rounding leaves over are no reason, unless they do visibly more."""

    def bought(price: float) -> float:
        kinds = [channel(price, unknown=unknown), Channel("other", accuracy=0.8, price=0.03, unknown=True)]
        at_price, accuracy = of_menu(kinds)
        counts = whole_counts(accuracy, at_price.prices, solve(accuracy, at_price.prices, question))
        return float(counts[at_price.asking(at_price.channels[0])].sum())

    menu_of, accuracy = of_menu(
        [channel(0.01, unknown=unknown), Channel("other", accuracy=0.8, price=0.03, unknown=True)]
    )
    told = menu_of.worths(accuracy, question, np.zeros(len(menu_of.arms)))[0].worth
    assert bought(0.95 * told) > 1
    assert bought(1.05 * told) == 0


def test_no_price_pays_for_answers_that_tell_nothing() -> None:
    """Zero, and not minus zero, which is told as -0."""
    menu_of, accuracy = of_menu([Channel("coin", [[0.5, 0.5], [0.5, 0.5]], price=0.1)])
    for question in QUESTIONS:
        told = menu_of.worths(accuracy, question, np.zeros(len(menu_of.arms)))[0].worth
        assert told < 1e-6
        assert not np.signbit(told)


def test_a_kind_without_which_nothing_does_what_is_asked_is_worth_any_price() -> None:
    menu_of, accuracy = of_menu([crowd(0.02)])
    least = accuracy.error(np.array([0.0, 50.0, 0.0, 0.0, 0.0]))
    question = Question.of(target=0.5 * least, pool=50)
    kind = menu_of.worths(accuracy, question, np.zeros(len(menu_of.arms)))[0]
    assert kind.is_needed
    assert kind.worth is None
