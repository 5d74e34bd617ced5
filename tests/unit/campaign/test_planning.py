from dataclasses import replace

import numpy as np
import pytest

import labelworth as lw
from labelworth.campaign.jobs import STALE

pytestmark = pytest.mark.usefixtures("few_replicates")

WORDS = {"ham": ["lunch", "meeting", "thanks", "home"], "spam": ["money", "win", "free", "prize"]}


def mails(n: int, n_labeled: int) -> list[dict[str, str | None]]:
    """Texts of two classes that share words, some with a label."""
    rng = np.random.default_rng(0)
    made = []
    for number in range(n):
        label = ("ham", "spam")[number % 2]
        other = ("spam", "ham")[number % 2]
        words = [str(rng.choice(WORDS[label if rng.random() < 0.7 else other])) for _ in range(8)]
        text = " ".join([*words, f"word{rng.integers(30)}"])
        made.append({"id": str(number), "text": text, "label": label if number < n_labeled else None})
    return made


def truth(name: str) -> str:
    return ("ham", "spam")[int(name) % 2]


@pytest.fixture
def pilot(begin):
    """A campaign of 200 mails, 60 of them labeled by the file."""
    campaign = begin(classes=["ham", "spam"], currency="EUR")
    campaign.add(mails(200, 60))
    return campaign


@pytest.mark.parametrize("where", ["sqlite"], indirect=True)
class TestPlans:
    def test_are_kept_with_what_was_forecast_and_what_came_true(self, pilot):
        ann = pilot.invite("ann", price=0.5).person
        job = pilot.plan(budget=90, model="multinomial", source="simulated", n_draws=20)
        assert job.state == "done"
        assert job.progress == 1
        assert job.record["held"]["n_labels"] == 60
        assert job.record["currency"] == "EUR"
        assert job.forecast[1] < job.forecast[0] < job.forecast[2]
        assert pilot.plan_job(job.id) == job
        assert len(pilot.guess("199")) == 1
        assigned = pilot.assign(plan=job.id)
        assert assigned.n_items == 120
        assert assigned.cost == 60
        while tasks := pilot.lease(ann, n=20):
            for task in tasks:
                pilot.answer(ann, task.request.id, truth(task.item.name), key=str(task.request.id))
        measured = pilot.realise(job.id)
        assert measured.labels == 144
        assert 0 < measured.error < 0.3
        assert measured.low < measured.forecast < measured.high
        assert pilot.plans()[0].realised == (measured,)

    def test_of_chosen_items_are_judged_by_their_probabilities(self, pilot):
        assigned = pilot.assign(count=40, by="uncertainty", model="multinomial")
        assert assigned.n_items == 40
        asked = [pilot.request(number) for number in range(61, 101)]
        assert {request.drawn_by for request in asked} == {"random", "uncertainty"}
        # Not alike, as at random, where 40 of 140 are drawn; and never zero.
        probabilities = {request.probability for request in asked}
        assert 0 < min(probabilities) < 40 / 140 < max(probabilities) <= 1

    def test_that_cannot_be_made_say_why(self, pilot):
        with pytest.raises(lw.InfeasiblePlanError):
            pilot.plan(budget=10, model="multinomial")
        (job,) = pilot.plans()
        assert job.state == "failed"
        assert "10" in job.error
        with pytest.raises(lw.InfeasiblePlanError, match="is failed"):
            pilot.assign(plan=job.id)

    def test_that_recommend_more_than_can_be_asked_about_ask_for_the_rest_once(self, pilot):
        ann = pilot.invite("ann", price=0.5).person
        pilot.assign(count=2)
        (task,) = pilot.lease(ann)
        pilot.answer(ann, task.request.id, None, key="nobody can say")
        job = pilot.plan(budget=100, model="multinomial", source="simulated", n_draws=20)
        assert job.labels == 140, "all that have no label: also one that waits, and one that nobody can tell"
        assigned = pilot.assign(plan=job.id, why="the rest")
        assert (assigned.n_items, assigned.n_labels) == (138, 138)
        assert "Only 138 documents can still be asked about, of the 140 that plan 1 recommends" in assigned.notes[0]
        assert pilot.status().batches[-1].why == "plan 1: the rest"
        pilot.add(["a mail that came later"])
        with pytest.raises(lw.NotWantedError, match="asked for already, as batch 2"):
            pilot.assign(plan=job.id)
        with pytest.raises(lw.InfeasiblePlanError, match="Only 1 document can still be asked about"):
            pilot.assign(count=2)

    def test_are_not_taken_to_be_asked_for_by_a_batch_that_is_called_alike(self, pilot):
        with pytest.raises(lw.InvalidInputError, match="how a batch of a plan is known"):
            pilot.assign(count=1, why="plan 1")
        assert pilot.assign(count=1, why="plan for the summer").n_items == 1

    def test_that_make_no_sense_are_refused_at_once(self, pilot):
        for asked in ({}, {"budget": 1, "target": 0.1}, {"budget": 1, "colour": 2}, {"budget": 1, "model": object()}):
            with pytest.raises(lw.InvalidInputError):
                pilot.start_plan(**asked)
        assert pilot.plans() == []

    def test_wait_for_somebody_who_works_and_outlive_them(self, pilot, clock, monkeypatch):
        from labelworth.campaign import planning

        number = pilot.start_plan(budget=90, model="multinomial", source="asymptotic", criterion="excess_error")

        def killed(*_):
            raise KeyboardInterrupt

        with monkeypatch.context() as patched:
            patched.setattr(planning, "planned", killed)
            with pytest.raises(KeyboardInterrupt):
                pilot.work()
        assert pilot.plan_job(number).state == "running"
        assert pilot.work() is None
        clock.go_on(STALE / 60 + 1)
        assert pilot.plan_job(number).state == "waiting"
        assert pilot.work().state == "done"
        assert pilot.work() is None
        assert pilot.realise(number) is None

    def test_over_kinds_of_labels_ask_each_kind(self, pilot):
        bob = pilot.invite("bob", channel="crowd", price=0.05).person
        pilot.invite("ann", price=1)
        pilot.assign(count=40, channel="crowd", audit=True)
        rng = np.random.default_rng(1)
        while tasks := pilot.lease(bob, n=20):
            for task in tasks:
                right = truth(task.item.name)
                said = right if rng.random() < 0.9 else {"ham": "spam", "spam": "ham"}[right]
                pilot.answer(bob, task.request.id, said, key=str(task.request.id))
        job = pilot.plan(budget=75, model="multinomial", source="asymptotic", criterion="excess_error", n_draws=10)
        assert [kind["kind"] for kind in job.record["kinds"]] == ["crowd"]
        pilot.assign(plan=job.id)
        batch = pilot.status().batches[-1]
        assert "crowd" in batch.channels

    def test_ask_for_gold_where_there_are_answers_and_for_answers_where_there_is_gold(self, pilot, monkeypatch):
        bob = pilot.invite("bob", channel="crowd", price=0.05).person
        pilot.assign(count=40, channel="crowd", audit=True)
        pilot.assign(count=30, channel="crowd")
        answered = set()
        while tasks := pilot.lease(bob, n=20):
            for task in tasks:
                answered.add(task.item.name)
                pilot.answer(bob, task.request.id, truth(task.item.name), key=str(task.request.id))
        pilot.assign(count=10)  # Asked about, and not answered: neither new nor held.
        job = pilot.plan(budget=75, model="multinomial", source="asymptotic", criterion="excess_error", n_draws=10)
        wanted = {"gold for answered": 12, "crowd for labeled": 15, "gold": 5}
        arms = [{**arm, "count": wanted.get(arm["arm"], 0)} for arm in job.record["recommended"]["arms"]]
        record = {**job.record, "recommended": {**job.record["recommended"], "arms": arms}}
        monkeypatch.setattr(pilot, "plan_job", lambda number: replace(job, record=record))
        last = pilot.assign(plan=job.id).batch
        known = {pilot.item(str(number)).id: str(number) for number in range(200)}
        names = {"gold": set(), "crowd": set()}
        for number in range(1, 250):
            request = pilot.request(number)
            if request is not None and request.batch == last:
                names[request.channel].add(known[request.item_id])
        labeled = {str(number) for number in range(60)}
        assert (len(names["gold"]), len(names["gold"] & answered)) == (17, 12)
        assert not names["gold"] & labeled
        assert len(names["crowd"]) == 15
        assert names["crowd"] <= labeled - answered


