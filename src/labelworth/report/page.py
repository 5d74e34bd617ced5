"""The page of a plan: one file that opens offline, with pictures, a control that moves through plans, and tables."""

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from importlib import resources
from pathlib import Path
from string import Template
from typing import Any

from labelworth.data.files import atomic_write
from labelworth.planning.answer import Check, Plan
from labelworth.planning.units import apart, in_units, target_words
from labelworth.planning.words import next_samples
from labelworth.report.page_data import page_data
from labelworth.report.tables import kinds_table, models_table, words
from labelworth.simulation.metrics import is_metric
from labelworth.tradeoff.direction import direction_of
from labelworth.tradeoff.problem import in_percent
from labelworth.wording import count, money, number, percent

_CAPTIONS = {
    "frontier": (
        "Cost against $figure",
        "Upwards: $error. Each dot is a way to go on; on the line nothing is both cheaper and better.",
    ),
    "surface": (
        "Samples and labeled fraction",
        "Shade: $error. It is the same along a contour: there labels trade for unlabeled samples.",
    ),
    "forecast": (
        "Forecast",
        "Upwards: $error after so many labels, with its 90 % interval$beside; the dotted line is the plan.",
    ),
    "worth": (
        "What the next labels are worth",
        "Upwards: by how much the next $count $verb the $error$points, after so many labels$between; the dotted line "
        "is the plan.",
    ),
}
_STATE_WORDS = {"good": "Good", "warning": "Warning", "bad": "Bad", "unknown": "Not known"}


def write_page(plan: Plan, path: Path, provenance: Mapping[str, Any]) -> Path:
    """Write the page of `plan`, whole or not at all.

    Parameters
    ----------
    plan : Plan
    path : path
        Of an HTML file.
    provenance : mapping
        What the plan's record carries beside the plan: what was asked, seed, versions, digest of the data.
    """
    atomic_write(path, page(plan, provenance).encode())
    return path


def page(plan: Plan, provenance: Mapping[str, Any]) -> str:
    """The page of `plan` as one HTML text that refers to nothing outside of itself."""
    from plotly.offline import get_plotlyjs

    data = page_data(plan)
    parts = resources.files("labelworth.report") / "page_parts"
    return Template((parts / "page.html").read_text()).substitute(
        title=escape(_title(plan)),
        style=(parts / "page.css").read_text(),
        answer=_paragraphs(plan.lines()) + _design_table(plan) + _models(plan),
        figures="\n".join(
            _figure(name, plan) if data[name] is not None else _absent(name, plan) for name in _CAPTIONS
        ),
        checks="\n".join(_check(check) for check in plan.checks) + _paragraphs(plan.notes),
        provenance=_definitions(provenance),
        # "</" would end the script element, wherever it stands.
        data=json.dumps(data, allow_nan=False).replace("</", "<\\/"),
        plotly=get_plotlyjs(),
        script=(parts / "page.js").read_text(),
    )


def _title(plan: Plan) -> str:
    question = plan.question
    if question.problem == "target":
        return f"Plan for {target_words(question.value, question.criterion)}"
    per = plan.criterion_words if is_metric(question.criterion) else "error"
    asked = {"budget": "a budget of", "alpha": f"a price per unit of {per} of"}
    return f"Plan for {asked[question.problem]} {_cost(plan, question.value)}"


def _figure_name(plan: Plan) -> str:
    """What the upward axis is, in a word or two."""
    return plan.criterion_words if is_metric(plan.question.criterion) else "error"


def _figure(name: str, plan: Plan) -> str:
    title = Template(_CAPTIONS[name][0]).substitute(figure=_figure_name(plan))
    caption = Template(_CAPTIONS[name][1]).substitute(
        error=plan.criterion_words,
        beside=_beside(plan),
        count=count(next_samples(plan), "label"),
        points=", in points" if in_percent(plan.question.criterion) else "",
        verb=direction_of(plan.question.criterion).verb,
        between=_between(plan),
    )
    if name == "surface" and plan.surface is not None and plan.surface.words:
        caption += f" {plan.surface.words}"
    tables = {
        "frontier": _frontier_table,
        "surface": _surface_table,
        "forecast": _forecast_table,
        "worth": _worth_table,
    }
    table = tables[name](plan)
    return (
        f'<figure id="{name}"><h2>{escape(title)}</h2>'
        f'<div class="chart" id="{name}-chart" role="img" aria-label="{escape(f"{title}. {caption}")}"></div>'
        f"<figcaption>{escape(caption)}</figcaption>{table}</figure>"
    )


def _absent(name: str, plan: Plan) -> str:
    """Why there is no surface; other pictures without data are left out."""
    if name != "surface":
        return ""
    why = (
        "Kinds of labels take the place of the labeled fraction: see the first picture."
        if plan.menu
        else f"This plan learns from labels alone: {plan.held.samples} without a label do not count; the forecast "
        "says it all."
        if plan.held.kind == "documents"
        else "Sequences are labeled by rules, which take the place of the labeled fraction: see the first picture."
    )
    return f'<figure id="{name}"><h2>{escape(_CAPTIONS[name][0])}</h2><p>{escape(why)}</p></figure>'


def _beside(plan: Plan) -> str:
    """What stands beside the forecast."""
    curve = plan.forecast
    if curve is None or plan.source == "asymptotic":
        return ""
    named = [
        words
        for words, there in (
            ("a plain power law through the pilot", curve.power_law),
            ("the formulas moved to the level of the pilot", curve.asymptotic),
        )
        if there
    ]
    return f"; beside it {' and '.join(named)}" if named else ""


