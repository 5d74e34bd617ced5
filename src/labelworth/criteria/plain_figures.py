"""Figures and weak directions as plain values, the same for labeled fractions and for policies."""

from collections.abc import Mapping
from typing import Any

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


def _plain(direction: WeakDirection) -> dict[str, Any]:
    return {
        "relative_information": direction.relative_information,
        "parameters": list(direction.parameters),
        "weights": list(direction.weights),
    }
