"""The theory of chains with given parameters: a specification in JSON in, a record out."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import scipy.sparse as sp

from labelworth.arrays import FloatArray, as_floats, require_probabilities
from labelworth.criteria.policy_points import PolicyPoint, PolicyTable
from labelworth.criteria.policy_table import policy_information
from labelworth.data.lengths import LengthDistribution
from labelworth.errors import InvalidInputError
from labelworth.fisher.rule_choice import RuleMethod
from labelworth.models.chains.boltzmann_chain import BoltzmannChainModel
from labelworth.models.chains.conditional_random_field import ConditionalRandomFieldModel
from labelworth.models.chains.hidden_markov import HiddenMarkovModel
from labelworth.models.chains.protocol import ChainModel
from labelworth.progress import SILENT, Progress
from labelworth.report.record import Record, Stopwatch, require_schema
from labelworth.report.spec_limits import (
    MOST_TOKENS,
    require_workable_lengths,
    require_workable_probabilities,
    require_workable_weights,
)
from labelworth.report.values import Measured, Table

KINDS = ("hidden-markov", "boltzmann-chain", "conditional-random-field")

_SHOWN = {
    "total_variance": "total variance",
    "worst_direction": "worst direction",
    "excess_log_loss": "excess log-loss",
}
_MOST_DIRECTIONS = 3


@dataclass(frozen=True, eq=False)
class ChainSpec:
    """A chain with the parameters taken for true, rules, and the policies to evaluate.

    Attributes
    ----------
    document : mapping
        The specification as given.
    model : ChainModel
    lengths : LengthDistribution
    seed : int
    """

    document: Mapping[str, Any]
    model: ChainModel
    lengths: LengthDistribution
    seed: int

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> Self:
        """Check a specification and build its model."""
        require_schema(document, "chain_spec", f"specification of a {document['model']} model")
        lengths = LengthDistribution.from_mapping(document["lengths"])
        require_workable_lengths(lengths, MOST_TOKENS)
        return cls(document, _model(document), lengths, int(document.get("seed", 0)))

    def evaluate(self, *, seed: int | None = None, progress: Progress = SILENT) -> PolicyTable:
        """Ask the theory; `seed` overrules the specification's."""
        method: RuleMethod = self.document.get("method", "auto")
        return policy_information(
            self.model,
            policies=self.document["policies"],
            rules=self.document["rules"],
            lengths=self.lengths,
            input_probabilities=self.document.get("input_probabilities"),
            n_samples=float(self.document["n_samples"]),
            method=method,
            seed=self.seed if seed is None else seed,
            progress=progress,
        )

    def record(
        self, *, matrices: bool = False, seed: int | None = None, progress: Progress = SILENT
    ) -> tuple[Record, PolicyTable]:
        """The answer as a record, with the table it was made from."""
        watch = Stopwatch()
        with watch.timing("information"):
            table = self.evaluate(seed=seed, progress=progress)
        figures = table.to_dict()
        if matrices:
            figures["matrices"] = table.matrices()
            for described, point in zip(figures["points"], table.points, strict=True):
                described["information"] = table.information_of(point)
        asked = {**self.document, "matrices": matrices}
        record = Record("information", asked, figures, self.seed if seed is None else seed, durations=watch.durations)
        return record, table


def _model(document: Mapping[str, Any]) -> ChainModel:
    parameters, kind = document["parameters"], document["model"]
    start = None if "start" not in parameters else as_floats("start", parameters["start"], ndim=1)
    transition = as_floats("transition", parameters["transition"], ndim=2)
    emission = as_floats("emission", parameters["emission"], ndim=2)
    names = tuple(document.get("words") or (f"word {code}" for code in range(emission.shape[1])))
    classes = tuple(document.get("classes") or (f"label {code}" for code in range(len(emission))))
    if len(classes) != len(emission) or len(names) != emission.shape[1]:
        raise InvalidInputError(
            f"There must be a name for each of the {len(emission)} labels and {emission.shape[1]} words of emission. "
            f"Got {len(classes)} classes and {len(names)} words."
        )
    if kind != "hidden-markov":
        for name, table in (("start", start), ("transition", transition), ("emission", emission)):
            if table is not None:
                require_workable_weights(name, table)
    if kind == "boltzmann-chain":
        return BoltzmannChainModel(classes, start, transition, emission, names)
    if kind == "conditional-random-field":
        return ConditionalRandomFieldModel(classes, start, transition, _all_stored(emission), names)
    if start is None:
        raise InvalidInputError('A hidden-markov model needs "start": the probability of every first label.')
    # A probability of zero is at the edge of the parameter space, where the theory does not hold.
    for name, table in (("start", start), ("transition", transition), ("emission", emission)):
        require_probabilities(name, table, positive=True)
        require_workable_probabilities(name, table)
    return HiddenMarkovModel(classes, start, transition, emission, names)


def _all_stored(table: FloatArray) -> sp.csc_array:
    """A sparse table that stores every entry, zeros too: each is a parameter."""
    n_rows, n_columns = table.shape
    rows = np.tile(np.arange(n_rows), n_columns)
    return sp.csc_array((table.T.ravel(), rows, n_rows * np.arange(n_columns + 1)), table.shape)


def chain_table(table: PolicyTable) -> Table:
    """The answer for people."""
    rows = tuple(
        (point.policy.spec, point.expected_labels, *(_entry(point, name) for name in _SHOWN))
        for point in table.points
    )
    sentences = [
        f"By {table.method}: {table.reason}. Errors are those of {table.n_samples:g} sequences, log-loss is per "
        "sequence.",
        *table.notes,
        *(sentence for point in table.points for sentence in _weakness(point)),
    ]
    columns = ("policy", "labels per sequence", *_SHOWN.values())
    return Table("What sequences are worth", columns, rows, " ".join(sentences))


def _weakness(point: PolicyPoint) -> list[str]:
    """What a policy leaves open or nearly so, in words."""
    directions = point.weak_directions or ()
    sentences = []
    for direction in directions[:_MOST_DIRECTIONS]:
        share = direction.relative_information
        told = "nothing" if share == 0 else f"only {share:.1g} of what complete labels tell"
        sentences.append(f"{point.policy.spec} tells {told} of: {', '.join(direction.parameters[:4])}.")
    if len(directions) > _MOST_DIRECTIONS:
        sentences.append(f"{len(directions) - _MOST_DIRECTIONS} more directions are weak under {point.policy.spec}.")
    return sentences


def _entry(point: PolicyPoint, name: str) -> Measured | str:
    value = point.figures[name]
    if value is None:
        return "not identifiable" if not point.is_identifiable and point.refusal is None else "not known"
    return Measured(value, point.standard_errors.get(name))
