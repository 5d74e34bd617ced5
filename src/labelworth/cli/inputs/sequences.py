"""Sequences of tokens, as taggers take them."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from labelworth.arrays import FloatArray, IntArray
from labelworth.cli.inputs.exported import exported_raw
from labelworth.cli.options.data import NONE
from labelworth.cli.options.table import in_options
from labelworth.data.readers import read_sequences
from labelworth.data.readers.choose import JSON_ENDINGS, ending
from labelworth.data.readers.raw_sequences import RawAttributes, RawTokens
from labelworth.data.readers.tokens_jsonl import TAG_COLUMNS
from labelworth.data.readers.written import WrittenRows, written_rows
from labelworth.errors import InvalidInputError, LabelworthWarning
from labelworth.estimators.storage import Reading

if TYPE_CHECKING:
    from labelworth.cli.batches.sequences import SequenceBatches
    from labelworth.cli.options.data import DataOptions
    from labelworth.formats.as_data import ExportedData

_USUAL_TOKENS, _USUAL_TAGS = "tokens", "tags"


@dataclass(frozen=True, eq=False)
class TokenSequences:
    """Sequences of a file, each token with a label or none."""

    raw: RawTokens | RawAttributes
    options: "DataOptions"  # How the file was read.
    exported: "ExportedData | None" = None  # Where an annotation tool exported it.

    sample: ClassVar[str] = "sequence"
    y: ClassVar[None] = None

    @classmethod
    def read(cls, options: "DataOptions") -> "TokenSequences":
        """Read them; that tags contradict themselves is among the notes, and need not be warned of beside."""
        if options.unlabeled == NONE:
            raise InvalidInputError(
                "A file of sequences always has a marker for labels not seen; leave unlabeled= out."
            )
        if options.exported is not None:
            return cls(exported_raw(options, RawTokens), options, options.exported)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", LabelworthWarning)
            raw = read_sequences(
                options.path,
                format=options.format,
                label_column=_number(options, options.label_column, -1, "label_column"),
                word_column=_number(options, options.text_column, 0, "text_column") or 0,
                tokens_column=options.text_column or _USUAL_TOKENS,
                tags_column=None if options.label_column == NONE else options.label_column,
                unlabeled=options.unlabeled,
                rename=options.rename,
                encoding=options.encoding,
            )
        return cls(raw, options)

    @classmethod
    def read_to_predict(cls, options: "DataOptions", n_columns: int | None) -> "TokenSequences":
        """Read them; a file with one column less than the one that was fitted on has no labels."""
        data = cls.read(options)
        if (
            options.label_column is None
            and isinstance(data.raw, RawTokens)
            and len(data.raw.columns) < (n_columns or 0)
        ):
            return cls.read(replace(options, label_column=NONE))
        return data

    @property
    def X(self) -> RawTokens | RawAttributes:
        return self.raw

    def X_for(self, estimator: Any) -> RawTokens | RawAttributes:
        """What an estimator takes: all take what was read."""
        return self.raw

    @property
    def usual_model(self) -> str:
        return "hidden-markov" if isinstance(self.raw, RawTokens) else "conditional-random-field"

    @property
    def notes(self) -> tuple[str, ...]:
        """What the reader has to say, in options of the command line."""
        return tuple(in_options(note, {"rename": "--rename"}) for note in self.raw.notes)

    @property
    def reading(self) -> Reading:
        """How features were made, for the next file."""
        return Reading(n_columns=len(self.raw.columns) if isinstance(self.raw, RawTokens) else None)

    @property
    def classes(self) -> list[str] | None:
        """The labels that were named."""
        names = self.options.classes
        if names is None and self.exported is not None and self.exported.is_answered:
            return list(self.exported.classes)
        return None if names is None else [name.strip() for name in names.split(",")]

    @property
    def offsets(self) -> IntArray:
        """Where sequences begin among all tokens, and where the last one ends."""
        return self.raw.offsets

    @property
    def n_samples(self) -> int:
        return len(self.raw.offsets) - 1

    @property
    def sizes(self) -> dict[str, int]:
        return {"n_sequences": self.n_samples, "n_tokens": len(self.raw.labels)}

    def labels_and_tokens(self) -> tuple[FloatArray, FloatArray]:
        """How many labels, and how many tokens, every sequence has."""
        known = np.array([label is not None for label in self.raw.labels], dtype=np.float64)
        return np.add.reduceat(known, self.raw.offsets[:-1]), np.diff(self.raw.offsets).astype(np.float64)

    @property
    def tokens_name(self) -> str:
        """Where objects have their tokens."""
        return self.options.text_column or _USUAL_TOKENS

    def tags_name(self, written: WrittenRows | None) -> str:
        """Where objects have their tags: as named, as the objects have them, or "tags"."""
        if self.options.label_column not in (None, NONE) and written is not None:
            return str(self.options.label_column)
        names = () if written is None else written.names
        return next((name for name in TAG_COLUMNS if name in names), _USUAL_TAGS)

    def written(self) -> WrittenRows | None:
        """The objects of JSON lines, all their columns with them; None for columns of tokens and attributes."""
        if self.exported is not None:
            return None
        if self.options.format not in (None, "tokens-jsonl") or ending(self.options.path) not in JSON_ENDINGS:
            return None
        return written_rows(self.options.path, "tokens-jsonl", self.options.encoding)

    def objects(self, written: WrittenRows) -> list[int]:
        """Which of the objects are sequences: the reader leaves out those without tokens."""
        return [row for row, record in enumerate(written.records) if record.get(self.tokens_name)]

    def check(self, tagger: Any, *, specification: bool, policies: Sequence[str], **options: Any) -> Any:
        """What the labels leave open."""
        return tagger.check(self.X, policies=policies, **options)

    def batches(self, path: Path | None) -> "SequenceBatches":
        """How batches of them are written to a file, read back and merged."""
        from labelworth.cli.batches.sequences import SequenceBatches

        return SequenceBatches(self, path)


def _number(options: "DataOptions", column: str | None, usual: int, keyword: str) -> int | None:
    """The number of a column; objects have names instead, and count none."""
    if column is None:
        return usual
    if column == NONE:
        return None
    try:
        return int(column)
    except ValueError:
        if options.format == "tokens-jsonl" or ending(options.path) in JSON_ENDINGS:
            return usual
        raise InvalidInputError(
            f"Columns are counted from 0, or from -1 at the end. Got {keyword}={column!r}; name a number."
        ) from None
