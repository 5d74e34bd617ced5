"""Kinds of labels for sequences: which part of them, and who answers for it."""

import numpy as np
import pytest

import labelworth as lw
from labelworth.channels.arm import menu
from labelworth.channels.kinds import kinds_of
from labelworth.data.answers import Answers
from labelworth.data.evidence import Evidence
from labelworth.data.sequences import Sequences
from labelworth.errors import InvalidInputError
from labelworth.models.chains.hidden_markov import HiddenMarkovModel
from labelworth.planning.answer import Plan
from labelworth.planning.next import next_sequences
from labelworth.policies.spec import parse_rule
from labelworth.simulation.asked import AskedDesign, AskedReplicate
from labelworth.simulation.simulator import LabelSource
from support.statistical import assert_share_is

MODEL = HiddenMarkovModel(
    ("A", "B"), [0.6, 0.4], [[0.8, 0.2], [0.3, 0.7]], [[0.5, 0.3, 0.1, 0.1], [0.1, 0.2, 0.3, 0.4]], tuple("wxyz")
)


def drawn(n: int, length: int = 3, seed: int = 0) -> Sequences:
    offsets = np.arange(0, n * length + 1, length)
    blank = Sequences(
        np.zeros(n * length, dtype=int), offsets, Evidence(np.full(n * length, -1), MODEL.classes), tuple("wxyz")
    )
    return MODEL.sample(blank, np.random.default_rng(seed))


def lists(n: int, labeled: int) -> tuple:
    data = drawn(n)
    words = [["wxyz"[code] for code in part] for part in np.split(data.words, data.offsets[1:-1])]
    tags = [["AB"[code] for code in part] for part in np.split(data.evidence.codes, data.offsets[1:-1])]
    return words, [own if row < labeled else None for row, own in enumerate(tags)]


def planned(n: int = 400, labeled: int = 80, **asked: object) -> Plan:
    X, y = lists(n, labeled)
    usual = {"model": lw.HiddenMarkov(rare_words="none"), "budget": 400.0, "n_draws": 0, "source": "asymptotic"}
    return lw.plan(X, y, **{**usual, "unlabeled": None, **asked})


def test_an_arm_is_a_part_and_who_answers_for_it() -> None:
    plan = planned(
        rules="everything,nothing,window:2",
        channels=["crowd: price 0.1, accuracy 0.8, votes 1 3", "m: accuracy 0.7, unknown"],
    )
    offers = {offer.arm: offer for offer in plan.menu}
    assert list(offers)[:3] == ["nothing", "everything", "everything by crowd"]
    assert "window:2 by gold + m" in offers
    whole, part = offers["everything by crowd x 3"], offers["window:2 by crowd x 3"]
    assert (whole.asks, whole.part, whole.positions, whole.gold) == ({"crowd": 3}, "everything", 3.0, False)
    assert whole.price == pytest.approx(0.9)
    assert part.price == pytest.approx(0.6)
    assert offers["window:2 by gold + m"].price == pytest.approx(2.0)
    bought = sum(
        arm.count * offers[arm.arm].positions * offers[arm.arm].asks.get("crowd", 0) for arm in plan.recommended.arms
    )
    [crowd] = [kind for kind in plan.kinds if kind.kind == "crowd"]
    assert crowd.answers == pytest.approx(bought)
    assert crowd.cost == pytest.approx(0.1 * bought)
    assert "sequences" in plan.lines()[0]
    assert "document" not in " ".join(plan.lines())


def test_who_is_always_right_is_worth_gold_and_who_says_anything_is_worth_nothing() -> None:
    kinds = [
        "sure: price 0.9, accuracy 1",
        "crowd: price 0.9, accuracy 0.8",
        "deaf: price 0.9, confusion 0.5 0.5 / 0.5 0.5",
    ]
    plan = planned(channels=kinds, budget=300.0)
    worth = {kind.kind: kind.worth for kind in plan.kinds}
    # Of a plan with gold alone: the crowd does not lower what gold is worth at these prices.
    alone = planned(channels=kinds[:1], budget=300.0)
    assert alone.kinds[0].worth == pytest.approx(1.0, rel=1e-6)
    assert worth["deaf"] == pytest.approx(0.0, abs=1e-6)
    assert 0.05 < worth["crowd"] < 0.9


def test_more_money_and_a_better_crowd_never_cost_accuracy() -> None:
    better, worse = (
        planned(channels=[f"crowd: price 0.1, accuracy {accuracy}"]).recommended.error for accuracy in (0.9, 0.7)
    )
    assert better < worse < planned().recommended.error


