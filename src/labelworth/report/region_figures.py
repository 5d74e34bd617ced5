"""Panels of regions: what is achievable at which cost, and how figures spread."""

from typing import TYPE_CHECKING

import numpy as np

from labelworth.report.axis_style import MARKERS, PALETTE, color_of, legend, plain_ticks, round_levels
from labelworth.report.values import BoxesPanel, FrontierPanel

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_SHADE = "#8a8f98"


def plot_frontier(panel: FrontierPanel, ax: "Axes") -> None:
    """The cloud, its boundary as stairs (between two designs the cheaper one is to be had), and the shade below."""
    ax.set_xscale(panel.x_scale)
    ax.set_yscale(panel.y_scale)
    for place, group in enumerate(panel.cloud):
        # The boundary has the first color of the palette; markers are those of the other panels.
        number = place + 1 if group.color is None else group.color
        color, marker = color_of(group, number), MARKERS[place % len(MARKERS)]
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
    ax.set_xlabel(panel.x_label)
    ax.set_ylabel(panel.y_label)
    legend(ax)


def plot_boxes(panel: BoxesPanel, ax: "Axes") -> None:
    """A box per category."""
    ax.boxplot(
        list(panel.values),
        whis=(5.0, 95.0),
        tick_labels=list(panel.categories),
        patch_artist=True,
        boxprops={"facecolor": PALETTE[5], "edgecolor": PALETTE[0]},
        medianprops={"color": PALETTE[1], "linewidth": 2.0},
        flierprops={"marker": ".", "markersize": 4.0, "markeredgecolor": _SHADE},
    )
    if panel.level is not None:
        ax.axhline(panel.level, color=_SHADE, linewidth=1.0, linestyle=":")
    ax.grid(False, axis="x")
    ax.set_xlabel(panel.x_label)
    ax.set_ylabel(panel.y_label)
