"""Annotators whose answers know x by the class alone, and such whose errors follow x, or each other."""

import numpy as np

from labelworth.data.answers import Answers
from labelworth.data.evidence import Evidence
from labelworth.data.lengths import LengthDistribution
from labelworth.data.samples import Samples
from labelworth.models.classes.multinomial import MultinomialModel
from labelworth.models.classes.responsibilities import condition

LLM = np.array([[0.97, 0.03], [0.27, 0.73]])
"""A language model that is wrong in one case of seven, and prefers the first class."""


def drawn_codes(rng: np.random.Generator, probabilities: np.ndarray) -> np.ndarray:
    """A code per row of probabilities."""
    return (rng.random((len(probabilities), 1)) > np.cumsum(probabilities, axis=1)[:, :-1]).sum(axis=1)


def two_topics(length: int = 4) -> MultinomialModel:
    """Two classes of documents of four words; a fifth of the documents is closer to the other class."""
    words = [[0.45, 0.30, 0.15, 0.10], [0.20, 0.20, 0.25, 0.35]]
    return MultinomialModel(("a", "b"), [0.6, 0.4], words, LengthDistribution.single(length))


def by_class(rng: np.random.Generator, codes: np.ndarray, confusion: np.ndarray) -> np.ndarray:
    """What an annotator says who knows x by the class alone."""
    return drawn_codes(rng, confusion[codes])


def by_ambiguity(
    rng: np.random.Generator, codes: np.ndarray, posterior: np.ndarray, confusion: np.ndarray
) -> np.ndarray:
    """The same confusion on average over these rows, but errors where x looks like the other of two classes."""
    wrong = np.empty(len(codes))
    for code in range(2):
        own = codes == code
        errors, share = posterior[own, 1 - code], confusion[code, 1 - code]
        for _ in range(200):
            errors = np.minimum(errors * share / errors.mean(), 0.98)
        wrong[own] = errors
    return np.where(rng.random(len(codes)) < wrong, 1 - codes, codes)


def posterior_of(model: MultinomialModel, samples: Samples) -> np.ndarray:
    hidden = samples.hide()
    return condition(model.log_joint(hidden), hidden.evidence)[0]


def answers_of(
    said: dict[str, np.ndarray], classes: tuple[str, ...], rows: dict[str, np.ndarray] | None = None
) -> Answers:
    """Answers by annotator: a code per row, to the first rows unless said which."""
    rows = rows or {name: np.arange(len(codes)) for name, codes in said.items()}
    names = tuple(said)
    return Answers(
        np.concatenate([rows[name] for name in names]),
        np.repeat(np.arange(len(names)), [len(said[name]) for name in names]),
        names,
        Evidence(np.concatenate([said[name] for name in names]), classes),
    )


def another_question(rng: np.random.Generator, n_rows: int) -> tuple[Samples, dict[str, np.ndarray]]:
    """Classes along one axis; "llm" tells the other axis on most rows, "crowd" errs by class alone."""
    codes = rng.integers(2, size=n_rows)
    vectors = rng.normal(size=(n_rows, 2))
    vectors[:, 0] += 1.5 * codes
    other = (vectors[:, 1] > 0).astype(np.int64)
    llm = np.where(rng.random(n_rows) < 0.6, other, by_class(rng, codes, LLM))
    said = {"llm": llm, "crowd": by_class(rng, codes, LLM)}
    return Samples(vectors, Evidence(codes, ("a", "b"))), said
