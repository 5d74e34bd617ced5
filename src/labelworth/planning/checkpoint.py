"""Finished steps of a plan, kept in a folder so that an interrupted one goes on from there."""

import hashlib
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from threading import Lock
from typing import Any

from labelworth.data.files import atomic_write, make_folder


class Checkpoint:
    """Steps of one plan, keyed by what they depend on.

    Parameters
    ----------
    folder : path or None
        Made when the first step is kept; None keeps nothing.
    context : mapping
        What every step depends on: the digest of the data, the seed, versions, the model.
    """

    def __init__(self, folder: Path | None, context: Mapping[str, Any]) -> None:
        self._folder = folder
        self._context = json.dumps(context, sort_keys=True, default=str)
        self._lock = Lock()
        self.n_reused = 0

    def step(self, name: str, compute: Callable[[], Any]) -> Any:
        """The answer of a step, as JSON values: that of before, or else computed now and kept.

        A file that cannot be read as it was written is computed again. Threads may ask for different steps at once.
        """
        if self._folder is None:
            return compute()
        path = self._folder / f"{self._key(name)}.json"
        kept = _read(path)
        if kept is not None:
            with self._lock:
                self.n_reused += 1
            return kept["answer"]
        # Through its text, so that a fresh answer and one read back are the same value.
        answer = json.loads(json.dumps(compute()))
        with self._lock:
            make_folder(self._folder)
            atomic_write(path, json.dumps({"step": name, "digest": _digest(answer), "answer": answer}))
        return answer

    def _key(self, name: str) -> str:
        return hashlib.sha256(f"{self._context}\n{name}".encode()).hexdigest()[:32]


def _read(path: Path) -> Any:
    try:
        content = json.loads(path.read_bytes())
        return content if content["digest"] == _digest(content["answer"]) else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _digest(answer: Any) -> str:
    return hashlib.sha256(json.dumps(answer, sort_keys=True).encode()).hexdigest()
