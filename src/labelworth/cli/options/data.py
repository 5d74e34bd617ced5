"""Which file is read, and how."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, cast

import typer

from labelworth.cli.imported import is_imported
from labelworth.cli.options.table import COMMON, Between, Keywords, Options

if TYPE_CHECKING:
    from collections.abc import Callable

    from labelworth.cli.inputs.documents import Documents
    from labelworth.cli.inputs.sequences import TokenSequences
    from labelworth.data.shards.folder import Shards

NONE = "none"
"""Says of a column or a marker that there is none."""


@dataclass(frozen=True)
class DataOptions(Options):
    """The file and how to read it; a column that is not named is the usual one of the format."""

    panel: ClassVar[str] = "Reading the data"

    path: Annotated[
        Path,
        typer.Argument(
            metavar="DATA",
            help="JSONL, CSV, TSV or Parquet with a text and a label column, svmlight, or .npz; for sequences CoNLL "
            "columns, JSONL with tokens and tags, or a crfsuite file; or a folder of shards.",
        ),
    ]
    text_column: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="The column of texts, 'text' unless named, or of vectors (lists of numbers in Parquet); of tokens, "
            "'tokens' or in CoNLL columns a number, 0 unless named.",
            rich_help_panel=COMMON,
        ),
        Keywords("tokens_column", "word_column"),
    ] = None
    label_column: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="The column of labels, 'label' unless named; an empty label is an unlabeled row. In CoNLL columns a "
            "number, the last (-1) unless named; 'none' if there are no labels.",
            rich_help_panel=COMMON,
        ),
        Keywords("tags_column"),
    ] = None
    labels: Annotated[Path | None, typer.Option(help="For .npz: labels in a file of their own, one per line.")] = None
    unlabeled: Annotated[
        str | None,
        typer.Option(
            metavar="MARKER", help="The label of unlabeled rows, beside empty ones; 'none' if there is no such label."
        ),
    ] = None
    rename: Annotated[
        str | None,
        typer.Option(
            metavar="OLD=NEW", help="Read a label as another one, as in 'hamm=ham'; with commas between several."
        ),
    ] = None
    classes: Annotated[
        str | None,
        typer.Option(
            metavar="NAMES", help="All classes there are, with commas between; those of the labels unless given."
        ),
    ] = None
    format: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="jsonl, csv, tsv, parquet, svmlight or npz, or for sequences conll, tokens-jsonl or crfsuite, where "
            "the file's ending does not say.",
        ),
    ] = None
    encoding: Annotated[str, typer.Option(metavar="NAME", help="The encoding of text files.")] = "utf-8"
    min_documents: Annotated[
        int, typer.Option(help="Leave out words in fewer texts than this."), Between(1), Keywords("min_df")
    ] = 1
    max_words: Annotated[
        int | None,
        typer.Option(help="Keep only this many of the most frequent words."),
        Between(1),
        Keywords("max_features"),
    ] = None

    def read(
        self, model: str | None = None, opened: "Callable[[], Shards] | None" = None
    ) -> "Documents | TokenSequences":
        """What the file holds, as estimators take it.

        A `model` that was named says which kind of file it is; `opened` opens a folder of shards.
        """
        if self.is_sharded:
            from labelworth.cli.inputs.shards import ShardedData
            from labelworth.data.shards.folder import Shards

            # It answers what the other two are asked.
            sharded: Any = ShardedData(Shards.open(self.path) if opened is None else opened(), self)
            return cast("Documents | TokenSequences", sharded)
        if self.holds_sequences(model):
            from labelworth.cli.inputs.sequences import TokenSequences

            return TokenSequences.read(self)
        from labelworth.cli.inputs.documents import Documents

        return Documents.read(self)

    def holds_sequences(self, model: str | None = None) -> bool:
        """By the format or model that was named, the ending of the file, or its first line."""
        from labelworth.data.readers.choose import holds_sequences
        from labelworth.estimators.kinds import AUTO
        from labelworth.estimators.reading import takes_sequences

        if self.format is None and model not in (None, AUTO) and not is_imported(model):
            return takes_sequences(model)
        return holds_sequences(self.path, self.format)

    @property
    def is_sharded(self) -> bool:
        """Whether the data lie in a folder of shards, of which the columns were named when it was made."""
        return self.path.is_dir()

    @property
    def files(self) -> tuple[Path | None, ...]:
        """Everything that is read."""
        return self.path, self.labels

    @property
    def label_name(self) -> str:
        """The column of labels in rows, also where there are none yet."""
        return "label" if self.label_column in (None, NONE) else str(self.label_column)

    def digest(self) -> str:
        """The SHA-256 of the file."""
        from labelworth.data.digest import file_digest

        if self.is_sharded:
            from labelworth.data.shards.manifest import Manifest

            return Manifest.read(self.path).digest
        return file_digest(self.path)
