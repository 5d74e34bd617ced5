"""The three problems where cost is a user's function: whole designs, found along lines, without a certificate."""

from collections.abc import Iterator

import numpy as np

from labelworth.arrays import FloatArray
from labelworth.errors import LabelworthError, NotIdentifiableError
from labelworth.planning.answer import Problem
from labelworth.planning.costs import FurtherCost
from labelworth.planning.targets import infeasible_target
from labelworth.planning.whole_lines import UNMET, Rank, Ranking, WholeLine
from labelworth.tradeoff.accuracy import Accuracy
from labelworth.tradeoff.problem import Question
from labelworth.tradeoff.search import search

_MOST_ROUNDS = 8
_FEW = 33
_MANY = 4096

Found = tuple[Rank, FloatArray]


def best_whole(
    accuracy: Accuracy, costs: FurtherCost, pool: float, problem: Problem, value: float, *, thorough: bool = True
) -> FloatArray:
    """The best whole counts.

    Parameters
    ----------
    value : float
        Of a budget, what is left of it.
    thorough : bool
        Whether every number of samples is tried along a line, and designs of several arms are also looked for from
        the answer of `labelworth.tradeoff.search`; else some numbers, and those between the best.

    Raises
    ------
    InfeasiblePlanError
        If nothing meets a target, with the nearest that can be met.
    NotIdentifiableError
        If nothing that fits pins the model down.
    """
    hunt = _Hunt(accuracy, costs, int(np.floor(pool)), _MANY if thorough else _FEW)
    rank, counts = hunt.best(Ranking(problem, value), thorough=thorough)
    if rank != UNMET and np.isfinite(rank[0]):
        return counts
    (error, _), nearest = hunt.best(Ranking("budget", value if problem == "budget" else np.inf), thorough=thorough)
    if not np.isfinite(error):
        raise NotIdentifiableError("No number of labels that fits pins the model down. Label other samples, or more.")
    labels = float(nearest @ accuracy.labels_per_sample)
    raise infeasible_target(accuracy.criterion, value, error, labels)


class _Hunt:
    def __init__(self, accuracy: Accuracy, costs: FurtherCost, pool: int, n_tried: int) -> None:
        self.accuracy, self.costs, self.pool, self.n_tried = accuracy, costs, pool, n_tried
        self.units = np.eye(len(accuracy.arms))

    def best(self, ranking: Ranking, *, thorough: bool) -> Found:
        """Along the one line there is; of simulated arms each by itself; of others from several starts on."""
        arms = self.accuracy.arms
        if arms == ("everything", "nothing") and self.costs.is_free("nothing", self.pool):
            return self._line(self.pool * self.units[1], self.units[0] - self.units[1], self.pool).best(ranking)
        alone = [self._line(0 * unit, unit, self.pool).best(ranking) for unit in self.units]
        best = min(alone, key=lambda found: found[0])
        if len(arms) == 1 or self.accuracy.source == "simulated":
            return best
        starts = [*alone, *self._beside_unlabeled(ranking)]
        if not thorough:
            return self._descended(min(starts, key=lambda found: found[0]), ranking)
        starts += self._by_search(ranking)
        return min((self._descended(start, ranking) for start in starts), key=lambda found: found[0])

    def _beside_unlabeled(self, ranking: Ranking) -> list[Found]:
        """Every labeling arm with all of the rest unlabeled."""
        if "nothing" not in self.accuracy.arms:
            return []
        rest = self.units[self.accuracy.arms.index("nothing")]
        return [
            self._line(self.pool * rest, unit - rest, self.pool).best(ranking)
            for unit in self.units
            if not np.array_equal(unit, rest)
        ]

    def _by_search(self, ranking: Ranking) -> list[Found]:
        """What a search over mixtures of any sizes finds, rounded down and up."""
        try:
            found = search(self.accuracy, self.costs, Question(ranking.problem, ranking.value, float(self.pool)))
        except LabelworthError:
            return []
        rounded = [np.floor(found.counts + 1e-6), np.ceil(found.counts - 1e-6)]
        return [self._ranked(counts, ranking) for counts in rounded if counts.sum() <= self.pool]

    def _descended(self, best: Found, ranking: Ranking) -> Found:
        """Along lines through a design: more or less of one arm, or one arm in place of another."""
        for _ in range(_MOST_ROUNDS):
            better = min((line.best(ranking) for line in self._through(best[1])), key=lambda found: found[0])
            if not better[0] < best[0]:
                break
            best = better
        return best

    def _through(self, counts: FloatArray) -> Iterator[WholeLine]:
        for place, unit in enumerate(self.units):
            without = counts - counts[place] * unit
            yield self._line(without, unit, self.pool - int(without.sum()))
            for other, instead in enumerate(self.units):
                both = int(counts[place] + counts[other])
                if other > place and both:
                    yield self._line(without + counts[place] * instead, unit - instead, both)

    def _line(self, start: FloatArray, step: FloatArray, most: int) -> WholeLine:
        return WholeLine(self.accuracy, self.costs, start, step, most, self.n_tried)

    def _ranked(self, counts: FloatArray, ranking: Ranking) -> Found:
        return ranking.of(self.costs.cost(counts), self.accuracy.error(counts)), counts
