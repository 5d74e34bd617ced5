"""Information per rule from sequences drawn from the model, the same draws for all rules."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

import numpy as np

from labelworth.arrays import FloatArray
from labelworth.data.lengths import LengthDistribution
from labelworth.errors import InvalidInputError, MoreSamplesNeededError
from labelworth.fisher.chain_population import ChainPopulation
from labelworth.fisher.policy_figures import FIGURES
from labelworth.fisher.rule_controls import sharpened
from labelworth.fisher.rule_estimates import PolicyEstimate, estimate_policy
from labelworth.fisher.rule_information import RuleInformation
from labelworth.fisher.rule_list import RuleList
from labelworth.policies.policy import Policy
from labelworth.policies.rule import Rule
from labelworth.progress import SILENT, Progress, Task, tracking

MAX_PARAMETERS = 600
"""Up to so many, matrices of all batches fit into memory."""

_BATCHES = 64
_FEWER_BATCHES = 32
_MANY_PARAMETERS = 120
_DRAWS_PER_PARAMETER = 64
_FIRST_DRAWS = 1 << 14
_MAX_DRAWS = 1 << 21
_MAX_WORK = 4e11
_CHUNK = 1 << 21

_LEAST_MET = 0.5
_MOST_UNCERTAIN = 0.25
"""What draws must have met of every parameter: half of its complete information, known to a quarter."""


@runtime_checkable
class KnowsCompleteInformation(Protocol):
    """A model whose information of complete labels is known without sampling."""

    def complete_information(self, lengths: LengthDistribution) -> FloatArray:
        """Of one sequence, in free coordinates, (d, d)."""


def sampled_rules(
    population: ChainPopulation,
    rules: Sequence[Rule],
    policies: Sequence[Policy],
    rng: np.random.Generator,
    *,
    relative_error: float = 0.01,
    max_draws: int | None = None,
    figures: Sequence[str] = FIGURES,
    progress: Progress = SILENT,
) -> RuleInformation:
    r"""Draw until every figure of every policy is known to `relative_error`, or a limit is met.

    With S the complete score of a draw and :math:`s_j = E[S \mid X, Y_S]` its score under rule j, from the masked
    recursion, :math:`I_j = E[s_j s_j']`. Where the complete information is known, that is sharpened: S S' has a known
    mean, and :math:`s_j (S - s_j)'` has mean zero, so the noise that goes with them is taken off; directions a rule
    sees completely or not at all come out exactly.

    Parameters
    ----------
    population : ChainPopulation
    rules : sequence of Rule
    policies : sequence of Policy
        Whose figures decide how many draws are needed.
    rng : Generator
    relative_error : float
    max_draws : int, optional
        Stop there; about two million, less for many parameters, when absent.
    figures : sequence of str
        Names of those that are to be known so well.
    progress : Progress

    Returns
    -------
    RuleInformation
        With batches; `estimate_policy` refuses what they do not tell.

    Notes
    -----
    O(n_draws n_rules d^2) and a recursion per draw and rule, doubling the draws until they are enough. All rules see
    the same sequences and the same random numbers, so that policies are compared on the same ground.

    Paper: prop:efficiency2.
    """
    listed, d = RuleList.of(rules), population.model.coordinates.n_free
    if d > MAX_PARAMETERS:
        raise InvalidInputError(
            f"Sampling keeps many matrices of {d} x {d} numbers in memory; it is meant for up to {MAX_PARAMETERS} "
            "parameters. Use method='matrix-free' with a hidden Markov model, or fewer words."
        )
    limit = max_draws or min(_MAX_DRAWS, int(_MAX_WORK / (len(listed.rules) * d**2)))
    batches = RuleBatches(population, listed, default_count(d))
    first = min(max(_FIRST_DRAWS, _DRAWS_PER_PARAMETER * d), limit)
    per_batch = -(-first // batches.count)
    weights = [listed.weights_of(policy) for policy in policies]
    with tracking(progress, "Drawing from the model", None) as task:
        while True:
            batches.extend(per_batch, rng, task)
            information = batches.information()
            needed = _needed(information, weights, relative_error, figures)
            if needed <= information.n_drawn or 2 * information.n_drawn > limit:
                return information
            per_batch = information.n_drawn // batches.count


def draws_needed(
    estimates: Sequence[PolicyEstimate],
    n_drawn: int,
    rank: int,
    relative_error: float,
    figures: Sequence[str] = FIGURES,
) -> int:
    """How many draws bring every figure's standard error down to `relative_error`; `n_drawn` if it is there."""
    found = [item.relative_errors(rank) for item in estimates if item.is_identifiable]
    ratios = [ratio for item in found for name, ratio in item.items() if name in figures]
    return int(np.ceil(n_drawn * max(1.0, (max(ratios, default=0.0) / relative_error) ** 2)))


def _needed(
    information: RuleInformation, weights: Sequence[FloatArray], relative_error: float, figures: Sequence[str]
) -> int:
    if information.n_hardly_met:
        return 2 * information.n_drawn
    try:
        estimates = [estimate_policy(information, policy) for policy in weights]
    except MoreSamplesNeededError:
        return 2 * information.n_drawn
    return draws_needed(estimates, information.n_drawn, information.contrasts.rank, relative_error, figures)


