"""Answers of every kind drawn from known confusions, and the likelihood of labels and answers by plain loops.

The likelihood shares nothing with the package but the values of its models.
"""

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise, product
from typing import Any

import numpy as np

from labelworth.channels.channel import Channel
from labelworth.data.answers import Answers
from labelworth.data.evidence import encode_labels, from_weights
from labelworth.data.samples import Samples
from labelworth.data.sequences import Sequences
from labelworth.estimation.annotators import Annotators
from labelworth.estimation.answered import AnsweredFamily, AnsweredModel
from labelworth.models.chains.hidden_markov import HiddenMarkovFamily
from support.small_chains import hidden_markov, partly_labeled

N_ANNOTATORS = 3
STRENGTHS = {"smoothing": 0.6, "class_smoothing": 0.4}
KINDS = ("class", "set", "question", "probabilities", "cannot say")


def drawn_answers(
    truth: np.ndarray,
    confusions: np.ndarray,
    classes: tuple[Any, ...],
    rng: np.random.Generator,
    *,
    asked: float = 0.6,
    kinds: tuple[str, ...] = KINDS,
) -> Answers:
    """Every annotator answers a share of all rows: what they have in mind, told in one of these ways."""
    n_classes = len(classes)
    rows, who, said = [], [], []
    for row, true_class in enumerate(truth):
        for annotator, table in enumerate(confusions):
            if rng.random() >= asked:
                continue
            meant = rng.choice(n_classes, p=table[true_class])
            rows.append(row)
            who.append(annotator)
            said.append(told(meant, n_classes, kinds[rng.integers(len(kinds))], rng))
    evidence = from_weights(np.array(said).reshape(-1, n_classes), classes)
    names = tuple(f"w{number}" for number in range(len(confusions)))
    return Answers(np.array(rows, int), np.array(who, int), names, evidence)


def told(meant: int, n_classes: int, kind: str, rng: np.random.Generator) -> np.ndarray:
    """Weights that say which class is meant, in one of the ways of saying it."""
    weights = np.zeros(n_classes)
    weights[meant] = 1.0
    if kind == "set":
        weights[rng.integers(n_classes)] = 1.0
    elif kind == "question":
        asked_about = rng.integers(n_classes)
        if asked_about != meant:
            weights[:] = 1.0
            weights[asked_about] = 0.0
    elif kind == "probabilities":
        # The density of such a draw, where v is meant, is proportional to its third power at v.
        weights = rng.dirichlet(np.ones(n_classes) + 3 * weights) ** 3
    elif kind == "cannot say":
        weights[:] = 1.0
    return weights


def confusions_near(rng: np.random.Generator, n_annotators: int, n_classes: int, diagonal: float = 4.0) -> np.ndarray:
    """Tables that are mostly right, each in its own way."""
    return np.array(
        [
            [
                rng.dirichlet(np.ones(n_classes) + diagonal * (np.arange(n_classes) == true))
                for true in range(n_classes)
            ]
            for _ in range(n_annotators)
        ]
    )


def plain_log_likelihood(
    model: Any, confusions: np.ndarray, data: Samples | Sequences, weights: np.ndarray, answer_weight: float = 1.0
) -> float:
    """Of labels and answers; `confusions` has a table for every annotator."""
    assert data.answers is not None
    factors = data.evidence.dense()
    said = data.answers.evidence.dense()
    for row, annotator, evidence in zip(data.answers.rows, data.answers.annotators, said, strict=True):
        for true_class in range(factors.shape[1]):
            meant = sum(e * q for e, q in zip(evidence, confusions[annotator][true_class], strict=True))
            factors[row, true_class] *= meant**answer_weight
    if isinstance(data, Sequences):
        return sum(
            weight * np.log(_chain_total(model, data.words[first:last], factors[first:last]))
            for weight, first, last in zip(weights, data.offsets, data.offsets[1:], strict=False)
        )
    joint = np.exp(model.log_joint(data))
    return float(sum(weight * np.log(row @ own) for weight, row, own in zip(weights, joint, factors, strict=True)))


def _chain_total(model: Any, words: np.ndarray, factors: np.ndarray) -> float:
    total = 0.0
    for labels in product(range(factors.shape[1]), repeat=len(words)):
        path = model.start[labels[0]]
        for before, after in pairwise(labels):
            path *= model.transition[before, after]
        for label, word, own in zip(labels, words, factors, strict=True):
            path *= own[label] * (model.emission[label, word] if word >= 0 else 1.0)
        total += path
    return total


def documents(case: Any) -> Callable[[np.random.Generator], tuple[Any, Any, Any]]:
    def make(rng: np.random.Generator) -> tuple[Any, Any, Any]:
        model = case.draw(rng)
        drawn = model.sample(40, rng)
        truth = drawn.evidence.codes
        answers = drawn_answers(truth, confusions_near(rng, N_ANNOTATORS, 3), model.classes, rng)
        known = ["known" if rng.random() < 0.3 else "set" if rng.random() < 0.2 else None for _ in truth]
        labels = [
            model.classes[code] if how == "known" else list(model.classes[:2]) if how == "set" and code < 2 else -1
            for how, code in zip(known, truth, strict=True)
        ]
        evidence = encode_labels(labels, classes=model.classes)
        samples = Samples(drawn.features, evidence, rng.uniform(0.5, 2.0, 40), answers=answers)
        return samples, case.family(samples, **STRENGTHS), model

    return make


def chains(rng: np.random.Generator) -> tuple[Any, Any, Any]:
    model = hidden_markov(rng)
    data = partly_labeled(model, [3, 1, 4, 2, 4, 3], rng, without_word=0.1, weighted=True)
    truth = rng.integers(3, size=data.n_tokens)
    truth = np.where(data.evidence.is_gold, data.evidence.codes, truth)
    answers = drawn_answers(truth, confusions_near(rng, N_ANNOTATORS, 3), data.evidence.classes, rng, asked=0.4)
    family = HiddenMarkovFamily.for_sequences(data, smoothing=0.6, label_smoothing=0.4)
    return replace(data, answers=answers), family, model


def weights_of(data: Samples | Sequences) -> np.ndarray:
    return data.sequence_weights if isinstance(data, Sequences) else data.sample_weights


def mixed_annotators(data: Samples | Sequences, answer_weight: float = 1.0) -> Annotators:
    """One known, one estimated by the accuracy, one whole."""
    channels = [
        Channel("w0", [[0.8, 0.1, 0.1], [0.2, 0.7, 0.1], [0.0, 0.1, 0.9]]),
        Channel("w1", accuracy=0.6, unknown=True),
    ]
    assert data.answers is not None
    return Annotators.of(data.answers.names, data.evidence.classes, channels=channels, answer_weight=answer_weight)


def objective(model: AnsweredModel[Any], family: AnsweredFamily[Any, Any], data: Any) -> float:
    """Log-likelihood by plain loops, and the log prior of confusions spelled out."""
    tables = model.confusions[model.annotators.channels]
    annotators = model.annotators
    total = plain_log_likelihood(model.inner, tables, data, weights_of(data), annotators.answer_weight)
    total += family.inner.log_prior(model.inner)
    for channel in annotators.whole:
        total += (annotators.pseudo_counts[channel] * np.log(model.confusions[channel])).sum()
    for channel in annotators.coins:
        right = np.trace(annotators.pseudo_counts[channel])
        accuracy = model.confusions[channel, 0, 0]
        total += right * np.log(accuracy)
        total += (annotators.pseudo_counts[channel].sum() - right) * np.log(1 - accuracy)
    return float(total)
