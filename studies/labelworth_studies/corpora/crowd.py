"""Real answers of crowd workers about posts of 20 Newsgroups: sets of newsgroups, with the seconds they took."""

import csv
import gzip
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby
from pathlib import Path

import numpy as np

from labelworth.arrays import FloatArray, IntArray
from labelworth.data.answers import Answers
from labelworth.data.digest import bytes_digest, file_digest
from labelworth.data.evidence import encode_labels
from labelworth.data.readers.json_files import read_records
from labelworth.data.samples import Samples
from labelworth.data.text import LETTERS, count_words
from labelworth_studies.corpora.folder import corpus_file, without_headers

_FEWEST_POSTS = 5


@dataclass(frozen=True, eq=False)
class CrowdPosts:
    """All posts of 20 Newsgroups with their true groups, and what workers said of some."""

    samples: Samples  # Counts and gold labels of all posts.
    truth: IntArray  # (n,): The true group, as a code of the classes.
    answers: Answers  # Of workers who were not dismissed, to posts that were not there to test them.
    seconds: FloatArray  # (n_answers,): How long each of them took.
    every_answer: Answers  # With those of dismissed workers and to test questions.


@lru_cache(maxsize=1)
def crowd_posts() -> CrowdPosts:
    """Posts without their headers; the seconds of a page are shared by its posts."""
    records = [record for part in ("train", "test") for _, record in read_records(_news(part))]
    row_of = {(record["label"], str(record["id"])): row for row, record in enumerate(records)}
    texts = [without_headers(record["text"]) for record in records]
    _, counts = count_words(texts, token_pattern=LETTERS, stop_words="english", min_df=_FEWEST_POSTS)
    evidence = encode_labels([record["label"] for record in records])
    with gzip.open(_votes(), "rt", newline="") as file:
        votes = list(csv.DictReader(file))
    names = sorted({vote["worker"] for vote in votes})
    every = Answers(
        np.array([row_of[vote["label"], vote["id"]] for vote in votes]),
        np.array([names.index(vote["worker"]) for vote in votes]),
        tuple(names),
        encode_labels([vote["answer"].split("|") for vote in votes], classes=evidence.classes),
    )
    seconds = _seconds(votes)
    kept = np.array([vote["trusted"] == "True" and vote["test_question"] == "False" for vote in votes])
    return CrowdPosts(Samples(counts, evidence), evidence.codes, every.take(kept), seconds[kept], every)


def _seconds(votes: list[dict[str, str]]) -> FloatArray:
    seconds: list[float] = []
    for (_, page), group in groupby(votes, key=lambda vote: (vote["worker"], vote["page_seconds"])):
        n_posts = len(list(group))
        seconds += [float(page) / n_posts] * n_posts
    return np.array(seconds)


def crowd_digest() -> str:
    """Of the answers and of the posts they are about."""
    return bytes_digest("".join(file_digest(path) for path in (_votes(), _news("train"), _news("test"))).encode())


def _votes() -> Path:
    return corpus_file("crowd_newsgroups", "votes.csv.gz")


def _news(part: str) -> Path:
    return corpus_file("20newsgroups", f"20news-bydate-{part}.jsonl.gz")
