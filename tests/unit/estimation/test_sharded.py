"""A fit over shards is the fit in memory, and the same bits whoever does the passes."""

import tracemalloc
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from labelworth.data.evidence import Evidence
from labelworth.data.samples import Samples
from labelworth.data.sequences import Sequences
from labelworth.data.shards.folder import Shards
from labelworth.data.shards.manifest import shard_digest
from labelworth.engines.runner import Threads, plus
from labelworth.errors import InvalidInputError, LabelworthWarning
from labelworth.estimation.boltzmann_chain_fit import fit_boltzmann_chain
from labelworth.estimation.conditional_fit import fit_conditional
from labelworth.estimation.fit import fit
from labelworth.models.chains.boltzmann_chain import BoltzmannChainFamily
from labelworth.models.chains.hidden_markov import HiddenMarkovFamily
from labelworth.models.classes import walked_documents
from labelworth.models.classes.bernoulli import BernoulliFamily
from labelworth.models.classes.gaussian import GaussianFamily
from labelworth.models.classes.multinomial import MultinomialFamily
from labelworth.models.sharded import prepared
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


def of_four_classes(n_samples: int = 600) -> Samples:
    """A whole vector of numbers per word: passes over shards give back the table that they wrote to."""
    data = documents(n_samples, share=0.3)
    codes, sets = data.evidence.codes.copy(), np.pad(data.evidence.weights, ((0, 0), (0, 1)), constant_values=0.5)
    codes[np.flatnonzero(codes >= 0)[::5]] = 3
    return data.with_evidence(Evidence(codes, (*CLASSES, "d"), sets))


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
    "multinomial, four classes": (
        of_four_classes(),
        lambda data: MultinomialFamily.for_samples(data, smoothing=0.1),
    ),
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


def attributed() -> Sequences:
    """With attributes, and tokens of which nothing, a set or one label is known."""
    data = tagged()
    rng = np.random.default_rng(3)
    words = data.attributes
    values = sp.csr_array(words.multiply(rng.choice([0.5, 1.0, 2.0], size=words.shape[0])[:, None]))
    neighbors = sp.vstack([words[1:], words[:1]], format="csr")
    names = (*data.feature_names, *(f"next {name}" for name in data.feature_names))
    rows = sp.csr_array(sp.hstack([values, neighbors], format="csr"))
    codes = data.evidence.codes.copy()
    codes[np.flatnonzero(codes >= 0)[::7]] = -2
    sets = np.zeros((1, data.evidence.n_classes))
    sets[0, :2] = 1.0
    return Sequences(rows, data.offsets, Evidence(codes, data.evidence.classes, sets), names)


def trained_crf(data: Sequences) -> Any:
    return fit_conditional(data, c2=0.1, with_start=True, max_iterations=200)


def trained_chain(data: Sequences) -> Any:
    return fit_boltzmann_chain(BoltzmannChainFamily.for_sequences(data, penalty=0.1), data, max_iterations=200)


TRAINED: dict[str, tuple[Sequences, Any]] = {
    "conditional random field": (attributed(), trained_crf),
    "of words": (tagged(), trained_crf),
    "boltzmann chain": (tagged(), trained_chain),
}


@pytest.mark.parametrize("name", TRAINED)
def test_gradients_of_shards_train_the_model_of_memory_and_leave_no_trace(name: str, tmp_path: Path) -> None:
    data, train = TRAINED[name]
    shards = Shards.write(tmp_path / "shards", data, stored_per_shard=200)
    assert len(shards.manifest.shards) > 2
    expected = train(data)
    engines = [("threads", 1), ("threads", 3), ("processes", 2)]
    fits = [train(Shards.open(tmp_path / "shards", engine=engine, workers=n).data) for engine, n in engines]
    assert bits(fits[0]) == bits(fits[1]) == bits(fits[2])
    assert fits[0].objective == pytest.approx(expected.objective, rel=1e-6)
    assert [table.shape for table in fits[0].model.tables.values()] == [
        table.shape for table in expected.model.tables.values()
    ]


@pytest.mark.parametrize("name", TRAINED)
def test_killed_training_loses_one_pass_at_most(name: str, tmp_path: Path) -> None:
    data, train = TRAINED[name]
    folder, kept = tmp_path / "shards", tmp_path / "kept"
    Shards.write(folder, data, stored_per_shard=500)
    with pytest.raises(KeyboardInterrupt):
        train(Shards.open(folder, engine=Stopping(7), checkpoint=kept).data)
    counting = Stopping(1000)
    again = train(Shards.open(folder, engine=counting, checkpoint=kept).data)
    assert bits(again) == bits(train(Shards.open(folder).data))
    assert 1000 - counting.left == len(list(kept.iterdir())) - 7


