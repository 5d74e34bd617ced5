"""Plans with kinds of labels: mixes by formulas, what answers are worth, and what is said of them."""

import json
from dataclasses import replace

import numpy as np
import pytest

import labelworth as lw
from labelworth.channels.channel import Channel
from labelworth.channels.kinds import kinds_of
from labelworth.data.lengths import LengthDistribution
from labelworth.errors import InfeasiblePlanError, InvalidInputError
from labelworth.estimators.reading import pool_of
from labelworth.fisher.documents.channels import averaged_channels, enumerated_channels
from labelworth.fisher.documents.population import enumerate_outcomes, enumerated_information
from labelworth.models.classes.multinomial import MultinomialModel
from labelworth.planning.answer import Plan
from labelworth.planning.formulas.levels import ErrorAccuracy
from labelworth.planning.kinds import words as kind_words
from labelworth.planning.kinds.formulas import KindError
from labelworth.planning.kinds.guesses import KindGuesses
from labelworth.planning.kinds.menu import KindMenu, Part
from labelworth.policies.catalog import Everything
from labelworth.tradeoff.asymptotic_accuracy import AsymptoticAccuracy
from labelworth.tradeoff.problem import Question
from labelworth.tradeoff.solve import solve

WORDS = np.random.default_rng(3).dirichlet(np.full(6, 1.0), 2)
GOLD = [Part(Everything(), 1.0, 0.5)]
MODEL = MultinomialModel(("ham", "spam"), [0.6, 0.4], WORDS, LengthDistribution.single(4))
KINDS = [
    "expert: price 0.3, accuracy 0.97",
    "crowd: price 0.02, confusion 0.85 0.15 / 0.30 0.70, votes 1 3, unknown",
    "model: price 0.001, confusion 0.9 0.1 / 0.3 0.7, unknown",
    "screener: question spam, price 0.05, accuracy 0.95",
    "other: question ham, price 0.10, accuracy 0.95",
]
ASKED = {
    "model": "multinomial",
    "prices": {"per_label": 0.5},
    "source": "asymptotic",
    "n_draws": 20,
    "channels": KINDS,
}


def pilot(n: int = 600, labeled: int = 150) -> tuple:
    drawn = MODEL.sample(n, np.random.default_rng(0))
    names = np.array(MODEL.classes, dtype=object)[drawn.evidence.codes]
    return drawn.counts, np.where(np.arange(n) < labeled, names, "")


def planned(**asked: object) -> Plan:
    X, y = pilot()
    return lw.plan(X, y, **{**ASKED, "unlabeled": "", "criterion": "excess_log_loss", **asked})


def of_menu(channels: list[Channel]) -> KindMenu:
    return KindMenu.of(channels, MODEL.classes, GOLD, 0.0, uses_unlabeled=True)


@pytest.fixture(scope="module")
def plan() -> Plan:
    return planned(budget=90.0)


def test_a_plan_mixes_kinds_with_a_certificate_and_whole_counts(plan: Plan) -> None:
    assert plan.arms == (
        "nothing",
        "gold",
        "expert",
        "crowd",
        "crowd x 3",
        "gold + crowd",
        "model",
        "gold + model",
        "screener",
        "other",
        "crowd for labeled",
        "model for labeled",
    )
    assert plan.certificate is not None
    assert plan.certificate.gap <= 1e-8 * plan.recommended.error
    counts = np.array([arm.count for arm in plan.recommended.arms])
    assert (counts == np.rint(counts)).all()
    assert counts[:-2].sum() <= 450
    assert counts[-2:].max() <= 150
    prices = np.array([offer.price for offer in plan.menu])
    assert plan.recommended.cost == pytest.approx(prices @ counts)
    assert plan.held.cost + plan.recommended.cost <= 90.0 * (1 + 1e-12)
    assert plan.error_interval is not None
    assert plan.error_interval.low <= plan.recommended.error <= plan.error_interval.high
    # Answers of kinds are no labels of a larger pilot.
    assert plan.advice == "label"


def test_every_offer_says_what_a_row_gets_and_costs(plan: Plan) -> None:
    offers = {offer.arm: offer for offer in plan.menu}
    assert offers["crowd x 3"].asks == {"crowd": 3}
    assert offers["crowd x 3"].price == pytest.approx(0.06)
    assert (offers["gold + model"].gold, offers["gold + model"].asks) == (True, {"model": 1})
    assert offers["gold + model"].price == pytest.approx(0.501)
    assert (offers["gold"].gold, offers["gold"].asks, offers["gold"].price) == (True, {}, 0.5)


