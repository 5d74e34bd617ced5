"""One pilot: what its forecast rests on, and what was realized when its labels were extended."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from labelworth.arrays import FloatArray, IntArray
from labelworth.progress import SILENT
from labelworth.simulation.basis import forecast_basis
from labelworth.simulation.jobs import run_jobs
from labelworth.simulation.learner import (
    MODES,
    Mode,
    code_errors,
    code_losses,
    honest_temperature,
    keep_labels,
    known_codes,
)
from labelworth_studies.corpora.populations import Population, corpus_of, population
from labelworth_studies.runner.study import Cell, Result

FACTORS = (2, 4, 8)
"""Forecasts are made at so many times the labels of the pilot."""

Job = tuple[int, Mode, int]
"""An extension, a way to learn, and how many times the labels of the pilot."""
Realized = tuple[float, float, FloatArray]
"""Error, log-loss, and errors unit by unit."""


def cell_of(corpus: str, n_pilot: int, seed: int, learner: str | None = None) -> dict[str, Any]:
    """Describe one pilot."""
    return {"corpus": corpus, "learner": learner or corpus_of(corpus).learners[0], "n_pilot": n_pilot, "seed": seed}


def grid(
    corpora: tuple[str, ...], n_pilots: int, first_seed: int, *, all_learners: bool = False
) -> list[dict[str, Any]]:
    """Pilots of every size on every corpus, interleaved, so that a run cut short is short everywhere."""
    return [
        cell_of(name, n_pilot, first_seed + draw, learner)
        for draw in range(n_pilots)
        for name in corpora
        for learner in corpus_of(name).learners[: None if all_learners else 1]
        for n_pilot in corpus_of(name).pilots
    ]


def factors_of(corpus: str, n_pilot: int, n_gold: int) -> tuple[int, ...]:
    """The factors for which there are enough labels beside the held-out ones."""
    return tuple(factor for factor in FACTORS if factor * n_pilot <= n_gold - corpus_of(corpus).n_held_out)


def drawn(whole: Population, n_pilot: int, seed: int, extension: int) -> tuple[IntArray, IntArray]:
    """Units to learn from, the pilot first and then the order in which labels are added, and units to test on.

    Extensions share the pilot and nothing else. Units without label come last.
    """
    pilot = np.random.default_rng([seed, n_pilot]).permutation(whole.gold)[:n_pilot]
    others = np.setdiff1d(whole.gold, pilot)
    order = np.random.default_rng([seed, n_pilot, extension, 1]).permutation(others)
    held_out, added = order[: whole.corpus.n_held_out], order[whole.corpus.n_held_out :]
    if whole.corpus.pools is not None:
        n_pool = dict(zip(whole.corpus.pilots, whole.corpus.pools, strict=True))[n_pilot]
        added = added[: n_pool - n_pilot]
    unlabeled = np.setdiff1d(np.arange(whole.data.n_samples), whole.gold)
    return np.concatenate([pilot, added, unlabeled]), held_out


def compute(cell: Cell) -> Result:
    """Forecast basis of the pilot, and the realized losses, averaged over extensions."""
    whole, n_pilot, seed = population(cell["corpus"], cell["learner"]), int(cell["n_pilot"]), int(cell["seed"])
    factors = factors_of(cell["corpus"], n_pilot, whole.gold.size)
    learner = whole.learner
    units, _ = drawn(whole, n_pilot, seed, 0)
    shown = keep_labels(whole.pool(units), np.arange(n_pilot))
    basis = forecast_basis(learner, shown, max(factors) * n_pilot, seed=seed, workers=1)
    jobs: list[Job] = [
        (extension, mode, factor)
        for extension in range(whole.corpus.n_extensions)
        for mode in learner.modes
        for factor in (1, *factors)
    ]
    outcomes = _all_realized(whole, n_pilot, seed, jobs)
    losses: dict[str, list[list[float]]] = {}
    for (_, mode, factor), (error, log_loss, _) in zip(jobs, outcomes, strict=True):
        losses.setdefault(f"{mode}/{factor}", []).append([error, log_loss])
    return {
        "basis": basis.to_dict(),
        "realized": losses,
        "gaps": _gaps(jobs, outcomes) if len(learner.modes) > 1 else [],
    }


def gaps_of(whole: Population, n_pilot: int, seed: int) -> list[list[float]]:
    """Error of the pilot's own fits with unlabeled units less that without, and its standard error, per pool."""
    jobs: list[Job] = [(extension, mode, 1) for extension in range(whole.corpus.n_extensions) for mode in MODES]
    return _gaps(jobs, _all_realized(whole, n_pilot, seed, jobs))


def _all_realized(whole: Population, n_pilot: int, seed: int, jobs: Sequence[Job]) -> list[Realized]:
    return run_jobs(
        lambda job: realized(whole, n_pilot, seed, *job), jobs, workers=1, title="realized errors", progress=SILENT
    )


def realized(whole: Population, n_pilot: int, seed: int, extension: int, mode: Mode, factor: int) -> Realized:
    """Error and log-loss on the held-out units of a fit to the extended pilot; errors unit by unit."""
    learner = whole.patient_learner.in_mode(mode)
    units, held_out = drawn(whole, n_pilot, seed, extension)
    fitted = learner.fit(keep_labels(whole.data.take(units), np.arange(factor * n_pilot)))
    tested = whole.data.take(np.sort(held_out))
    prediction, codes = learner.predict(fitted, tested), known_codes(tested)
    temperature = honest_temperature([prediction], [codes])
    errors = code_errors(prediction.best, codes)
    lengths = tested.lengths
    by_unit = np.add.reduceat(errors, np.concatenate([[0], np.cumsum(lengths)[:-1]])) / lengths.mean()
    log_losses = code_losses(prediction.log_posteriors(temperature), codes)
    return float(errors.mean()), float(log_losses.mean()), by_unit


def _gaps(jobs: Sequence[Job], outcomes: Sequence[Realized]) -> list[list[float]]:
    errors = {job: result[2] for job, result in zip(jobs, outcomes, strict=True)}
    gaps = []
    for extension in range(1 + max(job[0] for job in jobs)):
        gap = errors[extension, "semi-supervised", 1] - errors[extension, "labels-only", 1]
        gaps.append([float(gap.mean()), float(gap.std(ddof=1) / np.sqrt(len(gap)))])
    return gaps
