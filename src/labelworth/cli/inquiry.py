"""What plans and frontiers are made from, as the command line and plan files say it."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from labelworth.cli.console import tell
from labelworth.cli.options import (
    SEED,
    AnswerFileOptions,
    DataOptions,
    ModelOptions,
    PlanOptions,
    PriceOptions,
    Question,
)
from labelworth.cli.options.table import Options

if TYPE_CHECKING:
    from labelworth.report.record import Record


@dataclass(frozen=True)
class Inquiry:
    """The data, the model, the prices, and what error means: all but the question of a plan."""

    data: DataOptions
    model: ModelOptions
    prices: PriceOptions
    plan: PlanOptions
    seed: int
    held: AnswerFileOptions = field(default_factory=AnswerFileOptions)  # Answers that there are already.

    def arguments(self, say: Callable[[str], None]) -> tuple[dict[str, Any], list[str]]:
        """Read the data: what `labelworth.plan` and `labelworth.frontier` take, and what was said of it."""
        notes: list[str] = []

        def note(words: str) -> None:
            notes.append(words)
            say(words)

        options = self.plan.arguments()  # refused now, not when the data have been read
        samples = self.data.read(self.model.model)
        for words in samples.notes:
            note(words)
        # Formulas add up over all shards; what simulates or compares takes a sample of them into memory.
        walks = self.data.is_sharded and self.plan.source == "asymptotic"
        for words in () if walks else getattr(samples, "sampling_notes", ()):
            note(words)
        answers = self.held.read(samples)
        for words in () if answers is None else answers.notes:
            note(words)
        estimator = self.model.estimator(samples, self.seed, may_choose=True)
        arguments = {
            "X": samples.X if walks else samples.X_for(estimator),
            "y": samples.y,
            "classes": samples.classes,
            "model": estimator,
            "prices": self.prices.prices(samples, note),
            "currency": self.prices.currency,
            "seed": self.seed,
            **options,
            **({} if answers is None else {"answers": answers}),
        }
        return arguments, notes

    def asked(self) -> dict[str, Any]:
        """As records keep it."""
        groups = (self.data, self.model, self.prices, self.plan, self.held)
        return {name: value for group in groups for name, value in group.asked().items()}

    @classmethod
    def read_again(cls, path: Path, typed_model: str | None = None) -> "tuple[Inquiry, Question]":
        """What a plan file was made from and its question, every value checked; says if the data has changed since.

        Parameters
        ----------
        typed_model : str, optional
            What the user typed as the model: what a file names is never imported unless it is typed again.

        Raises
        ------
        InvalidInputError
            If it is not the record of a plan, a value is not one that an option takes, or the model is one to import
            and was not typed.
        """
        record = read_plan_file(path)
        source = f"The plan file {str(path)!r}"
        model = ModelOptions.from_record(record.asked, source)
        _require_typed(model, typed_model, source)
        inquiry = cls(
            _beside(_unnamed_columns(DataOptions.from_record(record.asked, source)), path.parent),
            model,
            PriceOptions.from_record(record.asked, source),
            PlanOptions.from_record(record.asked, source),
            SEED.restored(record.seed, source),
            AnswerFileOptions.from_record(record.asked, source),
        )
        if inquiry.data.digest() != record.data_digest:
            tell(f"{inquiry.data.path} has changed since that plan: this one is for the data as it is now.")
        return inquiry, Question.from_record(record.asked, source)


def _require_typed(model: ModelOptions, typed: str | None, source: str) -> None:
    from labelworth.errors import InvalidInputError

    if model.is_imported and typed != model.model:
        raise InvalidInputError(
            f"{source} was made with a model of your own. What a file names is not run unless you type it: add "
            f"--model {model.model}"
        )


def read_plan_file(path: Path) -> "Record":
    """The record of a plan; that of another command is refused, and so is what no option could have asked."""
    from labelworth.errors import InvalidInputError
    from labelworth.report.record import Record

    record = Record.read(path)
    if record.command != "plan":
        raise InvalidInputError(f"{str(path)!r} is the record of {record.command!r}, not of a plan.")
    groups: tuple[type[Options], ...] = (DataOptions, ModelOptions, PriceOptions, PlanOptions, Question)
    for group in groups:
        group.from_record(record.asked, f"The plan file {str(path)!r}")
    return record


def _beside(data: DataOptions, folder: Path) -> DataOptions:
    """Files that are not where the plan file names them, but so beside it, are taken from there."""

    def resolved(path: Path) -> Path:
        return folder / path if not path.exists() and (folder / path).exists() else path

    labels = None if data.labels is None else resolved(data.labels)
    return replace(data, path=resolved(data.path), labels=labels)


def _unnamed_columns(data: DataOptions) -> DataOptions:
    """Plan files once named the usual columns of documents where none was named, also for sequences."""
    if (data.text_column, data.label_column) != ("text", "label"):
        return data
    return replace(data, text_column=None, label_column=None)
