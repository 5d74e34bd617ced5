"""The page of a plan in headless Chromium: it opens offline, draws, follows its control, and works by keyboard."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.ui import WebDriverWait

from labelworth.report.page import write_page
from support.browser import DESK, PHONE, accessible, colors, needs_axe, needs_browser, photograph, resize, window
from support.plans import document_plan

CHARTS = ("frontier", "surface", "forecast", "worth")

pytestmark = needs_browser


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with window() as driver:
        yield driver


@pytest.fixture
def page(browser: Any, tmp_path: Path) -> Any:
    path = write_page(document_plan(), tmp_path / "plan.html", {"seed": 0, "data_digest": "abc"})
    resize(browser, DESK)
    browser.get_log("browser")
    browser.get(path.as_uri())
    WebDriverWait(browser, 30).until(lambda driver: driver.find_elements(By.CSS_SELECTOR, "html[data-ready]"))
    return browser


def _element(page: Any, selector: str) -> WebElement:
    found: WebElement = page.find_element(By.CSS_SELECTOR, selector)
    return found


def _star(page: Any, chart: str) -> tuple[float, float]:
    """Where the recommended point is drawn."""
    script = "const t = document.getElementById(arguments[0]).data.at(-1); return [t.x[0], t.y[0]]"
    x, y = page.execute_script(script, f"{chart}-chart")
    return x, y


def test_all_pictures_are_drawn_and_nothing_complains(page: Any) -> None:
    for chart in CHARTS:
        assert page.find_elements(By.CSS_SELECTOR, f"#{chart}-chart .main-svg"), chart
    assert [entry for entry in page.get_log("browser") if entry["level"] in ("SEVERE", "WARNING")] == []
    photograph(page, "plan-desk")


def test_nothing_is_fetched(page: Any) -> None:
    fetched = page.execute_script("return performance.getEntriesByType('resource').map((entry) => entry.name)")
    assert [name for name in fetched if not name.startswith(("data:", "blob:"))] == []


def test_the_answer_comes_first_and_is_the_plans(page: Any) -> None:
    shown = [one.text for one in page.find_elements(By.CSS_SELECTOR, "#answer p")]
    assert shown == document_plan().lines()


def test_words_of_the_data_are_text_not_markup(page: Any) -> None:
    assert "A class <rare> & odd has three labels </script>" in _element(page, "#checks").text


def test_the_control_begins_at_what_was_asked(page: Any) -> None:
    assert "412 more labels (90 %: 350–510)" in _element(page, "#recommended").text
    assert _star(page, "frontier") == (512.0, document_plan().recommended.error)


def test_a_larger_budget_by_keyboard_moves_the_point_to_less_error(page: Any) -> None:
    slider = _element(page, "#amount")
    before, words = _star(page, "frontier"), _element(page, "#recommended").text
    slider.send_keys(Keys.ARROW_RIGHT)
    after = _star(page, "frontier")
    assert after[0] > before[0]
    assert after[1] < before[1]
    assert _star(page, "surface")[1] > 0
    assert _element(page, "#recommended").text != words
    slider.send_keys(Keys.ARROW_LEFT)
    assert _star(page, "frontier") == before


def test_another_question_keeps_the_point_nearby(page: Any) -> None:
    cost, _ = _star(page, "frontier")
    _element(page, "input[name=problem][value=target]").send_keys(Keys.SPACE)
    assert _element(page, "#amount-label").text.startswith("Target:")
    assert _star(page, "frontier")[0] == pytest.approx(cost, rel=0.3)


def test_everything_can_be_reached_by_keyboard(page: Any) -> None:
    reached = set()
    for _ in range(30):
        page.switch_to.active_element.send_keys(Keys.TAB)
        focused = page.switch_to.active_element
        reached.add(focused.get_attribute("id") or focused.get_attribute("name") or focused.tag_name)
    assert {"amount", "problem", "summary"} <= reached


def test_a_phone_shows_it_without_scrolling_sideways(page: Any) -> None:
    resize(page, PHONE)
    page.refresh()
    WebDriverWait(page, 30).until(lambda driver: driver.find_elements(By.CSS_SELECTOR, "html[data-ready]"))
    assert page.execute_script("return document.documentElement.scrollWidth") <= PHONE[0]
    photograph(page, "plan-phone")


def test_dark_mode_has_light_ink_on_dark_paper(page: Any) -> None:
    light = _ink_and_paper(page)
    with colors(page, "dark"):
        ink, paper = _ink_and_paper(page)
        assert light[0] < light[1]
        assert ink > paper
        color = "return document.getElementById('frontier-chart').layout.font.color"
        # Pictures are drawn anew when the browser says that colors changed, which it does in its own time.
        WebDriverWait(page, 30).until(lambda driver: driver.execute_script(color) == "#e8eaed")


@needs_axe
def test_axe_finds_nothing_wrong(page: Any) -> None:
    assert accessible(page) == []


def _ink_and_paper(page: Any) -> tuple[int, int]:
    """The brightness of the text and of what is behind it."""
    script = (
        "const s = getComputedStyle(document.body);"
        "return [s.color, s.backgroundColor].map((c) => c.match(/\\d+/g).slice(0, 3).reduce((a, b) => +a + +b, 0))"
    )
    ink, paper = page.execute_script(script)
    return ink, paper
