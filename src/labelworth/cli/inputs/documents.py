"""Rows of texts or features, as classifiers take them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from labelworth.arrays import FloatArray, IntArray
from labelworth.cli.inputs.exported import exported_raw
from labelworth.cli.options.data import NONE
from labelworth.cli.options.table import in_options
from labelworth.data.drawn import DrawnLabels
from labelworth.data.labels import by_text
from labelworth.data.readers import NOT_NAMED, RawFeatures, RawTexts, read
from labelworth.data.readers.written import WrittenRows, written_cells, written_rows
from labelworth.data.text import Vocabulary, count_words
from labelworth.errors import InvalidInputError
from labelworth.estimators.storage import Reading

if TYPE_CHECKING:
    from labelworth.cli.batches.documents import DocumentBatches
    from labelworth.cli.options.data import DataOptions
    from labelworth.formats.as_data import ExportedData


@dataclass(frozen=True, eq=False)
class Documents:
    """Rows of a file, each with a label or none."""

    raw: RawTexts | RawFeatures
    options: "DataOptions"  # How the file was read.
    exported: "ExportedData | None" = None  # Where an annotation tool exported it.

    sample: ClassVar[str] = "document"
    usual_model: ClassVar[str] = "multinomial"
    offsets: ClassVar[None] = None

    @classmethod
    def read(
        cls, options: "DataOptions", *, zero_based: bool | None = None, n_features: int | None = None
    ) -> "Documents":
        """Read them; `zero_based` and `n_features` as a fitted classifier knows them."""
        if options.exported is not None:
            return cls(exported_raw(options, RawTexts), options, options.exported)
        marker: Any = NOT_NAMED if options.unlabeled is None else options.unlabeled
        raw = read(
            options.path,
            text_column=options.text_column or "text",
            label_column=None if options.label_column == NONE else options.label_name,
            labels=options.labels,
            unlabeled=None if marker == NONE else marker,
            rename=options.rename,
            format=options.format,
            encoding=options.encoding,
            zero_based=zero_based,
            n_features=n_features,
        )
        return cls(raw, options)

    @cached_property
    def _vocabulary_and_counts(self) -> tuple[Vocabulary | None, Any]:
        if not isinstance(self.raw, RawTexts):
            return None, self.raw.features
        return count_words(self.raw.texts, min_df=self.options.min_documents, max_features=self.options.max_words)

    @property
    def X(self) -> Any:
        """Counts or vectors, a row per document."""
        return self._vocabulary_and_counts[1]

    def X_for(self, estimator: Any) -> Any:
        """What an estimator takes: ours and those known by name counts or vectors, others what the file holds."""
        takes_texts = not getattr(estimator, "is_ours", True) and not isinstance(estimator.estimator, str)
        return list(self.raw.texts) if takes_texts and isinstance(self.raw, RawTexts) else self.X

    @property
    def notes(self) -> tuple[str, ...]:
        """What the reader has to say, in options of the command line."""
        return tuple(in_options(note, {"rename": "--rename"}) for note in self.raw.notes)

    @cached_property
    def y(self) -> list[Any]:
        """Labels; with how their rows were drawn, where the file says so."""
        return list(self.raw.labels) if self._log is None else DrawnLabels(self.raw.labels, *self._log)

    @property
    def n_batches(self) -> int:
        """How many batches with probabilities were merged into the file."""
        return 0 if self._log is None else int(self._log[1].max(initial=0))

    @property
    def is_logged(self) -> bool:
        """Whether the file says how its rows were drawn."""
        return self._log is not None

    @cached_property
    def _log(self) -> tuple[FloatArray, IntArray] | None:
        """Probability and batch of every row, as `merge` keeps them; None: not logged."""
        cells = self._cells((*_LOG, *_LONG_LOG))
        names = log_columns(tuple(cells))
        if not set(names) <= set(cells) or len(cells[names[0]]) != self.n_samples:
            return None
        rows = zip(cells[names[0]], cells[names[2]], strict=True)
        try:
            numbers = np.array([[np.nan if cell in (None, "") else float(cell) for cell in row] for row in rows])
        except (TypeError, ValueError):
            raise InvalidInputError(
                f"The columns {names[0]!r} and {names[2]!r} of {self.options.path} say how rows were drawn, and hold "
                "what is no number. Leave them as `labelworth merge` wrote them, or give columns of your own another "
                "name."
            ) from None
        return numbers[:, 0], np.nan_to_num(numbers[:, 1]).astype(np.int64)

    def _cells(self, names: Sequence[str]) -> dict[str, list[Any]]:
        """What rows hold in those of the columns that there are."""
        if self.exported is None:
            return written_cells(self.options.path, self.options.format, self.options.encoding, names)
        written = self.exported.written(self.options.label_name)
        return {name: [record.get(name) for record in written.records] for name in names if name in written.names}

    @property
    def reading(self) -> Reading:
        """How features were made, for the next file."""
        zero_based = self.raw.zero_based if isinstance(self.raw, RawFeatures) else None
        return Reading(vocabulary=self._vocabulary_and_counts[0], zero_based=zero_based)

    @cached_property
    def classes(self) -> list[Any] | None:
        """The classes that were named, each as the data writes it: numbers where the labels are numbers."""
        if self.options.classes is None:
            is_answered = self.exported is not None and self.exported.is_answered
            return list(self.exported.classes) if self.exported is not None and is_answered else None
        as_in_data = by_text(self.raw.labels)
        are_numbers = bool(as_in_data) and not any(isinstance(label, str | bool) for label in as_in_data.values())
        return [_class(name.strip(), as_in_data, are_numbers=are_numbers) for name in self.options.classes.split(",")]

    @property
    def n_samples(self) -> int:
        return len(self.raw.labels)

    @property
    def sizes(self) -> dict[str, int]:
        return {"n_rows": self.n_samples}

    def labels_and_tokens(self) -> tuple[FloatArray, FloatArray]:
        """How many labels, and how many words, every document has."""
        labels = np.array([label is not None for label in self.raw.labels], dtype=np.float64)
        return labels, np.asarray(self.X.sum(axis=1)).ravel()

    def written(self) -> WrittenRows | None:
        """The rows with all their columns; None where there are only numbers."""
        if self.exported is not None:
            return self.exported.written(self.options.label_name)
        return written_rows(self.options.path, self.options.format, self.options.encoding)

    def objects(self, written: WrittenRows) -> list[int]:
        """Which of the rows are documents: all."""
        return list(range(len(written.records)))

    def check(self, classifier: Any, *, specification: bool, policies: Sequence[str], **options: Any) -> Any:
        """Whether unlabeled rows help."""
        if policies:
            raise InvalidInputError("Documents are labeled whole; --policy is for sequences.")
        return classifier.check(
            self.X_for(classifier), self.y, classes=self.classes, specification=specification, **options
        )

    def batches(self, path: Path | None) -> "DocumentBatches":
        """How batches of them are written to a file, read back and merged."""
        from labelworth.cli.batches.documents import DocumentBatches

        return DocumentBatches(self, path)


def log_columns(names: Sequence[str]) -> tuple[str, str, str]:
    """The columns that say how a row was drawn: its probability, by what, and in which batch.

    Where the data has some of these names for columns of its own, ours are longer; all three together are ours.

    >>> log_columns(("text", "label")), log_columns(("text", "rule"))[1]
    (('probability', 'rule', 'batch'), 'labelworth_rule')
    """
    known = set(_LOG) & set(names)
    if known and known != set(_LOG):
        return _LONG_LOG
    return _LOG


_LOG = ("probability", "rule", "batch")
_LONG_LOG = ("labelworth_probability", "labelworth_rule", "labelworth_batch")


def read_to_predict(options: "DataOptions", classifier: Any) -> Any:
    """The features of the rows, made as the fitted classifier knows them; labels are not looked at."""
    reading: Reading = classifier.reading_
    raw = Documents.read(
        replace(options, label_column=NONE, unlabeled=NONE),
        zero_based=reading.zero_based,
        n_features=classifier.n_features_in_,
    ).raw
    if isinstance(raw, RawTexts) and reading.vocabulary is not None:
        return reading.vocabulary.counts(raw.texts)
    if isinstance(raw, RawFeatures) and reading.vocabulary is None:
        return raw.features
    fitted, given = "a matrix of features, or to hashed words of shards", "texts"
    if reading.vocabulary is not None:
        fitted, given = "texts", "a matrix of features"
    raise InvalidInputError(f"The model was fitted to {fitted}, and {raw.source} holds {given}; give the same kind.")


def _class(name: str, as_in_data: dict[str, Any], *, are_numbers: bool) -> Any:
    if name in as_in_data or not are_numbers:
        return as_in_data.get(name, name)
    try:
        return int(name)
    except ValueError:
        raise InvalidInputError(
            f"The labels in the data are numbers. Got the class {name!r} in --classes; name numbers there too."
        ) from None
