import threading
from collections import Counter

import pytest

import labelworth as lw
from labelworth.campaign.campaign import Campaign

TEXTS = [f"text {number}" for number in range(20)]


def test_a_campaign_goes_on_where_it_was_left(begin, where, clock):
    campaign = begin(votes=2, currency="EUR")
    campaign.add(TEXTS)
    campaign.close()
    with Campaign.open(where, clock=clock) as again:
        assert again.settings == campaign.settings
        assert again.settings.classes == ("ham", "news", "spam")
        assert again.status().n_items == 20


def test_what_is_no_campaign_is_refused_in_words(tmp_path):
    with pytest.raises(lw.DataUnavailableError, match="There is no campaign"):
        Campaign.open(tmp_path / "none.db")
    other = tmp_path / "other.db"
    other.write_text("not a database, only some words that go on for a while " * 20)
    with pytest.raises(lw.InvalidInputError, match="is not a campaign"):
        Campaign.open(other)
    empty = tmp_path / "empty.db"
    empty.touch()
    with pytest.raises(lw.InvalidInputError, match="is not a campaign"):
        Campaign.open(empty)
    with pytest.raises(lw.OutputError, match="already"):
        Campaign.create(other, name="x", classes=["a", "b"])
    with pytest.raises(lw.OutputError, match="no folder"):
        Campaign.create(tmp_path / "none" / "x.db", name="x", classes=["a", "b"])


def test_a_server_that_is_not_there_is_told():
    with pytest.raises(lw.StoreUnavailableError, match="cannot be used now"):
        Campaign.open("postgresql://nobody:secret@127.0.0.1:9/none")
    with pytest.raises(lw.StoreUnavailableError) as caught:
        Campaign.create("postgresql://nobody:secret@127.0.0.1:9/none", name="x", classes=["a", "b"])
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    "options", [{"classes": ["a"]}, {"classes": ["a", "a"]}, {"kind": "songs"}, {"votes": 0}, {"lease_minutes": 0}]
)
def test_settings_that_make_no_sense_are_refused_and_leave_no_file(tmp_path, options):
    with pytest.raises(lw.InvalidInputError):
        Campaign.create(tmp_path / "x.db", **{"name": "x", "classes": ["a", "b"], **options})
    assert not (tmp_path / "x.db").exists()


def test_a_database_holds_one_campaign(begin, where, clock):
    begin()
    with pytest.raises((lw.InvalidInputError, lw.OutputError), match="already"):
        Campaign.create(where, name="y", classes=["a", "b"], clock=clock)


class TestPeople:
    def test_come_in_by_a_token_of_which_only_a_hash_is_kept(self, begin):
        campaign = begin()
        ann = campaign.invite("ann", channel="crowd", price=0.1)
        assert campaign.who(ann.token) == ann.person
        assert campaign.who("guess") is None
        kept = campaign._store.read(lambda one: one.exec_driver_sql("SELECT * FROM lw_annotators").all())
        assert not any(ann.token in str(row) for row in kept)

    def test_who_was_withdrawn_is_let_in_no_more(self, begin):
        campaign = begin()
        campaign.add(TEXTS)
        campaign.assign(count=5)
        ann = campaign.invite("ann")
        campaign.withdraw("ann")
        assert campaign.who(ann.token) is None
        with pytest.raises(lw.NotWantedError, match="no part"):
            campaign.lease(ann.person)
        new = campaign.renew_token("ann")
        assert campaign.who(ann.token) is None
        assert campaign.who(new.token).name == "ann"
        assert len(campaign.lease(new.person)) == 1

    def test_who_is_withdrawn_gives_back_what_they_hold(self, begin):
        campaign = begin()
        campaign.add(TEXTS)
        campaign.assign(count=1)
        ann, bob = (campaign.invite(name).person for name in ("ann", "bob"))
        (held,) = campaign.lease(ann)
        assert campaign.lease(bob) == []
        campaign.withdraw("ann")
        assert [task.request.id for task in campaign.lease(bob)] == [held.request.id]

    def test_prices_are_those_of_annotators_unless_only_managers_give_labels(self, begin):
        campaign = begin()
        campaign.add(TEXTS)
        campaign.invite("boss", role="manager", price=0.3)
        assert campaign.assign(count=1).cost == 0.3
        campaign.invite("ann", price=0.1)
        assert campaign.assign(count=1).cost == 0.1

    @pytest.mark.parametrize("name", ["", " ann", "file", "a\nb", "x" * 201])
    def test_have_names_that_can_be_shown(self, begin, name):
        with pytest.raises(lw.InvalidInputError):
            begin().invite(name)

    def test_have_names_of_their_own(self, begin):
        campaign = begin()
        campaign.invite("ann")
        with pytest.raises(lw.InvalidInputError, match="already"):
            campaign.invite("ann")


