"""What a pilot's answers tell of kinds of labels."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import labelworth as lw
from labelworth.channels.arm import Arm
from labelworth.channels.channel import Channel
from labelworth.channels.kinds import kinds_of
from labelworth.data.answers import Answers
from labelworth.data.evidence import Evidence
from labelworth.data.lengths import LengthDistribution
from labelworth.errors import InfeasiblePlanError, InvalidInputError
from labelworth.estimators.reading import pool_of
from labelworth.fisher.criteria import CRITERIA
from labelworth.fisher.documents.channels import ArmSet, enumerated_channels
from labelworth.models.classes.multinomial import MultinomialModel
from labelworth.planning.kinds.formulas import KindError, KindFormulas
from labelworth.planning.kinds.guesses import KindGuesses, by_kind, paid_for
from labelworth.planning.kinds.menu import KindMenu, Part, Subset
from labelworth.policies.catalog import Everything
from labelworth.tradeoff.problem import Question
from labelworth.tradeoff.solve import solve

CLASSES = ("ham", "spam")
WORDS = np.random.default_rng(3).dirichlet(np.full(6, 1.0), 2)
MODEL = MultinomialModel(CLASSES, [0.6, 0.4], WORDS, LengthDistribution.single(4))
TRUE = np.array([[0.9, 0.1], [0.35, 0.65]])
KINDS = kinds_of(["crowd: price 0.02, unknown, votes 1 3", "expert: price 0.3, accuracy 0.97"])


def world(n: int = 900, labeled: int = 300) -> tuple:
    drawn = MODEL.sample(n, np.random.default_rng(0))
    names = np.array(CLASSES, dtype=object)[drawn.evidence.codes]
    y = np.where(np.arange(n) < labeled, names, "")
    return drawn, y, pool_of(drawn.counts, y, "multinomial", unlabeled="", classes=CLASSES, seed=0)


def said(truth: np.ndarray, rows: np.ndarray, table: np.ndarray, name: str, seed: int) -> Answers:
    draws = np.random.default_rng(seed).random(len(rows))
    codes = (draws >= table[truth[rows], 0]).astype(int)
    # By somebody of that kind: who is called as a kind is all of it, and has one vote.
    return Answers(
        rows, np.zeros(len(rows), int), (f"ann of {name}",), Evidence(codes, CLASSES), kinds=np.full(len(rows), name)
    )


def test_several_votes_of_one_annotator_are_refused_unless_answers_are_given_anew() -> None:
    drawn, _, pool = world()
    own = said(drawn.evidence.codes, np.arange(100, 500), TRUE, "crowd", 1)
    alone = replace(own, names=("crowd",))
    with pytest.raises(InvalidInputError, match="All answers of 'crowd' are by one annotator of that name"):
        KindGuesses.of(KINDS, alone, pool)
    anew = kinds_of(["crowd: price 0.02, unknown, votes 1 3, independent", "expert: price 0.3, accuracy 0.97"])
    once = kinds_of(["crowd: price 0.02, unknown", "expert: price 0.3, accuracy 0.97"])
    for channels, answers in ((anew, alone), (once, alone), (KINDS, own)):
        told = KindGuesses.of(channels, answers, pool)
        assert told.n_audited("crowd") == 200


def test_confusions_are_those_of_the_answers() -> None:
    """400 answers, 200 of them audited: rows of the table to five standard errors."""
    drawn, _, pool = world()
    answers = said(drawn.evidence.codes, np.arange(100, 500), TRUE, "crowd", 1)
    told = KindGuesses.of(KINDS, answers, pool)
    guessed = told.channels[0]
    assert guessed.is_unknown
    assert guessed.votes == (1, 3)
    assert guessed.price == 0.02
    table = guessed.table(CLASSES).probabilities
    counts = told.audited["crowd"]
    assert counts.sum() == told.n_audited("crowd") == 200
    assert (np.abs(table - TRUE) <= 5 * np.sqrt(TRUE * (1 - TRUE) / counts[:, None])).all()
    assert told.channels[1] is KINDS[1]
    assert any("right on" in note and "crowd" in note for note in told.notes)
    assert not told.faith


def test_draws_are_as_wide_as_audited_rows_are_few() -> None:
    drawn, _, pool = world()
    spreads = []
    for rows in (np.arange(270, 500), np.arange(0, 300)):
        told = KindGuesses.of(KINDS, said(drawn.evidence.codes, rows, TRUE, "crowd", 1), pool)
        tables = [
            told.drawn(CLASSES, np.random.default_rng(seed))[0].table(CLASSES).probabilities for seed in range(200)
        ]
        center, strength = told.channels[0].table(CLASSES).probabilities, told.audited["crowd"] + 2
        expected = np.sqrt(center[:, 0] * center[:, 1] / (strength + 1))
        np.testing.assert_allclose(np.std(tables, axis=0)[:, 0], expected, rtol=0.25)
        spreads.append(np.std(tables, axis=0).max())
    assert spreads[0] > 2 * spreads[1]


def test_no_answer_is_drawn_rarer_than_asked_for() -> None:
    """With no audited row the prior alone draws, mostly tables near its corners."""
    drawn, _, pool = world()
    told = KindGuesses.of(KINDS, said(drawn.evidence.codes, np.arange(400, 700), TRUE, "crowd", 1), pool)
    assert told.n_audited("crowd") == 0

    def least(rarest: float) -> float:
        drawn = [told.drawn(CLASSES, np.random.default_rng(seed), rarest)[0] for seed in range(200)]
        return float(np.min([channel.table(CLASSES).probabilities for channel in drawn]))

    assert least(0.005) > 0.004
    assert least(1e-9) < 0.001
    coin = KindGuesses.of(kinds_of(["crowd: accuracy 0.95, unknown"]), None, pool)
    coin = replace(coin, audited={"crowd": np.zeros(2)})
    right = [coin.drawn(CLASSES, np.random.default_rng(seed), 0.005)[0].form.accuracy for seed in range(200)]
    assert np.max(right) < 0.996


def test_what_nobody_looked_at_rests_on_faith() -> None:
    drawn, _, pool = world()
    guess = [KINDS[0].guessed(TRUE), KINDS[1]]
    assert set(KindGuesses.of(guess, None, pool).faith) == {"crowd"}
    elsewhere = said(drawn.evidence.codes, np.arange(400, 700), TRUE, "crowd", 1)
    told = KindGuesses.of(guess, elsewhere, pool)
    assert "none of its answers is to a row whose class is known" in told.faith["crowd"]
    assert told.n_audited("crowd") == 0
    assert told.n_held("crowd") == 300


def test_an_accuracy_that_audited_rows_contradict_is_told() -> None:
    drawn, _, pool = world()
    coin = np.array([[0.7, 0.3], [0.3, 0.7]])
    honest = np.array([[0.97, 0.03], [0.03, 0.97]])
    kinds = [KINDS[1]]
    assert KindGuesses.of(kinds, said(drawn.evidence.codes, np.arange(200), coin, "expert", 1), pool).warnings
    assert not KindGuesses.of(kinds, said(drawn.evidence.codes, np.arange(200), honest, "expert", 1), pool).warnings


def test_whose_answers_count_as_those_of_a_kind_of_another_name_is_told() -> None:
    drawn, _, pool = world()
    both = replace(said(drawn.evidence.codes, np.arange(200), TRUE, "w1", 1), names=("w1",), kinds=None)
    answers = replace(both, annotators=np.arange(200) % 2, names=("w1", "expert"))
    once = kinds_of(["crowd: price 0.02, unknown", "expert: price 0.3, accuracy 0.97"])
    taken = "Answers of 'w1' count as those of 'crowd'"
    assert any(taken in note for note in KindGuesses.of(KINDS, answers, pool).notes)
    # A kind of that name, a word of their own, or no other kind: nothing is to be told.
    for same, kinds in (
        (replace(answers, names=("crowd", "expert")), once),
        (replace(answers, kinds=np.where(np.arange(200) % 2, "expert", "crowd")), KINDS),
        (both, KINDS[:1]),
    ):
        assert not any("count as those of" in note for note in KindGuesses.of(kinds, same, pool).notes)


def test_annotators_of_other_names_are_the_crowd() -> None:
    rows = np.arange(6)
    answers = Answers(rows, np.array([0, 1, 2, 0, 1, 2]), ("w1", "expert", "w2"), Evidence(np.zeros(6, int), CLASSES))
    named = by_kind(answers, ["crowd", "expert"])
    assert named.names == ("crowd", "expert")
    assert named.annotators.tolist() == [0, 1, 0, 0, 1, 0]
    with pytest.raises(InvalidInputError, match="could be of 'crowd' or 'other'"):
        by_kind(answers, ["crowd", "expert", "other"])
    with pytest.raises(InvalidInputError, match="none, as each has an annotator of its name"):
        by_kind(answers, ["expert"])


def test_an_accuracy_and_a_question_stay_what_they_are() -> None:
    drawn, _, pool = world()
    coin = np.array([[0.8, 0.2], [0.2, 0.8]])
    kinds = kinds_of(["crowd: accuracy 0.6, unknown", "asked: question spam, accuracy 0.6, unknown"])
    rows = np.arange(300)
    yes = said(drawn.evidence.codes, rows, coin, "asked", 5)
    weights = np.eye(2)[::-1]
    about = Evidence(np.where(yes.evidence.codes == 1, -2, -3), CLASSES, weights)
    crowd = said(drawn.evidence.codes, rows, coin, "crowd", 4)
    both = Answers(
        np.concatenate([rows, rows]),
        np.repeat([0, 1], 300),
        ("crowd", "asked"),
        Evidence(np.concatenate([crowd.evidence.codes, about.codes]), CLASSES, weights),
    )
    told = KindGuesses.of(kinds, both, pool)
    for channel, kind in zip(told.channels, kinds, strict=True):
        assert type(channel.form) is type(kind.form)
        assert channel.form.accuracy == pytest.approx(0.8, abs=5 * np.sqrt(0.16 / 300))


def test_a_plan_takes_guesses_from_answers_and_is_less_sure_with_few() -> None:
    drawn, y, _ = world()
    truth = drawn.evidence.codes
    asked = {"model": "multinomial", "prices": {"per_label": 0.5}, "budget": 170.0, "criterion": "excess_log_loss"}
    asked |= {"unlabeled": "", "classes": CLASSES, "n_draws": 40, "channels": KINDS}
    many = lw.plan(drawn.counts, y, answers=said(truth, np.arange(0, 300), TRUE, "crowd", 1), **asked)
    crowd = next(kind for kind in many.kinds if kind.kind == "crowd")
    assert crowd.n_audited == 300
    assert crowd.faith is None
    assert crowd.answers > 0
    assert not any("rests on faith" in line for line in many.lines())
    assert any("audited answers" in note for note in many.notes)
    with pytest.raises(InvalidInputError, match="Nothing is known of the confusion"):
        lw.plan(drawn.counts, y, **asked)


def test_answers_without_kinds_are_refused() -> None:
    drawn, y, _ = world()
    answers = said(drawn.evidence.codes, np.arange(50), TRUE, "crowd", 1)
    with pytest.raises(InvalidInputError, match="say with channels="):
        lw.plan(drawn.counts, y, unlabeled="", budget=200, answers=answers)


def test_answers_that_are_held_are_information_as_the_same_answers_bought() -> None:
    """Held answers and a design of as many: the same figure, to rounding; without them another one."""
    drawn, _, pool = world(400, 100)
    kinds = kinds_of(["crowd: price 0.02, accuracy 0.8", "expert: price 0.3, accuracy 0.97"])
    rows = np.concatenate([np.arange(60, 160), np.arange(130, 160)])
    answers = said(drawn.evidence.codes, rows, TRUE, "crowd", 1)
    part = Part(Everything(), 1.0, 0.5)
    bare = KindMenu.of(kinds, CLASSES, [part], 0.0, uses_unlabeled=True)
    menu = replace(bare, guesses=KindGuesses.of(kinds, answers, pool))
    assert menu.held_before(100) == {
        "gold": 60.0,
        "crowd x 1, gold (held)": 40.0,
        "crowd x 1 (held)": 30.0,
        "crowd x 2 (held)": 30.0,
    }
    assert menu.n_done == 60
    arms = ArmSet.of([Arm.of(kinds[0]), Arm.of(kinds[0], votes=2), Arm.of(kinds[0], gold=True)], CLASSES)
    information = enumerated_channels(pool.model, arms)
    for criterion in ("excess_log_loss", "error"):
        formulas = KindFormulas(pool, menu.names, criterion, 0, kinds=menu).accuracy()
        apart = KindFormulas(pool, menu.names, criterion, 0, kinds=bare).accuracy()
        counts = np.array([200.0, 20.0, 30.0, 0.0])
        # The same rows as a design: 60 + 20 gold, 40 audited, one answer for 30 + 30, two for 30.
        total = np.array([200.0, 80.0, 60.0, 30.0, 40.0])
        if criterion == "error":
            added = {rule: {rule: 1.0} for rule in information.rules}
            brute = KindError(pool.model, information, pool.data, added, {}).error(total)
        else:
            brute = information.point(CRITERIA[criterion], total).value
        assert formulas.error(counts) == pytest.approx(brute, rel=1e-9)
        assert apart.error(counts) > brute * (1 + 1e-4)


def test_plans_say_what_held_answers_count_for() -> None:
    drawn, y, _ = world(400, 200)
    answers = said(drawn.evidence.codes, np.arange(150, 260), TRUE, "crowd", 1)
    asked = {
        "model": "multinomial",
        "unlabeled": "",
        "classes": CLASSES,
        "prices": {"per_label": 0.5},
        "channels": KINDS,
        "criterion": "excess_log_loss",
        "source": "asymptotic",
        "budget": 110.0,
        "n_draws": 0,
        "use_unlabeled": "yes",
    }
    plan = lw.plan(drawn.counts, y, answers=answers, **asked)
    assert any("For the 60 documents with answers and no gold, gold is on offer" in note for note in plan.notes)
    few = said(drawn.evidence.codes, np.arange(150, 200), TRUE, "crowd", 1)
    assert plan.held.error < lw.plan(drawn.counts, y, answers=few, **asked).held.error


@pytest.fixture(scope="module")
def half_answered() -> tuple[Any, Any, Any]:
    """Of 400 documents 200 have gold; 110 have answers, 50 of them with gold, 20 of the others twice."""
    drawn, y, pool = world(400, 200)
    rows = np.concatenate([np.arange(150, 260), np.arange(240, 260)])
    answers = said(drawn.evidence.codes, rows, TRUE, "crowd", 1)
    part = Part(Everything(), 1.0, 0.5)
    guesses = KindGuesses.of(KINDS, answers, pool)
    menu = KindMenu.of(guesses.channels, CLASSES, [part], 0.0, uses_unlabeled=True)
    return (drawn, y, answers), pool, menu.with_held(guesses, 200, audits=True)


@pytest.mark.parametrize("criterion", ["excess_log_loss", "error"])
def test_more_about_documents_that_are_held_is_what_the_same_documents_would_tell(
    half_answered: tuple[Any, Any, Any], criterion: str
) -> None:
    """Against a design in which they have been asked that from the start, and against slopes by differences."""
    _, pool, menu = half_answered
    arms = dict(zip(menu.names, range(len(menu.names)), strict=True))
    assert list(arms)[-2:] == ["gold for answered", "crowd for labeled"]
    np.testing.assert_array_equal(menu.prices.apart[-2:], [60, 150])
    np.testing.assert_array_equal(menu.prices.per_sample[-2:], [0.5, 0.02])
    crowd = menu.channels[0]
    states = ArmSet.of(
        [Arm.of(crowd), Arm.of(crowd, votes=2), *(Arm.of(crowd, gold=True, votes=votes) for votes in (1, 2))], CLASSES
    )
    information = enumerated_channels(pool.model, states)
    accuracy = KindFormulas(pool, menu.names, criterion, 0, kinds=menu).accuracy()
    counts = np.zeros(len(arms))
    counts[[arms["nothing"], arms["gold"], arms["gold for answered"], arms["crowd for labeled"]]] = 100, 10, 30, 45
    # Nothing; gold alone; one answer; two; gold and one; gold and two.
    total = np.array([100.0, 150 + 10 - 45, 40 - 20, 20 - 10, 50 + 45 + 20, 10])

    def brute(at: np.ndarray) -> float:
        if criterion == "error":
            added = {rule: {rule: 1.0} for rule in information.rules}
            return KindError(pool.model, information, pool.data, added, {}).error(at)
        return float(information.point(CRITERIA[criterion], at).value)

    assert accuracy.error(counts) == pytest.approx(brute(total), rel=1e-9)
    # Controls: without that gold; with the same gold for new documents.
    without = total + np.array([0, 0, 20, 10, -20, -10])
    assert accuracy.error(counts) < brute(without) * (1 - 1e-4)
    assert accuracy.error(counts) != pytest.approx(brute(without + 30 * np.eye(6)[1]), rel=1e-4)
    h, slope = 1e-3, accuracy.slope(counts)
    for arm in ("gold for answered", "crowd for labeled"):
        step = h * np.eye(len(arms))[arms[arm]]
        by_differences = (accuracy.error(counts + step) - accuracy.error(counts - step)) / (2 * h)
        assert slope[arms[arm]] == pytest.approx(by_differences, rel=1e-5)
    np.testing.assert_allclose(accuracy.labels_per_sample[-2:], 1.0, rtol=1e-12)


@pytest.mark.parametrize("criterion", ["excess_log_loss", "error"])
def test_a_second_kind_may_audit_what_a_first_one_has(criterion: str) -> None:
    """All labels have answers of the crowd; given the class, answers of a model say of it what they say anywhere."""
    drawn, _, pool = world(400, 200)
    kinds = [KINDS[0], Channel("model", TRUE, price=0.01, unknown=True)]
    answers = said(drawn.evidence.codes, np.arange(200), TRUE, "crowd", 1)
    guesses = KindGuesses.of(kinds, answers, pool)
    menu = KindMenu.of(guesses.channels, CLASSES, [Part(Everything(), 1.0, 0.5)], 0.0, uses_unlabeled=True)
    menu = menu.with_held(guesses, 200, audits=True)
    assert menu.names[-1] == "model for labeled"
    assert "crowd for labeled" not in menu.names
    counts = np.zeros(len(menu.names))
    counts[[menu.names.index("nothing"), menu.names.index("model"), len(counts) - 1]] = 100, 50, 80
    accuracy = KindFormulas(pool, menu.names, criterion, 0, kinds=menu).accuracy()
    crowd, model = guesses.channels
    arms = [Arm.of(model), Arm.of(crowd, gold=True, votes=1), Arm.of(crowd, model, gold=True, votes=1)]
    information, total = enumerated_channels(pool.model, ArmSet.of(arms, CLASSES)), np.array([100.0, 0, 50, 120, 80])
    if criterion == "error":
        added = {rule: {rule: 1.0} for rule in information.rules}
        brute = KindError(pool.model, information, pool.data, added, {}).error(total)
    else:
        brute = information.point(CRITERIA[criterion], total).value
    assert accuracy.error(counts) == pytest.approx(brute, rel=1e-9)


@pytest.mark.parametrize("budget", [10.0, 60.0, 200.0])
def test_the_best_mix_with_what_is_held_is_certified_and_no_random_design_beats_it(
    half_answered: tuple[Any, Any, Any], budget: float
) -> None:
    _, pool, menu = half_answered
    accuracy = KindFormulas(pool, menu.names, "excess_log_loss", 0, kinds=menu).accuracy()
    best = solve(accuracy, menu.prices, Question("budget", budget, 140.0))
    assert best.is_certified
    assert menu.prices.fit(best.counts, 140.0)
    rng = np.random.default_rng(3)
    for _ in range(200):
        shares = rng.dirichlet(np.full(len(menu.names), 0.3))
        most = min(menu.prices.longest(shares, 140.0), budget / float(menu.prices.per_sample @ shares))
        assert accuracy.error(most * shares) >= best.error * (1 - 1e-8)
    # The control: without what is held on offer the best mix is worse.
    new = [index for index, onto in enumerate(menu.onto) if onto == "new"]
    without = solve(Subset(accuracy, tuple(new)), menu.prices.some(new), Question("budget", budget, 140.0))
    assert without.error > best.error * (1 + 1e-6)


def test_an_answer_is_worth_what_the_optimizer_would_pay_with_audits_of_held_labels(
    half_answered: tuple[Any, Any, Any],
) -> None:
    """The break-even price of the crowd: bought at a little less, and not at a little more."""
    _, pool, menu = half_answered
    accuracy = KindFormulas(pool, menu.names, "excess_log_loss", 0, kinds=menu).accuracy()
    question = Question("budget", 20.0, 140.0)
    worth, crowd = menu.worths(accuracy, question, np.zeros(len(menu.names)))[0].worth, menu.channels[0]
    votes = np.array([offer.asks.get("crowd", 0) for offer in menu.offers])
    for factor, is_bought in ((0.99, True), (1.01, False)):
        per_sample = menu.prices.per_sample + votes * (factor * worth - crowd.price)
        best = solve(accuracy, replace(menu.prices, per_sample=per_sample), question)
        assert (float(best.counts @ votes) > 1e-6) == is_bought


def test_a_budget_pays_for_the_answers_that_are_held() -> None:
    """Two hundred labels at 0.5 and 110 answers at 0.02 are held."""
    drawn, y, _ = world(400, 200)
    answers = said(drawn.evidence.codes, np.arange(150, 260), TRUE, "crowd", 1)
    asked = {
        "model": "multinomial",
        "unlabeled": "",
        "classes": CLASSES,
        "prices": {"per_label": 0.5},
        "channels": KINDS,
        "criterion": "excess_log_loss",
        "source": "asymptotic",
        "n_draws": 0,
        "use_unlabeled": "yes",
    }
    plan = lw.plan(drawn.counts, y, answers=answers, budget=104.0, **asked)
    assert plan.held.cost == pytest.approx(100 + 110 * 0.02)
    assert plan.held.n_answers == 110
    assert plan.recommended.cost <= 104 - plan.held.cost + 1e-9
    assert plan.recommended.cost_in_all <= 104 + 1e-9
    assert any("has cost 2.20 for 110 answers" in note for note in plan.notes)
    # At their own prices, where they say them.
    dear = replace(answers, prices=np.full(110, 0.1))
    with pytest.raises(InfeasiblePlanError, match=r"200 labels and 110 answers held have cost 111 already"):
        lw.plan(drawn.counts, y, answers=dear, budget=104.0, **asked)


def test_where_all_is_answered_on_faith_gold_for_that_is_on_offer() -> None:
    """Six hundred documents with an answer, none of them with gold, and no document without an answer."""
    drawn, y, _ = world()
    everywhere = said(drawn.evidence.codes, np.arange(len(y)), TRUE, "crowd", 1)
    alone = everywhere.take(np.array([label == "" for label in y]))
    asked = {
        "model": "multinomial",
        "prices": {"per_label": 0.5},
        "criterion": "excess_log_loss",
        "answers": alone,
        "unlabeled": "",
        "classes": CLASSES,
        "n_draws": 40,
        "channels": [KINDS[0].guessed(TRUE), KINDS[1]],
        "source": "asymptotic",
    }
    plan = lw.plan(drawn.counts, y, budget=200.0, **asked)
    assert {arm.arm: arm.count for arm in plan.recommended.arms if arm.count} == {"gold for answered": 76}
    assert plan.lines()[0] == "For 38: gold labels for 76 documents that have answers (38)."
    assert any("next 10 documents with answers given gold labels lower it" in line for line in plan.lines())
    assert any("All 900 labels would bring it" in line for line in plan.lines())
    assert any("rests on faith" in line for line in plan.lines())
    assert plan.recommended.labels_in_all == 376
    assert plan.recommended.n_samples == 900
    crowd, expert = plan.kinds
    assert crowd.worth is not None  # For documents that have gold.
    assert crowd.worth <= crowd.price
    assert expert.worth is None
    all_of_it = lw.plan(drawn.counts, y, budget=1000.0, **asked)
    assert {arm.arm: arm.count for arm in all_of_it.recommended.arms if arm.count} == {"gold for answered": 600}
    assert any("all 600 samples are to be labeled" in note for note in all_of_it.notes)
    assert not any("worth any price" in line for line in all_of_it.lines())


def test_answers_are_of_the_kind_they_say() -> None:
    """One annotator may answer as two kinds; what says nothing goes by the annotator's name, then by elimination."""
    answers = Answers(
        np.arange(5),
        np.array([0, 0, 1, 2, 0]),
        ("ann", "expert", "bob"),
        Evidence(np.zeros(5, int), CLASSES),
        kinds=np.array(["crowd", "expert", "", "", ""]),
    )
    kinds = ["crowd", "expert", "other"]
    named = by_kind(answers, kinds)
    assert [named.names[code] for code in named.annotators] == ["crowd", "expert", "expert", "other", "other"]
    with pytest.raises(InvalidInputError, match="of the kind 'crowd', and kinds of labels are 'expert'"):
        by_kind(answers, ["expert"])
    with pytest.raises(InvalidInputError, match="column 'kind'"):
        by_kind(answers, [*kinds, "one more"])


