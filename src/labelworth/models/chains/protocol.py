"""The interface between models of sequences and the rest of the house.

HMM, Boltzmann chain and CRF are one thing:

    log p(evidence, x) = log Z(clamped to the evidence, x) - log Z(reference)

with the reference nothing (HMM), all (x, y) of that length (Boltzmann chain) or all y given x (CRF, where it is
log p(evidence | x)). All of them count the same things: the first label, pairs of neighboring labels, and the
features of a token beside its label. The score of a sequence is a linear function of those expected counts.
"""

from collections.abc import Hashable, Mapping
from enum import Enum
from typing import ClassVar, NamedTuple, Protocol, Self

import numpy as np

from labelworth.arrays import AnyArray, FloatArray, IntArray
from labelworth.data.sequences import Sequences
from labelworth.models.coordinates import Coordinates


class Reference(Enum):
    """What the clamped sum is compared with."""

    NOTHING = "nothing"
    WORDS_AND_LABELS = "all words and labels of that length"
    LABELS = "all labels, given the features"


class LogPotentials(NamedTuple):
    """What the recursion runs on, as logarithms."""

    nodes: FloatArray  # (n_tokens, K): What every label scores at every token, the evidence not yet in it.
    transition: FloatArray  # (K, K): From a label (row) to the next.
    start: FloatArray  # (K,): The first label; zeros where a model has no such weights.


class ChainModel(Protocol):
    """Parameters of a chain, frozen.

    Tables: ``start`` (1, K) where there is one, ``transition`` (K, K), ``emission`` (K, n_features).
    """

    kind: ClassVar[str]
    reference: ClassVar[Reference]

    @property
    def classes(self) -> tuple[Hashable, ...]:
        """What the label codes stand for."""

    @property
    def n_features(self) -> int:
        """How many words or attributes there are."""

    @property
    def feature_names(self) -> tuple[str, ...]:
        """The words, or the attributes."""

    @property
    def coordinates(self) -> Coordinates:
        """Named and free views of the parameters: probabilities without the last of each row, or log-weights."""

    @property
    def tables(self) -> Mapping[str, FloatArray]:
        """The named tables, as in `coordinates`."""

    def with_tables(self, tables: Mapping[str, FloatArray]) -> Self:
        """The same kind of model with other parameters."""

    def with_features(self, kept: IntArray) -> Self:
        """The same model without other words or attributes than those at these positions."""

    def log_potentials(self, sequences: Sequences) -> LogPotentials:
        """The potentials of these tokens; for data of moderate size."""

    def log_evidence(self, sequences: Sequences) -> FloatArray:
        """log p(evidence, x) of every sequence, or log p(evidence | x) for a conditional model, (n_sequences,)."""

    def marginals(self, sequences: Sequences) -> FloatArray:
        """p(label | evidence, x) at every token, (n_tokens, K)."""

    def best_labels(self, sequences: Sequences) -> IntArray:
        """The most probable labels given the evidence (Viterbi), as codes, (n_tokens,)."""

    def sample(self, inputs: Sequences, rng: np.random.Generator) -> Sequences:
        """Draw fully labeled sequences of the same lengths: words and labels; for a CRF, labels given features."""

    def scores(self, sequences: Sequences) -> FloatArray:
        """Gradient of `log_evidence` in free coordinates, (n_sequences, d); for small d."""

    def to_arrays(self) -> dict[str, AnyArray]:
        """Everything needed to build the model again but the names of labels and features, as plain arrays."""

    @classmethod
    def from_arrays(
        cls, arrays: Mapping[str, AnyArray], *, classes: tuple[Hashable, ...], feature_names: tuple[str, ...]
    ) -> Self:
        """Build the model again, checking everything."""