class TestItems:
    def test_are_added_once(self, begin, tmp_path):
        campaign = begin()
        path = tmp_path / "mails.csv"
        path.write_text("id,text,label\na,one,ham\nb,two,\nc,three,spam\n")
        assert campaign.add(path).n_new == 3
        again = campaign.add(str(path))
        assert (again.n_new, again.n_known, again.n_gold) == (0, 3, 0)
        assert campaign.status().n_labeled == 2
        assert campaign.item("b").text == "two"

    def test_without_an_id_are_called_after_their_content(self, begin):
        campaign = begin()
        campaign.add(["one", "two", "one"])
        assert campaign.add(["two", "one", "one", "three"]).n_new == 1

    def test_do_not_change(self, begin):
        campaign = begin()
        campaign.add([{"id": 1, "text": "one"}])
        with pytest.raises(lw.InvalidInputError, match="another content"):
            campaign.add([{"id": 2, "text": "two"}, {"id": 1, "text": "uno"}])
        assert campaign.status().n_items == 1

    def test_with_a_label_that_is_no_class_are_refused(self, begin):
        campaign = begin()
        with pytest.raises(lw.InvalidInputError, match="no class of this campaign"):
            campaign.add([{"text": "one", "label": "eggs"}])

    def test_of_a_file_without_labels_have_none(self, begin, tmp_path):
        path = tmp_path / "mails.csv"
        path.write_text("text\none\ntwo\n")
        campaign = begin()
        assert campaign.add(path).n_gold == 0

    def test_may_be_sequences_with_some_tags(self, begin, tmp_path):
        path = tmp_path / "names.jsonl"
        path.write_text('{"id": "s", "tokens": ["Ann", "runs", "."], "tags": ["P", null, "O"]}\n{"tokens": ["Hi"]}\n')
        campaign = begin(kind="sequences", classes=["O", "P"])
        added = campaign.add(path)
        assert (added.n_new, added.n_gold) == (2, 2)
        assert campaign.item("s").tokens == ("Ann", "runs", ".")
        assert campaign.add(path).n_new == 0

    def test_of_another_kind_are_refused(self, begin, tmp_path):
        path = tmp_path / "names.conll"
        path.write_text("Ann P\n\n")
        with pytest.raises(lw.InvalidInputError, match="holds sequences"):
            begin().add(path)


class TestRequests:
    def test_say_by_which_probability_they_were_drawn(self, begin):
        campaign = begin()
        campaign.add(TEXTS)
        assigned = campaign.assign(count=5, channel="crowd", votes=3)
        assert (assigned.n_items, assigned.n_labels, assigned.batch) == (5, 15, 1)
        assert "Nobody" in assigned.notes[0]
        request = campaign.request(1)
        assert (request.probability, request.drawn_by, request.rule) == (0.25, "random", "everything")

    def test_are_about_items_that_nobody_was_asked_about(self, begin):
        campaign = begin()
        campaign.add([*TEXTS[:10], {"text": "known", "label": "ham"}])
        campaign.assign(count=6)
        campaign.assign(count=4)
        asked = [campaign.request(number).item_id for number in range(2, 12)]
        assert len(set(asked)) == 10
        with pytest.raises(lw.InfeasiblePlanError, match="Only 0"):
            campaign.assign(count=1)

    def test_ask_about_the_tokens_that_a_policy_wants(self, begin):
        campaign = begin(kind="sequences", classes=["O", "P"])
        campaign.add([["a", "b", "c", "d"], ["e", "f", "g"]])
        assert campaign.assign(count=2, policy="window:2").n_labels == 4
        assert len(campaign.request(1).positions) == 2

    def test_may_audit_what_has_a_label(self, begin):
        campaign = begin()
        campaign.add([*TEXTS[:5], {"id": "known", "text": "known", "label": "ham"}])
        campaign.assign(count=1, channel="crowd", audit=True)
        ann = campaign.invite("ann", channel="crowd").person
        (task,) = campaign.lease(ann)
        assert task.item.name == "known"
        campaign.answer(ann, task.request.id, "spam", key="1")
        (status,) = campaign.status().people
        assert (status.gold_agreed, status.gold_compared) == (0, 1)
        assert campaign.confusion("ann").counts == {("ham", "spam"): 1}

    def test_about_no_class_or_all_classes_are_refused(self, begin):
        campaign = begin()
        campaign.add(TEXTS)
        for question in (["eggs"], ["ham", "news", "spam"]):
            with pytest.raises(lw.InvalidInputError, match="some of the classes"):
                campaign.assign(count=1, question=question)