def test_sequences_that_have_answers_are_asked_about_no_more() -> None:
    """Of 120 without a label 100 have an answer to their middle token; 20 are left, as `next` draws them."""
    rows = 3 * np.arange(80, 180) + 1
    answers = Answers(rows, np.zeros(100, int), ("crowd",), Evidence(np.zeros(100, int), MODEL.classes))
    crowd = ["crowd: price 0.1, accuracy 0.8"]
    plan = planned(200, channels=crowd, answers=answers, budget=10_000.0)
    assert (plan.held.n_settled, plan.held.n_left, plan.held.n_pool) == (100, 20, 120)
    assert sum(arm.count for arm in plan.recommended.arms if arm.arm != "nothing") == 20
    assert any("Nothing more is on offer for the 100 sequences" in note for note in plan.notes)
    untold = planned(200, channels=crowd, budget=10_000.0)
    assert untold.held.n_left == untold.held.n_pool == 120
    assert "n_settled" not in untold.held.to_dict()


def test_models_that_cannot_learn_from_answers_are_refused() -> None:
    with pytest.raises(InvalidInputError, match="cannot learn from answers"):
        planned(model="boltzmann-chain", channels=["crowd: price 0.1, accuracy 0.8"])


class Truth:
    """The model's own p(y | x)."""

    def __init__(self, data: Sequences) -> None:
        self.data = data.hide()

    def log_posteriors(self, temperature: float) -> np.ndarray:
        return np.log(MODEL.marginals(self.data))

    def draw(self, temperature: float, rng: np.random.Generator) -> np.ndarray:
        return MODEL.sample(self.data, rng).evidence.codes


def test_simulated_answers_are_at_the_positions_of_the_rule_and_as_often_right_as_said() -> None:
    data = drawn(3000, length=4)
    arms = [
        arm
        for arm in menu(kinds_of(["crowd: accuracy 0.8, votes 1 2", "m: accuracy 0.7, unknown"]))
        if arm.name != "nothing"
    ]
    names = [arm.name for arm in arms]
    for rule in ("window:2", "every-other"):
        replicate = AskedReplicate(
            data, LabelSource(Truth(data), 1.0), 300, 0, 0, arms, [parse_rule(rule)] * len(arms)
        )
        counts = [0] * len(arms)
        counts[names.index("crowd x 2")], counts[names.index("gold + m")] = 1500, 200
        shown = replicate.shown(AskedDesign(100, tuple(counts)))
        answers, truth = shown.answers, replicate.pool.evidence.codes
        assert answers is not None
        crowd = np.flatnonzero(answers.annotators == answers.names.index("crowd"))
        positions = np.unique(answers.rows[crowd])
        owners = np.searchsorted(shown.offsets, positions, side="right") - 1
        assert (np.bincount(owners)[np.unique(owners)] == 2).all()
        assert len(np.unique(owners)) == 1500
        assert len(crowd) == 2 * len(positions) == 6000
        assert_share_is(int((answers.evidence.codes[crowd] == truth[answers.rows[crowd]]).sum()), 6000, 0.8)
        with pytest.raises(AssertionError):
            assert_share_is(int((answers.evidence.codes[crowd] == truth[answers.rows[crowd]]).sum()), 6000, 0.7)
        audited = answers.rows[answers.annotators == answers.names.index("m")]
        assert (shown.evidence.codes[audited] == truth[audited]).all()
        assert shown.evidence.is_gold.sum() == 100 * 4 + 200 * 2


def test_next_draws_the_part_that_an_arm_asks_about() -> None:
    batch = next_sequences(drawn(30).hide(), {"window:2 by crowd x 3": 4, "everything": 2, "nothing": 9}, seed=0)
    assert sorted(batch.arms) == ["everything"] * 2 + ["window:2 by crowd x 3"] * 4
    assert [len(part) for part in batch.positions or ()] == [3 if arm == "everything" else 2 for arm in batch.arms]


def test_a_simulated_plan_prefers_who_does_more_for_the_money() -> None:
    plan = planned(
        n=150,
        labeled=12,
        source="simulated",
        budget=150.0,
        channels=["crowd: price 0.05, accuracy 0.85", "deaf: price 0.05, accuracy 0.5"],
    )
    bought = {kind.kind: kind.answers for kind in plan.kinds}
    assert bought["crowd"] > 0
    assert bought["deaf"] == 0


def test_what_all_sequences_would_bring_is_not_told_as_a_number_of_labels() -> None:
    """Sequences differ in length: how many tokens the rest has, their mean does not say."""
    lines = planned(rules="everything,nothing").lines()
    assert any(line.startswith("Labels of all sequences that can be had would bring it to") for line in lines)
    assert not any("labels would bring" in line for line in lines)
