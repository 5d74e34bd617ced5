"""The page about the paper's figures says what the records say."""

import pytest

from support.paper_page import PAGE, SECTIONS


def _flat(text: str) -> str:
    """Line breaks of prose do not count, nor does emphasis of a cell."""
    return " ".join(text.replace("**", "").split())


@pytest.mark.parametrize("section", SECTIONS)
def test_every_number_is_that_of_the_record(section: str) -> None:
    page, lines = _flat(PAGE.read_text(encoding="utf-8")), [_flat(line) for line in SECTIONS[section]()]
    assert len(lines) >= 2
    missing = [line for line in lines if line not in page]
    assert not missing, "not in the page:\n" + "\n".join(missing)


def test_another_number_is_found_out() -> None:
    page = _flat(PAGE.read_text(encoding="utf-8")).replace("| mean | .90 |", "| mean | .91 |")
    assert any(_flat(line) not in page for line in SECTIONS["fig1"]())
