"""Pictures: the only file that knows matplotlib. What is drawn comes as values from `studies.outcome`."""

import io
import math
from itertools import count
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Any

import numpy as np

from labelworth.arrays import FloatArray
from labelworth.data.files import atomic_write
from labelworth.errors import InvalidInputError
from labelworth.studies.outcome import (
    BarsPanel,
    ComparisonPanel,
    Curve,
    CurvesPanel,
    Panel,
    Picture,
    Scale,
    SurfacePanel,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure

# Okabe and Ito's palette: told apart with every common color vision, and in gray.
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
_MARKERS = ("o", "s", "^", "D", "v", "P", "X")
_STYLE: Any = {
    "font.size": 9.5,
    "axes.titlesize": 10.5,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#d9d9d9",
    "grid.linewidth": 0.6,
    "legend.frameon": False,
    "legend.fontsize": 8.5,
    "lines.linewidth": 1.8,
    "lines.markersize": 5.0,
    "figure.dpi": 150,
    "svg.fonttype": "none",
    # A fixed salt: the same picture is the same file.
    "svg.hashsalt": "labelworth",
}
_PANEL_SIZE = (5.4, 4.3)
_FORMATS = ("png", "svg")
_LEAST_RATIO = 1.3


def save_picture(picture: Picture, path: Path) -> Path:
    """Draw `picture` into a PNG or SVG file, by the ending of its name; whole or not at all."""
    kind = picture_format(path)
    from matplotlib import rc_context

    with rc_context(_STYLE):
        stream = io.BytesIO()
        # Without dates in the file, the same figures give the same bytes.
        metadata = {"Software": None} if kind == "png" else {"Date": None}
        draw(picture).savefig(stream, format=kind, metadata=metadata)
    atomic_write(path, stream.getvalue())
    return path


def picture_format(path: Path) -> str:
    """The format of a picture by the ending of its name; an error if it is not one we write."""
    kind = path.suffix.removeprefix(".").lower()
    if kind not in _FORMATS:
        raise InvalidInputError(f"A picture is written as .png or .svg. Got {path.name!r}; name another file.")
    return kind


def draw(picture: Picture) -> "Figure":
    """Draw `picture` on a figure of its own, without touching the global state of pyplot."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    n_columns = min(picture.n_columns, len(picture.panels))
    n_rows = math.ceil(len(picture.panels) / n_columns)
    with rc_context(_STYLE):
        width, height = _PANEL_SIZE
        layout = ConstrainedLayoutEngine(w_pad=0.12, h_pad=0.12)
        figure = Figure(figsize=(width * n_columns, height * n_rows + 0.4), layout=layout)
        figure.suptitle(picture.title, fontsize=13, fontweight="bold", x=0.01, ha="left")
        for place, panel in enumerate(picture.panels, start=1):
            plot(panel, figure.add_subplot(n_rows, n_columns, place))
    return figure


def plot(panel: Panel, ax: "Axes | None" = None) -> "Axes":
    """Draw one panel on `ax`, or on a new figure."""
    if ax is None:
        from matplotlib.figure import Figure

        ax = Figure(figsize=_PANEL_SIZE, layout="constrained").add_subplot()
    if isinstance(panel, CurvesPanel):
        _plot_curves(panel, ax)
    elif isinstance(panel, SurfacePanel):
        _plot_surface(panel, ax)
    elif isinstance(panel, ComparisonPanel):
        _plot_comparison(panel, ax)
    else:
        _plot_bars(panel, ax)
    ax.set_title(panel.title)
    return ax


def _plot_curves(panel: CurvesPanel, ax: "Axes") -> None:
    ax.set_xscale(panel.x_scale)
    ax.set_yscale(panel.y_scale)
    for place, curve in _numbered(panel.curves):
        _plot_curve(curve, ax, place)
    if panel.x_scale == "log":
        _plain_ticks(ax.xaxis, np.concatenate([curve.x for curve in panel.curves]))
    if panel.y_scale == "log":
        _plain_ticks(ax.yaxis, np.array(_round_levels(*ax.get_ylim())))
    ax.set_xlabel(panel.x_label)
    ax.set_ylabel(panel.y_label)
    _legend(ax)


def _plot_curve(curve: Curve, ax: "Axes", place: int) -> None:
    color, marker = PALETTE[place % len(PALETTE)], _MARKERS[place % len(_MARKERS)]
    if curve.style == "points":
        ax.errorbar(
            curve.x,
            curve.y,
            yerr=_bars(curve),
            fmt=marker,
            color=color,
            capsize=2.5,
            elinewidth=1.0,
            label=curve.label or None,
        )
        return
    dashes = "--" if curve.style == "dashed" else "-"
    ax.plot(curve.x, curve.y, dashes, color=color, label=curve.label or None)
    if curve.low is not None and curve.high is not None:
        ax.fill_between(curve.x, curve.low, curve.high, color=color, alpha=0.18, linewidth=0)


def _plot_surface(panel: SurfacePanel, ax: "Axes") -> None:
    from matplotlib.colors import LogNorm

    values = np.ma.masked_invalid(panel.values)
    low, high = float(values.min()), float(values.max())
    if not 0 < low < high:
        raise InvalidInputError(f"A surface needs positive figures that differ. Got {low:g} to {high:g}.")
    ax.set_xscale(panel.x_scale)
    ax.set_yscale(panel.y_scale)
    fill = np.geomspace(low, high, 25)
    filled = ax.contourf(panel.x, panel.y, values, levels=fill, norm=LogNorm(low, high), cmap="YlGnBu")
    lines = ax.contour(panel.x, panel.y, values, levels=_round_levels(low, high), colors="#222222", linewidths=0.8)
    labels = ax.clabel(lines, fmt=_short, fontsize=8)
    for label in labels:
        label.set_bbox({"facecolor": "white", "edgecolor": "none", "alpha": 0.75, "pad": 1.0})
    ax.grid(False)
    if panel.x_scale == "log":
        _plain_ticks(ax.xaxis, panel.x)
    if panel.y_scale == "log":
        _plain_ticks(ax.yaxis, panel.y)
    ax.set_xlabel(panel.x_label)
    ax.set_ylabel(panel.y_label)
    bar = ax.figure.colorbar(filled, ax=ax, label=panel.value_label)
    bar.set_ticks(_round_levels(low, high), labels=[_short(level) for level in _round_levels(low, high)])
    bar.ax.minorticks_off()


def _round_levels(low: float, high: float) -> list[float]:
    """Between three and nine round numbers inside (low, high)."""
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    for steps in ((1.0,), (1.0, 3.0), (1.0, 2.0, 5.0), tuple(range(1, 10)), tuple(np.arange(1.0, 10.0, 0.5))):
        levels = [step * 10.0**decade for decade in decades for step in steps if low < step * 10.0**decade < high]
        if len(levels) >= 3:
            return levels[:: math.ceil(len(levels) / 9)]
    return [float(level) for level in np.geomspace(low, high, 5)[1:-1]]


def _plot_comparison(panel: ComparisonPanel, ax: "Axes") -> None:
    ax.set_xscale(panel.scale)
    ax.set_yscale(panel.scale)
    edges = [
        [group.x, group.y, *(edge for edge in (group.low, group.high) if edge is not None)] for group in panel.groups
    ]
    everything = np.concatenate([values for group in edges for values in group])
    everything = everything[np.isfinite(everything)]
    low, high = _padded(float(everything.min()), float(everything.max()), panel.scale)
    ax.plot([low, high], [low, high], color="#777777", linewidth=1.0, linestyle=":", label="agreement")
    for place, group in _numbered(panel.groups):
        color, marker = PALETTE[place % len(PALETTE)], _MARKERS[place % len(_MARKERS)]
        ax.errorbar(
            group.x,
            group.y,
            yerr=_bars(group),
            fmt=marker,
            color=color,
            capsize=2.5,
            elinewidth=1.0,
            label=group.label or None,
        )
    ax.set_xlim(low, high)
    ax.set_ylim(low, high)
    if panel.scale == "log":
        for axis in (ax.xaxis, ax.yaxis):
            _plain_ticks(axis, _apart(_round_levels(low, high)))
    ax.set_xlabel(panel.x_label)
    ax.set_ylabel(panel.y_label)
    _legend(ax)


def _plot_bars(panel: BarsPanel, ax: "Axes") -> None:
    places = np.arange(len(panel.categories))
    width = 0.8 / len(panel.series)
    for place, series in _numbered(panel.series):
        offset = (place - (len(panel.series) - 1) / 2) * width
        ax.bar(
            places + offset,
            series.y,
            width * 0.92,
            yerr=_bars(series),
            color=PALETTE[place % len(PALETTE)],
            error_kw={"elinewidth": 1.0, "capsize": 2.5},
            label=series.label or None,
        )
    ax.set_xticks(places, [fill(category, 14, break_long_words=False) for category in panel.categories])
    ax.grid(False, axis="x")
    ax.set_ylabel(panel.y_label)
    _legend(ax)


def _numbered(curves: tuple[Curve, ...]) -> list[tuple[int, Curve]]:
    fresh = count()
    return [(next(fresh) if curve.color is None else curve.color, curve) for curve in curves]


def _bars(curve: Curve) -> FloatArray | None:
    if curve.low is None or curve.high is None:
        return None
    return np.stack([curve.y - curve.low, curve.high - curve.y])


def _legend(ax: "Axes") -> None:
    """Below the axes, where it hides no data, unless there is nothing to tell apart."""
    handles, labels = ax.get_legend_handles_labels()
    if len(labels) > 1:
        n_columns = 1 if max(map(len, labels)) > 34 else 2
        ax.legend(handles, labels, loc="upper center", bbox_to_anchor=(0.5, -0.16), ncols=n_columns)


def _padded(low: float, high: float, scale: Scale) -> tuple[float, float]:
    if scale == "log":
        margin = (high / low) ** 0.06 if high > low else 1.1
        return low / margin, high * margin
    margin = 0.06 * (high - low) or 0.05 * abs(high) or 1.0
    return low - margin, high + margin


def _plain_ticks(axis: "Axis", values: FloatArray) -> None:
    """Label a logarithmic axis with plain numbers: the values themselves where they are few, else 1, 2, 5, 10."""
    from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, NullLocator

    distinct = np.unique(values)
    few = len(distinct) <= 10
    steps = (1.0, 2.0, 5.0) if distinct[-1] < 200 * distinct[0] else (1.0, 3.0)
    axis.set_major_locator(FixedLocator(distinct.tolist()) if few else LogLocator(subs=steps))
    axis.set_major_formatter(FuncFormatter(lambda value, _: _short(value)))
    axis.set_minor_locator(NullLocator())


def _apart(levels: list[float]) -> FloatArray:
    """Those of rising levels whose labels have room beside each other on a logarithmic axis."""
    kept = levels[:1]
    for level in levels[1:]:
        if level >= _LEAST_RATIO * kept[-1]:
            kept.append(level)
    return np.array(kept)


def _short(value: float) -> str:
    return f"{value:,.0f}" if value >= 1000 else f"{value:.3g}"
