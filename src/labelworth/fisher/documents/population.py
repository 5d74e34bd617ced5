"""Single samples of a model: summed over where there are few distinct ones, else drawn; moments of their scores."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import comb
from types import MappingProxyType
from typing import Any, ClassVar, Literal, get_args

import numpy as np
import scipy.sparse as sp
from scipy.special import gammaln, softmax

from labelworth.arrays import UNLABELED, FloatArray, IntArray
from labelworth.data.counts import all_counts
from labelworth.data.evidence import Evidence
from labelworth.data.samples import Samples
from labelworth.errors import InvalidInputError
from labelworth.fisher.contrasts import Contrasts
from labelworth.fisher.dense import DENSE_LIMIT, DenseInformation
from labelworth.fisher.documents.two_class_formula import TwoClassInformation, two_class_information
from labelworth.fisher.enumeration import enumerated
from labelworth.fisher.information import DOCUMENT_RULES, of_fraction
from labelworth.fisher.population import Labelings, Mask, Moments, RuleSet, Way
from labelworth.models.classes.multinomial import MultinomialModel
from labelworth.models.classes.responsibilities import condition
from labelworth.models.coordinates import Coordinates
from labelworth.models.protocol import Model, OpenModel
from labelworth.progress import Progress

Method = Literal["auto", "enumeration", "formula", "sampling"]
KindMethod = Literal[Method, "matrix-free"]
"""Of designs over kinds of answers."""

_NUMBERS_PER_CHUNK = 4_000_000
"""How many numbers a block may hold (32 MB)."""

OUTCOME_LIMIT = 2_000_000
"""How many distinct x are enumerated at most."""

_QUICK_WORK = 2e9
"""Enumeration is chosen while its products n_outcomes K d^2 stay below a second or so of work."""

_MASS_TOLERANCE = 1e-9
_SINGLE = 1e-5  # a hundred roundings of single precision
_LISTED_TOLERANCE = 1e-8  # counts that have no end are listed up to where they hardly occur
_MAX_DRAWS = 1 << 22
_MAX_WORK = 2e12


def chunks(n_samples: int, numbers_per_sample: int) -> Iterator[IntArray]:
    """Cut samples into runs of which so many numbers each fit comfortably in memory."""
    size = max(1, _NUMBERS_PER_CHUNK // numbers_per_sample)
    for start in range(0, n_samples, size):
        yield np.arange(start, min(start + size, n_samples))


def marginal_scores(scores: FloatArray, responsibilities: FloatArray) -> FloatArray:
    """E[S | x], the score of p(x) by Fisher's identity, shape (n, d)."""
    averaged: FloatArray = np.matmul(responsibilities[:, None, :], scores)[:, 0, :]
    return averaged


def score_spread(
    scores: FloatArray, responsibilities: FloatArray, means: FloatArray, weights: FloatArray
) -> FloatArray:
    r"""The sum of weighted conditional variances of the score, shape (d, d).

    .. math:: \sum_i w_i \sum_k r_{ik} (s_{ik} - \bar s_i)(s_{ik} - \bar s_i)'
    """
    rows = scores - means[:, None, :]
    rows *= np.sqrt(weights[:, None] * responsibilities)[:, :, None]
    rows = rows.reshape(-1, rows.shape[2])
    spread: FloatArray = rows.T @ rows
    return spread


def summed_spread(model: Model, samples: Samples, responsibilities: FloatArray, weights: FloatArray) -> FloatArray:
    """`score_spread` over all samples, in chunks."""
    return summed_moments(model, samples, responsibilities, weights)[0]


def summed_moments(
    model: Model, samples: Samples, responsibilities: FloatArray, weights: FloatArray
) -> tuple[FloatArray, FloatArray]:
    r"""`score_spread` and the sum :math:`\sum_i w_i \bar s_i \bar s_i'`, over all samples, in chunks, (d, d) each."""
    d = model.coordinates.n_free
    spread, seen = np.zeros((d, d)), np.zeros((d, d))
    for part in chunks(samples.n_samples, len(model.classes) * d):
        scores = model.class_scores(samples.take(part))
        means = marginal_scores(scores, responsibilities[part])
        spread += score_spread(scores, responsibilities[part], means, weights[part])
        seen += (weights[part, None] * means).T @ means
    return spread, seen


@dataclass(frozen=True)
class Outcomes:
    """All distinct x of a model."""

    samples: Samples  # Every x, unlabeled.
    # (n_outcomes, K): log p(x, y); of long documents p(x, y) itself may be too small for a double.
    log_joint: FloatArray

    @property
    def probabilities(self) -> FloatArray:
        return np.asarray(np.exp(self.log_joint).sum(axis=1))

    @property
    def posterior(self) -> FloatArray:
        """p(y | x), shape (n_outcomes, K)."""
        return np.asarray(softmax(self.log_joint, axis=1))


