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
from labelworth.planning.kinds.menu import KindMenu, Part
from labelworth.planning.plan import planner_of
from labelworth.planning.source import PlanSettings
from labelworth.policies.catalog import Everything

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
    return Answers(rows, np.zeros(len(rows), int), (name,), Evidence(codes, CLASSES))


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


def test_annotators_of_other_names_are_the_crowd() -> None:
    rows = np.arange(6)
    answers = Answers(rows, np.array([0, 1, 2, 0, 1, 2]), ("w1", "expert", "w2"), Evidence(np.zeros(6, int), CLASSES))
    named = by_kind(answers, KINDS)
    assert named.names == ("crowd", "expert")
    assert named.annotators.tolist() == [0, 1, 0, 0, 1, 0]
    with pytest.raises(InvalidInputError, match="could be of 'crowd' or 'other'"):
        by_kind(answers, [*KINDS, Channel("other", accuracy=0.9)])
    with pytest.raises(InvalidInputError, match="none, as each has an annotator of its name"):
        by_kind(answers, [KINDS[1]])


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
    assert any("audited rows" in note for note in many.notes)
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
            names = tuple(information.rules)
            brute = KindError(pool.model, information, pool.data, names, {}).error(total)
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
    assert any("are counted among what is held. The 60 documents" in note for note in plan.notes)
    few = said(drawn.evidence.codes, np.arange(150, 200), TRUE, "crowd", 1)
    assert plan.held.error < lw.plan(drawn.counts, y, answers=few, **asked).held.error


@pytest.mark.parametrize("criterion", ["excess_log_loss", "error"])
def test_gold_for_documents_with_answers_is_worth_what_a_little_of_it_does(criterion: str) -> None:
    """Against differences: some of the documents that were asked are moved to those that have gold beside it."""
    drawn, y, _ = world(400, 200)
    answers = said(drawn.evidence.codes, np.arange(150, 260), TRUE, "crowd", 1)
    settings = PlanSettings(
        prices={"per_label": 0.5},
        channels=KINDS,
        answers=answers,
        criterion=criterion,
        source="asymptotic",
        use_unlabeled="yes",
    )
    planner = planner_of(drawn.counts, y, settings, model="multinomial", unlabeled="", classes=CLASSES)
    situation = planner.situation(np.inf)[0]
    kinds, accuracy, more = situation.kinds, situation.accuracy, situation.nothing_more
    names = list(accuracy.arms)
    more[names.index("gold")], more[names.index("nothing")] = 1.0, more[names.index("nothing")] - 1.0

    def with_audited(amount: float) -> Any:
        """As many of the sixty documents that the crowd answered have gold too."""
        moved = {"crowd x 1 (held)": 60 - amount, "crowd x 1 (held), audited": amount}
        if isinstance(accuracy.held, tuple):
            rules = accuracy.information.rules
            return replace(accuracy, held=tuple(moved.get(r, n) for r, n in zip(rules, accuracy.held, strict=True)))
        return replace(accuracy, held={**accuracy.held, **moved})

    def with_gold(amount: float) -> np.ndarray:
        counts = more.copy()
        counts[names.index("gold")] += amount
        counts[names.index("nothing")] -= amount
        return counts

    h = 1e-3
    of_audit = with_audited(1 - h).error(more) - with_audited(1 + h).error(more)
    of_new = with_audited(1).error(with_gold(-h)) - with_audited(1).error(with_gold(h))
    assert kinds.worth_of_audits(with_audited(1), more) == pytest.approx(of_audit / of_new, rel=1e-4)
    # The control: gold takes the place of the answers' own information, and is no more beside it.
    assert of_audit / of_new < 0.99


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


def test_where_all_is_answered_on_faith_a_plan_says_so_and_prices_nothing() -> None:
    drawn, y, _ = world()
    everywhere = said(drawn.evidence.codes, np.arange(len(y)), TRUE, "crowd", 1)
    alone = everywhere.take(np.array([label == "" for label in y]))
    asked = {"model": "multinomial", "prices": {"per_label": 0.5}, "budget": 1000.0, "criterion": "excess_log_loss"}
    plan = lw.plan(
        drawn.counts,
        y,
        answers=alone,
        unlabeled="",
        classes=CLASSES,
        n_draws=40,
        channels=[KINDS[0].guessed(TRUE), KINDS[1]],
        source="asymptotic",
        **asked,
    )
    assert plan.advice == "stop"
    assert any("rests on faith" in line for line in plan.lines())
    assert not any("worth any price" in line for line in plan.lines())


def test_answers_are_of_the_kind_they_say() -> None:
    """One annotator may answer as two kinds; what says nothing goes by the annotator's name, then by elimination."""
    answers = Answers(
        np.arange(5),
        np.array([0, 0, 1, 2, 0]),
        ("ann", "expert", "bob"),
        Evidence(np.zeros(5, int), CLASSES),
        kinds=np.array(["crowd", "expert", "", "", ""]),
    )
    kinds = [*KINDS, Channel("other", accuracy=0.9)]
    named = by_kind(answers, kinds)
    assert [named.names[code] for code in named.annotators] == ["crowd", "expert", "expert", "other", "other"]
    with pytest.raises(InvalidInputError, match="of the kind 'crowd', and kinds of labels are 'expert'"):
        by_kind(answers, [KINDS[1]])
    with pytest.raises(InvalidInputError, match="column 'kind'"):
        by_kind(answers, [*kinds, Channel("one more", accuracy=0.9)])


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
