"""Labels that were filled in, on their way into the data: what is known of them, what is wrong, what was done."""

import difflib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

_N_SHOWN = 5


@dataclass(frozen=True)
class Merged:
    """The data with its new labels.

    Attributes
    ----------
    text : str
        The whole file.
    n_samples, n_labels : int
        Documents or sequences in the batch, and labels that it adds.
    n_same : int
        Labels that the data has already.
    empty : tuple of str
        Where labels were asked for and are still empty.
    """

    text: str
    n_samples: int
    n_labels: int
    n_same: int
    empty: tuple[str, ...]

    def lines(self, kind: str) -> list[str]:
        """In words."""
        from labelworth.planning.words import count

        found = [f"{count(self.n_labels, 'label')} of {count(self.n_samples, kind)} merged."]
        if self.n_same:
            found.append(f"In the data already: {count(self.n_same, 'label')}.")
        if self.empty:
            found.append(
                f"Still empty: {count(len(self.empty), 'label')} ({listed(self.empty)}). Fill in and merge again, or "
                "leave them."
            )
        return found


class Merging:
    """Collects what a batch says: new labels, those known already, and what keeps it from being merged.

    Parameters
    ----------
    labels : iterable
        Those of the data, in which anything goes while there are none.
    classes : sequence, optional
        More labels that are known.
    """

    def __init__(self, labels: Iterable[Any], classes: Sequence[Any] | None) -> None:
        met = [member for label in labels for member in (label if isinstance(label, list) else [label])]
        known = [label for label in (*met, *(classes or ())) if label is not None]
        self._as_in_data = {str(label): label for label in known}
        self._unknown: dict[str, list[str]] = {}
        self._conflicts: list[str] = []
        self._empty: list[str] = []
        self._n_same = 0
        self.changes: dict[int, Any] = {}

    def take(self, place: int, label: Any, held: Any, where: str) -> None:
        """One label, for a place of the data that holds another, the same, or none."""
        own = self._as_the_data_writes(label, where)
        if held is None:
            self.changes[place] = own
        elif str(held) == str(own):
            self._n_same += 1
        else:
            self._conflicts.append(f"{where} is {held!r} in the data and {own!r} in the batch")

    def leave(self, where: str) -> None:
        """A place that is still empty."""
        self._empty.append(where)

    def finish(self, text: Callable[[dict[int, Any]], str], n_samples: int) -> Merged:
        """The data with the new labels.

        Raises
        ------
        InvalidInputError
            If labels are not known, or differ from those in the data: all that was found, at once.
        """
        self._require_no_clash()
        return Merged(text(self.changes), n_samples, len(self.changes), self._n_same, tuple(self._empty))

    def _as_the_data_writes(self, label: Any, where: str) -> Any:
        if isinstance(label, list):
            return [self._as_the_data_writes(member, where) for member in label]
        if self._as_in_data and str(label) not in self._as_in_data:
            self._unknown.setdefault(str(label), []).append(where)
        return self._as_in_data.get(str(label), label)

    def _require_no_clash(self) -> None:
        from labelworth.errors import InvalidInputError

        problems = []
        if self._conflicts:
            problems.append(
                f"{len(self._conflicts)} label(s) differ from those in the data: {listed(self._conflicts, '; ')}. "
                "Decide which is right and change the other."
            )
        known = sorted(self._as_in_data)
        for label, places in self._unknown.items():
            near = difflib.get_close_matches(label, known, n=1)
            meant = f" Is {near[0]!r} meant?" if near else ""
            problems.append(
                f"The label {label!r} ({listed(places)}) is not in the data.{meant} If it is right, name all classes "
                f"with --classes {','.join([*known, label])}."
            )
        if problems:
            raise InvalidInputError(f"Nothing was merged. {' '.join(problems)}")


def place_of(cell: Any, n_places: int, where: str, what: str, seen: dict[int, str]) -> int:
    """The row or sequence that a batch names, once.

    Raises
    ------
    InvalidInputError
        If it is none of the data, or was named before.
    """
    from labelworth.errors import InvalidInputError

    try:
        number = int(str(cell))
    except ValueError:
        raise InvalidInputError(
            f"{where}: the {what} is {cell!r}. It must be the number that `labelworth next` wrote there."
        ) from None
    if not 0 <= number < n_places:
        raise InvalidInputError(
            f"{where}: the data has no {what} {number}; it has {n_places:,}, counted from 0. Is this the batch of "
            "these data?"
        )
    if number in seen:
        raise InvalidInputError(f"{where}: {what} {number} was there before, at {seen[number]}. Keep one of them.")
    seen[number] = where
    return number


def listed(places: Sequence[str], between: str = ", ") -> str:
    """The first few."""
    more = f"{between}and {len(places) - _N_SHOWN} more" if len(places) > _N_SHOWN else ""
    return between.join(places[:_N_SHOWN]) + more
