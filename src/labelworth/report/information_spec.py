"""The theory with given parameters: a specification in JSON in, a record out."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
import scipy.sparse as sp

from labelworth.arrays import FloatArray, as_floats, require_probabilities
from labelworth.channels.arm import Arm
from labelworth.channels.channel import Channel
from labelworth.criteria.information import information
from labelworth.criteria.table import InformationPoint, InformationTable
from labelworth.data.lengths import LengthDistribution
from labelworth.data.readers.json_files import read_json
from labelworth.errors import InvalidInputError
from labelworth.estimators.kinds import KINDS
from labelworth.models.chains.protocol import ChainModel
from labelworth.models.classes.multinomial import MultinomialModel
from labelworth.progress import SILENT, Progress
from labelworth.report.record import Record, Stopwatch, require_schema
from labelworth.report.values import Measured, Table

_DOCUMENTS = "multinomial-naive-bayes"
_CHAINS = tuple(name for name, kind in KINDS.items() if kind.takes_sequences)

_SHOWN = {
    "total_variance": "total variance",
    "worst_direction": "worst direction",
    "excess_log_loss": "excess log-loss",
    "unlabeled_per_labeled_example": "unlabeled per labeled example",
}
_MOST_DIRECTIONS = 3
_LEAST_PROBABILITY = 1e-50
_LARGEST_WEIGHT = 1e3
_MOST_LENGTHS = 10_000
_MOST_WORDS = 100_000
_MOST_TOKENS = 1_000


@dataclass(frozen=True, eq=False)
class InformationSpec:
    """A model with the parameters taken for true, and what is asked of it."""

    document: Mapping[str, Any]  # The specification as given.
    model: Any
    question: Mapping[str, Any]  # What `labelworth.information` is asked, but for the seed.

    @classmethod
    def from_document(cls, document: Any) -> Self:
        """Check a specification and build its model."""
        kind = document.get("model") if isinstance(document, dict) else None
        if kind in _CHAINS:
            require_schema(document, "chain_spec", f"specification of a {kind} model")
            question = _chain_question(document)
            return cls(document, _chain_model(document), question)
        if isinstance(kind, str) and kind != _DOCUMENTS:
            known = ", ".join([_DOCUMENTS, *_CHAINS])
            raise InvalidInputError(f"There is no model {kind!r} to specify. Models are: {known}.")
        if isinstance(document, dict) and ("document_length" in document) == ("lengths" in document):
            raise InvalidInputError(
                'A specification says how long documents are, once: "document_length": 6, or "lengths": '
                '{"5": 0.5, "7": 0.5}.'
            )
        if isinstance(document, dict):
            _require_one_question(document)
        require_schema(document, "information_spec", "specification")
        names = ("labeled_fractions", "designs", "n_samples", "method", "max_draws")
        question = {name: document[name] for name in names if name in document}
        if "designs" in document:
            question["kinds"] = _kinds(document.get("kinds", []))
        return cls(document, _model(document), question)

    def record(
        self, *, matrices: bool = False, seed: int | None = None, progress: Progress = SILENT
    ) -> tuple[Record, InformationTable]:
        """Ask the theory, with another `seed` than the specification's where given: a record, and its table."""
        seed = int(self.document.get("seed", 0)) if seed is None else seed
        watch = Stopwatch()
        with watch.timing("information"):
            table = information(self.model, **self.question, seed=seed, progress=progress)
        figures = table.to_dict()
        if matrices:
            figures["matrices"] = table.matrices()
            for described, point in zip(figures["points"], table.points, strict=True):
                described["information"] = table.information_of(point)
        asked = {**self.document, "matrices": matrices}
        return Record("information", asked, figures, seed, durations=watch.durations), table


def read_spec(path: Path | str) -> InformationSpec:
    """Read a specification, of documents or of chains, from a file, or from standard input for ``-``."""
    return InformationSpec.from_document(read_json(path, "specification"))