def default_count(n_parameters: int) -> int:
    """How many batches tell standard errors and controls well, and fit into memory."""
    return _BATCHES if n_parameters <= _MANY_PARAMETERS else _FEWER_BATCHES


@dataclass
class RuleBatches:
    """Sums over batches of draws: of S S', and for every rule of s s' and of s S', each (n_batches, .., d, d)."""

    population: ChainPopulation
    listed: RuleList
    count: int
    complete: FloatArray = field(init=False)
    seen: FloatArray = field(init=False)
    mixed: FloatArray = field(init=False)
    n_per_batch: int = 0

    def __post_init__(self) -> None:
        d = self.population.model.coordinates.n_free
        self.complete = np.zeros((self.count, d, d))
        self.seen, self.mixed = np.zeros((2, self.count, len(self.listed.rules), d, d))

    @property
    def sampled_rules(self) -> list[int]:
        """All but complete labels, and no labels where those tell nothing."""
        known = {self.listed.everything, *([self.listed.nothing] if self.population.is_conditional else [])}
        return [place for place in range(len(self.listed.rules)) if place not in known]

    def extend(self, n_more: int, rng: np.random.Generator, task: Task) -> None:
        """Add `n_more` draws to every batch; as many batches at once as fit, or a part of one."""
        most = max(1, _CHUNK // self.population.model.coordinates.n_free)
        at_once = max(1, most // n_more)
        for first in range(0, self.count, at_once):
            batches = slice(first, min(first + at_once, self.count))
            for start in range(0, n_more, most):
                self._add(batches, min(most, n_more - start), rng)
            task.advance(n_more * (batches.stop - batches.start))
        self.n_per_batch += n_more

    def _add(self, batches: slice, n_each: int, rng: np.random.Generator) -> None:
        model, count = self.population.model, batches.stop - batches.start
        drawn = self.population.draw(n_each * count, rng)
        whole = model.scores(drawn).reshape(count, n_each, -1)
        self.complete[batches] += whole.swapaxes(1, 2) @ whole
        seed = int(rng.integers(2**63))
        for place in self.sampled_rules:
            # The same random numbers for every rule: where fewer coins show heads, they are among the same ones.
            rule, rows = self.listed.rules[place], np.arange(drawn.n_sequences)
            mask = rule.draw_for(drawn, rows, np.random.default_rng(seed))
            transposed = model.scores(drawn.hide(~mask)).reshape(count, n_each, -1).swapaxes(1, 2)
            self.seen[batches, place] += transposed @ transposed.swapaxes(1, 2)
            self.mixed[batches, place] += transposed @ whole

    def means(self, place: int) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Of s s', S S' and the symmetric part of s S' of one rule in every batch, (n_batches, d, d) each."""
        n, mixed = self.n_per_batch, self.mixed[:, place]
        return self.seen[:, place] / n, self.complete / n, (mixed + mixed.swapaxes(1, 2)) / (2 * n)

    def information(self) -> RuleInformation:
        """What these batches give."""
        model = self.population.model
        if not isinstance(model, KnowsCompleteInformation):
            return self.as_drawn()
        exact = model.complete_information(self.population.lengths)
        return self.with_complete(exact, lambda place: sharpened(model.coordinates, exact, *self.means(place)))

    def as_drawn(self) -> RuleInformation:
        """With nothing known but the draws."""
        batches = self.seen / self.n_per_batch
        batches[:, self.listed.everything] = self.complete / self.n_per_batch
        return self._told(batches, batches[:, self.listed.everything].mean(axis=0))

    def with_complete(self, exact: FloatArray, sharper: Callable[[int], FloatArray]) -> RuleInformation:
        """With I_everything known, and what `sharper` makes of the batches of every other rule, (n_batches, d, d)."""
        batches = self.seen / self.n_per_batch
        batches[:, self.listed.everything] = exact
        for place in self.sampled_rules:
            batches[:, place] = sharper(place)
        return self._told(batches, exact)

    def _told(self, batches: FloatArray, everything: FloatArray) -> RuleInformation:
        met = np.einsum("bii->bi", self.complete) / self.n_per_batch
        n_drawn, n_hardly_met = self.count * self.n_per_batch, _hardly_met(met, np.diag(everything))
        return self.listed.information(
            self.population, batches.mean(axis=0), "sampling", batches, n_drawn, n_hardly_met
        )


def _hardly_met(met: FloatArray, known: FloatArray) -> int:
    """Of how many parameters the squares of complete scores, (n_batches, d), are far from what they should be, (d,).

    Those that no data can see are not counted.
    """
    seen = known > 0
    shares = met[:, seen] / known[seen]
    uncertainty = shares.std(axis=0, ddof=1) / np.sqrt(len(shares))
    return int(((shares.mean(axis=0) < _LEAST_MET) | (uncertainty > _MOST_UNCERTAIN)).sum())
