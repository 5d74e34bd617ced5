"""Information: fifty fractions from one decomposition, and a Lanczos step at millions of parameters."""

from typing import Any

import numpy as np

from labelworth.arrays import FloatArray
from labelworth.fisher.dense import DenseInformation
from labelworth.fisher.documents.observed_counts import ObservedCounts
from labelworth.fisher.documents.two_class_formula import two_class_information
from labelworth.fisher.information import over_fractions
from labelworth.linalg.lanczos import LockstepLanczos
from labelworth.models.classes.multinomial import MultinomialFamily
from labelworth.models.classes.responsibilities import posterior
from labelworth_studies.benchmarks.race import Contender, Race
from labelworth_studies.benchmarks.race_documents import RCV1, SMALL, drawn_documents
from labelworth_studies.paper.fig3_theory import drawn_model

_N_FRACTIONS = 50
_N_INVERTED = 3
_N_PROBES = 10
_N_STEPS = 30


def fractions_race(quick: bool) -> Race:
    """Fifty labeled fractions at two thousand parameters against repeated inversion."""
    model = drawn_model(60 if quick else 1000, 20, seed=0)
    curve = two_class_information(model)
    complete, missing = curve.complete_dense(), curve.missing_dense()
    fractions = np.geomspace(0.01, 1.0, _N_FRACTIONS)
    inverted = fractions[:: _N_FRACTIONS // _N_INVERTED][:_N_INVERTED]
    jacobian = model.coordinates.jacobian()
    metric = jacobian.T @ jacobian

    def ours() -> FloatArray:
        information = DenseInformation.of_labels(model.coordinates, complete, missing, "formula")
        return over_fractions(information, "total_variance", fractions).values

    def peer() -> FloatArray:
        return np.array([np.sum(np.linalg.inv(complete - (1 - f) * missing) * metric) for f in inverted])

    return Race(
        "fractions",
        f"{_N_FRACTIONS} labeled fractions, {model.coordinates.n_free:,} parameters",
        Contender("labelworth", ours),
        Contender("numpy.linalg.inv", peer, share=_N_INVERTED / _N_FRACTIONS),
        15.0,
        15.0,
        lambda ours, theirs: float(np.max(np.abs(ours[np.isin(fractions, inverted)] / theirs - 1))),
        1e-8,
    )


def lanczos_race(quick: bool) -> Race:
    """Ten probes and thirty Lanczos steps at millions of parameters against the same with scipy products."""
    samples = drawn_documents(SMALL if quick else RCV1)
    family = MultinomialFamily.for_samples(samples, smoothing=0.1).adapted(samples, samples.sample_weights)
    model = family.neutral()
    for rows in (samples.labeled_only(), samples):
        # A supervised model, then one EM step: any interior model serves to time a product.
        model = family.maximize(family.prepare(rows, rows.sample_weights).expectation(model).statistics)
    observed = ObservedCounts.at(model, family, samples)
    plain = PlainMissing(observed, samples)
    starts = np.random.default_rng(0).choice([-1.0, 1.0], (observed.size, _N_PROBES))
    observed.project(starts)
    contenders = []
    for name, operator in (
        ("labelworth", observed.missing),
        ("scipy.sparse", plain.product),
    ):
        run = _Steps(operator, starts)
        contenders.append(Contender(name, run.step, share=1 / _N_STEPS))
    return Race(
        "lanczos",
        f"{_N_PROBES} probes x {_N_STEPS} Lanczos steps, {observed.n_parameters:,} parameters",
        contenders[0],
        contenders[1],
        5.0,
        5.0,
        lambda ours, theirs: float(np.max(np.abs(ours / theirs - 1))),
        1e-8,
    )


class _Steps:
    """A recurrence that goes one step further whenever it is asked."""

    def __init__(self, operator: Any, starts: FloatArray) -> None:
        self._run = LockstepLanczos(operator, starts.copy())

    def step(self) -> FloatArray:
        """Take a step; the sum of each probe's nodes and weights tells the products apart."""
        self._run.advance(1)
        rule = self._run.gauss()
        return np.asarray((rule.nodes * rule.weights).sum(axis=1))


class PlainMissing:
    """The whitened missing information by scipy's sparse products, a probe at a time."""

    def __init__(self, observed: ObservedCounts, samples: Any) -> None:
        self._observed = observed
        hidden = samples.take(samples.evidence.is_unlabeled)
        self._counts = hidden.counts
        self._transposed = hidden.counts.T.tocsr()
        self._responsibilities = posterior(observed.model, hidden)
        words = np.ascontiguousarray(observed.model.word_probabilities.T)
        self._word_scale = np.sqrt(words * observed.word_totals)
        self._class_scale = np.sqrt(observed.model.class_probabilities * observed.class_total)

    def product(self, block: FloatArray, out: FloatArray) -> None:
        """Write the product with every column of `block` into `out`."""
        n_words, n_classes = self._word_scale.shape
        shares = self._responsibilities
        for probe in range(block.shape[1]):
            words = block[: n_words * n_classes, probe].reshape(n_words, n_classes) / self._word_scale
            changes = self._counts @ words + block[n_words * n_classes :, probe] / self._class_scale
            spread = shares * (changes - (shares * changes).sum(axis=1, keepdims=True))
            out[: n_words * n_classes, probe] = ((self._transposed @ spread) / self._word_scale).ravel()
            out[n_words * n_classes :, probe] = spread.sum(axis=0) / self._class_scale
        self._observed.project(out)
