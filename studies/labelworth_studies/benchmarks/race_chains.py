"""Chains against their peers: an EM iteration of an HMM against hmmlearn, the training of a CRF against CRFsuite."""

import logging
import tempfile
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from labelworth.arrays import FloatArray
from labelworth.data.evidence import Evidence
from labelworth.data.sequences import Sequences
from labelworth.data.tokens.lexicon import Lexicon
from labelworth.errors import DataUnavailableError
from labelworth.estimation.conditional_fit import fit_conditional
from labelworth.models.chains.hidden_markov import HiddenMarkovFamily, HiddenMarkovModel
from labelworth_studies.benchmarks.race import Contender, Race
from labelworth_studies.corpora.chunking_data import AttributeChoice, with_attributes
from labelworth_studies.corpora.folder import conll2000

_C2 = 1.0
_SAME_LOSS = 1e-4
_FEW = 300


def hidden_markov_race(quick: bool) -> Race:
    """One EM iteration over the unlabeled sentences of CoNLL-2000."""
    sequences = chunking_words()
    if quick:
        sequences = sequences.take(np.arange(_FEW))
    family = HiddenMarkovFamily.for_sequences(sequences, smoothing=0.0, label_smoothing=0.0)
    family = family.adapted(sequences, sequences.sequence_weights)
    passes = family.prepare(sequences, sequences.sequence_weights)
    model = drawn_chain(sequences.evidence.n_classes, sequences.n_features, seed=0)

    def ours() -> tuple[float, FloatArray]:
        expected = passes.expectation(model)
        return expected.log_likelihood, family.maximize(expected.statistics).transition

    return Race(
        "em-hmm",
        f"One EM iteration of an HMM: {sequences.n_sequences:,} sentences, {sequences.n_tokens:,} tokens, "
        f"{sequences.n_features:,} words, {sequences.evidence.n_classes} labels",
        Contender("labelworth", ours),
        Contender("hmmlearn", _HmmlearnIteration(model, sequences).run),
        25.0,
        60.0,
        lambda ours, theirs: max(abs(ours[0] / theirs[0] - 1), float(np.max(np.abs(ours[1] - theirs[1])))),
        1e-8,
    )


def conditional_race(quick: bool) -> Race:
    """Training a CRF with the tutorial's template on CoNLL-2000, to the loss at which CRFsuite stops."""
    train = with_attributes("test", AttributeChoice("tutorial")).train
    if quick:
        train = train.take(np.arange(_FEW))
    train = train.with_evidence(only_met(train.evidence))
    return Race(
        "train-crf",
        f"Training a CRF: {train.n_sequences:,} sentences, {train.n_features:,} attributes, c2 = {_C2:g}",
        Contender("labelworth", lambda: -fit_conditional(train, c2=_C2).objective),
        Contender("python-crfsuite", _CrfsuiteTraining(train).run),
        2.5,
        8.0,
        # A lower loss than the peer's is no difference.
        lambda ours, theirs: max(0.0, ours / theirs - 1),
        _SAME_LOSS,
        most_repeats=3,
    )


def chunking_words() -> Sequences:
    """The training sentences of CoNLL-2000, every word an entry of its own, no label seen."""
    raw = conll2000("train")
    return raw.sequences(Lexicon.from_words(raw.words), tuple(sorted(set(raw.labels)))).hide()


def drawn_chain(n_labels: int, n_words: int, seed: int) -> HiddenMarkovModel:
    """An HMM whose rows are drawn evenly among all."""
    rng = np.random.default_rng(seed)
    return HiddenMarkovModel(
        tuple(range(n_labels)),
        np.full(n_labels, 1 / n_labels),
        rng.dirichlet(np.ones(n_labels), n_labels),
        rng.dirichlet(np.ones(n_words), n_labels),
    )


def only_met(evidence: Evidence) -> Evidence:
    """The same gold labels without classes that no token has: CRFsuite knows of no others."""
    met, codes = np.unique(evidence.codes, return_inverse=True)
    return Evidence(codes, tuple(evidence.classes[code] for code in met))


def gold_labels(evidence: Evidence) -> list[str]:
    """The labels of fully labeled tokens, as texts."""
    names = [str(name) for name in evidence.classes]
    return [names[code] for code in evidence.codes.tolist()]


class _HmmlearnIteration:
    """One iteration of hmmlearn's categorical HMM, scaled."""

    def __init__(self, model: HiddenMarkovModel, sequences: Sequences) -> None:
        self._hmm = _peer("hmmlearn.hmm")
        logging.getLogger("hmmlearn").setLevel(logging.ERROR)
        self._model, self._words, self._lengths = model, sequences.words[:, None].copy(), sequences.lengths

    def run(self) -> tuple[float, FloatArray]:
        """Fit once; the log-likelihood before, the transitions after."""
        n_labels, n_words = self._model.emission.shape
        peer = self._hmm.CategoricalHMM(n_labels, implementation="scaling", n_iter=1, init_params="", tol=-np.inf)
        peer.n_features = n_words
        peer.startprob_, peer.transmat_ = self._model.start.copy(), self._model.transition.copy()
        peer.emissionprob_ = self._model.emission.copy()
        peer.fit(self._words, self._lengths)
        return float(peer.monitor_.history[-1]), peer.transmat_


class _CrfsuiteTraining:
    """L-BFGS of CRFsuite on the same attributes, read beforehand."""

    _said: list[str]

    def __init__(self, train: Sequences) -> None:
        crfsuite = _peer("pycrfsuite")

        said = self._said = []

        # CRFsuite hands its messages to a method.
        trainer = type("Trainer", (crfsuite.Trainer,), {"message": lambda _, message: said.append(message)})
        self._trainer: Any = trainer("lbfgs", {"c2": _C2}, verbose=True)
        names, rows, labels = train.feature_names, train.attributes, gold_labels(train.evidence)
        for first, last in zip(train.offsets[:-1].tolist(), train.offsets[1:].tolist(), strict=True):
            tokens = [
                [names[index] for index in rows.indices[rows.indptr[token] : rows.indptr[token + 1]]]
                for token in range(first, last)
            ]
            self._trainer.append(crfsuite.ItemSequence(tokens), labels[first:last])

    def run(self) -> float:
        """Train; the loss at which it stopped."""
        self._said.clear()
        with tempfile.TemporaryDirectory() as folder:
            self._trainer.train(str(Path(folder) / "model"))
        return float("".join(self._said).rpartition("Loss: ")[2].split()[0])


def _peer(module: str) -> Any:
    try:
        return import_module(module)
    except ImportError as error:
        raise DataUnavailableError(
            f"This race needs {module.partition('.')[0]}, which is not installed; `make bench` installs it."
        ) from error