def test_the_record_keeps_counts_by_arm_and_worths(plan: Plan) -> None:
    figures = json.loads(json.dumps(plan.to_dict()))
    assert [arm["arm"] for arm in figures["recommended"]["arms"]] == [offer["arm"] for offer in figures["menu"]]
    assert [kind["kind"] for kind in figures["kinds"]] == ["expert", "crowd", "model", "screener", "other"]
    gold_alone = planned(budget=90.0, channels=None).to_dict()
    assert "menu" not in gold_alone
    assert "kinds" not in gold_alone


def test_words_begin_with_money_and_never_contradict_the_counts(plan: Plan) -> None:
    lines = plan.lines()
    assert lines[0].startswith(f"For {plan.recommended.cost:.4g}: ")
    for arm in plan.recommended.arms:
        if arm.count and arm.arm == "model":
            assert f"model on {arm.count:,.0f} documents" in lines[0]
    for kind in plan.kinds:
        [line] = [line for line in lines if line.startswith(f"An answer of {kind.kind} ")]
        assert f"at most {kind.worth:.2g}; you pay {kind.price:g}" in line
        assert line.endswith("to buy.")
        assert ("none to buy" in line) == (kind.answers == 0)
        if kind.worth < 0.99 * kind.price:
            assert kind.answers == 0
    assert "The best question for its price: is it spam? (screener)" in lines
    guessed = [kind for kind in plan.kinds if kind.is_unknown and kind.answers]
    assert guessed
    for kind in guessed:
        assert any("rests on faith" in line and repr(kind.kind) in line for line in lines)


def test_a_kind_that_is_bought_beside_others_is_not_called_worthless(plan: Plan) -> None:
    bought = next(own for own in plan.kinds if own.answers)
    dear = replace(plan, kinds=(replace(bought, worth=0.5 * bought.price, is_needed=False),))
    assert plan.certificate is not None
    bent = replace(dear, certificate=replace(plan.certificate, if_convex=True))
    (line, *_) = kind_words.worth_lines(bent)
    assert "beside the other labels they do more" in line


def test_what_is_too_dear_by_a_certificate_only_fills_up(plan: Plan) -> None:
    bought = next(own for own in plan.kinds if own.answers)
    dear = replace(plan, kinds=(replace(bought, worth=0.5 * bought.price, is_needed=False),))
    (line, *_) = kind_words.worth_lines(dear)
    assert "That is too dear; it only fills up what whole numbers of the others leave" in line
    (line, *_) = kind_words.worth_lines(replace(dear, kinds=(replace(dear.kinds[0], worth=2 * bought.price),)))
    assert "too dear" not in line


def test_where_nobody_is_left_to_ask_about_a_plan_says_that(plan: Plan) -> None:
    none = planned(budget=90.0, pool=0, n_draws=0)
    for kind in ("expert", "screener"):
        assert f"No document is left that {kind} could be asked about: none to buy." in none.lines()
    # Documents that are labeled are left to audit a kind that is not known.
    assert not any("is left that crowd" in line for line in none.lines())
    assert not any("at what price" in line for line in none.lines() if "expert" in line)
    assert all(kind.is_left for kind in plan.kinds)


def test_what_is_worth_nothing_has_no_minus_sign(plan: Plan) -> None:
    idle = next(own for own in plan.kinds if not own.answers)
    (line, *_) = kind_words.worth_lines(replace(plan, kinds=(replace(idle, worth=0.0),)))
    assert f"An answer of {idle.kind} is worth nothing; you pay" in line


def test_two_classes_make_either_question_the_same(plan: Plan) -> None:
    worth = {kind.kind: kind.worth for kind in plan.kinds}
    # Each is judged beside the other; the cheaper one takes the other's worth down to its price.
    assert worth["other"] <= worth["screener"]
    assert {kind.kind: kind.answers for kind in plan.kinds}["other"] == 0


def test_a_target_and_a_price_of_error_are_met(plan: Plan) -> None:
    today = plan.held.error
    met = planned(target=0.7 * today, n_draws=0)
    assert met.recommended.error <= 0.7 * today
    weighed = planned(alpha=20_000.0, n_draws=0)
    assert weighed.recommended.error < today
    # Whoever may only buy gold pays more for the same.
    gold = planned(target=0.7 * today, n_draws=0, channels=None)
    assert met.recommended.cost < gold.recommended.cost


