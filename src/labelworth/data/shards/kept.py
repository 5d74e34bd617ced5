"""Passes that are kept: what was added up once is read back when the same is asked again.

EM, L-BFGS and Lanczos walk the same way from the same start, so a run that was killed, begun again, finds all of its
passes but the one that was under way.
"""

import zipfile
from collections.abc import Iterator, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from joblib import hash as digest_of

from labelworth.data.files import atomic_writer, make_folder
from labelworth.data.guard import read_archive, read_array
from labelworth.engines.runner import Piecework, Runner, Sums


class KeptRunner:
    """A runner whose totals are kept in a folder, each in a file called after the digest of all it depends on."""

    def __init__(self, runner: Runner, folder: Path) -> None:
        self._runner, self._folder = runner, make_folder(folder)
        self.n_reused = 0

    @property
    def workers(self) -> int:
        return self._runner.workers

    @property
    def is_elsewhere(self) -> bool:
        return self._runner.is_elsewhere

    def map(self, function: Piecework, shared: Any, items: Sequence[Any]) -> Iterator[Any]:
        return self._runner.map(function, shared, items)

    def total(self, function: Piecework, shared: Any, items: Sequence[Any]) -> Sums:
        name = f"{function.__module__}.{function.__qualname__}"
        digest = digest_of((version("labelworth"), name, shared, tuple(items)), hash_name="sha1")
        path = self._folder / f"{digest}.npz"
        kept = _read(path)
        if kept is not None:
            self.n_reused += 1
            return kept
        total = self._runner.total(function, shared, items)
        _write(path, total)
        return total


def _write(path: Path, sums: Sums) -> None:
    with atomic_writer(path) as stream, zipfile.ZipFile(stream, "w", zipfile.ZIP_STORED) as archive:
        for name, array in sums.items():
            # A sum may be large: it is written as it is, without a copy.
            with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                np.lib.format.write_array(member, np.asarray(array), allow_pickle=False)


def _read(path: Path) -> Sums | None:
    """What was kept; None where nothing was, or what lies there is damaged."""
    try:
        members = read_archive(path.read_bytes(), path, may_be_packed=False)
        # A zip file holds a checksum of every member: what was changed is not read.
        return {name.removesuffix(".npy"): read_array(content) for name, content in members.items()}
    except (OSError, ValueError, SyntaxError, KeyError, zipfile.BadZipFile):
        return None
