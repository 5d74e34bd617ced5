"""20 Newsgroups as the multinomial model takes it: weighted, rescaled counts, learned from and tested on by date."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, get_args

import numpy as np
import scipy.sparse as sp

from labelworth.arrays import BoolArray, FloatArray, IntArray
from labelworth.data.counts import as_counts, inverse_document_weights, rescale_documents
from labelworth.data.digest import texts_digest
from labelworth.data.readers.raw import RawTexts
from labelworth.data.samples import Samples
from labelworth.data.text import LETTERS, count_words
from labelworth.errors import InvalidInputError
from labelworth_studies.corpora.folder import newsgroups

WordWeights = Literal["counts", "inverse-document"]
Division = Literal["test", "later"]
"""What the fit is tested on: the published test set, or the later posts of the training set."""

EARLIER_SHARE = 0.6
"""Which share of the training posts comes before the later ones; the corpus itself was cut at this share."""
_FEWEST_POSTS = 2


@dataclass(frozen=True)
class Documents:
    """Posts to learn from and posts to test on, all with their labels, over one vocabulary."""

    # Counts before weighting and rescaling. The vocabulary is that of `train`: words in two posts or more.
    train: Samples
    test: Samples


def weighted_documents(division: Division, word_weights: WordWeights, document_length: float) -> Documents:
    r"""Weight the words and give every post the same length.

    The multinomial model reads fractional counts

    .. math:: x_{iw} = m\, \frac{c_{iw} g_w}{\sum_v c_{iv} g_v}

    with :math:`g_w = 1` ("counts") or :math:`g_w = \log(n / n_w)` ("inverse-document"), where :math:`n_w` of the n
    posts learned from hold the word w. Labels play no part, and posts tested on borrow the weights.
    """
    documents = counted_documents(division)
    weights = word_weights_of(documents.train.counts, word_weights)

    def prepared(samples: Samples) -> Samples:
        counts = as_counts(samples.counts @ sp.diags_array(weights))
        return Samples(rescale_documents(counts, document_length), samples.evidence)

    return Documents(prepared(documents.train), prepared(documents.test))


def word_weights_of(counts: sp.csr_array, word_weights: WordWeights) -> FloatArray:
    """What each word counts, shape (n_words,)."""
    if word_weights not in get_args(WordWeights):
        raise InvalidInputError(
            f"word_weights must be one of {', '.join(get_args(WordWeights))}. Got {word_weights!r} instead."
        )
    return np.ones(counts.shape[1]) if word_weights == "counts" else inverse_document_weights(counts)


@lru_cache(maxsize=2)
def counted_documents(division: Division) -> Documents:
    """Read and count the posts of a division; kept for the next cell of the same process."""
    if division not in get_args(Division):
        raise InvalidInputError(f"division must be one of {', '.join(get_args(Division))}. Got {division!r} instead.")
    train = newsgroups("train")
    if division == "test":
        return count_documents(train, newsgroups("test"))
    earlier = is_earlier(train.evidence().codes, EARLIER_SHARE)
    return count_documents(_rows(train, earlier), _rows(train, ~earlier))


def count_documents(train: RawTexts, test: RawTexts) -> Documents:
    """Count words as the published table does: runs of letters, lower case, without English stop words."""
    vocabulary, counts = count_words(train.texts, token_pattern=LETTERS, stop_words="english", min_df=_FEWEST_POSTS)
    evidence = train.evidence()
    return Documents(
        Samples(counts, evidence),
        Samples(vocabulary.counts(test.texts), test.evidence(evidence.classes)),
    )


def is_earlier(codes: IntArray, share: float) -> BoolArray:
    """Mark the first `share` of the rows of every class; the corpus lists the posts of a class as they arrived.

    Examples
    --------
    >>> is_earlier(np.array([0, 0, 1, 0, 1]), 0.6).tolist()
    [True, True, True, False, False]
    """
    earlier = np.zeros(len(codes), dtype=bool)
    for code in np.unique(codes):
        rows = np.flatnonzero(codes == code)
        earlier[rows[: round(share * rows.size)]] = True
    return earlier


def newsgroups_digest() -> str:
    """Which texts and labels the studies read."""
    return texts_digest(newsgroups("all"))


def _rows(raw: RawTexts, kept: BoolArray) -> RawTexts:
    rows = np.flatnonzero(kept)
    return RawTexts(
        tuple(raw.texts[row] for row in rows), tuple(raw.labels[row] for row in rows), f"{raw.source}, in part"
    )
