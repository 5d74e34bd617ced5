"""What plans and frontiers are made from: a file, how to read it, the model, prices, and what error means."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from labelworth.cli.console import tell
from labelworth.cli.options import Covariance, ModelKind, RareWords
from labelworth.cli.planning_options import PRICE_HOUR, FigureSource, Unlabeled
from labelworth.cli.reading import Kind, Source, classes_named, features_to_learn
from labelworth.cli.sequence_reading import SequenceSource, TaggerKind, holds_sequences, usual_model

if TYPE_CHECKING:
    from labelworth.arrays import FloatArray
    from labelworth.tradeoff.costs import Prices


@dataclass(frozen=True)
class Data:
    """What a plan is made from: the file and how to read it, the model, the prices and what error means."""

    path: Path
    text_column: str = "text"
    label_column: str = "label"
    labels: Path | None = None
    unlabeled: str | None = None
    format: str | None = None
    encoding: str = "utf-8"
    min_documents: int = 1
    max_words: int | None = None
    model: ModelKind | None = None
    smoothing: float = 1.0
    document_length: float | None = None
    binarize: float = 0.0
    covariance: Covariance = Covariance.SHARED
    template: str | None = None
    min_count: int = 1
    rare_words: RareWords = RareWords.ENTRY
    c2: float = 1.0
    label_smoothing: float = 1.0
    classes: str | None = None
    criterion: str | None = None
    source: FigureSource = FigureSource.AUTO
    rules: str | None = None
    pool: float | None = None
    use_unlabeled: Unlabeled = Unlabeled.AUTO
    price_label: float = 1.0
    price_token: float = 0.0
    price_sequence: float = 0.0
    price_unlabeled: float = 0.0
    price_fixed: float = 0.0
    seconds_column: str | None = None
    price_hour: float = PRICE_HOUR

    @property
    def holds_sequences(self) -> bool:
        """Whether the file is one of sequences."""
        return holds_sequences(self.path, self.format, self.model)

    def prices(self, data: dict[str, Any]) -> "Prices":
        """What annotation costs: as said, or by the times that the data carries."""
        from dataclasses import replace

        from labelworth.tradeoff.costs import Prices

        said = Prices(
            per_label=self.price_label,
            per_token=self.price_token,
            per_sequence=self.price_sequence,
            per_unlabeled=self.price_unlabeled,
            fixed=self.price_fixed,
        )
        self._require_hour()
        if self.seconds_column is None:
            return said
        if (self.price_label, self.price_token, self.price_sequence) != (1.0, 0.0, 0.0):
            from labelworth.errors import InvalidInputError

            raise InvalidInputError(
                "--seconds-column estimates the prices of labels, tokens and sequences; leave --price-label, "
                "--price-token and --price-sequence out, and say with --price-hour what an hour costs."
            )
        from labelworth.cli.annotation_times import prices_of_column

        labels, tokens = _labels_and_tokens(data["X"], data["y"])
        timed = prices_of_column(
            self.path,
            self.seconds_column,
            labels,
            tokens,
            format=self.format,
            encoding=self.encoding,
            text_column=self.text_column,
            per_hour=self.price_hour,
        )
        tell(timed.words())
        return replace(timed.prices, per_unlabeled=said.per_unlabeled, fixed=said.fixed)

    def _require_hour(self) -> None:
        from math import isfinite

        from labelworth.errors import InvalidInputError

        if not (isfinite(self.price_hour) and self.price_hour > 0):
            raise InvalidInputError(f"--price-hour must be a positive number. Got {self.price_hour:g}.")
        if self.seconds_column is None and self.price_hour != PRICE_HOUR:
            raise InvalidInputError("--price-hour goes with --seconds-column, which says how long annotators took.")

    def arguments(self, seed: int) -> dict[str, Any]:
        """What `labelworth.plan` and `labelworth.frontier` take: data, model, prices and the rest."""
        data = self._sequences(seed) if self.holds_sequences else self._documents(seed)
        shared = {
            "prices": self.prices(data),
            "criterion": self.criterion,
            "source": self.source.value,
            "rules": self.rules,
            "pool": self.pool,
            "use_unlabeled": self.use_unlabeled.value,
            "seed": seed,
        }
        return {**data, **shared}

    def _documents(self, seed: int) -> dict[str, Any]:
        from labelworth.errors import InvalidInputError

        source = Source(
            self.path,
            self.text_column,
            self.label_column,
            self.labels,
            self.unlabeled,
            self.format,
            self.encoding,
        )
        kind = Kind(
            self.model or ModelKind.MULTINOMIAL,
            self.smoothing,
            self.document_length,
            self.binarize,
            self.covariance,
        )
        if self.template is not None:
            raise InvalidInputError("Documents have no tokens to make attributes for: --template is for sequences.")
        raw = source.read()
        features, _ = features_to_learn(raw, min_documents=self.min_documents, max_words=self.max_words)
        kind.require_suitable(features)
        named = None if self.classes is None else classes_named(self.classes, raw.labels)
        return {"X": features, "y": list(raw.labels), "model": kind.classifier(seed), "classes": named}

    def _sequences(self, seed: int) -> dict[str, Any]:
        raw = self.sequence_source().read_quietly()
        kind = TaggerKind(
            self.model or usual_model(raw),
            self.smoothing,
            self.label_smoothing,
            self.c2,
            self.template,
            self.min_count,
            self.rare_words.value,
        )
        named = None if self.classes is None else [name.strip() for name in self.classes.split(",")]
        return {"X": raw, "y": None, "model": kind.tagger(seed, named)}

    def sequence_source(self) -> SequenceSource:
        """The file as one of sequences."""
        return SequenceSource.of(
            self.path,
            self.text_column,
            self.label_column,
            unlabeled=self.unlabeled,
            format=self.format,
            encoding=self.encoding,
        )

    def digest(self) -> str:
        """The SHA-256 of the file."""
        from labelworth.data.files import file_digest

        return file_digest(self.path)

    def to_dict(self) -> dict[str, Any]:
        """As a record keeps it."""
        from dataclasses import fields

        return {field.name: getattr(self, field.name) for field in fields(self)}

    @classmethod
    def from_record(cls, asked: dict[str, Any]) -> "Data":
        """Read back what a record kept."""
        from labelworth.errors import InvalidInputError

        kinds: dict[str, Any] = {
            "path": Path,
            "labels": Path,
            "model": ModelKind,
            "covariance": Covariance,
            "rare_words": RareWords,
            "source": FigureSource,
            "use_unlabeled": Unlabeled,
        }
        known = {name: value for name, value in asked.items() if name in cls.__dataclass_fields__}
        if "path" not in known:
            raise InvalidInputError("This record does not say which data the plan was made from.")
        try:
            return cls(
                **{
                    name: kinds[name](value) if name in kinds and value is not None else value
                    for name, value in known.items()
                }
            )
        except (TypeError, ValueError) as error:
            raise InvalidInputError(f"This record cannot be asked again: {error}.") from error


def _labels_and_tokens(X: Any, y: Any) -> "tuple[FloatArray, FloatArray]":
    """How many labels, and how many words, every document or sequence has."""
    import numpy as np

    if y is not None:
        return np.array([label is not None for label in y], dtype=np.float64), np.asarray(X.sum(axis=1)).ravel()
    known = np.array([label is not None for label in X.labels], dtype=np.float64)
    return np.add.reduceat(known, X.offsets[:-1]), np.diff(X.offsets).astype(np.float64)
