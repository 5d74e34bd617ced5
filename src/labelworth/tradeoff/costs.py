"""What samples cost: prices per label, token, sequence and unlabeled sample."""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from labelworth.arrays import FloatArray, as_floats, require_shape
from labelworth.data.lengths import LengthDistribution
from labelworth.errors import InvalidInputError
from labelworth.policies.catalog import RandomTokens
from labelworth.policies.rule import Rule
from labelworth.policies.spec import parse_rule

CostFunction = Callable[[Mapping[str, float], float], float]
"""A user's cost of (policy, n): the share of every arm, by name, and the number of samples."""

_ROUNDING = 1e-12


class Costs(ABC):
    """Counts of samples per arm -> money."""

    arms: tuple[str, ...]

    @property
    def apart(self) -> FloatArray:
        """(n_arms,): Of arms whose samples are not of the pool, how many there are; infinite for all others."""
        return np.full(len(self.arms), np.inf)

    def of_pool(self, counts: FloatArray) -> float:
        """Samples of the pool among these counts."""
        return float(counts[np.isinf(self.apart)].sum())

    def fit(self, counts: FloatArray, pool: float) -> bool:
        """Whether there are so many samples."""
        is_there = bool((counts <= self.apart * (1 + _ROUNDING)).all())
        return is_there and float(counts.min()) >= 0 and self.of_pool(counts) <= pool * (1 + _ROUNDING)

    def is_empty(self, pool: float) -> bool:
        """Whether there is no sample left."""
        return pool < 1 and not (np.isfinite(self.apart) & (self.apart >= 1)).any()

    def longest(self, step: FloatArray, pool: float) -> float:
        """How many times a step there are samples for."""
        drawn, is_used = self.of_pool(step), step > 0
        of_pool = pool / drawn if drawn > 0 else np.inf
        return float((self.apart[is_used] / step[is_used]).min(initial=of_pool))

    @abstractmethod
    def cost(self, counts: FloatArray) -> float:
        """What these counts cost, the fixed part included."""

    def is_free(self, arm: str, pool: float) -> bool:
        """Whether samples of an arm cost nothing."""
        unit = np.eye(len(self.arms))[self.arms.index(arm)]
        return self.cost(pool * unit) == self.cost(0 * unit)

    def next_price(self, counts: FloatArray, arm: int) -> float:
        """Of one more sample of an arm, once these are had."""
        return self.cost(counts + np.eye(len(self.arms))[arm]) - self.cost(counts)

    def most(self, pool: float) -> float:
        """What all of the pool costs by the most expensive arm, with all samples that are not of the pool."""
        is_apart = np.isfinite(self.apart)
        others = np.where(is_apart, self.apart, 0.0)
        units = np.eye(len(self.arms))[~is_apart]
        return max((self.cost(pool * unit + others) for unit in units), default=self.cost(others))


@dataclass(frozen=True, eq=False)
class ArmPrices(Costs):
    """The price of one sample of every arm: cost = fixed + sum of counts times prices."""

    arms: tuple[str, ...]
    per_sample: FloatArray  # (n_arms,): Expected over the lengths and over what a rule draws.
    fixed: float = 0.0  # Paid whatever is labeled.
    stock: FloatArray | None = None  # What `apart` says; None: all samples are of the pool.

    def __post_init__(self) -> None:
        prices = as_floats("The prices of the arms", self.per_sample, ndim=1)
        require_shape("The prices of the arms", prices, (len(self.arms),))
        if prices.size and float(prices.min()) < 0:
            raise InvalidInputError(f"Prices must be non-negative. Got {prices.min():g} for one sample of an arm.")
        if not prices.any():
            raise InvalidInputError(
                f"Every arm ({', '.join(self.arms)}) is free, so costs decide nothing. Give labels, tokens, "
                "sequences or unlabeled samples a price."
            )
        _require_price("fixed", self.fixed)
        object.__setattr__(self, "per_sample", prices)

    @property
    def apart(self) -> FloatArray:
        return super().apart if self.stock is None else self.stock

    def some(self, chosen: Sequence[int]) -> "ArmPrices":
        """Of some arms alone."""
        own = list(chosen)
        names = tuple(self.arms[index] for index in own)
        return ArmPrices(names, self.per_sample[own], self.fixed, self.apart[own])

    def cost(self, counts: FloatArray) -> float:
        """Fixed + sum of counts times prices."""
        return float(self.fixed + self.per_sample @ counts)

    def is_free(self, arm: str, pool: float) -> bool:
        """Whether its price is zero."""
        return bool(self.per_sample[self.arms.index(arm)] == 0)

    def next_price(self, counts: FloatArray, arm: int) -> float:
        """The price of the arm, whatever there is."""
        return float(self.per_sample[arm])