class TestLeases:
    def test_nobody_gets_what_others_hold_unless_votes_are_wanted(self, begin):
        campaign = begin()
        campaign.add(TEXTS)
        campaign.assign(count=8, votes=2)
        people = [campaign.invite(f"w{number}").person for number in range(5)]
        held = Counter(task.item.name for person in people for task in campaign.lease(person, n=4))
        assert sum(held.values()) == 16
        assert set(held.values()) == {2}

    def test_are_topped_up_and_not_hoarded(self, begin):
        campaign = begin()
        campaign.add(TEXTS)
        campaign.assign(count=8)
        ann = campaign.invite("ann").person
        first = campaign.lease(ann, n=2)
        assert campaign.lease(ann, n=2) == first
        assert campaign.lease(ann, n=3)[:2] == first
        assert campaign.tasks(ann)[:2] == first

    def test_run_out_and_go_to_others(self, begin, clock):
        campaign = begin()
        campaign.add(TEXTS)
        campaign.assign(count=1)
        ann, bob = campaign.invite("ann").person, campaign.invite("bob").person
        (task,) = campaign.lease(ann)
        assert campaign.lease(bob) == []
        clock.go_on(9)
        campaign.renew(ann, task.request.id)
        clock.go_on(9)
        assert campaign.lease(bob) == []
        clock.go_on(2)
        assert campaign.status().due == 1
        assert campaign.lease(bob)[0].item == task.item
        with pytest.raises(lw.NotWantedError, match="ran out"):
            campaign.renew(ann, task.request.id)

    def test_can_be_given_back(self, begin):
        campaign = begin()
        campaign.add(TEXTS)
        campaign.assign(count=3)
        ann, bob = campaign.invite("ann").person, campaign.invite("bob").person
        campaign.lease(ann, n=3)
        assert campaign.release(ann) == 3
        assert len(campaign.lease(bob, n=3)) == 3
        assert campaign.release(ann) == 0

    def test_of_threads_at_once_are_all_different(self, begin):
        campaign = begin()
        campaign.add(TEXTS)
        campaign.assign(count=20)
        people = [campaign.invite(f"w{number}").person for number in range(10)]
        held = []
        threads = [threading.Thread(target=lambda who=who: held.extend(campaign.lease(who, n=2))) for who in people]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len({task.item.id for task in held}) == len(held) == 20


