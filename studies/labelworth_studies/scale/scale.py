"""How time and memory grow with the number of documents: shards on disk, all in memory, and scikit-learn's way."""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from typing import Any

import numpy as np

from labelworth.report.values import Curve, CurvesPanel, Outcome, Picture, Table
from labelworth_studies.runner.study import Cell, Result, Study

_SIZES = (100_000, 1_000_000)
_IN_MEMORY = 1_000_000
_FITS = ("shards, 1 worker", "shards, 2 workers", "memory, 1 worker", "partial_fit, 1 worker")


def cells(quick: bool, seed: int) -> list[Cell]:
    return [{"n_documents": size // (10 if quick else 1), "seed": seed} for size in _SIZES]


def compute(cell: Cell) -> Result:
    """All stages, each in a process of its own, over the same shards."""
    with tempfile.TemporaryDirectory(prefix="labelworth-scale-") as folder:

        def stage(name: str, workers: int = 1) -> dict[str, Any]:
            words = [name, folder, str(cell["n_documents"]), str(cell["seed"]), str(workers)]
            done = subprocess.run(
                [sys.executable, "-m", "labelworth_studies.scale.parts.measure", *words],
                check=True,
                capture_output=True,
                env={**os.environ, "NUMBA_NUM_THREADS": str(workers), "OPENBLAS_NUM_THREADS": "1"},
            )
            told: dict[str, Any] = json.loads(done.stdout)
            return told

        result: Result = {"corpus": stage("corpus"), "shard": stage("shard")}
        for name in _FITS:
            kind, workers = name.split(", ")
            if kind != "memory" or cell["n_documents"] <= _IN_MEMORY:
                result[name] = stage(kind, int(workers.split()[0]))
        return result


def summarize(done: Sequence[tuple[Cell, Result]]) -> Outcome:
    rows, figures = [], []
    for cell, result in done:
        n_stored = result["shard"]["n_stored"]
        for name in _FITS:
            if name in result:
                took = result[name]
                nanoseconds = 1e9 * took["pass_processor_seconds"] / n_stored
                rows.append(
                    (
                        f"{cell['n_documents']:,}",
                        name,
                        round(took["pass_seconds"], 2),
                        round(took["pass_processor_seconds"], 2),
                        round(nanoseconds, 1),
                        round(took["peak_bytes"] / 2**20),
                    )
                )
        figures.append({"n_documents": cell["n_documents"], **result})
    columns = ("documents", "who", "s per pass", "processor s per pass", "processor ns per value", "peak MB")
    sharding = Table(
        "Making the shards",
        ("documents", "text MB", "shards MB", "processor s", "processor us per document", "peak MB"),
        tuple(
            (
                f"{cell['n_documents']:,}",
                round(result["corpus"]["n_bytes"] / 2**20),
                round(result["shard"]["n_bytes"] / 2**20),
                round(result["shard"]["processor_seconds"], 1),
                round(1e6 * result["shard"]["processor_seconds"] / cell["n_documents"], 1),
                round(result["shard"]["peak_bytes"] / 2**20),
            )
            for cell, result in done
        ),
    )
    passes = Table("A pass of EM", columns, tuple(rows))
    return Outcome({"sizes": figures}, (), (passes, sharding), {"": _picture(done)})


def _picture(done: Sequence[tuple[Cell, Result]]) -> Picture:
    def curves(name: str, scale: float) -> tuple[Curve, ...]:
        drawn = []
        for who in _FITS:
            held = [(cell["n_documents"], result[who][name] * scale) for cell, result in done if who in result]
            x, y = np.array(held, dtype=np.float64).T
            drawn.append(Curve(who, x, y))
        return tuple(drawn)

    seconds = curves("pass_processor_seconds", 1.0)
    time = CurvesPanel("Time", "documents", "processor s per pass", seconds, "log", "log")
    memory = CurvesPanel("Memory", "documents", "peak MB", curves("peak_bytes", 2.0**-20), "log", "log")
    return Picture("Time and memory of a pass of EM grow with the documents", (time, memory))


STUDY = Study(
    name="scale",
    title="Time and memory of EM over shards, as documents grow, beside memory and scikit-learn's partial_fit",
    cells=cells,
    compute=compute,
    summarize=summarize,
)
