"""How fast errors fall, and what of them stays, in the curves of LCDB 1.1: priors without any corpus of ours."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit
from scipy.stats import beta

from labelworth.arrays import FloatArray
from labelworth.data.digest import file_digest
from labelworth.report.values import Measured, Outcome, Table
from labelworth.simulation.open_labels import N_PARTS, USUAL_PARTS
from labelworth.simulation.power_law import USUAL_SLOPES
from labelworth_studies.corpora.folder import corpus_file
from labelworth_studies.runner.study import Cell, Result, Study

LEARNERS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "generative": ("BernoulliNB", "MultinomialNB", "ComplementNB", "GaussianNB"),
        "vectors": ("GaussianNB", "LDA", "QDA"),
        "linear": (
            "SVM_Linear",
            "LogisticRegression",
            "RidgeClassifier",
            "SGDClassifier",
            "PassiveAggressive",
            "Perceptron",
        ),
        "local": (
            "KNN",
            "SVM_RBF",
            "Decision Tree",
            "ens.ExtraTrees",
            "ens.RandomForest",
            "ens.GradientBoosting",
            "CatBoost",
        ),
    }
)
_CHANCE = "DummyClassifier"
"""Names the most frequent class."""
_NOT_LEARNERS = (_CHANCE, "TabNet")
"""One does not learn; the other has not begun to at 400 rows."""
PILOTS = (100, 200, 400)
FACTOR = 4
"""Slopes are taken from a fourth of the pilot to all of it, and from there to four times as much."""
_RIGHT = 1e-3
"""Errors are counted as no smaller, and no nearer to one."""
STAYS = "stays"
_LEARNED_FROM = 0.8
"""A pilot's error is that of four fifths of it."""
TIMES_ALL = 16
"""What stays is told by sets of so many times the pilot or more."""


def compute(cell: Cell) -> Result:
    """The slopes of log-odds per unit of log(rows), before and after the pilot, of every curve of some learners.

    Or, of every data set and pilot, what stays of the error of the best learner.
    """
    curves = np.load(corpus_file("lcdb", "lcdb.npz"), allow_pickle=False)
    names = [str(name) for name in curves["learners"]]
    test_errors = curves["test_error"].astype(float)  # They are stored in single precision.
    if cell["kind"] == STAYS:
        best = np.nanmin(_filled(test_errors[:, [name not in _NOT_LEARNERS for name in names]]), axis=1)
        chances = np.nanmin(_filled(test_errors[:, names.index(_CHANCE)]), axis=1)
        return {"stays": _what_stays(curves["anchors"], best, chances)}
    slopes = []
    for name in cell["learners"] or [name for name in names if name not in _NOT_LEARNERS]:
        for errors in test_errors[:, names.index(name)]:
            own = [slope for pilot in PILOTS if (slope := _slopes(curves["anchors"], errors, pilot)) is not None]
            if own:
                slopes.append(np.mean(own, axis=0).tolist())
    return {"slopes": slopes}


def _slopes(anchors: FloatArray, errors: FloatArray, pilot: int) -> FloatArray | None:
    sizes = pilot * np.array([1 / FACTOR, 1.0, FACTOR])
    known = np.isfinite(errors)
    if not known.any() or anchors[known].min() > sizes[0] or anchors[known].max() < sizes[-1]:
        return None
    inside = np.clip(errors[known], _RIGHT, 1 - _RIGHT)
    log_odds = np.interp(np.log(sizes), np.log(anchors[known]), np.log(inside / (1 - inside)))
    return np.asarray(np.diff(log_odds) / np.log(FACTOR))


def _filled(errors: FloatArray) -> FloatArray:
    """Missing figures as errors of one, so that the least of several is of those that are there."""
    return np.where(np.isfinite(errors), errors, 1.0)


def _what_stays(anchors: FloatArray, best: FloatArray, chances: FloatArray) -> list[list[float]]:
    """By data set and pilot: the set, share of chance that the best misses, log of how many classes, part that stays.

    Errors of one are figures that are missing.
    """
    rows = []
    for index, (errors, chance) in enumerate(zip(best, chances, strict=True)):
        known = errors < 1
        for pilot in PILOTS:
            least, most = _LEARNED_FROM * pilot, TIMES_ALL * pilot
            if not known.any() or anchors[known].min() > least or anchors[known].max() < most:
                continue
            missed = float(np.interp(np.log(least), np.log(anchors[known]), errors[known]))
            if missed > 0:
                part = min(float(errors[known][-1]) / missed, 1.0)
                rows.append([index, min(missed / chance, 1.0), -float(np.log(1 - chance)), part])
    return rows


