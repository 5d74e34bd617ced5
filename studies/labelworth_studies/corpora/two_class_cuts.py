"""Two-class cuts of real corpora as populations: every document has its class, 300 words, 20 tokens."""

from functools import lru_cache
from types import MappingProxyType

import numpy as np

from labelworth.data.counts import as_counts, document_lengths, rescale_documents
from labelworth.data.digest import texts_digest
from labelworth.data.readers.raw import RawTexts
from labelworth.data.samples import Samples
from labelworth.data.text import count_words
from labelworth.errors import InvalidInputError
from labelworth_studies.corpora.folder import newsgroups, reuters_r52

CUTS = MappingProxyType(
    {
        "hockey-crypt": ("rec.sport.hockey", "sci.crypt"),
        "med-space": ("sci.med", "sci.space"),
        "ibm-mac": ("comp.sys.ibm.pc.hardware", "comp.sys.mac.hardware"),
        "earn-acq": ("earn", "acq"),
    }
)
"""Easy, middling and hard pairs of 20 Newsgroups (headers stripped), and the two largest classes of Reuters R52."""

N_WORDS = 300
DOCUMENT_LENGTH = 20
_TWO_LETTERS = r"(?u)[^\W\d_]{2,}"


@lru_cache(maxsize=1)
def population(cut: str) -> Samples:
    """All documents of a cut, training and test posts alike.

    The vocabulary is the 300 words that most documents of the cut hold, English stop words left out. Counts are
    rescaled to 20 tokens per document, as is usual for naive Bayes on text; documents without a word of the
    vocabulary are left out.
    """
    if cut not in CUTS:
        raise InvalidInputError(f"There is no cut {cut!r}. Choose one of {', '.join(CUTS)}.")
    texts = _texts(cut)
    vocabulary, counts = count_words(texts.texts, token_pattern=_TWO_LETTERS, stop_words="english")
    n_holding = np.bincount(counts.indices, minlength=counts.shape[1])
    kept = np.sort(np.argsort(-n_holding, kind="stable")[:N_WORDS])
    counts = as_counts(counts[:, kept])
    worded = np.flatnonzero(document_lengths(counts) > 0)
    rescaled = rescale_documents(as_counts(counts[worded]), DOCUMENT_LENGTH)
    words = tuple(vocabulary.words[index] for index in kept)
    return Samples(rescaled, texts.evidence(CUTS[cut]).take(worded), feature_names=words)


def cuts_digest() -> str:
    """Which texts and labels the cuts are made of."""
    return texts_digest(newsgroups("all"), reuters_r52())


def _texts(cut: str) -> RawTexts:
    whole = reuters_r52() if cut == "earn-acq" else newsgroups("all")
    rows = [row for row, label in enumerate(whole.labels) if label in CUTS[cut]]
    return RawTexts(
        tuple(whole.texts[row] for row in rows), tuple(whole.labels[row] for row in rows), f"{whole.source}, {cut}"
    )