def n_outcomes(model: Model) -> int | None:
    """How many distinct x there are; None if they cannot be enumerated."""
    if isinstance(model, MultinomialModel):
        return sum(comb(int(length) + model.n_features - 1, model.n_features - 1) for length in model.lengths.lengths)
    if model.kind == "bernoulli":
        return 1 << model.n_features
    if isinstance(model, OpenModel) and model.support is not None:
        return len(model.support)
    return None


def require_outcomes(model: Model) -> int:
    """How many distinct x there are; refuse infinitely many, or more than `OUTCOME_LIMIT`."""
    count = n_outcomes(model)
    if count is None:
        raise InvalidInputError(f"A {model.kind} model has no finite set of outcomes; use method='sampling'.")
    if count > OUTCOME_LIMIT:
        raise InvalidInputError(
            f"There are {count:.3g} distinct samples to enumerate; at most {OUTCOME_LIMIT} are. Use "
            "method='formula' for two classes of documents, else method='sampling'."
        )
    return count


def enumerate_outcomes(model: Model) -> Outcomes:
    """Every x: all bags of words of each length (multinomial), all binary vectors (Bernoulli), or as listed.

    Raises
    ------
    InvalidInputError
        If there are more than `OUTCOME_LIMIT`, or infinitely many; if those that somebody listed are not all.
    """
    count = require_outcomes(model)
    if isinstance(model, OpenModel) and model.support is not None:
        return _listed_outcomes(model, model.support)
    if isinstance(model, MultinomialModel):
        features, log_multiplicity = _all_bags(model)
    else:
        bits = (np.arange(count)[:, None] >> np.arange(model.n_features)[::-1]) & 1
        features, log_multiplicity = bits.astype(np.float64), np.zeros(count)
    samples = Samples(sp.csr_array(features), Evidence(np.full(count, UNLABELED), model.classes))
    outcomes = Outcomes(samples, model.log_joint(samples) + log_multiplicity[:, None])
    mass = float(outcomes.probabilities.sum())
    # Only a fault in the enumeration itself can bring this about; logarithms of many ways are rounded.
    rounding = 8 * np.finfo(np.float64).eps * float(np.max(np.abs(outcomes.log_joint), initial=0.0))
    if abs(mass - 1) > _MASS_TOLERANCE + rounding:
        raise ArithmeticError(f"The enumerated outcomes of a {model.kind} model have probability {mass!r}, not 1.")
    return outcomes


def _listed_outcomes(model: Model, support: FloatArray) -> Outcomes:
    samples = Samples(support, Evidence(np.full(len(support), UNLABELED), model.classes))
    outcomes = Outcomes(samples, model.log_joint(samples))
    mass = float(outcomes.probabilities.sum())
    if abs(mass - 1) > _LISTED_TOLERANCE:
        single = ""
        if abs(mass - 1) < _SINGLE:
            single = (
                " So little may be what single precision leaves: make constants with NumPy, or inside the function."
            )
        raise InvalidInputError(
            f"The x of the support have the probability {mass:.10g} in all, and should have 1: list every x there "
            f"is, once, and write log p(x, y) with all its terms, those without parameters too.{single}"
        )
    return outcomes


def _all_bags(model: MultinomialModel) -> tuple[FloatArray, FloatArray]:
    """Counts (n, V) of every bag of every length, and log q(m) plus the log multinomial coefficient."""
    bags, log_multiplicity = [], []
    for length, probability in model.lengths.items():
        counts = all_counts(length, model.n_features).astype(np.float64)
        bags.append(counts)
        log_multiplicity.append(np.log(probability) + gammaln(length + 1) - gammaln(counts + 1).sum(axis=1))
    return np.concatenate(bags), np.concatenate(log_multiplicity)


class LabelOrNot:
    """The rules of single samples: everything and nothing."""

    specs = DOCUMENT_RULES
    everything, nothing = 0, 1
    nuisance: tuple[str, ...] = ()
    asked: tuple[Any, ...] = ()
    _shares: ClassVar = MappingProxyType({(True,): np.array([1.0, 0.0]), (False,): np.array([0.0, 1.0])})

    def weights_of(self, policy: float) -> FloatArray:
        """Of a labeled fraction."""
        return of_fraction(policy)

    def mask_shares(self, length: int) -> MappingProxyType[Mask, FloatArray]:
        """The one position, labeled by the one rule and not by the other."""
        return self._shares


LABEL_OR_NOT = LabelOrNot()


def enumerated_information(model: Model) -> DenseInformation:
    """The information of one sample, labeled or not, by a sum over every x; see `enumerated`."""
    return enumerated(DocumentPopulation(model), LABEL_OR_NOT)


