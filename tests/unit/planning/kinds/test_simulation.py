"""Plans over kinds of labels by simulation: what designs stand for, in gold."""

from collections.abc import Iterator
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import labelworth as lw
from labelworth.data.answers import Answers
from labelworth.data.evidence import Evidence
from labelworth.data.lengths import LengthDistribution
from labelworth.errors import InvalidInputError
from labelworth.estimators.reading import pool_of
from labelworth.models.classes.multinomial import MultinomialModel
from labelworth.planning import assembly
from labelworth.planning.answer import Held, KindWorth, Plan, PlanQuestion, Worth
from labelworth.planning.grids import grid_solutions
from labelworth.planning.kinds import simulation
from labelworth.planning.kinds import words as kind_words
from labelworth.planning.kinds.rays import KindsAccuracy, Ray, simulated_worths
from labelworth.planning.landscape import ForecastCurve, Solutions
from labelworth.planning.plan import planner_of
from labelworth.planning.planner import Planner
from labelworth.planning.simulated import ForecastLine
from labelworth.planning.situation import Situation
from labelworth.planning.source import ChosenSource, PlanSettings
from labelworth.planning.trust.verdict import Verdict
from labelworth.progress import Whole
from labelworth.simulation.asked import AskedDesign
from labelworth.tradeoff.costs import ArmPrices

CLASSES = ("a", "b", "c")
WORDS = np.random.default_rng(3).dirichlet(np.full(30, 0.5), 3)
MODEL = MultinomialModel(
    CLASSES, [0.4, 0.3, 0.3], 0.5 * WORDS + 0.5 * WORDS.mean(axis=0), LengthDistribution.single(8)
)
MODEL_KIND = "model: price 0.001, confusion 0.9 0.05 0.05 / 0.1 0.8 0.1 / 0.1 0.2 0.7"
KINDS = [
    "crowd: price 0.02, accuracy 0.75, votes 1 3, unknown",
    MODEL_KIND,
    "dear: price 5, accuracy 0.6",
]


@pytest.fixture(autouse=True, scope="module")
def few_draws() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(simulation, "N_REPLICATES", 3)
        yield


def planned(**asked: object) -> Plan:
    drawn = MODEL.sample(700, np.random.default_rng(0))
    names = np.array(CLASSES, dtype=object)[drawn.evidence.codes]
    y = np.where(np.arange(700) < 60, names, "")
    given = {"model": "multinomial", "prices": {"per_label": 0.5}, "channels": KINDS, "source": "simulated"}
    return lw.plan(drawn.counts, y, unlabeled="", **{**given, **asked})


@pytest.fixture(scope="module")
def plan() -> Plan:
    return planned(budget=40.0)


def test_a_plan_spends_on_what_does_most(plan: Plan) -> None:
    assert plan.source == "simulated"
    assert "nothing" not in plan.arms
    counts = np.array([arm.count for arm in plan.recommended.arms])
    assert (counts == np.rint(counts)).all()
    assert plan.recommended.cost <= 10.0 * (1 + 1e-9)
    assert plan.recommended.error < plan.held.error
    assert plan.error_interval.low <= plan.recommended.error <= plan.error_interval.high
    assert plan.recommended.error_se is not None
    bought = {kind.kind: kind.answers for kind in plan.kinds}
    # As often wrong as right, for ten times the price of gold.
    assert bought["dear"] == 0
    assert bought["crowd"] + bought["model"] > 0


def test_answers_are_told_by_the_gold_labels_that_do_as_much(plan: Plan) -> None:
    worths = {kind.kind: kind for kind in plan.kinds}
    for kind in worths.values():
        assert kind.worth == pytest.approx(max(0.5 * kind.stands_for / kind.of_answers, 0.0))
        # An answer that may be wrong does no more than a gold label, but for chance.
        assert kind.stands_for <= 1.3 * kind.of_answers
    [line] = [line for line in plan.lines() if "of model do as much as" in line]
    assert f"{worths['model'].of_answers:,.0f} answers of model" in line
    assert any("than with gold alone for the same money" in note for note in plan.notes)


