"""From a file of sequences named on the command line to what a tagger takes."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from labelworth.cli.options import SEQUENCE_MODELS, ModelKind
from labelworth.cli.reading import NO_MARKER

if TYPE_CHECKING:
    from labelworth.data.readers.raw_sequences import RawAttributes, RawTokens
    from labelworth.estimators.tagger import SequenceTagger

_ONLY_SEQUENCES = {".conll", ".iob", ".iob2", ".bio", ".txt", ".crfsuite", ".crf"}
_JSON_LINES = {".jsonl", ".ndjson", ".json"}
_FORMATS = {"conll", "crfsuite", "tokens-jsonl"}


def holds_sequences(path: Path, format: str | None, model: ModelKind | None) -> bool:
    """Whether a file is one of sequences: by the model or format that was named, its ending, or its first line."""
    if format is not None:
        return format in _FORMATS
    if model is not None:
        return model in SEQUENCE_MODELS
    name = path.with_suffix("") if path.suffix.lower() == ".gz" else path
    suffix = name.suffix.lower()
    return suffix in _ONLY_SEQUENCES or (suffix in _JSON_LINES and _begins_with_tokens(path))


def _begins_with_tokens(path: Path) -> bool:
    """Whether the first object of JSON lines has a list of tokens; what is wrong with a file its reader says."""
    import json

    from labelworth.data.readers.streams import read_lines
    from labelworth.errors import LabelworthError

    try:
        first = next((line for line in read_lines(path, "utf-8") if line.strip()), "")
        record = json.loads(first)
    except (LabelworthError, ValueError, RecursionError):
        return False
    return isinstance(record, dict) and isinstance(record.get("tokens"), list)


@dataclass(frozen=True)
class SequenceSource:
    """The file and how to read it.

    `label_column` and `word_column` are numbers or names as the format has them; None for its usual ones, and
    "none" for a file without labels.
    """

    path: Path
    word_column: str | None = None
    label_column: str | None = None
    unlabeled: str | None = None
    format: str | None = None
    encoding: str = "utf-8"

    @classmethod
    def of(cls, path: Path, text_column: str, label_column: str | None, **others: Any) -> "SequenceSource":
        """With the columns of the options, whose defaults are those of rows."""
        return cls(
            path,
            None if text_column == "text" else text_column,
            None if label_column == "label" else label_column,
            **others,
        )

    def read(self) -> "RawTokens | RawAttributes":
        """Read it."""
        from labelworth.data.readers import read_sequences
        from labelworth.errors import InvalidInputError

        if self.unlabeled == NO_MARKER:
            raise InvalidInputError(
                "A file of sequences always has a marker for labels not seen; leave unlabeled= out."
            )
        return read_sequences(
            self.path,
            format=self.format,
            label_column=self._number(self.label_column, -1, "label_column"),
            word_column=self._number(self.word_column, 0, "text_column") or 0,
            tokens_column=self.word_column or "tokens",
            tags_column=None if self.label_column == NO_MARKER else self.label_column,
            unlabeled=self.unlabeled,
            encoding=self.encoding,
        )

    def read_quietly(self) -> "RawTokens | RawAttributes":
        """Read it; that its tags contradict themselves is among the notes, and need not be warned of beside."""
        import warnings

        from labelworth.errors import LabelworthWarning

        with warnings.catch_warnings():
            warnings.simplefilter("ignore", LabelworthWarning)
            return self.read()

    def read_to_predict(self, n_columns: int | None) -> "RawTokens | RawAttributes":
        """Read it; a file with one column less than the one that was fitted on has no labels."""
        raw = self.read_quietly()
        columns = getattr(raw, "columns", None)
        if self.label_column is None and columns is not None and n_columns is not None and len(columns) < n_columns:
            return replace(self, label_column=NO_MARKER).read_quietly()
        return raw

    def digest(self) -> str:
        """The SHA-256 of the file."""
        from labelworth.data.files import file_digest

        return file_digest(self.path)

    def _number(self, column: str | None, usual: int, keyword: str) -> int | None:
        """The number of a column; names are for JSON lines, which count none."""
        from labelworth.errors import InvalidInputError

        if column is None:
            return usual
        if column == NO_MARKER:
            return None
        try:
            return int(column)
        except ValueError:
            name = self.path.with_suffix("") if self.path.suffix.lower() == ".gz" else self.path
            if self.format == "tokens-jsonl" or name.suffix.lower() in _JSON_LINES:
                return usual
            raise InvalidInputError(
                f"Columns are counted from 0, or from -1 at the end. Got {keyword}={column!r}; name a number."
            ) from None


@dataclass(frozen=True)
class TaggerKind:
    """The tagger that was asked for."""

    model: ModelKind
    alpha: float = 1.0
    label_smoothing: float = 1.0
    c2: float = 1.0
    template: str | None = None
    min_count: int = 1
    rare_words: str = "entry"
    unlabeled_weight: float = 1.0

    def tagger(self, seed: int, classes: list[str] | None = None) -> "SequenceTagger":
        """Build it; what was not seen is None after reading."""
        import labelworth as lw

        shared: dict[str, Any] = {"min_count": self.min_count, "classes": classes, "unlabeled": None}
        if self.model is ModelKind.CONDITIONAL_RANDOM_FIELD:
            return lw.ConditionalRandomField(c2=self.c2, template=template_text(self.template), **shared)
        self._require_no_template()
        shared |= {
            "rare_words": self.rare_words,
            "unlabeled_weight": self.unlabeled_weight,
            "random_state": seed,
        }
        if self.model is ModelKind.BOLTZMANN_CHAIN:
            return lw.BoltzmannChain(c2=self.c2, **shared)
        return lw.HiddenMarkov(alpha=self.alpha, label_smoothing=self.label_smoothing, **shared)

    def _require_no_template(self) -> None:
        from labelworth.errors import InvalidInputError

        if self.template is not None:
            raise InvalidInputError(
                f"A {self.model.value} model takes one word per token; a template goes with "
                "--model conditional-random-field."
            )


def usual_model(raw: "RawTokens | RawAttributes") -> ModelKind:
    """What suits the data where nothing was asked for."""
    return ModelKind.HIDDEN_MARKOV if hasattr(raw, "columns") else ModelKind.CONDITIONAL_RANDOM_FIELD


def template_text(template: str | None) -> str | None:
    """The name of a template, or what is in the file of that name."""
    from labelworth.errors import DataUnavailableError
    from labelworth.estimators.conditional_random_field import TEMPLATES

    if template is None or template in TEMPLATES:
        return template
    try:
        return Path(template).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise DataUnavailableError(
            f"Cannot read the template {template!r}: {getattr(error, 'strerror', None) or error}. Name a file in the "
            f"language of CRF++, or one of: {', '.join(TEMPLATES)}."
        ) from error
