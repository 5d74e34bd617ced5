"""One stage of work at scale, in a process of its own, with what it took: seconds, and the most memory it held.

``python -m labelworth_studies.scale.parts.measure STAGE FOLDER N_DOCUMENTS SEED WORKERS LIMIT``

LIMIT is how many bytes of data the process may hold (``RLIMIT_DATA``: all memory of its own that it may write to;
files that are only read do not count). One that asks for more is refused by the system, and fails.
"""

import contextlib
import importlib.util
import io
import json
import resource
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from labelworth.arrays import IntArray
from labelworth.data.readers.row_streams import stream_rows
from labelworth.data.shards.features import Part, in_memory
from labelworth.data.shards.folder import Shards
from labelworth.data.shards.manifest import ARRAYS, is_folder_of_shards, read_mapped
from labelworth.data.shards.texts import shard_texts
from labelworth.errors import DidNotConvergeWarning
from labelworth_studies.corpora.zipf_documents import write_corpus

N_STEPS = 4
_PIECE_OF_PEER = 1 << 22
"""Values that scikit-learn is given at once: of windows its table of logarithms would be most of the work."""
_MADE = "made.json"
_LOOK = 0.02
"""Seconds between looks at how much memory is held."""


def _shard(folder: Path, n_documents: int, seed: int, workers: int) -> dict[str, Any]:
    """From a seed to texts to shards."""
    path, shards = folder / "corpus.jsonl", folder / "shards"
    if not path.is_file():
        write_corpus(path, n_documents, seed)
    started = _now()
    manifest = shard_texts(stream_rows(path, "jsonl"), shards, source=f"{n_documents} of {seed}").manifest
    ended = _now()
    return {
        "n_text_bytes": path.stat().st_size,
        "n_bytes": manifest.n_bytes,
        "n_stored": manifest.n_stored,
        "n_features": manifest.n_features,
        "n_shards": len(manifest.shards),
        "sharding_seconds": ended[0] - started[0],
        "sharding_processor_seconds": ended[1] - started[1],
    }


def _passes(data: Any) -> dict[str, Any]:
    """Some steps of EM; the first lays out what is kept, and is left out."""
    # Fetched here: who is measured for comparison does not hold the compiler.
    from labelworth.estimation.fit import fit
    from labelworth.models.classes.multinomial import MultinomialFamily

    family = MultinomialFamily.for_samples(data, smoothing=0.1)
    took: list[tuple[float, float]] = [_now()]

    class Watching:
        def start(self, title: str, total: int | None) -> "Watching":
            return self

        def finish(self, task: Any) -> None: ...

        def say(self, message: str) -> None: ...

        def advance(self, steps: int = 1, note: str = "", seconds: float | None = None) -> None:
            took.append(_now())

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DidNotConvergeWarning)
        fitted = fit(family, data, max_iterations=N_STEPS, accelerated=False, tolerance=1e-300, progress=Watching())
    steps = np.diff(np.array(took), axis=0)[1:]
    return {
        "pass_seconds": float(np.median(steps[:, 0])),
        "pass_processor_seconds": float(np.median(steps[:, 1])),
        "objective": fitted.objective,
    }


def _now() -> tuple[float, float]:
    return time.perf_counter(), time.process_time()


def _shards(folder: Path, n_documents: int, seed: int, workers: int) -> dict[str, Any]:
    return _passes(Shards.open(folder / "shards", workers=workers).data)


def _memory(folder: Path, n_documents: int, seed: int, workers: int) -> dict[str, Any]:
    from dataclasses import replace

    data: Any = Shards.open(folder / "shards", workers=workers).data
    return _passes(replace(data, features=in_memory(data.features)))


def _peer(folder: Path, n_documents: int, seed: int, workers: int) -> dict[str, Any]:
    """One pass of scikit-learn over the same shards; it is given a class for every row."""
    from sklearn.naive_bayes import MultinomialNB

    data: Any = Shards.open(folder / "shards").data
    classes = np.arange(data.evidence.n_classes)
    model, first, started = MultinomialNB(), 0, _now()
    for piece in _pieces(data.features.parts):
        model.partial_fit(piece, _any_classes(seed, first, piece.shape[0], len(classes)), classes)
        first += piece.shape[0]
    return _one_pass(started)


