"""Conditional random field: log-weights of labels beside sparse attributes, normalized over labels."""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar, Self

import numpy as np
import scipy.sparse as sp

from labelworth.arrays import AnyArray, BoolArray, FloatArray, IntArray, as_floats, require_shape
from labelworth.data.evidence import Evidence
from labelworth.data.sequences import Sequences
from labelworth.data.tokens.attributes import align_attributes
from labelworth.errors import InvalidInputError
from labelworth.kernels.chains.paths import best_paths, draw_paths
from labelworth.kernels.chains.potentials import Chain, Nodes, Tokens, make_chain, make_tokens, nodes_from_logs
from labelworth.kernels.chains.sums import log_totals, marginals, sequence_sums
from labelworth.models.blocks import ListedTable, Numbered, arrow_name
from labelworth.models.chains.crf_features import (
    FeatureSet,
    as_listed,
    as_support,
    listed_positions,
    restored_emission,
    sums_by_sequence,
)
from labelworth.models.chains.protocol import LogPotentials, Reference
from labelworth.models.coordinates import Coordinates, FreeTable
from labelworth.models.doors import require_classes, require_feature_names, stored


@dataclass(frozen=True, eq=False)
class ConditionalRandomFieldModel:
    r"""A linear-chain CRF.

    .. math::

        p(y | x) = \frac{1}{Z(x)} \exp\Bigl(s_{y_1} + \sum_{t=2}^m a_{y_{t-1} y_t}
            + \sum_{t=1}^m \sum_j x_{tj}\, b_{y_t j}\Bigr)

    with the attributes :math:`x_{tj}` of token t; a word is one attribute. What is known of the labels has
    log p(evidence | x) = log Z(evidence, x) - log Z(x), which is exactly zero where nothing is known.

    Weights that are not stored are no parameters: they are zero and stay so. Attributes that the model does not have
    are left out of what a sequence scores; `aligned` says how many they are.

    Examples
    --------
    >>> model = ConditionalRandomFieldModel(("A", "B"), None, [[1.0, 0.0], [0.0, 1.0]], [[0.5], [0.0]], ("w=the",))
    >>> model.coordinates.names()[1:5]
    ['transition A -> B', 'transition B -> A', 'transition B -> B', 'emission A -> w=the']
    """

    kind: ClassVar[str] = "conditional-random-field"
    reference: ClassVar[Reference] = Reference.LABELS

    classes: tuple[Hashable, ...]  # What the label codes stand for.
    start: FloatArray | None  # (K,), or None: :math:`s`; None for a chain without such weights.
    transition: FloatArray  # (K, K): :math:`a`, from a label (row) to the next.
    # (K, n_features): :math:`b`. Kept as CSC, attribute by attribute; of a dense array every entry is a
    # parameter, of a sparse one those that are stored.
    emission: sp.csc_array
    feature_names: tuple[str, ...] = ()  # The attributes; "attribute 0", "attribute 1", .. when absent.
    transition_support: BoolArray | None = None  # (K, K), optional: Which transitions are parameters; all when None.

    def __post_init__(self) -> None:
        object.__setattr__(self, "classes", require_classes(self.classes))
        if self.start is not None:
            object.__setattr__(self, "start", as_floats("start weights", self.start, ndim=1))
            require_shape("start weights", np.asarray(self.start), (self.n_classes,))
        object.__setattr__(self, "transition", as_floats("transition weights", self.transition, ndim=2))
        require_shape("transition weights", self.transition, (self.n_classes, self.n_classes))
        object.__setattr__(self, "emission", as_listed(self.emission, self.n_classes))
        names = require_feature_names(self.feature_names or Numbered("attribute", self.n_features), self.n_features)
        object.__setattr__(self, "feature_names", names)
        support = as_support(self.transition_support, self.transition)
        object.__setattr__(self, "transition_support", support)

    @classmethod
    def zeros(
        cls,
        features: FeatureSet,
        classes: tuple[Hashable, ...],
        feature_names: tuple[str, ...],
        *,
        with_start: bool = False,
    ) -> Self:
        """The model with these weights, all of them zero."""
        n_labels = features.n_labels
        shape = (n_labels, features.n_attributes)
        emission = sp.csc_array((np.zeros(features.n_features), features.labels, features.starts), shape)
        start = np.zeros(n_labels) if with_start else None
        return cls(classes, start, np.zeros((n_labels, n_labels)), emission, feature_names, features.transitions)

    @property
    def n_classes(self) -> int:
        """The number of labels, K."""
        return len(self.classes)

    @property
    def n_features(self) -> int:
        return int(self.emission.shape[1])

    @property
    def features(self) -> FeatureSet:
        support = (
            np.ones_like(self.transition, dtype=bool) if self.transition_support is None else self.transition_support
        )
        starts, labels = (np.asarray(part, dtype=np.int64) for part in (self.emission.indptr, self.emission.indices))
        return FeatureSet(starts, labels, support)

    @cached_property
    def coordinates(self) -> Coordinates:
        """Start (where there is one), transition and emission: the log-weights that are parameters."""
        labels = [str(name) for name in self.classes]
        start = [] if self.start is None else [FreeTable("start", [""], labels, naming=arrow_name)]
        transition: FreeTable | ListedTable = FreeTable("transition", labels, labels, naming=arrow_name)
        if self.transition_support is not None:
            transition = ListedTable(
                "transition", labels, labels, arrow_name, positions=np.flatnonzero(self.transition_support)
            )
        emission: FreeTable | ListedTable = FreeTable("emission", labels, self.feature_names, naming=arrow_name)
        if self.emission.nnz < self.n_classes * self.n_features:
            positions = listed_positions(self.emission)
            emission = ListedTable("emission", labels, self.feature_names, arrow_name, positions=positions)
        return Coordinates((*start, transition, emission))

    @property
    def tables(self) -> dict[str, FloatArray]:
        """``start`` (1, K) where there is one, ``transition`` (K, K), ``emission`` (K, n_features), spelled out."""
        start = {} if self.start is None else {"start": self.start[None, :]}
        return start | {"transition": self.transition, "emission": self.emission.toarray()}

    def with_tables(self, tables: Mapping[str, FloatArray]) -> Self:
        """The same labels, attributes and parameters with other weights."""
        start = None if self.start is None else np.ravel(tables["start"])
        emission = restored_emission(self.emission, np.asarray(tables["emission"], dtype=np.float64))
        return replace(self, start=start, transition=tables["transition"], emission=emission)

    def with_features(self, kept: IntArray) -> Self:
        """The model without other attributes than these; what it says where they do not occur stays as it is."""
        names = tuple(self.feature_names[position] for position in kept.tolist())
        return replace(self, emission=sp.csc_array(self.emission[:, kept]), feature_names=names)

    def aligned(self, sequences: Sequences) -> tuple[Sequences, int]:
        """The sequences with the attributes of the model, and how many occurrences of others were left out.

        Raises
        ------
        InvalidInputError
            If the labels are others, or no attribute has a name that the model knows.
        """
        if sequences.evidence.classes != self.classes:
            raise InvalidInputError(
                f"The sequences have the labels {sequences.evidence.classes!r}, the model {self.classes!r}. "
                "Both must name the same labels in the same order."
            )
        if sequences.feature_names == self.feature_names:
            return align_attributes(sequences, self.feature_names)
        if set(self.feature_names).isdisjoint(sequences.feature_names):
            raise InvalidInputError(
                "The sequences have no attribute that the model knows: it knows "
                f"{', '.join(repr(name) for name in self.feature_names[:3])}, ..; they have "
                f"{', '.join(repr(name) for name in sequences.feature_names[:3])}, .. Use the same template."
            )
        return align_attributes(sequences, self.feature_names)

    def log_potentials(self, sequences: Sequences) -> LogPotentials:
        """What every label scores at every token, the transitions and the start."""
        aligned, _ = self.aligned(sequences)
        nodes = (aligned.attributes @ sp.csr_array(self.emission.T)).toarray()
        start = np.zeros(self.n_classes) if self.start is None else self.start
        return LogPotentials(nodes, self.transition, start)

    def log_evidence(self, sequences: Sequences) -> FloatArray:
        """log p(evidence | x) of every sequence; exactly 0 where nothing is known."""
        chain, nodes, tokens = self._arrays(sequences)
        return log_totals(chain, nodes, tokens) - log_totals(chain, nodes, _free(tokens))

    def marginals(self, sequences: Sequences) -> FloatArray:
        """p(label | evidence, x), (n_tokens, K)."""
        chain, nodes, tokens = self._arrays(sequences)
        return marginals(chain, nodes, tokens._replace(sequence_weights=np.ones(sequences.n_sequences)))[1]

    def best_labels(self, sequences: Sequences) -> IntArray:
        """The most probable labels given the evidence, (n_tokens,)."""
        return best_paths(*self._arrays(sequences))[0]

    def sample(self, inputs: Sequences, rng: np.random.Generator) -> Sequences:
        """Draw labels given the attributes; what is known of the labels of `inputs` is not looked at."""
        chain, nodes, tokens = self._arrays(inputs)
        labels = draw_paths(chain, nodes, _free(tokens), rng.random(inputs.n_tokens))
        return inputs.with_evidence(Evidence(labels, self.classes))

    def scores(self, sequences: Sequences) -> FloatArray:
        """Gradient of `log_evidence`, (n_sequences, d): expected counts given the evidence less those without."""
        aligned, _ = self.aligned(sequences)
        chain, nodes, tokens = self._arrays(aligned)
        known, free = (sequence_sums(chain, nodes, part) for part in (tokens, _free(tokens)))
        start, pairs, at_tokens = (given - before for given, before in zip(known, free, strict=True))
        emission = sums_by_sequence(aligned.attributes, aligned.offsets, at_tokens)
        tables = {"start": start, "transition": pairs, "emission": emission}
        columns = [
            block.pull(tables[block.table].reshape(aligned.n_sequences, -1).T) for block in self.coordinates.blocks
        ]
        return np.concatenate(columns).T

    def to_arrays(self) -> dict[str, AnyArray]:
        """The weights, and which they are."""
        arrays: dict[str, AnyArray] = {
            "transition": self.transition,
            "emission_starts": self.emission.indptr,
            "emission_labels": self.emission.indices,
            "emission_weights": self.emission.data,
        }
        if self.start is not None:
            arrays["start"] = self.start
        if self.transition_support is not None:
            arrays["transition_support"] = self.transition_support.astype(np.uint8)
        return arrays

    @classmethod
    def from_arrays(
        cls, arrays: Mapping[str, AnyArray], *, classes: tuple[Hashable, ...], feature_names: tuple[str, ...]
    ) -> Self:
        weights, labels, starts = (stored(arrays, f"emission_{name}") for name in ("weights", "labels", "starts"))
        try:
            emission = sp.csc_array((weights, labels, starts), (len(classes), len(feature_names)))
            emission.check_format(full_check=True)
        except (TypeError, ValueError) as error:
            raise InvalidInputError(f"The stored emission weights do not fit together: {error}.") from error
        support = arrays.get("transition_support")
        return cls(
            classes,
            arrays.get("start"),
            stored(arrays, "transition"),
            emission,
            feature_names,
            None if support is None else support.astype(bool),
        )

    def _arrays(self, sequences: Sequences) -> tuple[Chain, Nodes, Tokens]:
        potentials = self.log_potentials(sequences)
        evidence = sequences.evidence
        tokens = make_tokens(
            np.arange(sequences.n_tokens), sequences.offsets, evidence.codes, evidence.weights, sequences.weights
        )
        return make_chain(potentials.start, potentials.transition), nodes_from_logs(potentials.nodes), tokens


def _free(tokens: Tokens) -> Tokens:
    """The same tokens, of whose labels nothing is known."""
    return tokens._replace(codes=np.full_like(tokens.codes, -1))