def test_a_pilot_that_unlabeled_rows_hurt_warns_of_answers_to_them() -> None:
    """A verdict stands for a pilot that gives it; without one nothing is said."""
    drawn = MODEL.sample(200, np.random.default_rng(0))
    y = np.where(np.arange(200) < 60, np.array(CLASSES, dtype=object)[drawn.evidence.codes], "")
    pool = pool_of(drawn.counts, y, "multinomial", unlabeled="", classes=CLASSES, seed=0)
    chosen = ChosenSource("simulated", "error", "asked for")
    for answer, n_checks in (("hurts", 1), ("helps", 0), ("cannot be told", 0)):
        planner = Planner(pool, PlanSettings(channels=KINDS, prices={"per_label": 0.5}))
        planner.__dict__["verdict"] = Verdict(answer, "so it was told.", 0.2, 0.3)
        planner.__dict__["chosen"] = chosen
        checks = planner._contradicted(chosen)
        assert len(checks) == n_checks
        assert all("they may do less than is said here" in check.words for check in checks)
        assert planner._contradicted(replace(chosen, source="asymptotic")) == ()


def test_a_target_takes_no_more_money_than_gold_would(plan: Plan) -> None:
    target = (plan.held.error + plan.recommended.error) / 2
    met = planned(target=round(target, 4))
    assert met.recommended.error <= round(target, 4)
    gold = planned(target=round(target, 4), channels=None)
    # The same, where so few draws leave open whether anything is better; curves are read off at other sizes.
    assert met.recommended.cost <= 1.02 * gold.recommended.cost


def test_frontiers_go_along_what_was_simulated() -> None:
    drawn = MODEL.sample(400, np.random.default_rng(0))
    names = np.array(CLASSES, dtype=object)[drawn.evidence.codes]
    y = np.where(np.arange(400) < 60, names, "")
    cloud = lw.frontier(
        drawn.counts, y, unlabeled="", model="multinomial", prices={"per_label": 0.5}, channels=KINDS[1:2]
    )
    assert cloud.arms == ("gold", "model")
    assert cloud.source == "simulated"
    errors = [point.error for point in cloud.boundary]
    assert errors == sorted(errors, reverse=True)


def test_learners_that_cannot_learn_from_answers_are_refused() -> None:
    with pytest.raises(InvalidInputError, match="cannot learn from answers"):
        planned(budget=40.0, model="nearest-neighbors")


def test_with_channels_auto_chooses_a_model_that_learns_from_answers() -> None:
    assert planned(budget=40.0, model="auto").model == "multinomial"


def rays(*equivalents: float) -> tuple[Ray, ...]:
    units = np.eye(2)
    nodes = np.array([0.0, 100.0, 400.0])
    gold = Ray(units[0], nodes, np.log(50 + nodes), np.zeros(3), 3)
    told = np.log(np.array([50.0, *equivalents]))
    other = Ray(units[1], nodes, told, np.array([0.0, 0.1, 0.1]), 3)
    return gold, other


def accuracy(*equivalents: float) -> KindsAccuracy:
    sizes = np.geomspace(10, 5000, 200)
    line = ForecastLine(sizes, 1 / np.sqrt(sizes))
    return KindsAccuracy(("gold", "cheap"), rays(*equivalents), np.ones(2), line, "error")


def test_the_error_of_a_design_is_that_of_as_many_gold_labels() -> None:
    own = accuracy(60.0, 90.0)
    assert own.error(np.array([150.0, 0.0])) == pytest.approx(1 / np.sqrt(200), rel=1e-3)
    assert own.gold_of(np.array([0.0, 400.0])) == pytest.approx(90)
    # Known to a tenth: as few as 1.645 standard errors less.
    assert own.error(np.array([0.0, 400.0])) == pytest.approx(1 / np.sqrt(90 * np.exp(-0.1645)), rel=1e-3)
    assert own.error(np.zeros(2)) == pytest.approx(1 / np.sqrt(50), rel=1e-3)
    assert own.standard_error(np.array([0.0, 400.0])) == pytest.approx(0.1 * 0.5 / np.sqrt(90), rel=2e-2)
    # Whole numbers near a ray are of that ray.
    assert own.ray_of(np.array([1.0, 399.0])) is own.rays[1]


