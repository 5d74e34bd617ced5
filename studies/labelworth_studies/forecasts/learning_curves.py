"""How fast errors fall, by kind of learner, in the curves of LCDB 1.1: priors without any corpus of ours."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np

from labelworth.arrays import FloatArray
from labelworth.data.digest import file_digest
from labelworth.report.values import Measured, Outcome, Table
from labelworth.simulation.power_law import USUAL_SLOPES
from labelworth_studies.corpora.folder import corpora_folder
from labelworth_studies.runner.study import Cell, Result, Study

LEARNERS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "generative": ("BernoulliNB", "MultinomialNB", "ComplementNB", "GaussianNB"),
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
_NOT_LEARNERS = ("DummyClassifier", "TabNet")
"""One does not learn; the other has not begun to at 400 rows."""
PILOTS = (100, 200, 400)
FACTOR = 4
"""Slopes are taken from a fourth of the pilot to all of it, and from there to four times as much."""
_RIGHT = 1e-3
"""Errors are counted as no smaller, and no nearer to one."""


def compute(cell: Cell) -> Result:
    """The slopes of log-odds per unit of log(rows), before and after the pilot, of every curve of some learners."""
    curves = np.load(corpora_folder() / "lcdb" / "lcdb.npz", allow_pickle=False)
    names = [str(name) for name in curves["learners"]]
    slopes = []
    for name in cell["learners"] or [name for name in names if name not in _NOT_LEARNERS]:
        for errors in curves["test_error"][:, names.index(name)]:
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


def cells(quick: bool, seed: int) -> list[dict[str, Any]]:
    """One per kind of learner; nothing is left to chance, and the quick grid is the whole one."""
    return [{"kind": kind, "learners": list(own)} for kind, own in LEARNERS.items()] + [
        {"kind": "sequences", "learners": []}
    ]


def summarize(pairs: Sequence[tuple[Cell, Result]]) -> Outcome:
    figures, rows = {}, []
    for cell, result in pairs:
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
    return Outcome(figures=figures, tables=(table,))


def _digest() -> str:
    return file_digest(corpora_folder() / "lcdb" / "lcdb.npz")


STUDY = Study(
    name="learning-curves",
    title="LCDB 1.1: how fast errors fall, by kind of learner",
    cells=cells,
    compute=compute,
    summarize=summarize,
    data_digest=_digest,
)
