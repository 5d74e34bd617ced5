"""What labels of chosen rows buy beside as many at random, for a plan to say."""

from typing import Any

import numpy as np
from scipy.optimize import brentq

from labelworth.arrays import FloatArray
from labelworth.estimation.fit import at_maximum
from labelworth.estimators.pools.pool import Pool
from labelworth.fisher.documents.worth import Worth, row_worth
from labelworth.planning.answer import ChosenRows, Interval
from labelworth.planning.next import row_scores
from labelworth.planning.situation import Situation
from labelworth.policies.choosing import Choosing
from labelworth.simulation.basis import ForecastBasis
from labelworth.simulation.forecast import forecast
from labelworth.simulation.learner import Mode
from labelworth.simulation.scales import Measure

_STEP = 100


def steps_of(planned: int, room: int) -> tuple[int, int]:
    """How many rows are compared: as many as a plan buys, or the next hundred where it buys none; and the next."""
    step = min(_STEP, room)
    return (planned or step), step


def simulated_choice(
    basis: ForecastBasis, mode: Mode, measure: Measure, choosing: Choosing, planned: int, room: int, price: float
) -> ChosenRows:
    """By the curve that was simulated with rows chosen so, calibrated as that of rows at random is."""
    count, step = steps_of(planned, room)
    sizes = basis.n_labeled + np.array([0, step, count])
    chosen = forecast(basis, mode, measure, sizes, policy=choosing.name)
    random = forecast(basis, mode, measure, sizes)
    interval = Interval(float(chosen.low[2]), float(chosen.high[2]), method="forecast")
    today = float(random.values[0])
    return ChosenRows(
        choosing.by,
        count,
        float(chosen.values[2]),
        interval,
        float(random.values[2]),
        today,
        step,
        today - float(chosen.values[1]),
        today - float(random.values[1]),
        step * price,
    )


def formula_choice(
    pool: Pool[Any], situation: Situation, choosing: Choosing, planned: int, room: int, price: float, seed: int
) -> ChosenRows:
    r"""By formulas: so many chosen rows do as much as how many at random?

    Both have an excess log-loss, :math:`\tfrac12 \operatorname{tr}(G M(\pi)^{-1})`; what the plan's own formulas say
    of that many rows at random is said of the chosen ones.
    """
    data: Any = pool.data
    fitted: Any = pool.fitted
    worth = at_maximum(lambda own: _known_worth(own, data, seed), fitted.family, data, pool.model)
    is_open = data.evidence.is_unlabeled
    scores = row_scores(pool, choosing.by)
    count, step = steps_of(planned, room)
    alike = {n: _as_random(worth, is_open, choosing.probabilities(scores[is_open], n)[0]) for n in {count, step}}
    counts = situation.nothing_more

    def error(n_more: float) -> float:
        more = counts.copy()
        more[list(situation.accuracy.arms).index("everything")] += n_more
        if situation.unlabeled_is_free:
            more[list(situation.accuracy.arms).index("nothing")] -= n_more
        return float(situation.accuracy.error(more))

    return ChosenRows(
        choosing.by,
        count,
        error(alike[count]),
        None,
        error(count),
        error(0),
        step,
        error(0) - error(alike[step]),
        error(0) - error(step),
        step * price,
        as_many=alike[count],
    )


def _known_worth(fitted: Any, data: Any, seed: int) -> Worth:
    """Refused now, not later, where the fit is no strict maximum."""
    worth = row_worth(fitted.model, fitted.family, data, seed)
    worth.error(np.zeros(data.n_samples))
    return worth


def _as_random(worth: Worth, is_open: Any, probabilities: FloatArray) -> float:
    """How many rows at random have the excess log-loss of rows drawn with these probabilities, (n_open,)."""
    n_open = int(is_open.sum())
    shares = np.zeros(len(is_open))
    shares[is_open] = probabilities
    wanted = float(worth.error(shares).values[0])

    def gap(share: float) -> float:
        return float(worth.error(np.where(is_open, share, 0.0)).values[0]) - wanted

    if gap(1.0) >= 0:
        return float(n_open)
    return n_open * float(brentq(gap, 0.0, 1.0, xtol=1e-6))
