"""From a stream of texts to shards of counts, in bounded memory.

Texts are cut into words once. Runs of *raw* codes, words numbered as they come, are written on the way, each with
the words it was the first to hold; when all words are counted, the vocabulary is settled and the runs are written
again with its codes, several to a shard. A run of this that was stopped reads its raw codes back and goes on behind
them. Where words are hashed to columns there is no vocabulary to hold, and all else is the same.
"""

import json
import shutil
from array import array
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from labelworth.arrays import AnyArray, IntArray, require_between
from labelworth.data.evidence import encode_labels
from labelworth.data.files import atomic_write, make_folder
from labelworth.data.guard import guarded
from labelworth.data.samples import Samples
from labelworth.data.shards.bounds import SHARD_WORK
from labelworth.data.shards.folder import Shards, ShardWriter, begun, narrow, write_arrays
from labelworth.data.shards.manifest import read_mapped
from labelworth.data.text import TWO_LETTERS_OR_MORE, analyzer
from labelworth.errors import InvalidInputError
from labelworth.progress import SILENT, Progress, tracking

_RAW = ".raw"
_RUN = 1 << 21
"""Words of texts that are held at once."""
_LARGEST = 1 << 25
_HASHES_KEPT = 1 << 17


@dataclass(frozen=True)
class Words:
    """Which words are counted, as in `labelworth.data.text.count_words`."""

    min_documents: int = 1
    most: int | None = None
    token_pattern: str = TWO_LETTERS_OR_MORE
    lowercase: bool = True
    hash_bits: int | None = None  # Columns are the last bits of a word's hash; None: a column per word.

    def __post_init__(self) -> None:
        if self.hash_bits is not None:
            require_between("hash_bits", self.hash_bits, 1, 31)
            if self.min_documents > 1 or self.most is not None:
                raise InvalidInputError(
                    "Columns of hashed words stand for whatever falls into them, and all are kept: leave out "
                    "min_documents and max_words, or hash_bits."
                )


def values_per_shard(n_classes: int, n_words: int) -> int:
    """How many values a shard holds unless somebody says: more than the sums that a pass over it returns."""
    return min(_LARGEST, max(SHARD_WORK, 2 * n_classes * n_words))


def shard_texts(
    rows: Iterable[tuple[str, Any]],
    folder: Path,
    *,
    words: Words | None = None,
    classes: Sequence[Any] | None = None,
    stored_per_shard: int | None = None,
    source: str = "",
    asked: Any = None,
    progress: Progress = SILENT,
) -> Shards:
    """Write texts with their labels as shards of counts.

    Parameters
    ----------
    rows : iterable of (text, label)
        A label is a class, None or a list of candidates.
    classes : sequence, optional
        All classes there are; those of the labels unless given.
    stored_per_shard : int, optional
        About how many values a shard holds; see `values_per_shard`.
    source : str
        Where rows come from, in words.
    asked : what JSON can write, optional
        Whatever else says which rows these are: a run that was stopped goes on if all of it is the same.

    Raises
    ------
    InvalidInputError
        If there are no rows, or no words.
    OutputError
        If the folder cannot be written, or the disk is full. What was finished stays.
    """
    words = words or Words()
    run = _RUN if stored_per_shard is None else min(_RUN, stored_per_shard)
    raw = _Raw(begun(folder) / _RAW, json.dumps([source, asked, repr(words), run], default=str), words)
    with tracking(progress, "Counting words", None) as task:
        for n_rows in raw.read(rows, run):
            task.advance(n_rows, note=f"{raw.n_codes:,} words")
    if not raw.names:
        raise InvalidInputError("There are no rows to write.")
    names, new_code = _vocabulary(raw, words)
    n_words = raw.n_codes if names is None else len(names)
    known = encode_labels(raw.labels, classes=classes, unlabeled=None)
    wanted = stored_per_shard or values_per_shard(len(known.classes), n_words)
    writer = ShardWriter(folder)
    with tracking(progress, "Writing shards", len(raw.names)) as task:
        for name in raw.names:
            counts = _recoded(raw.counts(name), new_code, n_words)
            labels = known.take(np.asarray(raw.label_codes(name), dtype=np.int64))
            writer.gather(Samples(counts, labels), wanted)
            task.advance()
    reading = {"token_pattern": words.token_pattern, "lowercase": words.lowercase}
    if words.hash_bits is not None:
        reading["hash_bits"] = words.hash_bits
    writer.finish(known.classes, names, reading, source)
    shutil.rmtree(folder / _RAW)
    return Shards.open(folder)


