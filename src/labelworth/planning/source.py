"""Formulas or simulation: which accuracy a plan for documents is made from, and why."""

from dataclasses import dataclass
from typing import Any, Literal, get_args

from labelworth.errors import InvalidInputError
from labelworth.planning.documents import DOCUMENT_CRITERIA
from labelworth.planning.plug_in import MOST_PARAMETERS
from labelworth.tradeoff.accuracy import Source

AskedSource = Literal["auto", "asymptotic", "simulated"]
UseUnlabeled = Literal["auto", "yes", "no"]
MEASURED = ("error", "log_loss")
"""Criteria that a simulation can forecast: what will be measured on held-out data."""
LABELS_PER_PARAMETER = 5.0
"""From so many on the formulas are trusted with levels, not only with ranks."""


@dataclass(frozen=True)
class ChosenSource:
    """Where figures come from.

    Attributes
    ----------
    source : "asymptotic" or "simulated"
    criterion : str
        What "error" means.
    reason : str
        Why that source.
    """

    source: Source
    criterion: str
    reason: str


def choose_source(
    asked: AskedSource, criterion: str | None, *, n_labels: int, n_parameters: int, verdict: dict[str, Any]
) -> ChosenSource:
    """Pick by what was asked, labels per parameter, and the harm verdict.

    Parameters
    ----------
    asked : "auto", "asymptotic" or "simulated"
    criterion : str or None
        None: the share of wrong predictions; with more parameters than formulas take, the excess log-loss.
    n_labels, n_parameters : int
    verdict : dict
        The harm verdict's ``answer``: data that hurts shows that the model is wrong, and formulas take it for right.
    """
    if asked not in get_args(AskedSource):
        raise InvalidInputError(f"source must be one of {', '.join(get_args(AskedSource))}. Got {asked!r}.")
    if criterion is not None and criterion not in DOCUMENT_CRITERIA:
        raise InvalidInputError(f"criterion must be one of {', '.join(DOCUMENT_CRITERIA)}. Got {criterion!r}.")
    is_formula = criterion is not None and criterion not in MEASURED
    if asked == "simulated" and is_formula:
        raise InvalidInputError(
            f"{criterion} is a figure of the formulas; a simulation forecasts {' and '.join(MEASURED)}. Take "
            "source='asymptotic', or one of those."
        )
    many = is_large(n_parameters)
    if asked == "asymptotic" or (asked == "auto" and is_formula):
        usual = "excess_log_loss" if many else "error"
        reason = "asked for" if asked == "asymptotic" else f"{criterion} is a figure of the formulas"
        return ChosenSource("asymptotic", criterion or usual, reason)
    if asked == "simulated":
        return ChosenSource("simulated", criterion or "error", "asked for")
    ratio = n_labels / max(n_parameters, 1)
    if verdict["answer"] == "hurts":
        return ChosenSource("simulated", criterion or "error", "unlabeled data hurts, so the model is wrong")
    if too_few_labels(n_labels, n_parameters):
        words = f"{ratio:.2g} labels per parameter are too few for the formulas"
        return ChosenSource("simulated", criterion or "error", words)
    return ChosenSource("asymptotic", criterion or "error", f"{ratio:.2g} labels per parameter")


def is_large(n_parameters: int) -> bool:
    """Whether there are more parameters than matrices are formed for."""
    return n_parameters > MOST_PARAMETERS


def too_few_labels(n_labels: int, n_parameters: int) -> bool:
    """Whether formulas would rank plans, but not forecast levels."""
    return is_large(n_parameters) or n_labels < LABELS_PER_PARAMETER * n_parameters
