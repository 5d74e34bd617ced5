"""Answers that can draw themselves on an axes of yours."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from labelworth.criteria.information_table import InformationTable
from labelworth.errors import InvalidInputError
from labelworth.report.figures import plot
from labelworth.studies.outcome import Curve, CurvesPanel, Scale

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_LABELS = {
    "total_variance": "expected squared error of the probabilities",
    "worst_direction": "variance in the worst direction",
    "excess_log_loss": "excess log-loss (nats per sample)",
    "excess_joint_log_loss": "excess joint log-loss (nats per sample)",
    "excess_marginal_log_loss": "excess marginal log-loss (nats per sample)",
    "log_volume": "log volume",
    "unlabeled_per_labeled_example": "unlabeled samples per labeled one",
    "unlabeled_per_label": "unlabeled samples per label",
}


@dataclass(frozen=True, eq=False)
class InformationDisplay:
    """One figure of an `InformationTable` over the labeled fraction.

    Attributes
    ----------
    table : InformationTable
        What `labelworth.information` answered.
    figure : str
        Which of its figures.
    """

    table: InformationTable
    figure: str = "excess_log_loss"

    def __post_init__(self) -> None:
        if self.figure not in _LABELS:
            raise InvalidInputError(f"There is no figure {self.figure!r}. Choose one of: {', '.join(_LABELS)}.")

    @classmethod
    def from_model(cls, model: Any, *, figure: str = "excess_log_loss", **options: Any) -> "InformationDisplay":
        """Ask `labelworth.information` and display the answer; `options` are its options."""
        from labelworth.criteria.table import information

        return cls(information(model, **options), figure)

    def panel(self) -> CurvesPanel:
        """The curve as a value, with a band of two standard errors where it was sampled."""
        points = sorted(
            (point for point in self.table.points if point.figures.get(self.figure) is not None),
            key=lambda point: point.labeled_fraction,
        )
        if not points:
            raise InvalidInputError(
                "No labeled fraction has this figure: the model is not identifiable at any of them."
            )
        fractions = np.array([point.labeled_fraction for point in points])
        values = np.array([point.figures[self.figure] for point in points], dtype=np.float64)
        spread = np.array([point.standard_errors.get(self.figure) or 0.0 for point in points])
        low, high = (values - 2 * spread, values + 2 * spread) if spread.any() else (None, None)
        scale: Scale = "log" if fractions[0] > 0 else "linear"
        title = f"{self.table.n_samples:,g} samples, by {self.table.method}"
        curve = Curve("", fractions, values, low, high)
        return CurvesPanel(title, "labeled fraction", _LABELS[self.figure], (curve,), x_scale=scale)

    def plot(self, ax: "Axes | None" = None) -> "Axes":
        """Draw on `ax`, or on a new figure; gives back the axes."""
        return plot(self.panel(), ax)
