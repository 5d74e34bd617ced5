"""Hidden Markov model: labels that follow each other with given probabilities, and a word drawn beside each."""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar, Self

import numpy as np
from scipy.linalg import block_diag

from labelworth.arrays import AnyArray, FloatArray, IntArray, as_floats, require_shape
from labelworth.data.lengths import LengthDistribution
from labelworth.data.sequences import Sequences
from labelworth.errors import InvalidInputError
from labelworth.kernels.chain_potentials import make_chain, nodes_from_probabilities
from labelworth.models.chain_of_words import ChainOfWords
from labelworth.models.chain_protocol import Reference
from labelworth.models.chain_words import WordChain, require_sequences_for
from labelworth.models.coordinates import Coordinates, SimplexRows
from labelworth.models.doors import require_classes, require_feature_names, stored
from labelworth.models.names import Numbered, arrow_name
from labelworth.models.probability_rows import require_interior, require_rows, row_curvature, squared_distance

_ROUNDING = 1e-15


@dataclass(frozen=True, eq=False)
class HiddenMarkovModel(ChainOfWords):
    r"""A Markov chain of labels with a word beside each.

    .. math:: p(x, y | m) = \pi_{y_1} \prod_{t=2}^m A_{y_{t-1} y_t} \prod_{t=1}^m B_{y_t x_t}

    A token whose word is not in the vocabulary (`NO_WORD`) is a word that was not observed: it is summed out, which
    is the factor one. Probabilities may be zero; only scores and information need them all positive.

    Attributes
    ----------
    classes : tuple
        What the label codes stand for.
    start : array of shape (K,)
        :math:`\pi`.
    transition : array of shape (K, K)
        :math:`A`, from a label (row) to the next.
    emission : array of shape (K, V)
        :math:`B`, a row per label.
    feature_names : tuple of str
        The words; "word 0", "word 1", .. when absent.
    lengths : LengthDistribution, optional
        :math:`q(m)` of the sequences that the model was fitted to, where it was; it carries no parameter.

    Examples
    --------
    >>> model = HiddenMarkovModel(("A", "B"), [0.5, 0.5], [[0.9, 0.1], [0.2, 0.8]], [[0.7, 0.3], [0.1, 0.9]])
    >>> model.coordinates.names()
    ['start A', 'transition A -> A', 'transition B -> A', 'emission A -> word 0', 'emission B -> word 0']

    Notes
    -----
    Paper: `log_evidence` is the term of one sequence in eq:ll2.
    """

    kind: ClassVar[str] = "hidden-markov"
    reference: ClassVar[Reference] = Reference.NOTHING

    classes: tuple[Hashable, ...]
    start: FloatArray
    transition: FloatArray
    emission: FloatArray
    feature_names: tuple[str, ...] = ()
    lengths: LengthDistribution | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "classes", require_classes(self.classes))
        for name, ndim in (("start", 1), ("transition", 2), ("emission", 2)):
            table = as_floats(name, getattr(self, name), ndim=ndim)
            require_rows(name, table)
            object.__setattr__(self, name, table)
        require_shape("start", self.start, (self.n_classes,))
        require_shape("transition", self.transition, (self.n_classes, self.n_classes))
        require_shape("emission", self.emission, (self.n_classes, self.n_features))
        names = require_feature_names(self.feature_names or Numbered("word", self.n_features), self.n_features)
        object.__setattr__(self, "feature_names", names)

    @cached_property
    def coordinates(self) -> Coordinates:
        """Start, transition and emission, each row without its last probability."""
        labels = [str(name) for name in self.classes]
        return Coordinates(
            (
                SimplexRows("start", [""], labels, arrow_name),
                SimplexRows("transition", labels, labels, arrow_name),
                SimplexRows("emission", labels, self.feature_names, arrow_name),
            )
        )

    @property
    def tables(self) -> dict[str, FloatArray]:
        """``start`` (1, K), ``transition`` (K, K) and ``emission`` (K, V)."""
        return {"start": self.start[None, :], "transition": self.transition, "emission": self.emission}

    def with_tables(self, tables: Mapping[str, FloatArray]) -> Self:
        """The same labels and words with other probabilities."""
        return replace(
            self, start=np.ravel(tables["start"]), transition=tables["transition"], emission=tables["emission"]
        )

    def with_features(self, kept: IntArray) -> Self:
        """The model without other words than these: their probabilities over the sum of each row."""
        sums = self.emission[:, kept].sum(axis=1, keepdims=True)
        if (sums <= 0).any():
            label = self.classes[int(np.argmin(sums))]
            raise InvalidInputError(f"The label {label!r} has none of the words that are kept. Keep one that it has.")
        names = tuple(self.feature_names[place] for place in kept.tolist())
        return replace(self, emission=self.emission[:, kept] / sums, feature_names=names)

    @cached_property
    def word_chain(self) -> WordChain:
        """What the recursion runs on."""
        with np.errstate(divide="ignore"):
            chain = make_chain(np.log(self.start), np.log(self.transition))
        return WordChain(chain, nodes_from_probabilities(self.emission))

    @property
    def word_probabilities(self) -> FloatArray:
        """The emissions."""
        return self.emission

    def log_evidence(self, sequences: Sequences) -> FloatArray:
        """log p(evidence, x) of every sequence, given its length; minus infinity where it is impossible."""
        require_sequences_for(self, sequences)
        return self.word_chain.log_totals(sequences)

    def scores(self, sequences: Sequences) -> FloatArray:
        """Gradient of `log_evidence` in free coordinates, (n_sequences, d): expected counts over probabilities."""
        require_sequences_for(self, sequences)
        self.require_interior()
        start, pairs, emission = self.word_chain.counts_by_sequence(sequences)
        counts = (start[:, None], pairs, emission[:, :, :-1])
        rows = [
            (count / table).reshape(sequences.n_sequences, -1)
            for count, table in zip(counts, self.tables.values(), strict=True)
        ]
        return np.ascontiguousarray(self.coordinates.pull(np.concatenate(rows, axis=1).T).T)

    def expected_visits(self, lengths: LengthDistribution) -> tuple[FloatArray, FloatArray]:
        """How often each label is expected at a token, and at a token with another behind it, (K,) each."""
        reached = np.zeros(lengths.longest + 1)  # the probability that a sequence has this place
        reached[lengths.lengths - 1] = lengths.probabilities
        reached = np.cumsum(reached[::-1])[::-1]
        visits, departures, label = np.zeros(self.n_classes), np.zeros(self.n_classes), self.start
        for place in range(lengths.longest):
            following = label @ self.transition
            if place and (np.abs(following - label) <= _ROUNDING * label).all():
                visits += reached[place:].sum() * label
                departures += reached[place + 1 :].sum() * label
                break
            visits += reached[place] * label
            departures += reached[place + 1] * label
            label = following
        return visits, departures

    def complete_information(self, lengths: LengthDistribution) -> FloatArray:
        r"""Information of one fully labeled sequence in free coordinates, (d, d).

        Block diagonal, a block per row of probabilities: :math:`n_k (\operatorname{diag}(1/p_k) + 1/p_{k,last})`
        with :math:`n_k` the expected number of times that row is drawn from.
        """
        self.require_interior()
        visits, departures = self.expected_visits(lengths)
        return self.curvature(self.start, departures[:, None] * self.transition, visits[:, None] * self.emission)

    def curvature(self, start: FloatArray, pairs: FloatArray, emission: FloatArray) -> FloatArray:
        """Minus the Hessian of the complete log-likelihood with these counts, (d, d)."""
        blocks = [row_curvature(start, self.start)]
        blocks += [row_curvature(*rows) for rows in zip(pairs, self.transition, strict=True)]
        blocks += [row_curvature(*rows) for rows in zip(emission, self.emission, strict=True)]
        return np.asarray(block_diag(*blocks))

    def divergence(self, other: Self) -> float:
        """Half the squared step in the complete information, in nats per sequence."""
        if self.lengths is None:
            raise InvalidInputError("Distances are measured per sequence: build the model with lengths=.")
        visits, departures = self.expected_visits(self.lengths)
        start = float(squared_distance(self.start, other.start))
        transition = float(departures @ squared_distance(self.transition, other.transition))
        emission = float(visits @ squared_distance(self.emission, other.emission))
        return 2 * (start + transition + emission)

    def to_arrays(self) -> dict[str, AnyArray]:
        """The three tables, and the distribution of lengths where there is one."""
        lengths = (
            {}
            if self.lengths is None
            else {"lengths": self.lengths.lengths, "length_probabilities": self.lengths.probabilities}
        )
        return {"start": self.start, "transition": self.transition, "emission": self.emission} | lengths

    @classmethod
    def from_arrays(
        cls, arrays: Mapping[str, AnyArray], *, classes: tuple[Hashable, ...], feature_names: tuple[str, ...]
    ) -> Self:
        """Build the model again, checking everything."""
        lengths = None
        if "lengths" in arrays:
            lengths = LengthDistribution(arrays["lengths"], stored(arrays, "length_probabilities"))
        return cls(
            classes,
            stored(arrays, "start"),
            stored(arrays, "transition"),
            stored(arrays, "emission"),
            feature_names,
            lengths,
        )

    def require_interior(self) -> None:
        """Refuse probabilities of zero, where there is no score and no information."""
        for name, table in self.tables.items():
            require_interior(f"{name} probabilities", table)