def _dask_ml(folder: Path, n_documents: int, seed: int, workers: int) -> dict[str, Any]:
    """The same through dask-ml, whose own naive Bayes is for dense vectors; told where it is not installed."""
    if importlib.util.find_spec("dask_ml") is None:
        return {"not_installed": "dask_ml"}
    from sklearn.naive_bayes import MultinomialNB

    # By name: studies do not need them to be installed.
    peer: tuple[Any, ...] = tuple(map(importlib.import_module, ("dask", "dask.array", "dask_ml.wrappers")))
    dask, arrays, wrappers = peer
    data: Any = Shards.open(folder / "shards").data
    n_classes, n_features = data.evidence.n_classes, data.n_features
    counts, labels, first = [], [], 0
    for part in data.features.parts:
        for rows in np.array_split(np.arange(part.n_rows), -(-part.n_stored // _PIECE_OF_PEER)):
            read = dask.delayed(_rows_of, pure=False)(part, rows[0], rows[-1] + 1)
            counts.append(arrays.from_delayed(read, (len(rows), n_features), np.float64))
            drawn = dask.delayed(_any_classes, pure=False)(seed, first, len(rows), n_classes)
            labels.append(arrays.from_delayed(drawn, (len(rows),), np.int64))
            first += len(rows)
    learner = wrappers.Incremental(MultinomialNB(), shuffle_blocks=False, assume_equal_chunks=True)
    started = _now()
    with dask.config.set(scheduler="synchronous"):
        learner.fit(arrays.concatenate(counts), arrays.concatenate(labels), classes=np.arange(n_classes))
    return _one_pass(started)


def _one_pass(started: tuple[float, float]) -> dict[str, Any]:
    ended = _now()
    return {"pass_seconds": ended[0] - started[0], "pass_processor_seconds": ended[1] - started[1]}


def _any_classes(seed: int, first: int, n_rows: int, n_classes: int) -> IntArray:
    return np.random.default_rng([seed, first]).integers(0, n_classes, size=n_rows)


def _rows_of(part: Part, first: int, end: int) -> sp.csr_array:
    """Some rows of a shard, of the files themselves."""
    indptr, indices, values = (read_mapped(Path(part.folder), name) for name in ARRAYS[part.kind])
    ends = indptr[first : end + 1].astype(np.int64)
    held = slice(int(ends[0]), int(ends[-1]))
    parts = (values[held].astype(np.float64), np.array(indices[held]), (ends - ends[0]).astype(np.int32))
    return sp.csr_array(parts, shape=(end - first, part.n_features))


def _pieces(parts: Any) -> Iterator[sp.csr_array]:
    held: list[sp.csr_array] = []
    for part in parts:
        for window in part.windows():
            held.append(window)
            if sum(some.nnz for some in held) >= _PIECE_OF_PEER:
                yield sp.csr_array(sp.vstack(held, format="csr"))
                held = []
    if held:
        yield sp.csr_array(sp.vstack(held, format="csr"))


def _fit(folder: Path, n_documents: int, seed: int, workers: int) -> dict[str, Any]:
    """`labelworth fit` until it has converged."""
    record = _command(
        "fit", folder / "shards", "-o", folder / "model.lw", "--smoothing", 0.1, "--workers", workers, "--model",
        "multinomial",
    )  # fmt: skip
    return {name: record[name] for name in ("n_iterations", "objective", "converged")}


def _plan(folder: Path, n_documents: int, seed: int, workers: int) -> dict[str, Any]:
    """`labelworth plan` for as many labels more as there are."""
    budget = 2 * round(0.01 * n_documents)
    record = _command(
        "plan", folder / "shards", "--model", "multinomial", "--price-label", 1, "--budget", budget, "--max-time", 15,
        "--workers", workers,
    )  # fmt: skip
    return {"recommended": record["recommended"]}


def _command(*words: object) -> dict[str, Any]:
    from labelworth.cli.main import app

    said = io.TextIOWrapper(io.BytesIO())
    with contextlib.redirect_stdout(said), contextlib.suppress(SystemExit):
        app([*map(str, words), "--json"])
    said.seek(0)
    record: dict[str, Any] = json.loads(said.read())
    return record


STAGES: dict[str, Callable[[Path, int, int, int], dict[str, Any]]] = {
    "shard": _shard,
    "shards": _shards,
    "memory": _memory,
    "partial_fit": _peer,
    "dask-ml": _dask_ml,
    "fit": _fit,
    "plan": _plan,
}


def measured(stage: str, folder: Path, n_documents: int, seed: int, workers: int) -> dict[str, Any]:
    """Do a stage; shards that were made before are not made again, and it is told what they took then."""
    if stage == "shard" and is_made(folder):
        then: dict[str, Any] = json.loads((folder / _MADE).read_text())
        return then
    peaks = _Peaks()
    started = _now()
    told = STAGES[stage](folder, n_documents, seed, workers)
    ended = _now()
    told |= {"seconds": ended[0] - started[0], "processor_seconds": ended[1] - started[1], **peaks.told()}
    if stage == "shard":
        (folder / _MADE).write_text(json.dumps(told))
    return told


class _Peaks:
    """The most memory that the process held: all, and without files that are mapped and libraries."""

    def __init__(self) -> None:
        self._own = _status("RssAnon")
        threading.Thread(target=self._watch, daemon=True).start()

    def _watch(self) -> None:
        while True:
            self._own = max(self._own, _status("RssAnon"))
            time.sleep(_LOOK)

    def told(self) -> dict[str, int]:
        # Not what getrusage says: a process begins with the peak of the one that it was forked from.
        return {"peak_bytes": _status("VmHWM"), "peak_own_bytes": self._own}


def _status(name: str) -> int:
    """Of this process, in bytes."""
    lines = Path("/proc/self/status").read_text(encoding="ascii", errors="replace").splitlines()
    return next(1024 * int(line.split()[1]) for line in lines if line.startswith(f"{name}:"))


def is_made(folder: Path) -> bool:
    return is_folder_of_shards(folder / "shards") and (folder / _MADE).is_file()


if __name__ == "__main__":
    stage, folder, n_documents, seed, workers, limit = sys.argv[1:]
    if int(limit):
        resource.setrlimit(resource.RLIMIT_DATA, (int(limit), int(limit)))
    sys.stdout.write(json.dumps(measured(stage, Path(folder), int(n_documents), int(seed), int(workers))) + "\n")
