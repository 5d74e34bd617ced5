import gzip
import json
from pathlib import Path

import numpy as np
import pytest

from labelworth.data.counts import as_counts
from labelworth.errors import DataUnavailableError, InvalidInputError
from labelworth_studies.corpora import folder as corpora


def write(folder: Path, name: str, records: list[dict[str, object]]) -> None:
    folder.mkdir(exist_ok=True)
    content = "".join(json.dumps(record) + "\n" for record in records)
    (folder / name).write_bytes(gzip.compress(content.encode()))


@pytest.fixture
def small_corpora(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of corpora with the real names and formats, and a handful of rows each."""
    monkeypatch.setenv("LABELWORTH_DATA", str(tmp_path))
    for split in ("train", "test"):
        posts = [{"text": f"From: {split}\nLines: 2\n\nbody\n\nmore", "label": "sci.med", "split": split, "id": "1"}]
        write(tmp_path / "20newsgroups", f"20news-bydate-{split}.jsonl.gz", posts)
    stories = [
        ("a", "earn", "train"),
        ("b", "acq", "train"),
        ("c", "earn", "test"),
        ("d", "zinc", "test"),
        ("e", "acq", "test"),
    ]
    rows: list[dict[str, object]] = [{"text": text, "label": label, "split": split} for text, label, split in stories]
    write(tmp_path / "reuters21578_r52", "r52.jsonl.gz", rows)
    tokens: list[dict[str, object]] = [
        {"tokens": ["The", "oil"], "topics": ["C1"], "label": "CCAT", "top_level": ["CCAT"]},
        {"tokens": ["gold"], "topics": [], "label": None, "top_level": []},
    ]
    write(tmp_path / "rcv1", "rcv1_tokens_2316.jsonl.gz", tokens)
    (tmp_path / "conll2000").mkdir()
    for split, content in (("train", "He PRP B-NP\nran VBD B-VP\n\n"), ("test", "No DT B-NP\none NN I-NP\n. . O\n")):
        (tmp_path / "conll2000" / f"{split}.txt.gz").write_bytes(gzip.compress(content.encode()))
    return tmp_path


def test_newsgroups_lose_their_headers_unless_told_otherwise(small_corpora: Path) -> None:
    assert corpora.newsgroups("train").texts == ("body\n\nmore",)
    assert corpora.newsgroups("all", strip_headers=False).texts == (
        "From: train\nLines: 2\n\nbody\n\nmore",
        "From: test\nLines: 2\n\nbody\n\nmore",
    )
    assert corpora.newsgroups("test").labels == ("sci.med",)
    assert corpora.without_headers("From: nobody") == ""


def test_reuters_stories_are_cut_by_split_and_size(small_corpora: Path) -> None:
    assert corpora.reuters_r52().texts == ("a", "b", "c", "d", "e")
    assert corpora.reuters_r52("test", n_largest=2).labels == ("earn", "acq")
    assert set(corpora.reuters_r52(n_largest=1).labels) == {"acq"}  # as large as earn, and first in the alphabet


def test_rcv1_words_are_joined_and_stories_of_several_topics_unlabeled(small_corpora: Path) -> None:
    raw = corpora.rcv1_tokens()
    assert raw.texts == ("The oil", "gold")
    assert raw.labels == ("CCAT", None)


def test_a_wrong_split_or_size_is_refused(small_corpora: Path) -> None:
    with pytest.raises(InvalidInputError, match=r"no split 'dev'.*train, test, all"):
        corpora.newsgroups("dev")
    with pytest.raises(InvalidInputError, match="n_largest must be at least 1"):
        corpora.reuters_r52(n_largest=0)


def test_an_absent_corpus_names_the_cure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LABELWORTH_DATA", str(tmp_path))
    for folder in (tmp_path, tmp_path / "nowhere"):
        monkeypatch.setenv("LABELWORTH_DATA", str(folder))
        said = r"no 20newsgroups/20news-bydate-train.*labelworth data get newsgroups`. Or set LABELWORTH_DATA"
        with pytest.raises(DataUnavailableError, match=said):
            corpora.newsgroups()
    with pytest.raises(
        DataUnavailableError, match=r"no rcv1/lyrl2004_tokens_train.*Sign the agreement.*LABELWORTH_DATA"
    ):
        corpora.rcv1_lyrl2004()


def test_the_folder_beside_the_working_folder_is_the_default(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LABELWORTH_DATA", raising=False)
    beside = tmp_path / "shared" / "data"
    for folder in (beside, tmp_path / "checkout"):
        folder.mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "checkout")
    assert corpora.corpora_folder() == beside.resolve()


def test_without_any_folder_the_users_cache_is_the_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LABELWORTH_DATA", raising=False)
    monkeypatch.setattr(corpora, "_CHECKOUT", tmp_path)
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert corpora.corpora_folder() == tmp_path / "cache" / "labelworth" / "data"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert corpora.corpora_folder() == tmp_path / "home" / ".cache" / "labelworth" / "data"


def test_digits_serve_as_counts() -> None:
    raw = corpora.digits()
    counts = as_counts(raw.features)
    assert counts.shape == (1797, 64)
    assert np.array_equal(counts.data, np.rint(counts.data))
    assert raw.evidence().classes == tuple(range(10))


@pytest.mark.corpus("20newsgroups", "reuters21578_r52", "rcv1")
def test_the_real_corpora_have_the_sizes_their_sources_state() -> None:
    train, test = corpora.newsgroups("train"), corpora.newsgroups("test")
    assert (len(train.texts), len(test.texts)) == (11314, 7532)
    assert len(set(train.labels)) == len(set(test.labels)) == 20
    assert len(corpora.reuters_r52("train").texts) == 6532
    assert len(corpora.reuters_r52("test").texts) == 2568
    assert len(corpora.reuters_r52(n_largest=2).texts) == 3923 + 2292
    rcv1 = corpora.rcv1_tokens().evidence()
    assert dict(zip(rcv1.classes, rcv1.label_counts().tolist(), strict=True)) == {
        "CCAT": 848, "ECAT": 193, "GCAT": 477, "MCAT": 471,
    }  # fmt: skip
    assert rcv1.is_unlabeled.sum() == 327


def test_conll2000_keeps_words_parts_of_speech_and_chunk_tags(small_corpora: Path) -> None:
    raw = corpora.conll2000("all")
    assert raw.words == ("He", "ran", "No", "one", ".")
    assert raw.columns[1] == ("PRP", "VBD", "DT", "NN", ".")
    assert raw.labels == ("B-NP", "B-VP", "B-NP", "I-NP", "O")
    assert raw.offsets.tolist() == [0, 2, 5]
    assert corpora.conll2000("test").offsets.tolist() == [0, 3]
    with pytest.raises(InvalidInputError, match="no split"):
        corpora.conll2000("dev")


@pytest.mark.corpus("conll2000")
def test_the_real_chunking_corpus_has_the_sizes_its_source_states() -> None:
    train, test = corpora.conll2000("train"), corpora.conll2000("test")
    assert (len(train.offsets) - 1, len(train.words), len(set(train.words))) == (8936, 211727, 19122)
    assert (len(test.offsets) - 1, len(test.words)) == (2012, 47377)
    assert (len(set(train.columns[1])), len(set(test.columns[1]))) == (44, 43)
    assert (len(set(train.labels)), len(set(test.labels))) == (22, 19)
    assert set(test.labels) - set(train.labels) == {"I-LST"}
    assert train.notes == ("The tags follow IOB2.",)
    with pytest.raises(InvalidInputError, match="'I-LST', which is not one of the classes"):
        test.evidence(sorted(set(train.labels)))