def test_what_is_not_clearly_better_than_gold_is_not_chosen() -> None:
    """Fifty-five gold labels or five more, for the same money: by chance the cheap ones look better."""
    own = accuracy(62.0, 90.0)
    cheap, gold = np.array([0.0, 100.0]), np.array([8.0, 0.0])
    assert own.lead(cheap, gold) > 0
    assert own.error(cheap) > own.error(gold)
    # The control: known to a thousandth, it is.
    sure = replace(own, rays=(own.rays[0], replace(own.rays[1], spread=np.array([0.0, 0.001, 0.001]))))
    assert sure.error(cheap) < sure.error(gold)


def test_designs_that_do_harm_stand_for_fewer_labels_than_are_held() -> None:
    own = accuracy(45.0, 30.0)
    assert own.error(np.array([0.0, 400.0])) > own.error(np.zeros(2))


def mixed() -> KindsAccuracy:
    """A gold label beside a hundred cheap ones does much, as simulated; the cheap ones alone do harm."""
    own = accuracy(45.0, 30.0)
    beside = replace(own.rays[1], step=np.array([0.01, 0.99]), log_gold=np.log(np.array([50.0, 150.0, 400.0])))
    return replace(own, rays=(*own.rays, beside))


def test_a_part_of_a_document_does_not_lead_to_a_better_way() -> None:
    own = mixed()
    assert own.error(np.array([1.0, 99.0])) < own.error(np.zeros(2)) < own.error(np.array([0.0, 99.0]))
    assert own.error(np.array([0.99, 99.0])) == own.error(np.array([0.0, 99.0]))


def test_no_answer_to_another_question_is_behind_a_known_design_that_costs_no_more() -> None:
    own = mixed()
    held = Held("documents", 450, 50, 50, 400, 9, ("a", "b"), 50.0, None)
    prices = ArmPrices(own.arms, np.array([1.0, 0.02]))
    known = [np.zeros(2), np.array([1.0, 99.0]), np.array([2.0, 150.0])]
    costs, errors = (np.array([figure(design) for design in known]) for figure in (prices.cost, own.error))
    found = grid_solutions(Situation(held, own, prices, 400), known)
    for one in found.budgets:
        assert one.cost_in_all <= one.value * (1 + 1e-9)
        assert one.error <= errors[50 + costs <= one.value].min()
    for one in found.targets:
        assert one.error <= one.value * (1 + 1e-9)
        assert one.cost_in_all <= 50 + costs[errors <= one.value].min(initial=np.inf)
    for one in found.alphas:
        assert one.cost_in_all + one.value * one.error <= (50 + costs + one.value * errors).min() * (1 + 1e-12)
    assert any(min(one.counts) > 0 for one in found.budgets)


def test_the_interval_of_a_design_is_of_its_own_size() -> None:
    own = accuracy(60.0, 90.0)
    cheap = replace(own.rays[1], ends=(tuple(np.log((55.0, 70.0))), tuple(np.log((65.0, 120.0)))))
    own = replace(own, rays=(own.rays[0], cheap))
    # Half-way between 100 and 400 answers so is the interval.
    assert own.gold_ends(np.array([0.0, 250.0])) == pytest.approx((60.0, 95.0))
    assert own.gold_ends(np.array([0.0, 400.0])) == pytest.approx((65.0, 120.0))
    assert own.gold_ends(np.array([250.0, 0.0])) == pytest.approx((300.0, 300.0))


