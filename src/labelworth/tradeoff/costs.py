"""What samples cost: prices per label, token, sequence and unlabeled sample, or any function of the policy."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import partial
from typing import Any, Protocol

import numpy as np

from labelworth.arrays import FloatArray, as_floats, require_shape
from labelworth.data.lengths import LengthDistribution
from labelworth.errors import InvalidInputError
from labelworth.policies.catalog import RandomTokens
from labelworth.policies.rule import Rule
from labelworth.policies.spec import parse_rule

CostFunction = Callable[[Mapping[str, float], float], float]
"""A user's cost of (policy, n): the share of every arm, by name, and the number of samples."""


class Costs(Protocol):
    """Counts of samples per arm -> money."""

    @property
    def arms(self) -> tuple[str, ...]:
        """What the arms are called."""

    def cost(self, counts: FloatArray) -> float:
        """What these counts cost, the fixed part included."""


@dataclass(frozen=True, eq=False)
class ArmPrices:
    """The price of one sample of every arm: cost = fixed + sum of counts times prices.

    Attributes
    ----------
    arms : tuple of str
    per_sample : array of shape (n_arms,)
        Expected over the lengths and over what a rule draws.
    fixed : float
        Paid whatever is labeled.
    """

    arms: tuple[str, ...]
    per_sample: FloatArray
    fixed: float = 0.0

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

    def cost(self, counts: FloatArray) -> float:
        """Fixed + sum of counts times prices."""
        return float(self.fixed + self.per_sample @ counts)


@dataclass(frozen=True)
class Prices:
    r"""What annotation costs.

    One sample of length m, under a rule that labels the positions S, costs

    .. math::

        c = \begin{cases}
            per\_label\,|S| + per\_token\, m + per\_sequence & S \neq \emptyset \\
            per\_unlabeled & S = \emptyset \end{cases}

    and an arm's price is the expectation of that over lengths and over S.

    Attributes
    ----------
    per_label : float
        Of one label.
    per_token : float
        Of reading one token: all of a sequence in which something is labeled have to be read.
    per_sequence : float
        Of one sequence or document in which something is labeled: having it and opening it.
    per_unlabeled : float
        Of having a sample of which nothing is labeled.
    fixed : float
        Paid once, whatever is labeled.

    Examples
    --------
    >>> Prices(per_label=0.5, per_token=0.01, per_sequence=0.2).of_rules(
    ...     ["everything", "window:5", "nothing"], LengthDistribution.single(20)
    ... ).per_sample
    array([10.4,  2.9,  0. ])
    """

    per_label: float = 1.0
    per_token: float = 0.0
    per_sequence: float = 0.0
    per_unlabeled: float = 0.0
    fixed: float = 0.0

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

    def of_examples(self, tokens: float | None = None) -> ArmPrices:
        """Classification: a labeled example costs one label, its `tokens` on average, and its opening.

        Raises
        ------
        InvalidInputError
            If tokens have a price and their number is not given.
        """
        if self.per_token and tokens is None:
            raise InvalidInputError("per_token needs the lengths of the documents. Give their mean as tokens.")
        if tokens is not None:
            _require_price("tokens", tokens)
        labeled = self.per_label + self.per_token * (tokens or 0.0) + self.per_sequence
        return ArmPrices(("everything", "nothing"), np.array([labeled, self.per_unlabeled]), self.fixed)

    def of_arms(
        self,
        arms: Sequence[str],
        labels_per_sample: FloatArray,
        lengths: LengthDistribution | None = None,
    ) -> ArmPrices:
        """The price of one sample of every arm of an accuracy.

        Parameters
        ----------
        arms : sequence of str
            Specs of rules.
        labels_per_sample : array of shape (n_arms,)
        lengths : LengthDistribution, optional
            Needed where tokens have a price, or sequences have one and a rule leaves some without a label.
        """
        if lengths is not None:
            return self.of_rules(list(arms), lengths)
        labels = as_floats("labels_per_sample", labels_per_sample, ndim=1)
        opened = labels > 0
        sure = ("everything", "nothing", "every-other")
        unsure = [arm for arm in arms if arm not in sure and not arm.startswith("window:")]
        if self.per_token or ((self.per_sequence or self.per_unlabeled) and unsure):
            raise InvalidInputError(
                "These prices need the lengths of the sequences: tokens have a price, or it depends on the length "
                f"whether a sequence is opened at all ({', '.join(unsure) or 'no rule'}). Give lengths."
            )
        prices = np.where(opened, self.per_label * labels + self.per_sequence, self.per_unlabeled)
        return ArmPrices(tuple(arms), prices, self.fixed)

    def _of_length(self, rule: Rule, length: int) -> float:
        opened = _opening_probability(rule, length)
        labeled = self.per_token * length + self.per_sequence
        return self.per_label * rule.expected_labels(length) + opened * labeled + (1 - opened) * self.per_unlabeled


@dataclass(frozen=True, eq=False)
class PolicyCost:
    """A user's function of (policy, n); nothing is known of it, so optima have no certificate.

    Attributes
    ----------
    arms : tuple of str
    function : callable
        Takes the share of every arm, as ``{"everything": 0.2, "nothing": 0.8}``, and the number of samples.
    """

    arms: tuple[str, ...]
    function: CostFunction

    @property
    def name(self) -> str:
        """What the function is called."""
        inner = self.function
        while isinstance(inner, partial):
            inner = inner.func
        return str(getattr(inner, "__name__", type(inner).__name__))

    def cost(self, counts: FloatArray) -> float:
        """Ask the function.

        Raises
        ------
        InvalidInputError
            If it fails, or answers with something that is not a non-negative number.
        """
        n = float(np.sum(counts))
        policy = {arm: _share(float(count), n) for arm, count in zip(self.arms, counts, strict=True)}
        asked = f"{n:g} samples of {policy}"
        try:
            answer: Any = self.function(policy, n)
        except Exception as error:
            raise InvalidInputError(
                f"The cost function {self.name} failed for {asked}: {type(error).__name__}: {error}. It must answer "
                "for any shares of the rules and any number of samples."
            ) from error
        is_number = isinstance(answer, int | float | np.floating | np.integer) and not isinstance(answer, bool)
        if not (is_number and np.isfinite(answer) and answer >= 0):
            raise InvalidInputError(
                f"A cost must be a non-negative number. The cost function {self.name} gave {answer!r} for {asked}."
            )
        return float(answer)


def _share(count: float, n: float) -> float:
    """Count / n, moved by a last bit where share times n would not be the count again.

    Where no share gives the count, the product is a hair below: what is billed in steps is rounded up.
    """
    if n <= 0:
        return 0.0
    share = count / n
    below, above = math.nextafter(share, 0.0), math.nextafter(share, math.inf)
    return next((one for one in (share, above, below) if one * n == count), share if share * n < count else below)


def _opening_probability(rule: Rule, length: int) -> float:
    """How often the rule labels anything in a sequence of that length."""
    if isinstance(rule, RandomTokens):
        return float(-np.expm1(length * np.log1p(-rule.probability))) if rule.probability < 1 else 1.0
    return float(sum(share for share, mask in rule.outcomes(length) if mask.any()))


def _require_price(name: str, value: float) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float | np.floating | np.integer):
        raise InvalidInputError(f"{name} must be a number. Got {value!r} instead.")
    if not (np.isfinite(value) and value >= 0):
        raise InvalidInputError(f"{name} must be a non-negative number. Got {value!r} instead.")
