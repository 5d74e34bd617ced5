"""What is written in shards is what is opened, and what was damaged is named."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from labelworth.data.evidence import Evidence
from labelworth.data.samples import Samples
from labelworth.data.sequences import NO_WORD, Sequences
from labelworth.data.shards import features as shard_features
from labelworth.data.shards.features import ShardedFeatures
from labelworth.data.shards.folder import Shards, ShardWriter, narrow
from labelworth.errors import DataUnavailableError, InvalidInputError, OutputError


def counts(n_samples: int = 90, largest: float = 4.0) -> Samples:
    rng = np.random.default_rng(0)
    dense = rng.integers(0, 4, size=(n_samples, 12)) * (rng.random((n_samples, 12)) < 0.3)
    dense = dense.astype(np.float64)
    dense[3, 2] = largest
    codes = rng.integers(-1, 2, size=n_samples)
    codes[[1, 80]] = -2, -3
    weights = np.array([[0.5, 1.0], [1.0, 0.25]])
    return Samples(sp.csr_array(dense), Evidence(codes, ("x", "y"), weights), feature_names=tuple("abcdefghijkl"))


def sequences(*, attributes: bool) -> Sequences:
    rng = np.random.default_rng(1)
    offsets = np.concatenate([[0], np.cumsum(rng.integers(1, 6, size=40))])
    n_tokens = int(offsets[-1])
    features: Any = rng.integers(NO_WORD, 5, size=n_tokens)
    if attributes:
        features = sp.csr_array(rng.normal(size=(n_tokens, 5)) * (rng.random((n_tokens, 5)) < 0.5))
    return Sequences(features, offsets, Evidence(rng.integers(-1, 3, size=n_tokens), (1, 2, 3)), tuple("vwxyz"))


DATA: dict[str, Any] = {
    "counts": counts(),
    "large counts": counts(largest=70_000.0),
    "fractions": counts(largest=0.1),
    "vectors": Samples(np.random.default_rng(2).normal(size=(50, 3)), Evidence(np.full(50, -1), ("x",))),
    "words": sequences(attributes=False),
    "attributes": sequences(attributes=True),
}


def plain(features: Any) -> Any:
    return features.toarray() if sp.issparse(features) else features


@pytest.mark.parametrize("name", DATA)
def test_what_is_written_is_what_is_opened(name: str, tmp_path: Path) -> None:
    data = DATA[name]
    shards = Shards.write(tmp_path, data, stored_per_shard=40)
    opened = shards.data
    assert len(shards.manifest.shards) > 2
    assert isinstance(opened.features, ShardedFeatures)
    np.testing.assert_array_equal(plain(opened.features.whole()), plain(data.features))
    np.testing.assert_array_equal(opened.evidence.dense(), data.evidence.dense())
    assert opened.evidence.classes == data.evidence.classes
    assert opened.feature_names == data.feature_names
    np.testing.assert_array_equal(opened.lengths, data.lengths)
    shards.verify()


@pytest.mark.parametrize("name", DATA)
@pytest.mark.parametrize("rows", [[0], [3, 7, 39], list(range(5, 38)), [9, 2, 2, 30]])
def test_rows_are_taken_as_from_memory(name: str, rows: list[int], tmp_path: Path) -> None:
    data = DATA[name]
    chosen = np.array(rows)
    opened = Shards.write(tmp_path, data, stored_per_shard=40).data.take(chosen)
    expected = data.take(chosen)
    assert opened.n_samples == expected.n_samples
    np.testing.assert_array_equal(plain(shard_features.in_memory(opened.features)), plain(expected.features))
    np.testing.assert_array_equal(opened.evidence.dense(), expected.evidence.dense())


def test_taking_rows_in_order_reads_nothing(tmp_path: Path) -> None:
    data = Shards.write(tmp_path, counts(), stored_per_shard=40).data
    taken = data.take(np.arange(10, 60)).take(np.arange(0, 50, 2))
    assert isinstance(taken.features, ShardedFeatures)
    assert taken.n_samples == 25
    np.testing.assert_array_equal(plain(taken.features.whole()), plain(counts().features)[10:60:2])


def test_what_does_not_fit_in_memory_is_refused_in_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data: Any = Shards.write(tmp_path, counts(), stored_per_shard=40).data
    monkeypatch.setattr(shard_features, "_memory", lambda: 1000.0)
    with pytest.raises(InvalidInputError, match=r"needs all 90 rows in memory.*take some of the rows"):
        _ = data.counts
    assert data.take(np.arange(2)).counts.shape == (2, 12)


def test_counts_are_stored_in_the_smallest_type() -> None:
    assert narrow(np.array([0.0, 200.0])).dtype == np.uint8
    assert narrow(np.array([300.0])).dtype == np.uint16
    assert narrow(np.array([-1, 3])).dtype == np.int8
    assert narrow(np.array([-3, 200])).dtype == np.int16
    assert narrow(np.array([0.5])).dtype == np.float32
    assert narrow(np.array([0.1])).dtype == np.float64
    assert narrow(np.array([1e300])).dtype == np.float64


def test_a_cut_shard_is_named_when_opened(tmp_path: Path) -> None:
    name = Shards.write(tmp_path, counts(), stored_per_shard=40).manifest.shards[2].name
    path = tmp_path / name / "values.npy"
    path.write_bytes(path.read_bytes()[:-3])
    with pytest.raises(InvalidInputError, match=rf"{name}.*bytes where"):
        Shards.open(tmp_path)


def test_a_missing_shard_is_named_when_opened(tmp_path: Path) -> None:
    name = Shards.write(tmp_path, counts(), stored_per_shard=40).manifest.shards[1].name
    for path in (tmp_path / name).iterdir():
        path.unlink()
    (tmp_path / name).rmdir()
    with pytest.raises(InvalidInputError, match=rf"{name}.*is missing"):
        Shards.open(tmp_path)


def test_a_shard_that_a_worker_does_not_see_is_not_called_damaged(tmp_path: Path) -> None:
    shards = Shards.write(tmp_path, counts(), stored_per_shard=40)
    data: Any = shards.data
    shutil.rmtree(tmp_path / shards.manifest.shards[1].name)
    with pytest.raises(InvalidInputError, match=rf"{shards.manifest.shards[1].name}' is not there.*must see"):
        data.features.parts[1].read()


def test_a_changed_byte_is_named_when_verified(tmp_path: Path) -> None:
    shards = Shards.write(tmp_path, counts(), stored_per_shard=40)
    path = tmp_path / shards.manifest.shards[1].name / "values.npy"
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(bytes(content))
    with pytest.raises(InvalidInputError, match=rf"{shards.manifest.shards[1].name}.*was changed"):
        Shards.open(tmp_path).verify()


def test_a_folder_without_a_manifest_is_not_opened(tmp_path: Path) -> None:
    Shards.write(tmp_path, counts(), stored_per_shard=40)
    (tmp_path / "manifest.json").unlink()
    with pytest.raises(DataUnavailableError, match="was not finished"):
        Shards.open(tmp_path)


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"format": "labelworth-shards", "version": 99}'])
def test_a_damaged_manifest_is_answered_with_a_sentence(content: str, tmp_path: Path) -> None:
    (tmp_path / "manifest.json").write_text(content)
    with pytest.raises(InvalidInputError, match="manifest"):
        Shards.open(tmp_path)


def changed(folder: Path, change: Callable[[Any], None]) -> None:
    """The manifest with something in it that is not as it was written."""
    given = json.loads((folder / "manifest.json").read_text())
    change(given)
    (folder / "manifest.json").write_text(json.dumps(given, indent=1))


CHANGES: dict[str, Callable[[Any], None]] = {
    "classes swapped": lambda given: given["classes"].reverse(),
    "a class that is a list": lambda given: given.update(classes=[["x"], "y"]),
    "last shard left out": lambda given: given["shards"].pop(),
    "a shard twice": lambda given: given["shards"].append(given["shards"][0]),
    "shards in another order": lambda given: given["shards"].reverse(),
    "one sample more": lambda given: given["shards"][0].update(n_samples=given["shards"][0]["n_samples"] + 1),
    "no reading": lambda given: given.update(reading=None),
    "no names": lambda given: given.update(names_digest=None),
    "no digest": lambda given: given.pop("digest"),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_manifest_that_was_changed_is_not_opened(name: str, tmp_path: Path) -> None:
    Shards.write(tmp_path, counts(), stored_per_shard=40)
    changed(tmp_path, lambda given: None)
    Shards.open(tmp_path)
    changed(tmp_path, CHANGES[name])
    with pytest.raises(InvalidInputError, match=r"manifest\.json is not a manifest of shards \("):
        Shards.open(tmp_path)


def test_a_folder_of_the_first_version_is_told_from_a_damaged_one(tmp_path: Path) -> None:
    Shards.write(tmp_path, counts())
    changed(tmp_path, lambda given: given.update(version=1))
    with pytest.raises(InvalidInputError, match=r"version 1, which held no digests.*make the folder again"):
        Shards.open(tmp_path)


@pytest.mark.parametrize("content", [None, '"b"\n"a"\n', "", "\udcff"])
def test_names_that_were_changed_are_named(content: str | None, tmp_path: Path) -> None:
    shards = Shards.write(tmp_path, counts(), stored_per_shard=40)
    path = tmp_path / "names.txt"
    if content is None:
        path.unlink()
    else:
        path.write_bytes(content.encode(errors="surrogateescape"))
    for look in (lambda: Shards.open(tmp_path).feature_names, lambda: Shards.open(tmp_path).data, shards.verify):
        with pytest.raises(InvalidInputError, match=r"names\.txt does not hold the names of the columns"):
            look()


@pytest.mark.parametrize("name", ["000000/precious", ".raw/mine", "manifest.txt", "manifest.json"])
def test_a_folder_that_holds_something_else_is_left_as_it_is(name: str, tmp_path: Path) -> None:
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_text("mine")
    with pytest.raises(OutputError, match="holds something else than shards"):
        Shards.write(tmp_path, counts())
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == [tmp_path / name]
    assert (tmp_path / name).read_text() == "mine"


def test_a_folder_that_was_not_finished_is_begun_again(tmp_path: Path) -> None:
    ShardWriter(tmp_path).add(counts())
    Shards.write(tmp_path, DATA["vectors"])
    assert sorted(path.name for path in tmp_path.iterdir()) == ["000000", "manifest.json"]


def test_the_same_data_have_the_same_digest(tmp_path: Path) -> None:
    first, second = (Shards.write(tmp_path / name, counts(), stored_per_shard=40) for name in "ab")
    assert first.manifest.digest == second.manifest.digest
    other = Shards.write(tmp_path / "c", counts(largest=3.0), stored_per_shard=40)
    assert other.manifest.digest != first.manifest.digest


def test_what_stood_in_the_folder_before_is_gone(tmp_path: Path) -> None:
    Shards.write(tmp_path, counts(), stored_per_shard=40)
    (tmp_path / "note.txt").write_text("stays")
    stale = tmp_path / ".000000.partial" / "candidates.npy"
    stale.parent.mkdir()
    np.save(stale, np.ones((1, 1)))
    data = DATA["vectors"]
    Shards.write(tmp_path, data)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["000000", "manifest.json", "note.txt"]
    assert sorted(path.name for path in (tmp_path / "000000").iterdir()) == ["codes.npy", "vectors.npy"]


@pytest.mark.parametrize("name", ["", "..", ".", "a/b", "/tmp"])
def test_shards_that_lie_elsewhere_are_refused(name: str, tmp_path: Path) -> None:
    folder = tmp_path / "shards"
    Shards.write(folder, DATA["vectors"])
    text = (folder / "manifest.json").read_text().replace('"000000"', json.dumps(name))
    (folder / "manifest.json").write_text(text)
    (tmp_path / "mine.txt").write_text("stays")
    with pytest.raises(InvalidInputError, match="called by its number"):
        Shards.open(folder)
    Shards.write(folder, DATA["vectors"])
    assert (tmp_path / "mine.txt").exists()


def test_shards_that_stood_there_before_go_whatever_their_manifest_says(tmp_path: Path) -> None:
    Shards.write(tmp_path, counts(), stored_per_shard=40)
    assert (tmp_path / "000001").is_dir()
    path = tmp_path / "manifest.json"
    path.write_text(path.read_text().replace('"version": 2', '"version": 1'))
    Shards.write(tmp_path, counts())
    assert [own.name for own in tmp_path.iterdir() if own.is_dir()] == ["000000"]
