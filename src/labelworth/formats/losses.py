"""What a format cannot hold: aspects of an export, each with what is left when it is lost.

A format names the aspects that it holds. The others are lost, one by one in the order of the table; what is left
after all of them is what is written, and what comes back when the file is read again.
"""

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from itertools import zip_longest

from labelworth.formats.export import Export, Item, Judgement, Span, Stretch, merged_stretches
from labelworth.formats.folders import file_name
from labelworth.formats.tokens import each_span, spans_of, tags_of

_MOST_NAMED = 3
EVERYBODY = "all"
"""Whose file holds judgements without an annotator, where each has a file."""


@dataclass(frozen=True)
class Aspect:
    """Something that an export may hold: what happens where a format does not hold it, and how."""

    words: str  # Of the items that it concerns.
    erase: Callable[[Export], Export]


@dataclass(frozen=True)
class Loss:
    """What would be lost, and in which items."""

    aspect: str
    words: str
    ids: tuple[str, ...]  # Of items; empty: it is the export itself.

    def __str__(self) -> str:
        if not self.ids:
            return self.words
        named = ", ".join(self.ids[:_MOST_NAMED]) + (", ..." if len(self.ids) > _MOST_NAMED else "")
        return f"{self.words}: {len(self.ids):,} {'item' if len(self.ids) == 1 else 'items'} ({named})"


def lost(export: Export, holds: Iterable[str]) -> tuple[tuple[Loss, ...], Export]:
    """What a format that holds these aspects loses of an export, and what is left."""
    losses, left, kept = [], export, set(holds)
    for name, aspect in ASPECTS.items():
        if name in kept:
            continue
        after = aspect.erase(left)
        if after != left:
            losses.append(Loss(name, aspect.words, _changed(left, after)))
        left = after
    return tuple(losses), left


def _changed(before: Export, after: Export) -> tuple[str, ...]:
    if len(before.items) != len(after.items):
        kept = {item.id for item in after.items}
        return tuple(item.id for item in before.items if item.id not in kept)
    pairs = zip_longest(before.items, after.items)
    return tuple(old.id for old, new in pairs if old != new)


def _each(change: Callable[[Item], Item]) -> Callable[[Export], Export]:
    return lambda export: replace(export, items=tuple(map(change, export.items)))


def _each_judgement(change: Callable[[Judgement], Judgement | None]) -> Callable[[Export], Export]:
    """Other judgements; None: it is left out."""

    def changed(item: Item) -> Item:
        made = map(change, item.judgements)
        return replace(item, judgements=tuple(judgement for judgement in made if judgement is not None))

    return _each(changed)


def _without(is_lost: Callable[[Judgement], bool]) -> Callable[[Export], Export]:
    return _each_judgement(lambda judgement: None if is_lost(judgement) else judgement)


def _one_each(item: Item) -> Item:
    """Of several by one person the last."""
    last = {judgement.annotator: judgement for judgement in item.judgements}
    return replace(
        item, judgements=tuple(judgement for judgement in item.judgements if last[judgement.annotator] is judgement)
    )


def _one_judgement(item: Item) -> Item:
    """Of several the one marked as the truth, else the last."""
    standing = max(item.judgements, key=lambda judgement: judgement.is_gold, default=None)
    if standing is not None and not standing.is_gold:
        standing = item.judgements[-1]
    return replace(item, judgements=item.judgements[:0] if standing is None else (standing,))


def _not_each(item: Item) -> Item:
    """A 'not this' for each of several classes."""
    judgements: list[Judgement] = []
    for judgement in item.judgements:
        is_several = judgement.how == "is not" and len(judgement.said) > 1 and isinstance(judgement.said[0], str)
        judgements += [replace(judgement, said=(name,)) for name in judgement.said] if is_several else [judgement]
    return replace(item, judgements=tuple(judgements))


def _is_of_spans_alone(judgement: Judgement) -> bool:
    pieces = [piece for span in judgement.said for piece in span.pieces]
    return judgement.judged == tuple(merged_stretches(pieces))


def _without_sets_of_tags(judgement: Judgement) -> Judgement | None:
    said = tuple(None if isinstance(entry, tuple) else entry for entry in judgement.said)
    return replace(judgement, said=said) if any(entry is not None for entry in said) else None


def _without_sets(export: Export) -> Export:
    if export.kind == "tags":
        held = _without(lambda judgement: judgement.how == "one of")(export)
        return _each_judgement(lambda j: j if j.how == "cannot say" else _without_sets_of_tags(j))(held)
    return _without(lambda judgement: judgement.how == "one of")(export)


