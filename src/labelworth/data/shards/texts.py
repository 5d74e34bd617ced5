"""From a stream of texts to shards of counts, in bounded memory.

Texts are cut into words once. Shards of *raw* codes, words numbered as they come, are written on the way, each with
the words it was the first to hold; when all words are counted, the vocabulary is settled and the shards are written
again with its codes. A run that was stopped reads its raw shards back and goes on behind them.
"""

import json
import shutil
from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from labelworth.arrays import AnyArray, IntArray
from labelworth.data.evidence import encode_labels
from labelworth.data.files import atomic_write, make_folder
from labelworth.data.guard import guarded
from labelworth.data.samples import Samples
from labelworth.data.shards.bounds import SHARD_WORK
from labelworth.data.shards.folder import Shards, ShardWriter, narrow, write_arrays
from labelworth.data.shards.manifest import read_mapped
from labelworth.data.text import TWO_LETTERS_OR_MORE, analyzer
from labelworth.errors import InvalidInputError
from labelworth.progress import SILENT, Progress, tracking

_RAW = ".raw"


@dataclass(frozen=True)
class Words:
    """Which words are counted, as in `labelworth.data.text.count_words`."""

    min_documents: int = 1
    most: int | None = None
    token_pattern: str = TWO_LETTERS_OR_MORE
    lowercase: bool = True


def shard_texts(
    rows: Iterable[tuple[str, Any]],
    folder: Path,
    *,
    words: Words | None = None,
    classes: Sequence[Any] | None = None,
    stored_per_shard: int = SHARD_WORK,
    source: str = "",
    progress: Progress = SILENT,
) -> Shards:
    """Write texts with their labels as shards of counts.

    Parameters
    ----------
    rows : iterable of (text, label)
        A label is a class, None or a list of candidates.
    classes : sequence, optional
        All classes there are; those of the labels unless given.
    source : str
        Where rows come from: a run that was stopped goes on if this and the settings are the same.

    Raises
    ------
    InvalidInputError
        If there are no rows, or no words.
    OutputError
        If the folder cannot be written, or the disk is full. What was finished stays.
    """
    words = words or Words()
    raw = _Raw(make_folder(folder) / _RAW, json.dumps([source, repr(words), stored_per_shard]))
    with tracking(progress, "Counting words", None) as task:
        for n_rows in raw.read(rows, words, stored_per_shard):
            task.advance(n_rows, note=f"{len(raw.code_of):,} words")
    if not raw.names:
        raise InvalidInputError("There are no rows to write.")
    names, new_code = _vocabulary(raw, words)
    known = encode_labels(raw.labels, classes=classes, unlabeled=None)
    writer = ShardWriter(folder)
    with tracking(progress, "Writing shards", len(raw.names)) as task:
        for name in raw.names:
            counts = _recoded(raw.counts(name), new_code, len(names))
            writer.add(Samples(counts, known.take(np.asarray(raw.label_codes(name), dtype=np.int64))))
            task.advance()
    reading = {"token_pattern": words.token_pattern, "lowercase": words.lowercase}
    writer.finish(known.classes, names, reading, source)
    shutil.rmtree(folder / _RAW)
    return Shards.open(folder)