def test_errors_of_two_classes_have_a_slope_and_agree_with_gold_alone() -> None:
    kinds = of_menu([Channel("crowd", [[0.85, 0.15], [0.3, 0.7]], unknown=True), Channel("expert", accuracy=0.97)])
    wide = KindError(
        MODEL,
        enumerated_channels(MODEL, kinds.arm_set),
        MODEL.sample(3, np.random.default_rng(0)),
        kinds.added,
        {"gold": 30.0},
    )
    plain = ErrorAccuracy(
        MODEL, enumerated_information(MODEL), MODEL.sample(3, np.random.default_rng(0)), held_labeled=30.0
    )
    counts = np.array([200.0, 40.0, 0.0, 0.0, 0.0])
    assert wide.error(counts) == pytest.approx(plain.error(np.array([40.0, 200.0])), rel=1e-9)
    counts = np.array([200.0, 40.0, 100.0, 20.0, 60.0])
    for arm, slope in enumerate(wide.slope(counts)):
        step = 0.01 * np.eye(5)[arm]
        assert slope == pytest.approx((wide.error(counts + step) - wide.error(counts - step)) / 0.02, rel=1e-5)
        assert slope < 0


def test_two_kinds_on_one_row_are_offered_and_bought_where_they_do_more() -> None:
    kinds = [
        "model: price 0.02, confusion 0.9 0.1 / 0.3 0.7",
        "crowd: price 0.02, confusion 0.8 0.2 / 0.2 0.8",
        "both: model + crowd x 3",
    ]
    # So few documents that money is left over when all have one answer.
    plan = planned(budget=81.0, channels=kinds, n_draws=0, pool=100)
    offer = next(own for own in plan.menu if own.arm == "both")
    assert offer.asks == {"model": 1, "crowd": 3}
    assert offer.price == pytest.approx(0.08)
    bought = {arm.arm: arm.count for arm in plan.recommended.arms}
    assert bought["both"] > 0
    assert "model and 3 votes of crowd on " in plan.lines()[0]
    without = planned(budget=81.0, channels=kinds[:2], n_draws=0, pool=100)
    assert plan.recommended.error < without.recommended.error
    for wrong, message in (("both: model + nobody", "Name those"), ("both: model + model", "different ones")):
        with pytest.raises(InvalidInputError, match=message):
            planned(budget=81.0, channels=[*kinds[:2], wrong])


def test_given_documents_are_averaged_as_all_of_them_are_summed() -> None:
    kinds = of_menu([Channel("crowd", [[0.85, 0.15], [0.3, 0.7]], votes=(1, 3), unknown=True)])
    outcomes = enumerate_outcomes(MODEL)
    averaged = averaged_channels(MODEL, outcomes.samples, outcomes.probabilities, kinds.arm_set)
    exact = enumerated_channels(MODEL, kinds.arm_set)
    np.testing.assert_allclose(averaged.matrices, exact.matrices, rtol=1e-9, atol=1e-12)
    # The control: documents that count alike, though some are rarer, give another information.
    alike = np.full(outcomes.samples.n_samples, 1 / outcomes.samples.n_samples)
    wrong = averaged_channels(MODEL, outcomes.samples, alike, kinds.arm_set)
    assert np.abs(wrong.matrices - exact.matrices).max() > 1e-2


def test_a_plan_in_errors_is_found_along_the_slope() -> None:
    plan = planned(budget=90.0, criterion="error", n_draws=0)
    assert plan.question.criterion == "error"
    assert plan.certificate is not None
    assert plan.certificate.if_convex
    assert plan.recommended.error < plan.held.error


def test_large_vocabularies_of_two_classes_go_by_the_formula() -> None:
    words = np.random.default_rng(1).dirichlet(np.full(400, 0.5), 2)
    model = MultinomialModel((0, 1), [0.5, 0.5], words, LengthDistribution.single(20))
    drawn = model.sample(400, np.random.default_rng(2))
    y = np.where(np.arange(400) < 60, drawn.evidence.codes, -1)
    asked = {**ASKED, "channels": ["llm: price 0.01, accuracy 0.9, unknown"], "n_draws": 5, "budget": 40.0}
    plan = lw.plan(drawn.counts, y, **asked)
    assert plan.question.criterion == "excess_log_loss"
    assert plan.certificate is not None
    assert {kind.kind: kind.answers for kind in plan.kinds}["llm"] > 0
    with pytest.raises(InvalidInputError, match="criterion must be one of"):
        lw.plan(drawn.counts, y, **{**asked, "criterion": "excess_error"})