class TestAnswers:
    @pytest.fixture
    def asked(self, begin):
        """Ann holds a request of one vote."""
        campaign = begin(currency="EUR")
        campaign.add(TEXTS)
        campaign.assign(count=2)
        ann = campaign.invite("ann", price=0.5).person
        return campaign, ann, campaign.lease(ann)[0].request.id

    def test_count_once_however_often_they_are_sent(self, asked):
        campaign, ann, request = asked
        first = campaign.answer(ann, request, "ham", key="k", seconds=3)
        again = campaign.answer(ann, request, "ham", key="k", seconds=4)
        assert (first.is_new, again.is_new) == (True, False)
        assert first.answer_id == again.answer_id
        assert campaign.status().given == 1
        assert campaign.status().spent == 0.5
        campaign.withdraw("ann")
        assert not campaign.answer(ann, request, "ham", key="k").is_new

    def test_with_another_content_under_the_same_key_are_refused(self, asked):
        campaign, ann, request = asked
        campaign.answer(ann, request, "ham", key="k")
        with pytest.raises(lw.NotWantedError, match="Something else"):
            campaign.answer(ann, request, "spam", key="k")
        with pytest.raises(lw.NotWantedError, match="Something else"):
            campaign.undo(ann, key="k")
        with pytest.raises(lw.NotWantedError, match="answered for that item"):
            campaign.answer(ann, request, "spam", key="other")

    def test_that_nobody_asked_for_are_refused(self, asked):
        campaign, _, request = asked
        bob = campaign.invite("bob").person
        with pytest.raises(lw.NotWantedError, match="Nobody asked you"):
            campaign.answer(bob, request, "ham", key="k")
        with pytest.raises(lw.NotWantedError, match="no request"):
            campaign.answer(bob, 10**6, "ham", key="k")

    @pytest.mark.parametrize("said", ["eggs", True, 3, [], ["ham", "eggs"], {"ham": 1}])
    def test_that_do_not_answer_are_refused(self, asked, said):
        campaign, ann, request = asked
        with pytest.raises(lw.InvalidInputError):
            campaign.answer(ann, request, said, key="k")
        assert campaign.status().given == 0

    def test_that_come_late_are_kept_while_they_are_wanted(self, asked, clock):
        campaign, ann, request = asked
        clock.go_on(60)
        assert campaign.answer(ann, request, "ham", key="k").is_new
        assert campaign.status().held == 0

    def test_that_come_too_late_are_refused(self, asked, clock):
        campaign, ann, request = asked
        clock.go_on(60)
        bob = campaign.invite("bob").person
        held = campaign.lease(bob, n=2)
        assert request in [task.request.id for task in held]
        with pytest.raises(lw.NotWantedError, match="somebody else"):
            campaign.answer(ann, request, "ham", key="k")
        campaign.answer(bob, request, "spam", key="k")
        with pytest.raises(lw.NotWantedError, match="somebody else"):
            campaign.answer(ann, request, "ham", key="k")

    def test_can_be_taken_back_and_given_anew(self, asked):
        campaign, ann, request = asked
        campaign.answer(ann, request, "ham", key="1", seconds=2)
        back = campaign.undo(ann, key="2")
        assert back.task.request.id == request
        assert not campaign.undo(ann, key="2").is_new
        assert campaign.status().spent == 0
        campaign.answer(ann, request, ["ham", "spam"], key="3")
        log = campaign.answers(ann)
        assert [(given.said, given.stands) for given in log] == [((("ham", "spam"),), True), (("ham",), False)]
        (status,) = campaign.status().people
        assert (status.n_answers, status.n_taken_back, status.spent) == (1, 1, 0.5)
        with pytest.raises(lw.NotWantedError, match="no answer of yours that stands"):
            campaign.undo(ann, key="4", answer=log[1].id)

    def test_of_cannot_say_count_and_are_told(self, asked):
        campaign, ann, request = asked
        campaign.answer(ann, request, None, key="1")
        (status,) = campaign.status().people
        assert (status.n_answers, status.n_cannot_say) == (1, 1)
        assert request not in [task.request.id for task in campaign.lease(ann, n=5)]

    def test_to_questions_are_yes_or_no(self, begin):
        campaign = begin()
        campaign.add(TEXTS)
        campaign.assign(count=1, question=["ham", "news"], votes=2)
        ann, bob = campaign.invite("ann").person, campaign.invite("bob").person
        (task,) = campaign.lease(ann)
        assert task.request.words == "Is it one of these: ham, news?"
        with pytest.raises(lw.InvalidInputError, match="True, False or None"):
            campaign.answer(ann, task.request.id, "ham", key="1")
        campaign.answer(ann, task.request.id, True, key="1")
        campaign.lease(bob)
        campaign.answer(bob, task.request.id, False, key="1")
        assert campaign.confusion("bob", "others").counts == {("ham or news", "not ham or news"): 1}

    def test_about_tokens_say_something_of_each(self, begin):
        campaign = begin(kind="sequences", classes=["O", "P"])
        campaign.add([["a", "b", "c", "d"]])
        campaign.assign(count=1, policy="window:2")
        ann = campaign.invite("ann", price=0.1).person
        (task,) = campaign.lease(ann)
        first, second = task.request.positions
        for wrong in (["O"], {first: "O"}, "O", {first: "O", second: "P", 9: "O"}):
            with pytest.raises(lw.InvalidInputError):
                campaign.answer(ann, task.request.id, wrong, key="1")
        campaign.answer(ann, task.request.id, {str(first): "O", second: None}, key="1")
        assert campaign.answers()[0].said == ("O", None)
        assert campaign.status().spent == pytest.approx(0.2)


def test_agreement_with_others_counts_pairs(begin):
    campaign = begin()
    campaign.add(TEXTS[:2])
    campaign.assign(count=2, votes=3, channel="crowd")
    says = {"ann": ["ham", "ham"], "bob": ["ham", "spam"], "eve": ["spam", None]}
    for name, said in says.items():
        person = campaign.invite(name, channel="crowd").person
        for task, word in zip(sorted(campaign.lease(person, n=2), key=lambda one: one.request.id), said, strict=True):
            campaign.answer(person, task.request.id, word, key=f"{name}{task.request.id}")
    status = campaign.status()
    figures = {one.person.name: (one.others_agreed, one.others_compared) for one in status.people}
    assert figures == {"ann": (1, 3), "bob": (1, 3), "eve": (0, 2)}
    assert (status.n_done, status.due, status.n_answered, status.n_labeled) == (2, 0, 2, 0)


