"""What a plan is asked for beside the question; and which source its accuracy comes from, and why."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np

from labelworth.channels.arm import Together
from labelworth.channels.kinds import kinds_of, split_kinds
from labelworth.data.answers import Answers, as_answers
from labelworth.errors import InvalidInputError
from labelworth.estimators.pools.pool import Abilities
from labelworth.planning.targets import canonical
from labelworth.policies.choosing import RANDOM, By, Choosing
from labelworth.simulation.metrics import Metric, is_metric, metric_of
from labelworth.tradeoff.accuracy import Source
from labelworth.tradeoff.costs import CostFunction, Prices
from labelworth.wording import count

AskedSource = Literal["auto", "asymptotic", "simulated"]
UseUnlabeled = Literal["auto", "yes", "no"]
MEASURED = ("error", "log_loss")
"""Criteria that a simulation can forecast, beside metrics: what will be measured on held-out data."""
METRICS = ("macro_f1", "recall of CLASS at precision LEVEL", "precision of CLASS at recall LEVEL")
"""Metrics as messages name them."""
LABELS_PER_PARAMETER = 5.0
"""From this many labels per parameter on the formulas are trusted with levels, not only with ranks."""
GivenPrices = Prices | Mapping[str, float] | CostFunction | None
"""Prices as people give them."""


@dataclass(frozen=True, eq=False, kw_only=True)
class PlanSettings:
    """Arguments of `labelworth.plan` of the same names: checked before anything is read or fitted.

    Raises
    ------
    InvalidInputError
        If one is invalid.
    """

    prices: GivenPrices = None
    criterion: str | None = None
    source: AskedSource = "auto"
    rules: Sequence[Any] | str | None = None
    use_unlabeled: UseUnlabeled = "auto"
    n_draws: int = 0
    seed: Any = 0
    checkpoint: str | Path | None = None
    max_time: float | None = None  # Minutes.
    by: By = RANDOM  # By what rows to label may be chosen.
    currency: str = ""  # Stands before amounts of money; empty: nothing does.
    channels: Any = None  # Kinds of labels beside gold, as `labelworth.channels.kinds.kinds_of` takes them.
    answers: Answers | None = None  # What such kinds said already.
    together: tuple[Together, ...] = ()  # Which of them may be asked about one row; those among `channels` too.

    def __post_init__(self) -> None:
        if self.use_unlabeled not in get_args(UseUnlabeled):
            raise InvalidInputError(f"use_unlabeled must be auto, yes or no. Got {self.use_unlabeled!r}.")
        if self.source not in get_args(AskedSource):
            raise InvalidInputError(f"source must be one of {', '.join(get_args(AskedSource))}. Got {self.source!r}.")
        if not isinstance(self.seed, int | np.integer) or self.seed < 0:
            raise InvalidInputError(f"seed must be a whole number of at least 0. Got {self.seed!r}.")
        _ = Choosing(self.by)  # refused now
        if self.max_time is not None and not self.max_time > 0:
            raise InvalidInputError(f"max_time must be a positive number of minutes. Got {self.max_time!r}.")
        if any(sign.isdigit() or sign.isspace() for sign in self.currency):
            raise InvalidInputError(
                f"currency must be a sign or a code without digits or blanks, as EUR or $. Got {self.currency!r}."
            )
        object.__setattr__(self, "seed", int(self.seed))
        if self.criterion is not None:
            object.__setattr__(self, "criterion", canonical(self.criterion))
        if self.answers is not None:
            as_answers(self.answers)
            if not self.channels:
                raise InvalidInputError(
                    "Answers tell how often kinds of labels err: say with channels= which there are, and what they "
                    "cost."
                )
        if self.channels is not None:
            channels, together = split_kinds(kinds_of(self.channels))
            object.__setattr__(self, "channels", list(channels))
            object.__setattr__(self, "together", (*self.together, *together))
            if not isinstance(self.costs, Prices):
                raise InvalidInputError(
                    "A cost function knows nothing of kinds of labels: give prices= with per_label, that of gold, "
                    "and every channel its own."
                )
        _ = self.costs  # refused now, not when the model has been fitted

    @cached_property
    def costs(self) -> Prices | CostFunction:
        """Prices, or a function that says what samples cost; a label costs one unit of money when absent."""
        if self.prices is None:
            return Prices()
        if isinstance(self.prices, Prices) or callable(self.prices):
            return self.prices
        try:
            return Prices(**self.prices)
        except TypeError as error:
            known = ", ".join(Prices.__dataclass_fields__)
            raise InvalidInputError(
                f"prices are named {known}, or a function of (policy, n). Got {self.prices!r}."
            ) from error

    @property
    def n_answers(self) -> int:
        """That are held."""
        return 0 if self.answers is None else self.answers.n_answers

    @cached_property
    def paid_for_answers(self) -> float:
        """What the answers that are held have cost."""
        from labelworth.planning.kinds.guesses import paid_for

        return paid_for(self.answers, self.channels or ())

    @property
    def asks_formulas(self) -> bool:
        """Whether only the formulas give what was asked for."""
        return self.source == "asymptotic" or not (self.criterion is None or is_measured(self.criterion))

    @property
    def metrics(self) -> tuple[Metric, ...]:
        """What is to be simulated beside error and log-loss: the metric that was asked for, if one was."""
        metric = None if self.criterion is None else metric_of(self.criterion)
        return () if metric is None else (metric,)

    @property
    def price_list(self) -> Prices:
        """Prices per sample; the usual ones where a function says what samples cost."""
        return self.costs if isinstance(self.costs, Prices) else Prices()


@dataclass(frozen=True)
class ChosenSource:
    """Where figures come from."""

    source: Source
    criterion: str  # What "error" means.
    reason: str  # Why that source.

    @property
    def is_simulated(self) -> bool:
        return self.source == "simulated"


def is_measured(criterion: str | None) -> bool:
    """Whether a criterion is what will be measured on held-out data: simulations forecast it."""
    return criterion in MEASURED or is_metric(criterion)


def choose_source(
    asked: AskedSource,
    criterion: str | None,
    *,
    n_labels: int,
    n_parameters: int | None,
    abilities: Abilities,
    distrust: str | None = None,
) -> ChosenSource:
    """Pick by what was asked, labels per parameter, and the harm verdict.

    Parameters
    ----------
    asked : "auto", "asymptotic" or "simulated"
    criterion : str or None
        None: the share of wrong predictions; where the formulas are asked and do not give it, the excess log-loss.
    n_labels : int
    n_parameters : int or None
        None: not known, and there are no formulas.
    abilities : Abilities
        Of the pool: what the formulas can do, and whether held-out predictions are behind the verdict.
    distrust : str, optional
        Why the model is not taken for right, as formulas take it (`labelworth.planning.trust.verdict.Verdict`).

    Raises
    ------
    InvalidInputError
        If the source cannot give the criterion, or there is no such source or criterion.
    """
    by_formulas = abilities.formula_criteria
    _require_known(asked, criterion, by_formulas)
    can_be_measured = is_measured(criterion)
    if asked == "simulated" or n_parameters is None:
        reason = "asked for" if asked == "simulated" else "there are no formulas for such a classifier"
        return ChosenSource("simulated", criterion or "error", reason)
    if asked == "asymptotic" or (criterion is not None and not can_be_measured):
        is_large = n_parameters > abilities.most_parameters
        usual = "error" if "error" in by_formulas and not is_large else "excess_log_loss"
        reason = "asked for" if asked == "asymptotic" else f"{criterion} is a figure of the formulas"
        return ChosenSource("asymptotic", criterion or usual, reason)
    if can_be_measured and criterion not in by_formulas:
        metric = metric_of(str(criterion))
        what = criterion if metric is None else metric.words
        return ChosenSource("simulated", str(criterion), f"{what} is forecast by simulation")
    if distrust is not None and abilities.folds:
        return ChosenSource("simulated", criterion or "error", distrust)
    ratio = f"{n_labels / max(n_parameters, 1):.2g} labels per parameter"
    if n_parameters > abilities.most_parameters or n_labels < LABELS_PER_PARAMETER * n_parameters:
        return ChosenSource("simulated", criterion or "error", _too_few(n_labels, n_parameters))
    usual = "error" if "error" in by_formulas else "excess_log_loss"
    return ChosenSource("asymptotic", criterion or usual, ratio)


def _too_few(n_labels: int, n_parameters: int) -> str:
    return f"{count(n_labels, 'label')} for {count(n_parameters, 'parameter')} are too few for formulas"


def _require_known(asked: AskedSource, criterion: str | None, by_formulas: tuple[str, ...]) -> None:
    known = tuple(dict.fromkeys((*MEASURED, *by_formulas)))
    if criterion is not None and criterion not in known and not is_metric(criterion):
        raise InvalidInputError(f"criterion must be one of {', '.join((*known, *METRICS))}. Got {criterion!r}.")
    if asked == "asymptotic" and not by_formulas:
        raise InvalidInputError("There are no formulas for such a classifier. Leave source out, or take 'simulated'.")
    if asked == "asymptotic" and criterion is not None and criterion not in by_formulas:
        raise InvalidInputError(
            f"Of such data the formulas give no {criterion}; take source='simulated', or one of "
            f"{', '.join(by_formulas)}."
        )
    if asked == "simulated" and criterion is not None and not is_measured(criterion):
        raise InvalidInputError(
            f"{criterion} is a figure of the formulas; a simulation forecasts {', '.join((*MEASURED, *METRICS))}. "
            "Take source='asymptotic', or one of those."
        )
