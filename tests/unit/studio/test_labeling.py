"""The page of annotators."""

import re

import pytest

from labelworth.campaign.items import guessed
from support.studio import browser, forms_of, studio_of

SCRIPT = {"X-Requested-With": "labelworth"}


def test_an_answer_is_kept_and_the_next_task_is_shown(people):
    first = people.ann.form("/answer").fields["request"]
    page = people.ann.label("2")
    assert page.status_code == 200
    assert "Your last answer: <bdi>spam</bdi>" in page.text
    assert forms_of(page.text)["/answer"].fields["request"] != first
    [given] = people.campaign.answers()
    assert (given.annotator, given.said, given.request_id) == ("ann", ("spam",), int(first))


def test_two_people_get_different_tasks(people):
    assert people.ann.form("/answer").fields["request"] != people.bob.form("/answer").fields["request"]


def test_a_page_that_is_loaded_again_shows_the_same_task_under_the_same_key(people):
    assert people.ann.form("/answer") == people.ann.form("/answer")


def test_sending_an_answer_twice_counts_once(people):
    form = people.ann.form("/answer")
    for _ in range(3):
        people.ann.post("/answer", {**form.fields, "said": "1"})
    assert len(people.campaign.answers()) == 1


def test_a_double_click_on_two_classes_keeps_the_first_and_says_so(people):
    form = people.ann.form("/answer")
    people.ann.post("/answer", {**form.fields, "said": "1"})
    page = people.ann.post("/answer", {**form.fields, "said": "2"})
    assert page.status_code == 409
    assert "Your answer was not kept" in page.text
    assert [given.said for given in people.campaign.answers()] == [("news",)]
    assert "/answer" in forms_of(page.text), "and the next task is there"


def test_undo_shows_the_task_again_and_a_new_answer_stands(people):
    first = people.ann.form("/answer").fields["request"]
    people.ann.label("0")
    page = people.ann.send("/undo")
    again = forms_of(page.text)["/answer"]
    assert again.fields["request"] == first
    people.ann.post("/answer", {**again.fields, "said": "2"})
    assert [given.said for given in people.campaign.answers() if given.stands] == [("spam",)]


def test_undo_sent_twice_takes_back_one_answer(people):
    people.ann.label("0")
    people.ann.label("0")
    form = people.ann.form("/undo")
    people.ann.post("/undo", form.fields)
    people.ann.post("/undo", form.fields)
    assert [given.stands for given in people.campaign.answers()] == [False, True]


def test_undo_goes_back_further_each_time(people):
    for said in "012":
        people.ann.label(said)
    for left in (2, 1, 0):
        people.ann.send("/undo")
        assert sum(given.stands for given in people.campaign.answers()) == left
    assert "/undo" not in forms_of(people.ann.get("/").text)


def test_cannot_say_is_an_answer(people):
    people.ann.label("?")
    assert people.campaign.answers()[0].said == (None,)


def test_yes_or_no(people):
    people.campaign.assign(count=2, channel="crowd", question=["ham", "spam"])
    eve = browser(people.studio, people.campaign.invite("eve", channel="crowd").token)
    page = eve.get("/").text
    assert "Is it one of these: ham, spam?" in page
    eve.label("yes")
    eve.label("no")
    assert [given.said for given in people.campaign.answers()] == [(False,), (True,)]


def test_only_the_tokens_that_are_asked_about_can_be_labeled(sequences):
    ann = browser(studio_of(sequences), sequences.invite("ann").token)
    [task] = sequences.lease(sequences.person("ann"))
    form = ann.form("/answer")
    assert form.selects == [f"t{position}" for position in task.request.positions]
    page = ann.get("/").text
    assert page.count('class="asked"') == len(task.request.positions)
    assert page.count('class="context"') == len(task.item.tokens) - len(task.request.positions)
    ann.post("/answer", {**form.fields, **dict.fromkeys(form.selects, "1"), form.selects[0]: "?"})
    assert sequences.answers()[0].said == (None, *["PER"] * (len(form.selects) - 1))


def test_a_token_that_was_left_out_is_told_and_nothing_is_kept(sequences):
    ann = browser(studio_of(sequences), sequences.invite("ann").token)
    form = ann.form("/answer")
    assert ann.post("/answer", {**form.fields, form.selects[0]: "1"}).status_code == 400
    assert ann.post("/answer", {**form.fields, **dict.fromkeys(form.selects, "")}).status_code == 400
    assert sequences.answers() == []


@pytest.mark.parametrize(("sent", "kept"), [("3.5", 3.5), ("", None), ("-1", None), ("nan", None), ("1e300", None)])
def test_seconds_are_kept_where_somebody_can_have_worked_so_long(people, sent, kept):
    form = people.ann.form("/answer")
    people.ann.post("/answer", {**form.fields, "said": "0", "seconds": sent})
    assert people.campaign.answers()[0].seconds == kept


def test_where_nothing_is_due_the_page_says_so(people):
    for _ in range(10):
        people.ann.label("0")
    assert "Nothing to label now" in people.ann.get("/").text


def test_a_manager_may_label_too(people):
    people.mia.label("0")
    assert people.campaign.answers()[0].annotator == "mia"


def test_the_script_gets_what_changes_and_no_second_request_is_needed(people):
    form = people.ann.form("/answer")
    page = people.ann.post("/answer", {**form.fields, "said": "0"}, headers=SCRIPT, follow_redirects=False)
    assert page.status_code == 200
    assert "<html" not in page.text
    assert forms_of(page.text)["/answer"].fields["request"] != form.fields["request"]


def test_who_still_works_keeps_the_task_longer(people):
    form = people.ann.form("/answer")
    before = people.campaign.tasks(people.campaign.person("ann"))[0].expires_at
    assert people.ann.post("/going-on", form.fields).status_code == 204
    assert people.campaign.tasks(people.campaign.person("ann"))[0].expires_at > before


def test_leaving_gives_tasks_back(people):
    form = people.ann.form("/answer")
    assert people.ann.send("/leave").url.path == "/enter"
    assert people.ann.get("/").status_code == 401
    assert people.campaign.tasks(people.campaign.person("ann")) == []
    assert people.bob.form("/answer").fields["request"] == form.fields["request"]


def test_every_class_has_a_key_of_its_own(people):
    keys = re.findall(r'data-key="(.)"', people.ann.get("/").text)
    assert keys == ["1", "2", "3", "0"]


def test_a_session_goes_on_with_another_server(people):
    form = people.ann.form("/answer")
    other = browser(studio_of(people.campaign))
    other.client.cookies = people.ann.client.cookies
    assert other.post("/answer", {**form.fields, "said": "0"}).status_code == 200
    assert len(people.campaign.answers()) == 1


def test_the_model_is_asked_on_request_of_what_is_read_as_well(sequences):
    """Closed until somebody opens it; then every token has its guess, those that nobody asks about among them."""
    guess = [["PER", 0.9], ["O", 0.8], ["PER", 0.7], ["O", 0.6], ["O", 0.55], ["O", 0.51]]
    rows = [{"item_id": sequences.item(f"s{index}").id, "said": guess} for index in range(8)]
    sequences._store.write(lambda connection: guessed(connection, rows))
    page = browser(studio_of(sequences), sequences.invite("ann").token).get("/").text
    shown = page.partition('<details class="guess">')[2].partition("</details>")[0]
    assert [f"{share} %" in shown for share in (90, 80, 70, 60, 55, 51)] == [True] * 6
    assert shown.count('class="of-asked"') == 2
    assert "<details open" not in page
