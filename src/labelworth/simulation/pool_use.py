"""What a part of the pool does: simulated refits between labels alone and labels with all others."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from labelworth.arrays import FloatArray, IntArray
from labelworth.data.protocol import DataT
from labelworth.progress import SILENT, Progress
from labelworth.simulation.basis import ForecastBasis, first_replicate, label_source, sources_of
from labelworth.simulation.jobs import Keep, Refit, keep_nothing, run_fits
from labelworth.simulation.learner import Learner, Source
from labelworth.simulation.metrics import Metric
from labelworth.simulation.scales import Measure
from labelworth.simulation.simulator import WHOLE, CurveDesign, Replicate, held_out_units

SHARES = (1 / 3, 2 / 3)
"""How far along, in the logarithm of the units used, from the labels alone to the whole pool."""
N_REPLICATES = 1
"""Of those of the basis; u is read off all numbers of labels together, and a few fits are all it may cost."""
MEASURES: tuple[Measure, Measure] = ("error", "log_loss")


@dataclass(frozen=True, eq=False)
class PoolUse:
    r"""How much of what the whole pool does a part of it does.

    With L labels, n units used and N in all, at :math:`t = \log(n / L) / \log(N / L)`, the loss of a refit is
    :math:`s(L, n)`. From one number of labels to the next the gain :math:`s(L, L) - s(L, N)` of the whole pool
    changes; the share of it that a part gives is taken to depend on t alone,

    .. math:: s(L, L) - s(L, n) = u(t)\, (s(L, L) - s(L, N)) + noise,

    by least squares over all L and replicates, so that numbers of labels at which the pool does little do not count.
    It may be below zero or above one: a part may do harm, or more than all of it. All three refits share the labels
    drawn, the units tested and the order in which units are taken. Losses are in their own units: what no number of
    labels takes away adds to all three alike and leaves u as it is.
    """

    source: str  # What took the place of the truth.
    sizes: IntArray  # (n_sizes,): Numbers of labels L.
    # (n_replicates, n_sizes, n_shares): What parts of the pool take off the loss, at `SHARES`.
    gains: Mapping[Measure, FloatArray]
    whole_gains: Mapping[Measure, FloatArray]  # (n_replicates, n_sizes): What all of it takes off.

    def fractions(self, measure: Measure) -> FloatArray:
        """u at `SHARES`; where the whole pool does nothing anywhere, t itself."""
        gains, whole = self.gains[measure], self.whole_gains[measure][:, :, None]
        total = float(np.square(whole).sum())
        if total == 0:
            return np.array(SHARES)
        return np.asarray((whole * gains).sum(axis=(0, 1)) / total)

    def fraction_errors(self, measure: Measure) -> FloatArray | None:
        """Standard errors of u; None where not even two refits tell of it.

        Every residual is that of a line through all others, so that a single refit with a large gain, through which
        the line would pass whatever it is, does not look like certainty.
        """
        gains, whole = self.gains[measure], self.whole_gains[measure][:, :, None]
        total = float(np.square(whole).sum())
        others = total - np.square(whole)
        if not (others > 1e-12 * total).all():
            return None
        residuals = (gains - self.fractions(measure) * whole) * total / others
        return np.asarray(np.sqrt(np.square(whole * residuals).sum(axis=(0, 1))) / total)

    def to_dict(self) -> dict[str, Any]:
        return {
            "source": self.source,
            "sizes": self.sizes.tolist(),
            "gains": {measure: values.tolist() for measure, values in self.gains.items()},
            "whole_gains": {measure: values.tolist() for measure, values in self.whole_gains.items()},
        }

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> "PoolUse":
        parts: list[dict[Any, FloatArray]] = [
            {measure: np.array(values) for measure, values in stored[name].items()}
            for name in ("gains", "whole_gains")
        ]
        return cls(stored["source"], np.array(stored["sizes"]), *parts)


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
    metrics: Sequence[Metric] = (),
    sources: Mapping[str, Source] | None = None,
    workers: int | None = 1,
    progress: Progress = SILENT,
    keep: Keep = keep_nothing,
) -> PoolUse:
    """Refit with parts of the pool, at the sizes and in the first replicate of `basis`; its curves are the ends.

    Labels come from the source that misses the fewest of the pilot's. Fits to parts are cheap: all of them together
    cost as much as a few fits to the whole pool.

    Parameters
    ----------
    learner, data, seed, metrics
        Those that the basis was made with.
    """
    source = min(sorted(basis.source_errors), key=lambda name: basis.source_errors[name])
    looked = (sources or sources_of(learner, data, workers))[source]
    truth = label_source(looked, basis.source_errors[source], basis.n_labeled)
    ends = basis.simulated[source, "semi-supervised", WHOLE, "error"]
    n_pool = basis.n_units - held_out_units(basis.n_units, int(ends.sizes.max()))
    used = _units_used(ends.sizes, n_pool)
    n_replicates = min(N_REPLICATES, len(ends.values))
    first = first_replicate(basis.source_errors, source)
    replicates = [
        Replicate(data, truth, basis.n_units - n_pool, seed, first + index) for index in range(n_replicates)
    ]
    jobs = [
        _Job(replicate, int(size), int(n))
        for replicate in range(n_replicates)
        for size, row in zip(ends.sizes, used, strict=True)
        for n in row
    ]

    def fit(job: _Job) -> Refit[tuple[float, ...]]:
        together = learner.in_mode("semi-supervised")
        own = (together, CurveDesign("semi-supervised"), job.size, job.used, tuple(metrics))
        return Refit(Replicate.losses, replicates[job.replicate], own)

    losses = np.array(
        run_fits(
            fit,
            jobs,
            name=lambda job: f"pool use/{source}/{job.replicate}/{job.size}/{job.used}",
            keep=keep,
            in_processes=learner.in_processes,
            workers=workers,
            title="using parts of the pool",
            progress=progress,
            work=lambda job: job.used,
        )
    )
    measures = (*MEASURES, *(metric.spec for metric in metrics))
    cube = losses.reshape(n_replicates, *used.shape, len(measures))
    gains, whole_gains = {}, {}
    for index, measure in enumerate(measures):
        alone, together = (
            basis.simulated[source, mode, WHOLE, measure].values[:n_replicates]
            for mode in ("labels-only", "semi-supervised")
        )
        # Where no unit kept out is of the class of a metric, nothing is known of what the pool does.
        gains[measure] = np.nan_to_num(alone[:, :, None] - cube[..., index])
        whole_gains[measure] = np.nan_to_num(alone - together)
    return PoolUse(source, ends.sizes, gains, whole_gains)


def pool_use_work(sizes: IntArray, n_units: int) -> int:
    """What the refits take; see `Learner.work`."""
    return N_REPLICATES * int(_units_used(sizes, n_units - held_out_units(n_units, int(sizes.max()))).sum())


def _units_used(sizes: IntArray, n_pool: int) -> IntArray:
    """Whole numbers of units at `SHARES` of the way, (n_sizes, n_shares)."""
    exact = sizes[:, None] * (n_pool / sizes[:, None]) ** np.array(SHARES)
    return np.asarray(np.rint(exact).astype(np.int64))
