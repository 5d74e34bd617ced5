"""The corpora the studies run on, and the one folder they lie in. Nothing is downloaded here."""

import os
from collections import Counter
from itertools import chain
from pathlib import Path

import numpy as np

from labelworth.data.readers.conll import read_conll
from labelworth.data.readers.json_files import read_jsonl, read_records
from labelworth.data.readers.raw import RawFeatures, RawTexts
from labelworth.data.readers.raw_sequences import RawTokens
from labelworth.errors import DataUnavailableError, InvalidInputError
from labelworth_studies.corpora.catalogue import CATALOGUE
from labelworth_studies.corpora.getting import cure
from labelworth_studies.corpora.rcv1 import read_lyrl2004

FOLDER_VARIABLE = "LABELWORTH_DATA"
_DEFAULT_FOLDER = Path("..") / "shared" / "data"
_CHECKOUT = Path(__file__).resolve().parents[3]
_SPLITS = ("train", "test", "all")


def corpora_folder() -> Path:
    """Where the corpora lie, and where `labelworth data get` puts them; it need not be there yet.

    `LABELWORTH_DATA`; or else ``../shared/data`` beside the working folder or the checkout, where there is one; or
    else ``labelworth/data`` in the user's cache folder (``XDG_CACHE_HOME``, ``~/.cache``).
    """
    named = os.environ.get(FOLDER_VARIABLE)
    if named:
        return Path(named).resolve()
    for candidate in (Path.cwd() / _DEFAULT_FOLDER, _CHECKOUT / _DEFAULT_FOLDER):
        if candidate.is_dir():
            return candidate.resolve()
    cache = os.environ.get("XDG_CACHE_HOME")
    return (Path(cache) if cache else Path.home() / ".cache") / "labelworth" / "data"


def corpus_file(folder: str, name: str) -> Path:
    """A file of a corpus.

    Raises
    ------
    DataUnavailableError
        If it is not there; says how to get it.
    """
    path = corpora_folder() / folder / name
    if not path.is_file():
        names = {name, f"{name}.gz"}
        own = [corpus for corpus in CATALOGUE.values() if corpus.folder == folder and names & {*corpus.files}]
        raise DataUnavailableError(
            f"There is no {folder}/{name} in {str(corpora_folder())!r}. {cure(own)} Or set {FOLDER_VARIABLE} to the "
            "folder that has it."
        )
    return path


def newsgroups(split: str = "train", *, strip_headers: bool = True) -> RawTexts:
    """The 20 Newsgroups posts by date: "train" (11 314), "test" (7 532) or "all".

    With `strip_headers` everything up to the first blank line is dropped (From, Subject, Organization, ...).
    Rows are ordered by class: shuffle before use.
    """
    _require_split(split)
    parts = ("train", "test") if split == "all" else (split,)
    read = [read_jsonl(corpus_file("20newsgroups", f"20news-bydate-{part}.jsonl.gz")) for part in parts]
    texts = tuple(text for raw in read for text in raw.texts)
    labels = tuple(label for raw in read for label in raw.labels)
    body = tuple(map(without_headers, texts)) if strip_headers else texts
    return RawTexts(body, labels, f"20 Newsgroups by date, {split}")


def reuters_r52(split: str = "all", *, n_largest: int | None = None) -> RawTexts:
    """The single-topic Reuters-21578 stories with 52 topics: "train" (6 532), "test" (2 568) or "all".

    `n_largest` keeps the largest classes of the whole corpus only; among equals, the first in the alphabet.
    """
    _require_split(split)
    if n_largest is not None and n_largest < 1:
        raise InvalidInputError(f"n_largest must be at least 1. Got {n_largest} instead.")
    records = [record for _, record in read_records(corpus_file("reuters21578_r52", "r52.jsonl.gz"))]
    sizes = Counter(record["label"] for record in records)
    largest = set(sorted(sizes, key=lambda name: (-sizes[name], name))[:n_largest])
    kept = [record for record in records if record["label"] in largest and split in ("all", record["split"])]
    texts, labels = tuple(record["text"] for record in kept), tuple(record["label"] for record in kept)
    return RawTexts(texts, labels, f"Reuters R52, {split}")


def rcv1_tokens() -> RawTexts:
    """2 316 Reuters RCV1 stories as words, with four top-level classes; several topics (327 stories) = unlabeled."""
    raw = read_jsonl(corpus_file("rcv1", "rcv1_tokens_2316.jsonl.gz"), text_column="tokens")
    return RawTexts(raw.texts, raw.labels, "Reuters RCV1, 2316 stories")


