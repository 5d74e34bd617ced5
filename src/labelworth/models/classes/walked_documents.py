"""Documents that lie in a shard, read window by window with every pass: what they take is never held at once."""

import weakref
from collections.abc import Iterator
from threading import Lock
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from labelworth.arrays import AnyArray, FloatArray, IntArray
from labelworth.data.counts import as_counts
from labelworth.data.evidence import Evidence
from labelworth.data.shards.features import Part
from labelworth.kernels.documents import layout
from labelworth.kernels.documents.windows import (
    WordLogarithms,
    are_clean,
    begin_walk,
    end_walk,
    read_window,
    take_logarithms,
)
from labelworth.kernels.rows.tables import padded_width
from labelworth.models.protocol import Expectation

if TYPE_CHECKING:
    from labelworth.models.classes.multinomial import MultinomialModel


class _Window(NamedTuple):
    """Some rows of a shard, as kernels take them."""

    starts: IntArray
    words: AnyArray
    counts: FloatArray


class WalkedDocuments:
    """Rows of a shard with their evidence, for passes that give the bits of `MultinomialPass`.

    Held between passes are codes and weights in narrow types, and sums over the rows whose class was seen.
    """

    def __init__(self, part: Part, evidence: Evidence, row_weights: FloatArray) -> None:
        codes = evidence.codes
        self._part = part
        self._codes = codes.astype(np.min_scalar_type(-1 - int(np.abs(codes).max(initial=0))))
        self._candidates = np.ascontiguousarray(evidence.weights, dtype=np.float64)
        self._weights = row_weights[:1].copy() if (row_weights == row_weights[0]).all() else row_weights
        self._n_open = int(np.count_nonzero(codes < 0))
        self._known = self._sum_known(evidence.n_classes)

    def expectation(self, model: "MultinomialModel") -> Expectation:
        """Expected ``class_weights`` (K,) and ``word_counts`` (K, V), and the log-likelihood."""
        logarithms = _logarithms(model)
        walk, n_before = begin_walk(logarithms, self._known, self._n_open), 0
        for window, evidence in self._windows():
            n_before = read_window(*window, evidence, logarithms, walk, n_before)
        class_weights, word_counts, log_likelihood = end_walk(walk, logarithms, self._known)
        return Expectation({"class_weights": class_weights, "word_counts": word_counts}, log_likelihood)

    def _sum_known(self, n_classes: int) -> layout.Known:
        class_weights = np.zeros(n_classes)
        if not (self._codes >= 0).any():
            return layout.Known(class_weights, np.empty(0, dtype=np.int64), np.empty(0))
        table = np.zeros((self._part.n_features, padded_width(n_classes)))
        for window, evidence in self._windows():
            seen = np.flatnonzero(evidence.codes >= 0)
            layout.add_known(*window, evidence, seen, class_weights, table)
        return layout.known_of(class_weights, table)

    def _windows(self) -> Iterator[tuple[_Window, layout.Evidence]]:
        """Clean counts of some rows after the other, with what is known of them; the next are written over them."""
        first = 0
        for window in self._counts():
            end = first + len(window.starts) - 1
            weights = self._weights if len(self._weights) == 1 else self._weights[first:end]
            evidence = layout.Evidence(
                self._codes[first:end].astype(np.int64),
                self._candidates,
                np.ascontiguousarray(np.broadcast_to(weights, end - first)),
            )
            yield window, evidence
            first = end

    def _counts(self) -> Iterator[_Window]:
        """Copies, as files may change while they are read; into memory that is there, as new memory takes longer."""
        part, words, counts = self._part, np.empty(0, dtype=np.int32), np.empty(0)
        is_whole = part.rows is None and part.change is None
        for stored in part.stored():
            n_stored = len(stored.columns)
            if n_stored > len(words):
                words, counts = np.empty(n_stored, dtype=np.int32), np.empty(n_stored)
            if is_whole and stored.columns.dtype == words.dtype:
                window = _Window(stored.starts, words[:n_stored], counts[:n_stored])
                window.words[...], window.counts[...] = stored.columns, stored.values
                if are_clean(*window, part.n_features):
                    yield window
                    continue
            chosen = part.window(stored)
            if chosen is not None:
                clean = as_counts(chosen)
                yield _Window(clean.indptr.astype(np.int64), clean.indices, clean.data)


_LOCK = Lock()
_LATEST: dict[str, tuple["weakref.ref[MultinomialModel]", WordLogarithms]] = {}


def _logarithms(model: "MultinomialModel") -> WordLogarithms:
    """Its parameters as passes read them: all shards and threads of a process share them while one model is asked."""
    with _LOCK:
        reference, logarithms = _LATEST.get("", (None, None))
        if logarithms is None or reference is None or reference() is not model:
            # Before new ones are made: there need not be room for both.
            del logarithms
            _LATEST.clear()
            logarithms = take_logarithms(model.log_class_probabilities, model.word_probabilities)
            # Nobody asks for them once the model is gone; every pass has one of its own.
            gone = weakref.ref(model, lambda _: _LATEST.clear())
            _LATEST[""] = (gone, logarithms)
        return logarithms