class ByArrival(Threads):
    """Adds as results come, in another order with every pass: what must not be."""

    def total(self, function: Any, shared: Any, items: Any) -> Any:
        results = list(self.map(function, shared, items))
        np.random.default_rng(digest_seed(shared)).shuffle(results)  # type: ignore[arg-type]
        total = results[0]
        for result in results[1:]:
            total = plus(total, result)
        return total


def digest_seed(shared: Any) -> int:
    return len(str(shared.parameters)) + 1


def test_a_runner_that_adds_by_arrival_is_told_by_its_bits(tmp_path: Path) -> None:
    Shards.write(tmp_path, tagged(), stored_per_shard=100)
    fits = [trained_chain(Shards.open(tmp_path, engine=engine).data) for engine in (Threads(1), ByArrival(1))]
    assert bits(fits[0]) != bits(fits[1])


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


@pytest.mark.parametrize("unlabeled_weight", [1.0, 0.3])
@pytest.mark.parametrize("window", [64, 1 << 18])
@pytest.mark.parametrize("data", [documents(1500, share=0.3), of_four_classes(1500)], ids=["three", "four"])
def test_one_shard_that_is_walked_through_has_the_bits_of_memory(
    data: Samples, unlabeled_weight: float, window: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("labelworth.data.shards.features._WINDOW", window)
    family = MultinomialFamily.for_samples(data, smoothing=0.1)
    shards = Shards.write(tmp_path, data)
    assert len(shards.manifest.shards) == 1
    in_memory = fit(family, data, unlabeled_weight=unlabeled_weight)
    assert bits(fit(family, shards.data, unlabeled_weight=unlabeled_weight)) == bits(in_memory)


@pytest.mark.parametrize("kind", [np.int32, np.int64])
def test_a_shard_with_stored_zeros_is_walked_through_as_if_it_had_none(kind: type, tmp_path: Path) -> None:
    data = documents(share=0.3)
    family = MultinomialFamily.for_samples(data, smoothing=0.1)
    shards = Shards.write(tmp_path, data)
    (entry,) = shards.manifest.shards
    counts = data.counts.copy()
    counts.data[::9] = 0.0
    np.save(tmp_path / entry.name / "values.npy", counts.data)
    np.save(tmp_path / entry.name / "indices.npy", counts.indices.astype(kind))
    digest, n_bytes = shard_digest(tmp_path / entry.name)
    replace(shards.manifest, shards=(replace(entry, digest=digest, n_bytes=n_bytes),)).write(tmp_path)
    assert bits(fit(family, Shards.open(tmp_path).data)) == bits(fit(family, replace(data, features=counts)))


def test_weights_of_rows_count_in_shards(tmp_path: Path) -> None:
    data = documents()
    data = data.weighted(np.random.default_rng(3).uniform(0.0, 2.0, size=data.n_samples).round())
    family = MultinomialFamily.for_samples(data, smoothing=0.1)
    sharded = Shards.write(tmp_path, data.weighted(None)).data.weighted(data.weights)
    assert bits(fit(family, sharded)) == bits(fit(family, data))


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


@pytest.mark.parametrize("accelerated", [False, True])
def test_a_fit_holds_few_tables_at_once(tmp_path: Path, accelerated: bool) -> None:
    """Of words by classes: 5.8 by plain steps and 8.8 by leaps, where it had held four more of each."""
    n_words, rng = 60_000, np.random.default_rng(4)
    words = rng.integers(0, n_words, size=(400, 20))
    codes = np.where(rng.random(400) < 0.2, rng.integers(0, 3, 400), -1)
    rows = (np.ones(words.size), words.ravel(), np.arange(401) * 20)
    samples = Samples(sp.csr_array(rows, shape=(400, n_words)), Evidence(codes, CLASSES))
    data = Shards.write(tmp_path / "shards", samples).data
    table = 3 * n_words * 8

    def fitted() -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", LabelworthWarning)
            family = MultinomialFamily.for_samples(data, smoothing=0.1)
            fit(family, data, max_iterations=8, tolerance=1e-300, accelerated=accelerated)

    fitted()  # Compiles, and reads what is read once.
    tracemalloc.start()
    try:
        fitted()
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak / table < (10.5 if accelerated else 7.5)


def test_what_is_made_of_a_model_for_a_pass_goes_with_the_pass(tmp_path: Path) -> None:
    data = Shards.write(tmp_path / "shards", documents(), stored_per_shard=500).data
    family = MultinomialFamily.for_samples(data, smoothing=0.1)
    family = family.adapted(data, np.ones(data.n_samples))
    model = family.neutral()
    one = prepared(family, data, np.ones(data.n_samples))
    before = one.expectation(model)
    assert not walked_documents._LATEST
    # Asked of a shard directly, as long as the model is there, it is kept for the next shard.
    family.prepare(data.take(np.arange(10)), np.ones(10)).expectation(model)
    assert walked_documents._LATEST
    np.testing.assert_array_equal(one.expectation(model).statistics["word_counts"], before.statistics["word_counts"])