@dataclass(frozen=True, eq=False)
class DocumentPopulation:
    """Samples of one label each; see `Population`."""

    model: Model
    noun: ClassVar[str] = "single samples"
    is_conditional: ClassVar[bool] = False
    has_single_labels: ClassVar[bool] = True
    methods: ClassVar[tuple[str, ...]] = get_args(Method)

    @property
    def coordinates(self) -> Coordinates:
        return self.model.coordinates

    @property
    def n_classes(self) -> int:
        return len(self.model.classes)

    @cached_property
    def n_outcomes(self) -> int | None:
        """How many distinct x there are; None if they cannot be enumerated."""
        return n_outcomes(self.model)

    @property
    def enumeration_work(self) -> float:
        """About how many multiplications enumeration takes; infinite if it is beyond the limits."""
        count = self.n_outcomes
        if count is None or count > OUTCOME_LIMIT:
            return np.inf
        return float(count * self.n_classes * self.coordinates.n_free**2)

    @property
    def numbers_per_draw(self) -> int:
        """The scores of all classes."""
        return self.n_classes * self.coordinates.n_free

    def labels_of(self, rules: RuleSet) -> FloatArray:
        return np.array([1.0, 0.0])

    def complete_information(self) -> FloatArray | None:
        return None if isinstance(self.model, OpenModel) else self.model.complete_information()

    def complete_of(self, rules: RuleSet, index: int) -> FloatArray | None:
        return self.complete_information()

    def known_contrasts(self) -> Contrasts:
        return Contrasts.whole(self.coordinates)

    def require_enumerable(self, rules: RuleSet) -> None:
        """Refuse infinitely many x, or too many."""
        require_outcomes(self.model)

    def outcomes(self) -> Iterator[Labelings]:
        """Every x with every class."""
        outcomes = enumerate_outcomes(self.model)
        joint = np.exp(outcomes.log_joint)
        for part in chunks(len(joint), self.numbers_per_draw):
            yield Labelings(1, joint[part], self.model.class_scores(outcomes.samples.take(part)))

    def moments(
        self, rules: RuleSet, indices: list[int], n_batches: int, n_each: int, rng: np.random.Generator
    ) -> Moments:
        """Drawn x, averaged over their classes: what is not seen is Var(S | x), what is seen E[S | x]."""
        d = self.coordinates.n_free
        complete, seen = np.zeros((n_batches, d, d)), np.zeros((n_batches, 1, d, d))
        for batch in range(n_batches):
            samples = self.model.sample(n_each, rng).hide()
            responsibilities, _ = condition(self.model.log_joint(samples), samples.evidence)
            for part in chunks(n_each, self.numbers_per_draw):
                scores = self.model.class_scores(samples.take(part))
                means = marginal_scores(scores, responsibilities[part])
                square = means.T @ means
                seen[batch, 0] += square
                complete[batch] += square
                complete[batch] += score_spread(scores, responsibilities[part], means, np.ones(len(part)))
        return Moments(complete, seen, None)

    def most_draws(self, rules: RuleSet) -> int:
        """About four million, less for many parameters."""
        d = self.coordinates.n_free
        if d > DENSE_LIMIT:
            raise InvalidInputError(
                f"Sampling keeps many matrices of {d} x {d} numbers in memory; it is meant for up to "
                f"{DENSE_LIMIT} parameters. Give the fitted data too, as in classifier.information(X, y, ...), "
                "which forms no matrix; or use fewer features."
            )
        return min(_MAX_DRAWS, int(_MAX_WORK / (self.n_classes * d**2)))

    def way(self, method: str, rules: RuleSet) -> Way:
        """Exact where it can be, by enumeration or the two-class formula, else sampling."""
        if method != "auto":
            return Way(method, "asked for")
        if self.enumeration_work <= _QUICK_WORK:
            return Way("enumeration", f"there are only {self.n_outcomes} distinct samples to sum over")
        if isinstance(self.model, MultinomialModel) and self.n_classes == 2:
            return Way("formula", "two classes of documents have an exact formula")
        distinct = "infinitely many" if self.n_outcomes is None else f"{float(self.n_outcomes):.3g}"
        words = f"there are {distinct} distinct samples and {self.n_classes} classes, too many to sum over"
        return Way("sampling", words)

    def without_matrices(
        self,
        method: str,
        rules: RuleSet,
        policies: Sequence[Any],
        rng: np.random.Generator,
        max_draws: int | None,
        progress: Progress,
    ) -> TwoClassInformation:
        """By the formula of two classes."""
        if not isinstance(self.model, MultinomialModel):
            raise InvalidInputError(
                f"There is a formula for multinomial models with two classes only. Got a {self.model.kind} model; "
                "use method='enumeration' or 'sampling'."
            )
        return two_class_information(self.model)
