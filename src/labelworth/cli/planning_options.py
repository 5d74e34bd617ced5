"""Options that plans and frontiers share."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer


class FigureSource(StrEnum):
    """Where figures come from."""

    AUTO = "auto"
    ASYMPTOTIC = "asymptotic"
    SIMULATED = "simulated"


class Unlabeled(StrEnum):
    """Whether unlabeled data is learned from."""

    AUTO = "auto"
    YES = "yes"
    NO = "no"


PRICE_HOUR = 3600.0
"""Counts money in seconds."""
_PRICES = "Prices"
_PLAN = "The plan"

Criterion = Annotated[
    str | None,
    typer.Option(
        help="What error means: error, log_loss, excess_error, excess_log_loss, total_variance, ...; the share of "
        "wrong predictions unless named.",
        rich_help_panel=_PLAN,
    ),
]
Figures = Annotated[
    FigureSource,
    typer.Option("--source", help="Formulas, or simulated labels on the real pool.", rich_help_panel=_PLAN),
]
Rules = Annotated[
    str | None,
    typer.Option(
        help="For sequences: the menu of labeling rules, as everything,nothing,window:5.", rich_help_panel=_PLAN
    ),
]
Pool = Annotated[
    float | None,
    typer.Option(help="Samples that can still be had; those without a label unless given.", rich_help_panel=_PLAN),
]
UseUnlabeled = Annotated[
    Unlabeled,
    typer.Option("--use-unlabeled", help="auto: unless cross-validation says it hurts.", rich_help_panel=_PLAN),
]
Checkpoint = Annotated[
    Path | None,
    typer.Option(help="A folder for finished steps; the same command goes on from there.", rich_help_panel=_PLAN),
]
PerLabel = Annotated[float, typer.Option("--price-label", help="Of one label.", rich_help_panel=_PRICES)]
PerToken = Annotated[float, typer.Option("--price-token", help="Of reading one token.", rich_help_panel=_PRICES)]
PerSequence = Annotated[
    float, typer.Option("--price-sequence", help="Of opening one document or sequence.", rich_help_panel=_PRICES)
]
PerUnlabeled = Annotated[
    float, typer.Option("--price-unlabeled", help="Of having one unlabeled sample.", rich_help_panel=_PRICES)
]
Fixed = Annotated[float, typer.Option("--price-fixed", help="Paid once.", rich_help_panel=_PRICES)]
SecondsColumn = Annotated[
    str | None,
    typer.Option(
        help="A column that says how many seconds annotators took for a row: prices per label, token and sequence "
        "are estimated from it.",
        rich_help_panel=_PRICES,
    ),
]
PerHour = Annotated[
    float,
    typer.Option(
        "--price-hour",
        help="Of an hour of annotation, with --seconds-column; 3600 counts in seconds.",
        rich_help_panel=_PRICES,
    ),
]
Smoothing = Annotated[float, typer.Option(min=0.0, help="Smoothing of the counts.", rich_help_panel="The model")]
