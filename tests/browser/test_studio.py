"""A whole campaign in headless Chromium: labeled by keyboard on a desk and on a phone, followed by the manager."""

import re
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from selenium.common.exceptions import StaleElementReferenceException
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait

from labelworth.campaign.campaign import Campaign
from support.browser import DESK, PHONE, accessible, needs_axe, needs_browser, photograph, resize, window
from support.studio_server import started

HOSTILE = "<script>window.hacked = 1</script><img src=x onerror='window.hacked = 1'>\"&"
HEARS = 0.2
"""Seconds after which a page that has appeared listens to keys: those pressed before may be meant for the last."""
CLASSES = ["ham", "news", "spam"]
TAGS = ["O", "PER", "LOC", "ORG"]
SENTENCE = "Yesterday Anna Smith flew from Berlin to New York for Acme Corp and met {} people there ."

pytestmark = needs_browser


def complaints(driver: Any) -> list[str]:
    return [entry["message"] for entry in driver.get_log("browser") if entry["level"] == "SEVERE"]


def until(driver: Any, true: Callable[[Any], Any]) -> Any:
    return WebDriverWait(driver, 60, poll_frequency=0.02, ignored_exceptions=[StaleElementReferenceException]).until(
        true
    )


def come_in(driver: Any, link: str, token: str) -> None:
    driver.get(f"{link.partition('#')[0]}#{token}")
    until(driver, lambda page: "/enter" not in page.current_url)
    until(driver, lambda page: page.find_elements(By.CSS_SELECTOR, "html.script"))
    time.sleep(HEARS)


def task(driver: Any) -> str | None:
    found = driver.find_elements(By.CSS_SELECTOR, "form.task")
    return found[0].get_attribute("data-task") if found else None


def press(driver: Any, *keys: str) -> None:
    for key in keys:
        ActionChains(driver).send_keys(key).perform()


def settled(driver: Any, before: str | None) -> None:
    """Wait until another task is there, and the page listens to keys again."""
    until(driver, lambda page: task(page) != before)
    time.sleep(HEARS)


def label(driver: Any, text: str) -> None:
    """Answer a document by the key of its class, which its text names; a sequence token by token."""
    before = task(driver)
    asked = driver.find_elements(By.CSS_SELECTOR, ".asked .word")
    if asked:
        for word in [one.text for one in asked]:
            press(driver, "2" if word in ("Anna", "Smith") else "3" if word in ("Berlin", "York") else "1")
        press(driver, Keys.ENTER)
    else:
        press(driver, str(1 + next(index for index, name in enumerate(CLASSES) if name in text)))
    settled(driver, before)


def work(driver: Any) -> None:
    text = driver.find_element(By.ID, "text").text
    label(driver, text)


def text_of(index: int) -> str:
    return f"Mail {index}, about {CLASSES[index % 3]}.\n\n" + "Here is what it says, in so many words. " * (
        index % 12
    )


@pytest.fixture
def documents(tmp_path: Path) -> Iterator[Campaign]:
    path = tmp_path / "mails.db"
    with Campaign.create(path, name="Customer mails", classes=CLASSES, currency="EUR") as campaign:
        campaign.add([{"id": f"m{index}", "text": text_of(index)} for index in range(80)])
        campaign.assign(count=60, why="pilot")
        yield campaign


@pytest.fixture
def sequences(tmp_path: Path) -> Iterator[Campaign]:
    path = tmp_path / "names.db"
    with Campaign.create(path, name="Names in news", kind="sequences", classes=TAGS, currency="EUR") as campaign:
        campaign.add([{"id": f"s{n}", "tokens": SENTENCE.format(n + 2).split()} for n in range(20)])
        campaign.assign(count=20, policy="0.5*window:5 + 0.5*everything", why="pilot")
        yield campaign


def path_of(campaign: Campaign) -> str:
    return campaign._store.where


def together(campaign: Campaign, name: str, n: int) -> None:
    """Two people label by keyboard, one on a phone, until nothing is left; the manager's page follows."""
    tokens = [campaign.invite(person, price=0.1).token for person in ("ann", "bob")]
    with started(path_of(campaign)) as (_, link), ExitStack() as stack:
        ann, bob, boss = (stack.enter_context(window(size)) for size in (DESK, PHONE, DESK))
        come_in(boss, link, link.partition("#")[2])
        for driver, token in zip((ann, bob), tokens, strict=True):
            come_in(driver, link, token)
        photograph(ann, f"{name}-desk")
        photograph(bob, f"{name}-phone")
        assert accessible(ann) == []
        assert bob.execute_script("return document.documentElement.scrollWidth") <= PHONE[0]
        for step in range(n):
            driver = (ann, bob)[step % 2]
            if task(driver) is None:
                driver.get(link.partition("/enter")[0])
                if task(driver) is None:
                    break
            work(driver)
            if step == n // 2:
                given = campaign.status().given
                shown = until(boss, lambda page: re.search(r"Answers\s*(\d+)", page.find_element(By.ID, "live").text))
                until(boss, lambda page, given=given: f"{given}\nof" in page.find_element(By.ID, "live").text)
                assert shown is not None, "without being loaded again"
        for driver in (ann, bob):
            driver.get(link.partition("/enter")[0])
            until(driver, lambda page: "Nothing to label now" in page.page_source)
        until(boss, lambda page: f"{n}\nof {n} wanted" in page.find_element(By.ID, "live").text)
        assert accessible(boss) == []
        photograph(boss, f"{name}-manager-desk")
        resize(boss, PHONE)
        photograph(boss, f"{name}-manager-phone")
        assert boss.execute_script("return document.documentElement.scrollWidth") <= PHONE[0]
        assert [complaints(driver) for driver in (ann, bob, boss)] == [[], [], []]


