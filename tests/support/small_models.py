"""Small models of every kind with the family that fits them: one list, many properties."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from labelworth.data.lengths import LengthDistribution
from labelworth.models.classes.bernoulli import BernoulliFamily, BernoulliModel
from labelworth.models.classes.gaussian import GaussianFamily, GaussianModel
from labelworth.models.classes.multinomial import MultinomialFamily, MultinomialModel

CLASSES = ("ham", "spam", "other")


@dataclass(frozen=True)
class Case:
    """A kind of model: how to draw one, and the family that fits it to samples."""

    name: str
    draw: Callable[[np.random.Generator], Any]
    family: Callable[..., Any]


def multinomial(
    rng: np.random.Generator, n_words: int = 4, lengths: dict[int, float] | None = None
) -> MultinomialModel:
    return MultinomialModel(
        CLASSES,
        rng.dirichlet(np.full(3, 5.0)),
        rng.dirichlet(np.full(n_words, 2.0), size=3),
        LengthDistribution.from_mapping(lengths or {3: 0.4, 5: 0.6}),
    )


def bernoulli(rng: np.random.Generator, n_features: int = 4) -> BernoulliModel:
    return BernoulliModel(CLASSES, rng.dirichlet(np.full(3, 5.0)), rng.uniform(0.1, 0.9, size=(3, n_features)))


def gaussian(rng: np.random.Generator, covariance: Any, n_features: int = 2) -> GaussianModel:
    roots = rng.standard_normal((3, n_features, n_features))
    matrices = roots @ roots.transpose(0, 2, 1) + 0.5 * np.eye(n_features)
    spread = {
        "shared": matrices[:1],
        "diagonal": np.array([np.diag(matrix) for matrix in matrices]),
        "full": matrices,
    }[covariance]
    means = 2 * rng.standard_normal((3, n_features))
    return GaussianModel(CLASSES, rng.dirichlet(np.full(3, 5.0)), means, spread, covariance)


def _gaussian_case(covariance: Any) -> Case:
    return Case(
        f"gaussian-{covariance}",
        lambda rng: gaussian(rng, covariance),
        lambda samples, **strengths: GaussianFamily.for_samples(samples, covariance, **strengths),
    )


CASES = [
    Case("multinomial", multinomial, MultinomialFamily.for_samples),
    Case("bernoulli", bernoulli, BernoulliFamily.for_samples),
    _gaussian_case("shared"),
    _gaussian_case("diagonal"),
    _gaussian_case("full"),
]


ENUMERABLE = [
    (2, 2, {2: 1.0}),
    (2, 3, {2: 1.0}),
    (2, 5, {6: 1.0}),
    (3, 2, {6: 1.0}),
    (3, 4, {3: 0.5, 5: 0.5}),
    (4, 3, {4: 1.0}),
    (4, 5, {2: 0.3, 3: 0.6, 5: 0.1}),
]
"""Classes, words, lengths: small enough to sum over every sequence of words."""


def drawn_multinomial(n_classes: int, n_words: int, lengths: dict[int, float], seed: int = 0) -> MultinomialModel:
    """Class probabilities from Dirichlet(3), word probabilities from Dirichlet(1)."""
    rng = np.random.default_rng(seed)
    return MultinomialModel(
        tuple(f"class {code}" for code in range(n_classes)),
        rng.dirichlet(np.full(n_classes, 3.0)),
        rng.dirichlet(np.ones(n_words), size=n_classes),
        LengthDistribution.from_mapping(lengths),
    )
