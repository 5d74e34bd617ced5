"""Small data with learners for it: documents of two topics, and sentences of two labels."""

import numpy as np
import scipy.sparse as sp

from labelworth.data.evidence import Evidence
from labelworth.data.samples import Samples
from labelworth.data.sequences import Sequences
from labelworth.estimation.boltzmann_chain_fit import fit_boltzmann_chain
from labelworth.estimation.conditional_fit import fit_conditional
from labelworth.estimation.fit import fit
from labelworth.estimators.pools.documents import ClassLearner
from labelworth.estimators.pools.sequences import SequenceLearner
from labelworth.models.chains.boltzmann_chain import BoltzmannChainFamily
from labelworth.models.chains.hidden_markov import HiddenMarkovFamily
from labelworth.models.classes.multinomial import MultinomialFamily

EMISSION = np.array([[0.5, 0.3, 0.1, 0.1], [0.1, 0.2, 0.3, 0.4]])


def documents(n_documents: int, seed: int = 0, length: int = 4) -> Samples:
    """Documents of two classes over four words, all labeled."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(2, size=n_documents)
    counts = np.array([rng.multinomial(length, EMISSION[code]) for code in codes], dtype=np.float64)
    return Samples(sp.csr_array(counts), Evidence(codes, ("a", "b")))


def document_learner(samples: Samples) -> ClassLearner:
    return ClassLearner(MultinomialFamily.for_samples(samples))


def sentences(n_sentences: int, seed: int = 0) -> Sequences:
    """Sentences of two to six words, all labeled; neighbors tend to agree."""
    rng = np.random.default_rng(seed)
    lengths = rng.integers(2, 7, size=n_sentences)
    codes = []
    for length in lengths:
        label = int(rng.integers(2))
        for _ in range(length):
            codes.append(label)
            label = label if rng.random() < 0.8 else 1 - label
    words = np.array([rng.choice(4, p=EMISSION[code]) for code in codes])
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    return Sequences(words, offsets, Evidence(np.array(codes), ("x", "y")), ("p", "q", "r", "s"))


def sentence_learner(sequences: Sequences) -> SequenceLearner:
    family = HiddenMarkovFamily.for_sequences(sequences)
    return SequenceLearner(lambda data, start: fit(family, data, start=start, tolerance=1e-2).model)


def boltzmann_learner(sequences: Sequences) -> SequenceLearner:
    family = BoltzmannChainFamily.for_sequences(sequences, penalty=0.1)
    return SequenceLearner(lambda data, start: fit_boltzmann_chain(family, data, start=start, tolerance=1e-4).model)


def conditional_learner() -> SequenceLearner:
    """A conditional random field, which learns from labeled sequences alone."""
    return SequenceLearner(
        lambda data, start: fit_conditional(data, start=start, tolerance=1e-4).model,
        mode="labels-only",
        modes=("labels-only",),
    )


def relabeled(data: Samples | Sequences, codes: np.ndarray) -> Samples | Sequences:
    """The same data with these labels everywhere."""
    return data.with_evidence(Evidence(codes, data.evidence.classes))
