"""crowd-kit on the same answers, where it is installed; docs/studies/crowd.md says how."""

import warnings
from importlib import import_module, metadata
from importlib.util import find_spec
from typing import Any

import numpy as np

from labelworth.arrays import IntArray
from labelworth.data.answers import Answers

WAYS = {
    "crowd-kit, majority": ("MajorityVote", {}),
    "crowd-kit, Dawid-Skene": ("DawidSkene", {"n_iter": 1000}),
    "crowd-kit, GLAD": ("GLAD", {}),
    "crowd-kit, MMSR": ("MMSR", {}),
}
"""Their classes; of Dawid and Skene as many iterations as it takes to end by itself, else settings are theirs."""


def is_installed() -> bool:
    return find_spec("crowdkit") is not None


def version() -> str:
    return metadata.version("crowd-kit")


def as_rows(answers: Answers) -> dict[str, IntArray]:
    """What it is given: a label per row, so every class that an answer names is a row of its own."""
    entries, labels = np.nonzero(answers.evidence.dense())
    return {"task": answers.rows[entries], "worker": answers.annotators[entries], "label": labels}


def labels_of(way: str, answers: Answers, tasks: IntArray) -> IntArray:
    """The class that it takes each of the tasks for."""
    name, settings = WAYS[way]
    aggregation: Any = import_module("crowdkit.aggregation")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Of pandas, about how crowd-kit calls it.
        found = getattr(aggregation, name)(**settings).fit_predict(
            import_module("pandas").DataFrame(as_rows(answers))
        )
    return np.asarray(found.loc[tasks], dtype=np.int64)
