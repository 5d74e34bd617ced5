"""Every sentence of SECURITY.md that says what is defended."""

import asyncio
import logging
import re
from pathlib import Path

import pytest

from labelworth.campaign.campaign import Campaign
from labelworth.errors import StoreUnavailableError
from labelworth.studio.doors import DOORS
from labelworth.studio.guard import CONTENT_POLICY
from labelworth.studio.limits import Limits
from labelworth.studio.pages import STATIC
from labelworth.studio.serving import CONNECTIONS
from support.studio import HERE, browser, forms_of, studio_of

HOSTILE = '<script>window.hacked = 1</script><img src=x onerror="window.hacked = 1">\'"&{{ 7 * 7 }}'
FORM = {"Content-Type": "application/x-www-form-urlencoded"}


def path_of(door):
    return door.path.replace("{number}", "1").replace("{name}", "labels.csv")


CLOSED = [door for door in DOORS if door.who != "anybody"]
MANAGERS = [door for door in DOORS if door.who == "manager"]
SENT = [door for door in CLOSED if door.method == "POST"]


def ask(who, door, **options):
    return who.client.request(door.method, path_of(door), headers=FORM, follow_redirects=False, **options)


def name_of(door):
    return f"{door.method} {door.path}"


@pytest.mark.parametrize("door", CLOSED, ids=name_of)
def test_a_stranger_comes_through_no_door(people, door):
    assert ask(people.stranger, door).status_code == 401
    people.stranger.client.cookies.set(people.studio.pages.cookie, "A" * 43)
    assert ask(people.stranger, door).status_code == 401


@pytest.mark.parametrize("door", MANAGERS, ids=name_of)
def test_an_annotator_comes_through_no_door_of_managers(people, door):
    proof = people.ann.form("/answer").fields["proof"]
    assert ask(people.ann, door, content=f"proof={proof}&count=1&votes=1&person=1&name=x").status_code == 403
    assert len(people.campaign.people()) == 3
    assert people.campaign.status().wanted == 10


@pytest.mark.parametrize("door", SENT, ids=name_of)
def test_a_form_without_the_proof_of_its_session_does_nothing(people, door):
    assert ask(people.mia, door).status_code == 403
    others = people.ann.form("/answer").fields["proof"]
    assert ask(people.mia, door, content=f"proof={others}").status_code == 403
    assert ask(people.mia, door, content="proof=").status_code == 403


@pytest.mark.parametrize("door", [door for door in DOORS if door.method == "POST"], ids=name_of)
def test_what_another_site_sends_does_nothing(people, door):
    fields = {**people.mia.form("/manage/invite", "/manage").fields, "token": people.tokens["mia"]}
    for headers in ({"Sec-Fetch-Site": "cross-site"}, {"Sec-Fetch-Site": "same-site"}, {"Origin": "http://evil.org"}):
        assert people.mia.post(path_of(door), fields, headers=headers).status_code == 403


def test_only_doors_of_the_table_exist(people):
    for path in (
        "/docs",
        "/openapi.json",
        "/manage/",
        "/static/",
        "/static/../doors.py",
        "/static/%2e%2e%2fdoors.py",
    ):
        assert people.mia.get(path).status_code == 404, path
    assert people.mia.client.request("DELETE", "/manage").status_code == 405


def test_tokens_are_kept_as_hashes_alone(people, tmp_path):
    people.campaign.close()
    kept = b"".join(path.read_bytes() for path in tmp_path.glob("mails.db*"))
    assert all(token.encode() not in kept for token in people.tokens.values())


def test_the_cookie_is_for_http_and_this_site_alone(people):
    def cookie(studio, url):
        client = browser(studio, url=url).client
        sent = client.post("/enter", data={"token": people.tokens["ann"]}, follow_redirects=False)
        return sent.headers["set-cookie"]

    plain = cookie(people.studio, HERE)
    assert "HttpOnly" in plain
    assert "SameSite=strict" in plain
    assert "Secure" not in plain
    safe = "https://labels.example.org"
    https = studio_of(people.campaign, url=safe)
    https.app._hosts.add("labels.example.org")
    assert "Secure" in cookie(https, safe)
    assert "Strict-Transport-Security" in browser(https, url=safe).get("/enter").headers