def rcv1_lyrl2004(split: str = "train") -> RawTexts:
    """The whole of Reuters RCV1 (LYRL2004) for who has it: "train" (23 149 stories), "test" (781 265) or "all".

    The folder ``rcv1`` has to hold ``lyrl2004_tokens_train.dat``, ``lyrl2004_tokens_test_pt0.dat`` to ``pt3.dat``
    and ``rcv1-v2.topics.qrels``, each with or without .gz. Words are stemmed, in scrambled order; several top-level
    topics = unlabeled.
    """
    _require_split(split)
    tests = tuple(f"lyrl2004_tokens_test_pt{part}.dat" for part in range(4))
    names = {"train": ("lyrl2004_tokens_train.dat",), "test": tests, "all": ("lyrl2004_tokens_train.dat", *tests)}
    return read_lyrl2004([_packed("rcv1", name) for name in names[split]], _packed("rcv1", "rcv1-v2.topics.qrels"))


def conll2000(split: str = "train") -> RawTokens:
    """The chunking task of CoNLL-2000: "train" (8 936 sentences, 211 727 tokens), "test" (2 012, 47 377) or "all".

    Columns are the word and its part of speech; labels are chunk tags (IOB2).
    """
    _require_split(split)
    parts = ("train", "test") if split == "all" else (split,)
    read = [read_conll(corpus_file("conll2000", f"{part}.txt.gz")) for part in parts]
    offsets = np.concatenate([[0], np.cumsum(np.concatenate([np.diff(raw.offsets) for raw in read]))])
    columns = tuple(tuple(chain(*cells)) for cells in zip(*(raw.columns for raw in read), strict=True))
    labels = tuple(chain(*(raw.labels for raw in read)))
    return RawTokens(columns, ("word", "part of speech"), 0, offsets, labels, f"CoNLL-2000, {split}", read[0].notes)


SHORT_CORPORA = {
    "sms": ("sms_spam", "sms_spam.jsonl.gz", "SMS spam"),
    "webkb": ("webkb4", "webkb4.jsonl.gz", "WebKB, 4 classes"),
    "trec": ("trec", "trec.jsonl.gz", "TREC questions"),
    "subjectivity": ("subjectivity", "subjectivity.jsonl.gz", "subjectivity"),
    "reviews": ("customer_reviews", "customer_reviews.jsonl.gz", "customer reviews"),
    "banking": ("banking77", "banking77.jsonl.gz", "banking77"),
}
"""Folder, file and title of corpora of short texts with one class each."""


def short_texts(name: str) -> RawTexts:
    """One of `SHORT_CORPORA`, whole; rows without text are left out."""
    folder, file, title = SHORT_CORPORA[name]
    raw = read_jsonl(corpus_file(folder, file))
    kept = [(text, label) for text, label in zip(raw.texts, raw.labels, strict=True) if text.strip()]
    return RawTexts(tuple(text for text, _ in kept), tuple(label for _, label in kept), title)


def digits() -> RawFeatures:
    """scikit-learn's 1 797 handwritten digits, 8 x 8 pixels of 0 to 16; comes with scikit-learn, needs no folder.

    The gray levels are whole numbers, so they serve as counts as well as vectors.
    """
    from sklearn.datasets import load_digits

    features, labels = load_digits(return_X_y=True)
    return RawFeatures(np.asarray(features, dtype=np.float64), tuple(labels.tolist()), "scikit-learn digits")


def breast_cancer() -> RawFeatures:
    """scikit-learn's 569 tumors, 30 measures of each on scales of their own; comes with scikit-learn."""
    from sklearn.datasets import load_breast_cancer

    features, labels = load_breast_cancer(return_X_y=True)
    return RawFeatures(np.asarray(features), tuple(labels.tolist()), "scikit-learn breast cancer")


def without_headers(post: str) -> str:
    """A post without its header lines: everything up to the first blank line is dropped."""
    _, blank_line, body = post.partition("\n\n")
    return body if blank_line else ""


def _packed(folder: str, name: str) -> Path:
    """The file, or the same compressed."""
    compressed = corpora_folder() / folder / f"{name}.gz"
    return compressed if compressed.is_file() else corpus_file(folder, name)


def _require_split(split: str) -> None:
    if split not in _SPLITS:
        raise InvalidInputError(f"There is no split {split!r}. Choose one of {', '.join(_SPLITS)}.")