def _between(plan: Plan) -> str:
    """What the band around the worth of labels is, if there is one."""
    curve = plan.forecast
    if curve is None or all(low is None for low in curve.gain_low):
        return ""
    return ", with its 90 % interval: where that reaches zero, the forecast cannot tell it apart from nothing"


def _design_table(plan: Plan) -> str:
    if plan.advice != "label":
        # What the forecast says to buy, nothing or too much, is not what is to be bought.
        return ""
    bought = kinds_table(plan)
    if bought is not None:
        return _table(bought.columns, [tuple(map(words, row)) for row in bought.rows])
    arms = plan.recommended.arms
    rows = [(_arm(plan, arm.arm), number(arm.count), number(arm.labels), _cost(plan, arm.cost)) for arm in arms]
    return _table((_arms(plan), plan.held.samples, "labels", "cost"), rows)


def _arms(plan: Plan) -> str:
    """What ways of labeling are called at the head of a column."""
    return "way" if plan.held.kind == "documents" else "rule"


def _arm(plan: Plan, arm: str) -> str:
    """Documents are labeled or not; of sequences a rule says which part."""
    named = {"everything": "with a label", "nothing": "without a label"}
    return named.get(arm, arm) if plan.held.kind == "documents" else arm


def _models(plan: Plan) -> str:
    """The models that were compared, where one was chosen."""
    compared = models_table(plan)
    if compared is None:
        return ""
    rows = [tuple(map(words, row)) for row in compared.rows]
    return f"<p>{escape(compared.note)}</p>{_table(compared.columns, rows)}"


def _frontier_table(plan: Plan) -> str:
    best = sorted((point for point in plan.frontier if point.dominated_by is None), key=lambda point: point.cost)
    rows = [
        (
            point.name,
            number(point.labels),
            _cost(plan, plan.held.cost + point.cost),
            _error(plan, point.error),
        )
        for point in best
    ]
    return _folded(_table(("design", "labels", "cost in all", _figure_name(plan)), rows))


def _forecast_table(plan: Plan) -> str:
    if plan.forecast is None:
        return ""
    curve = plan.forecast
    columns = {
        "labels in all": [number(labels) for labels in curve.labels],
        "forecast": [_error(plan, error) for error in curve.error],
        "90 % interval": [_between_words(plan, low, high) for low, high in zip(curve.low, curve.high, strict=True)],
        "power law": [_error(plan, error) for error in curve.power_law],
        "formulas": [_error(plan, error) for error in curve.asymptotic],
    }
    there = {head: cells for head, cells in columns.items() if cells}
    return _folded(_table(tuple(there), zip(*there.values(), strict=True)))


def _surface_table(plan: Plan) -> str:
    """Every fourth line and column of the surface."""
    if plan.surface is None:
        return ""
    drawn, every = plan.surface, slice(None, None, -4)
    sizes = drawn.n_samples[every][::-1]
    rows = [
        (percent(fraction, 2), *(_error(plan, error) for error in errors[every][::-1]))
        for fraction, errors in zip(drawn.labeled_fractions[every], drawn.error[every], strict=True)
    ]
    return _folded(_table(("labeled", *(f"{size:,.0f} samples" for size in sizes)), rows))


def _worth_table(plan: Plan) -> str:
    """Of the next samples, once the plan is carried out."""
    n_next, criterion = next_samples(plan), plan.question.criterion
    rows = [
        (
            _arm(plan, worth.arm),
            apart(worth.next_gain, criterion) if worth.next_gain > 0 else "nothing",
            _cost(plan, worth.price),
            "-" if worth.unlabeled_samples is None else number(math.ceil(n_next * worth.unlabeled_samples)),
        )
        for worth in plan.worth
    ]
    heads = (_arms(plan), f"gain of the next {count(n_next, plan.held.sample)}", "price of one", "in unlabeled ones")
    return _folded(_table(heads, rows))


def _error(plan: Plan, error: float | None) -> str:
    return in_units(error, plan.question.criterion)


def _cost(plan: Plan, cost: float) -> str:
    return money(cost, plan.currency)


def _between_words(plan: Plan, low: float | None, high: float | None) -> str:
    first, last = direction_of(plan.question.criterion).ends(low, high)
    return f"{_error(plan, first)} to {_error(plan, last)}"


def _check(check: Check) -> str:
    state = escape(_STATE_WORDS[check.state])
    return f'<div class="check {check.state}"><p><strong>{state}: {escape(check.name)}</strong></p>' + (
        f"<p>{escape(check.words)}</p></div>"
    )


def _paragraphs(lines: Iterable[str]) -> str:
    return "\n".join(f"<p>{escape(line)}</p>" for line in lines)


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    head = "".join(f'<th scope="col">{escape(title)}</th>' for title in heads)
    body = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    return (
        f'<div class="scroll" tabindex="0"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'
    )


def _folded(table: str) -> str:
    return f"<details><summary>As a table</summary>{table}</details>"


def _definitions(entries: Mapping[str, Any]) -> str:
    def shown(value: Any) -> str:
        return value if isinstance(value, str) else json.dumps(value, default=str)

    items = "".join(f"<dt>{escape(name)}</dt><dd>{escape(shown(value))}</dd>" for name, value in entries.items())
    return f"<dl>{items}</dl>"
