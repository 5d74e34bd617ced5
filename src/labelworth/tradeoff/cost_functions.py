"""What samples cost by a user's function of (policy, n), with steps and discounts."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np

from labelworth.arrays import FloatArray
from labelworth.data.digest import bytes_digest
from labelworth.errors import InvalidInputError
from labelworth.tradeoff.costs import CostFunction, Costs, is_finite_number, shown

_N_SIZES = 400
"""Sizes at which a function is looked at before it is trusted to rise."""
_ROUNDING = 1e-9
_DIGITS = 12


@dataclass(frozen=True, eq=False)
class PolicyCost(Costs):
    """A user's function of (policy, n); nothing is known of it, so optima have no certificate."""

    arms: tuple[str, ...]
    # Takes the share of every arm, as ``{"everything": 0.2, "nothing": 0.8}``, and the number of samples.
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
        if not (is_finite_number(answer) and answer >= 0):
            raise InvalidInputError(
                f"A cost must be a non-negative number. The cost function {self.name} gave {shown(answer)} for "
                f"{asked}."
            )
        return float(answer)


@dataclass(frozen=True, eq=False)
class FurtherCost(Costs):
    r"""What more samples cost by a function f of (policy, n).

    .. math::

        cost(w) = f(held + w) - f(held)

    so that a discount or a step counts from what was already bought.
    """

    arms: tuple[str, ...]  # What can be had more of.
    in_all: PolicyCost  # The function, over the arms and over rules that are held or known, but not on offer.
    # (n_names,): Samples that were paid for, by the names of `in_all`; the first are those of the arms.
    held: FloatArray

    @classmethod
    def of(cls, function: CostFunction, arms: tuple[str, ...], held: dict[str, float], pool: float) -> "FurtherCost":
        """Ask the function about what is held, and see that it rises from there.

        Parameters
        ----------
        held : dict
            Samples by rule; may name rules that are not among the arms.
        pool : float
            How many more samples can be had.

        Raises
        ------
        InvalidInputError
            If it fails, answers with no cost, falls with more samples, or never rises.
        """
        names = (*arms, *(name for name in held if name not in arms))
        costs = cls(arms, PolicyCost(names, function), np.array([held.get(name, 0.0) for name in names]))
        costs._require_rising(pool)
        return costs

    @property
    def name(self) -> str:
        """What the function is called."""
        return self.in_all.name

    @cached_property
    def paid(self) -> float:
        """What the samples held have cost."""
        return self.in_all.cost(self.held)

    def cost(self, counts: FloatArray) -> float:
        """Of so many more samples of every arm."""
        samples = self.held.copy()
        samples[: len(self.arms)] += counts
        total = self.in_all.cost(samples)
        # Shares times n is a count but for its last bits: of the difference as many digits are kept as are meant.
        return round(total - self.paid, _DIGITS - math.ceil(math.log10(max(total, 1.0))))

    def is_free(self, arm: str, pool: float) -> bool:
        """Whether samples of an arm cost nothing beside others, as far as was looked."""
        index = self.arms.index(arm)
        for counts in self._looked_at(pool, n_sizes=9):
            counts[index] = 0.0
            more = counts.copy()
            more[index] = max(np.floor(pool) - counts.sum(), 1.0)
            if abs(self.cost(more) - self.cost(counts)) > _ROUNDING * max(self.paid, 1.0):
                return False
        return True

    def digest(self, pool: float) -> str:
        """What the function answers, as a digest: two of one name and one digest are taken for the same."""
        answers = np.array([self.paid, *(self.cost(counts) for counts in self._looked_at(pool, _N_SIZES))])
        return bytes_digest(answers.astype("<f8").tobytes())

    def _looked_at(self, pool: float, n_sizes: int) -> Iterator[FloatArray]:
        """More and more samples of every arm by itself."""
        for index in range(len(self.arms)):
            for size in _whole_sizes(pool, n_sizes):
                counts = np.zeros(len(self.arms))
                counts[index] = size
                yield counts

    def _require_rising(self, pool: float) -> None:
        sizes, rises = _whole_sizes(pool, _N_SIZES), False
        costs = [self.cost(counts) for counts in self._looked_at(pool, _N_SIZES)]
        for index, arm in enumerate(self.arms):
            own = np.array(costs[index * len(sizes) : (index + 1) * len(sizes)])
            falls = np.flatnonzero(np.diff(own) < -_ROUNDING * max(self.paid, 1.0))
            if falls.size:
                at = int(falls[0])
                raise InvalidInputError(
                    f"The cost function {self.name} falls: beside what is held, {sizes[at]:,.0f} samples of {arm!r} "
                    f"cost {own[at]:g} and {sizes[at + 1]:,.0f} cost {own[at + 1]:g}. More must not cost less: let "
                    "it answer with the least for which so many or more can be had."
                )
            rises |= bool(own[-1] > own[0])
        if not rises and pool >= 1:
            raise InvalidInputError(
                f"By the cost function {self.name} more labels cost nothing, so costs decide nothing. Let it rise "
                "with the number of labeled samples, policy['everything'] * n."
            )


def _whole_sizes(pool: float, n_sizes: int) -> FloatArray:
    """None, one, two, ... as far as that goes; then ever further apart, to all of the pool."""
    most = max(float(np.floor(pool)), 1.0)
    few = np.arange(min(n_sizes // 2, int(most)) + 1, dtype=np.float64)
    return np.asarray(np.unique(np.concatenate([few, np.rint(np.geomspace(1.0, most, n_sizes // 2)), [most]])))


def _share(count: float, n: float) -> float:
    """Count / n, moved by a last bit where share times n would not be the count again.

    Where no share gives the count, the product is a hair below: what is billed in steps is rounded up.
    """
    if n <= 0:
        return 0.0
    share = count / n
    below, above = math.nextafter(share, 0.0), math.nextafter(share, math.inf)
    return next((near for near in (share, above, below) if near * n == count), share if share * n < count else below)
