"""What must not grow: time per word of a corpus, and memory beside the data."""

import statistics
import time
import tracemalloc
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType

import numpy as np
import scipy.sparse as sp

from labelworth.arrays import UNLABELED
from labelworth.data.evidence import Evidence
from labelworth.data.samples import Samples
from labelworth.data.sequences import Sequences
from labelworth.fisher.documents.observed_counts import ObservedCounts
from labelworth.fisher.matrix_free.policies import MatrixFree, matrix_free_policies
from labelworth.fisher.sequences.population import ChainPopulation
from labelworth.linalg.lanczos import LockstepLanczos
from labelworth.models.chains.hidden_markov import HiddenMarkovFamily, HiddenMarkovModel, HiddenMarkovPass
from labelworth.models.classes.multinomial import MultinomialFamily, MultinomialModel
from labelworth.models.protocol import Pass
from labelworth.policies.catalog import Everything, Nothing, Window
from labelworth.policies.policy import Policy
from labelworth_studies.benchmarks.race_chains import drawn_chain
from labelworth_studies.benchmarks.race_documents import RCV1, SMALL, Shape, drawn_documents

_MANY = Shape(10_000, 50_000, 100, 20)
_COPIES = 100
_N_PROBES = 10


@dataclass(frozen=True)
class Limit:
    """Something measured, and how large it may be."""

    name: str
    detail: str
    value: float
    limit: float

    @property
    def is_met(self) -> bool:
        """Whether it is small enough."""
        return self.value <= self.limit


def growth(quick: bool) -> Limit:
    """Time per non-zero of one EM iteration, for a hundred times as many documents of the same vocabulary."""
    few = drawn_documents(SMALL if quick else _MANY)
    many = _copied(few, 3 if quick else _COPIES)
    times = {"few": 0.0, "many": 0.0}
    laid_out = {name: _laid_out(samples) for name, samples in (("few", few), ("many", many))}
    for name, seconds in _interleaved(laid_out).items():
        times[name] = seconds / {"few": few, "many": many}[name].counts.nnz
    detail = f"{few.counts.nnz:.1g} and {many.counts.nnz:.1g} non-zeros: {_nanoseconds(times)}"
    return Limit("time per non-zero, of many over few documents", detail, times["many"] / times["few"], 1.5)


def fit_memory(quick: bool) -> Limit:
    """What laying out and iterating takes at most, over what the data takes."""
    samples = drawn_documents(SMALL if quick else RCV1)
    counts = samples.counts
    size = counts.data.nbytes + counts.indices.nbytes + counts.indptr.nbytes

    def fit() -> None:
        family, passes, model = _laid_out(samples)
        for _ in range(2):
            model = family.maximize(passes.expectation(model).statistics)

    peak = _peak(fit)
    detail = f"{peak / 1e6:.0f} MB beside {size / 1e6:.0f} MB of counts"
    return Limit("memory of an EM fit over that of its data", detail, peak / size, 1.5)


def lanczos_memory(quick: bool) -> Limit:
    """What a Lanczos run holds at most, in blocks of parameters by probes."""
    samples = drawn_documents(SMALL if quick else RCV1)
    family, passes, model = _laid_out(samples)
    model = family.maximize(passes.expectation(model).statistics)
    observed = ObservedCounts.at(model, family, samples)
    del passes

    def run() -> None:
        starts = np.ones((observed.size, _N_PROBES))
        LockstepLanczos(observed.missing, starts).advance(2)

    block = observed.size * _N_PROBES * 8
    peak = _peak(run)
    detail = f"{peak / 1e6:.0f} MB; a block has {block / 1e6:.0f} MB"
    return Limit("memory of a Lanczos run, in blocks", detail, peak / block, 4.0)


def token_growth(quick: bool) -> Limit:
    """Time per token of one EM iteration of an HMM, for a hundred times as many sentences; its memory is told."""
    few = _drawn_sentences(500 if quick else 4_200, 22, 10_000)
    many = few.take(np.tile(np.arange(few.n_sequences), 3 if quick else 100))
    times = {}
    for name, sequences in (("few", few), ("many", many)):
        times[name] = _median_seconds(partial(_iterate, *_laid_out_chain(sequences))) / sequences.n_tokens
    size = many.words.nbytes + many.offsets.nbytes + many.evidence.codes.nbytes
    peak = _peak(lambda: _iterate(*_laid_out_chain(many)))
    detail = (
        f"{few.n_tokens:.1g} and {many.n_tokens:.1g} tokens: {_nanoseconds(times)}; "
        f"{peak / 1e6:.0f} MB beside {size / 1e6:.0f} MB of tokens"
    )
    return Limit("time per token, of many over few sentences", detail, times["many"] / times["few"], 1.5)


def rule_information(quick: bool) -> Limit:
    """The information of three rules over drawn sentences, without matrices, in EM iterations over the same ones."""
    sequences = _drawn_sentences(12_000, 3, 40) if quick else _drawn_sentences(500_000, 22, 200)
    iteration = _median_seconds(partial(_iterate, *_laid_out_chain(sequences)))
    _three_rules(_drawn_sentences(12_000, 3, 40))  # compiles
    begun = time.perf_counter()
    information = _three_rules(sequences)
    seconds = time.perf_counter() - begun
    detail = (
        f"{information.n_parameters:,} parameters, {sequences.n_sequences:,} sentences, {sequences.n_tokens:,} "
        f"tokens: {seconds:.1f} s, {information.n_passes} passes; an EM iteration {iteration:.2f} s"
    )
    return Limit("information of three rules, in EM iterations", detail, seconds / iteration, 60.0)


