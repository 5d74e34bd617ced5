"""The corpora that forecasts are tried on, each with the learner that is to be forecast."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from types import MappingProxyType
from typing import Any

import numpy as np
import scipy.sparse as sp

from labelworth.arrays import IntArray
from labelworth.data.counts import as_counts, document_lengths, rescale_documents
from labelworth.data.digest import texts_digest
from labelworth.data.evidence import Evidence
from labelworth.data.readers.raw import RawTexts
from labelworth.data.samples import Samples
from labelworth.data.sequences import Sequences
from labelworth.data.text import LETTERS, count_words
from labelworth.data.tokens.lexicon import Lexicon
from labelworth.errors import InvalidInputError
from labelworth.estimation.fit import fit
from labelworth.estimators.automatic import with_telling_features
from labelworth.estimators.gaussian import GaussianClasses
from labelworth.estimators.others.any_classifier import AnyClassifier
from labelworth.estimators.others.named_classifiers import preparation_of
from labelworth.estimators.pools.any_rows import PreparedRows
from labelworth.estimators.pools.documents import ClassLearner
from labelworth.estimators.pools.sequences import SequenceLearner
from labelworth.models.chains.hidden_markov import HiddenMarkovFamily
from labelworth.models.classes.multinomial import MultinomialFamily
from labelworth.simulation.learner import Learner
from labelworth_studies.corpora.chunking_data import conll2000_digest
from labelworth_studies.corpora.drawn_documents import World
from labelworth_studies.corpora.folder import (
    SHORT_CORPORA,
    breast_cancer,
    conll2000,
    digits,
    newsgroups,
    rcv1_tokens,
    reuters_r52,
    short_texts,
)
from labelworth_studies.corpora.newsgroups_documents import word_weights_of

DOCUMENT_LENGTH = 20.0
SMOOTHING = 0.1
START_SMOOTHING = 10.0
WORD_COUNT = 3
"""Words of CoNLL-2000 that occur less often share an entry per shape."""
LABEL_SMOOTHING = 0.1
KEPT_CHUNKS = ("NP", "VP")
"""All other chunks of CoNLL-2000 count as O: five labels, of which every pilot has examples."""
_MOST_STEPS = 1000
_NATS_PER_SENTENCE = 1e-2  # predictions settle long before parameters do


NAIVE_BAYES, HIDDEN_MARKOV = "naive-bayes", "hidden-markov"
GAUSSIAN: Mapping[str, GaussianClasses] = MappingProxyType(
    {
        "gaussian": GaussianClasses(),
        "gaussian-own-variances": GaussianClasses(covariance="diagonal"),
        "gaussian-few-unlabeled": GaussianClasses(unlabeled_weight=0.1),
    }
)
"""Gaussian classes that a plan may choose for vectors."""
OTHERS = ("logistic", "linear-svm", "nearest-neighbors", "forest", "boosting")
"""Learners known by their fits alone, by their names in `labelworth.estimators.others.named_classifiers`."""
ROW_LEARNERS = (NAIVE_BAYES, *OTHERS)


@dataclass(frozen=True)
class Corpus:
    """How a corpus is used."""

    title: str
    pilots: tuple[int, ...]  # Labeled units per pilot.
    # For each of them, the units that may be labeled, the pilot's among them; all there are when None.
    pools: tuple[int, ...] | None
    n_held_out: int  # Labeled units to test on, never seen by a fit.
    n_extensions: int  # Over how many random extensions of a pilot the realized error is averaged.
    min_df: int  # Words in fewer documents are left out.
    learners: tuple[str, ...] = ROW_LEARNERS  # Which are forecast on it.


_POOLS = (2000, 2000, 4000)
CORPORA = MappingProxyType(
    {
        "newsgroups": Corpus("20 Newsgroups", (100, 200, 400), _POOLS, 4000, 2, 20),
        "r52": Corpus("Reuters R52, 8 classes", (100, 200, 400), _POOLS, 3000, 2, 5),
        "rcv1": Corpus("Reuters RCV1", (100, 200, 400), None, 500, 4, 3),
        "sms": Corpus("SMS spam", (100, 200, 400), _POOLS, 1500, 2, 2),
        "webkb": Corpus("WebKB", (100, 200, 400), _POOLS, 1000, 2, 3),
        "trec": Corpus("TREC questions", (100, 200, 400), _POOLS, 1500, 2, 2),
        "subjectivity": Corpus("subjectivity", (100, 200, 400), _POOLS, 3000, 2, 3),
        "reviews": Corpus("customer reviews", (100, 200, 400), _POOLS, 1000, 2, 2),
        "banking": Corpus("banking77", (100, 200, 400), _POOLS, 3000, 2, 2),
        "digits": Corpus("digits", (100, 200), None, 500, 4, 1, OTHERS),
        "conll2000": Corpus("CoNLL-2000", (50, 100, 200), (500, 1000, 2000), 1500, 2, 1, (HIDDEN_MARKOV,)),
    }
)
VECTOR_CORPORA = MappingProxyType(
    {"breast-cancer": Corpus("breast cancer", (50, 100, 150), None, 169, 4, 1, tuple(GAUSSIAN))},
)
"""Rows that were vectors from the beginning, on scales of their own."""
READ = tuple(name for name in CORPORA if name != "digits")
"""Those that have to be got: the digits come with scikit-learn."""

WORLDS = MappingProxyType(
    {
        "drawn-1": World(2, 40, 8, 0.6, 1),
        "drawn-2": World(2, 40, 8, 1.2, 2),
        "drawn-3": World(3, 100, 12, 0.6, 3),
        "drawn-4": World(2, 200, 8, 0.8, 4),
        "drawn-5": World(4, 200, 20, 0.5, 5),
        "drawn-6": World(2, 1000, 15, 0.6, 6),
        "drawn-7": World(2, 60, 10, 0.7, 7),
        "drawn-8": World(3, 30, 6, 0.9, 8),
        "drawn-9": World(5, 300, 15, 0.7, 9),
    }
)
"""Classes that overlap, where many labels do not follow from the words."""
DRAWN = MappingProxyType(
    {
        name: Corpus(f"drawn documents {world.seed}", (50, 100), (500, 1000), 3000, 2, 1, (NAIVE_BAYES, "logistic"))
        for name, world in WORLDS.items()
    }
)
_N_DRAWN = 6000


def corpus_of(name: str) -> Corpus:
    """How a corpus, or a drawn one, is used."""
    known = {**CORPORA, **VECTOR_CORPORA, **DRAWN}
    if name not in known:
        raise InvalidInputError(f"There is no corpus {name!r} here. Choose one of {', '.join(known)}.")
    return known[name]


@dataclass(frozen=True, eq=False)
class Population:
    """All units of a corpus with their labels, and the learner."""

    corpus: Corpus
    data: Any
    gold: IntArray  # The units whose labels are known.
    learner: Learner[Any]  # As forecasts use it.

    def pool(self, units: IntArray) -> Any:
        """Some of the units, as a plan is given them: with what their features were made of."""
        taken = self.data.take(units)
        return replace(taken, given=self.data.given[units]) if isinstance(taken, PreparedRows) else taken

    @property
    def patient_learner(self) -> Learner[Any]:
        """The same learner with EM run to its end, as it would be fitted in the end."""
        if isinstance(self.learner, ClassLearner):
            return replace(self.learner, max_iterations=_MOST_STEPS)
        return self.learner


@lru_cache(maxsize=4)
def population(name: str, learner: str | None = None) -> Population:
    """Read a corpus, or draw one, for one of its learners; kept for the next cell of the same process."""
    corpus = corpus_of(name)
    learner = learner or corpus.learners[0]
    if learner == HIDDEN_MARKOV:
        return _sentences(corpus)
    if learner == NAIVE_BAYES:
        return _drawn(corpus, WORLDS[name]) if name in WORLDS else _documents(corpus, _texts(name))
    return _named(corpus, name, learner)


_VECTORS = MappingProxyType({"digits": digits, "breast-cancer": breast_cancer})


def _named(corpus: Corpus, name: str, learner: str) -> Population:
    """Features made of all rows, as a plan makes them; labels play no part in that."""
    if name in _VECTORS:
        raw: Any = _VECTORS[name]()
        features, evidence = raw.features, raw.evidence()
    elif name in WORLDS:
        samples = WORLDS[name].draw(_N_DRAWN)
        features, evidence = samples.counts, samples.evidence
    else:
        raw = _texts(name)
        features, evidence = count_words(raw.texts, min_df=corpus.min_df)[1], raw.evidence()
    if learner in GAUSSIAN:
        vectors = preparation_of("nearest-neighbors", features).fit_transform(features)
        varying = with_telling_features(Samples(vectors, evidence))
        samples, own = GAUSSIAN[learner].refits(varying)
        return Population(corpus, samples, np.flatnonzero(evidence.is_gold), own)
    rows = PreparedRows(preparation_of(learner, features).fit_transform(features), evidence, features)
    return Population(corpus, rows, np.flatnonzero(evidence.is_gold), AnyClassifier(learner).learner(features))


def corpora_digest() -> str:
    """Which texts and labels the studies read: one digest of the digests of documents and sentences."""
    parts = (
        texts_digest(*(_texts(name) for name in CORPORA if name not in ("conll2000", "digits"))),
        conll2000_digest(),
    )
    return f"sha256:{hashlib.sha256(' '.join(parts).encode()).hexdigest()}"


def _texts(name: str) -> RawTexts:
    if name in SHORT_CORPORA:
        return short_texts(name)
    if name == "newsgroups":
        return newsgroups("all")
    return reuters_r52(n_largest=8) if name == "r52" else rcv1_tokens()


def _documents(corpus: Corpus, raw: RawTexts) -> Population:
    """Counts weighted by inverse document frequency, rescaled to 20 tokens; documents without words are left out."""
    _, counts = count_words(raw.texts, token_pattern=LETTERS, stop_words="english", min_df=corpus.min_df)
    weighted = as_counts(counts @ sp.diags_array(word_weights_of(counts, "inverse-document")))
    worded = np.flatnonzero(document_lengths(weighted) > 0)
    evidence = raw.evidence().take(worded)
    samples = Samples(rescale_documents(as_counts(weighted[worded]), DOCUMENT_LENGTH), evidence)
    family = MultinomialFamily.for_samples(samples, smoothing=SMOOTHING, class_smoothing=1.0)
    learner = ClassLearner(family, start_smoothing=START_SMOOTHING)
    return Population(corpus, samples, np.flatnonzero(evidence.is_gold), learner)


def _drawn(corpus: Corpus, world: World) -> Population:
    """As they are, one count of smoothing per word."""
    samples = world.draw(_N_DRAWN)
    family = MultinomialFamily.for_samples(samples, smoothing=1.0, class_smoothing=1.0)
    return Population(corpus, samples, np.arange(_N_DRAWN), ClassLearner(family))


def _sentences(corpus: Corpus) -> Population:
    """Words, those that are rare by their shape; chunks of nouns and verbs."""
    raw = conll2000("all")
    lexicon = Lexicon.from_words(raw.words, min_count=WORD_COUNT, rare="shapes")
    labels = [label if label[2:] in KEPT_CHUNKS else "O" for label in map(str, raw.labels)]
    classes = tuple(sorted(set(labels)))
    code_of = {label: code for code, label in enumerate(classes)}
    codes = np.array([code_of[label] for label in labels], dtype=np.int64)
    sequences = Sequences(lexicon.encode(raw.words), raw.offsets, Evidence(codes, classes), lexicon.names)
    family = HiddenMarkovFamily.for_sequences(sequences, smoothing=SMOOTHING, label_smoothing=LABEL_SMOOTHING)
    learner = SequenceLearner(lambda data, start: fit(family, data, start=start, tolerance=_NATS_PER_SENTENCE).model)
    return Population(corpus, sequences, np.arange(sequences.n_sequences), learner)