def test_answers_have_cost_what_they_say_or_what_their_kind_costs() -> None:
    answers = Answers(
        np.arange(3),
        np.array([0, 1, 0]),
        ("crowd", "expert"),
        Evidence(np.zeros(3, int), CLASSES),
        prices=np.array([0.5, np.nan, 0.25]),
    )
    kinds = [Channel("crowd", accuracy=0.8, price=0.02), Channel("expert", accuracy=0.9, price=0.4)]
    assert paid_for(answers, kinds) == pytest.approx(0.5 + 0.4 + 0.25)
    assert paid_for(replace(answers, prices=None), kinds) == pytest.approx(2 * 0.02 + 0.4)
    assert paid_for(None, kinds) == 0


def test_every_annotator_of_a_crowd_has_a_vote_on_an_audited_row() -> None:
    """Two who answer for the same rows: right as often as both are, not as often as they agree."""
    drawn, _, pool = world()
    rows, coin = np.arange(300), np.array([[0.8, 0.2], [0.2, 0.8]])
    truth = drawn.evidence.codes
    codes = np.concatenate([said(truth, rows, coin, "any", seed).evidence.codes for seed in (1, 2)])
    two = Answers(np.tile(rows, 2), np.repeat([0, 1], 300), ("ann", "bob"), Evidence(codes, CLASSES))
    n_right = int((codes == np.tile(truth[rows], 2)).sum())
    told = KindGuesses.of(kinds_of(["crowd: accuracy 0.8"]), two, pool)
    assert f"crowd: 600 answers, right on {n_right} of 600 audited" in told.notes[0]
    assert not told.warnings
    asked = KindGuesses.of(kinds_of(["crowd: question spam, accuracy 0.6, unknown"]), two, pool)
    assert asked.channels[0].form.accuracy == pytest.approx(0.8, abs=5 * np.sqrt(0.16 / 600))
    assert asked.n_audited("crowd") == 600


