"""The theory with given parameters: a specification in JSON in, a record out."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from labelworth.arrays import as_floats, require_probabilities
from labelworth.criteria.information_table import InformationPoint, InformationTable
from labelworth.criteria.policy_points import PolicyTable
from labelworth.criteria.table import information
from labelworth.data.lengths import LengthDistribution
from labelworth.data.readers.json_files import read_json
from labelworth.errors import InvalidInputError
from labelworth.fisher.choice import Method
from labelworth.models.classes.multinomial import MultinomialModel
from labelworth.progress import SILENT, Progress
from labelworth.report.chain_spec import KINDS as CHAIN_KINDS
from labelworth.report.chain_spec import ChainSpec, chain_table
from labelworth.report.record import Record, Stopwatch, require_schema
from labelworth.report.spec_limits import MOST_WORDS, require_workable_lengths, require_workable_probabilities
from labelworth.report.values import Measured, Table

_SHOWN = {
    "total_variance": "total variance",
    "worst_direction": "worst direction",
    "excess_log_loss": "excess log-loss",
    "unlabeled_per_labeled_example": "unlabeled per labeled example",
}


@dataclass(frozen=True, eq=False)
class InformationSpec:
    """A model with the parameters taken for true, and where to evaluate it.

    Attributes
    ----------
    document : mapping
        The specification as given.
    model : MultinomialModel
    labeled_fractions : tuple of float
    n_samples : float
    method : str
    seed : int
    max_draws : int or None
        A limit to sampling.
    """

    document: Mapping[str, Any]
    model: MultinomialModel
    labeled_fractions: tuple[float, ...]
    n_samples: float
    method: Method
    seed: int
    max_draws: int | None = None

    @classmethod
    def from_document(cls, document: Any) -> Self:
        """Check a specification and build its model."""
        if isinstance(document, dict) and ("document_length" in document) == ("lengths" in document):
            raise InvalidInputError(
                'A specification says how long documents are, once: "document_length": 6, or "lengths": '
                '{"5": 0.5, "7": 0.5}.'
            )
        require_schema(document, "information_spec", "specification")
        return cls(
            document,
            _model(document),
            tuple(float(fraction) for fraction in document["labeled_fractions"]),
            float(document["n_samples"]),
            document.get("method", "auto"),
            int(document.get("seed", 0)),
            document.get("max_draws"),
        )

    def evaluate(self, *, seed: int | None = None, progress: Progress = SILENT) -> InformationTable:
        """Ask the theory; `seed` overrules the specification's."""
        return information(
            self.model,
            labeled_fractions=self.labeled_fractions,
            n_samples=self.n_samples,
            method=self.method,
            seed=self.seed if seed is None else seed,
            max_draws=self.max_draws,
            progress=progress,
        )

    def record(
        self, *, matrices: bool = False, seed: int | None = None, progress: Progress = SILENT
    ) -> tuple[Record, InformationTable]:
        """The answer as a record, with the table it was made from."""
        watch = Stopwatch()
        with watch.timing("information"):
            table = self.evaluate(seed=seed, progress=progress)
        figures = table.to_dict()
        if matrices:
            figures["matrices"] = table.matrices()
            for point in figures["points"]:
                point["information"] = table.information_at(point["labeled_fraction"])
        asked = {**self.document, "matrices": matrices}
        record = Record("information", asked, figures, self.seed if seed is None else seed, durations=watch.durations)
        return record, table


def read_spec(path: Path | str) -> "InformationSpec | ChainSpec":
    """Read a specification, of documents or of chains, from a file, or from standard input for ``-``."""
    document = read_json(path, "specification")
    kind = document.get("model") if isinstance(document, dict) else None
    if kind in CHAIN_KINDS:
        return ChainSpec.from_document(document)
    if isinstance(kind, str) and kind != "multinomial-naive-bayes":
        known = ", ".join(["multinomial-naive-bayes", *CHAIN_KINDS])
        raise InvalidInputError(f"There is no model {kind!r} to specify. Models are: {known}.")
    return InformationSpec.from_document(document)


def _model(document: Mapping[str, Any]) -> MultinomialModel:
    parameters = document["parameters"]
    priors = as_floats("class_probabilities", parameters["class_probabilities"], ndim=1)
    words = as_floats("word_probabilities", parameters["word_probabilities"], ndim=2)
    # A probability of zero is at the edge of the parameter space, where the theory does not hold.
    require_probabilities("class_probabilities", priors, positive=True)
    require_probabilities("word_probabilities", words, positive=True)
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
    require_workable_lengths(lengths, MOST_WORDS)
    classes = tuple(document.get("classes") or (f"class {code}" for code in range(len(priors))))
    names = document.get("words")
    return MultinomialModel(classes, priors, words, lengths, None if names is None else tuple(names))


def spec_table(table: InformationTable | PolicyTable) -> Table:
    """The answer for people."""
    if isinstance(table, PolicyTable):
        return chain_table(table)
    rows = tuple((point.labeled_fraction, *(_entry(point, name) for name in _SHOWN)) for point in table.points)
    note = " ".join(
        [f"By {table.method}: {table.reason}. Errors are those of {table.n_samples:g} samples.", *table.notes]
    )
    return Table("What samples are worth", ("labeled fraction", *_SHOWN.values()), rows, note)


def _entry(point: InformationPoint, name: str) -> Measured | str:
    value = point.figures[name]
    if value is None:
        return "unlimited" if point.is_identifiable else "not identifiable"
    return Measured(value, point.standard_errors.get(name))
