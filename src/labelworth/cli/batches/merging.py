"""Labels that were filled in, on their way into the data: what is known of them, what is wrong, what was done."""

import difflib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING, Any

from labelworth.data.labels import by_text
from labelworth.errors import InvalidInputError
from labelworth.wording import count

if TYPE_CHECKING:
    from labelworth.cli.batches.documents import DocumentBatches
    from labelworth.cli.batches.sequences import SequenceBatches

_N_SHOWN = 5
_N_CHARACTERS = 60
Position = tuple[int, int]
"""A label in the data: of which sample, and of which of its tokens (0 for a document)."""


@dataclass(frozen=True)
class Filled:
    """One sample of a batch."""

    index: Any  # Which sample of the data it is, as the batch says it.
    position: str  # Where it stands in the batch.
    labels: tuple[Any, ...]  # What was filled in; None where nothing was.
    asked: frozenset[int]  # Which labels were asked for.
    columns: Mapping[str, Any]  # What the batch says beside labels.
    words: tuple[str, ...] | None = None  # Of a sequence.


@dataclass(frozen=True)
class Merged:
    """The data with its new labels."""

    text: str  # The whole file.
    n_samples: int  # Documents or sequences in the batch, and labels that it adds.
    n_labels: int
    n_same: int  # Labels that the data has already.
    empty: tuple[str, ...]  # Where labels were asked for and are still empty.

    def lines(self, sample: str) -> list[str]:
        """In words."""
        new = f"{count(self.n_labels, 'label')} of {count(self.n_samples, sample)} merged."
        lines = [new if self.n_labels else "No label is new: the data stay as they were."]
        if self.n_same:
            lines.append(f"In the data already: {count(self.n_same, 'label')}.")
        if self.empty:
            lines.append(
                f"Still empty: {count(len(self.empty), 'label')} ({listed(self.empty)}). Fill in and merge again, "
                "or leave them."
            )
        return lines


def merged(held: "DocumentBatches | SequenceBatches", batch: Sequence[Filled]) -> Merged:
    """Put the labels of a batch into the data.

    Raises
    ------
    InvalidInputError
        If samples do not fit, or labels are not known or differ from those in the data: all such labels at once.
    """
    labels = _Labels(held)
    seen: dict[int, str] = {}
    for filled in batch:
        index = _index(filled, held, seen)
        if filled.words is not None and filled.words != held.words(index):
            raise InvalidInputError(
                f"{filled.position}: these are not the words of {held.sample} {index} in the data. Nothing "
                "was merged. Have the data changed since the batch was drawn? Then draw it again, or correct it."
            )
        require_same_columns(held.columns(index), filled.columns, filled.position, f"{held.sample} {index}")
        for token, (label, in_data) in enumerate(zip(filled.labels, held.labels(index), strict=True)):
            where = held.where(index, token)
            if label is not None:
                labels.take((index, token), label, in_data, where)
            elif token in filled.asked and in_data is None:
                labels.empty.append(where)
    labels.require_no_clash()
    return Merged(held.text(labels.changes), len(batch), len(labels.changes), labels.n_same, tuple(labels.empty))


class _Labels:
    """What a batch says: new labels, those known already, those still empty, and what keeps it from being merged."""

    def __init__(self, held: "DocumentBatches | SequenceBatches") -> None:
        # Every label that occurs in the data or was named; anything goes while there are none.
        self._as_in_data = by_text([*held.samples.raw.labels, *(held.samples.classes or ())])
        self._unknown: dict[str, list[str]] = {}
        self._conflicts: list[str] = []
        self.empty: list[str] = []
        self.n_same = 0
        self.changes: dict[Position, Any] = {}

    def take(self, position: Position, label: Any, in_data: Any, where: str) -> None:
        """One label, for a position of the data that holds another, the same, or none."""
        own = self._as_the_data_writes(label, where)
        if in_data is None:
            self.changes[position] = own
        elif str(in_data) == str(own):
            self.n_same += 1
        else:
            self._conflicts.append(f"{where} is {in_data!r} in the data and {own!r} in the batch")

    def _as_the_data_writes(self, label: Any, where: str) -> Any:
        if isinstance(label, list):
            return [self._as_the_data_writes(member, where) for member in label]
        if self._as_in_data and str(label) not in self._as_in_data:
            self._unknown.setdefault(str(label), []).append(where)
        return self._as_in_data.get(str(label), label)

    def require_no_clash(self) -> None:
        problems = []
        if self._conflicts:
            problems.append(
                f"{len(self._conflicts)} label(s) differ from those in the data: {listed(self._conflicts, '; ')}. "
                "Decide which is right and change the other."
            )
        known = sorted(self._as_in_data)
        for label, positions in self._unknown.items():
            near = difflib.get_close_matches(label, known, n=1)
            meant = f" Is {near[0]!r} meant?" if near else ""
            problems.append(
                f"The label {label!r} ({listed(positions)}) is not in the data.{meant} If it is right, name all "
                f"classes with --classes {','.join([*known, label])}."
            )
        if problems:
            raise InvalidInputError(f"Nothing was merged. {' '.join(problems)}")


