"""Texts in a stream become the counts that they become in memory, also where the stream was cut off."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from labelworth.data.evidence import encode_labels
from labelworth.data.shards.texts import Words, shard_texts, values_per_shard
from labelworth.data.text import count_words
from labelworth.errors import InvalidInputError, OutputError


def rows(n_rows: int = 200) -> list[tuple[str, Any]]:
    rng = np.random.default_rng(0)
    labels: list[Any] = ["ham", "spam", None, ["ham", "spam"], 3]
    pool = np.array([f"Word{number}" for number in range(60)])
    texts = [" ".join(pool[(rng.zipf(1.3, size=rng.integers(0, 9)) - 1) % 60]) for _ in range(n_rows)]
    return [(text, labels[rng.integers(4)]) for text in texts]


@pytest.mark.parametrize("words", [Words(), Words(min_documents=4), Words(most=11), Words(min_documents=2, most=9)])
def test_counts_are_those_of_memory(words: Words, tmp_path: Path) -> None:
    shards = shard_texts(rows(), tmp_path / "shards", words=words, stored_per_shard=100)
    texts, labels = zip(*rows(), strict=True)
    vocabulary, counts = count_words(texts, min_df=words.min_documents, max_features=words.most)
    data: Any = shards.data
    assert len(shards.manifest.shards) > 3
    assert data.feature_names == vocabulary.words
    np.testing.assert_array_equal(data.counts.toarray(), counts.toarray())
    expected = encode_labels(labels, unlabeled=None)
    assert data.evidence.classes == expected.classes
    np.testing.assert_array_equal(data.evidence.dense(), expected.dense())
    shards.verify()


def cut_off(after: int) -> Iterator[tuple[str, Any]]:
    yield from rows()[:after]
    raise KeyboardInterrupt


@pytest.mark.parametrize("after", [0, 10, 170])
def test_a_run_that_was_stopped_goes_on(after: int, tmp_path: Path) -> None:
    whole = shard_texts(rows(), tmp_path / "whole", stored_per_shard=100, source="mail")
    folder = tmp_path / "shards"
    with pytest.raises(KeyboardInterrupt):
        shard_texts(cut_off(after), folder, stored_per_shard=100, source="mail")
    assert not (folder / "manifest.json").exists()
    assert (after > 100) == (folder / ".raw" / "000000").exists()
    again = shard_texts(rows(), folder, stored_per_shard=100, source="mail")
    assert again.manifest.digest == whole.manifest.digest
    assert not (folder / ".raw").exists()


def test_another_source_begins_anew(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        shard_texts(cut_off(170), tmp_path / "shards", stored_per_shard=100, source="mail")
    again = shard_texts(rows(20), tmp_path / "shards", stored_per_shard=100, source="other mail")
    assert again.data.n_samples == 20


def test_runs_of_nobody_knows_what_are_not_taken_up(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        shard_texts(cut_off(170), tmp_path / "shards", stored_per_shard=100, source="mail")
    (tmp_path / "shards" / ".raw" / "asked.json").unlink()
    again = shard_texts(rows(20), tmp_path / "shards", stored_per_shard=100, source="other mail")
    assert again.data.n_samples == 20


def test_texts_are_not_written_over_something_else(tmp_path: Path) -> None:
    mine = tmp_path / ".raw" / "mine"
    mine.parent.mkdir()
    mine.write_text("mine")
    with pytest.raises(OutputError, match="holds something else than shards"):
        shard_texts(rows(), tmp_path)
    assert mine.read_text() == "mine"


@pytest.mark.parametrize("given", [[], [("", None)], [("!", "a")]])
def test_no_rows_and_no_words_are_told(given: Any, tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match="There are no"):
        shard_texts(given, tmp_path)


def test_shards_are_of_several_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = shard_texts(rows(), tmp_path / "whole", stored_per_shard=100_000)
    monkeypatch.setattr("labelworth.data.shards.texts._RUN", 50)
    joined = shard_texts(rows(), tmp_path / "joined", stored_per_shard=300)
    assert 1 < len(joined.manifest.shards) < 5
    one, many = whole.data, joined.data
    np.testing.assert_array_equal(many.counts.toarray(), one.counts.toarray())  # type: ignore[union-attr]
    np.testing.assert_array_equal(many.evidence.dense(), one.evidence.dense())
    np.testing.assert_array_equal(many.evidence.codes >= 0, one.evidence.codes >= 0)


@pytest.mark.parametrize("bits", [3, 10])
def test_hashed_words_are_those_of_scikit_learn(bits: int, tmp_path: Path) -> None:
    from sklearn.feature_extraction.text import HashingVectorizer

    shards = shard_texts(rows(), tmp_path, words=Words(hash_bits=bits), stored_per_shard=100)
    vectorizer = HashingVectorizer(n_features=2**bits, alternate_sign=False, norm=None)
    expected = vectorizer.transform([text for text, _ in rows()])
    data: Any = shards.data
    assert shards.vocabulary is None
    assert data.n_features == 2**bits
    np.testing.assert_array_equal(data.counts.toarray(), expected.toarray())


def test_hashed_columns_are_all_kept() -> None:
    with pytest.raises(InvalidInputError, match="leave out"):
        Words(most=10, hash_bits=8)


def test_a_shard_holds_more_values_than_sums_unless_it_is_told() -> None:
    assert values_per_shard(2, 1000) == 1 << 22
    assert values_per_shard(20, 200_000) == 8_000_000
    assert values_per_shard(1000, 10**6) == 1 << 25