def _require_one_question(document: Mapping[str, Any]) -> None:
    if ("labeled_fractions" in document) == ("designs" in document):
        raise InvalidInputError(
            'A specification asks one thing: "labeled_fractions": [1, 0.1], or "designs": [[0.5, 0.2, 0.3]], shares '
            'of samples that get nothing, gold, and each of "kinds".'
        )
    if "kinds" in document and "designs" not in document:
        raise InvalidInputError(
            'Of "kinds" one asks in "designs": shares of samples that get nothing, gold, then each kind in order.'
        )


def _kinds(described: Sequence[Mapping[str, Any]]) -> list[Arm]:
    """Answers of channels, and rows that are audited: gold and a channel's answer."""
    channels: dict[str, Channel] = {}
    for kind in described:
        name = kind["name"]
        if ("confusion" in kind) == ("audits" in kind):
            raise InvalidInputError(
                f'The kind {name!r} has either a "confusion", K rows of answer probabilities, or says which kind it '
                '"audits".'
            )
        if "audits" in kind and ("votes" in kind or "unknown" in kind):
            raise InvalidInputError(
                f'The kind {name!r} audits {kind["audits"]!r}: "votes" and "unknown" are said there.'
            )
        if "confusion" in kind:
            channels[name] = Channel(
                name, kind["confusion"], votes=kind.get("votes", 1), unknown=kind.get("unknown", False)
            )
    arms = []
    for kind in described:
        audited = kind.get("audits", kind["name"])
        if audited not in channels:
            known = ", ".join(channels) or "none"
            raise InvalidInputError(
                f"The kind {kind['name']!r} audits {audited!r}, which is no kind with a confusion: {known}."
            )
        arms.append(Arm.of(channels[audited], gold="audits" in kind, name=kind["name"]))
    return arms


def _model(document: Mapping[str, Any]) -> MultinomialModel:
    parameters = document["parameters"]
    priors = as_floats("class_probabilities", parameters["class_probabilities"], ndim=1)
    words = as_floats("word_probabilities", parameters["word_probabilities"], ndim=2)
    require_workable_probabilities("class_probabilities", priors)
    require_workable_probabilities("word_probabilities", words)
    if len(words) != len(priors):
        raise InvalidInputError(
            f"word_probabilities must have a row for each of the {len(priors)} classes. Got {len(words)} rows."
        )
    if "lengths" in document:
        lengths = LengthDistribution.from_mapping(document["lengths"])
    else:
        lengths = LengthDistribution.single(document["document_length"])
    require_workable_lengths(lengths, _MOST_WORDS)
    classes = tuple(document.get("classes") or (f"class {code}" for code in range(len(priors))))
    names = document.get("words")
    return MultinomialModel(classes, priors, words, lengths, None if names is None else tuple(names))


def _chain_question(document: Mapping[str, Any]) -> dict[str, Any]:
    """What is asked of a chain."""
    names = ("policies", "rules", "n_samples", "method", "input_probabilities")
    question = {name: document[name] for name in names if name in document}
    lengths = LengthDistribution.from_mapping(document["lengths"])
    require_workable_lengths(lengths, _MOST_TOKENS)
    return question | {"lengths": lengths}


def _chain_model(document: Mapping[str, Any]) -> ChainModel:
    """The chain with the parameters taken for true."""
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
    if kind == "hidden-markov" and start is None:
        raise InvalidInputError('A hidden-markov model needs "start": the probability of every first label.')
    require = require_workable_probabilities if kind == "hidden-markov" else require_workable_weights
    for name, table in (("start", start), ("transition", transition), ("emission", emission)):
        if table is not None:
            require(name, table)
    stored = _all_stored(emission) if kind == "conditional-random-field" else emission
    model: ChainModel = KINDS[kind].model(classes, start, transition, stored, names)
    return model


