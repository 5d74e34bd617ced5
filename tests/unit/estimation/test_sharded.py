"""A fit over shards is the fit in memory, and the same bits whoever does the passes."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from labelworth.data.evidence import Evidence
from labelworth.data.samples import Samples
from labelworth.data.sequences import Sequences
from labelworth.data.shards.folder import Shards
from labelworth.engines.runner import Threads
from labelworth.errors import InvalidInputError, LabelworthWarning
from labelworth.estimation.fit import fit
from labelworth.estimation.sharded import expectation_of_shard
from labelworth.models.chains.hidden_markov import HiddenMarkovFamily
from labelworth.models.classes.bernoulli import BernoulliFamily
from labelworth.models.classes.gaussian import GaussianFamily
from labelworth.models.classes.multinomial import MultinomialFamily
from support.learners import sentences

CLASSES = ("a", "b", "c")


def documents(n_samples: int = 600, seed: int = 0, share: float = 0.1) -> Samples:
    rng = np.random.default_rng(seed)
    words = rng.dirichlet(np.full(40, 0.2), size=3)
    truth = rng.integers(0, 3, size=n_samples)
    counts = np.array([rng.multinomial(rng.integers(0, 15), words[label]) for label in truth], dtype=np.float64)
    codes = np.where(rng.random(n_samples) < share, truth, -1)
    codes[5], codes[400] = -2, -3
    return Samples(sp.csr_array(counts), Evidence(codes, CLASSES, np.array([[1.0, 1.0, 0.0], [0.2, 0.0, 0.7]])))


def vectors(n_samples: int = 500) -> Samples:
    rng = np.random.default_rng(1)
    truth = rng.integers(0, 3, size=n_samples)
    points = rng.normal(size=(n_samples, 4)) + 2.0 * np.eye(3, 4)[truth]
    # Within the first shard one feature does not vary at all.
    points[:120, 3] = 0.5
    return Samples(points, Evidence(np.where(rng.random(n_samples) < 0.1, truth, -1), CLASSES))


def tagged() -> Sequences:
    data = sentences(200)
    hidden = np.random.default_rng(2).random(data.n_sequences) < 0.6
    return data.hide(data.positions_of(np.flatnonzero(hidden)))


def presences() -> Samples:
    data = documents()
    return Samples(sp.csr_array(data.counts > 0).astype(np.float64), data.evidence)


CASES: dict[str, tuple[Any, Any]] = {
    "multinomial": (documents(), lambda data: MultinomialFamily.for_samples(data, smoothing=0.1)),
    "bernoulli": (presences(), lambda data: BernoulliFamily.for_samples(data, smoothing=0.1)),
    "gaussian": (vectors(), GaussianFamily.for_samples),
    "hidden markov": (tagged(), lambda data: HiddenMarkovFamily.for_sequences(data, smoothing=0.1)),
}


@pytest.fixture(params=CASES)
def case(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Any, Any, Path]:
    data, family = CASES[request.param]
    shards = Shards.write(tmp_path / "shards", data, stored_per_shard=500)
    assert len(shards.manifest.shards) > 1
    return data, family(data), tmp_path / "shards"


def bits(fitted: Any) -> tuple[bytes, ...]:
    return (fitted.objective_path.tobytes(), *(table.tobytes() for table in fitted.model.tables.values()))


@pytest.mark.parametrize("unlabeled_weight", [1.0, 0.3])
def test_shards_give_the_fit_in_memory(case: tuple[Any, Any, Path], unlabeled_weight: float) -> None:
    data, family, folder = case
    expected = fit(family, data, unlabeled_weight=unlabeled_weight)
    fitted = fit(family, Shards.open(folder).data, unlabeled_weight=unlabeled_weight)
    assert fitted.objective == pytest.approx(expected.objective, rel=1e-12)
    assert fitted.n_iterations == expected.n_iterations
    for name, table in expected.model.tables.items():
        np.testing.assert_allclose(fitted.model.tables[name], table, rtol=1e-8, atol=1e-12)


def test_workers_leave_no_trace_in_the_bits(case: tuple[Any, Any, Path]) -> None:
    _, family, folder = case
    engines = [("threads", 1), ("threads", 3), ("processes", 2)]
    fits = [fit(family, Shards.open(folder, engine=engine, workers=n).data) for engine, n in engines]
    assert bits(fits[0]) == bits(fits[1]) == bits(fits[2])


def test_another_cut_tells_in_the_bits(tmp_path: Path) -> None:
    data = documents()
    family = MultinomialFamily.for_samples(data, smoothing=0.1)
    cuts = [Shards.write(tmp_path / str(work), data, stored_per_shard=work).data for work in (300, 700)]
    first, second = (fit(family, cut) for cut in cuts)
    assert bits(first) != bits(second)
    assert first.objective == pytest.approx(second.objective, rel=1e-12)


def test_classes_without_labels_begin_from_random_rows_of_shards(tmp_path: Path) -> None:
    data = documents()
    codes = np.where(data.evidence.codes == 0, 0, -1)
    data = data.with_evidence(Evidence(codes, CLASSES))
    family = MultinomialFamily.for_samples(data, smoothing=0.1)
    shards = Shards.write(tmp_path, data, stored_per_shard=500).data
    with pytest.warns(LabelworthWarning, match="No label tells"):
        expected = fit(family, data, n_starts=2, rng=np.random.default_rng(5))
    with pytest.warns(LabelworthWarning, match="No label tells"):
        fitted = fit(family, shards, n_starts=2, rng=np.random.default_rng(5))
    assert fitted.objective == pytest.approx(expected.objective, rel=1e-9)


class Stopping(Threads):
    """Is killed in the pass of this number."""

    def __init__(self, number: int) -> None:
        super().__init__(1)
        self.left = number

    def total(self, function: Any, shared: Any, items: Any) -> Any:
        self.left -= 1
        if self.left < 0:
            raise KeyboardInterrupt
        return super().total(function, shared, items)


@pytest.mark.parametrize("number", [0, 1, 4])
def test_a_killed_fit_goes_on_and_loses_one_pass_at_most(
    case: tuple[Any, Any, Path], number: int, tmp_path: Path
) -> None:
    _, family, folder = case
    kept = tmp_path / "kept"
    with pytest.raises(KeyboardInterrupt):
        fit(family, Shards.open(folder, engine=Stopping(number), checkpoint=kept).data)
    assert len(list(kept.iterdir())) == number
    whole = fit(family, Shards.open(folder).data)
    counting = Stopping(1000)
    assert bits(fit(family, Shards.open(folder, engine=counting, checkpoint=kept).data)) == bits(whole)
    assert 1000 - counting.left == len(list(kept.iterdir())) - number


def test_a_damaged_kept_pass_is_made_again(tmp_path: Path) -> None:
    data = documents()
    family = MultinomialFamily.for_samples(data, smoothing=0.1)
    Shards.write(tmp_path / "shards", data, stored_per_shard=500)
    kept = tmp_path / "kept"
    first = fit(family, Shards.open(tmp_path / "shards", checkpoint=kept).data)
    files = sorted(kept.iterdir())
    files[0].write_bytes(files[0].read_bytes()[:-30])
    content = bytearray(files[1].read_bytes())
    content[len(content) // 2] ^= 255
    files[1].write_bytes(bytes(content))
    again = Shards.open(tmp_path / "shards", checkpoint=kept)
    assert bits(fit(family, again.data)) == bits(first)
    assert again.runner.n_reused == len(files) - 2  # type: ignore[attr-defined]


def test_a_shard_that_was_swapped_is_not_answered_from_what_was_kept(tmp_path: Path) -> None:
    family = MultinomialFamily.for_samples(documents(), smoothing=0.1)
    for seed in (0, 1):
        Shards.write(tmp_path / "shards", documents(seed=seed), stored_per_shard=500)
        opened = Shards.open(tmp_path / "shards", checkpoint=tmp_path / "kept")
        fit(family, opened.data)
        assert opened.runner.n_reused == 0  # type: ignore[attr-defined]


def test_a_damaged_shard_is_named(tmp_path: Path) -> None:
    shards = Shards.write(tmp_path, documents(), stored_per_shard=500)
    path = tmp_path / shards.manifest.shards[1].name / "indices.npy"
    content = bytearray(path.read_bytes())
    content[-2:] = b"\xff\x7f"  # a column that there is not
    path.write_bytes(bytes(content))
    family = MultinomialFamily.for_samples(documents(), smoothing=0.1)
    with pytest.raises(InvalidInputError, match=shards.manifest.shards[1].name):
        fit(family, shards.data)


def test_the_pass_of_a_shard_is_a_function_that_can_be_sent() -> None:
    assert expectation_of_shard.__qualname__ == "expectation_of_shard"
