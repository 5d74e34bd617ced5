"""spaCy's Doc.to_json, one object per document: entities with what is missing, or categories."""

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from labelworth.errors import InvalidInputError
from labelworth.formats.export import Export, Item, Judgement, Kind, Stretch
from labelworth.formats.fields import Fields
from labelworth.formats.format import Format, chosen_question, number_or_text, write_json_lines
from labelworth.formats.source import Source

_QUESTIONS: dict[str, Kind] = {"ents": "spans", "cats": "classes"}
_MISSING, _BESIDE = "missing", "meta"
_CHOSEN = 0.5


def _knows(source: Source) -> bool:
    tokens = source.first.get("tokens")
    if not isinstance(tokens, list) or not isinstance(source.first.get("text"), str):
        return False
    if {"answer", "_input_hash", "_task_hash"} & source.first.keys():
        return False
    return all(isinstance(token, Mapping) and {"id", "start", "end"} <= token.keys() for token in tokens)


def _read(source: Source) -> Export:
    records = source.records
    found = Counter(name for record in records for name in _QUESTIONS if name in record.record)
    named = source.reading.question if source.reading.question in _QUESTIONS else None
    question = chosen_question(found, named, str(source.path))
    kind = _QUESTIONS.get(question, "spans")
    items = tuple(_item(record, number, kind) for number, record in enumerate(records, start=1))
    notes = []
    if kind == "spans" and found["ents"] and not any(_MISSING in record.record for record in records):
        notes.append(
            "spaCy's to_json does not say which tokens have no entity label (missing): all tokens of a document with "
            "entities count as looked at."
        )
    n_groups = sum(bool(record.record.get("spans")) for record in records)
    if n_groups:
        notes.append(f"Groups of spans beside the entities were left out ({n_groups:,} documents).")
    return Export(items, kind, (), "label", str(source.path), tuple(notes))


def _item(record: Fields, number: int, kind: Kind) -> Item:
    text = record.text("text")
    tokens = tuple(_token(token, text) for token in record.objects("tokens"))
    # What spaCy writes of attributes that people added, or what we write beside its own fields.
    held = record.record.get(_BESIDE, record.record.get("_"))
    own = record.inside({} if held is None else held, _BESIDE)
    judgement = _entities(record, text, tokens) if kind == "spans" else _categories(record)
    judgements = () if judgement is None else (judgement,)
    return Item(own.name("id") or str(number), text, judgements, (), tokens, own.beside("id"))


def _token(token: Fields, text: str) -> Stretch:
    span = token.span("token", text)
    return span.start, span.end


def _entities(record: Fields, text: str, tokens: tuple[Stretch, ...]) -> Judgement | None:
    if record.record.get("ents") is None:
        return None
    spans = tuple(dict.fromkeys(span.span(span.record.get("label"), text) for span in record.objects("ents")))
    missing = record.list(_MISSING)
    if not missing:
        return Judgement(spans)
    if not all(isinstance(number, int) and 0 <= number < len(tokens) for number in missing):
        raise record.error(f"{_MISSING!r} must be numbers of tokens, from 0 on")
    if len(set(missing)) == len(tokens):
        return None
    return Judgement(spans, judged=_stretches(tokens, set(missing)))


def _stretches(tokens: tuple[Stretch, ...], missing: set[int]) -> tuple[Stretch, ...]:
    stretches: list[Stretch] = []
    for number, (start, end) in enumerate(tokens):
        if number in missing:
            continue
        if number - 1 not in missing and stretches:
            stretches[-1] = (stretches[-1][0], end)
        else:
            stretches.append((start, end))
    return tuple(stretches)


def _categories(record: Fields) -> Judgement | None:
    cats = record.record.get("cats")
    if not cats:
        return None
    scores = record.inside(cats, "cats")
    return Judgement(tuple(scores.label(name) for name in scores.record if (scores.number(name) or 0.0) >= _CHOSEN))


def _put(export: Export, path: Path) -> None:
    write_json_lines((_record(item, export) for item in export.items), path)


def _record(item: Item, export: Export) -> dict[str, Any]:
    record: dict[str, Any] = {"text": item.text}
    tokens = item.tokens or ()
    for judgement in item.judgements:
        if export.kind == "classes":
            names = export.known_classes
            if not names:
                raise InvalidInputError(
                    f"The item {item.id!r:.60} is labeled as nothing, and no class is known to spaCy."
                )
            record["cats"] = {name: float(name in judgement.said) for name in (*judgement.said, *names)}
            continue
        record["ents"] = [{"start": s.start, "end": s.end, "label": s.label} for s in judgement.said]
        if judgement.judged is not None:
            record[_MISSING] = [
                number
                for number, (start, end) in enumerate(tokens)
                if not any(left <= start and end <= right for left, right in judgement.judged)
            ]
    record["tokens"] = [{"id": number, "start": start, "end": end} for number, (start, end) in enumerate(tokens)]
    return {**record, _BESIDE: {**item.meta, "id": number_or_text(item.id)}}


SPACY = Format(
    "spacy",
    "spaCy JSON",
    ("classes", "spans"),
    frozenset({
        "meta", "types", "order", "any ids", "several classes", "partly judged", "spans alone", "spans", "tokens",
        "nothing", "empty items", "ids",
    }),
    "no ents, or all tokens missing: unlabeled; ents that are empty: nothing; missing tokens: not looked at",
    _knows,
    _read,
    _put,
    (".jsonl",),
    needs_tokens=("classes", "spans"),
)  # fmt: skip
