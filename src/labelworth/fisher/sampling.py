"""Information per rule from samples drawn from the model, the same draws for all rules."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Generic, Protocol

import numpy as np

from labelworth.arrays import FloatArray
from labelworth.errors import MoreSamplesNeededError
from labelworth.fisher.contrasts import Contrasts
from labelworth.fisher.controls import sharpened
from labelworth.fisher.criteria import CRITERIA
from labelworth.fisher.dense import DenseInformation
from labelworth.fisher.population import Population, RulesT
from labelworth.progress import SILENT, Progress, Task, tracking

_BATCHES = 64
"""With so many batches a standard error is itself known to 9 %, and five of them are a fair bound."""

_FEWER_BATCHES = 32
_MANY_PARAMETERS = 120
"""Beyond so many, memory counts, and half the batches must do: a standard error is then known to 13 %."""

_DRAWS_PER_PARAMETER = 64
_FIRST_DRAWS = 1 << 14
_CHUNK = 1 << 21

_LEAST_MET = 0.5
_MOST_UNCERTAIN = 0.25
"""What draws must have met of every parameter: half of its complete information, known to a quarter.

So some sixteen draws have spoken of it. With one or two the batches agree on what those few happened to say.
"""
_ENOUGH_MET = 1 / _MOST_UNCERTAIN**2


def sampled(
    population: Population[RulesT],
    rules: RulesT,
    weights: Sequence[FloatArray],
    rng: np.random.Generator,
    *,
    relative_error: float = 0.01,
    max_draws: int | None = None,
    criteria: Collection[str] = tuple(CRITERIA),
    progress: Progress = SILENT,
) -> DenseInformation:
    r"""Draw until every figure of every policy is known to `relative_error`, or a limit is met.

    What is so rare that not even the limit would meet it is not waited for.

    With S the complete score of a draw and :math:`s_j = E[S \mid X, Y_S]` its score under rule j,
    :math:`I_j = E[s_j s_j']`. Where the complete information is known, that is sharpened: S S' has a known mean, and
    :math:`s_j (S - s_j)'` has mean zero, so the noise that goes with them is taken off; directions a rule sees
    completely or not at all come out exactly. The same S S' tell which parameters the draws hardly met, as a word too
    rare to be drawn: their noise does not show in the standard errors.

    Parameters
    ----------
    weights : sequence of arrays of shape (n_rules,)
        The policies whose figures decide how many draws are needed.
    relative_error : float
        The standard error aimed at, relative to each figure.
    max_draws : int, optional
        Stop there; some millions, less for many parameters, when absent.
    criteria : collection of str
        Names of the figures that are to be known so well.

    Returns
    -------
    DenseInformation
        With batches; its `figures` refuse what they do not tell.

    Notes
    -----
    O(n_draws n_rules d^2), doubling the draws until they are enough. All rules see the same samples and the same
    random numbers, so that policies are compared on the same ground. Nothing is clipped: a sampled matrix that makes
    no sense is refused.

    Paper: prop:efficiency1, prop:efficiency2.
    """
    limit = population.most_draws(rules)
    batches = RuleBatches(population, rules, default_count(population.coordinates.n_free))
    return drawn(batches, weights, rng, max_draws or limit, relative_error, criteria, progress)


class Batches(Protocol):
    """Sums over batches of draws, that grow."""

    @property
    def count(self) -> int:
        """How many batches there are."""

    def extend(self, n_more: int, rng: np.random.Generator, task: Task) -> None:
        """Add `n_more` draws to every batch."""

    def information(self) -> DenseInformation:
        """What these batches give."""

    def draws_to_meet(self) -> FloatArray:
        """How many draws would tell enough of every parameter that these hardly met."""

    @property
    def n_parameters(self) -> int:
        """Of the model."""


def drawn(
    batches: Batches,
    weights: Sequence[FloatArray],
    rng: np.random.Generator,
    limit: int,
    relative_error: float,
    criteria: Collection[str] = tuple(CRITERIA),
    progress: Progress = SILENT,
) -> DenseInformation:
    """Draw until every figure of every policy is known to `relative_error`, or the limit is met; see `sampled`."""
    per_batch = -(-min(max(_FIRST_DRAWS, _DRAWS_PER_PARAMETER * batches.n_parameters), limit) // batches.count)
    with tracking(progress, "Drawing from the model", None) as task:
        while True:
            batches.extend(per_batch, rng, task)
            information = batches.information()
            if (batches.draws_to_meet() <= limit).any():
                needed = 2 * information.n_drawn
            else:
                needed = _needed(information, weights, relative_error, criteria)
            if needed <= information.n_drawn or 2 * information.n_drawn > limit:
                return information
            per_batch = information.n_drawn // batches.count


def _needed(
    information: DenseInformation, weights: Sequence[FloatArray], relative_error: float, criteria: Collection[str]
) -> int:
    try:
        figures = [information.figures(policy) for policy in weights]
    except MoreSamplesNeededError:
        return 2 * information.n_drawn
    return information.draws_needed(figures, relative_error, criteria)


def default_count(n_parameters: int) -> int:
    """How many batches tell standard errors and controls well, and fit into memory."""
    return _BATCHES if n_parameters <= _MANY_PARAMETERS else _FEWER_BATCHES


@dataclass
class RuleBatches(Generic[RulesT]):
    """Sums over batches of draws: of S S', and for every sampled rule of s s' and of s S'; see `Moments`."""

    population: Population[RulesT]
    rules: RulesT
    count: int
    complete: FloatArray = field(init=False)
    seen: FloatArray = field(init=False)
    mixed: FloatArray | None = None
    own: FloatArray | None = None
    n_per_batch: int = 0

    def __post_init__(self) -> None:
        d, size = self.n_parameters, self.n_parameters + len(self.rules.nuisance)
        self.complete = np.zeros((self.count, d, d))
        self.seen = np.zeros((self.count, len(self.sampled), size, size))

    @property
    def n_parameters(self) -> int:
        return self.population.coordinates.n_free

    @cached_property
    def sampled(self) -> list[int]:
        """The indices of all rules but complete labels, and no labels where those tell nothing."""
        known = {self.rules.everything, *([self.rules.nothing] if self.population.is_conditional else [])}
        return [index for index in range(len(self.rules.specs)) if index not in known]

    @cached_property
    def exact(self) -> FloatArray | None:
        """I_everything, where it is known."""
        return self.population.complete_information()

    def extend(self, n_more: int, rng: np.random.Generator, task: Task) -> None:
        """Add `n_more` draws to every batch; as many batches at once as fit, or a part of one."""
        most = max(1, _CHUNK // self.population.numbers_per_draw)
        at_once = max(1, most // n_more)
        for first in range(0, self.count, at_once):
            batches = slice(first, min(first + at_once, self.count))
            for start in range(0, n_more, most):
                self._add(batches, min(most, n_more - start), rng)
            task.advance(n_more * (batches.stop - batches.start))
        self.n_per_batch += n_more

    def _add(self, batches: slice, n_each: int, rng: np.random.Generator) -> None:
        moments = self.population.moments(self.rules, self.sampled, batches.stop - batches.start, n_each, rng)
        self.complete[batches] += moments.complete
        self.seen[batches] += moments.seen
        if moments.mixed is not None:
            if self.mixed is None:
                self.mixed = np.zeros_like(self.seen)
            self.mixed[batches] += moments.mixed
        if moments.own is not None:
            if self.own is None:
                self.own = np.zeros_like(self.seen)
            self.own[batches] += moments.own

    def means(self, number: int) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Of s s', S S' and the symmetric part of s S' of one sampled rule in every batch, (n_batches, d, d) each."""
        n, seen = self.n_per_batch, self.seen[:, number]
        mixed = seen if self.mixed is None else self.mixed[:, number]
        complete = self.complete if self.own is None else self.own[:, number]
        return seen / n, complete / n, (mixed + mixed.swapaxes(1, 2)) / (2 * n)

    def exact_of(self, number: int) -> FloatArray:
        """What the mean of the second of these is, where I_everything is known."""
        exact = self.population.complete_of(self.rules, self.sampled[number])
        assert exact is not None
        return exact

    def information(self) -> DenseInformation:
        """What these batches give."""
        if self.exact is None:
            return self.as_drawn()
        known = self.population.known_contrasts()
        contrasts = known or Contrasts.of(self.population.coordinates, self.exact)

        def sharper(number: int) -> FloatArray:
            exact = self.exact_of(number)
            return sharpened(contrasts.beside(exact), exact, *self.means(number))

        return self.with_complete(self.exact, sharper)

    def as_drawn(self) -> DenseInformation:
        """With nothing known but the draws."""
        return self._told(self.complete / self.n_per_batch, lambda number: self.seen[:, number] / self.n_per_batch)

    def with_complete(self, exact: FloatArray, sharper: Callable[[int], FloatArray]) -> DenseInformation:
        """With I_everything known, and what `sharper` makes of the batches of a sampled rule, (n_batches, d, d)."""
        return self._told(exact, sharper)

    def _told(self, everything: FloatArray, of_rule: Callable[[int], FloatArray]) -> DenseInformation:
        d, size = self.n_parameters, self.n_parameters + len(self.rules.nuisance)
        batches = np.zeros((self.count, len(self.rules.specs), size, size))
        batches[:, self.rules.everything, :d, :d] = everything
        for number, index in enumerate(self.sampled):
            batches[:, index] = of_rule(number)
        matrices = batches.mean(axis=0)
        return DenseInformation(
            self.population.coordinates,
            self.rules.specs,
            matrices,
            self.rules.everything,
            self.rules.nothing,
            self.population.labels_of(self.rules),
            "sampling",
            batches,
            self.count * self.n_per_batch,
            len(self._draws_to_meet(np.diag(matrices[self.rules.everything])[:d])),
            known_contrasts=self.population.known_contrasts(),
            nuisance=self.rules.nuisance,
        )

    def draws_to_meet(self) -> FloatArray:
        """How many draws would tell enough of every parameter that these hardly met; see `_draws_to_meet`."""
        everything = self.complete.mean(axis=0) / self.n_per_batch if self.exact is None else self.exact
        return self._draws_to_meet(np.diag(everything))

    def _draws_to_meet(self, known: FloatArray) -> FloatArray:
        return draws_to_meet(np.einsum("bii->bi", self.complete) / self.n_per_batch, known, self.n_per_batch)


def draws_to_meet(squares: FloatArray, known: FloatArray, n_per_batch: int) -> FloatArray:
    r"""Of the parameters whose squares of complete scores are far from what they should be, (n_hardly_met,).

    `squares` are the means of every batch, (n_batches, d), `known` what they should be, (d,). Those that no data can
    see are not counted. With n draws of which k speak of a parameter, and N would have to
    on average, the share of what is known that they show is m = k / N, with a standard error u = sqrt(k) / N. So
    :math:`N = m / u^2`, and :math:`16 n / N` draws meet sixteen. Where less than a sixteenth is shown, none of
    them spoke of it, and N = 1 is a bold guess.
    """
    is_seen = known > 0
    shares = squares[:, is_seen] / known[is_seen]
    means, uncertainty = shares.mean(axis=0), shares.std(axis=0, ddof=1) / np.sqrt(len(shares))
    is_hard = (means < _LEAST_MET) | (uncertainty > _MOST_UNCERTAIN)
    means, uncertainty = means[is_hard], uncertainty[is_hard]
    is_met = (means > 1 / _ENOUGH_MET) & (uncertainty > 0)
    met = np.divide(means, uncertainty**2, out=np.ones_like(means), where=is_met)
    return np.asarray(len(squares) * n_per_batch * np.maximum(_ENOUGH_MET / met, 2.0))