class _Raw:
    """Shards of raw codes, on disk, and the words and labels met so far."""

    def __init__(self, folder: Path, asked: str) -> None:
        self._folder = folder
        self.code_of: dict[str, int] = {}
        self.labels: list[Any] = []
        self._label_of: dict[str, int] = {}
        self.names: list[str] = []
        self.n_rows = 0
        mark = folder / "asked.json"
        if mark.is_file() and mark.read_text(encoding="utf-8") != asked:
            shutil.rmtree(folder)
        make_folder(folder)
        atomic_write(mark, asked)
        while (folder / f"{len(self.names):06d}").is_dir():
            self._take_up(f"{len(self.names):06d}")

    def _take_up(self, name: str) -> None:
        """What a shard of before was the first to hold."""
        with guarded(self._folder, "holds a damaged raw shard", "Remove the folder, and begin again."):
            new = json.loads((self._folder / f"{name}.json").read_bytes())
            for word in new["words"]:
                self.code_of[word] = len(self.code_of)
            for label in new["labels"]:
                self._label_code(label)
        self.n_rows += len(self.label_codes(name))
        self.names.append(name)

    def _label_code(self, label: Any) -> int:
        # As JSON writes it: 1 and "1" are two labels, and a list is one.
        key = json.dumps(label)
        if key not in self._label_of:
            self._label_of[key] = len(self.labels)
            self.labels.append(label)
        return self._label_of[key]

    def counts(self, name: str) -> sp.csr_array:
        indptr, indices, values = (read_mapped(self._folder / name, part) for part in ("indptr", "indices", "values"))
        shape = (len(indptr) - 1, len(self.code_of))
        return sp.csr_array((values.astype(np.float64), indices, indptr), shape=shape)

    def label_codes(self, name: str) -> AnyArray:
        return read_mapped(self._folder / name, "codes")

    def read(self, rows: Iterable[tuple[str, Any]], words: Words, stored_per_shard: int) -> Iterator[int]:
        """Write shard after shard, behind those that are there; say how many rows each one has."""
        analyze = analyzer(words.token_pattern, words.lowercase)
        code_of = self.code_of
        codes, ends, labels = array("i"), array("q", [0]), array("i")
        n_words, n_labels = len(code_of), len(self.labels)
        for text, label in islice(iter(rows), self.n_rows, None):
            codes.extend([code_of.setdefault(word, len(code_of)) for word in analyze(text)])
            ends.append(len(codes))
            labels.append(self._label_code(label))
            if len(codes) >= stored_per_shard:
                yield self._write(codes, ends, labels, n_words, n_labels)
                codes, ends, labels = array("i"), array("q", [0]), array("i")
                n_words, n_labels = len(code_of), len(self.labels)
        if labels:
            yield self._write(codes, ends, labels, n_words, n_labels)

    def _write(
        self, codes: "array[int]", ends: "array[int]", labels: "array[int]", n_words: int, n_labels: int
    ) -> int:
        name = f"{len(self.names):06d}"
        counts = sp.csr_array(
            (np.ones(len(codes)), np.asarray(codes), np.asarray(ends)), (len(labels), len(self.code_of))
        )
        counts.sum_duplicates()
        new = {"words": list(islice(self.code_of, n_words, None)), "labels": self.labels[n_labels:]}
        atomic_write(self._folder / f"{name}.json", json.dumps(new, ensure_ascii=True))
        arrays = {"indptr": counts.indptr, "indices": counts.indices, "values": narrow(counts.data)}
        # Last: the shard counts once its folder is there.
        write_arrays(self._folder / name, {**arrays, "codes": np.asarray(labels)})
        self.names.append(name)
        return len(labels)


def _vocabulary(raw: _Raw, words: Words) -> tuple[list[str], IntArray]:
    """The words that are kept, sorted, and the code of every raw one among them, or -1."""
    in_documents, in_all = np.zeros(len(raw.code_of), dtype=np.int64), np.zeros(len(raw.code_of))
    for name in raw.names:
        counts = raw.counts(name)
        in_documents += np.bincount(counts.indices, minlength=len(in_documents))
        in_all += np.bincount(counts.indices, weights=counts.data, minlength=len(in_all))
    given = list(raw.code_of)
    kept = sorted(
        (code for code in range(len(given)) if in_documents[code] >= words.min_documents), key=given.__getitem__
    )
    if words.most is not None and words.most < len(kept):
        # Among equals the first in the alphabet, as in `count_words`.
        often = np.sort(np.argsort(-in_all[kept], kind="stable")[: words.most])
        kept = [kept[position] for position in often.tolist()]
    if not kept:
        raise InvalidInputError(
            "There are no words to count: the texts are empty, or none is left with "
            f"min_df={words.min_documents}. Ask for less."
        )
    new_code = np.full(len(given), -1, dtype=np.int64)
    new_code[kept] = np.arange(len(kept))
    return [given[code] for code in kept], new_code


def _recoded(counts: sp.csr_array, new_code: IntArray, n_words: int) -> sp.csr_array:
    codes = new_code[counts.indices]
    is_kept = codes >= 0
    ends = np.concatenate([[0], np.cumsum(is_kept)])[counts.indptr]
    recoded = sp.csr_array((counts.data[is_kept], codes[is_kept], ends), shape=(counts.shape[0], n_words))
    recoded.sort_indices()
    return recoded