def _without_several_classes(export: Export) -> Export:
    if export.kind != "classes":
        return export
    left = _without(lambda judgement: judgement.how == "is" and len(judgement.said) > 1)(export)
    return _each(lambda item: replace(item, predictions=tuple(p for p in item.predictions if len(p.said) <= 1)))(left)


def _spans_only(change: Callable[[Export], Export]) -> Callable[[Export], Export]:
    return lambda export: change(export) if export.kind == "spans" else export


def _in_pieces(item: Item, spans: tuple[Span, ...]) -> tuple[Span, ...]:
    return tuple(Span(*piece, span.label) for span in spans for piece in span.pieces)


def _on_tokens(item: Item, spans: tuple[Span, ...]) -> tuple[Span, ...]:
    """Spans from the beginning of a token to the end of one; what lies between tokens has none."""
    wide = []
    for span in spans:
        met = [token for token in item.tokens or () if token[0] < span.end and span.start < token[1]]
        if met:
            gaps = () if (met[0][0], met[-1][1]) != (span.start, span.end) else span.gaps
            wide.append(Span(met[0][0], met[-1][1], span.label, gaps))
    return tuple(wide)


def _side_by_side(item: Item, spans: tuple[Span, ...]) -> tuple[Span, ...]:
    """Where spans overlap, the longest one."""
    kept: list[Span] = []
    for span in sorted(spans, key=lambda span: (span.start - span.end, span)):
        if all(span.end <= other.start or other.end <= span.start for other in kept):
            kept.append(span)
    return tuple(kept)


def _judged_with_spans(item: Item) -> Item:
    """What a span covers was looked at; where it came to lie on tokens, so were these."""

    def covered(judgement: Judgement) -> Judgement:
        if judgement.judged is None:
            return judgement
        spans = [(span.start, span.end) for span in judgement.said]
        seen = [
            token
            for token in item.tokens or ()
            if any(start <= token[0] and token[1] <= end for start, end in (*judgement.judged, *spans))
        ]
        is_all = len(seen) == len(item.tokens or ())
        return replace(judgement, judged=None if is_all else _joined(seen, item.tokens or ()))

    judgements = map(covered, item.judgements)
    return replace(item, judgements=tuple(judgement for judgement in judgements if judgement.judged != ()))


def _joined(seen: list[Stretch], tokens: tuple[Stretch, ...]) -> tuple[Stretch, ...]:
    """Stretches of tokens that follow each other."""
    position = {token: number for number, token in enumerate(tokens)}
    stretches: list[Stretch] = []
    last = -2
    for token in seen:
        if position[token] == last + 1:
            stretches[-1] = (stretches[-1][0], token[1])
        else:
            stretches.append(token)
        last = position[token]
    return tuple(stretches)


def _edges(export: Export) -> Export:
    """On tokens, which all items must have."""
    return _each(_judged_with_spans)(_each(each_span(_on_tokens))(export))


def _gapless(item: Item) -> Item:
    """Tokens that cover the text but for single blanks behind them, as spaCy has them."""
    if item.tokens is None:
        return item
    tokens: list[Stretch] = []
    end = 0
    for token in (*item.tokens, (len(item.text), len(item.text))):
        start = end + (bool(tokens) and item.text[end : end + 1] == " ")
        if start < token[0]:
            tokens.append((start, token[0]))
        if token[0] < token[1]:
            tokens.append(token)
        end = token[1]
    return replace(item, tokens=tuple(tokens))


def _joined_by_blanks(item: Item) -> Item:
    """Tokens alone: their text is that with blanks between, where they have tags."""
    tokens, words = [], item.words
    end = -1
    for word in words:
        tokens.append((end + 1, end + 1 + len(word)))
        end = tokens[-1][1]
    return replace(item, text=" ".join(words), tokens=tuple(tokens))


def _named_files(export: Export) -> Export:
    """Ids that files can have as names; a number where one cannot."""
    taken = {item.id.casefold() for item in export.items}
    items, seen = [], set[str]()
    for number, item in enumerate(export.items, start=1):
        name = item.id if file_name(item.id) == item.id and item.id.casefold() not in seen else f"item-{number}"
        while name != item.id and name.casefold() in taken:
            name = f"{name}-"
        seen.add(name.casefold())
        taken.add(name.casefold())
        items.append(replace(item, id=name))
    return replace(export, items=tuple(items))


def _in_order(export: Export) -> Export:
    """As a folder lists files of these names."""
    return replace(export, items=tuple(sorted(export.items, key=lambda item: f"{item.id}.txt")))


def _one_file_each(item: Item) -> Item:
    """As a folder lists files that are called after annotators; what is nobody's is everybody's."""
    judgements = sorted(item.judgements, key=lambda judgement: f"{judgement.annotator or EVERYBODY}.jsonl")
    return replace(item, judgements=tuple(judgements))