def test_other_questions_are_answered_by_ways_that_were_simulated() -> None:
    own = mixed()
    held = Held("documents", 450, 50, 50, 400, 9, ("a", "b"), 50.0, None)
    found = grid_solutions(Situation(held, own, ArmPrices(own.arms, np.array([1.0, 0.02])), 400))
    for one in (*found.budgets, *found.targets, *found.alphas):
        if one.counts is not None and sum(one.counts) > 40:
            shares = np.array(one.counts) / sum(one.counts)
            # Rounding to whole documents leaves a little.
            assert min(np.abs(ray.step - shares).sum() for ray in own.rays) < 2 * 2 / sum(one.counts) + 1e-9


def test_a_lead_that_draws_cannot_tell_is_said_to_be_none() -> None:
    """Ninety gold labels, or any number up to a hundred and twenty: with gold for the money there are 58."""
    own = accuracy(60.0, 90.0)
    counts = np.array([0.0, 400.0])
    for ends, is_told in (((55.0, 120.0), False), ((70.0, 120.0), True)):
        cheap = replace(own.rays[1], ends=((0.0, 5.0), tuple(np.log(ends))))
        accuracies = replace(own, rays=(own.rays[0], cheap))
        prices = ArmPrices(own.arms, np.array([1.0, 0.02]))
        kinds: Any = SimpleNamespace(gold=0, prices=prices)
        situation: Any = SimpleNamespace(accuracy=accuracies, kinds=kinds, prices=prices, pool=400.0)
        (note,) = assembly._lead_notes(situation, counts)
        assert f"as much as 90 gold labels in all (90 %: {ends[0]:.0f}-120), and gold alone would be 58" in note
        assert ("cannot tell apart" in note) == (not is_told)


def test_what_a_kind_is_worth_is_told_of_what_is_bought_of_it() -> None:
    """Of votes of three where those are bought, and of about as many answers; else of the best."""
    own = situated(None, np.inf, KINDS[0])
    for arm, votes in (("crowd", 1), ("crowd x 3", 3)):
        counts = np.zeros(len(own.accuracy.arms))
        ray = next(ray for ray in own.accuracy.rays if ray.step[own.accuracy.arms.index(arm)] == 1)
        counts[own.accuracy.arms.index(arm)] = ray.sizes[2] + 1
        [told] = simulated_worths(own.kinds, own.accuracy, counts, own.pool)
        assert told.of_answers == votes * ray.sizes[2]
        assert told.stands_for == pytest.approx(np.exp(ray.log_gold[2]) - np.exp(ray.log_gold[0]))


def planner(answers: Answers | None, kind: str = MODEL_KIND) -> Planner:
    drawn = MODEL.sample(700, np.random.default_rng(0))
    y = np.where(np.arange(700) < 60, np.array(CLASSES, dtype=object)[drawn.evidence.codes], "")
    settings = PlanSettings(
        prices={"per_label": 0.5}, channels=[kind], answers=answers, source="simulated", use_unlabeled="yes"
    )
    return planner_of(drawn.counts, y, settings, model="multinomial", unlabeled="")


def situated(answers: Answers | None, pool: float, kind: str = MODEL_KIND) -> Situation:
    return planner(answers, kind).situation(pool)[0]


def answered(n_open: int, n_audited: int = 0) -> Answers:
    """By the model's table, about rows without gold, and about some with."""
    truth, rng = MODEL.sample(700, np.random.default_rng(0)).evidence.codes, np.random.default_rng(7)
    rows = np.concatenate([np.arange(n_audited), 60 + np.arange(n_open)])
    right = rng.random(len(rows)) < 0.8
    codes = np.where(right, truth[rows], (truth[rows] + 1) % 3)
    return Answers(rows, np.zeros(len(rows), int), ("model",), Evidence(codes, CLASSES))


