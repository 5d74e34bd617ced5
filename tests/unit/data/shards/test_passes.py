"""One mechanism for all passes: over shards they say what they say in memory, and the same bits whoever walks."""

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from labelworth.data.evidence import Evidence
from labelworth.data.samples import Samples
from labelworth.data.shards.folder import Shards
from labelworth.data.shards.passes import AsTheyAre, PassesOverShards
from labelworth.engines.runner import Sums
from labelworth.errors import InvalidInputError
from labelworth.estimation.fit import settled
from labelworth.fisher.documents.observed import observed_information
from labelworth.fisher.documents.probing import matrix_free_information
from labelworth.models.classes.multinomial import MultinomialFamily
from labelworth.robust.specification import chi_square_statistic
from labelworth.robust.unlabeled_weight import sandwich_risks


def documents() -> Samples:
    rng = np.random.default_rng(0)
    words = rng.dirichlet(np.full(12, 0.5), size=3)
    truth = rng.integers(0, 3, size=500)
    counts = np.array([rng.multinomial(6, words[label]) for label in truth], dtype=np.float64)
    codes = np.where(rng.random(500) < 0.3, truth, -1)
    # Whole shards in which nothing, and in which everything, is labeled.
    codes[:120], codes[120:240] = -1, truth[120:240]
    return Samples(sp.csr_array(counts), Evidence(codes, ("a", "b", "c")))


DATA = documents()
FAMILY = MultinomialFamily.for_samples(DATA, smoothing=0.5)


@cache
def fitted() -> Any:
    """In the first test that asks: while tests are collected, every worker would compile the same kernels."""
    return settled(FAMILY, DATA)


def lanczos(data: Samples) -> list[Any]:
    told = matrix_free_information(fitted().model, fitted().family, data, np.random.default_rng(1), max_steps=12)
    return [told.plain.trace, told.named.trace, told.plain.low.nodes, told.named.high.nodes, told.residual + 1]


def curvatures(data: Samples) -> list[Any]:
    told = observed_information(fitted().model, data, FAMILY.prior_curvature(fitted().model))
    return [told.complete, told.missing]


def specification(data: Samples) -> list[Any]:
    return [chi_square_statistic(fitted().model, data)[0]]


def sandwich(data: Samples) -> list[Any]:
    return [sandwich_risks(FAMILY, data, [0.0, 0.3, 1.0])]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    assert len(Shards.write(tmp_path / "shards", DATA, stored_per_shard=200).manifest.shards) > 5
    return tmp_path / "shards"


def bits(figures: list[Any]) -> list[bytes]:
    return [np.asarray(figure).tobytes() for figure in figures]


@pytest.mark.parametrize("asked", [lanczos, curvatures, specification, sandwich])
def test_formulas_over_shards_are_those_of_memory(asked: Callable[[Samples], list[Any]], folder: Path) -> None:
    expected = asked(DATA)
    engines = [("threads", 1), ("threads", 3), ("processes", 2)]
    told = [asked(Shards.open(folder, engine=engine, workers=n).data) for engine, n in engines]
    assert bits(told[0]) == bits(told[1]) == bits(told[2])
    for figure, other in zip(told[0], expected, strict=True):
        np.testing.assert_allclose(figure, other, rtol=1e-8, atol=1e-10)


def test_lanczos_that_was_stopped_reads_its_passes_back(folder: Path, tmp_path: Path) -> None:
    whole = Shards.open(folder, checkpoint=tmp_path / "kept")
    first = lanczos(whole.data)
    again = Shards.open(folder, checkpoint=tmp_path / "kept")
    assert bits(lanczos(again.data)) == bits(first)
    assert again.runner.n_reused == len(list((tmp_path / "kept").iterdir()))  # type: ignore[attr-defined]


class Rows:
    def __init__(self, samples: Samples, weights: np.ndarray) -> None:
        self.samples, self.weights = samples, weights

    def weight(self, factor: float) -> Sums:
        return {"weight": np.asarray(factor * self.weights.sum())}


def test_a_pass_of_once_adds_up(folder: Path) -> None:
    data: Any = Shards.open(folder).data
    passes = PassesOverShards(AsTheyAre(Rows), data, np.arange(500.0))
    assert passes.total("weight", 2.0)["weight"] == 2 * np.arange(500.0).sum()
    assert sum(float(own["weight"]) for own in passes.each("weight", 1.0)) == np.arange(500.0).sum()


def test_any_changed_byte_of_a_shard_is_told_when_it_is_read(folder: Path) -> None:
    shards = Shards.open(folder)
    lanczos(shards.data)  # type: ignore[arg-type]
    path = folder / shards.manifest.shards[3].name / "values.npy"
    content = bytearray(path.read_bytes())
    content[-1] = content[-1] % 5 + 1  # another count, as good as any
    path.write_bytes(bytes(content))
    with pytest.raises(InvalidInputError, match=rf"{shards.manifest.shards[3].name}.*changed after it was written"):
        curvatures(Shards.open(folder).data)  # type: ignore[arg-type]
