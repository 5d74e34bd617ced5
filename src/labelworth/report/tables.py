"""Tables and words, on a terminal."""

import math
import re
from collections.abc import Iterable, Sequence
from typing import Any

from rich import box
from rich.console import Console
from rich.measure import Measurement
from rich.table import Table as RichTable
from rich.text import Text

from labelworth.planning.answer import Plan
from labelworth.planning.units import in_units
from labelworth.planning.words import crossing_words, forecast_heading
from labelworth.report.values import Amount, Measured, Outcome, Table
from labelworth.wording import money, percent

_SIGNIFICANT = 4
_ANY_WIDTH = 10_000


def show_table(console: Console, table: Table) -> None:
    """Print a table; columns that hold a number, a share in percent or money, are set flush right."""
    grid = RichTable(title=table.title, title_justify="left", title_style="bold", box=box.SIMPLE_HEAD)
    cells = [_with_tenths([words(row[index]) for row in table.rows]) for index in range(len(table.columns))]
    for index, title in enumerate(table.columns):
        numeric = any(_is_figure(row[index]) for row in table.rows)
        grid.add_column(title, justify="right" if numeric else "left", overflow="fold")
    for row in zip(*cells, strict=True):
        grid.add_row(*(Text(cell) for cell in row))
    whole = Measurement.get(console, console.options.update(max_width=_ANY_WIDTH), grid).maximum
    if whole > console.width:
        # Titles of figures give way before words do.
        for column, column_cells in zip(grid.columns, cells, strict=True):
            if column.justify == "right":
                column.max_width = max(map(len, [*column_cells, *str(column.header).split()]))
    console.print(grid)
    if table.note:
        console.print(Text(table.note, style="dim"))
        console.print()


def _with_tenths(cells: Sequence[str]) -> list[str]:
    """Whole percents beside tenths have their tenth too.

    >>> _with_tenths(["2.5 %", "2 %", "-"]), _with_tenths(["10 %", "2 %"])
    (['2.5 %', '2.0 %', '-'], ['10 %', '2 %'])
    """
    has_tenths = any(re.fullmatch(r"\d+\.\d %", cell) for cell in cells)
    return [re.sub(r"^(\d+) %$", r"\1.0 %", cell) if has_tenths else cell for cell in cells]


def kinds_table(plan: Plan) -> Table | None:
    """What is to be bought of every kind of label; None: there is gold alone."""
    if not plan.menu:
        return None
    total = plan.recommended.cost
    rows = tuple(
        (
            arm.arm,
            round(arm.count),
            round(arm.labels),
            Amount(offer.price, plan.currency),
            Amount(arm.cost, plan.currency),
            percent(arm.cost / total) if total else "0 %",
        )
        for offer, arm in zip(plan.menu, plan.recommended.arms, strict=True)
    )
    samples = plan.held.samples
    columns = ("who is asked", samples, "answers", f"price of a {plan.held.sample}", "cost", "share")
    return Table("What to buy", columns, rows)


def models_table(plan: Plan) -> Table | None:
    """The models that were compared, the chosen one first, with their cross-validated figures; None: it was named."""
    choice = plan.models
    if choice is None:
        return None
    models = (choice.chosen, *choice.others)
    is_forecast = any(model.forecast is not None for model in models)
    forecast = (forecast_heading(plan),) if is_forecast else ()
    columns = ("model", "error", "more than chosen", "given to wrong classes", *forecast)
    rows = []
    for model in models:
        gap = Measured(100 * model.difference, 100 * model.difference_se) if model is not choice.chosen else None
        level = None if model.forecast is None else in_units(model.forecast, plan.question.criterion)
        error, wrong = in_units(model.error, "error"), percent(model.wrong_probability, 1)
        rows.append((model.name, error, gap, wrong, *((level,) if is_forecast else ())))
    crossing = crossing_words(plan)
    crossing = f" {crossing[0].upper()}{crossing[1:]}." if crossing else ""
    rule = "the error and the probability given to wrong classes, added"
    how = f"for its forecast; by {rule}, {choice.others[0].name} is best" if choice.by_forecast else f"by {rule}"
    note = (
        f"Each of {choice.n_labels:,} labels was predicted by fits to four fifths of all; differences in points "
        f"with standard errors. Chosen {how}, in {choice.n_fits:,} fits.{crossing}"
    )
    return Table("Models compared on the pilot", columns, tuple(rows), note=note)


def show_lines(console: Console, lines: Iterable[str], headline: str = "") -> None:
    """Print sentences, a line each, below a headline where there is one."""
    if headline:
        console.print(Text(headline, style="bold"))
    for line in lines:
        console.print(Text(line))


def show_outcome(console: Console, outcome: Outcome) -> None:
    """Print a result: the story first, in sentences, and its tables after."""
    for paragraph in outcome.words:
        console.print(Text(paragraph))
        console.print()
    for table in outcome.tables:
        show_table(console, table)


def words(entry: Any) -> str:
    """A table entry as people read it.

    >>> words(0.0000123456), words(12345678), words(Measured(0.12346, 0.0042)), words(None)
    ('1.235e-05', '12,345,678', '0.1235 ± 0.0042', '-')
    >>> words(Measured(-0.04, 4.0))
    '0.0 ± 4.0'
    """
    if entry is None:
        return "-"
    if isinstance(entry, Measured):
        return _measured(entry)
    if isinstance(entry, Amount):
        return money(entry.value, entry.currency) if entry.currency else words(entry.value)
    if isinstance(entry, bool | str):
        return str(entry)
    if isinstance(entry, int):
        return f"{entry:,}"
    return _number(float(entry))


def _is_figure(entry: Any) -> bool:
    return isinstance(entry, int | float | Measured | Amount) or (isinstance(entry, str) and entry.endswith(" %"))


def _number(value: float) -> str:
    if not math.isfinite(value):
        return "-"
    if abs(value) >= 10**_SIGNIFICANT:
        return f"{value:,.0f}" if abs(value) < 1e9 else f"{value:.{_SIGNIFICANT - 1}e}"
    return f"{value:,.{_SIGNIFICANT}g}"


def _measured(entry: Measured) -> str:
    """Two digits of the standard error, and the value to the same place."""
    value, error = entry.value, entry.standard_error
    if error is None or not math.isfinite(value):
        return _number(value)
    if not math.isfinite(error) or error <= 0:
        return f"{_number(value)} ± {_number(error)}"
    places = 1 - math.floor(math.log10(error))
    if not 0 <= places <= 7:
        return f"{_number(value)} ± {error:.2g}"
    # Zero has no sign.
    return f"{round(value, places) + 0.0:.{places}f} ± {error:.{places}f}"
