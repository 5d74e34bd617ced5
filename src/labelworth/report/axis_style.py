"""How every picture looks: colors, ticks, legends."""

import math
from typing import TYPE_CHECKING

import numpy as np

from labelworth.arrays import FloatArray
from labelworth.report.values import Curve, Scale

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis

# Okabe and Ito's palette: told apart with every common color vision, and in gray.
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
_LEAST_RATIO = 1.3
_TOUCHING = 1.1
"""Values closer than that would have labels on top of each other."""
_DARK, _LIGHT = (8, 48, 107), (158, 202, 225)


def round_levels(low: float, high: float) -> list[float]:
    """Between three and nine round numbers inside (low, high)."""
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    for steps in ((1.0,), (1.0, 3.0), (1.0, 2.0, 5.0), tuple(range(1, 10)), tuple(np.arange(1.0, 10.0, 0.5))):
        levels = [step * 10.0**decade for decade in decades for step in steps if low < step * 10.0**decade < high]
        if len(levels) >= 3:
            return levels[:: math.ceil(len(levels) / 9)]
    return [float(level) for level in np.geomspace(low, high, 5)[1:-1]]


def color_of(curve: Curve, number: int) -> str:
    """The color of a curve: its shade where it has one, else that of the palette."""
    if curve.shade is None:
        return PALETTE[number % len(PALETTE)]
    mixed = [round(dark + curve.shade * (light - dark)) for dark, light in zip(_DARK, _LIGHT, strict=True)]
    return "#" + "".join(f"{part:02x}" for part in mixed)


def error_bars(curve: Curve) -> FloatArray | None:
    """How far down and up the bars of a curve reach, (2, n); None where it has none."""
    if curve.low is None or curve.high is None:
        return None
    return np.stack([curve.y - curve.low, curve.high - curve.y])


def legend(ax: "Axes", below: float = 0.16) -> None:
    """Below the axes, where it hides no data, unless there is nothing to tell apart."""
    handles, labels = ax.get_legend_handles_labels()
    if len(labels) > 1:
        n_columns = 1 if max(map(len, labels)) > 34 else 2
        ax.legend(handles, labels, loc="upper center", bbox_to_anchor=(0.5, -below), ncols=n_columns)


def padded(low: float, high: float, scale: Scale) -> tuple[float, float]:
    """Ends of an axis with some air around what is drawn."""
    if scale == "log":
        margin = (high / low) ** 0.06 if high > low else 1.1
        return low / margin, high * margin
    margin = 0.06 * (high - low) or 0.05 * abs(high) or 1.0
    return low - margin, high + margin


def plain_ticks(axis: "Axis", values: FloatArray) -> None:
    """Label a logarithmic axis with plain numbers: the values themselves where they are few, else 1, 2, 5, 10."""
    from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, NullLocator

    distinct = np.unique(values)
    few = len(distinct) <= 10
    steps = (1.0, 2.0, 5.0) if distinct[-1] < 200 * distinct[0] else (1.0, 3.0)
    shown = apart(distinct.tolist(), _TOUCHING)
    axis.set_major_locator(FixedLocator(shown.tolist()) if few else LogLocator(subs=steps))
    axis.set_major_formatter(FuncFormatter(lambda value, _: short(value)))
    axis.set_minor_locator(NullLocator())


def apart(levels: list[float], least_ratio: float = _LEAST_RATIO) -> FloatArray:
    """Those of rising levels whose labels have room beside each other on a logarithmic axis."""
    kept = levels[:1]
    for level in levels[1:]:
        if level >= least_ratio * kept[-1]:
            kept.append(level)
    return np.array(kept)


def short(value: float) -> str:
    """A number at an axis."""
    return f"{value:,.0f}" if value >= 1000 else f"{value:.3g}"
