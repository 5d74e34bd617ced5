import io

import pytest
from rich.console import Console

from labelworth.errors import InvalidInputError
from labelworth.report.tables import show_outcome, show_table, words
from labelworth.report.values import Measured, Outcome, Table


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        (None, "-"),
        (float("nan"), "-"),
        ("text", "text"),
        (True, "True"),
        (1234567, "1,234,567"),
        (0.123456, "0.1235"),
        (123456.7, "123,457"),
        (1.5e12, "1.500e+12"),
        (Measured(0.5), "0.5"),
        (Measured(0.123456, 0.0123), "0.123 ± 0.012"),
        (Measured(0.123456, 0.0), "0.1235 ± 0"),
        (Measured(1234.5, 120.0), "1234 ± 1.2e+02"),
        (Measured(float("nan"), 0.1), "-"),
    ],
)
def test_entries_read_as_people_write_them(entry: object, expected: str) -> None:
    assert words(entry) == expected


def shown(outcome: Outcome) -> str:
    stream = io.StringIO()
    show_outcome(Console(file=stream, width=100), outcome)
    return stream.getvalue()


def test_an_outcome_shows_its_tables_and_words_without_markup() -> None:
    table = Table("Costs", ("what", "price"), (("[red]label[/red]", 2.5),), note="in cents")
    text = shown(Outcome({}, words=("A label is worth [much].",), tables=(table,)))
    for part in ("Costs", "[red]label[/red]", "2.5", "in cents", "A label is worth [much]."):
        assert part in text
    assert text.index("A label is worth") < text.index("Costs")


def test_a_table_with_a_short_row_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="2 entries"):
        Table("Costs", ("what", "price"), (("label",),))


def test_an_empty_table_shows_its_head() -> None:
    stream = io.StringIO()
    show_table(Console(file=stream, width=60), Table("Nothing", ("a", "b"), ()))
    assert "Nothing" in stream.getvalue()
