"""Answers beside samples: which row of a file of answers is about which sample."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from labelworth.cli.inputs.documents import Documents
from labelworth.cli.inputs.sequences import TokenSequences
from labelworth.cli.options.data import NONE
from labelworth.data.answers import Answers
from labelworth.data.readers.answer_cells import CANNOT_SAY
from labelworth.data.readers.answer_columns import OWN, Columns, find_columns, may_be_items
from labelworth.data.readers.answer_entries import AnswerOptions, name_of
from labelworth.data.readers.answers import answers_of, written_answers
from labelworth.data.readers.cells import missing_column
from labelworth.data.readers.written import WrittenRows
from labelworth.errors import InvalidInputError

if TYPE_CHECKING:
    from pathlib import Path

    from labelworth.cli.options.answers import AnswerFileOptions


@dataclass(frozen=True, eq=False)
class AnswersBeside:
    """A file of answers about samples."""

    samples: Documents | TokenSequences
    options: "AnswerFileOptions"

    @property
    def path(self) -> "Path":
        if self.options.answers is None:
            raise InvalidInputError("Name the file of answers with --answers.")
        return self.options.answers

    @cached_property
    def rows(self) -> WrittenRows:
        return written_answers(self.path, None, "utf-8")

    @cached_property
    def ids(self) -> list[Any] | None:
        """What the answers call the samples; None: they count them."""
        return self._column_of_ids[1]

    @property
    def reading(self) -> AnswerOptions:
        """How the file is read."""
        given, names = self.options, self.options.annotator_columns
        return AnswerOptions(
            classes=known_classes(self.samples),
            ids=self.ids,
            n_samples=self.samples.n_samples,
            offsets=self.samples.offsets,
            columns=given.columns(),
            annotator_columns=None if names is None else _listed(names),
            count_from=given.count_from,
            cannot_say=CANNOT_SAY if given.cannot_say is None else _listed(given.cannot_say),
            repeated=given.repeated,
            outside=given.outside,
            rename=given.renamed(),
        )

    def read(self) -> Answers:
        """All that was said; its notes say how rows were found."""
        answers = answers_of(self.rows, str(self.path), self.reading)
        column = self._column_of_ids[0]
        if column is None:
            return answers
        return answers.noted(f"Items are called as in the column {column!r} of {self.samples.options.path}.")

    @property
    def is_wide(self) -> bool:
        """Whether the file has a column per annotator."""
        return self._columns.is_wide

    @cached_property
    def _columns(self) -> Columns:
        chosen = None if self.options.annotator_columns is None else _listed(self.options.annotator_columns)
        classes = known_classes(self.samples)
        return find_columns(str(self.path), self.rows.names, self.options.columns(), chosen, classes)

    @cached_property
    def _column_of_ids(self) -> tuple[str | None, list[Any] | None]:
        if self.options.id_column == NONE:
            return None, None
        item = self._columns.item
        named = self.options.id_column
        if named is None and (item is None or item.removeprefix("labelworth_") in OWN):
            return None, None
        written = self.samples.written()
        names = () if written is None else written.names
        if named is not None and named not in names:
            raise missing_column(str(self.samples.options.path), named, names, "ids")
        if written is None:
            return None, None
        objects = self.samples.objects(written)
        columns = {
            name: [written.records[row].get(name) for row in objects]
            for name in names
            if name in (named, item) or (named is None and may_be_items(name))
        }
        if named is not None:
            return named, columns[named]
        items = {name_of(record.get(str(item))) for record in self.rows.records}
        return (str(item), columns[str(item)]) if item in columns else self._matching(items, columns)

    def _matching(self, items: set[str], columns: dict[str, list[Any]]) -> tuple[str | None, list[Any] | None]:
        """The one column of another name that holds all items, unless they may be numbers of rows as well.

        Items that are no numbers may be called as in the one that holds some: the others are not in the data.
        """
        found = {name: items & {name_of(cell) for cell in cells} for name, cells in columns.items()}
        are_numbers = all(item.isdecimal() and int(item) <= self.samples.n_samples for item in items)
        holding = [name for name, own in found.items() if own == items]
        if not holding and not any(item.isdecimal() for item in items):
            holding = [name for name, own in found.items() if own]
        if not holding or not items:
            return None, None
        if are_numbers or len(holding) > 1:
            meant = " or ".join(["their numbers" * are_numbers, *(f"the column {name!r}" for name in holding)])
            raise InvalidInputError(
                f"{self.path} may call rows of {self.samples.options.path} by {meant.removeprefix(' or ')}. Say "
                f"which: ids={holding[0]}{', or ids=none for numbers' if are_numbers else ''}."
            )
        return holding[0], columns[holding[0]]


def known_classes(samples: Documents | TokenSequences) -> Sequence[Any] | None:
    """All classes, as named or as the labels tell; None: there are no labels yet."""
    return samples.classes or samples.raw.evidence().classes or None


def _listed(names: str) -> list[str]:
    return [name.strip() for name in names.split(",") if name.strip()]