@pytest.mark.parametrize(
    "host", ["evil.org", "evil.org:8000", "127.0.0.1.evil.org", "", "localhost.evil.org", "[evil]"]
)
def test_a_name_that_is_not_ours_is_refused(people, host):
    assert people.ann.get("/", headers={"Host": host}).status_code == 421


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost:8000", "[::1]:8000", "192.168.1.7:8000"])
def test_this_machine_has_names_and_addresses(people, host):
    assert people.stranger.get("/enter", headers={"Host": host}).status_code == 200


@pytest.mark.parametrize("path", ["/", "/enter", "/manage", "/static/studio.js", "/nothing"])
def test_every_answer_has_the_headers(people, path):
    headers = people.ann.get(path).headers
    assert headers["Content-Security-Policy"] == CONTENT_POLICY
    assert "default-src 'none'" in CONTENT_POLICY
    assert "unsafe" not in CONTENT_POLICY
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Referrer-Policy"] == "no-referrer"
    assert headers["X-Frame-Options"] == "DENY"
    assert ("no-store" in headers["Cache-Control"]) is not path.startswith("/static")


@pytest.mark.parametrize("path", ["/", "/manage"])
def test_no_page_has_script_or_style_in_it(people, path):
    page = people.mia.get(path).text
    assert re.findall(r"<script(?! src=)", page) == []
    assert re.findall(r"<style|\sstyle=|\son\w+=|javascript:", page) == []
    addresses = re.findall(r'(?:href|src|action)="([^"]*)"', page)
    assert [one for one in addresses if not one.startswith(("/", "#"))] == []


def test_large_bodies_are_refused(people):
    assert people.ann.post("/enter", {"token": "x" * 2_000_000}).status_code == 413

    def piecemeal():
        for _ in range(40):
            yield b"x" * 50_000

    assert people.ann.client.post("/enter", content=piecemeal(), headers=FORM).status_code == 413


def test_what_is_no_form_is_refused(people):
    for headers, content in (
        ({"Content-Type": "multipart/form-data; boundary=x"}, b"--x--"),
        ({"Content-Type": "application/json"}, b"{}"),
        (FORM, b"token=%ff%fe"),
        (FORM, b"token=a%00b"),
        (FORM, b"\xff\xfe"),
        (FORM, b"&".join(b"a=b" for _ in range(30_000))),
    ):
        assert people.stranger.client.post("/enter", content=content, headers=headers).status_code == 400


def test_wrong_tokens_cannot_be_tried_for_long(campaign):
    studio = studio_of(campaign)
    stranger = browser(studio)
    codes = [stranger.post("/enter", {"token": f"{index:043d}"}).status_code for index in range(80)]
    assert codes[0] == 401
    assert codes[-1] == 429
    assert "Retry-After" in stranger.post("/enter", {"token": "x" * 43}).headers
    assert browser(studio).get("/enter").status_code == 200
    ann = campaign.invite("ann").token
    known = browser(studio)
    known.client.cookies.set(studio.pages.cookie, ann)
    assert known.get("/").status_code == 200, "who is known is let in from the same address"


def test_nobody_may_ask_all_the_time(campaign):
    from labelworth.studio.limits import Rate

    studio = studio_of(campaign, person=Rate(0.1, 5))
    ann, bob = (browser(studio, campaign.invite(name).token) for name in ("ann", "bob"))
    assert [ann.get("/").status_code for _ in range(8)][-1] == 429
    assert bob.get("/").status_code == 200
    crowded = studio_of(campaign, address=Rate(0.1, 5))
    assert [browser(crowded).get("/enter").status_code for _ in range(8)][-1] == 429