def test_answers_that_are_held_are_in_the_refits_as_the_same_answers_bought() -> None:
    """The same rows are asked the same in every replicate, so what is held does exactly what buying it would."""
    held, bought = situated(answered(300), np.inf).accuracy, situated(None, 300.0).accuracy
    counts = np.zeros(len(bought.arms))
    counts[bought.arms.index("model")] = 300
    assert held.error(np.zeros(len(held.arms))) == pytest.approx(bought.error(counts), rel=1e-12)
    # The control: without answers, what is held is its sixty labels by definition.
    assert bought.gold_of(np.zeros(len(bought.arms))) == pytest.approx(60)
    assert abs(held.gold_of(np.zeros(len(held.arms))) - 60) > 1


def test_gold_for_all_that_has_answers_is_that_gold() -> None:
    """The confusion is known, so answers beside gold say nothing more."""
    own = planner(answered(300))
    simulated = own._kind_simulation(own.kinds, 340.0, None)
    assert own.kinds.names == ("gold", "model", "gold for answered")
    designs = [simulated._beside_held(np.array([0, 0, count])) for count in (300, 120)]
    assert [design.counts for design in designs] == [(0, 300, 0, 0), (180, 120, 0, 0)]
    alone = [AskedDesign(size, (0,) * 4) for size in (360, 60)]
    losses = simulated._losses([*designs, *alone, simulated._beside_held(np.zeros(3, dtype=int))], range(3))
    np.testing.assert_allclose(losses[:, 0], losses[:, 2], rtol=1e-6)
    # Controls: half of that gold is something else, and so are the answers alone.
    assert (np.abs(losses[:, 1] - losses[:, 0]) > 1e-4).any()
    assert (np.abs(losses[:, 4] - losses[:, 3]) > 1e-4).any()
    assert simulated._top(np.array([0.0, 0.0, 1.0])) == 300


def test_audited_rows_are_labels_and_answers_and_leave_all_others_to_ask() -> None:
    told = situated(answered(0, n_audited=40), np.inf, "model: price 0.001, unknown")
    assert told.pool == 640
    # A known label says all that an answer to its row could; the confusion it tells is worth nothing by itself.
    assert told.accuracy.gold_of(np.zeros(len(told.accuracy.arms))) == pytest.approx(60, rel=0.35)
    both = situated(answered(100, n_audited=40), np.inf, "model: price 0.001, unknown")
    assert both.pool == 540


def test_where_all_is_answered_gold_for_that_is_left() -> None:
    told = situated(answered(640), np.inf)
    assert told.pool == 0
    assert [told.accuracy.arms[int(np.argmax(ray.step))] for ray in told.accuracy.rays] == ["gold for answered"]
    assert np.isfinite(told.held.error)
    all_of_it = 640 * told.accuracy.rays[0].step
    assert told.accuracy.gold_of(all_of_it) > told.accuracy.gold_of(0 * all_of_it)


def test_money_that_no_mix_is_better_for_is_told_without_adding_answers_to_labels() -> None:
    own = mixed()
    held = Held("documents", 450, 50, 50, 400, 9, ("a", "b"), 50.0, None)
    prices = ArmPrices(own.arms, np.array([1.0, 0.02]))
    offers = [SimpleNamespace(gold=True), SimpleNamespace(gold=False)]
    kinds: Any = SimpleNamespace(offers=offers, n_done=0, prices=prices, onto=("new", "new"))
    situation = Situation(held, own, prices, 400, kinds=kinds)
    curve = ForecastCurve((50.0, 100.0), (0.14, 0.1))
    asked = PlanQuestion("budget", 90.0, "error")
    (note,) = assembly._limit_notes(situation, asked, np.array([2.0, 198.0]), "label", curve)
    assert note.startswith("Of the mixes that were simulated none within the budget is clearly better")
    assert note.endswith("so 34.04 of the budget are left.")
    assert "labels in all" not in note


