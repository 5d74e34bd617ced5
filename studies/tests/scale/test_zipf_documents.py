"""The corpus is the same from the same seed, and has the words it should have."""

import json
from pathlib import Path

import numpy as np

from labelworth_studies.corpora.zipf_documents import LENGTH, N_CLASSES, N_WORDS, documents, spoken, write_corpus


def test_a_corpus_is_the_same_from_the_same_seed_and_another_from_another(tmp_path: Path) -> None:
    for name, seed in (("a", 0), ("b", 0), ("c", 1)):
        write_corpus(tmp_path / name, 300, seed)
    first, second, other = ((tmp_path / name).read_bytes() for name in "abc")
    assert first == second != other


def test_rows_have_their_words_and_few_a_label(tmp_path: Path) -> None:
    write_corpus(tmp_path / "corpus.jsonl", 5000)
    rows = [json.loads(line) for line in (tmp_path / "corpus.jsonl").read_text().splitlines()]
    assert {len(row["text"].split()) for row in rows} == {LENGTH}
    assert 10 < sum(row["label"] is not None for row in rows) < 150
    assert len({row["id"] for row in rows}) == len(rows)
    assert [row["created"] for row in rows] == sorted(row["created"] for row in rows)
    assert len({row["source"] for row in rows}) == 4


def test_no_two_words_are_spelled_alike() -> None:
    assert len({spoken(word) for word in range(N_WORDS)}) == N_WORDS


def test_frequent_words_are_those_of_zipf() -> None:
    words = np.concatenate([part.ravel() for part, _, _ in documents(10_000)])
    counts = np.bincount(words)
    # The first rank is about twice as frequent as the second, and four times as the fourth.
    assert 1.7 < counts[0] / counts[1] < 2.5
    assert 3.3 < counts[0] / counts[3] < 5.3
    assert N_CLASSES == 20