def test_votes_of_annotators_who_err_together_are_warned_of() -> None:
    drawn, _, pool = world()
    rows = np.arange(200)
    own = [said(drawn.evidence.codes, rows, TRUE, "crowd", seed).evidence.codes for seed in (1, 2, 3)]

    def told(codes: list[np.ndarray]) -> tuple[str, ...]:
        annotators = np.repeat(np.arange(3), len(rows))
        answers = Answers(
            np.tile(rows, 3), annotators, ("ann", "bob", "eve"), Evidence(np.concatenate(codes), CLASSES)
        )
        return KindGuesses.of(kinds_of(["crowd: price 0.02, unknown, votes 1 3"]), answers, pool).warnings

    (warning,) = told([own[0]] * 3)
    assert warning.startswith("Annotators of crowd are wrong on the same rows (p = 0.00")
    assert told(own) == ()


def test_what_was_audited_is_counted_in_answers_and_nothing_audited_is_said_of_rows() -> None:
    drawn, _, pool = world()
    truth = drawn.evidence.codes
    audited, not_audited = (
        KindGuesses.of(KINDS, said(truth, rows, TRUE, "crowd", 1), pool)
        for rows in (np.arange(200), np.arange(300, 500))
    )
    assert any("audited answers" in note for note in audited.notes)
    assert "crowd: 200 answers, no row that was answered has gold." in not_audited.notes