def test_money_that_is_left_when_all_are_asked_could_buy_what_is_dearer() -> None:
    for counts, words in (
        ([0.0, 640.0], "All 640 samples are asked about, and 23.60 is left over: no dearer way is clearly better."),
        ([640.0, 0.0], "more than the pool holds: all 640 samples are to be labeled, and 23.60 is left over."),
    ):
        situation: Any = SimpleNamespace(
            is_used_up=False,
            accuracy=SimpleNamespace(arms=("gold", "sure")),
            kinds=SimpleNamespace(offers=[SimpleNamespace(gold=True), SimpleNamespace(gold=False)]),
            design=lambda counts: SimpleNamespace(cost_in_all=36.4),
            n_asked=np.sum,
            has_answered_left=lambda counts: False,
            pool=640.0,
            currency="",
        )
        asked: Any = SimpleNamespace(problem="budget", value=60.0)
        curve: Any = None
        (note,) = assembly._limit_notes(situation, asked, np.array(counts), "label", curve)
        assert words in note


def test_what_draws_cannot_tell_from_nothing_is_said_to_be_open() -> None:
    """An answer that is any class alike is worth nothing, and one that is right nearly always is worth a lot."""
    plan = planned(budget=40.0, channels=["dice: price 0.01, accuracy 0.34", "sure: price 0.01, accuracy 0.99"])
    dice, sure = plan.kinds
    assert not dice.is_clear
    assert sure.is_clear
    words = "\n".join(plan.lines())
    assert "What an answer of dice is worth cannot be told from zero" in words
    assert "`labelworth check --answers`" in words
    assert "of sure do as much as" in words
    assert "is worth at most 0;" not in words
    assert dice.worth_ends[0] <= 0 < dice.worth_ends[1] <= 0.5
    assert 0 < sure.worth_ends[0] <= sure.worth <= sure.worth_ends[1] <= 0.5


def bare_simulation(sizes: list[float]) -> Any:
    own = object.__new__(simulation.KindSimulation)
    own.__dict__["_gold_sizes"] = np.array(sizes)
    return own


def test_an_interval_of_gold_labels_holds_the_truth_as_often_as_promised() -> None:
    """Losses of 100 / n with noise that replicates share, a design that does as much as 90 labels; 4000 runs of 200.

    Each end is one-sided at 5 %: false alarms of 3 to 7 % would be within 1e-6 of a binomial of that size.
    """
    sizes, rng = [25.0, 50.0, 100.0, 200.0, 400.0], np.random.default_rng(0)
    own, missed = bare_simulation(sizes), np.zeros(2)
    for _ in range(4000):
        shared, apart = rng.normal(size=(200, 1)), rng.normal(size=(200, 6))
        losses = 100 / np.array([*sizes, 100.0]) + shared + 0.5 * apart
        low, high = own._ends(losses[:, :5], losses[:, 5], np.inf)
        missed += [low > np.log(100) + 1e-12, high < np.log(100) - 1e-12]
    assert (missed / 4000 > 0.03).all()
    assert (missed / 4000 < 0.07).all()


def test_where_labels_make_no_difference_answers_may_be_worth_as_much_as_gold() -> None:
    """And where every number of labels is better, answers do harm."""
    own, most = bare_simulation([25.0, 50.0, 100.0]), float(np.log(300))
    flat = np.full((8, 3), 0.2)
    assert own._ends(flat, np.full(8, 0.2), most) == (-np.inf, most)
    assert own._ends(flat, np.full(8, 0.3), most) == (-np.inf, float(np.log(25)))
    assert own._ends(flat, np.full(8, 0.1), most) == (float(np.log(100)), most)


def told_worth(ends: tuple[float, float]) -> str:
    kind = KindWorth("crowd", 0.02, 0.0, False, 0, 0, 0.0, True, stands_for=-3.0, of_answers=50.0, worth_ends=ends)
    plan = SimpleNamespace(currency="", kinds=(kind,), held=SimpleNamespace(samples="documents"))
    return kind_words.worth_lines(plan)[0]