def test_sixty_documents_by_two_people_at_once(documents: Campaign) -> None:
    together(documents, "documents", 60)
    given = documents.answers(limit=100)
    assert len(given) == 60
    assert all(one.said[0] in text_of(int(one.item[1:])) for one in given), "the key is that of the class"
    assert all(one.seconds is not None and 0 < one.seconds < 600 for one in given)


def test_twenty_sequences_by_two_people_at_once(sequences: Campaign) -> None:
    together(sequences, "sequences", 20)
    given = sequences.answers(limit=100)
    assert len(given) == 20
    words = SENTENCE.split()
    for one in given:
        request = sequences.request(one.request_id)
        assert request is not None
        assert request.positions is not None
        for position, said in zip(request.positions, one.said, strict=True):
            assert said == {"Anna": "PER", "Smith": "PER", "Berlin": "LOC", "York": "LOC"}.get(words[position], "O")


def test_questions_undo_cannot_say_and_a_studio_that_comes_back(documents: Campaign) -> None:
    documents.assign(count=5, channel="crowd", question=["ham", "spam"])
    token = documents.invite("eve", channel="crowd").token
    with started(path_of(documents)) as (process, link), window(PHONE) as eve:
        come_in(eve, link, token)
        photograph(eve, "question-phone")
        resize(eve, DESK)
        photograph(eve, "question-desk")
        assert accessible(eve) == []
        first = task(eve)
        press(eve, "y")
        settled(eve, first)
        press(eve, "u")
        until(eve, lambda page: task(page) == first)
        time.sleep(HEARS)
        press(eve, "0")
        settled(eve, first)
        assert [one.said for one in documents.answers() if one.stands] == [(None,)]
        second = task(eve)
        process.kill()
        process.wait()
        press(eve, "n")
        until(eve, lambda page: "Not sent yet" in page.find_element(By.ID, "telling").text)
        photograph(eve, "away-desk")
        with started(path_of(documents), "--port", re.findall(r":(\d+)/", link)[0]):
            settled(eve, second)
        assert [one.said for one in documents.answers() if one.stands] == [(False,), (None,)]


def test_a_key_that_is_held_down_answers_once(documents: Campaign) -> None:
    token = documents.invite("ann").token
    with started(path_of(documents)) as (_, link), window() as ann:
        come_in(ann, link, token)
        event = {"type": "keyDown", "key": "1", "text": "1", "windowsVirtualKeyCode": 49}
        for repeat in (False, True, True, True, True):
            ann.execute_cdp_cmd("Input.dispatchKeyEvent", {**event, "autoRepeat": repeat})
            time.sleep(0.3)
        until(ann, lambda _: documents.answers())
        time.sleep(0.3)
        assert len(documents.answers()) == 1


def test_hostile_texts_classes_and_names_run_no_script(tmp_path: Path) -> None:
    with Campaign.create(tmp_path / "x.db", name=HOSTILE, classes=[HOSTILE, "b" + HOSTILE]) as campaign:
        campaign.add([{"id": f"{HOSTILE}{n}", "text": f"{HOSTILE} {n}"} for n in range(4)])
        campaign.assign(count=4, why=HOSTILE)
        token = campaign.invite(HOSTILE).token
        boss_token = campaign.invite("boss" + HOSTILE, role="manager", channel=HOSTILE).token
        with started(path_of(campaign)) as (_, link), window() as driver:
            come_in(driver, link, token)
            before = task(driver)
            press(driver, "1")
            settled(driver, before)
            seen = [driver.execute_script("return window.hacked")]
            assert driver.find_element(By.ID, "text").text.startswith(HOSTILE[:20])
            photograph(driver, "hostile-desk")
            come_in(driver, link, boss_token)
            time.sleep(3)
            seen.append(driver.execute_script("return window.hacked"))
            driver.find_element(By.PARTIAL_LINK_TEXT, "<script>").click()
            seen.append(driver.execute_script("return window.hacked"))
            assert accessible(driver) == []
            assert seen == [None, None, None]


def test_a_link_that_is_opened_on_the_page_to_come_in_comes_in(documents: Campaign) -> None:
    token = documents.invite("ann").token
    with started(path_of(documents)) as (_, link), window() as ann:
        ann.get(link.partition("#")[0])
        come_in(ann, link, token)
        assert task(ann) is not None


@needs_axe
def test_axe_finds_a_picture_without_words() -> None:
    with window() as driver:
        driver.get("data:text/html,<img src='x.png'>")
        assert any("image-alt" in one for one in accessible(driver))


def test_without_script_plain_forms_do(documents: Campaign) -> None:
    token = documents.invite("ann").token
    with started(path_of(documents)) as (_, link), window() as ann:
        ann.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
        ann.get(link.partition("#")[0])
        ann.find_element(By.NAME, "token").send_keys(token, Keys.ENTER)
        until(ann, lambda page: page.find_elements(By.CSS_SELECTOR, "form.task"))
        ann.find_element(By.CSS_SELECTOR, "button[name=said][value='1']").click()
        until(ann, lambda page: "Your last answer" in page.page_source)
        assert documents.answers()[0].said == ("news",)
