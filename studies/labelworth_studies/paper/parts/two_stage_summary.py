"""What the pilots of the two-stage study say of the total variance, and from which size on they can be trusted."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from labelworth.arrays import FloatArray
from labelworth.report.axis_style import PALETTE
from labelworth.report.values import Outcome, OwnPanel, Picture, Table
from labelworth_studies.runner.study import Cell, Result

_GRAY = "#8a8f98"
CLOSE = 0.05
SHARE = 0.9
"""A pilot size is trusted if this share of draws, at it and at all larger sizes, is within `CLOSE` of the truth."""
CRITERIA = {
    "total_variance": "squared probabilities",
    "excess_log_loss": "nats per post",
    "robust_variance": "squared probabilities",
}
"""What is plugged in, in which unit; told for one sample, and so divided by n for n of them."""


@dataclass(frozen=True, eq=False)
class PlugIn:
    """One criterion at one labeled fraction: what the pilots said, and the truth."""

    n_words: int
    criterion: str
    fraction: float
    n_samples: int  # n, of which the figures are.
    pilots: list[int]
    said: FloatArray  # (n_draws, n_pilots)
    truth: FloatArray  # (n_draws,)

    @property
    def unit(self) -> str:
        """What the figures are counted in."""
        return CRITERIA[self.criterion.removesuffix("_labels_only")]

    @property
    def differences(self) -> FloatArray:
        """Plug-in minus truth, (n_draws, n_pilots)."""
        return np.asarray(self.said - self.truth[:, None])

    @property
    def relative(self) -> FloatArray:
        """The same as shares of the truth."""
        return np.asarray(self.differences / self.truth[:, None])

    @property
    def shares_close(self) -> FloatArray:
        """The share of draws within 5 % of the truth, per pilot size."""
        return np.asarray((np.abs(self.relative) <= CLOSE).mean(axis=0))

    @property
    def trusted_from(self) -> int | None:
        """The least pilot size from which on it is within 5 % in nine draws of ten; None if there is none."""
        enough = self.shares_close >= SHARE
        for index in range(len(self.pilots)):
            if enough[index:].all():
                return self.pilots[index]
        return None


@dataclass(frozen=True)
class _Boxes(OwnPanel):
    """A box of figures per category: median, quartiles, whiskers at 5 and 95 percent, the rest as dots."""

    title: str
    x_label: str
    y_label: str
    categories: tuple[str, ...]
    values: tuple[FloatArray, ...]

    def draw(self, ax: Any) -> None:
        """With a line across at zero."""
        ax.boxplot(
            list(self.values),
            whis=(5.0, 95.0),
            tick_labels=list(self.categories),
            patch_artist=True,
            boxprops={"facecolor": PALETTE[5], "edgecolor": PALETTE[0]},
            medianprops={"color": PALETTE[1], "linewidth": 2.0},
            flierprops={"marker": ".", "markersize": 4.0, "markeredgecolor": _GRAY},
        )
        ax.axhline(0.0, color=_GRAY, linewidth=1.0, linestyle=":")
        ax.grid(False, axis="x")
        ax.set_xlabel(self.x_label)
        ax.set_ylabel(self.y_label)


def summarize(pairs: Sequence[tuple[Cell, Result]]) -> Outcome:
    """Boxes against pilot size, the spread, and the size from which it is within 5 %."""
    plug_ins = collected(pairs)
    return Outcome(
        figures={"plug_in": [_figures(plug_in) for plug_in in plug_ins]},
        words=tuple(_sentence(plug_in) for plug_in in plug_ins),
        tables=(_table(plug_ins),),
        pictures={"": _picture(plug_ins)},
        grid=_grid(plug_ins),
    )


def collected(pairs: Sequence[tuple[Cell, Result]]) -> list[PlugIn]:
    """All draws of a vocabulary and a criterion together; the labels alone beside them."""
    plug_ins = []
    for n_words in sorted({cell["n_words"] for cell, _ in pairs}):
        here = [(cell, result) for cell, result in pairs if cell["n_words"] == n_words]
        pilots = here[0][0]["pilots"]
        for fraction in sorted({value for cell, _ in here for value in cell["fractions"]}, reverse=True):
            for criterion in CRITERIA:
                draws = [(cell, result) for cell, result in here if _tells(cell, result, fraction, criterion)]
                if draws:
                    plug_ins.append(_plug_in(draws, n_words, pilots, fraction, criterion, "pilots"))
        for criterion in ("total_variance", "robust_variance"):
            plug_ins.append(_plug_in(here, n_words, pilots, 1.0, criterion, "labels_only"))
    return plug_ins


def _tells(cell: Cell, result: Result, fraction: float, criterion: str) -> bool:
    if fraction not in cell["fractions"] or criterion not in result["truth"]:
        return False
    return len(result["truth"][criterion]) >= -_index(cell, fraction)


def _index(cell: Cell, fraction: float) -> int:
    """Where a fraction stands, from the end: full labels come last in every list, and may be all there is."""
    index: int = cell["fractions"].index(fraction) - len(cell["fractions"])
    return index


def _plug_in(
    draws: Sequence[tuple[Cell, Result]], n_words: int, pilots: list[int], fraction: float, criterion: str, kind: str
) -> PlugIn:
    indices = [_index(cell, fraction) for cell, _ in draws]
    said = [
        [pilot[criterion][index] for pilot in result[kind]] for index, (_, result) in zip(indices, draws, strict=True)
    ]
    truth = [result["truth"][criterion][index] for index, (_, result) in zip(indices, draws, strict=True)]
    name = criterion if kind == "pilots" else f"{criterion}_labels_only"
    n_samples = draws[0][0]["n_samples"]
    return PlugIn(n_words, name, fraction, n_samples, pilots, np.array(said) / n_samples, np.array(truth) / n_samples)


def _figures(plug_in: PlugIn) -> dict[str, Any]:
    quartiles = np.quantile(plug_in.relative, (0.25, 0.5, 0.75), axis=0)
    return {
        "n_words": plug_in.n_words,
        "criterion": plug_in.criterion,
        "fraction": plug_in.fraction,
        "n_samples": plug_in.n_samples,
        "unit": plug_in.unit,
        "n_draws": len(plug_in.truth),
        "pilots": plug_in.pilots,
        "truth": float(plug_in.truth.mean()),
        "relative_median": quartiles[1].tolist(),
        "relative_quartiles": quartiles[[0, 2]].T.tolist(),
        "relative_interquartile_range": (quartiles[2] - quartiles[0]).tolist(),
        "share_within_5_percent": plug_in.shares_close.tolist(),
        "within_5_percent_from": plug_in.trusted_from,
    }


def _sentence(plug_in: PlugIn) -> str:
    medians = np.median(plug_in.relative, axis=0)
    size = plug_in.trusted_from
    trusted = f"from r = {size} on" if size is not None else "at no size looked at"
    return (
        f"{_title(plug_in)}: the median pilot is off by {medians[0]:+.0%} at r = {plug_in.pilots[0]} and by "
        f"{medians[-1]:+.1%} at r = {plug_in.pilots[-1]}; within 5 % in nine draws of ten {trusted}."
    )


def _title(plug_in: PlugIn) -> str:
    kind = plug_in.criterion.removesuffix("_labels_only").replace("log_loss", "log-loss").replace("_", " ")
    alone = plug_in.criterion.endswith("_labels_only")
    return f"{plug_in.n_words} words, {'labels alone' if alone else f'{plug_in.fraction:.0%} labeled'}, {kind}"


def _table(plug_ins: Sequence[PlugIn]) -> Table:
    rows = []
    for plug_in in plug_ins:
        quartiles = np.quantile(plug_in.relative, (0.25, 0.5, 0.75), axis=0)
        for index, size in enumerate(plug_in.pilots):
            spread = f"{quartiles[0, index]:+.1%} to {quartiles[2, index]:+.1%}"
            close = f"{plug_in.shares_close[index]:.0%}"
            rows.append((_title(plug_in), size, f"{quartiles[1, index]:+.1%}", spread, close))
    return Table(
        "Plug-in minus truth, relative",
        ("formula", "pilot", "median", "quartiles", "within 5 %"),
        tuple(rows),
        note="Truth: the formula at the parameters fitted with all labels, for as many samples; the robust one also "
        "at all rows instead of those of the pilot.",
    )


def _picture(plug_ins: Sequence[PlugIn]) -> Picture:
    panels = tuple(
        _Boxes(
            _title(plug_in),
            "pilot size r",
            f"plug-in minus truth, {plug_in.unit}",
            tuple(str(size) for size in plug_in.pilots),
            tuple(plug_in.differences.T),
        )
        for plug_in in plug_ins
    )
    title = f"20 Newsgroups: what a pilot says of the error of n = {plug_ins[0].n_samples} posts"
    return Picture(title, panels, n_columns=2)


def _grid(plug_ins: Sequence[PlugIn]) -> Table:
    rows = [
        (
            plug_in.n_words,
            plug_in.criterion,
            plug_in.fraction,
            size,
            draw,
            float(plug_in.said[draw, index]),
            float(plug_in.truth[draw]),
        )
        for plug_in in plug_ins
        for index, size in enumerate(plug_in.pilots)
        for draw in range(len(plug_in.truth))
    ]
    return Table("plug-in", ("n_words", "criterion", "fraction", "pilot", "draw", "plug_in", "truth"), tuple(rows))
