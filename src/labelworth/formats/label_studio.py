"""Label Studio: tasks with annotations and predictions (JSON), and a record per annotation (JSON_MIN)."""

from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import count
from pathlib import Path
from typing import Any

from labelworth.formats.export import Export, Item, Judgement, Kind, Prediction, Span
from labelworth.formats.fields import Fields
from labelworth.formats.format import (
    USUAL,
    Format,
    Gathered,
    chosen_question,
    free_fields,
    number_or_text,
    require_free,
    text_field,
    write_json_array,
)
from labelworth.formats.source import Source

_TYPES: dict[str, Kind] = {"choices": "classes", "labels": "spans", "hypertextlabels": "spans"}
_TASK = ("id", "data", "annotations", "completions", "predictions")
_MIN = ("id", "annotator", "annotation_id", "created_at", "updated_at", "lead_time", "agreement")
_UNITS = "Spans of {} were counted in UTF-16 units, as older versions of Label Studio do, and were read so."


def _knows(source: Source) -> bool:
    first = source.first
    return isinstance(first.get("data"), Mapping) and not {"text", "tokens"} & first.keys()


def _knows_min(source: Source) -> bool:
    return {"annotation_id", "annotator", "lead_time"} <= source.first.keys() and "data" not in source.first


def _read(source: Source) -> Export:
    tasks = source.records
    asked: dict[str, Kind] = {}
    found: Counter[str] = Counter()
    n_other = 0
    for task in tasks:
        for result in _results(task):
            kind = _TYPES.get(str(result.record.get("type")))
            n_other += kind is None
            if kind is not None:
                name = result.name("from_name") or "label"
                found[name] += 1
                asked.setdefault(name, kind)
    question = chosen_question(found, source.reading.question, str(source.path))
    reader = _Results(asked.get(question, "classes"), question)
    items = tuple(_item(task, number, reader, source) for number, task in enumerate(tasks, start=1))
    notes = [_UNITS.format(", ".join(reader.in_units[:3]))] if reader.in_units else []
    if n_other:
        notes.append(f"{n_other:,} results are neither classes nor spans of text, and were left out.")
    return Export(items, reader.kind, (), question, str(source.path), tuple(notes))


def _results(task: Fields) -> list[Fields]:
    made = [*_annotations(task), *_predictions(task)]
    return [result for entry in made for result in entry.objects("result")]


def _annotations(task: Fields) -> list[Fields]:
    return task.objects("annotations" if "annotations" in task.record else "completions")


def _predictions(task: Fields) -> list[Fields]:
    # Exports of some versions list predictions by their numbers alone.
    return [task.inside(entry, "predictions") for entry in task.list("predictions") if not isinstance(entry, int)]


class _Results:
    """How the results of one question are read."""

    def __init__(self, kind: Kind, question: str) -> None:
        self.kind, self.question = kind, question
        self.in_units: list[str] = []

    def said(self, entry: Fields, item_id: str, text: str) -> tuple[Any, ...]:
        said: list[Any] = []
        for result in entry.objects("result"):
            if (result.name("from_name") or "label") != self.question:
                continue
            value = result.inside(result.record.get("value"), "value")
            said += self.value(value, item_id, text)
        return tuple(dict.fromkeys(said))

    def value(self, value: Fields, item_id: str, text: str) -> list[Any]:
        if self.kind == "classes":
            return [value.label(name) for name in value.list("choices")]
        names = value.list("labels") or value.list("hypertextlabels")
        return [self._span(value, name, item_id, text) for name in names]

    def _span(self, value: Fields, label: Any, item_id: str, text: str) -> Span:
        """The span in characters; older versions count what the browser counts, and say the text beside it."""
        covered = value.record.get("text")
        start, end = value.record.get("start"), value.record.get("end")
        if (
            isinstance(covered, str)
            and isinstance(start, int)
            and isinstance(end, int)
            and text[start:end] != covered
        ):
            units = text.encode("utf-16-le")
            if 0 <= start < end and units[2 * start : 2 * end] == covered.encode("utf-16-le", "surrogatepass"):
                before = len(units[: 2 * start].decode("utf-16-le", "replace"))
                self.in_units.append(item_id)
                return value.stretch(before, before + len(covered), label, text)
        return value.span(label, text)


