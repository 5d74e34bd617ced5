r"""Do answers depend on x given the class? Then a channel q(answer | class) is wrong, however much data there is.

On audited rows the score of :math:`q(v | y, x) \propto q(v | y) \exp(\beta_v \phi(x))` at :math:`\beta = 0` is
:math:`\sum_i (1[z_i = v] - q_{y_i}(v)) \phi(x_i)`, zero on average if answers know x by the class alone. Answers are
then exchangeable among the rows of one class that one annotator answered, so permutations give it exact p-values.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal, NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import svds
from scipy.stats import norm, rankdata

from labelworth.arrays import FloatArray, IntArray
from labelworth.data.samples import Samples
from labelworth.data.sequences import NO_WORD, Sequences
from labelworth.data.shards.features import in_memory
from labelworth.robust.answers.audits import Audits
from labelworth.robust.answers.permutation import (
    LeastP,
    LinearSums,
    centered,
    holm,
    log_arrangements,
    permutation_p,
    strata_of,
)

LEVEL = 0.05
"""How often answers that know x by the class alone are said to follow it, over all annotators together."""
_N_PRINCIPAL = 2
_MOST_ANSWERS = 5  # that directions are held against
_SEED_OF_PRINCIPAL = 0


@dataclass(frozen=True, eq=False)
class Direction:
    """Something in x that errors may follow."""

    name: str
    words: str  # How it reads after "wrong answers follow".
    values: FloatArray  # (n_rows,) or (n_rows, K): Of every row; a column per class where it is about what is said.
    is_of_model: bool = False  # Whether a model tells it, else the features alone.


def rows_directions(samples: Samples) -> list[Direction]:
    """Of documents: how long they are; of all rows: the first principal directions."""
    directions = []
    features = in_memory(samples.features)
    if isinstance(features, sp.csr_array):
        sums = np.asarray(features.sum(axis=1), dtype=np.float64).ravel()
        directions.append(Direction("length", "how long a row is", sums))
        # Square roots of shares: in them equal steps matter equally, and length plays no part.
        shares = sp.csr_array(sp.diags_array(1 / np.maximum(sums, 1.0)) @ features)
        matrix: Any = shares.sqrt()
    else:
        spread = features.std(axis=0)
        matrix = (features - features.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    count = min(_N_PRINCIPAL, min(matrix.shape) - 1)
    if count > 0:
        start = np.random.default_rng(_SEED_OF_PRINCIPAL).random(min(matrix.shape))
        left, values, _ = svds(matrix, k=count, v0=start)
        for index in np.argsort(-values):
            name = f"principal direction {1 + len([d for d in directions if d.name.startswith('principal')])}"
            directions.append(Direction(name, f"{name} of the features", left[:, index]))
    return directions


def token_directions(sequences: Sequences) -> list[Direction]:
    """Of tokens: how long their sequence is, and how rare the word."""
    owners = np.repeat(np.arange(sequences.n_sequences), sequences.lengths)
    directions = [Direction("length", "how long a sequence is", sequences.lengths[owners].astype(np.float64))]
    words = in_memory(sequences.features)
    if not isinstance(words, sp.csr_array):
        counts = np.bincount(words[words != NO_WORD], minlength=sequences.n_features)
        often = np.where(words != NO_WORD, counts[words], 0)
        directions.append(Direction("rarity", "how rare a word is", -often.astype(np.float64)))
    return directions


def model_directions(log_posteriors: FloatArray, codes: IntArray) -> list[Direction]:
    """What a model that has seen neither these labels nor any answer takes the rows for, and how surely.

    Parameters
    ----------
    log_posteriors : array of shape (n, K)
        log p(y | x); NaN where the model was not asked.
    codes : array of shape (n,)
        The true class; -1 where nobody knows.
    """
    directions = [Direction("prediction", "what the model takes a row for", log_posteriors, is_of_model=True)]
    if log_posteriors.shape[1] > 2:
        own = log_posteriors[np.arange(len(codes)), np.maximum(codes, 0)]
        directions.append(Direction("ambiguity", "how ambiguous a row is to the model", own, is_of_model=True))
    return directions


@dataclass(frozen=True)
class Dependence:
    """What audited rows say of one annotator, or of all together."""

    name: str  # Of the annotator; "all answers" together.
    n_audited: int
    p_value: float | None  # Of all directions together; None where so few or such even answers tell nothing.
    adjusted: float | None  # The same, held against the level of all tests together.
    direction: str | None  # The one that answers follow most.
    words: str | None  # How that reads after "wrong answers follow".
    correlation: float | None  # Between answers and that direction within classes.

    @property
    def follows_x(self) -> bool:
        return self.adjusted is not None and self.adjusted <= LEVEL

    def to_dict(self) -> dict[str, Any]:
        return {**asdict(self), "follows_x": self.follows_x}


@dataclass(frozen=True)
class IndependenceTest:
    """Whether answers depend on x given the class."""

    annotators: tuple[Dependence, ...]  # Those with audited rows.
    together: Dependence | None  # Where there are several.

    @property
    def failing(self) -> tuple[str, ...]:
        """Annotators whose own answers follow x."""
        return tuple(one.name for one in self.annotators if one.follows_x)

    @property
    def answer(self) -> Literal["follow x", "no sign of it", "cannot be told"]:
        tests = [*self.annotators, *([self.together] if self.together else [])]
        if any(one.follows_x for one in tests):
            return "follow x"
        return "no sign of it" if any(one.p_value is not None for one in tests) else "cannot be told"

    def to_dict(self) -> dict[str, Any]:
        return {
            "answer": self.answer,
            "level": LEVEL,
            "together": None if self.together is None else self.together.to_dict(),
        }


def independence_test(audits: Audits, directions: Sequence[Direction], rng: np.random.Generator) -> IndependenceTest:
    """Test every annotator, and where there are several all of them together.

    Half of the false-alarm rate is for the annotators, by Holm, half for all together; one annotator has all of it.
    The test of all takes what they say of a row as one, each less what that annotator usually says of the class, and
    permutes rows: neither annotators who copy each other nor rows that are hard for all of them alarm it, nor, in the
    mean, annotators of different skill.
    """
    known = _is_known(audits, directions)
    contrasts = _contrasts(directions, audits, known)
    values = np.stack([contrast.values for contrast in contrasts], axis=2)
    entries = {code: np.flatnonzero((audits.annotators == code) & known) for code in np.unique(audits.annotators)}
    several = len(entries) > 1
    shares = 2 if several else 1
    single = []
    for code, own in entries.items():
        said = Said(audits.shares[own], values[own], audits.classes[own], own.size)
        single.append(_tested(audits.names[code], said, contrasts, rng, shares * len(entries)))
    usable = [index for index, one in enumerate(single) if one.p_value is not None]
    for index, adjusted in zip(usable, holm([single[index].p_value or 0.0 for index in usable]), strict=True):
        single[index] = _adjusted(single[index], shares * adjusted)
    together = None
    if several:
        together = _tested("all answers", _row_by_row(audits, values, known), contrasts, rng, shares)
        together = _adjusted(together, shares * together.p_value) if together.p_value is not None else together
    return IndependenceTest(tuple(single), together)


class Said(NamedTuple):
    """What is permuted within classes, beside what it may follow."""

    answers: FloatArray  # (m, K)
    values: FloatArray  # (m, K, D): Of all directions.
    classes: IntArray  # (m,)
    n_audited: int


def _row_by_row(audits: Audits, values: FloatArray, known: Any) -> Said:
    """All that was said of a row, less what everybody usually says of its class."""
    own = np.flatnonzero(known)
    surprising = centered(audits.shares[own], strata_of(audits.annotators[own], audits.classes[own]))
    _, first, row = np.unique(audits.rows[own], return_index=True, return_inverse=True)
    answers = np.zeros((len(first), surprising.shape[1]))
    np.add.at(answers, row.ravel(), surprising)
    return Said(answers, values[own[first]], audits.classes[own[first]], own.size)


def _tested(
    name: str, said: Said, contrasts: Sequence[Direction], rng: np.random.Generator, n_tests: int
) -> Dependence:
    untold = Dependence(name, said.n_audited, None, None, None, None, None)
    if not said.n_audited or log_arrangements(said.answers, said.classes) < np.log(n_tests / LEVEL):
        return untold
    sums = LinearSums.of(said.answers, said.values, said.classes)
    if not sums.is_open:
        return untold
    # The few directions of the model and the many of the features count alike, so that these do not drown those.
    both = [np.flatnonzero([one.is_of_model == of_model for one in contrasts]) for of_model in (True, False)]
    groups = tuple(group for group in both if group.size)
    p_value = permutation_p(LeastP(sums, groups), rng, n_tests=n_tests)
    # Named is one of the group whose largest score is the rarer, by how many directions it has.
    scores = np.abs(sums.scores)
    rarest = min(groups, key=lambda group: group.size * norm.sf(scores[group].max()))
    most = int(rarest[scores[rarest].argmax()])
    direction, correlation = contrasts[most], float(sums.correlations[most])
    return Dependence(name, said.n_audited, p_value, p_value, direction.name, direction.words, correlation)


def _adjusted(test: Dependence, adjusted: float) -> Dependence:
    return Dependence(**{**asdict(test), "adjusted": min(1.0, adjusted)})


def _is_known(audits: Audits, directions: Sequence[Direction]) -> Any:
    """Whether all directions are known of the row of every entry, (m,)."""
    known = np.ones(audits.size, dtype=bool)
    for direction in directions:
        values = direction.values[audits.rows]
        known &= np.isfinite(values) if values.ndim == 1 else np.isfinite(values).all(axis=1)
    return known


def _contrasts(directions: Sequence[Direction], audits: Audits, known: Any) -> list[Direction]:
    """What directions say of every answer, (m, K) each: ranks among audited rows of the class, from -1 to 1.

    A direction without classes is held against right answers, which tells what is hard, and against every answer that
    is often given, which tells who answers another question. Log-odds of naive Bayes have long tails, and ranks keep
    one row from deciding.
    """
    n_classes = audits.shares.shape[1]
    often = np.argsort(-audits.shares[known].sum(axis=0), kind="stable")[:_MOST_ANSWERS]
    right = np.eye(n_classes)[audits.classes]
    contrasts = []
    for direction in directions:
        ranks = _ranks(direction, audits, known)
        if ranks.ndim == 2:
            contrasts.append(replace(direction, values=ranks))
            continue
        contrasts.append(replace(direction, values=ranks[:, None] * right))
        if direction.is_of_model:
            continue
        # Of two answers one is what the other is not.
        for code in sorted(often.tolist())[: 1 if n_classes == 2 else None]:
            words = f"{direction.words}, in what is called {audits.class_names[code]!r}"
            contrasts.append(Direction(direction.name, words, ranks[:, None] * np.eye(n_classes)[code]))
    return contrasts


def _ranks(direction: Direction, audits: Audits, known: Any) -> FloatArray:
    values = direction.values[audits.rows]
    ranks = np.zeros_like(values)
    for code in np.unique(audits.classes[known]):
        own = np.flatnonzero(known & (audits.classes == code))
        rows, entry = np.unique(audits.rows[own], return_inverse=True)
        order = rankdata(direction.values[rows], axis=0)
        ranks[own] = ((2 * order - len(rows) - 1) / len(rows))[entry.ravel()]
    return ranks
