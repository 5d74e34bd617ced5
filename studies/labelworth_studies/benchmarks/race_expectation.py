"""One EM iteration of multinomial naive Bayes against a good one in scipy.sparse."""

from collections.abc import Mapping

import numpy as np
from scipy.special import logsumexp

from labelworth.arrays import FloatArray
from labelworth.data.samples import Samples
from labelworth.models.classes.multinomial import MultinomialFamily
from labelworth_studies.benchmarks.race import Contender, Race
from labelworth_studies.benchmarks.race_documents import RCV1, SMALL, drawn_documents, newsgroup_documents

_SMOOTHING = 0.1


def newsgroups_race(quick: bool) -> Race:
    """20 Newsgroups."""
    samples = drawn_documents(SMALL) if quick else newsgroup_documents()
    return _race("em-newsgroups", "One EM iteration, 20 Newsgroups", samples, floor=4.0, goal=8.0)


def rcv1_race(quick: bool) -> Race:
    """The shape of RCV1."""
    samples = drawn_documents(SMALL if quick else RCV1)
    return _race("em-rcv1", "One EM iteration, the shape of RCV1", samples, floor=8.0, goal=20.0)


def _race(name: str, title: str, samples: Samples, floor: float, goal: float) -> Race:
    family = MultinomialFamily.for_samples(samples, smoothing=_SMOOTHING, class_smoothing=_SMOOTHING)
    family = family.adapted(samples, samples.sample_weights)
    labeled = samples.labeled_only()
    # The supervised statistics: every contender's iteration begins with them, so that all do M-step, logs and E-step.
    first = family.prepare(labeled, labeled.sample_weights).expectation(family.neutral()).statistics
    passes = family.prepare(samples, samples.sample_weights)
    plain = PlainExpectation(samples)
    size = f"{samples.n_samples:,} documents, {samples.n_features:,} words, {samples.evidence.n_classes} classes"
    return Race(
        name,
        f"{title}: {size}",
        Contender("labelworth", lambda: passes.expectation(family.maximize(first)).statistics["word_counts"]),
        Contender("scipy.sparse", lambda: plain.iterate(first)),
        floor,
        goal,
        lambda ours, theirs: float(np.max(np.abs(ours - theirs) / np.maximum(np.abs(theirs), 1.0))),
        1e-10,
    )


class PlainExpectation:
    """What a good user of scipy writes: two sparse products around a dense softmax; labeled rows are counted once."""

    def __init__(self, samples: Samples) -> None:
        evidence = samples.evidence
        hidden = evidence.is_unlabeled
        counts = samples.counts
        self._unlabeled = counts[hidden]
        gold = np.zeros((int((~hidden).sum()), evidence.n_classes))
        gold[np.arange(len(gold)), evidence.codes[~hidden]] = 1.0
        self._labeled_counts: FloatArray = np.asarray((counts[~hidden].T @ gold).T)

    def iterate(self, statistics: Mapping[str, FloatArray]) -> FloatArray:
        """M-step and E-step: the expected counts of every class and word."""
        words = statistics["word_counts"] + _SMOOTHING
        log_words = np.log(words) - np.log(words.sum(axis=1, keepdims=True))
        classes = statistics["class_weights"] + _SMOOTHING
        joint = self._unlabeled @ log_words.T + np.log(classes / classes.sum())
        responsibilities = np.exp(joint - logsumexp(joint, axis=1, keepdims=True))
        return np.asarray((self._unlabeled.T @ responsibilities).T) + self._labeled_counts
