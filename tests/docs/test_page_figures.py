"""Figures that nobody answers for are found, and only those."""

import pytest

from support.page_figures import unread

PAGE = """# A study of 20 Newsgroups

<!-- not measured: how it was set up -->
400 draws of 8 936 sentences.

It errs on .31 (.02), and on **.28** with
more labels; 90 % intervals hold 88 % of 331.

| labels | error |
|---|---|
| 100 | 0.31 |
| 0 | 1 |

    error = 0.5 / n

```python
print(0.25)
```
"""


def found(text: str, *rows: str) -> list[str]:
    return [own.figure for own in unread(text, rows)]


def test_figures_without_an_answer_are_found_and_marks_and_code_have_none() -> None:
    assert found(PAGE) == [".31", ".02", ".28", "88", "331", "100", "0.31", "0", "1"]


def test_rows_answer_for_what_is_within_them_alone() -> None:
    assert found(PAGE, "errs on .31 (.02), and on .28 with more", "| 100 | 0.31 |") == ["88", "331", "0", "1"]
    assert found(PAGE, "errs on .32 (.02), and on .28 with more", "| 100 | 0.31 |")[:3] == [".31", ".02", ".28"]


def test_a_mark_ends_with_its_block_or_section() -> None:
    text = "## One\n\n{}\n12 runs.\n\n13 runs.\n\n### Part\n\n14 runs.\n\n## Two\n\n15 runs.\n"
    assert found(text.format("<!-- not measured: a setting -->")) == ["13", "14", "15"]
    assert found(text.format("<!-- not measured in this section: settings -->")) == ["15"]


def test_names_references_and_numbers_of_lists_are_no_figures() -> None:
    assert (
        found("## 3. CoNLL-2000\n\n2. R52 and F1 (Liang and Jordan, 2008), section 7, `x[3]`, [a](b-4.md), y = -1.\n")
        == []
    )


def test_a_mark_without_reason_or_figure_is_refused() -> None:
    with pytest.raises(ValueError, match="no reason"):
        unread("<!-- not measured: -->\n12 runs.\n")
    with pytest.raises(ValueError, match="over no figure"):
        unread("<!-- not measured: a setting -->\nSome runs.\n\n12 runs.\n")
