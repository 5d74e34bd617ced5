"""The page of managers."""

from dataclasses import replace

from labelworth.campaign.values import BatchStatus, PlanJob, Realised
from labelworth.studio.background import work
from labelworth.studio.managing import EXPORTS
from labelworth.studio.outlook import outlook
from support.studio import browser, token_of


def test_progress_agreement_and_money_are_shown(people):
    people.ann.label("0")
    page = people.mia.get("/manage").text
    assert "of 10 wanted" in page
    assert "EUR 0.10" in page
    assert "Nobody yet" not in page


def test_the_live_part_follows(people):
    before = people.mia.get("/manage/live").text
    people.ann.label("0")
    assert people.mia.get("/manage/live").text != before
    assert "<html" not in before


def test_somebody_who_is_invited_comes_in_by_the_link(people):
    page = people.mia.send("/manage/invite", "/manage", name="eve", channel="crowd", price="0.02")
    eve = browser(people.studio, token_of(page.text))
    assert eve.get("/").status_code == 200
    person = people.campaign.person("eve")
    assert (person.role, person.channel, person.price) == ("annotator", "crowd", 0.02)


def test_a_new_link_ends_the_session_of_the_old_one_at_once(people):
    number = people.campaign.person("ann").id
    page = people.mia.send("/manage/link", f"/manage/person/{number}")
    assert people.ann.get("/").status_code == 401
    assert browser(people.studio, token_of(page.text)).get("/").status_code == 200


def test_a_link_that_is_withdrawn_opens_nothing_at_once_and_answers_stay(people):
    people.ann.label("0")
    form = people.ann.form("/answer")
    number = people.campaign.person("ann").id
    people.mia.send("/manage/withdraw", f"/manage/person/{number}")
    assert people.ann.get("/").status_code == 401
    assert people.ann.post("/answer", {**form.fields, "said": "0"}).status_code == 401
    assert browser(people.studio, people.tokens["ann"]).get("/").status_code == 401
    assert len(people.campaign.answers()) == 1


def test_a_manager_cannot_lock_themselves_out(people):
    form = people.mia.form("/manage/withdraw", f"/manage/person/{people.campaign.person('ann').id}")
    own = {**form.fields, "person": str(people.campaign.person("mia").id)}
    assert people.mia.post("/manage/withdraw", own).status_code == 400
    assert people.mia.get("/manage").status_code == 200


def test_labels_are_asked_for(people):
    page = people.mia.send("/manage/assign", "/manage", count="5", votes="2", why="a second look")
    assert "Batch 2 is asked for" in page.text
    assert people.campaign.status().batches[-1].why == "a second look"
    assert people.campaign.status().wanted == 20


def test_a_question_of_yes_and_no_is_asked_for(people):
    people.mia.send("/manage/assign", "/manage", count="5", channel="crowd", question2="on")
    eve = browser(people.studio, people.campaign.invite("eve", channel="crowd").token)
    assert "Is it spam?" in eve.get("/").text


def test_what_cannot_be_asked_is_told(people):
    page = people.mia.send("/manage/assign", "/manage", count="0")
    assert page.status_code == 400
    assert people.campaign.status().wanted == 10


def test_confusion_is_shown_by_person(people):
    people.mia.label("0")
    item = people.campaign.answers()[0].item
    people.campaign.assign(count=1, audit=True, channel="crowd")
    eve = browser(people.studio, people.campaign.invite("eve", channel="crowd").token)
    eve.label("2")
    assert people.campaign.answers()[0].item == item
    page = people.mia.get(f"/manage/person/{people.campaign.person('eve').id}").text
    assert "Rows: what gold says" in page
    assert '<td class="other">1</td>' in page


def test_nobody_of_that_number_is_told(people):
    assert people.mia.get("/manage/person/99").status_code == 400
    assert people.mia.get("/manage/person/x").status_code == 400


def test_exports_are_files_that_say_what_was_said(people):
    people.ann.label("2")
    for name in EXPORTS:
        sent = people.mia.get(f"/manage/export/{name}")
        assert sent.headers["Content-Disposition"] == f'attachment; filename="{name}"'
        assert "spam" in sent.text or name == "requests.csv"
    assert people.mia.get("/manage/export/..%2fx").status_code in (400, 404)
    assert people.mia.get("/manage/export/passwords.csv").status_code == 400


def test_asking_twice_by_accident_asks_once(people):
    form = people.mia.form("/manage/assign", "/manage")
    first, second = (people.mia.post("/manage/assign", {**form.fields, "count": "3"}) for _ in range(2))
    assert (first.status_code, second.status_code) == (200, 409)
    assert people.campaign.status().wanted == 13


def test_a_plan_waits_for_its_worker_with_its_progress_and_a_refusal_is_told(people):
    people.mia.send("/manage/plan", "/manage", problem="budget", value="20")
    assert "A plan is being made: waiting" in people.mia.get("/manage").text
    work(people.campaign, str(people.campaign._store.where))
    assert "There is no plan" in people.mia.get("/manage").text, "nobody has labeled anything"
    assert people.mia.send("/manage/plan", "/manage", problem="budget", value="much").status_code == 400
    assert people.mia.send("/manage/plan", "/manage", problem="target", value="nonsense").status_code == 400


RECORD = {
    "lines": ["Label 40 more documents"],
    "advice": "label",
    "why_stop": None,
    "held": {"error": 0.2, "n_labeled": 5, "n_labels": 5},
    "recommended": {"labels": 40.0, "cost": 8.0, "error": 0.12},
    "error_interval": {"low": 0.1, "high": 0.15},
    "forecast": {"labels": [5, 20, 45], "error": [0.2, 0.15, 0.12], "low": [0.1, 0.1, 0.1], "high": [0.3, 0.2, None]},
}


def test_stopping_is_told_in_money_and_forecasts_stand_beside_what_was_measured():
    measured = Realised(1.0, 16.0, 0.17, 0.02, 0.16, 0.12, 0.2)
    job = PlanJob(1, "done", {}, 1.0, "done", 0.0, 1.0, None, RECORD, (measured,))
    seen = outlook(job, "EUR", [])
    assert seen.stop == (
        "Stopping now saves EUR 8 and leaves the error at about 20.0 %; going on brings it to about 12.0 %, EUR 1 "
        "for every point."
    )
    assert seen.may_ask
    assert seen.curve.first == 5
    assert len(seen.curve.measured) == 1
    stopped = {**RECORD, "advice": "stop", "why_stop": "the target is met."}
    assert outlook(replace(job, record=stopped), "EUR", []).stop == "Stop now: the target is met."
    assert outlook(replace(job, record=None), "EUR", []) is None


def test_what_a_plan_recommends_is_offered_until_it_was_asked_for():
    job = PlanJob(1, "done", {}, 1.0, "done", 0.0, 1.0, None, RECORD, ())
    asked = [BatchStatus(number, 40, 0, 40, 0, ("gold",), f"plan {10 * number + 1}", 0.0) for number in (1, 2)]
    assert outlook(job, "EUR", asked).may_ask
    assert not outlook(job, "EUR", [*asked, replace(asked[0], why="plan 1: before summer")]).may_ask


def test_the_form_of_a_plan_says_that_a_budget_is_for_all_labels(people):
    assert "so much money, for all labels" in people.mia.get("/manage").text