def test_large_vocabularies_of_many_classes_go_without_matrices() -> None:
    words = np.random.default_rng(1).dirichlet(np.full(250, 0.5), 3)
    words = 0.5 * words + 0.5 * words.mean(axis=0)
    model = MultinomialModel((0, 1, 2), [0.3, 0.3, 0.4], words, LengthDistribution.single(20))
    drawn = model.sample(400, np.random.default_rng(2))
    y = np.where(np.arange(400) < 60, drawn.evidence.codes, -1)
    asked = {**ASKED, "channels": ["llm: price 0.01, accuracy 0.9, unknown"], "n_draws": 5, "budget": 40.0}
    plan = lw.plan(drawn.counts, y, use_unlabeled="yes", **asked)
    assert plan.question.criterion == "excess_log_loss"
    assert plan.certificate.gap <= 1e-8 * plan.recommended.error
    assert {kind.kind: kind.answers for kind in plan.kinds}["llm"] > 0
    assert plan.recommended.error < plan.held.error


def test_without_unlabeled_data_nobody_is_no_arm() -> None:
    plan = planned(budget=90.0, use_unlabeled="no", n_draws=0)
    assert "nothing" not in plan.arms


def test_prices_of_unlabeled_documents_are_paid_where_there_is_no_gold() -> None:
    kinds = KindMenu.of([Channel("m", accuracy=0.9, price=0.1)], MODEL.classes, GOLD, 0.01, uses_unlabeled=True)
    np.testing.assert_allclose(kinds.prices.per_sample, [0.01, 0.5, 0.11])


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"channels": ["m: unknown"]}, "Nothing is known of the confusion"),
        ({"channels": ["m: question nobody, accuracy 0.9"]}, "asks about classes"),
        ({"channels": ["m: confusion 1 0 0 / 0 1 0 / 0 0 1"]}, "a row for each of the 2 classes"),
        ({"prices": lambda policy, n: n}, "cost function knows nothing of kinds"),
    ],
)
def test_what_does_not_go_together_is_refused(asked: dict, message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        planned(budget=90.0, **asked)


def test_the_best_mix_is_that_of_the_solver_at_the_fit() -> None:
    """The plan's arms, prices and what is held go into the solver as they are: solved by hand it is the same."""
    X, y = pilot()
    plan = planned(budget=90.0, n_draws=0)
    pool = pool_of(X, y, "multinomial", unlabeled="", seed=0)
    channels = kinds_of(KINDS)
    new = KindMenu.of(channels, pool.data.evidence.classes, GOLD, 0.0, uses_unlabeled=True)
    kinds = new.with_held(KindGuesses.of(channels, None, pool), 150, audits=True)
    accuracy = AsymptoticAccuracy.of(
        enumerated_channels(pool.model, kinds.arm_set), "excess_log_loss", menu=kinds.added, held={"gold": 150.0}
    )
    best = solve(accuracy, kinds.prices, Question.of(budget=15.0, pool=450))
    assert plan.recommended.error == pytest.approx(best.error, rel=2e-3)
    assert plan.recommended.error >= best.error * (1 - 1e-9)


def test_the_labeled_fraction_counts_documents_and_not_answers(plan: Plan) -> None:
    """Of 600 documents 150 have a label; several answers to one make it labeled once."""
    counts = {arm.arm: arm.count for arm in plan.recommended.arms}
    asked = sum(count for arm, count in counts.items() if arm != "nothing" and not arm.endswith("for labeled"))
    assert plan.recommended.labeled_fraction == pytest.approx((150 + asked) / plan.recommended.n_samples)
    cheap = planned(
        budget=400.0, n_draws=0, channels=["crowd: price 0.01, accuracy 0.6, votes 3 5"], prices={"per_label": 2}
    )
    assert cheap.recommended.labels_in_all > cheap.recommended.n_samples
    assert cheap.recommended.labeled_fraction <= 1


def test_a_target_that_is_out_of_reach_is_told_in_the_criterion_that_was_asked_for() -> None:
    with pytest.raises(InfeasiblePlanError) as caught:
        planned(target=0.01, criterion="log_loss", n_draws=0)
    assert "No number of labels reaches a target of 0.01: the nearest" in str(caught.value)
    assert "excess" not in str(caught.value)
    assert "more labels and answers" in str(caught.value)


def test_a_kind_of_which_nothing_is_known_is_told_as_kinds_are_written() -> None:
    with pytest.raises(InvalidInputError, match=r"'m: accuracy 0.8, unknown', or answers of a pilot \(answers=\)"):
        planned(budget=90.0, channels=["m: price 0.01, unknown"])