def test_who_asks_for_a_batch_twice_by_accident_does_so_once(begin):
    campaign = begin()
    campaign.add([f"mail {index}" for index in range(9)])
    assert campaign.assign(count=3, after=0).batch == 1
    with pytest.raises(lw.NotWantedError, match="Batch 1 was asked for meanwhile"):
        campaign.assign(count=3, after=0)
    assert campaign.assign(count=3, after=1).batch == 2


def test_two_hundred_people_at_once_get_two_hundred_items(begin):
    """Unless votes are wanted nobody gets what somebody else has, whatever the moment."""
    campaign = begin()
    campaign.add([f"mail {index}" for index in range(250)])
    campaign.assign(count=250)
    people = [campaign.invite(f"w{index}").person for index in range(200)]
    got, together = Counter(), threading.Barrier(200)

    def come(person) -> None:
        together.wait()
        (task,) = campaign.lease(person)
        got[task.item.name] += 1

    threads = [threading.Thread(target=come, args=(person,)) for person in people]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(got) == got.total() == 200


def test_all_answers_can_be_taken_back_one_by_one(begin):
    campaign = begin()
    campaign.add([f"mail {index}" for index in range(30)])
    campaign.assign(count=30)
    ann = campaign.invite("ann").person
    desk = campaign.desk(ann)
    assert desk.last is None
    while desk.task is not None:
        key = f"lease {desk.task.lease_id}"
        desk = campaign.answer_and_go_on(ann, desk.task.request.id, "ham", key=key)
    for index in range(30):
        assert desk.last_said == ("ham",)
        back = campaign.undo(ann, answer=desk.last, key=f"undo {index}")
        desk = campaign.desk(ann, back.task.request.id)
        assert desk.task.request.id == back.task.request.id
    assert desk.last is None
    assert campaign.status().given == 0


class TestAnswersOfSeveralPeopleInAnExport:
    def exported(self, tmp_path, **settings):
        """What two people said in another campaign, as a tool holds it."""
        path = tmp_path / "export.json"
        is_tokens = settings.get("kind") == "sequences"
        with Campaign.create(tmp_path / "other.db", **{"name": "x", "classes": ["a", "b", "c"], **settings}) as other:
            other.add([["one", "two"], ["three", "four"]] if is_tokens else ["one", "two", "three"])
            other.assign(count=2, votes=2, channel="crowd")
            for name, said, tags in (("eve", "a", ["B-a", "I-a"]), ("tom", "b", ["O", "B-a"])):
                person = other.invite(name, channel="crowd").person
                for task in other.lease(person, n=2):
                    words = tags if is_tokens else said
                    other.answer(person, task.request.id, words, key=str(task.request.id), seconds=4)
            other.export(path, format="label-studio", accept_losses=True)
        return path

    def test_are_answers_here(self, begin, tmp_path):
        campaign = begin(classes=["a", "b", "c"])
        path = self.exported(tmp_path)
        tom = campaign.invite("tom", channel="expert").person
        added = campaign.add(path)
        assert (added.n_new, added.n_gold, added.n_answers) == (3, 0, 4)
        said = {(one.annotator, one.said[0], one.seconds) for one in campaign.answers()}
        assert said == {("eve", "a", 4.0), ("tom", "b", 4.0)}
        channels = {campaign.request(one.request_id).channel for one in campaign.answers(tom)}
        assert channels == {"expert"}
        status = campaign.status()
        assert (status.n_labeled, status.n_answered, status.n_answers) == (0, 2, 4)
        assert {one.person.name: one.others_compared for one in status.people} == {"eve": 2, "tom": 2}

    def test_are_taken_over_once(self, begin, tmp_path):
        campaign = begin(classes=["a", "b", "c"])
        path = self.exported(tmp_path)
        campaign.add(path)
        again = campaign.add(path)
        assert (again.n_new, again.n_known, again.n_answers, again.notes[-1:]) == (
            0,
            3,
            0,
            campaign.add(path).notes[-1:],
        )
        assert len(campaign.answers()) == 4
        assert campaign.who("") is None
        assert campaign.renew_token("eve").person.channel == "crowd"

    def test_of_tokens_say_which(self, begin, tmp_path):
        tags = {"kind": "sequences", "classes": ["O", "B-a", "I-a"]}
        campaign = begin(**tags)
        added = campaign.add(self.exported(tmp_path, **tags))
        assert (added.n_new, added.n_answers) == (2, 8)
        said = {(one.annotator, one.said) for one in campaign.answers()}
        assert said == {("eve", ("B-a", "I-a")), ("tom", ("O", "B-a"))}
        assert {campaign.request(one.request_id).positions for one in campaign.answers()} == {(0, 1)}