def test_nothing_is_said_to_be_worth_nothing_where_draws_cannot_tell() -> None:
    assert "cannot be told from zero" in told_worth((-0.1, 0.012))
    assert "one is worth 0.012 at most" in told_worth((-0.1, 0.012))
    assert "is worth nothing: in simulated draws a model that learns from 50 answers errs more" in told_worth((-1, 0))


def test_a_kind_that_draws_cannot_tell_from_its_price_is_not_said_to_be_beaten() -> None:
    def told(*ends: float) -> str:
        kind = KindWorth("crowd", 0.02, 0.12, False, 0, 0, 0.0, False, stands_for=75.0, of_answers=600.0)
        plan = SimpleNamespace(currency="", held=SimpleNamespace(samples="documents"), certificate=None)
        plan.kinds = (replace(kind, worth_ends=ends),)
        return kind_words.worth_lines(plan)[0]

    assert "it may be worth as little as 0.014, and a plan goes by what is sure: none to buy" in told(0.014, 0.33)
    assert "others" not in told(0.014, 0.33)
    # The control: what is surely worth its price was beaten.
    assert "others do more for the money, none to buy" in told(0.03, 0.33)


def test_the_gain_of_an_answer_is_known_as_far_as_its_ray() -> None:
    own = accuracy(60.0, 90.0)
    gains, none = own.gains(np.zeros(2)), np.zeros(2)
    assert own.gain_error(none, 0) == 0
    # 90 labels known to a tenth, 40 of them by answers.
    assert own.gain_error(none, 1) == pytest.approx(gains[1] * 0.1 * 90 / 40)


def test_the_next_samples_are_those_that_surely_do_most_for_the_money() -> None:
    gold = Worth("gold", 0.0002, 1.0, 0.0002, gain_se=0.0, n_next=10, next_gain=0.002)
    crowd = Worth("crowd", 0.0001, 0.06, 0.0016, gain_se=0.00007, n_next=10, next_gain=0.001)
    plan = planned(budget=40.0, channels=["crowd: price 0.06, accuracy 0.75"], max_time=1)
    told = [replace(plan, worth=(gold, replace(crowd, gain_se=error))).lines() for error in (0.00007, 0.00001)]
    assert any("next 10 documents with gold labels" in line for line in told[0])
    assert any("next 10 documents answered by crowd" in line for line in told[1])


def test_what_buys_nothing_is_not_told_of_the_next_samples_where_others_buy_something() -> None:
    gold = Worth("gold", 0.0002, 1.0, 0.0002, n_next=10, next_gain=0.002)
    crowd = Worth("crowd", 0.0001, 0.06, 0.0016, n_next=10, next_gain=0.0)
    plan = planned(budget=40.0, channels=["crowd: price 0.06, accuracy 0.75"], max_time=1)
    lines = replace(plan, worth=(gold, crowd)).lines()
    assert any("next 10 documents with gold labels lower" in line for line in lines)
    assert not any("forecast to buy nothing" in line for line in lines)


def test_where_all_are_asked_about_more_money_goes_to_dearer_answers() -> None:
    plan = planned(budget=40.0, channels=["crowd: price 0.06, accuracy 0.75"], max_time=1)
    arms = tuple(replace(arm, count=640.0 * (arm.arm == "crowd")) for arm in plan.recommended.arms)
    full = replace(plan, recommended=replace(plan.recommended, arms=arms))
    assert min(one.error for one in plan.solutions.budgets) < plan.recommended.error
    told = "All 640 documents that were left are asked about"
    assert f"{told}: more money would buy dearer answers in place of these." in full.lines()
    # The control: where none of them does more, nothing is said of it.
    assert f"{told}." in replace(full, solutions=Solutions()).lines()
    assert "is all there is" not in " ".join(full.lines())


