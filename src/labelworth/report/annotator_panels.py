"""Pictures of those who answer: how good each is, what they take for what, how far the outcome can be believed."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from labelworth.arrays import FloatArray
from labelworth.estimators.answered import FittedAnnotators
from labelworth.evaluation.calibration import Calibration
from labelworth.report.axis_style import PALETTE
from labelworth.report.values import OwnPanel

_NAMED = 30  # so many names are still readable beside each other
_WRITTEN = 6  # classes up to which every share is written into its field
_BESIDE = 40  # letters that stand beside each other below an axis
_SHORT = 22
_DOT = 40.0
_FEWEST = 10
_DARK = 0.55


@dataclass(frozen=True, eq=False)
class AccuracyPanel(OwnPanel):
    """Annotators from the best to the worst, with two standard errors; the more answers, the larger the dot."""

    annotators: FittedAnnotators
    title: str = "How often the true class is meant"

    def draw(self, ax: Any) -> None:
        people = self.annotators
        order = np.argsort(-people.accuracies, kind="stable")
        rank = np.arange(1, len(order) + 1)
        accuracies, errors = people.accuracies[order], 2 * people.accuracy_errors[order]
        # A share is no more than all and no less than nothing: bars end there.
        bars = np.stack([np.minimum(errors, accuracies), np.minimum(errors, 1 - accuracies)])
        ax.errorbar(rank, accuracies, yerr=bars, fmt="none", ecolor=PALETTE[5], elinewidth=1.2)
        largest = max(int(people.n_answers.max(initial=0)), 1)
        size = _DOT if len(order) <= _NAMED else _DOT / 4
        ax.scatter(rank, accuracies, s=size * (0.2 + people.n_answers[order] / largest), color=PALETTE[0], zorder=3)
        ax.set_ylim(0.0, 1.02)
        ax.set_ylabel("share of answers")
        if len(order) <= _NAMED:
            names = [_short(people.names[index]) for index in order]
            turned = {"rotation": 60, "ha": "right"} if sum(map(len, names)) > _BESIDE else {}
            ax.set_xticks(rank, names, **turned)
        else:
            ax.set_xlabel(f"{len(order)} annotators, the best first")


@dataclass(frozen=True, eq=False)
class ConfusionPanel(OwnPanel):
    """A table of what is meant where what is true, as shades."""

    title: str
    table: FloatArray  # (K, K): Rows are true, columns meant.
    classes: tuple[str, ...]

    def draw(self, ax: Any) -> None:
        ax.imshow(self.table, cmap="Blues", vmin=0.0, vmax=1.0, aspect="auto")
        names = [_short(name) for name in self.classes]
        size = 9 if len(names) <= _WRITTEN else 6
        ticks = np.arange(len(names))
        ax.set_xticks(ticks, names, rotation=60, ha="right", fontsize=size)
        ax.set_yticks(ticks, names, fontsize=size)
        ax.set_xlabel("meant")
        ax.set_ylabel("true")
        ax.grid(False)
        if len(names) > _WRITTEN:
            return
        for row, column in np.ndindex(*self.table.shape):
            share = self.table[row, column]
            color = "white" if share > _DARK else "black"
            ax.text(column, row, f"{100 * share:.0f}", ha="center", va="center", color=color)


@dataclass(frozen=True, eq=False)
class CalibrationPanel(OwnPanel):
    """How often the most probable class is right, over how sure it was said to be; the diagonal can be believed.

    Groups of fewer than ten rows are left out.
    """

    calibrations: dict[str, Calibration]  # By what they are called.
    title: str = "How far probabilities can be believed"

    def draw(self, ax: Any) -> None:
        ax.plot([0, 1], [0, 1], color="0.6", linewidth=1.0, linestyle=":")
        for number, (name, found) in enumerate(self.calibrations.items()):
            # A handful of rows says nothing, and its bars would hide the others.
            groups = [group for group in found.groups if group.n_rows >= _FEWEST]
            sure = [group.confidence for group in groups]
            right = [group.right for group in groups]
            spread = [2 * group.right_se for group in groups]
            ax.errorbar(sure, right, yerr=spread, marker="o", color=PALETTE[number % len(PALETTE)], label=name)
        ax.set_xlim(0.2, 1.02)
        ax.set_ylim(0.0, 1.02)
        ax.set_xlabel("said to be right with")
        ax.set_ylabel("right")
        ax.legend(loc="upper left", frameon=False)


def everybody(annotators: FittedAnnotators) -> FloatArray:
    """The table of all together, everyone counting their answers."""
    return np.asarray(np.average(annotators.confusions, axis=0, weights=np.maximum(annotators.n_answers, 1e-9)))


def _short(name: str) -> str:
    return name if len(name) <= _SHORT else name[: _SHORT - 1] + "…"
