"""Figures, weak directions and tables as plain values, the same for labeled fractions and for policies."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np

from labelworth.fisher.identifiability import WeakDirection


def plain_figures(
    figures: Mapping[str, float | None],
    standard_errors: Mapping[str, float | None],
    weak_directions: tuple[WeakDirection, ...] | None,
) -> dict[str, Any]:
    """Ready for JSON; a sampled figure ``x`` stands beside ``x_se``."""
    values: dict[str, Any] = {}
    for name, figure in figures.items():
        values[name] = figure
        if name in standard_errors:
            values[f"{name}_se"] = standard_errors[name]
    values["weak_directions"] = None if weak_directions is None else [_plain(one) for one in weak_directions]
    return values


class PlainPoint(Protocol):
    """A row of a table."""

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""


class PointTable(Protocol):
    """What tables of labeled fractions and of policies have in common."""

    @property
    def points(self) -> Sequence[PlainPoint]:
        """The rows."""

    @property
    def n_samples(self) -> float:
        """n."""

    @property
    def method(self) -> str:
        """How the information was computed."""

    @property
    def reason(self) -> str:
        """Why so."""

    @property
    def notes(self) -> Sequence[str]:
        """What a reader should know."""


def plain_table(table: PointTable, **sizes: int) -> dict[str, Any]:
    """Ready for JSON, with the sizes of the model by name."""
    return {
        "method": table.method,
        "method_reason": table.reason,
        "n_samples": table.n_samples,
        **sizes,
        "notes": list(table.notes),
        "points": [point.to_dict() for point in table.points],
    }


def finite_or_none(value: float) -> float | None:
    """The figure; none where it is infinite or not known."""
    return float(value) if np.isfinite(value) else None


def _plain(direction: WeakDirection) -> dict[str, Any]:
    return {
        "relative_information": direction.relative_information,
        "parameters": list(direction.parameters),
        "weights": list(direction.weights),
    }