def _all_stored(table: FloatArray) -> sp.csc_array:
    """A sparse table that stores every entry, zeros too: each is a parameter."""
    n_rows, n_columns = table.shape
    rows = np.tile(np.arange(n_rows), n_columns)
    return sp.csc_array((table.T.ravel(), rows, n_rows * np.arange(n_columns + 1)), table.shape)


def require_workable_probabilities(name: str, table: FloatArray) -> None:
    """Refuse what are no probabilities, and those whose squared scores, 1 / p^2, no double can hold."""
    # A probability of zero is at the edge of the parameter space, where the theory does not hold.
    require_probabilities(name, table, positive=True)
    least = float(table.min())
    if least < _LEAST_PROBABILITY:
        raise InvalidInputError(
            f"{name} must be at least {_LEAST_PROBABILITY:g}. Got {least:g}: what never happens is best left out."
        )


def require_workable_weights(name: str, table: FloatArray) -> None:
    """Refuse weights beside which all other differences are lost in rounding."""
    largest = float(np.abs(table).max(initial=0.0))
    if largest > _LARGEST_WEIGHT:
        raise InvalidInputError(
            f"The weights of {name} must lie between -{_LARGEST_WEIGHT:g} and {_LARGEST_WEIGHT:g}; a weight is the "
            f"logarithm of a ratio of odds. Got {largest:g}."
        )


def require_workable_lengths(lengths: LengthDistribution, most: int) -> None:
    """Refuse lengths that nobody could draw or sum over."""
    if lengths.longest > most or len(lengths.lengths) > _MOST_LENGTHS:
        raise InvalidInputError(
            f"A specification may have up to {_MOST_LENGTHS:,} lengths of at most {most:,}. Got "
            f"{len(lengths.lengths):,}, up to {lengths.longest:,}; shorten them."
        )


def spec_table(table: InformationTable) -> Table:
    """The answer for people."""
    shown = {name: words for name, words in _SHOWN.items() if name in table.points[0].figures}
    figures = [tuple(_entry(point, name) for name in shown) for point in table.points]
    by = f"By {table.method}: {table.reason}. Errors are those of {table.n_samples:g}"
    if table.is_of_designs:
        answered = [
            (point.policy, point.expected_labels, *row) for point, row in zip(table.points, figures, strict=True)
        ]
        note = " ".join([f"{by} samples, those of the model's parameters.", *table.notes])
        return Table(
            "What answers are worth", ("design", "answers per sample", *shown.values()), tuple(answered), note
        )
    if not table.is_of_sequences:
        rows = [(point.labeled_fraction, *row) for point, row in zip(table.points, figures, strict=True)]
        note = " ".join([f"{by} samples.", *table.notes])
        return Table("What samples are worth", ("labeled fraction", *shown.values()), tuple(rows), note)
    rows = [(point.policy, point.expected_labels, *row) for point, row in zip(table.points, figures, strict=True)]
    weak = [sentence for point in table.points for sentence in _weakness(point)]
    note = " ".join([f"{by} sequences, log-loss is per sequence.", *table.notes, *weak])
    columns = ("policy", "labels per sequence", *shown.values())
    return Table("What sequences are worth", columns, tuple(rows), note)


def _weakness(point: InformationPoint) -> list[str]:
    """What a policy leaves open or nearly so, in words."""
    directions = point.weak_directions or ()
    sentences = []
    for direction in directions[:_MOST_DIRECTIONS]:
        share = direction.relative_information
        known = "nothing" if share == 0 else f"only {share:.1g} of what complete labels tell"
        sentences.append(f"{point.policy} tells {known} of: {', '.join(direction.parameters[:4])}.")
    if len(directions) > _MOST_DIRECTIONS:
        sentences.append(f"{len(directions) - _MOST_DIRECTIONS} more directions are weak under {point.policy}.")
    return sentences


def _entry(point: InformationPoint, name: str) -> Measured | str:
    value = point.figures[name]
    if value is not None:
        return Measured(value, point.standard_errors.get(name))
    if point.refusal is not None:
        return "not known"
    return "unlimited" if point.is_identifiable else "not identifiable"
