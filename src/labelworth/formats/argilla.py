"""Argilla: flattened records, with who answered and whether the answer was submitted."""

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from labelworth.errors import InvalidInputError
from labelworth.formats.export import Export, Item, Judgement, Kind, Prediction, Span
from labelworth.formats.fields import Fields
from labelworth.formats.format import (
    USUAL,
    Format,
    chosen_question,
    free_fields,
    number_or_text,
    text_field,
    write_json_array,
)
from labelworth.formats.source import Source

_RESPONSES, _SUGGESTION = ".responses", ".suggestion"
_OWN = ("id", "status", "_server_id")
_PARTS = ("", ".users", ".status")
_NESTED = {"fields", "responses", "suggestions"}
_ASTRAL = "\uffff"


def _knows(source: Source) -> bool:
    first = source.first
    return first.keys() >= _NESTED or "_server_id" in first or any(name.endswith(_RESPONSES) for name in first)


def _read(source: Source) -> Export:
    records = source.records
    if records and records[0].record.keys() >= _NESTED:
        raise InvalidInputError(
            f"{source.path} holds nested records of Argilla, which do not say whether an answer was submitted: "
            "drafts and discarded answers would look like labels. Export them flattened: "
            "dataset.records.to_list(flatten=True)."
        )
    found: Counter[str] = Counter()
    for record in records:
        for name, value in record.record.items():
            for ending in (_RESPONSES, _SUGGESTION):
                if name.endswith(ending) and value is not None:
                    found[name.removesuffix(ending)] += 1
    question = chosen_question(found, source.reading.question, str(source.path))
    kind = _kind(records, question)
    drafts: list[str] = []
    items = tuple(_item(record, number, question, kind, source, drafts) for number, record in enumerate(records, 1))
    notes = [f"{len(drafts):,} answers are drafts, and were left out."] if drafts else []
    in_doubt = [
        item.id for item in items if kind == "spans" and max(item.text, default="") > _ASTRAL and item.judgements
    ]
    if in_doubt:
        notes.append(
            f"{len(in_doubt):,} texts with spans hold emoji or the like ({', '.join(in_doubt[:3])}): where such "
            "spans were set in the browser, Argilla counts these characters twice. Look at them."
        )
    return Export(items, kind, (), question, str(source.path), tuple(notes))


def _values(record: Fields, question: str) -> list[Any]:
    suggested = record.record.get(f"{question}{_SUGGESTION}")
    return [*record.list(f"{question}{_RESPONSES}"), suggested]


def _kind(records: list[Fields], question: str) -> Kind:
    for record in records:
        for value in _values(record, question):
            if isinstance(value, list) and value:
                return "spans" if isinstance(value[0], Mapping) else "classes"
    return "classes"


def _item(record: Fields, number: int, question: str, kind: Kind, source: Source, drafts: list[str]) -> Item:
    field = text_field(record, source.reading.text_field, _OWN)
    text, item_id = record.text(field), record.name("id") or str(number)
    values, users, statuses = (record.list(f"{question}{_RESPONSES}{part}") for part in _PARTS)
    if len(values) != len(statuses) or len(values) != len(users):
        raise record.error("there must be a user and a status for every response")
    judgements = []
    for value, user, status in zip(values, users, statuses, strict=True):
        who = record.named(user, "user")
        if status == "submitted":
            judgements.append(Judgement(_said(record, value, kind, text), "is", who))
        elif status == "discarded":
            judgements.append(Judgement((), "cannot say", who))
        else:
            drafts.append(item_id)
    suggested = record.record.get(f"{question}{_SUGGESTION}")
    predictions: tuple[Prediction, ...] = ()
    if suggested is not None:
        said = _said(record, suggested, kind, text)
        score = record.number(f"{question}{_SUGGESTION}.score")
        predictions = (Prediction(said, score, record.name(f"{question}{_SUGGESTION}.agent")),)
    asked = [
        name
        for name in record.record
        if any(
            name.endswith(f"{end}{part}")
            for end in (_RESPONSES, _SUGGESTION)
            for part in (*_PARTS, ".score", ".agent")
        )
    ]
    return Item(item_id, text, tuple(judgements), predictions, None, record.beside(*_OWN, field, *asked))


def _said(record: Fields, value: Any, kind: Kind, text: str) -> tuple[Any, ...]:
    entries = value if isinstance(value, list) else [] if value is None else [value]
    if kind == "spans":
        spans = (record.inside(entry, "responses") for entry in entries)
        return tuple(dict.fromkeys(span.span(span.record.get("label"), text) for span in spans))
    return tuple(dict.fromkeys(record.label(entry) for entry in entries))


def _put(export: Export, path: Path) -> None:
    asked = [judgement.said for item in export.items for judgement in item.judgements if judgement.how == "is"]
    suggested = [prediction.said for item in export.items for prediction in item.predictions]
    # A question about one class has a text for an answer, one about several a list.
    is_single = export.kind == "classes" and all(len(said) == 1 for said in (*asked, *suggested))
    write_json_array((_record(item, export.question, is_single) for item in export.items), path)


def _record(item: Item, question: str, is_single: bool) -> dict[str, Any]:
    record: dict[str, Any] = {
        "id": number_or_text(item.id),
        "status": "completed" if item.judgements else "pending",
        "_server_id": None,
        "text": item.text,
        **free_fields(item, (*_OWN, "text")),
    }
    if item.judgements:
        answered = f"{question}{_RESPONSES}"
        record[answered] = [None if j.how == "cannot say" else _value(j.said, is_single) for j in item.judgements]
        record[f"{answered}.users"] = [judgement.annotator for judgement in item.judgements]
        record[f"{answered}.status"] = ["submitted" if j.how == "is" else "discarded" for j in item.judgements]
    for prediction in item.predictions:
        suggested = f"{question}{_SUGGESTION}"
        record |= {suggested: _value(prediction.said, is_single), f"{suggested}.score": prediction.score}
        record[f"{suggested}.agent"] = prediction.model
    return record


def _value(said: tuple[Any, ...], is_single: bool) -> Any:
    if is_single:
        return said[0]
    return [
        {"start": entry.start, "end": entry.end, "label": entry.label} if isinstance(entry, Span) else entry
        for entry in said
    ]


ARGILLA = Format(
    "argilla",
    "Argilla's flattened records",
    ("classes", "spans"),
    frozenset({
        *USUAL, "predictions", "scores", "meta", "cannot say", "several judgements", "annotators", "several classes",
        "nothing", "ids", "question",
    }),
    "no response that is submitted: unlabeled; an empty list that is submitted: nothing",
    _knows,
    _read,
    _put,
    (".json",),
)  # fmt: skip
