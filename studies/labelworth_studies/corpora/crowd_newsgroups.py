"""Answers of a crowd about 20 Newsgroups posts, beside all posts of that corpus."""

import csv
import gzip
import io
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import numpy as np
import scipy.sparse as sp

from labelworth.arrays import FloatArray, IntArray
from labelworth.data.answers import Answers
from labelworth.data.counts import as_counts, inverse_document_weights, rescale_documents
from labelworth.data.digest import texts_digest
from labelworth.data.evidence import from_weights
from labelworth.data.readers.json_files import read_records
from labelworth.data.text import LETTERS, count_words
from labelworth_studies.corpora.folder import corpora_folder, newsgroups, without_headers

Which = Literal["trusted", "all"]
"""Answers that were no test questions, of workers who passed these; or every answer."""

ENOUGH = 3
"""A post with so many answers is judged."""
_FEWEST_POSTS = 2


@dataclass(frozen=True)
class CrowdPosts:
    """All posts, and what the crowd said of some of them."""

    counts: sp.csr_array  # Words of all posts.
    truth: IntArray  # The newsgroup of every post, as a code.
    classes: tuple[str, ...]
    answers: dict[str, Answers]  # By which are taken; nobody counts twice on a post.

    def judged(self, which: Which) -> IntArray:
        """The posts with three or more answers."""
        return np.flatnonzero(np.bincount(self.answers[which].rows, minlength=len(self.truth)) >= ENOUGH)

    def features(self, document_length: float) -> sp.csr_array:
        """Words weighted by their rarity, every post of the same length."""
        weights = inverse_document_weights(self.counts)
        weighted = as_counts(sp.csr_array(self.counts @ sp.diags_array(weights)))
        return rescale_documents(weighted, document_length)


@lru_cache(maxsize=1)
def crowd_posts() -> CrowdPosts:
    """Read and count the posts; kept for the next cell of the same process."""
    folder = corpora_folder()
    records = [
        record
        for part in ("train", "test")
        for _, record in read_records(folder / "20newsgroups" / f"20news-bydate-{part}.jsonl.gz")
    ]
    texts = [without_headers(record["text"]) for record in records]
    _, counts = count_words(texts, token_pattern=LETTERS, stop_words="english", min_df=_FEWEST_POSTS)
    classes = tuple(sorted({record["label"] for record in records}))
    row_of = {(record["label"], str(record["id"])): row for row, record in enumerate(records)}
    truth = np.array([classes.index(record["label"]) for record in records])
    content = gzip.decompress((folder / "crowd_newsgroups" / "votes.csv.gz").read_bytes()).decode()
    votes = list(csv.DictReader(io.StringIO(content)))
    trusted = [vote for vote in votes if vote["trusted"] == "True" and vote["test_question"] == "False"]
    return CrowdPosts(
        counts,
        truth,
        classes,
        {"trusted": _answers(trusted, row_of, classes), "all": _answers(votes, row_of, classes)},
    )


def crowd_digest() -> str:
    """Which posts the study reads; the answers are about these."""
    return texts_digest(newsgroups("all"))


def _answers(votes: list[dict[str, str]], row_of: dict[tuple[str, str], int], classes: tuple[str, ...]) -> Answers:
    names = tuple(sorted({vote["worker"] for vote in votes}))
    said: FloatArray = np.zeros((len(votes), len(classes)))
    for entry, vote in enumerate(votes):
        said[entry, [classes.index(name) for name in vote["answer"].split("|")]] = 1.0
    return Answers(
        np.array([row_of[vote["label"], vote["id"]] for vote in votes]),
        np.array([names.index(vote["worker"]) for vote in votes]),
        names,
        from_weights(said, classes),
        np.array([float(vote["page_seconds"]) for vote in votes]),
    ).one_vote_each()
