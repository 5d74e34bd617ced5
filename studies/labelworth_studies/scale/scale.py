"""How time and memory grow with the number of documents: shards on disk, all in memory, and scikit-learn's way.

Shards are kept from cell to cell, and from run to run, in a folder below the one for temporary files.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from labelworth.errors import LabelworthError
from labelworth.report.values import Curve, CurvesPanel, Outcome, Picture, Table
from labelworth_studies.corpora.zipf_documents import N_CLASSES
from labelworth_studies.runner.study import Cell, Result, Study
from labelworth_studies.scale.parts.cost import on_paper
from labelworth_studies.scale.parts.measure import is_made

LARGEST = 10_000_000
_SIZES = (100_000, 1_000_000, LARGEST)
_IN_MEMORY = 1_000_000
_FEW = 1_000
LIMIT = 864 << 20
"""Bytes of data that a process may hold which makes shards, steps of EM over them, a fit until it has converged, or a
plan: less than a quarter of what the texts of the largest corpus take on disk. Every further worker holds tables of
its own: two are measured without a limit, as those are that are there for comparison."""
COMMANDS = ("shard, 1 worker", "fit, 1 worker", "plan, 1 worker")
_LIMITED = (*COMMANDS, "shards, 1 worker")
PASSES = ("shards, 1 worker", "shards, 2 workers", "memory, 1 worker", "partial_fit, 1 worker", "dask-ml, 1 worker")
_STAGES = (COMMANDS[0], *PASSES, *COMMANDS[1:])
_GIVEN_BACK = 1 << 22
"""Bytes from which on memory goes back to the system as soon as nobody holds it, in all stages alike (glibc's
MALLOC_MMAP_THRESHOLD_). Left alone, glibc keeps pieces of up to 32 MB, in case that they are asked for again; from
1 MB on, windows of shards would be new memory each time, and passes took a tenth longer."""


def cells(quick: bool, seed: int) -> list[Cell]:
    sizes = [size // 100 for size in _SIZES] if quick else _SIZES
    return [
        {"n_documents": size, "stage": stage, "seed": seed}
        for size in sizes
        for stage in _STAGES
        if not stage.startswith("memory") or size <= _IN_MEMORY
    ]


def compute(cell: Cell) -> Result:
    """One stage, in a process of its own, over the same shards as the others of its size."""
    size, seed = cell["n_documents"], cell["seed"]
    folder = Path(tempfile.gettempdir()) / "labelworth-scale" / f"{size}-{seed}"
    folder.mkdir(parents=True, exist_ok=True)
    _compile(cell["stage"], seed)
    if not is_made(folder) and not cell["stage"].startswith("shard, "):
        _process("shard, 1 worker", folder, size, seed)
    return _process(cell["stage"], folder, size, seed)


@lru_cache
def _compile(stage: str, seed: int) -> None:
    """Do it once with few documents: what compiling holds, once per machine, is not what the work holds."""
    with tempfile.TemporaryDirectory() as name:
        _process("shard, 1 worker", Path(name), _FEW, seed)
        _process(stage, Path(name), _FEW, seed)


def _process(stage: str, folder: Path, size: int, seed: int) -> Result:
    name, workers = stage.removesuffix("s").removesuffix(" worker").split(", ")
    limit = LIMIT if stage in _LIMITED else 0
    settings = {
        "NUMBA_NUM_THREADS": workers,
        "OPENBLAS_NUM_THREADS": "1",
        "MALLOC_MMAP_THRESHOLD_": str(_GIVEN_BACK),
    }
    words = [name, str(folder), str(size), str(seed), workers, str(limit)]
    done = subprocess.run(
        [sys.executable, "-m", "labelworth_studies.scale.parts.measure", *words],
        capture_output=True,
        check=False,
        env={**os.environ, **settings},
    )
    if done.returncode:
        raise LabelworthError(f"{stage} of {size:,} documents failed: {done.stderr.decode()[-2000:]}")
    told: Result = json.loads(done.stdout)
    return {"limit_bytes": limit, **told}


def summarize(done: Sequence[tuple[Cell, Result]]) -> Outcome:
    sizes: dict[int, dict[str, Any]] = {}
    for cell, result in done:
        held = sizes.setdefault(cell["n_documents"], {})
        if "not_installed" not in result:
            held[cell["stage"]] = result
    not_installed = sorted({result["not_installed"] for _, result in done if "not_installed" in result})
    for held in sizes.values():
        for who in PASSES:
            if who in held:
                seconds, n_stored = held[who]["pass_processor_seconds"], held["shard, 1 worker"]["n_stored"]
                held[who]["nanoseconds_per_value"] = 1e9 * seconds / n_stored
    figures = [{"n_documents": size, **held} for size, held in sizes.items()]
    return Outcome(
        {
            "sizes": figures,
            "not_installed": not_installed,
            "ratios": _ratios(sizes),
            "on_paper": on_paper(sizes, N_CLASSES),
        },
        tuple(f"{name} is not installed: it was not measured." for name in not_installed),
        (_passes(sizes), _commands(sizes)),
        {"": _picture(sizes)},
    )


def _ratios(sizes: dict[int, dict[str, Any]]) -> dict[str, float]:
    """What is promised: time against memory and against scikit-learn, and how both grow."""
    walked, peer, other = "shards, 1 worker", "partial_fit, 1 worker", "dask-ml, 1 worker"
    times = {size: held[walked]["nanoseconds_per_value"] for size, held in sizes.items()}
    common = max(size for size, held in sizes.items() if "memory, 1 worker" in held)
    in_memory, largest = sizes[common]["memory, 1 worker"]["nanoseconds_per_value"], max(sizes)
    made = sizes[largest]["shard, 1 worker"]
    walking = {size: held[walked] for size, held in sizes.items()}

    def most(name: str, beside: str) -> float:
        """Of all sizes at which the other was measured."""
        ratios = [walking[size][name] / held[beside][name] for size, held in sizes.items() if beside in held]
        return float(max(ratios))

    names = {"time": "pass_processor_seconds", "memory": "peak_bytes"}
    return {
        **{
            f"{what} over {who.split(',')[0]}, most": most(name, who)
            for who in (peer, other)
            for what, name in names.items()
            if who in sizes[largest]
        },
        "time of shards over memory": times[common] / in_memory,
        "time of the largest over memory": times[largest] / in_memory,
        "time of the largest over the smallest, per value": times[largest] / times[min(sizes)],
        "time over partial_fit, largest": walking[largest]["pass_processor_seconds"]
        / sizes[largest][peer]["pass_processor_seconds"],
        "memory over partial_fit, largest": walking[largest]["peak_bytes"] / sizes[largest][peer]["peak_bytes"],
        "time over partial_fit": times[common] / sizes[common][peer]["nanoseconds_per_value"],
        "memory over partial_fit": walking[common]["peak_bytes"] / sizes[common][peer]["peak_bytes"],
        "text over limit, largest": made["n_text_bytes"] / LIMIT,
        "speed of 2 workers, largest": sizes[largest][walked]["pass_seconds"]
        / sizes[largest]["shards, 2 workers"]["pass_seconds"],
    }


def _passes(sizes: dict[int, dict[str, Any]]) -> Table:
    rows = [
        (
            f"{size:,}",
            who,
            round(held[who]["pass_seconds"], 2),
            round(held[who]["pass_processor_seconds"], 2),
            round(held[who]["nanoseconds_per_value"], 1),
            round(held[who]["peak_bytes"] / 2**20),
            round(held[who]["peak_own_bytes"] / 2**20),
        )
        for size, held in sizes.items()
        for who in PASSES
        if who in held
    ]
    columns = ("documents", "who", "s", "processor s", "processor ns per value", "peak MB", "without files MB")
    return Table("A pass of EM", columns, tuple(rows))


def _commands(sizes: dict[int, dict[str, Any]]) -> Table:
    rows = [
        (
            f"{size:,}",
            stage.split(",")[0],
            round(of_command(held[stage], "seconds"), 1),
            round(of_command(held[stage], "processor_seconds"), 1),
            round(held[stage]["peak_bytes"] / 2**20),
            round(held[stage]["limit_bytes"] / 2**20) or "",
        )
        for size, held in sizes.items()
        for stage in COMMANDS
    ]
    return Table("Commands", ("documents", "command", "s", "processor s", "peak MB", "limit MB"), tuple(rows))


def of_command(held: Mapping[str, Any], name: str) -> float:
    """What a command took: the process that shards makes the texts too, which is no part of it."""
    return float(held.get(f"sharding_{name}", held[name]))


def _picture(sizes: dict[int, dict[str, Any]]) -> Picture:
    def curves(name: str, scale: float) -> tuple[Curve, ...]:
        drawn = []
        for who in PASSES:
            held = [(size, results[who][name] * scale) for size, results in sizes.items() if who in results]
            if held:
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
    version=6,
)