def test_hostile_texts_and_names_stay_text(tmp_path):
    with Campaign.create(tmp_path / "x.db", name=HOSTILE, classes=[HOSTILE, "b" + HOSTILE]) as campaign:
        campaign.add([{"id": f"{HOSTILE}{index}", "text": f"{HOSTILE} {index}"} for index in range(4)])
        campaign.assign(count=4, why=HOSTILE)
        studio = studio_of(campaign)
        ann = browser(studio, campaign.invite(HOSTILE).token)
        mia = browser(studio, campaign.invite("mia" + HOSTILE, role="manager", channel=HOSTILE).token)
        ann.label("0")
        number = campaign.person(HOSTILE).id
        pages = [ann.get("/").text, mia.get("/manage").text, mia.get(f"/manage/person/{number}").text]
        for _ in range(2):  # The second time somebody is called so already, which is told.
            pages.append(mia.send("/manage/invite", "/manage", name="c" + HOSTILE).text)
        for page in pages:
            assert "&lt;img" in page
            assert "<img" not in page
            assert "<script>" not in page
            assert "{{ 7" in page


def test_sql_in_fields_is_text(people):
    text = "x'); DROP TABLE lw_answers; --"
    people.mia.send("/manage/invite", "/manage", name=text)
    assert people.campaign.person(text).name == text
    assert people.ann.send("/answer", said="0", key=text).status_code == 200
    assert people.campaign.answers()[0].key == text


def test_nobody_answers_for_somebody_else(people):
    form = people.ann.form("/answer")
    own = people.bob.form("/answer")
    page = people.bob.post("/answer", {**own.fields, "request": form.fields["request"], "said": "0"})
    assert page.status_code == 409
    people.ann.post("/answer", {**form.fields, "said": "0"})
    number = str(people.campaign.answers()[0].id)
    assert people.bob.post("/undo", {**own.fields, "answer": number}).status_code == 409
    assert [(given.annotator, given.stands) for given in people.campaign.answers()] == [("ann", True)]


def test_errors_tell_nothing_internal_and_logs_hold_no_texts(people, monkeypatch, caplog):
    def broken(*_, **__):
        raise RuntimeError("secret text of a mail")

    monkeypatch.setattr(people.campaign, "desk", broken)
    with caplog.at_level(logging.DEBUG):
        page = people.ann.get("/")
    assert page.status_code == 500
    assert page.text == "Something went wrong here."
    assert page.headers["Content-Security-Policy"] == CONTENT_POLICY
    assert "RuntimeError" in caplog.text
    assert "secret" not in caplog.text


def test_a_store_that_is_away_is_told_without_its_address(people, monkeypatch):
    def away(*_, **__):
        raise StoreUnavailableError("postgresql://user@secret.host/db is away")

    monkeypatch.setattr(people.campaign, "desk", away)
    page = people.ann.get("/")
    assert page.status_code == 503
    assert "secret.host" not in page.text
    assert page.headers["Retry-After"] == "1"


def test_texts_names_and_tokens_are_not_logged(people, caplog):
    with caplog.at_level(logging.DEBUG):
        people.ann.label("0")
        people.mia.get("/manage")
    assert "mail number" not in caplog.text
    assert not any(token in caplog.text for token in people.tokens.values())


def test_websockets_are_closed(people):
    sent = []

    async def ask() -> None:
        async def send(message):
            sent.append(message)

        await people.studio.app({"type": "websocket", "path": "/", "headers": []}, None, send)

    asyncio.run(ask())
    assert sent == [{"type": "websocket.close", "code": 1008}]


def test_forms_carry_their_proof(people):
    for path in ("/", "/manage", f"/manage/person/{people.campaign.person('ann').id}"):
        forms = forms_of(people.mia.get(path).text)
        assert forms
        assert all(len(form.fields["proof"]) == 64 for form in forms.values())


def test_the_threat_model_names_the_limits_that_hold():
    limits, words = Limits(), (Path(__file__).resolve().parents[3] / "SECURITY.md").read_text(encoding="utf-8")
    for figure in (
        f"{limits.strangers.at_once:g} wrong tokens per address, then one a second",
        f"{limits.address.per_second:g} requests a second per address, {limits.person.per_second:g} per person",
        f"bodies up to {limits.body / 1e6:g} MB",
        f"{CONNECTIONS:,} connections",
        {3: "a table of three"}[len(STATIC)],
    ):
        assert figure in words
    assert limits.strangers.per_second == 1