def _item(task: Fields, number: int, reader: _Results, source: Source) -> Item:
    data = task.inside(task.record.get("data"), "data")
    field = text_field(data, source.reading.text_field)
    text, item_id = data.text(field), task.name("id") or str(number)
    judgements = tuple(_judgement(entry, reader.said(entry, item_id, text)) for entry in _annotations(task))
    predictions = tuple(
        Prediction(reader.said(entry, item_id, text), entry.number("score"), entry.name("model_version"))
        for entry in _predictions(task)
    )
    return Item(item_id, text, judgements, predictions, None, data.beside(field))


def _judgement(entry: Fields, said: tuple[Any, ...]) -> Judgement:
    is_skipped = entry.record.get("was_cancelled") is True or entry.record.get("skipped") is True
    return Judgement(
        () if is_skipped else said,
        "cannot say" if is_skipped else "is",
        _annotator(entry, "completed_by"),
        entry.seconds("lead_time"),
        entry.when("created_at"),
        entry.record.get("ground_truth") is True,
    )


def _annotator(entry: Fields, name: str) -> str:
    who = entry.record.get(name)
    if isinstance(who, Mapping):
        inner = entry.inside(who, name)
        return inner.name("email") or inner.name("id")
    return entry.name(name)


def _numbers(export: Export) -> Iterator[int]:
    """Numbers that no task has: Label Studio wants the ids of all things to differ."""
    ids = (number_or_text(item.id) for item in export.items)
    return count(1 + max((number for number in ids if isinstance(number, int)), default=0))


def _put(export: Export, path: Path) -> None:
    counter = _numbers(export)
    write_json_array((_task(item, export, counter) for item in export.items), path)


def _task(item: Item, export: Export, counter: Iterator[int]) -> dict[str, Any]:
    def results(said: tuple[Any, ...]) -> list[dict[str, Any]]:
        return [
            {"id": f"r{next(counter)}", "from_name": export.question, "to_name": "text", **_value(entry, item.text)}
            for entry in _values(said)
        ]

    return {
        "id": number_or_text(item.id),
        "data": {**free_fields(item, ("text",)), "text": item.text},
        "annotations": [
            {
                "id": next(counter),
                "completed_by": number_or_text(judgement.annotator) if judgement.annotator else None,
                "was_cancelled": judgement.how == "cannot say",
                "ground_truth": judgement.is_gold,
                "lead_time": judgement.seconds,
                "created_at": None if judgement.when is None else judgement.when.isoformat(),
                "result": results(judgement.said),
            }
            for judgement in item.judgements
        ],
        "predictions": [
            {
                "id": next(counter),
                "model_version": prediction.model,
                "score": prediction.score,
                "result": results(prediction.said),
            }
            for prediction in item.predictions
        ],
    }


def _values(said: tuple[Any, ...]) -> list[Any]:
    """Classes are one result, spans one each."""
    if said and not isinstance(said[0], Span):
        return [said]
    return list(said)


def _value(entry: Any, text: str) -> dict[str, Any]:
    if isinstance(entry, Span):
        return {"type": "labels", "value": _span_value(entry, text)}
    return {"type": "choices", "value": {"choices": list(entry)}}


def _span_value(span: Span, text: str) -> dict[str, Any]:
    return {"start": span.start, "end": span.end, "text": text[span.start : span.end], "labels": [span.label]}