LIMITS: Mapping[str, Callable[[bool], Limit]] = MappingProxyType(
    {
        "growth": growth,
        "fit-memory": fit_memory,
        "lanczos-memory": lanczos_memory,
        "token-growth": token_growth,
        "rule-information": rule_information,
    }
)
"""Name -> what measures it, given whether it should be quick."""


_Laid = tuple[MultinomialFamily, Pass[MultinomialModel], MultinomialModel]


def _laid_out(samples: Samples) -> _Laid:
    """Everything one EM iteration starts from."""
    family = MultinomialFamily.for_samples(samples, smoothing=0.1).adapted(samples, samples.sample_weights)
    return family, family.prepare(samples, samples.sample_weights), family.neutral()


def _copied(samples: Samples, n_copies: int) -> Samples:
    """The same documents so many times over: as good as new ones for timing, and quickly made."""
    counts = samples.counts
    starts = np.concatenate([[0], np.cumsum(np.tile(np.diff(counts.indptr), n_copies))])
    matrix = sp.csr_array(
        (np.tile(counts.data, n_copies), np.tile(counts.indices, n_copies), starts),
        shape=(n_copies * samples.n_samples, samples.n_features),
    )
    return Samples(matrix, Evidence(np.tile(samples.evidence.codes, n_copies), samples.evidence.classes))


def _interleaved(laid_out: Mapping[str, _Laid], n_turns: int = 3) -> dict[str, float]:
    """The median seconds of one EM iteration of each, taken in turns; short ones are repeated within a turn."""
    seconds: dict[str, list[float]] = {name: [] for name in laid_out}
    for turn in range(n_turns + 1):
        for name, (family, passes, model) in laid_out.items():
            begun = time.perf_counter()
            n_repeats = 0
            while n_repeats == 0 or time.perf_counter() - begun < 0.5:
                family.maximize(passes.expectation(model).statistics)
                n_repeats += 1
            if turn > 0:
                seconds[name].append((time.perf_counter() - begun) / n_repeats)
    return {name: statistics.median(times) for name, times in seconds.items()}


def _nanoseconds(times: Mapping[str, float]) -> str:
    return ", ".join(f"{1e9 * seconds:.1f} ns" for seconds in times.values())


def _peak(work: Callable[[], None]) -> int:
    """The most memory that `work` holds at once, beside what was there before, in bytes."""
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


_Chain = tuple[HiddenMarkovFamily, HiddenMarkovPass, HiddenMarkovModel]


def _drawn_sentences(n_sentences: int, n_labels: int, n_words: int) -> Sequences:
    """Fully labeled sentences of 24 tokens on average, drawn from an HMM."""
    rng = np.random.default_rng(0)
    offsets = np.concatenate([[0], np.cumsum(rng.integers(1, 48, size=n_sentences))])
    model = _chain(n_labels, n_words)
    nothing = Evidence(np.full(int(offsets[-1]), UNLABELED), model.classes)
    words = np.zeros(int(offsets[-1]), dtype=np.int64)
    return model.sample(Sequences(words, offsets, nothing, model.feature_names), rng)


def _chain(n_labels: int, n_words: int) -> HiddenMarkovModel:
    return drawn_chain(n_labels, n_words, seed=0)


def _laid_out_chain(sequences: Sequences) -> _Chain:
    """Everything one EM iteration of an HMM starts from."""
    family = HiddenMarkovFamily.for_sequences(sequences, smoothing=0.1)
    family = family.adapted(sequences, sequences.sequence_weights)
    passes = family.prepare(sequences.hide(), sequences.sequence_weights)
    return family, passes, _chain(sequences.evidence.n_classes, sequences.n_features)


def _three_rules(sequences: Sequences) -> MatrixFree:
    """The information of three rules from drawn sentences."""
    truth = _chain(sequences.evidence.n_classes, sequences.n_features)
    policies = [Policy.of(rule) for rule in (Everything(), Nothing(), Window(5))]
    population = ChainPopulation.of(truth, inputs=sequences)
    return matrix_free_policies(population, policies, np.random.default_rng(0), drawn=sequences)


def _iterate(family: HiddenMarkovFamily, passes: HiddenMarkovPass, model: HiddenMarkovModel) -> None:
    family.maximize(passes.expectation(model).statistics)


def _median_seconds(run: Callable[[], object], n_turns: int = 3) -> float:
    """The median over a few runs, after a first one that warms up; short ones are repeated within a turn."""
    run()
    seconds = []
    for _ in range(n_turns):
        begun = time.perf_counter()
        n_repeats = 0
        while n_repeats == 0 or time.perf_counter() - begun < 0.5:
            run()
            n_repeats += 1
        seconds.append((time.perf_counter() - begun) / n_repeats)
    return statistics.median(seconds)