def _index(filled: Filled, held: "DocumentBatches | SequenceBatches", seen: dict[int, str]) -> int:
    """Which sample of the data a batch means; an error if there is none, or it was named before."""
    where, what = filled.position, held.sample
    try:
        index = int(str(filled.index))
    except ValueError:
        raise InvalidInputError(
            f"{where}: the {what} is {filled.index!r:.60}. It must be the number that `labelworth next` wrote there."
        ) from None
    if not 0 <= index < held.samples.n_samples:
        raise InvalidInputError(
            f"{where}: the data has no {what} {index}; it has {held.samples.n_samples:,}, counted from 0. Is this "
            "the batch of these data?"
        )
    if index in seen:
        raise InvalidInputError(f"{where}: {what} {index} was there before, at {seen[index]}. Keep one of them.")
    seen[index] = where
    return index


def listed(positions: Sequence[str], between: str = ", ") -> str:
    """The first few."""
    more = f"{between}and {len(positions) - _N_SHOWN} more" if len(positions) > _N_SHOWN else ""
    return between.join(positions[:_N_SHOWN]) + more


def require_same_columns(
    held: Mapping[str, Any], given: Mapping[str, Any], position: str, what: str, file: str = "batch"
) -> None:
    """Refuse a row that differs from the data beside its label: its number alone could be that of another.

    The message names the first column that differs, with both values.
    """
    for name, cell in given.items():
        if name in held and not _alike(held[name], cell):
            before, after = _around_difference(_plain(held[name]), _plain(cell))
            raise InvalidInputError(
                f"{position}: this is not {what} of the data: the column {name!r} is {before} in the data and "
                f"{after} in the {file}. Nothing was merged. Have the data changed since the {file} was drawn? Then "
                f"draw it again, or correct the {file}."
            )


def _alike(held: Any, given: Any) -> bool:
    """The same as text, or the same number: spreadsheets write 1.50 as 1.5 and true as TRUE."""
    before, after = _plain(held), _plain(given)
    if before == after or ({before.lower(), after.lower()} in ({"true"}, {"false"})):
        return True
    try:
        return Decimal(before) == Decimal(after)
    except InvalidOperation:
        return False


def _plain(cell: Any) -> str:
    """Spreadsheets change line ends and outer blanks, nothing is an empty cell, and lists may have become JSON."""
    if cell is None:
        return ""
    plain = cell if isinstance(cell, str) else json.dumps(cell, ensure_ascii=False)
    return plain.replace("\r\n", "\n").replace("\r", "\n").strip()


def _around_difference(before: str, after: str) -> tuple[str, str]:
    """Both, where they are long from shortly before the first character that differs."""
    pairs = enumerate(zip(before, after, strict=False))
    first = next((index for index, pair in pairs if pair[0] != pair[1]), min(len(before), len(after)))
    start = max(first - _N_CHARACTERS // 3, 0) if max(len(before), len(after)) > _N_CHARACTERS else 0

    def shown(text: str) -> str:
        end = "..." if len(text) > start + _N_CHARACTERS else ""
        return repr(("..." if start else "") + text[start : start + _N_CHARACTERS] + end)

    return shown(before), shown(after)
