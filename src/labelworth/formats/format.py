"""What every format is: a name, what it holds, how it is known by its content, read and written."""

import json
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from labelworth.data.files import write_lines
from labelworth.errors import InvalidInputError
from labelworth.formats.export import Export, Item, Judgement, Kind
from labelworth.formats.fields import Fields
from labelworth.formats.losses import ASPECTS, Loss, lost
from labelworth.formats.source import Reading, Source
from labelworth.formats.tokens import with_tokens

USUAL = frozenset(
    {"spans", "edges", "overlapping", "between", "empty items", "any ids", "types", "order", "order of judgements"}
)
"""What formats of JSON hold that mark any stretch of a text."""

UNNAMED = "label"
"""What a question is called that has no name."""


@dataclass(frozen=True)
class Format:
    """A format of annotation tools."""

    name: str
    title: str
    kinds: tuple[Kind, ...]
    holds: frozenset[str]
    states: str  # How it tells what is not labeled from what is labeled as nothing.
    knows: Callable[[Source], bool]
    read: Callable[[Source], Export]
    put: Callable[[Export, Path], None]  # Writes what is left after losses.
    endings: tuple[str, ...] = ()  # Of files to be written.
    needs_tokens: tuple[Kind, ...] = ()  # Of what kinds texts are cut into words, where a tool did not.
    declares: bool = False  # Whether all classes are always listed.
    is_data: bool = False  # Whether commands read it as data without it.
    takes_approved: bool = False  # Whether a second export may say what was looked at.

    def __post_init__(self) -> None:
        assert self.holds <= ASPECTS.keys(), self.holds - ASPECTS.keys()

    def losses(self, export: Export) -> tuple[Loss, ...]:
        """What would be lost of an export."""
        return self.kept(export)[0]

    def kept(self, export: Export) -> tuple[tuple[Loss, ...], Export]:
        """What would be lost, and what is left."""
        is_cut = export.kind in self.needs_tokens
        losses, left = lost(with_tokens(export, None) if is_cut else export, self.holds)
        if left.kind not in self.kinds:
            raise InvalidInputError(
                f"{self.title} holds {' and '.join(self.kinds)}, and {export.source} holds {export.kind}. Choose "
                "another format."
            )
        return losses, replace(left, classes=left.known_classes) if self.declares else left

    def write(self, export: Export, path: Path) -> tuple[Loss, ...]:
        """Write what can be held, whole or not at all; gives what was lost."""
        losses, left = self.kept(export)
        self.put(left, path)
        return losses


def write_json_array(records: Iterable[Mapping[str, Any]], path: Path) -> None:
    """An array, an object per line."""
    lines = [json.dumps(record, ensure_ascii=False) for record in records]
    ends = [",\n"] * (len(lines) - 1) + ["\n"] if lines else []
    write_lines(path, ["[\n", *(line + end for line, end in zip(lines, ends, strict=True)), "]\n"])


def write_json_lines(records: Iterable[Mapping[str, Any]], path: Path) -> None:
    write_lines(path, (json.dumps(record, ensure_ascii=False) + "\n" for record in records))


def number_or_text(name: str) -> int | str:
    """A name that is written as a number, as tools number things."""
    return int(name) if name.isascii() and name.isdecimal() and len(name) < 16 and str(int(name)) == name else name


def free_fields(item: Item, own: Collection[str]) -> Mapping[str, Any]:
    """The other fields of an item, none of which may be called as a format calls its own."""
    taken = next((name for name in item.meta if name in own), None)
    if taken is not None:
        raise InvalidInputError(
            f"The item {item.id!r:.60} has a field {taken!r}, which is the name of another thing in this format. "
            "Rename it, or leave it out."
        )
    return item.meta


def require_free(export: Export, own: Collection[str]) -> None:
    """Refuse a question that is called as a format calls another thing."""
    if export.question in own:
        raise InvalidInputError(f"The question {export.question!r} has the name of another thing in this format.")


def text_field(fields: Fields, named: str | None, known: Iterable[str] = ()) -> str:
    """The field of the text: as named, "text", or the only one that is a text."""
    if named is not None:
        return named
    if "text" in fields.record:
        return "text"
    texts = [name for name, value in fields.record.items() if isinstance(value, str) and name not in known]
    if len(texts) == 1:
        return texts[0]
    among = f"It may be one of {', '.join(map(repr, texts[:9]))}" if texts else "No field holds a text"
    raise fields.error(f"nothing says which field is the text. {among}; name it with text_column=")


def chosen_question(found: Mapping[str, int], named: str | None, source: str) -> str:
    """The one question that an export is about: as named, or the only one."""
    if named is not None:
        if found and named not in found:
            raise InvalidInputError(f"{source} has no question {named!r}. It has: {', '.join(found)}.")
        return named
    if len(found) > 1:
        counts = ", ".join(f"{name} ({count:,})" for name, count in found.items())
        raise InvalidInputError(f"{source} holds several questions: {counts}. Name one with question=.")
    return next(iter(found), UNNAMED)


def chosen_column(found: Mapping[str, int], named: str | None, source: str) -> str:
    """The same of formats that lose the name of the question: their exports call it "label", and so may who asks."""
    is_unnamed = named is None or (named == UNNAMED and named not in found)
    if not is_unnamed and not found:
        raise InvalidInputError(f"{source} has no question {named!r}, and no other. Leave question= out.")
    return chosen_question(found, None if is_unnamed else named, source)


class Gathered:
    """Judgements that stand in several places of a file, put together by the items that they are about."""

    def __init__(self, source: str) -> None:
        self.source = source
        self._items: dict[str, Item] = {}

    def add(self, item: Item, fields: Fields) -> None:
        known = self._items.get(item.id)
        if known is None:
            self._items[item.id] = item
            return
        if known.text != item.text:
            raise fields.error(
                f"the id {item.id!r:.60} has another text than before. Give every text an id of its own"
            )
        self._items[item.id] = Item(
            item.id,
            item.text,
            (*known.judgements, *item.judgements),
            (*known.predictions, *item.predictions),
            known.tokens if known.tokens is not None else item.tokens,
            {**item.meta, **known.meta},
        )

    def items(self) -> tuple[Item, ...]:
        return tuple(self._items.values())


def empty_judged(judgement: Judgement, reading: Reading, empty: list[str], item_id: str) -> tuple[Judgement, ...]:
    """The judgement of an item; one that says nothing, of a format that cannot tell, as it was said to mean."""
    if not judgement.says_nothing:
        return (judgement,)
    if reading.empty_means is None:
        empty.append(item_id)
    return (judgement,) if reading.empty_means == "nothing" else ()


def require_meaning(source: Source, empty: list[str], title: str, cure: str = "") -> None:
    """Refuse items of which nobody can tell whether they were looked at."""
    if empty:
        named = ", ".join(empty[:3]) + (", ..." if len(empty) > 3 else "")
        raise InvalidInputError(
            f"{source.path}: {len(empty):,} {'item has' if len(empty) == 1 else 'items have'} no label ({named}), "
            f"and {title} does not say whether they were looked at. Say what that means with "
            f"empty_means='unlabeled' or empty_means='nothing'{cure}."
        )
