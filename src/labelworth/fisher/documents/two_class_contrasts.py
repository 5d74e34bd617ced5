r"""Whitened coordinates in which two classes differ: where labels matter, and nothing else.

A word w has two probabilities, one per class. Whitened by the complete information and turned, they are a coordinate
x_w that moves the word apart between the classes and one that moves it in both together. Labels matter only to x_w,
to the one coordinate u of the class probabilities, and - because probabilities sum to one - to one direction e of the
pooled words. docs/derivations/two_class_formula.md has the derivation.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from labelworth.arrays import FloatArray
from labelworth.fisher.documents.two_class_moments import MissingMoments, TwoClasses
from labelworth.linalg.low_rank import DiagonalPlusLowRank, compress


@dataclass(frozen=True, eq=False)
class Contrasts:
    """The coordinates (u, x_1 .. x_V, e): V + 2 of them, tied by one constraint."""

    classes: TwoClasses

    @cached_property
    def _root(self) -> FloatArray:
        """The unit direction in which the pooled words cannot move."""
        return np.sqrt(self.classes.pooled)

    @cached_property
    def _gap(self) -> FloatArray:
        """The pooled part of the second constraint; its length says how different the classes are."""
        first, second = self.classes.word_probabilities
        gap: FloatArray = np.sqrt(self.classes.class_probabilities.prod()) * (first - second) / self._root
        return gap

    @cached_property
    def normal(self) -> FloatArray:
        """The unit direction in which (u, x, e) cannot move."""
        apart = np.exp(self.classes.log_tilted(0.0)) / self._root
        normal = np.concatenate([[0.0], apart, [np.linalg.norm(self._gap)]])
        unit: FloatArray = normal / np.linalg.norm(normal)
        return unit

    @cached_property
    def together(self) -> FloatArray:
        """The pooled direction that e moves along, (V,): a unit vector, or zero where the classes are alike."""
        size = np.linalg.norm(self._gap)
        if size == 0:
            return self._gap
        # Where the classes are alike up to rounding any pooled direction will do, if it respects the sum.
        direction = self._gap / size
        direction = direction - self._root * (self._root @ direction) / (self._root @ self._root)
        unit: FloatArray = direction / np.linalg.norm(direction)
        return unit

    @cached_property
    def _pooled_weights(self) -> FloatArray:
        """Squared error of the named tables when the pooled coordinate of a word moves."""
        weights: FloatArray = np.square(self.classes.word_probabilities).sum(axis=0)
        return weights / (self.classes.mean_length * self.classes.pooled)

    @cached_property
    def named_weight(self) -> DiagonalPlusLowRank:
        """The squared error of the named tables as a quadratic form of (u, x, e)."""
        first, second = self.classes.class_probabilities
        words = self.classes.word_probabilities
        scale = self.classes.mean_length * self.classes.pooled
        apart = words.prod(axis=0) * (second / first + first / second) / scale
        mixed = np.exp(self.classes.log_tilted(0.0)) * np.sqrt(first * second)
        mixed = mixed * (words[0] / first - words[1] / second) / scale
        shared = float(self._pooled_weights @ self.together**2)
        factor = np.zeros((len(self.normal), 2))
        factor[-1, 0] = 1.0
        factor[1:-1, 1] = mixed * self.together
        return DiagonalPlusLowRank(
            np.concatenate([[2 * first * second], apart, [shared]]), factor, np.array([[0.0, 1.0], [1.0, 0.0]])
        )

    @cached_property
    def named_elsewhere(self) -> float:
        """What all other directions, which need no labels, add to the squared error of the named tables."""
        return float(self._pooled_weights @ (1 - self.classes.pooled - self.together**2))

    def missing(self, moments: MissingMoments) -> DiagonalPlusLowRank:
        """The missing information of (u, x, e); what it says along the normal does not matter."""
        prior = self.classes.class_probabilities.prod()
        weights = self.classes.whitening / np.exp(self.classes.log_tilted(0.0))
        rank = len(moments.pair_core)
        factor = np.zeros((len(self.normal), rank + 2))
        factor[0, 0] = 1.0
        factor[1:-1, 1] = moments.first * weights
        factor[1:-1, 2:] = moments.pair_factor
        core = np.zeros((rank + 2, rank + 2))
        core[0, 0] = moments.zeroth / prior
        core[0, 1] = core[1, 0] = 1 / np.sqrt(prior)
        core[2:, 2:] = moments.pair_core
        factor -= np.outer(self.normal, self.normal @ factor)
        diagonal = np.concatenate([[0.0], moments.first * weights**2, [0.0]])
        return DiagonalPlusLowRank(diagonal, *compress(factor, core))

    def named_covariance(self, inverse: DiagonalPlusLowRank) -> Callable[[FloatArray], FloatArray]:
        """The product of J I^-1 J' with a block of vectors (2 + 2 V, b), given the inverse in (u, x, e)."""
        priors, words = self.classes.class_probabilities, self.classes.word_probabilities
        prior_axis = np.array([1.0, -1.0]) * np.sqrt(priors.prod())
        scales = np.sqrt(words / (self.classes.mean_length * priors[:, None]))[:, :, None]
        first, second = np.sqrt(priors[:, None] * words / self.classes.pooled)[:, :, None]

        def product(vectors: FloatArray) -> FloatArray:
            table = scales * vectors[2:].reshape(2, len(first), -1)
            apart, pooled = second * table[0] - first * table[1], first * table[0] + second * table[1]
            shared = self.together @ pooled
            image = inverse.times(np.concatenate([prior_axis @ vectors[None, :2], apart, shared[None]]))
            seen = pooled - np.outer(self._root, self._root @ pooled)
            seen += np.outer(self.together, image[-1] - shared)
            moved = scales * np.stack([second * image[1:-1] + first * seen, first * -image[1:-1] + second * seen])
            return np.concatenate([np.outer(prior_axis, image[0]), moved.reshape(-1, vectors.shape[1])])

        return product
