"""What commands print and reports draw: figures, words, tables and pictures, as values without a drawing library."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from labelworth.arrays import FloatArray
from labelworth.errors import InvalidInputError

Scale = Literal["linear", "log"]


@dataclass(frozen=True)
class Amount:
    """Money."""

    value: float | None
    currency: str  # Stands before it; empty: nothing does.


@dataclass(frozen=True)
class Measured:
    """A figure with its standard error, for a table."""

    value: float
    standard_error: float | None = None


@dataclass(frozen=True)
class Table:
    """Rows under column titles; an entry is text, a number or a `Measured`."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    note: str = ""

    def __post_init__(self) -> None:
        wrong = [row for row in self.rows if len(row) != len(self.columns)]
        if wrong:
            raise InvalidInputError(
                f"A row of {self.title!r} must have {len(self.columns)} entries. Got {wrong[0]!r}."
            )


@dataclass(frozen=True)
class Curve:
    """One line or cloud of points, with a band or error bars where `low` and `high` are given.

    A curve without a label stays out of the legend.
    """

    label: str
    x: FloatArray
    y: FloatArray
    low: FloatArray | None = None
    high: FloatArray | None = None
    style: Literal["line", "dashed", "points"] = "line"
    color: int | None = None
    """Which color of the palette; None: the next one. Curves that belong together share one."""
    shade: float | None = None
    """Instead of a color of the palette one of a row from dark (0) to light (1), for curves in an order."""


@dataclass(frozen=True)
class AxesPanel:
    """What panels over two axes have in common."""

    title: str
    x_label: str
    y_label: str


@dataclass(frozen=True)
class CurvesPanel(AxesPanel):
    """Curves over one axis."""

    curves: tuple[Curve, ...]
    x_scale: Scale = "linear"
    y_scale: Scale = "linear"


@dataclass(frozen=True)
class SurfacePanel(AxesPanel):
    """A positive figure over a grid, as filled contours on a logarithmic scale.

    `values` has shape (len(y), len(x)); NaN is left blank.
    """

    value_label: str
    x: FloatArray
    y: FloatArray
    values: FloatArray
    x_scale: Scale = "log"
    y_scale: Scale = "log"


@dataclass(frozen=True)
class ComparisonPanel(AxesPanel):
    """Predicted against realized, with the diagonal where they agree."""

    groups: tuple[Curve, ...]
    scale: Scale = "linear"


@dataclass(frozen=True)
class BarsPanel:
    """Groups of bars with error bars: one group per category, one bar per series (its y over the categories)."""

    title: str
    y_label: str
    categories: tuple[str, ...]
    series: tuple[Curve, ...]
    y_scale: Scale = "linear"


@dataclass(frozen=True)
class FrontierPanel(AxesPanel):
    """Ways to spend, as points of (cost, error): the cloud, its undominated boundary, what lies beyond it shaded."""

    cloud: tuple[Curve, ...]  # Achievable points, in groups.
    boundary_x: FloatArray  # The undominated points by rising cost.
    boundary_y: FloatArray
    recommended: Curve | None = None  # Points to mark.
    x_scale: Scale = "linear"
    y_scale: Scale = "log"


class OwnPanel(ABC):
    """A panel that draws itself, where none of the others will do."""

    title: str

    @abstractmethod
    def draw(self, ax: Any) -> None:
        """On matplotlib's axes."""


Panel = CurvesPanel | SurfacePanel | ComparisonPanel | BarsPanel | FrontierPanel | OwnPanel


@dataclass(frozen=True)
class Picture:
    """Panels under one title."""

    title: str
    panels: tuple[Panel, ...]
    n_columns: int = 2


@dataclass(frozen=True)
class Outcome:
    """What a study found."""

    # JSON values for the record; a sampled figure ``x`` stands beside its standard error ``x_se``.
    figures: Mapping[str, Any]
    words: tuple[str, ...] = ()  # The findings in plain words, a paragraph each.
    tables: tuple[Table, ...] = ()  # For people; pictures by the name of their file.
    pictures: Mapping[str, Picture] = field(default_factory=dict)
    grid: Table | None = None  # What the pictures are drawn from, a row per point, for a CSV file.
