"""doccano: JSON lines of classes or spans, of everybody together or a file per member."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from labelworth.errors import InvalidInputError
from labelworth.formats.export import Export, Item, Judgement, Kind, Prediction, Span
from labelworth.formats.fields import Fields
from labelworth.formats.folders import file_name, files_in, whole_folder
from labelworth.formats.format import (
    USUAL,
    Format,
    Gathered,
    empty_judged,
    free_fields,
    number_or_text,
    require_meaning,
    write_json_lines,
)
from labelworth.formats.losses import EVERYBODY
from labelworth.formats.source import Source

_OWN = ("id", "text", "label", "labels", "entities", "relations")
_CURE = ", or export the approved examples alone too and name that with approved="


def _knows(source: Source) -> bool:
    """By what only doccano writes; lists of classes alone may be sets of candidates as well, and are asked about."""
    first = source.first
    if not isinstance(first.get("text"), str) or {"tokens", "answer", "annotator", "data"} & first.keys():
        return False
    if "Comments" in first or _are_entities(first.get("entities")) or _are_spans(first.get("label")):
        return True
    if not isinstance(first.get("label"), list):
        return False
    labels = [record.record.get("label") for record in source.records]
    if any(_are_spans(label) for label in labels):
        return True
    lists = [label for label in labels if isinstance(label, list)]
    return len(lists) == len(labels) and any(len(label) != 1 for label in lists)


def _knows_members(source: Source) -> bool:
    if not source.is_folder:
        return False
    files = files_in(source.path, ".jsonl")
    return bool(files) and not files_in(source.path, ".ann", ".arrow", ".tsv")


def _are_spans(label: Any) -> bool:
    return isinstance(label, list) and bool(label) and isinstance(label[0], list) and len(label[0]) == 3


def _are_entities(entities: Any) -> bool:
    return isinstance(entities, list) and all(isinstance(e, Mapping) and "start_offset" in e for e in entities)


def _read(source: Source) -> Export:
    return _read_files(source, {"": source})


def _read_members(source: Source) -> Export:
    return _read_files(source, _members(source.path, source))


def _members(folder: Path, source: Source) -> dict[str, Source]:
    """The files of a folder by member, read as the source is; what is everybody's is nobody's."""
    return {
        "" if path.stem == EVERYBODY else path.stem: Source(path, source.reading)
        for path in files_in(folder, ".jsonl")
    }


def _approved(source: Source, files: Mapping[str, Source]) -> dict[str, set[str]] | None:
    """By member the ids that were approved: of a folder each member's own, of one file everybody's."""
    path = source.reading.approved
    if path is None:
        return None
    approved = {member: set[str]() for member in files}
    exported = [(Source(path, source.reading), list(files))]
    if path.is_dir():
        own = _members(path, source)
        if not own:
            raise InvalidInputError(f"The folder {path} holds no approved examples: it has no .jsonl. Name another.")
        exported = [(file, [name for name in files if name == member]) for member, file in own.items()]
    for file, meant in exported:
        # The file of a member who approved nothing may be empty.
        is_empty = path.is_dir() and not file.path.stat().st_size
        ids = set[str]() if is_empty else {_own_id(record) for record in file.records}
        unknown = sorted(ids - {_own_id(record) for name in meant for record in files[name].records})
        if unknown:
            named = ", ".join(unknown[:3]) + (", ..." if len(unknown) > 3 else "")
            raise InvalidInputError(
                f"{file.path}: {len(unknown):,} approved {'id is' if len(unknown) == 1 else 'ids are'} not in "
                f"{source.path} ({named}). Export all examples and the approved ones of one project, at one time."
            )
        for name in meant:
            approved[name] |= ids
    return approved


def _read_files(source: Source, files: Mapping[str, Source]) -> Export:
    approved = _approved(source, files)
    # Lines of different files are different examples: their numbers are no ids.
    needs_ids = len(files) > 1 or approved is not None
    kind: Kind = "classes"
    if any(
        _are_spans(_label(r)) or _are_entities(r.record.get("entities")) for f in files.values() for r in f.records
    ):
        kind = "spans"
    gathered, empty = Gathered(str(source.path)), list[str]()
    n_relations = 0
    for member, file in files.items():
        for number, record in enumerate(file.records, start=1):
            text = record.text(source.reading.text_field or "text")
            name = _own_id(record) if needs_ids else record.name("id") or str(number)
            item = Item(name, text, meta=record.beside(*_OWN, source.reading.text_field or "text"))
            judgement = Judgement(_said(record, kind, text), annotator=member)
            n_relations += len(record.list("relations"))
            if approved is None:
                judgements = empty_judged(judgement, source.reading, empty, item.id)
                gathered.add(replace(item, judgements=judgements), record)
            elif item.id in approved[member]:
                gathered.add(replace(item, judgements=(judgement,)), record)
            else:
                begun = (Prediction(judgement.said, model="not approved"),) if judgement.said else ()
                gathered.add(replace(item, predictions=begun), record)
    require_meaning(source, list(dict.fromkeys(empty)), "doccano", _CURE)
    notes = [f"{n_relations:,} relations were left out."] if n_relations else []
    if approved is not None:
        begun_ids = [item.id for item in gathered.items() if item.predictions]
        n_approved = len(set[str]().union(*approved.values()))
        notes.append(f"{n_approved:,} examples are approved; others count as not labeled.")
        if begun_ids:
            notes.append(f"{len(begun_ids):,} examples have labels and are not approved: no labels, but predictions.")
    return Export(gathered.items(), kind, (), "label", str(source.path), tuple(notes))


def _own_id(record: Fields) -> str:
    name = record.name("id")
    if not name:
        fields = ", ".join(map(repr, list(record.record)[:9])) or "none"
        raise record.error(
            "of several files of doccano every example needs its 'id', by which they are compared. Got the fields "
            f"{fields}. Export again, and keep the ids"
        )
    return name


def _label(record: Fields) -> Any:
    return record.record.get("label", record.record.get("labels"))


def _said(record: Fields, kind: Kind, text: str) -> tuple[Any, ...]:
    entities = [
        entry.span(entry.record.get("label"), text, "start_offset", "end_offset")
        for entry in record.objects("entities")
    ]
    label = _label(record)
    entries = label if isinstance(label, list) else [] if label is None else [label]
    said: list[Any] = list(entities)
    for entry in entries:
        if kind == "classes":
            said.append(record.label(entry))
        elif isinstance(entry, list) and len(entry) == 3:
            said.append(record.stretch(entry[0], entry[1], entry[2], text))
        else:
            raise record.error(f"a span is written [start, end, label]. Got {entry!r:.40}")
    return tuple(dict.fromkeys(said))


def _put(export: Export, path: Path) -> None:
    write_json_lines((_record(item, item.judgements) for item in export.items), path)


def _record(item: Item, judgements: tuple[Judgement, ...]) -> dict[str, Any]:
    said = judgements[0].said if judgements else ()
    label = [[entry.start, entry.end, entry.label] if isinstance(entry, Span) else entry for entry in said]
    return {"id": number_or_text(item.id), "text": item.text, "label": label, **free_fields(item, _OWN)}


def _put_members(export: Export, path: Path) -> None:
    names = sorted({judgement.annotator for item in export.items for judgement in item.judgements}) or [""]
    for item in export.items:
        judges = [judgement.annotator for judgement in item.judgements]
        if len(set(judges)) < len(judges):
            raise InvalidInputError(
                f"The item {item.id!r:.60} was judged twice by one person; a file of doccano holds one judgement. "
                "Leave one of them out, or name who made them."
            )
    with whole_folder(path) as folder:
        for name in names:
            if name and file_name(name) != name:
                raise InvalidInputError(f"The annotator {name!r:.60} cannot be the name of a file. Rename them.")
            if name == EVERYBODY:
                raise InvalidInputError(
                    f"doccano writes what is everybody's to {EVERYBODY}.jsonl: rename the annotator."
                )
            own = (
                _record(item, tuple(judgement for judgement in item.judgements if judgement.annotator == name))
                for item in export.items
            )
            write_json_lines(own, folder / f"{name or EVERYBODY}.jsonl")


_STATES = "not in the file: --empty-means, or the approved examples in a second {} (--approved)"
_HOLDS = {*USUAL, "meta", "several classes", "ids"}
DOCCANO = Format(
    "doccano",
    "doccano JSONL",
    ("classes", "spans"),
    frozenset(_HOLDS),
    _STATES.format("file"),
    _knows,
    _read,
    _put,
    (".jsonl",),
    takes_approved=True,
)
DOCCANO_MEMBERS = Format(
    "doccano-members",
    "doccano JSONL, a file per member",
    ("classes", "spans"),
    frozenset({*_HOLDS, "several judgements", "annotators"} - {"order of judgements"}),
    _STATES.format("folder or file"),
    _knows_members,
    _read_members,
    _put_members,
    ("",),
    takes_approved=True,
)