def fitted_parts(stays: FloatArray) -> tuple[FloatArray, float]:
    """The Beta distribution of the part that stays, and its mean log-likelihood; every data set counts the same.

    Parameters
    ----------
    stays : array of shape (n_rows, 4)
        Data set, share of chance missed, logarithm of the number of classes, part that stays.
    """
    sets, of_chance, log_classes, parts = stays.T
    _, place, n_rows = np.unique(sets, return_inverse=True, return_counts=True)
    weights = 1 / n_rows[place] / len(n_rows)
    ends = np.linspace(0.0, 1.0, N_PARTS + 1)
    bins = np.clip(np.searchsorted(ends, parts, side="right") - 1, 0, N_PARTS - 1)

    def surprise(coordinates: FloatArray) -> float:
        mean = expit(coordinates[0] + coordinates[1] * of_chance + coordinates[2] * log_classes)
        both = np.exp(coordinates[3])
        low, high = (beta.cdf(ends[bins + shift], mean * both, (1 - mean) * both) for shift in (0, 1))
        return float(-weights @ np.log(np.maximum(high - low, 1e-12)))

    best = minimize(surprise, np.zeros(4), method="Nelder-Mead", options={"maxiter": 2000, "xatol": 1e-4})
    return np.array([*best.x[:3], np.exp(best.x[3])]), -float(best.fun)


def cells(quick: bool, seed: int) -> list[dict[str, Any]]:
    """One per kind of learner, one of what stays; nothing is left to chance, and the quick grid is the whole one."""
    return [{"kind": kind, "learners": list(own)} for kind, own in LEARNERS.items()] + [
        {"kind": "sequences", "learners": []},
        {"kind": STAYS, "learners": []},
    ]


def summarize(pairs: Sequence[tuple[Cell, Result]]) -> Outcome:
    figures: dict[str, Any] = {}
    rows: list[tuple[Any, ...]] = []
    tables = []
    for cell, result in pairs:
        if cell["kind"] == STAYS:
            figures[STAYS] = _parts(np.array(result["stays"]))
            tables.append(_parts_table(figures[STAYS]))
            continue
        before, after = np.array(result["slopes"]).T
        root = np.sqrt(len(before))
        figures[cell["kind"]] = {
            "n_curves": len(before),
            "before": float(before.mean()),
            "before_se": float(before.std() / root),
            "before_sd": float(before.std()),
            "after": float(after.mean()),
            "after_se": float(after.std() / root),
        }
        own = figures[cell["kind"]]
        rows.append(
            (
                cell["kind"] if cell["learners"] else "all learners",
                own["n_curves"],
                Measured(own["before"], own["before_se"]),
                round(own["before_sd"], 3),
                Measured(own["after"], own["after_se"]),
                f"{USUAL_SLOPES[cell['kind']][0]:g} +- {USUAL_SLOPES[cell['kind']][1]:g}",
            )
        )
    table = Table(
        "How log-odds of errors change per unit of log(rows)",
        ("kind", "curves", "up to the pilot", "spread over curves", "from the pilot on", "in use"),
        tuple(rows),
        note="A curve is a learner on a data set, its slopes averaged over pilots of 100, 200 and 400 rows; standard "
        "errors take curves for independent, which those of one data set are not.",
    )
    return Outcome(figures=figures, tables=(table, *tables))


def _parts(stays: FloatArray) -> dict[str, Any]:
    fitted, told = fitted_parts(stays)
    blind = stays.copy()
    blind[:, 1:3] = 0.0
    return {
        "n_sets": len(np.unique(stays[:, 0])),
        "n_rows": len(stays),
        "fitted": fitted.tolist(),
        "nats_per_set": told - fitted_parts(blind)[1],
    }


def _parts_table(figures: Mapping[str, Any]) -> Table:
    names = ("log-odds of the mean", "per share of chance missed", "per log of classes", "both parameters")
    rows = zip(names, figures["fitted"], USUAL_PARTS, strict=True)
    return Table(
        "The part of what the best learner misses that stays however many rows there are",
        ("Beta distribution", "fitted", "in use"),
        tuple((name, round(found, 2), used) for name, found, used in rows),
        note=f"{figures['n_sets']} data sets, {figures['n_rows']} with pilots; each set counts the same. What is "
        f"missed and how many classes there are tell {figures['nats_per_set']:.2f} nats per set.",
    )


def _digest() -> str:
    return file_digest(corpus_file("lcdb", "lcdb.npz"))


STUDY = Study(
    name="learning-curves",
    title="LCDB 1.1: how fast errors fall, by kind of learner",
    cells=cells,
    compute=compute,
    summarize=summarize,
    corpora=("lcdb",),
    data_digest=_digest,
)
