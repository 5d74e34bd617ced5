"""Pictures from values: every kind of panel, drawn with matplotlib."""

import io
import math
from dataclasses import replace
from itertools import count
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Any

import numpy as np

from labelworth.data.files import atomic_write
from labelworth.errors import InvalidInputError
from labelworth.report.axis_style import (
    MARKERS,
    PALETTE,
    apart,
    color_of,
    error_bars,
    legend,
    padded,
    plain_ticks,
    round_levels,
    short,
)
from labelworth.report.values import (
    AxesPanel,
    BarsPanel,
    ComparisonPanel,
    Curve,
    CurvesPanel,
    FrontierPanel,
    Panel,
    Picture,
    SurfacePanel,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

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
_ROOM_FOR_NAMES = 56
"""Characters beside each other below an axis."""
_MOST_BREAKS = 2
"""In a name below a bar; bars with longer names, or words that touch each other, lie, and have them beside."""
_FORMATS = ("png", "svg")
_SHADE = "#8a8f98"
_MARGIN = 0.045
"""As a share of an axis: closer to an edge a contour has no label."""


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
        for number, panel in enumerate(picture.panels, start=1):
            plot(panel, figure.add_subplot(n_rows, n_columns, number))
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
    elif isinstance(panel, FrontierPanel):
        _plot_frontier(panel, ax)
    elif isinstance(panel, BarsPanel):
        _plot_bars(panel, ax)
    else:
        panel.draw(ax)
    if isinstance(panel, AxesPanel):
        ax.set_xlabel(panel.x_label)
        ax.set_ylabel(panel.y_label)
    ax.set_title(panel.title)
    return ax


def _plot_curves(panel: CurvesPanel, ax: "Axes") -> None:
    ax.set_xscale(panel.x_scale)
    ax.set_yscale(panel.y_scale)
    for number, curve in _numbered(panel.curves):
        _plot_curve(curve, ax, number)
    if panel.x_scale == "log":
        plain_ticks(ax.xaxis, np.concatenate([curve.x for curve in panel.curves]))
    if panel.y_scale == "log":
        plain_ticks(ax.yaxis, np.array(round_levels(*ax.get_ylim())))
    legend(ax)


def _plot_curve(curve: Curve, ax: "Axes", number: int) -> None:
    color, marker = color_of(curve, number), MARKERS[number % len(MARKERS)]
    if curve.style == "points":
        ax.errorbar(
            curve.x,
            curve.y,
            yerr=error_bars(curve),
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
    lines = ax.contour(panel.x, panel.y, values, levels=round_levels(low, high), colors="#222222", linewidths=0.8)
    for label in ax.clabel(lines, fmt=short, fontsize=8):
        label.set_bbox({"facecolor": "white", "edgecolor": "none", "alpha": 0.75, "pad": 1.0})
        # At an edge it would be cut off; the color bar tells the level, too.
        label.set_visible(_is_inside(ax, label.get_position()))
    ax.grid(False)
    if panel.x_scale == "log":
        plain_ticks(ax.xaxis, panel.x)
    if panel.y_scale == "log":
        plain_ticks(ax.yaxis, panel.y)
    bar = ax.figure.colorbar(filled, ax=ax, label=panel.value_label)
    bar.set_ticks(round_levels(low, high), labels=[short(level) for level in round_levels(low, high)])
    bar.ax.minorticks_off()


def _is_inside(ax: "Axes", position: tuple[float, float]) -> bool:
    """Whether a label there has room: not at an edge of the axes."""
    return all(_MARGIN < share < 1 - _MARGIN for share in (ax.transScale + ax.transLimits).transform(position))


def _plot_comparison(panel: ComparisonPanel, ax: "Axes") -> None:
    ax.set_xscale(panel.scale)
    ax.set_yscale(panel.scale)
    edges = [
        [group.x, group.y, *(edge for edge in (group.low, group.high) if edge is not None)] for group in panel.groups
    ]
    everything = np.concatenate([values for group in edges for values in group])
    everything = everything[np.isfinite(everything)]
    low, high = padded(float(everything.min()), float(everything.max()), panel.scale)
    ax.plot([low, high], [low, high], color="#777777", linewidth=1.0, linestyle=":", label="agreement")
    for number, group in _numbered(panel.groups):
        _plot_curve(replace(group, style="points"), ax, number)
    ax.set_xlim(low, high)
    ax.set_ylim(low, high)
    if panel.scale == "log":
        for axis in (ax.xaxis, ax.yaxis):
            plain_ticks(axis, apart(round_levels(low, high)))
    legend(ax)


def _plot_bars(panel: BarsPanel, ax: "Axes") -> None:
    positions = np.arange(len(panel.categories), dtype=np.float64)
    width = 0.8 / len(panel.series)
    room = min(14, _ROOM_FOR_NAMES // len(positions))
    names = [fill(category, room, break_long_words=False) for category in panel.categories]
    lines = [name.split("\n") for name in names]
    is_crowded = (
        max(map(len, lines)) > 1 + _MOST_BREAKS or max(len(line) for own in lines for line in own) > 1.4 * room
    )
    lies = panel.y_scale == "linear" and is_crowded
    for number, series in _numbered(panel.series):
        offset = (number - (len(panel.series) - 1) / 2) * width
        if panel.y_scale == "log":
            # A logarithmic axis has no zero for bars to stand on.
            _plot_curve(replace(series, x=positions + offset, style="points"), ax, number)
            continue
        draw, spread = (ax.barh, "xerr") if lies else (ax.bar, "yerr")
        errors: dict[str, Any] = {spread: error_bars(series)}
        draw(
            positions + offset,
            series.y,
            width * 0.92,
            color=color_of(series, number),
            error_kw={"elinewidth": 1.0, "capsize": 2.5},
            label=series.label or None,
            **errors,
        )
    if lies:
        ax.set_yticks(positions, panel.categories)
        ax.invert_yaxis()
        ax.grid(False, axis="y")
        ax.set_xlabel(panel.y_label)
        legend(ax)
        return
    ax.set_xticks(positions, names)
    ax.set_yscale(panel.y_scale)
    if panel.y_scale == "log":
        plain_ticks(ax.yaxis, np.array(round_levels(*ax.get_ylim())))
    ax.grid(False, axis="x")
    ax.set_ylabel(panel.y_label)
    legend(ax, below=0.06 + 0.05 * max(name.count("\n") + 1 for name in names))


def _plot_frontier(panel: FrontierPanel, ax: "Axes") -> None:
    """The cloud, its boundary as stairs (between two designs the cheaper one is to be had), and the shade below."""
    ax.set_xscale(panel.x_scale)
    ax.set_yscale(panel.y_scale)
    for index, group in enumerate(panel.cloud):
        # The boundary has the first color of the palette; markers are those of the other panels.
        number = index + 1 if group.color is None else group.color
        color, marker = color_of(group, number), MARKERS[index % len(MARKERS)]
        if not len(group.x):  # Nothing that the legend could tell of.
            continue
        ax.plot(group.x, group.y, marker, color=color, markersize=4.5, alpha=0.85, label=group.label or None)
    ax.step(panel.boundary_x, panel.boundary_y, where="post", color=PALETTE[0], label="nothing better")
    if panel.recommended is not None:
        chosen = panel.recommended
        ax.plot(
            chosen.x,
            chosen.y,
            "*",
            color=PALETTE[1],
            markersize=14,
            markeredgecolor="white",
            label=chosen.label or None,
        )
    low, high = ax.get_ylim()
    left, right = ax.get_xlim()
    stairs = np.concatenate([[left], panel.boundary_x, [right]])
    heights = np.concatenate([[high], panel.boundary_y, panel.boundary_y[-1:]])
    ax.fill_between(
        stairs, heights, low, step="post", color=_SHADE, alpha=0.22, linewidth=0, label="unachievable", zorder=0
    )
    ax.set_xlim(left, right)
    ax.set_ylim(low, high)
    if panel.y_scale == "log":
        plain_ticks(ax.yaxis, np.array(round_levels(low, high)))
    if panel.x_scale == "log":
        plain_ticks(ax.xaxis, np.array(round_levels(left, right)))
    legend(ax)


def _numbered(curves: tuple[Curve, ...]) -> list[tuple[int, Curve]]:
    fresh = count()
    return [(next(fresh) if curve.color is None else curve.color, curve) for curve in curves]
