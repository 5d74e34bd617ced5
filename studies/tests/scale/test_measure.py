"""What is measured at scale: who is compared, and that the corpus is as large as is said."""

import importlib.util
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from labelworth.data.shards.folder import Shards
from labelworth_studies.corpora.zipf_documents import write_corpus
from labelworth_studies.scale import scale
from labelworth_studies.scale.parts import measure


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("scale")
    measure.STAGES["shard"](folder, 300, 0, 1)
    return folder


def test_texts_of_the_largest_corpus_are_four_times_the_limit(tmp_path: Path) -> None:
    write_corpus(tmp_path / "corpus.jsonl", 2000)
    per_row = (tmp_path / "corpus.jsonl").stat().st_size / 2000
    assert scale.LARGEST * per_row >= 4 * scale.LIMIT
    # A tenth fewer rows would not be: the bound is one.
    assert 0.9 * scale.LARGEST * per_row < 4 * scale.LIMIT


def test_rows_of_a_shard_are_those_that_windows_give(made: Path) -> None:
    data: Any = Shards.open(made / "shards").data
    (part,) = data.features.parts
    whole = part.read()
    some = measure._rows_of(part, 20, 90)
    np.testing.assert_array_equal(some.toarray(), whole[20:90].toarray())
    assert (some != whole[21:91]).nnz > 0


def test_a_peer_that_is_not_installed_is_told(made: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "dask_ml" else found(name))
    told = measure.STAGES["dask-ml"](made, 300, 0, 1)
    assert told == {"not_installed": "dask_ml"}
    assert "pass_seconds" in measure.STAGES["partial_fit"](made, 300, 0, 1)


def test_a_stage_that_was_not_measured_is_in_no_table() -> None:
    took = {"pass_seconds": 1.0, "pass_processor_seconds": 1.0, "peak_bytes": 1, "peak_own_bytes": 1}
    took |= {"seconds": 1.0, "processor_seconds": 1.0, "limit_bytes": 0}
    shard = {"n_features": 5, "n_shards": 1, "n_bytes": 50, "n_text_bytes": 70}
    shard |= {"sharding_processor_seconds": 1.0}
    for is_there in (True, False):
        done = [
            (
                cell,
                {"not_installed": "dask_ml"}
                if cell["stage"].startswith("dask-ml") and not is_there
                else {**took, **shard, "n_stored": 10 * cell["n_documents"]},
            )
            for cell in scale.cells(quick=True, seed=0)
        ]
        outcome = scale.summarize(done)
        assert ("dask-ml, 1 worker" in outcome.figures["sizes"][0]) is is_there
        assert ("memory over dask-ml, most" in outcome.figures["ratios"]) is is_there
        assert outcome.words == (() if is_there else ("dask_ml is not installed: it was not measured.",))
