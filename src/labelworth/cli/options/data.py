"""Which file is read, and how."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, cast

import typer

from labelworth.cli.completion import format_names
from labelworth.cli.imported import is_imported
from labelworth.cli.options.table import COMMON, Between, Keywords, Options, options_of_group
from labelworth.errors import InvalidInputError

if TYPE_CHECKING:
    from collections.abc import Callable

    from labelworth.cli.inputs.documents import Documents
    from labelworth.cli.inputs.sequences import TokenSequences
    from labelworth.data.shards.folder import Shards
    from labelworth.formats.as_data import ExportedData

NONE = "none"
"""Says of a column or a marker that there is none."""
_TOOLS = "Exports of annotation tools"
OF_EXPORTS = ("question", "empty_means", "approved", "tokenizer")
"""Options that go with exports of annotation tools alone."""


@dataclass(frozen=True)
class DataOptions(Options):
    """The file and how to read it; a column that is not named is the usual one of the format."""

    panel: ClassVar[str] = "Reading the data"

    path: Annotated[
        Path,
        typer.Argument(
            metavar="DATA",
            help="A table with a text and a label column (CSV, TSV, JSONL, Parquet), CoNLL columns, vectors (.npz, "
            "svmlight), what an annotation tool exported, or, where no texts are needed, a folder of shards; - is "
            "standard input.",
        ),
    ]
    text_column: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Of texts or vectors, 'text' unless named; of tokens, 'tokens' or in CoNLL columns a number (0).",
            rich_help_panel=COMMON,
        ),
        Keywords("tokens_column", "word_column"),
    ] = None
    label_column: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Of labels, 'label' unless named, in CoNLL columns a number (-1); empty where a row has none. "
            "'none': there is no such column.",
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
            autocompletion=format_names,
            help="Where the file's ending or content does not say: jsonl, csv, tsv, parquet, svmlight or npz; of "
            "sequences conll, tokens-jsonl or crfsuite; of tools label-studio, label-studio-min, doccano, "
            "doccano-members, argilla, prodigy, hugging-face, webanno (INCEpTION), brat, spacy or excel.",
        ),
    ] = None
    encoding: Annotated[str, typer.Option(metavar="NAME", help="The encoding of text files.")] = "utf-8"
    question: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="Of an export that holds several questions: which one.", rich_help_panel=_TOOLS
        ),
    ] = None
    empty_means: Annotated[
        Literal["unlabeled", "nothing"] | None,
        typer.Option(
            help="Of an export that does not say whether items without a label were looked at: what they are.",
            rich_help_panel=_TOOLS,
        ),
    ] = None
    approved: Annotated[
        Path | None,
        typer.Option(help="Of doccano: the export of the approved examples alone.", rich_help_panel=_TOOLS),
    ] = None
    tokenizer: Annotated[
        Literal["words", "whitespace", "own"] | None,
        typer.Option(
            help="How texts with spans are cut into tokens; those of the tool (own) where it has any, else words.",
            rich_help_panel=_TOOLS,
        ),
    ] = None
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

            self.refuse_of_shards()
            # It answers what the other two are asked.
            sharded: Any = ShardedData(Shards.open(self.path) if opened is None else opened(), self)
            return cast("Documents | TokenSequences", sharded)
        if self.holds_sequences(model):
            from labelworth.cli.inputs.sequences import TokenSequences

            return TokenSequences.read(self)
        from labelworth.cli.inputs.documents import Documents

        return Documents.read(self)

    @cached_property
    def exported(self) -> "ExportedData | None":
        """What an annotation tool exported; None where the file is data as it is."""
        from labelworth.formats.found import exported_data
        from labelworth.formats.source import Reading

        reading = Reading(self.text_column, self.question, self.empty_means, self.approved, self.encoding)
        column = None if self.label_column == NONE else self.label_column
        return exported_data(self.path, self.format, reading, tokenizer=self.tokenizer, label_column=column)

    def asked(self) -> dict[str, Any]:
        """What was said of exports only where it was, as records were before there were any."""
        asked = super().asked()
        return {name: value for name, value in asked.items() if value is not None or name not in OF_EXPORTS}

    def holds_sequences(self, model: str | None = None) -> bool:
        """By the format or model that was named, the content or ending of the file, or its first line."""
        from labelworth.data.readers.choose import holds_sequences
        from labelworth.estimators.kinds import AUTO
        from labelworth.estimators.reading import takes_sequences

        if self.exported is not None:
            return self.exported.holds_sequences
        if self.format is None and model not in (None, AUTO) and not is_imported(model):
            return takes_sequences(model)
        return holds_sequences(self.path, self.format)

    @property
    def is_sharded(self) -> bool:
        """Whether the data lie in a folder of shards, of which the columns were named when it was made."""
        return self.path.is_dir() and self.exported is None

    def refuse_of_shards(self) -> None:
        """Refuse all that says how data are read, where they lie in a folder of shards: nobody would look at it.

        Raises
        ------
        InvalidInputError
            It names the options.
        """
        said = [
            option.flag
            for option in options_of_group(DataOptions)
            if option.flag is not None and getattr(self, option.name) != option.default
        ]
        if said and self.is_sharded:
            raise InvalidInputError(
                f"{self.path} is a folder of shards: which columns, labels and words there are was settled when it "
                f"was made. Leave out {', '.join(said)}, or make another with `labelworth shard`."
            )

    @property
    def files(self) -> tuple[Path | None, ...]:
        """Everything that is read."""
        return self.path, self.labels, self.approved

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
