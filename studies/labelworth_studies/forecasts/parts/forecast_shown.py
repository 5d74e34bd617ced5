"""Forecasts beside power laws, as tables and pictures show them."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from labelworth.report.values import ComparisonPanel, Curve, Measured
from labelworth_studies.forecasts.parts.forecast_scores import Score

COLUMNS = ("forecasts", "mean abs. error", "power law", "ratio", "bias", "coverage of 90 %")


def columns_of(figure: Mapping[str, Any]) -> tuple[Any, ...]:
    """The `COLUMNS` of what `summed_up` says."""
    return (
        figure["n_forecasts"],
        Measured(figure["mean_absolute_error"], figure["mean_absolute_error_se"]),
        Measured(figure["power_law"], figure["power_law_se"]),
        round(figure["ratio"], 3),
        figure["bias"],
        Measured(figure["coverage"], figure["coverage_se"]),
    )


def forecast_panel(title: str, scores: Sequence[Score]) -> ComparisonPanel:
    """Every forecast, and every power law's, over what came true."""
    realized = np.array([score.realized for score in scores])
    curves = (
        Curve("power law", realized, np.array([score.power_law for score in scores]), style="points", color=2),
        Curve("forecast", realized, np.array([score.forecast for score in scores]), style="points", color=0),
    )
    return ComparisonPanel(title, "realized error", "forecast error", curves)
