"""What a part of the pool does: simulated refits between the labels alone and the labels with all other units."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from labelworth.arrays import FloatArray, IntArray
from labelworth.progress import SILENT, Progress
from labelworth.simulation.basis import ForecastBasis, label_source
from labelworth.simulation.calibration import source_share
from labelworth.simulation.constants import TUNED
from labelworth.simulation.jobs import Keep, keep_nothing, run_jobs
from labelworth.simulation.learner import DataT, Learner, Mode
from labelworth.simulation.scales import Measure, inside, to_scale
from labelworth.simulation.simulator import WHOLE, Design, Replicate, held_out_units

SHARES = (1 / 3, 2 / 3)
"""How far along, in the logarithm of the units used, from the labels alone to the whole pool."""
MEASURES: tuple[Measure, Measure] = ("error", "log_loss")


@dataclass(frozen=True, eq=False)
class PoolUse:
    r"""How far refits with a part of the pool lie off the straight line between none and all of it.

    With L labels, n units used and N in all, at :math:`t = \log(n / L) / \log(N / L)`, on the scale of the measure

    .. math:: d(L, t) = s(L, n) - (1 - t)\, s(L, L) - t\, s(L, N).

    All three refits share the labels drawn, the units tested and the order in which units are taken.

    Attributes
    ----------
    source : Mode
        The fit whose predictions took the place of the truth.
    sizes : integer array of shape (n_sizes,)
        Numbers of labels L.
    shares : array of shape (n_sizes, n_shares)
        t, for whole numbers of units.
    deviations : mapping of measure to array of shape (n_replicates, n_sizes, n_shares)
        d; zero where there is nothing between the two ends.
    """

    source: Mode
    sizes: IntArray
    shares: FloatArray
    deviations: Mapping[Measure, FloatArray]

    def mean(self, measure: Measure) -> FloatArray:
        """Over replicates, (n_sizes, n_shares)."""
        return np.asarray(self.deviations[measure].mean(axis=0))

    def standard_error(self, measure: Measure) -> float | None:
        """Of these means, pooled over all of them; None with a single replicate."""
        found = self.deviations[measure]
        if len(found) < 2:
            return None
        return float(np.sqrt(found.var(axis=0, ddof=1).mean() / len(found)))

    def to_dict(self) -> dict[str, Any]:
        """As JSON knows it."""
        return {
            "source": self.source,
            "sizes": self.sizes.tolist(),
            "shares": self.shares.tolist(),
            "deviations": {measure: values.tolist() for measure, values in self.deviations.items()},
        }

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> "PoolUse":
        """Read it back."""
        deviations: dict[Any, FloatArray] = {name: np.array(one) for name, one in stored["deviations"].items()}
        return cls(stored["source"], np.array(stored["sizes"]), np.array(stored["shares"]), deviations)


@dataclass(frozen=True)
class _Job:
    replicate: int
    size: int
    used: int


def simulate_pool_use(
    learner: Learner[DataT],
    data: DataT,
    basis: ForecastBasis,
    *,
    seed: int,
    workers: int | None = 1,
    progress: Progress = SILENT,
    keep: Keep = keep_nothing,
) -> PoolUse:
    """Refit with parts of the pool, at the sizes and in the replicates of `basis`, whose curves are the two ends.

    Labels come from the one source that more probably predicts the pilot better. Fits to parts are cheap: all of
    them together cost as much as a few fits to the whole pool.

    Parameters
    ----------
    learner, data, seed
        Those that the basis was made with.
    """
    source: Mode = "semi-supervised"
    if source_share(basis.comparisons["log_loss"], TUNED["error"].doubt) < 0.5:
        source = "labels-only"
    ends = basis.simulated[source, "semi-supervised", WHOLE, "error"]
    n_pool = basis.n_units - held_out_units(basis.n_units, int(ends.sizes.max()))
    used = _units_used(ends.sizes, n_pool)
    truth, n_replicates = label_source(learner, data, source), len(ends.values)
    replicates = [
        Replicate(learner, data, truth, basis.n_units - n_pool, seed, place) for place in range(n_replicates)
    ]
    jobs = [
        _Job(replicate, int(size), int(n))
        for replicate in range(n_replicates)
        for size, row in zip(ends.sizes, used, strict=True)
        for n in row
    ]

    def run(job: _Job) -> tuple[float, float]:
        found: tuple[float, float] = keep(
            f"pool use/{source}/{job.replicate}/{job.size}/{job.used}",
            lambda: replicates[job.replicate].losses(
                learner.in_mode("semi-supervised"), Design("semi-supervised"), job.size, job.used
            ),
        )
        return found

    losses = np.array(run_jobs(run, jobs, workers=workers, title="using parts of the pool", progress=progress))
    cube = losses.reshape(n_replicates, *used.shape, 2)
    shares = _shares(ends.sizes, used, n_pool)
    return PoolUse(
        source,
        ends.sizes,
        shares,
        {
            measure: _deviations(basis, source, measure, shares, cube[..., place])
            for place, measure in enumerate(MEASURES)
        },
    )


def _units_used(sizes: IntArray, n_pool: int) -> IntArray:
    exact = sizes[:, None] * (n_pool / sizes[:, None]) ** np.array(SHARES)
    return np.asarray(np.rint(exact).astype(np.int64))


def _shares(sizes: IntArray, used: IntArray, n_pool: int) -> FloatArray:
    """t of whole numbers of units; where all are labeled it means nothing, and both ends are one."""
    way = np.log(n_pool / sizes)[:, None]
    shares = np.tile(SHARES, (len(sizes), 1))
    np.divide(np.log(used / sizes[:, None]), way, out=shares, where=way > 0)
    return shares


def _deviations(
    basis: ForecastBasis, source: Mode, measure: Measure, shares: FloatArray, losses: FloatArray
) -> FloatArray:
    def scaled(values: FloatArray) -> FloatArray:
        return to_scale(measure, inside(measure, values))

    alone, together = (
        scaled(basis.simulated[source, mode, WHOLE, measure].values)[:, :, None]
        for mode in ("labels-only", "semi-supervised")
    )
    return np.asarray(scaled(losses) - (1 - shares) * alone - shares * together)
