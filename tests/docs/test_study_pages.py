"""Every figure of the documentation is read from a record, or said to be no measurement."""

import re
from pathlib import Path

import pytest

from support.page_figures import flat, unread
from support.page_rows import ROWS

ROOT = Path(__file__).resolve().parents[2]
PAGES = {
    **{
        str(path.relative_to(ROOT / "docs").with_suffix("")): path
        for path in sorted((ROOT / "docs").rglob("*.md"))
        if not {"generated", "gallery"} & set(path.parts)
    },
    "README": ROOT / "README.md",
}


def text_of(page: str) -> str:
    return PAGES[page].read_text(encoding="utf-8")


@pytest.mark.parametrize("page", ROWS)
def test_every_row_of_a_page_is_that_of_its_record(page: str) -> None:
    text, rows = flat(text_of(page)), [flat(row) for row in ROWS[page]()]
    assert rows
    assert [row for row in rows if row not in text] == []


@pytest.mark.parametrize("page", sorted(PAGES))
def test_every_figure_of_a_page_is_read_from_a_record_or_said_to_be_no_measurement(page: str) -> None:
    rows = ROWS[page]() if page in ROWS else ()
    assert [str(own) for own in unread(text_of(page), rows)] == []


def test_tests_that_marks_name_are_there() -> None:
    marks = [
        mark for page in PAGES for mark in re.findall(r"<!-- not measured.*?-->", text_of(page), flags=re.DOTALL)
    ]
    named = [path for mark in marks for path in re.findall(r"[\w/]+/test_\w+\.py", mark)]
    assert named
    assert [path for path in named if not (ROOT / path).is_file()] == []
