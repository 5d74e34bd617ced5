"""What leaves a campaign: the data with their labels, the answers, the log of requests, or an export of a tool."""

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal, get_args

from labelworth.campaign import held
from labelworth.campaign.held import StandingAnswer
from labelworth.campaign.planning import Snapshot
from labelworth.campaign.values import GOLD, Item, Request, Unit, Written
from labelworth.data.files import write_lines
from labelworth.data.readers.choose import written_ending
from labelworth.data.readers.raw_sequences import RawTokens
from labelworth.data.readers.written import COLUMNS, TABLES, require_ending, rows_text
from labelworth.data.writers import write_conll
from labelworth.errors import InvalidInputError
from labelworth.formats.choose import write_export
from labelworth.formats.export import Export, How, Judgement
from labelworth.formats.export import Item as ExportItem

What = Literal["labels", "answers", "requests"]
_CANNOT_SAY = "cannot say"


def require_what(what: str, format: str | None) -> None:
    if what not in get_args(What) or (format is not None and what != "labels"):
        raise InvalidInputError(
            f"One of {', '.join(get_args(What))} is written; as a tool reads it, all of it is. Got {what!r}."
        )


def written(
    snapshot: Snapshot,
    requests: Sequence[Request],
    path: Path,
    what: What,
    format: str | None,
    *,
    accept_losses: bool,
) -> Written:
    """Write a file, whole or not at all."""
    if format is not None:
        losses = write_export(exported(snapshot), path, format, accept_losses=accept_losses)
        return Written(len(snapshot.items), losses)
    if what == "labels" and snapshot.settings.kind == "sequences" and written_ending(path) in COLUMNS:
        raw = snapshot.raw
        assert isinstance(raw, RawTokens)
        write_conll(path, raw)
        return Written(len(snapshot.items))
    allowed = ".jsonl, .csv or .tsv (labels of sequences also .conll); or as a tool reads it, with format="
    require_ending(path, TABLES, "What a campaign holds is", allowed)
    if what == "labels":
        rows = _labels(snapshot)
    else:
        rows = _answers(snapshot) if what == "answers" else _requests(snapshot, requests)
    write_lines(path, [rows_text(path, rows)])
    return Written(len(rows))


def exported(snapshot: Snapshot) -> Export:
    """As annotation tools hold it: every answer that stands is a judgement."""
    by_item: dict[int, list[StandingAnswer]] = {}
    for answer in snapshot.given:
        by_item.setdefault(answer.item_id, []).append(answer)
    is_text = snapshot.settings.kind == "documents"
    items = tuple(
        _as_text(item, by_item.get(item.id, ()))
        if is_text
        else _as_tokens(item, by_item.get(item.id, ()), snapshot.settings.classes)
        for item in snapshot.items
    )
    return Export(items, "classes" if is_text else "tags", snapshot.settings.classes, source=snapshot.settings.name)


def _as_text(item: Item, given: Sequence[StandingAnswer]) -> ExportItem:
    made = tuple(_judgement(answer, *_classes_said(answer)) for answer in given)
    return ExportItem(item.name, item.text or "", made)


def _as_tokens(item: Item, given: Sequence[StandingAnswer], classes: Sequence[str]) -> ExportItem:
    tokens = item.tokens or ()
    ends, stretches = 0, []
    for token in tokens:
        stretches.append((ends, ends + len(token)))
        ends += len(token) + 1
    made = []
    for answer in given:
        said: list[Unit] = [None] * len(tokens)
        for position, unit in answer.units:
            # Yes or no leaves some of the tags.
            left = None if unit is None else held.allowed(answer.question, unit, classes)
            said[position] = left[0] if left is not None and len(left) == 1 else left
        is_silent = all(unit is None for unit in said)
        made.append(_judgement(answer, () if is_silent else tuple(said), _CANNOT_SAY if is_silent else "is"))
    return ExportItem(item.name, " ".join(tokens), tuple(made), tokens=tuple(stretches))


def _classes_said(answer: StandingAnswer) -> tuple[tuple[str, ...], How]:
    (unit,) = answer.said
    if unit is None:
        return (), "cannot say"
    if isinstance(unit, str):
        return (unit,), "is"
    if isinstance(unit, bool):
        return answer.question, ("is" if len(answer.question) == 1 else "one of") if unit else "is not"
    return unit, "one of"


def _judgement(answer: StandingAnswer, said: tuple[Any, ...], how: Any) -> Judgement:
    when = datetime.fromtimestamp(answer.given_at, UTC)
    return Judgement(said, how, answer.annotator, answer.seconds, when, answer.channel == GOLD)


def _labels(snapshot: Snapshot) -> list[dict[str, Any]]:
    """A row per item, as `labelworth plan` reads them, with how it was drawn."""
    labels = held.gold_labels(snapshot.given, snapshot.settings.classes)
    log = held.drawn_log(snapshot.items, snapshot.given)
    drawn_by = {one.item_id: one.drawn_by for one in snapshot.given if one.channel == GOLD}
    rows = []
    for row, item in enumerate(snapshot.items):
        if item.columns is not None:
            tags = [labels.get((item.id, token)) for token in range(len(item.tokens or ()))]
            rows.append({"id": item.name, "tokens": list(item.tokens or ()), "tags": tags})
            continue
        own: dict[str, Any] = {"id": item.name, "text": item.text, "label": labels.get((item.id, 0))}
        if log is not None:
            is_drawn = bool(log[1][row])
            own["probability"] = float(log[0][row]) if is_drawn else None
            own["rule"] = drawn_by[item.id] if is_drawn else None
            own["batch"] = int(log[1][row]) if is_drawn else None
        rows.append(own)
    return rows


def _answers(snapshot: Snapshot) -> list[dict[str, Any]]:
    """A row per answer, of sequences per token, as `labelworth.read_answers` reads them."""
    names = {item.id: item.name for item in snapshot.items}
    is_text = snapshot.settings.kind == "documents"
    return [
        {
            "item": names[answer.item_id],
            **({} if is_text else {"token": position}),
            "annotator": answer.annotator,
            "kind": answer.channel,
            "question": "|".join(answer.question),
            "answer": _cell(unit),
            "seconds": answer.seconds,
            "price": answer.price / len(answer.said),
            "when": _time(answer.given_at),
        }
        for answer in snapshot.given
        for position, unit in answer.units
    ]


def _requests(snapshot: Snapshot, requests: Sequence[Request]) -> list[dict[str, Any]]:
    """Who was asked what, and why."""
    names = {item.id: item.name for item in snapshot.items}
    return [
        {
            "request": request.id,
            "item": names[request.item_id],
            "tokens": None if request.positions is None else list(request.positions),
            "question": "|".join(request.question),
            "kind": request.channel,
            "votes": request.votes,
            "given": request.given,
            "rule": request.rule,
            "drawn_by": request.drawn_by,
            "probability": request.probability,
            "batch": request.batch,
            "why": request.why,
            "asked_at": _time(request.created_at),
        }
        for request in requests
    ]


def _cell(unit: Unit) -> str:
    if unit is None:
        return _CANNOT_SAY
    if isinstance(unit, bool):
        return "yes" if unit else "no"
    return unit if isinstance(unit, str) else "|".join(unit)


def _time(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")
