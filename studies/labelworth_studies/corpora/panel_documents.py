"""The corpora of the paper's document panels as samples: every document with its class, the most frequent words.

Words are runs of two letters or more in lower case, without English stop words; the vocabulary is made of the most
frequent words of the whole corpus, labels playing no part. Documents without a word of it are left out.
"""

from collections.abc import Callable, Mapping
from functools import lru_cache
from types import MappingProxyType

import numpy as np
import scipy.sparse as sp

from labelworth.data.counts import as_counts, document_lengths, rescale_documents
from labelworth.data.digest import texts_digest
from labelworth.data.readers.raw import RawTexts
from labelworth.data.samples import Samples
from labelworth.data.text import count_words
from labelworth.errors import InvalidInputError
from labelworth.models.classes.multinomial import MultinomialFamily
from labelworth_studies.corpora.folder import newsgroups, rcv1_tokens, reuters_r52

RESCALED_LENGTH = 20.0
"""To how many words documents are rescaled, where they are."""
N_LARGEST = 8
_TWO_LETTERS = r"(?u)[^\W\d_]{2,}"

CORPORA: Mapping[str, Callable[[], RawTexts]] = MappingProxyType(
    {
        "rcv1": rcv1_tokens,
        "r52": lambda: reuters_r52(n_largest=N_LARGEST),
        "newsgroups": lambda: newsgroups("train"),
    }
)
"""RCV1 stories with one top-level topic, the 8 largest classes of R52, and the training posts of 20 Newsgroups."""


@lru_cache(maxsize=2)
def panel_samples(corpus: str, n_words: int, document_length: float | None) -> Samples:
    """All documents of a corpus that have a class.

    Parameters
    ----------
    n_words : int
        The size of the vocabulary.
    document_length : float or None
        To how many words every document is rescaled; None leaves them as they are.
    """
    vocabulary, counts, texts = _counted(corpus)
    totals = np.bincount(counts.indices, weights=counts.data, minlength=len(vocabulary))
    # Ties go to the word that comes first, so that every machine keeps the same ones.
    kept = np.sort(np.argsort(-totals, kind="stable")[:n_words])
    cut = as_counts(counts[:, kept])
    worded = np.flatnonzero(document_lengths(cut) > 0)
    cut = as_counts(cut[worded])
    if document_length is not None:
        cut = rescale_documents(cut, document_length)
    return Samples(cut, texts.evidence().take(worded), feature_names=tuple(vocabulary[index] for index in kept))


@lru_cache(maxsize=1)
def _counted(corpus: str) -> tuple[tuple[str, ...], sp.csr_array, RawTexts]:
    if corpus not in CORPORA:
        raise InvalidInputError(f"There is no corpus {corpus!r} here. Choose one of {', '.join(CORPORA)}.")
    raw = CORPORA[corpus]()
    rows = [row for row, label in enumerate(raw.labels) if label is not None]
    texts = RawTexts(tuple(raw.texts[row] for row in rows), tuple(raw.labels[row] for row in rows), raw.source)
    vocabulary, counts = count_words(texts.texts, token_pattern=_TWO_LETTERS, stop_words="english")
    return vocabulary.words, counts, texts


def add_one(samples: Samples) -> MultinomialFamily:
    """The estimator of all panels, fixed beforehand: add-one smoothing of words and classes."""
    return MultinomialFamily.for_samples(samples, smoothing=1.0, class_smoothing=1.0)


def reuters_digest() -> str:
    """Which texts and labels the Reuters panels read."""
    return texts_digest(rcv1_tokens(), reuters_r52())