def _fields_as_texts(item: Item) -> Item:
    texts = {
        name: value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        for name, value in item.meta.items()
    }
    return replace(item, meta={name: text for name, text in texts.items() if text.strip()})


def _numbered(export: Export) -> Export:
    items = (replace(item, id=str(number)) for number, item in enumerate(export.items, start=1))
    return replace(export, items=tuple(items))


ASPECTS: dict[str, Aspect] = {
    "predictions": Aspect("what models predicted is left out", _each(lambda item: replace(item, predictions=()))),
    "several predictions": Aspect(
        "of several predictions the first is kept",
        _each(lambda item: replace(item, predictions=item.predictions[:1])),
    ),
    "scores": Aspect(
        "scores and names of models are left out",
        _each(
            lambda item: replace(
                item, predictions=tuple(replace(entry, score=None, model="") for entry in item.predictions)
            )
        ),
    ),
    "meta": Aspect("other fields are left out", _each(lambda item: replace(item, meta={}))),
    "types": Aspect("other fields become texts", _each(_fields_as_texts)),
    "cannot say": Aspect("who could not say is left out", _without(lambda j: j.how == "cannot say")),
    "is not": Aspect("answers 'not this' are left out", _without(lambda j: j.how == "is not")),
    "none of": Aspect("answers 'none of these' become a 'not this' each", _each(_not_each)),
    "one of": Aspect("answers 'one of these' are left out", _without_sets),
    "several judgements": Aspect(
        "of several judgements one is kept, that marked as the truth or else the last", _each(_one_judgement)
    ),
    "several by one": Aspect("of several judgements of one person the last is kept", _each(_one_each)),
    "gold": Aspect("what is marked as the truth is not told", _each_judgement(lambda j: replace(j, is_gold=False))),
    "annotators": Aspect("who said it is left out", _each_judgement(lambda j: replace(j, annotator=""))),
    "order of judgements": Aspect("judgements come in the order of their annotators' names", _each(_one_file_each)),
    "seconds": Aspect("how long it took is left out", _each_judgement(lambda j: replace(j, seconds=None))),
    "when": Aspect("when it was said is left out", _each_judgement(lambda j: replace(j, when=None))),
    "several classes": Aspect("judgements that name several classes are left out", _without_several_classes),
    "tags": Aspect(
        "tags of tokens become spans, with no scheme of tags", lambda e: spans_of(e) if e.kind == "tags" else e
    ),
    "partly judged": Aspect(
        "judgements of a part of a text are left out, lest the rest look judged too",
        _without(lambda judgement: judgement.judged is not None and not _is_of_spans_alone(judgement)),
    ),
    "spans alone": Aspect(
        "judgements of spans alone are left out, lest the rest of the text look judged too",
        _without(lambda judgement: judgement.judged is not None and _is_of_spans_alone(judgement)),
    ),
    "discontinuous": Aspect("discontinuous spans become their pieces", _spans_only(_each(each_span(_in_pieces)))),
    "between": Aspect(
        "what stands between tokens becomes tokens", lambda e: e if e.kind == "tags" else _each(_gapless)(e)
    ),
    "edges": Aspect(
        "spans that cut tokens are widened to whole ones, or lie between tokens and are left out", _spans_only(_edges)
    ),
    "overlapping": Aspect("of spans that overlap the longest is kept", _spans_only(_each(each_span(_side_by_side)))),
    "spans": Aspect(
        "spans become tags of tokens", lambda e: tags_of(e) if e.kind == "spans" else e
    ),
    "nothing": Aspect(
        "items labeled as nothing look like unlabeled ones, unless read with --empty-means nothing",
        _without(lambda judgement: judgement.says_nothing),
    ),
    "text": Aspect(
        "what stands between tokens is left out", lambda e: _each(_joined_by_blanks)(e) if e.kind == "tags" else e
    ),
    "empty items": Aspect(
        "items without tokens are left out",
        lambda export: replace(export, items=tuple(item for item in export.items if item.tokens != ())),
    ),
    "tokens": Aspect(
        "tokens are left out",
        lambda e: e if e.kind == "tags" else _each(lambda item: replace(item, tokens=None))(e),
    ),
    "ids": Aspect("ids are left out, and items are counted", _numbered),
    "any ids": Aspect("ids that cannot be the name of a file become others", _named_files),
    "order": Aspect("items come in the order of their ids", _in_order),
    "classes": Aspect(
        "the list of classes is left out, so that those without a label are not known",
        lambda export: replace(export, classes=()),
    ),
    "question": Aspect("the name of the question is left out", lambda export: replace(export, question="label")),
}  # fmt: skip
