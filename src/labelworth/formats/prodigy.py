"""Prodigy: JSON lines, one per judgement: choices, yes or no to one class or to spans, spans set by hand."""

import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from labelworth.formats.export import Export, Item, Judgement, Kind, Prediction, Span, Stretch, merged_stretches
from labelworth.formats.fields import Fields
from labelworth.formats.format import USUAL, Format, Gathered, free_fields, write_json_lines
from labelworth.formats.source import Source

_ANSWERS = ("accept", "reject", "ignore")
_BY_HAND = ("ner_manual", "spans_manual", "choice", "blocks")
_OWN = (
    "id", "text", "label", "options", "accept", "spans", "tokens", "answer", "score", "model", "_input_hash",
    "_task_hash", "config", "_is_binary", "_view_id", "_annotator_id", "_session_id", "_timestamp",
)  # fmt: skip


def _knows(source: Source) -> bool:
    first = source.first
    return (
        "_input_hash" in first
        or "_task_hash" in first
        or (first.get("answer") in _ANSWERS and bool({"label", "accept", "spans"} & first.keys()))
    )


def _read(source: Source) -> Export:
    kind = _kind(source.records)
    gathered = Gathered(str(source.path))
    classes: dict[str, None] = {}
    for number, record in enumerate(source.records, start=1):
        for option in record.objects("options"):
            classes[option.label(option.record.get("id"))] = None
        config = record.record.get("config")
        for name in record.inside(config, "config").list("labels") if isinstance(config, Mapping) else ():
            classes[record.label(name)] = None
        item_id = record.name("id") or record.name("_input_hash") or str(number)
        text = record.text(source.reading.text_field or "text")
        tokens = (
            tuple(_token(token, text) for token in record.objects("tokens")) if "tokens" in record.record else None
        )
        said, is_binary = _said(record, kind, text)
        judgements, predictions = _judged(record, said, is_binary, kind)
        meta = record.beside(*_OWN, source.reading.text_field or "text")
        gathered.add(Item(item_id, text, judgements, predictions, tokens, meta), record)
    return Export(gathered.items(), kind, tuple(classes), "label", str(source.path))


def _kind(records: list[Fields]) -> Kind:
    """Choices and single labels are of the whole text, even where spans are shown beside them."""
    if any({"accept", "options", "label"} & record.record.keys() for record in records):
        return "classes"
    return "spans" if any("spans" in record.record for record in records) else "classes"


def _token(token: Fields, text: str) -> Stretch:
    span = token.span("token", text)
    return span.start, span.end


def _said(record: Fields, kind: Kind, text: str) -> tuple[tuple[Any, ...], bool]:
    """What a record shows or chose, and whether it is one question with yes or no."""
    if kind == "spans":
        spans = tuple(span.span(span.record.get("label"), text) for span in record.objects("spans"))
        binary = record.record.get("_is_binary")
        view = record.record.get("_view_id")
        return spans, binary is True or (binary is None and view is not None and view not in _BY_HAND)
    if "accept" in record.record or ("options" in record.record and "label" not in record.record):
        return tuple(dict.fromkeys(record.label(name) for name in record.list("accept"))), False
    label = record.record.get("label")
    return () if label is None else (record.label(label),), label is not None


def _judged(
    record: Fields, said: tuple[Any, ...], is_binary: bool, kind: Kind
) -> tuple[tuple[Judgement, ...], tuple[Prediction, ...]]:
    answer = record.record.get("answer")
    if answer is not None and answer not in _ANSWERS:
        raise record.error(f"'answer' must be one of {', '.join(_ANSWERS)}. Got {answer!r:.40}")
    if answer is None:
        is_shown = said or {"accept", "spans"} & record.record.keys()
        return (), (Prediction(said, record.number("score"), record.name("model")),) if is_shown else ()
    who = record.name("_annotator_id") or record.name("_session_id")
    when = record.when("_timestamp")
    if answer == "ignore":
        return (Judgement((), "cannot say", who, None, when),), ()
    if answer == "reject" and not said:
        # Nothing was shown that could be wrong: the task itself was turned down.
        return (Judgement((), "cannot say", who, None, when),), ()
    if answer == "reject":
        return (Judgement(said, "is not", who, None, when),), ()
    judged = tuple(merged_stretches([piece for span in said for piece in span.pieces])) if kind == "spans" else None
    return (Judgement(said, "is", who, None, when, judged=judged if is_binary else None),), ()


def _put(export: Export, path: Path) -> None:
    write_json_lines((record for item in export.items for record in _records(item, export)), path)


def _records(item: Item, export: Export) -> list[dict[str, Any]]:
    number = int(item.id) if item.id.isdecimal() and item.id.isascii() and len(item.id) < 16 else None
    is_number = number is not None and str(number) == item.id
    shared: dict[str, Any] = {} if is_number else {"id": item.id}
    shared |= {"text": item.text, "_input_hash": number if is_number else zlib.crc32(item.id.encode()) & 0x7FFFFFFF}
    shared |= free_fields(item, _OWN)
    if export.kind == "spans":
        shared["config"] = {"labels": list(export.classes)}
    else:
        shared["options"] = [{"id": name, "text": name} for name in export.classes]
    if item.tokens is not None:
        shared["tokens"] = [
            {
                "text": item.text[start:end],
                "start": start,
                "end": end,
                "id": index,
                "ws": item.text[end : end + 1] == " ",
            }
            for index, (start, end) in enumerate(item.tokens)
        ]
    records = [{**shared, **_shown(judgement, item, export), **_answered(judgement)} for judgement in item.judgements]
    for prediction in item.predictions:
        record = {**shared, **_shown(Judgement(prediction.said), item, export)}
        record |= {"score": prediction.score, "model": prediction.model or None}
        records.append(record)
    return records or [shared]


def _shown(judgement: Judgement, item: Item, export: Export) -> dict[str, Any]:
    if export.kind == "spans":
        is_binary = judgement.how == "is not" or judgement.judged is not None
        view = "ner" if is_binary else "ner_manual"
        spans = [_span(span, item) for span in judgement.said]
        return {"spans": spans, "_is_binary": is_binary, "_view_id": view}
    if judgement.how == "is not":
        return {"label": judgement.said[0], "_view_id": "classification"}
    return {"accept": list(judgement.said), "_view_id": "choice"}


def _span(span: Span, item: Item) -> dict[str, Any]:
    record: dict[str, Any] = {"start": span.start, "end": span.end, "label": span.label}
    met = [n for n, token in enumerate(item.tokens or ()) if token[0] < span.end and span.start < token[1]]
    if met:
        record |= {"token_start": met[0], "token_end": met[-1]}
    return record


def _answered(judgement: Judgement) -> dict[str, Any]:
    answer: dict[str, Any] = {"answer": {"is": "accept", "is not": "reject"}.get(judgement.how, "ignore")}
    if judgement.annotator:
        answer |= {"_annotator_id": judgement.annotator, "_session_id": judgement.annotator}
    return answer | ({} if judgement.when is None else {"_timestamp": judgement.when.timestamp()})


PRODIGY = Format(
    "prodigy",
    "Prodigy JSONL",
    ("classes", "spans"),
    frozenset({
        *USUAL, "predictions", "several predictions", "scores", "meta", "cannot say", "is not", "several judgements",
        "several by one", "annotators", "when", "several classes", "spans alone", "tokens", "nothing", "ids",
        "classes",
    }),
    "no answer, or ignore: unlabeled; accept without spans set by hand, or with no choice: nothing",
    _knows,
    _read,
    _put,
    (".jsonl",),
    declares=True,
)  # fmt: skip
