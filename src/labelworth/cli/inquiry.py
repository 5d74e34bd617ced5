"""What plans and frontiers are made from, as the command line and plan files say it."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from labelworth.cli.console import tell
from labelworth.cli.options import SEED, DataOptions, ModelOptions, PlanOptions, PriceOptions, Question

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

    def arguments(self, say: Callable[[str], None]) -> tuple[dict[str, Any], list[str]]:
        """Read the data: what `labelworth.plan` and `labelworth.frontier` take, and what was said of it."""
        notes: list[str] = []

        def note(words: str) -> None:
            notes.append(words)
            say(words)

        samples = self.data.read(self.model.model)
        for words in samples.notes:
            note(words)
        arguments = {
            "X": samples.X,
            "y": samples.y,
            "classes": samples.classes,
            "model": self.model.estimator(samples, self.seed, may_choose=True),
            "prices": self.prices.prices(samples, note),
            "seed": self.seed,
            **self.plan.asked(),
        }
        return arguments, notes

    def asked(self) -> dict[str, Any]:
        """As records keep it."""
        groups = (self.data, self.model, self.prices, self.plan)
        return {name: value for group in groups for name, value in group.asked().items()}

    @classmethod
    def read_again(cls, path: Path) -> "tuple[Inquiry, Question]":
        """What a plan file was made from and its question, every value checked; says if the data has changed since.

        Raises
        ------
        InvalidInputError
            If it is not the record of a plan, or a value is not one that an option takes.
        """
        record = read_plan_file(path)
        source = f"The plan file {str(path)!r}"
        inquiry = cls(
            _unnamed_columns(DataOptions.from_record(record.asked, source)),
            ModelOptions.from_record(record.asked, source),
            PriceOptions.from_record(record.asked, source),
            PlanOptions.from_record(record.asked, source),
            SEED.restored(record.seed, source),
        )
        if inquiry.data.digest() != record.data_digest:
            tell(f"{inquiry.data.path} has changed since that plan: this one is for the data as it is now.")
        return inquiry, Question.from_record(record.asked, source)


def read_plan_file(path: Path) -> "Record":
    """The record of a plan; that of another command is refused."""
    from labelworth.errors import InvalidInputError
    from labelworth.report.record import Record

    record = Record.read(path)
    if record.command != "plan":
        raise InvalidInputError(f"{str(path)!r} is the record of {record.command!r}, not of a plan.")
    return record


def _unnamed_columns(data: DataOptions) -> DataOptions:
    """Plan files once named the usual columns of documents where none was named, also for sequences."""
    if (data.text_column, data.label_column) != ("text", "label"):
        return data
    return replace(data, text_column=None, label_column=None)
