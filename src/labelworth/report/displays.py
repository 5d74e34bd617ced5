"""Answers that can draw themselves on an axes of yours."""

import os
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from labelworth.arrays import FloatArray
from labelworth.criteria.table import EXCHANGE_RATES, InformationPoint, InformationTable
from labelworth.errors import InvalidInputError
from labelworth.estimators.answered import FittedAnnotators
from labelworth.fisher.criteria import CRITERIA
from labelworth.planning.answer import Plan
from labelworth.planning.landscape import FrontierDesign, Surface
from labelworth.report.annotator_panels import AccuracyPanel, ConfusionPanel, everybody
from labelworth.report.figures import plot, save_picture
from labelworth.report.values import (
    BarsPanel,
    Curve,
    CurvesPanel,
    FrontierPanel,
    Panel,
    Picture,
    Scale,
    SurfacePanel,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_FEW = 5
_LABELS = {name: criterion.words for name, criterion in CRITERIA.items()} | dict(EXCHANGE_RATES)


class _Display(ABC):
    """What has a panel can be drawn."""

    @abstractmethod
    def panel(self) -> Panel:
        """The picture as a value."""

    def plot(self, ax: "Axes | None" = None) -> "Axes":
        """Draw on `ax`, or on a new figure; gives back the axes."""
        return plot(self.panel(), ax)


@dataclass(frozen=True, eq=False)
class _FigureDisplay(_Display):
    """One figure of what `labelworth.information` answered."""

    table: InformationTable
    figure: str = "excess_log_loss"

    def __post_init__(self) -> None:
        if self.figure not in _LABELS:
            raise InvalidInputError(f"There is no figure {self.figure!r}. Choose one of: {', '.join(_LABELS)}.")

    def _points(self) -> list[InformationPoint]:
        """Those that have the figure."""
        points = [point for point in self.table.points if point.figures.get(self.figure) is not None]
        if not points:
            asked = "policy" if self.table.is_of_sequences else "labeled fraction"
            raise InvalidInputError(f"No {asked} has this figure: the model is not identifiable under any.")
        return points

    def _curve(self, x: FloatArray, points: Sequence[InformationPoint]) -> Curve:
        """The figure over `x`, with two standard errors where it was sampled."""
        values = np.array([point.figures[self.figure] for point in points], dtype=np.float64)
        spread = 2 * np.array([point.standard_errors.get(self.figure) or 0.0 for point in points])
        return Curve("", x, values, *((values - spread, values + spread) if spread.any() else ()))


@dataclass(frozen=True, eq=False)
class InformationDisplay(_FigureDisplay):
    """One figure of an `InformationTable` over the labeled fraction.

    Attributes
    ----------
    table : InformationTable
        What `labelworth.information` answered.
    figure : str
        Which of its figures.
    """

    @classmethod
    def from_model(cls, model: Any, *, figure: str = "excess_log_loss", **options: Any) -> "InformationDisplay":
        """Ask `labelworth.information` and display the answer; `options` are its options."""
        from labelworth.criteria.information import document_information

        return cls(document_information(model, **options), figure)

    def panel(self) -> CurvesPanel:
        """The curve as a value, with a band of two standard errors where it was sampled."""
        points = sorted(self._points(), key=lambda point: point.labeled_fraction)
        fractions = np.array([point.labeled_fraction for point in points])
        scale: Scale = "log" if fractions[0] > 0 else "linear"
        title = f"{self.table.n_samples:,g} samples, by {self.table.method}"
        curve = self._curve(fractions, points)
        return CurvesPanel(title, "labeled fraction", _LABELS[self.figure], (curve,), x_scale=scale)


@dataclass(frozen=True, eq=False)
class FrontierDisplay(_Display):
    """Cost against error: every way to go on, the undominated ones, and what no way achieves."""

    points: tuple[FrontierDesign, ...]
    error_words: str = "error"  # What the error is.
    recommended: tuple[float, float] | None = None  # The plan, if there is one.

    @classmethod
    def from_plan(cls, plan: Plan) -> "FrontierDisplay":
        """The ways to go on that a plan chose from, and the one it recommends."""
        return cls(plan.frontier, plan.criterion_words, (plan.recommended.cost, plan.recommended.error))

    def panel(self) -> FrontierPanel:
        drawn = [point for point in self.points if np.isfinite(point.error)]
        best = sorted((point for point in drawn if point.dominated_by is None), key=lambda point: point.cost)
        if not best:
            raise InvalidInputError("No design identifies the model, so there is no frontier to draw.")
        others = [point for point in drawn if point.dominated_by is not None]
        cloud = Curve("achievable", *_arrays(others), color=6)
        mark = None
        if self.recommended is not None:
            cost, error = self.recommended
            mark = Curve("recommended", np.array([cost]), np.array([error]))
        scale: Scale = "log" if min(point.error for point in drawn) > 0 else "linear"
        return FrontierPanel("Frontier", "cost", self.error_words, (cloud,), *_arrays(best), mark, y_scale=scale)


@dataclass(frozen=True, eq=False)
class RiskSurfaceDisplay(_Display):
    """The error over (samples, labeled fraction), as contours."""

    surface: Surface
    error_words: str = "error"

    @classmethod
    def from_plan(cls, plan: Plan) -> "RiskSurfaceDisplay":
        """Of a plan for documents."""
        if plan.surface is None:
            raise InvalidInputError("This plan has no surface: it is for sequences, where policies take its place.")
        return cls(plan.surface, plan.criterion_words)

    def panel(self) -> SurfacePanel:
        surface = self.surface
        values = np.array(surface.error, dtype=np.float64)
        x, y = np.array(surface.n_samples), np.array(surface.labeled_fractions)
        return SurfacePanel(
            "What samples and labels buy", "samples", "labeled fraction", self.error_words, x, y, values
        )


@dataclass(frozen=True, eq=False)
class PolicyDisplay(_FigureDisplay):
    """One figure of several labeling policies, side by side, each with the labels it takes.

    Attributes
    ----------
    table : InformationTable
        What `labelworth.information` answered for a chain.
    figure : str
        Which of its figures.
    """

    def panel(self) -> BarsPanel:
        """The picture as a value; bars of two standard errors where figures were sampled."""
        points = self._points()
        names = tuple(f"{point.policy} ({point.expected_labels:.3g} labels)" for point in points)
        title = f"{self.table.n_samples:,g} sequences, by {self.table.method}"
        return BarsPanel(title, _LABELS[self.figure], names, (self._curve(np.arange(float(len(names))), points),))


@dataclass(frozen=True, eq=False)
class AnnotatorsDisplay(_Display):
    """Those who answered, as a fit found them: how good each is, and what they take for what.

    Attributes
    ----------
    annotators : FittedAnnotators
        ``annotators_`` of an estimator that was fitted to answers.

    Examples
    --------
    ``AnnotatorsDisplay.from_estimator(classifier).save("annotators.png")``
    """

    annotators: FittedAnnotators

    @classmethod
    def from_estimator(cls, estimator: Any) -> "AnnotatorsDisplay":
        """Of what was fitted to answers."""
        if not hasattr(estimator, "annotators_"):
            raise InvalidInputError("Nobody answered: fit with answers= first.")
        return cls(estimator.annotators_)

    def panel(self) -> AccuracyPanel:
        """Accuracies from the best to the worst, with two standard errors."""
        return AccuracyPanel(self.annotators)

    def picture(self) -> Picture:
        """Accuracies, and the table of all together; of up to five annotators the table of each."""
        people, classes = self.annotators, tuple(str(name) for name in self.annotators.classes)
        tables = [ConfusionPanel("Everybody together", everybody(people), classes)]
        if len(people) <= _FEW:
            order = np.argsort(-people.accuracies, kind="stable")
            tables = [ConfusionPanel(people.names[index], people.confusions[index], classes) for index in order]
        return Picture("Who means what", (self.panel(), *tables))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the picture: PNG, SVG or PDF, by the name."""
        save_picture(self.picture(), Path(path))


def _arrays(points: Sequence[FrontierDesign]) -> tuple[FloatArray, FloatArray]:
    return np.array([point.cost for point in points]), np.array([point.error for point in points])
