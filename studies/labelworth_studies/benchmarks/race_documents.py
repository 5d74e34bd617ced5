"""Documents to race on: 20 Newsgroups as it is, and drawn ones in the shape of larger corpora."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from labelworth.arrays import UNLABELED, FloatArray, IntArray
from labelworth.data.counts import as_counts
from labelworth.data.evidence import Evidence
from labelworth.data.samples import Samples
from labelworth.data.text import count_words
from labelworth.errors import DataUnavailableError
from labelworth_studies.corpora.folder import newsgroups

LABELED_SHARE = 0.05


@dataclass(frozen=True)
class Shape:
    """How large a corpus is: documents, words of the vocabulary, distinct words per document, classes."""

    n_documents: int
    n_words: int
    n_distinct: int
    n_classes: int


NEWSGROUPS = Shape(11_314, 56_000, 105, 20)
RCV1 = Shape(200_000, 47_000, 76, 50)
SMALL = Shape(4_000, 5_000, 60, 20)


def newsgroup_documents(seed: int = 0) -> Samples:
    """The training posts of 20 Newsgroups, 5 % of them labeled; drawn ones in their shape where it is not there."""
    try:
        raw = newsgroups("train", strip_headers=False)
    except DataUnavailableError:
        return drawn_documents(NEWSGROUPS, seed)
    _, counts = count_words(raw.texts, min_df=2, stop_words="english")
    evidence = raw.evidence()
    return Samples(counts, _hidden(evidence.codes, evidence.classes, np.random.default_rng(seed)))


def drawn_documents(shape: Shape, seed: int = 0) -> Samples:
    """Documents whose words follow Zipf's law, each class with its own tilt, 5 % of them labeled."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(shape.n_classes, size=shape.n_documents)
    # About one token in eight repeats a word, so that the distinct ones come out as asked for.
    n_tokens = 1.14 * shape.n_distinct * rng.lognormal(-0.125, 0.5, shape.n_documents)
    lengths = np.maximum(5, n_tokens).astype(np.int64)
    parts = list(_tokens(shape, codes, lengths, rng))
    rows, words = (np.concatenate(part) for part in zip(*parts, strict=True))
    counts = sp.coo_array((np.ones(len(rows)), (rows, words)), shape=(shape.n_documents, shape.n_words))
    classes = tuple(range(shape.n_classes))
    return Samples(as_counts(counts), _hidden(codes, classes, rng))


def _tokens(
    shape: Shape, codes: IntArray, lengths: IntArray, rng: np.random.Generator
) -> Iterator[tuple[IntArray, IntArray]]:
    """The document and the word of every token, class by class."""
    # A word's number says nothing of how frequent it is, as in a vocabulary sorted by the alphabet.
    word_of_rank = rng.permutation(shape.n_words)
    zipf: FloatArray = 1 / (np.arange(shape.n_words) + 3.7)
    tilted = np.arange(shape.n_words) > 100
    for code in range(shape.n_classes):
        shares = zipf * np.exp(0.8 * tilted * rng.standard_normal(shape.n_words))
        edges = np.cumsum(shares / shares.sum())
        documents = np.flatnonzero(codes == code)
        rows = np.repeat(documents, lengths[documents])
        ranks = np.minimum(np.searchsorted(edges, rng.random(len(rows))), shape.n_words - 1)
        yield rows, word_of_rank[ranks]


def _hidden(codes: IntArray, classes: tuple[object, ...], rng: np.random.Generator) -> Evidence:
    kept = rng.random(len(codes)) < LABELED_SHARE
    return Evidence(np.where(kept, codes, UNLABELED), classes)
