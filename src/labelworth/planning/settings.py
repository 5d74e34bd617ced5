"""What a plan is asked for beside the question: checked before anything is read or fitted."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

import numpy as np

from labelworth.errors import InvalidInputError
from labelworth.planning.source import AskedSource, UseUnlabeled
from labelworth.tradeoff.costs import CostFunction, Prices

GivenPrices = Prices | Mapping[str, float] | CostFunction | None
"""Prices as people give them."""


@dataclass(frozen=True, eq=False)
class PlanSettings:
    """Arguments of `labelworth.plan` of the same names; `prices` and `checkpoint` as they were read."""

    prices: Prices | CostFunction
    criterion: str | None
    source: AskedSource
    rules: Sequence[Any] | str | None
    use_unlabeled: UseUnlabeled
    n_draws: int
    seed: int
    checkpoint: Path | None
    max_time: float | None  # Minutes.

    @classmethod
    def of(
        cls,
        *,
        prices: GivenPrices = None,
        criterion: str | None = None,
        source: AskedSource = "auto",
        rules: Sequence[Any] | str | None = None,
        use_unlabeled: UseUnlabeled = "auto",
        n_draws: int = 0,
        seed: Any = 0,
        checkpoint: str | Path | None = None,
        max_time: float | None = None,
    ) -> "PlanSettings":
        """Read them.

        Raises
        ------
        InvalidInputError
            If one is invalid.
        """
        if use_unlabeled not in get_args(UseUnlabeled):
            raise InvalidInputError(f"use_unlabeled must be auto, yes or no. Got {use_unlabeled!r}.")
        if source not in get_args(AskedSource):
            raise InvalidInputError(f"source must be one of {', '.join(get_args(AskedSource))}. Got {source!r}.")
        if not isinstance(seed, int | np.integer) or seed < 0:
            raise InvalidInputError(f"seed must be a whole number of at least 0. Got {seed!r}.")
        if max_time is not None and not max_time > 0:
            raise InvalidInputError(f"max_time must be a positive number of minutes. Got {max_time!r}.")
        folder = None if checkpoint is None else Path(checkpoint)
        return cls(
            _read_prices(prices), criterion, source, rules, use_unlabeled, n_draws, int(seed), folder, max_time
        )

    @property
    def price_list(self) -> Prices:
        """Prices per sample; the usual ones where a function says what samples cost."""
        return self.prices if isinstance(self.prices, Prices) else Prices()


def _read_prices(prices: GivenPrices) -> Prices | CostFunction:
    """Prices, their names with numbers, or a function; a label costs one unit of money when absent."""
    if prices is None:
        return Prices()
    if isinstance(prices, Prices) or callable(prices):
        return prices
    try:
        return Prices(**prices)
    except TypeError as error:
        known = ", ".join(Prices.__dataclass_fields__)
        raise InvalidInputError(f"prices are named {known}, or a function of (policy, n). Got {prices!r}.") from error
