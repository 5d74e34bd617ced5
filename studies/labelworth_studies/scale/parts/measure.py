"""One stage of work at scale, in a process of its own, with what it took: seconds, and the most memory it held.

``python -m labelworth_studies.scale.parts.measure STAGE FOLDER N_DOCUMENTS SEED WORKERS``
"""

import json
import resource
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from labelworth.data.readers.row_streams import stream_rows
from labelworth.data.shards.features import in_memory
from labelworth.data.shards.folder import Shards
from labelworth.data.shards.texts import shard_texts
from labelworth.errors import DidNotConvergeWarning
from labelworth.estimation.fit import fit
from labelworth.models.classes.multinomial import MultinomialFamily
from labelworth_studies.corpora.zipf_documents import write_corpus

N_STEPS = 4


def _corpus(folder: Path, n_documents: int, seed: int, workers: int) -> dict[str, Any]:
    write_corpus(folder / "corpus.jsonl", n_documents, seed)
    return {"n_bytes": (folder / "corpus.jsonl").stat().st_size}


def _shard(folder: Path, n_documents: int, seed: int, workers: int) -> dict[str, Any]:
    path = folder / "corpus.jsonl"
    manifest = shard_texts(stream_rows(path, "jsonl"), folder / "shards", source=f"{n_documents} of {seed}").manifest
    return {"n_bytes": manifest.n_bytes, "n_stored": manifest.n_stored, "n_features": manifest.n_features}


def _passes(data: Any) -> dict[str, Any]:
    """Some steps of EM; the first lays out what is kept, and is told apart."""
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
    labels = np.random.default_rng(seed).integers(0, len(classes), size=data.n_samples)
    model, first, started = MultinomialNB(), 0, _now()
    for part in data.features.parts:
        model.partial_fit(part.read(), labels[first : first + part.n_rows], classes)
        first += part.n_rows
    ended = _now()
    return {"pass_seconds": ended[0] - started[0], "pass_processor_seconds": ended[1] - started[1]}


STAGES: dict[str, Callable[[Path, int, int, int], dict[str, Any]]] = {
    "corpus": _corpus,
    "shard": _shard,
    "shards": _shards,
    "memory": _memory,
    "partial_fit": _peer,
}


def measured(stage: str, folder: Path, n_documents: int, seed: int, workers: int) -> dict[str, Any]:
    started = _now()
    told = STAGES[stage](folder, n_documents, seed, workers)
    ended = _now()
    return {
        **told,
        "seconds": ended[0] - started[0],
        "processor_seconds": ended[1] - started[1],
        "peak_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
    }


if __name__ == "__main__":
    stage, folder, n_documents, seed, workers = sys.argv[1:]
    sys.stdout.write(json.dumps(measured(stage, Path(folder), int(n_documents), int(seed), int(workers))) + "\n")
