import io
from types import SimpleNamespace

import pytest
from rich.console import Console

from labelworth.errors import InvalidInputError
from labelworth.report.tables import models_table, show_outcome, show_table, words
from labelworth.report.values import Measured, Outcome, Table
from labelworth.simulation.selection import ComparedModel, ModelChoice, Optimism


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
        (Measured(1234.5, 120.0), "1,234 ± 1.2e+02"),
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


def test_forecasts_of_compared_models_are_in_the_units_of_what_was_asked() -> None:
    chosen = ComparedModel("naive Bayes", False, 0.04, 0.05, 0.13, 0.0, 0.0, forecast=0.03634)
    other = ComparedModel("linear SVM", False, 0.12, 0.15, 0.26, 0.08, 0.028)
    nothing = {"error": Optimism(0.0, 0.0), "log_loss": Optimism(0.0, 0.0)}
    choice = ModelChoice(chosen, (other,), 150, 10, nothing)
    asked = {"models": choice, "recommended": SimpleNamespace(labels_in_all=500)}
    by_error, by_loss = (
        models_table(SimpleNamespace(**asked, question=SimpleNamespace(criterion=criterion)))
        for criterion in ("error", "log_loss")
    )
    assert by_error is not None
    assert by_loss is not None
    assert [row[-1] for row in by_error.rows] == ["3.6 %", None]
    assert by_loss.rows[0][-1] == "0.03634"
    assert by_error.columns[-1] == "forecast with 500 labels"
    assert by_loss.columns[-1] == "forecast log-loss of predictions (nats) with 500 labels"
    assert models_table(SimpleNamespace(models=None)) is None