def test_money_that_is_short_is_not_told_as_a_pool_that_is_used_up() -> None:
    """No document is new, 1,800 have answers, and gold for seventy of them takes the money."""
    own = mixed()
    held = Held("documents", 2000, 200, 200, 1800, 9, ("a", "b"), 230.0, None)
    offers = [SimpleNamespace(gold=True), SimpleNamespace(gold=False)]
    kinds: Any = SimpleNamespace(offers=offers, n_done=1800, onto=("answered", "new"))
    asked = PlanQuestion("budget", 300.02, "error")
    for stock, notes in (
        (1800.0, []),
        (70.0, ["The budget would pay for more than the pool holds: all 70 samples "]),
    ):
        prices = ArmPrices(own.arms, np.array([1.0, 0.02]), stock=np.array([stock, np.inf]))
        situation = Situation(held, own, prices, 0, kinds=kinds)
        curve = ForecastCurve((200.0, 2000.0), (0.14, 0.1))
        found = assembly._limit_notes(situation, asked, np.array([70.0, 0.0]), "label", curve)
        assert [note[: len(words)] for note, words in zip(found, notes, strict=True)] == notes


def test_a_kind_that_only_documents_with_gold_are_left_for_says_so() -> None:
    kind = KindWorth("crowd", 0.02, 0.0, False, 0, 0, 0.0, True)
    plan: Any = SimpleNamespace(currency="", held=SimpleNamespace(samples="documents"), kinds=(kind,))
    assert kind_words.worth_lines(plan)[0].startswith("An answer of crowd is worth nothing")
    plan.kinds = (replace(kind, is_new_left=False),)
    told = "An answer of crowd about documents that have gold, all that are left to ask about, is worth nothing"
    assert kind_words.worth_lines(plan)[0].startswith(told)


def test_all_ways_start_from_what_is_held_and_gold_adds_to_it() -> None:
    """The best ways are told by other draws than the rest, which say something else of the answers that are held."""
    own = planner(answered(100, n_audited=40), "model: price 0.05, unknown, votes 1 3, independent")
    rays = own._kind_simulation(own.kinds, 540.0, 40.0).rays()
    assert np.ptp([ray.log_gold[0] for ray in rays]) < 1e-12
    assert np.ptp([ray.spread[0] for ray in rays]) < 1e-12
    # What is not known of the answers that are held speaks for no way but gold.
    gold = next(ray for ray in rays if ray.step[own.kinds.gold] == 1)
    assert (gold.spread <= gold.spread[0]).all()
    assert all((ray.spread >= ray.spread[0] - 1e-12).all() for ray in rays if ray is not gold)
    np.testing.assert_allclose(np.exp(gold.log_gold), np.exp(gold.log_gold[0]) + gold.sizes, rtol=1e-12)


def test_a_kind_without_a_price_is_not_called_dear() -> None:
    told = []
    for price in (0.0, 0.02):
        kind = KindWorth("crowd", price, 0.35, False, 0, 0, 0.0, False, stands_for=83.0, of_answers=240.0)
        plan: Any = SimpleNamespace(currency="", kinds=(kind,), held=SimpleNamespace(samples="documents"))
        told += kind_words.worth_lines(plan)
    assert "it is taken to cost nothing (say its price, if it has one), and nothing with it is clearly" in told[0]
    assert "for the money" not in told[0]
    assert "you pay 0.02: others do more for the money, none to buy." in told[1]


def test_a_simulation_announces_as_many_steps_as_it_does(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also of mixes, and of the best once more, which are known when the others are told."""
    stages: list[list[int]] = []
    expect, advance = Whole.expect, Whole.advance

    def expected(whole: Whole, total: int, *parts: Any, **named: Any) -> None:
        stages.append([total, 0])
        expect(whole, total, *parts, **named)

    def advanced(whole: Whole, steps: int, *parts: Any, **named: Any) -> None:
        stages[-1][1] += steps
        advance(whole, steps, *parts, **named)

    own = planner(None)
    monkeypatch.setattr(Whole, "expect", expected)
    monkeypatch.setattr(Whole, "advance", advanced)
    own._kind_simulation(own.kinds, 540.0, 40.0).rays()
    assert len([total for total, _ in stages]) >= 3
    assert all(done == total for total, done in stages)