@dataclass(frozen=True)
class Prices:
    r"""What annotation costs.

    One sample of length m, under a rule that labels the positions S, costs

    .. math::

        c = \begin{cases}
            per\_label\,|S| + per\_token\, m + per\_sequence & S \neq \emptyset \\
            per\_unlabeled & S = \emptyset \end{cases}

    and an arm's price is the expectation of that over lengths and over S.

    Examples
    --------
    >>> Prices(per_label=0.5, per_token=0.01, per_sequence=0.2).of_rules(
    ...     ["everything", "window:5", "nothing"], LengthDistribution.single(20)
    ... ).per_sample
    array([10.4,  2.9,  0. ])
    """

    per_label: float = 1.0  # Of one label.
    per_token: float = 0.0  # Of reading one token: all of a sequence in which something is labeled have to be read.
    per_sequence: float = 0.0  # Of one sequence or document in which something is labeled: having it and opening it.
    per_unlabeled: float = 0.0  # Of having a sample of which nothing is labeled.
    fixed: float = 0.0  # Paid once, whatever is labeled.

    def __post_init__(self) -> None:
        for price in fields(self):
            _require_price(price.name, getattr(self, price.name))
        if not (self.per_label or self.per_token or self.per_sequence or self.per_unlabeled):
            raise InvalidInputError(
                "All prices are zero: a budget would say nothing. Give labels, tokens, sequences or unlabeled "
                "samples a price."
            )

    def of_rules(self, rules: Sequence["Rule | str"], lengths: LengthDistribution) -> ArmPrices:
        """The price of one sequence under every rule."""
        read = [rule if isinstance(rule, Rule) else parse_rule(rule) for rule in rules]
        prices = [sum(share * self._of_length(rule, m) for m, share in lengths.items()) for rule in read]
        return ArmPrices(tuple(rule.spec for rule in read), np.array(prices), self.fixed)

    def _of_length(self, rule: Rule, length: int) -> float:
        opened = _opening_probability(rule, length)
        labeled = self.per_token * length + self.per_sequence
        return self.per_label * rule.expected_labels(length) + opened * labeled + (1 - opened) * self.per_unlabeled


def _opening_probability(rule: Rule, length: int) -> float:
    """How often the rule labels anything in a sequence of that length."""
    if isinstance(rule, RandomTokens):
        return float(-np.expm1(length * np.log1p(-rule.probability))) if rule.probability < 1 else 1.0
    return float(sum(share for share, mask in rule.outcomes(length) if mask.any()))


def is_finite_number(value: Any) -> bool:
    """Whether a value is a number, not a truth value, and of a size that a float can hold."""
    if isinstance(value, bool) or not isinstance(value, int | float | np.floating | np.integer):
        return False
    try:
        return math.isfinite(value)
    except OverflowError:
        return False


def _require_price(name: str, value: float) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float | np.floating | np.integer):
        raise InvalidInputError(f"{name} must be a number. Got {shown(value)} instead.")
    if not (is_finite_number(value) and value >= 0):
        raise InvalidInputError(f"{name} must be a non-negative number. Got {shown(value)} instead.")


def shown(value: Any) -> str:
    """As it was given, or its size where that would fill the screen."""
    return repr(value) if is_finite_number(value) or not isinstance(value, int) else "an integer beyond 1e308"