def _read_min(source: Source) -> Export:
    records = source.records
    known = (*_MIN, source.reading.text_field or "text")
    asked = Counter(
        name for entry in records for name, value in entry.record.items() if name not in known and _is_answer(value)
    )
    if not asked and source.reading.question is None:
        # One class each is written as a text, as fields of the data are.
        asked = Counter(
            name
            for entry in records
            for name, value in entry.record.items()
            if name not in known and isinstance(value, str) and entry.record.get("annotation_id") is not None
        )
    question = chosen_question(asked, source.reading.question, str(source.path))
    values = [entry.record.get(question) for entry in records]
    is_spans = any(isinstance(value, list) and value and isinstance(value[0], Mapping) for value in values)
    reader = _Results("spans" if is_spans else "classes", question)
    gathered = Gathered(str(source.path))
    for number, entry in enumerate(records, start=1):
        field = text_field(entry, source.reading.text_field, known)
        text, item_id = entry.text(field), entry.name("id") or str(number)
        judgements: tuple[Judgement, ...] = ()
        if entry.record.get("annotation_id") is not None:
            said = _said_min(entry, question, reader, item_id, text)
            who, seconds = _annotator(entry, "annotator"), entry.seconds("lead_time")
            judgements = (Judgement(said, "is", who, seconds, entry.when("created_at")),)
        gathered.add(Item(item_id, text, judgements, meta=entry.beside(*_MIN, field, question)), entry)
    notes = (_UNITS.format(", ".join(reader.in_units[:3])),) if reader.in_units else ()
    return Export(gathered.items(), reader.kind, (), question, str(source.path), notes)


def _is_answer(value: Any) -> bool:
    parts = value if isinstance(value, list) else [value]
    return any(isinstance(part, Mapping) and {"choices", "labels", "hypertextlabels"} & part.keys() for part in parts)


def _said_min(entry: Fields, question: str, reader: _Results, item_id: str, text: str) -> tuple[Any, ...]:
    value = entry.record.get(question)
    said: list[Any] = []
    for part in value if isinstance(value, list) else [] if value is None else [value]:
        if isinstance(part, Mapping):
            said += reader.value(entry.inside(part, question), item_id, text)
        else:
            said.append(entry.label(part))
    return tuple(dict.fromkeys(said))


def _put_min(export: Export, path: Path) -> None:
    counter, own, records = _numbers(export), ("text", export.question, *_MIN), []
    require_free(export, ("text", *_MIN))
    for item in export.items:
        held = {**free_fields(item, own), "text": item.text, "id": number_or_text(item.id)}
        for judgement in item.judgements or (None,):
            record = {**held}
            if judgement is not None and judgement.said:
                record[export.question] = _said_to_min(judgement.said, item.text)
            who = None if judgement is None or not judgement.annotator else number_or_text(judgement.annotator)
            when = None if judgement is None or judgement.when is None else judgement.when.isoformat()
            record |= {
                "annotator": who,
                "annotation_id": None if judgement is None else next(counter),
                "created_at": when,
                "updated_at": when,
                "lead_time": None if judgement is None else judgement.seconds,
            }
            records.append(record)
    write_json_array(records, path)


def _said_to_min(said: tuple[Any, ...], text: str) -> Any:
    if isinstance(said[0], Span):
        return [_span_value(span, text) for span in said]
    return said[0] if len(said) == 1 else {"choices": list(said)}


_BOTH = {
    *USUAL, "meta", "several judgements", "several by one", "annotators", "seconds", "when", "several classes",
    "nothing", "ids", "question",
}  # fmt: skip
LABEL_STUDIO = Format(
    "label-studio",
    "Label Studio JSON",
    ("classes", "spans"),
    frozenset({*_BOTH, "predictions", "several predictions", "scores", "cannot say", "gold"}),
    "no annotation: unlabeled; an annotation with an empty result: nothing; all cancelled: unlabeled",
    _knows,
    _read,
    _put,
    (".json",),
)
LABEL_STUDIO_MIN = Format(
    "label-studio-min",
    "Label Studio JSON_MIN",
    ("classes", "spans"),
    frozenset(_BOTH),
    "no annotation_id: unlabeled; an annotation_id and no label: nothing; tasks that all skipped are not there",
    _knows_min,
    _read_min,
    _put_min,
    (".json",),
)