@pytest.mark.parametrize("where", ["sqlite"], indirect=True)
def test_sequences_are_planned_too(begin):
    campaign = begin(kind="sequences", classes=["O", "P"])
    rng = np.random.default_rng(0)
    items = []
    for number in range(60):
        tags = ["P" if rng.random() < 0.3 else "O" for _ in range(6)]
        tokens = [str(rng.choice(["ann", "bob"] if tag == "P" else ["the", "runs"])) for tag in tags]
        items.append({"id": number, "tokens": tokens, **({"tags": tags} if number < 20 else {})})
    campaign.add(items)
    job = campaign.plan(budget=200, source="asymptotic", n_draws=10, rules=["everything", "nothing", "window:2"])
    assert job.record["held"]["n_labels"] == 120
    assert len(campaign.guess("59")) == 6
    # Answers about tokens say how often their kind errs, and what they have cost.
    eve = campaign.invite("eve", channel="crowd", price=0.1).person
    campaign.assign(count=10, channel="crowd", audit=True)
    for task in campaign.lease(eve, n=10):
        said = ["P" if word in ("ann", "bob") else "O" for word in task.item.tokens]
        campaign.answer(eve, task.request.id, said, key=str(task.request.id))
    job = campaign.plan(budget=200, source="asymptotic", n_draws=0)
    [crowd] = job.record["kinds"]
    assert (crowd["kind"], crowd["n_audited"]) == ("crowd", 60)
    assert job.record["held"]["n_answers"] == 60
    assert job.record["held"]["cost"] == pytest.approx(120 + 60 * 0.1)
    assert [offer["arm"] for offer in job.record["menu"]][1:3] == ["everything", "everything by crowd"]


@pytest.mark.parametrize("where", ["sqlite"], indirect=True)
def test_answers_about_tokens_reach_a_plan(begin):
    campaign = begin(kind="sequences", classes=["O", "P"])
    campaign.add([["a", "b", "c"], ["d", "e"]])
    campaign.assign(count=2, channel="crowd")
    eve = campaign.invite("eve", channel="crowd", price=0.5).person
    for task in campaign.lease(eve, n=2):
        said = ["P" if word in "be" else "O" for word in task.item.tokens]
        campaign.answer(eve, task.request.id, said, key=str(task.request.id), seconds=6)
    snapshot = campaign._snapshot()
    answers = snapshot.answers
    order = np.argsort(answers.rows)
    assert answers.rows[order].tolist() == [0, 1, 2, 3, 4]
    assert answers.evidence.codes[order].tolist() == [0, 1, 0, 0, 1]
    assert answers.prices.tolist() == [0.5] * 5
    assert answers.seconds[order].tolist() == [2.0, 2.0, 2.0, 3.0, 3.0]
    assert snapshot.kinds() == ["crowd: price 0.5, unknown"]
    assert snapshot.arguments({"budget": 5})["answers"] is answers
