"""Who said what: a file of answers beside the data, and how its items are those of the data."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

import typer

from labelworth.cli.options.table import Between, Keywords, Options

if TYPE_CHECKING:
    from labelworth.cli.inputs.documents import Documents
    from labelworth.cli.inputs.sequences import TokenSequences
    from labelworth.data.answers import Answers


@dataclass(frozen=True)
class AnswerFileOptions(Options):
    """A file of answers and how to read it."""

    panel: ClassVar[str] = "Answers"

    answers: Annotated[
        Path | None,
        typer.Option(
            help="Who said what of the rows or tokens of DATA: CSV, TSV, JSONL or Parquet with an item, an annotator "
            "and an answer per row (task, worker and label do too), or with a column per annotator."
        ),
    ] = None
    id_column: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="The column of DATA that says what answers call its rows; 'none' if they count them. Found by its "
            "name unless given.",
        ),
        Keywords("ids"),
    ] = None
    answer_columns: Annotated[
        str | None,
        typer.Option(
            metavar="WHAT=NAME",
            help="Columns that have other names than the usual ones, as 'item=post, annotator=who, answer=said'.",
        ),
        Keywords("columns"),
    ] = None
    annotator_columns: Annotated[
        str | None,
        typer.Option(metavar="NAMES", help="With a column per annotator: which they are, with commas between."),
    ] = None
    count_from: Annotated[
        int | None, typer.Option(help="Where answers begin to count rows and tokens: 0 or 1."), Between(0, 1)
    ] = None
    cannot_say: Annotated[
        str | None,
        typer.Option(
            metavar="WORDS", help="Answers that say nothing, with commas between; the usual ones unless given."
        ),
    ] = None
    rename_answers: Annotated[
        str | None,
        typer.Option(
            metavar="OLD=NEW", help="Read a class in answers as another one, as 'Spam=spam'; with commas between."
        ),
    ] = None
    repeated: Annotated[
        Literal["last", "refuse"],
        typer.Option(help="Where one annotator said different things of one row: the last stands, or none is read."),
    ] = "last"
    outside: Annotated[
        Literal["refuse", "drop"], typer.Option(help="What to do with answers about rows that DATA has not.")
    ] = "refuse"

    def asked(self) -> dict[str, Any]:
        """Nothing where there is no such file, as records were before there were any."""
        return {} if self.answers is None else super().asked()

    def require_file(self) -> None:
        """Refuse options of a file that is not named."""
        from labelworth.errors import InvalidInputError

        if self.answers is None and self != type(self)():
            raise InvalidInputError(
                f"{self.typed()[0]} goes with --answers FILE, which is not named. Name it, or leave it out."
            )

    def read(self, samples: "Documents | TokenSequences") -> "Answers | None":
        """The answers about these samples, or those that their export holds; None where there are none."""
        self.require_file()
        if self.answers is None:
            return None if samples.exported is None else samples.exported.answers()
        from labelworth.cli.inputs.answered import AnswersBeside

        return AnswersBeside(samples, self).read()

    def columns(self) -> dict[str, str]:
        """By what they hold."""
        return _pairs("--answer-columns", self.answer_columns)

    def renamed(self) -> dict[str, str]:
        """New names of classes, by those in the file."""
        return _pairs("--rename-answers", self.rename_answers)


def _pairs(flag: str, text: str | None) -> dict[str, str]:
    from labelworth.errors import InvalidInputError

    parts = [part.partition("=") for part in (text or "").split(",") if part.strip()]
    if not all(what.strip() and name.strip() for what, _, name in parts):
        raise InvalidInputError(f"{flag} takes pairs as a=b, with commas between several. Got {text!r}.")
    return {what.strip(): name.strip() for what, _, name in parts}


@dataclass(frozen=True)
class AnsweredFitOptions(Options):
    """What a fit to answers estimates of those who gave them, and what it says of the samples."""

    panel: ClassVar[str] = AnswerFileOptions.panel

    confusion: Annotated[
        Literal["shared", "separate", "accuracy"] | None,
        typer.Option(
            metavar="KIND",
            help="What is estimated of annotators: shared (unless given), whole tables that draw on all of them; "
            "separate, whole tables each alone; accuracy, how often each is right.",
        ),
    ] = None
    recovered: Annotated[
        Path | None,
        typer.Option(
            help="Where to write the label that features and answers together make most probable, for every row or "
            "token with an answer: .csv, .tsv or .jsonl."
        ),
    ] = None

    def asked(self) -> dict[str, Any]:
        """What was given, as records were before there were answers."""
        return {name: value for name, value in super().asked().items() if value is not None}

    def require_answers(self, held: AnswerFileOptions) -> None:
        """Refuse them where there are no answers."""
        from labelworth.errors import InvalidInputError

        if held.answers is None and self != type(self)():
            raise InvalidInputError(
                f"{self.typed()[0]} goes with --answers FILE, which is not named. Name it, or leave it out."
            )