class _Raw:
    """Runs of raw codes, on disk, and the words and labels met so far."""

    def __init__(self, folder: Path, asked: str, words: Words) -> None:
        self._folder = folder
        self._words = words
        self.code_of: defaultdict[str, int] = defaultdict()
        # A word that is asked for the first time gets the next number.
        self.code_of.default_factory = self.code_of.__len__
        self.labels: list[Any] = []
        self._label_of: dict[str, int] = {}
        self.names: list[str] = []
        self.n_rows = 0
        mark = folder / "asked.json"
        if folder.exists() and not (mark.is_file() and mark.read_text(encoding="utf-8") == asked):
            shutil.rmtree(folder)  # Of something else, or of nobody knows what.
        make_folder(folder)
        atomic_write(mark, asked)
        while (folder / f"{len(self.names):06d}").is_dir():
            self._take_up(f"{len(self.names):06d}")

    @property
    def n_codes(self) -> int:
        return len(self.code_of) if self._words.hash_bits is None else 1 << self._words.hash_bits

    def _take_up(self, name: str) -> None:
        """What a run of before was the first to hold."""
        with guarded(self._folder, "holds damaged raw codes", "Remove the folder, and begin again."):
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
        shape = (len(indptr) - 1, self.n_codes)
        return sp.csr_array((values.astype(np.float64), indices, indptr), shape=shape)

    def label_codes(self, name: str) -> AnyArray:
        return read_mapped(self._folder / name, "codes")

    def read(self, rows: Iterable[tuple[str, Any]], run: int) -> Iterator[int]:
        """Write run after run, behind those that are there; say how many rows each one has."""
        analyze = analyzer(self._words.token_pattern, self._words.lowercase)
        code = self.code_of.__getitem__ if self._words.hash_bits is None else _hasher(self._words.hash_bits)
        codes, ends, labels = array("i"), array("q", [0]), array("i")
        n_words, n_labels = len(self.code_of), len(self.labels)
        for text, label in islice(iter(rows), self.n_rows, None):
            codes.extend(map(code, analyze(text)))
            ends.append(len(codes))
            labels.append(self._label_code(label))
            if len(codes) >= run:
                yield self._write(codes, ends, labels, n_words, n_labels)
                codes, ends, labels = array("i"), array("q", [0]), array("i")
                n_words, n_labels = len(self.code_of), len(self.labels)
        if labels:
            yield self._write(codes, ends, labels, n_words, n_labels)

    def _write(
        self, codes: "array[int]", ends: "array[int]", labels: "array[int]", n_words: int, n_labels: int
    ) -> int:
        name = f"{len(self.names):06d}"
        counts = sp.csr_array((np.ones(len(codes)), np.asarray(codes), np.asarray(ends)), (len(labels), self.n_codes))
        counts.sum_duplicates()
        new = {"words": list(islice(self.code_of, n_words, None)), "labels": self.labels[n_labels:]}
        atomic_write(self._folder / f"{name}.json", json.dumps(new, ensure_ascii=True))
        arrays = {"indptr": counts.indptr, "indices": counts.indices, "values": narrow(counts.data)}
        # Last: the run counts once its folder is there.
        write_arrays(self._folder / name, {**arrays, "codes": np.asarray(labels)})
        self.names.append(name)
        return len(labels)


def _hasher(bits: int) -> Callable[[str], int]:
    """A word -> its column, by the hash that scikit-learn's `HashingVectorizer` takes, without signs."""
    from sklearn.utils import murmurhash3_32

    last = (1 << bits) - 1

    # Frequent words are most of a text.
    @lru_cache(_HASHES_KEPT)
    def column(word: str) -> int:
        return abs(int(murmurhash3_32(word))) & last

    return column


def _vocabulary(raw: _Raw, words: Words) -> tuple[list[str] | None, IntArray | None]:
    """The words that are kept, sorted, and the code of every raw one among them, or -1; None where all stays."""
    if words.hash_bits is not None:
        return None, None
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


def _recoded(counts: sp.csr_array, new_code: IntArray | None, n_words: int) -> sp.csr_array:
    if new_code is None:
        return counts
    codes = new_code[counts.indices]
    is_kept = codes >= 0
    ends = np.concatenate([[0], np.cumsum(is_kept)])[counts.indptr]
    recoded = sp.csr_array((counts.data[is_kept], codes[is_kept], ends), shape=(counts.shape[0], n_words))
    recoded.sort_indices()
    return recoded
