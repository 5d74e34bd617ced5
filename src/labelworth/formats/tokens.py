"""Spans as tags of tokens, and back, with a tokenizer that has a name."""

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from labelworth.data.tag_schemes import OUTSIDE, TagScheme, find_scheme, parse_tag
from labelworth.errors import InvalidInputError
from labelworth.formats.export import Export, Item, Judgement, Prediction, Span, Stretch, merged_stretches

OWN = "own"
_PATTERNS = {"words": re.compile(r"\w+|[^\w\s]"), "whitespace": re.compile(r"\S+")}
TOKENIZERS = (*_PATTERNS, OWN)
"""Runs of letters and digits with other marks alone; what stands between blanks; the tokens that the tool has."""
_UNNAMED = "chunk"


def tokenized(item: Item, tokenizer: str) -> Item:
    """The same with tokens: the tool's own where it has any and no other are asked for.

    >>> tokenized(Item("1", "Dr. Who?"), "words").words
    ['Dr', '.', 'Who', '?']
    """
    if tokenizer not in TOKENIZERS:
        raise InvalidInputError(f"tokenizer must be one of {', '.join(TOKENIZERS)}. Got {tokenizer!r}.")
    if tokenizer == OWN:
        if item.tokens is None:
            raise InvalidInputError(
                f"The item {item.id!r:.60} has no tokens of its own. Name a tokenizer: {' or '.join(_PATTERNS)}."
            )
        return item
    return replace(item, tokens=tuple(match.span() for match in _PATTERNS[tokenizer].finditer(item.text)))


def with_tokens(export: Export, tokenizer: str | None) -> Export:
    """Every item with tokens: by the tokenizer that is named, else the tool's own, else words."""
    usual = [tokenizer or ("words" if item.tokens is None else OWN) for item in export.items]
    return replace(export, items=tuple(map(tokenized, export.items, usual)))


def tokenizer_words(export: Export, tokenizer: str | None) -> str:
    """What `with_tokens` cuts texts by."""
    has_own = export.items[0].tokens is not None
    return tokenizer or ("the tool's own tokens" if has_own else "words")


def tags_of(export: Export) -> Export:
    """Tags in IOB2 for spans that lie on tokens and beside each other; see `losses` for those that do not."""
    if export.kind == "tags":
        return export

    def tags(item: Item, spans: tuple[Any, ...], judged: tuple[Stretch, ...] | None) -> tuple[str | None, ...]:
        seen = None if judged is None else merged_stretches([*judged, *(span.pieces[0] for span in spans)])
        return tuple(_tag(token, spans, seen) for token in item.tokens or ())

    def converted(item: Item) -> Item:
        judgements = (
            replace(judgement, said=tags(item, judgement.said, judgement.judged), judged=None)
            if judgement.how == "is"
            else judgement
            for judgement in item.judgements
        )
        predictions = (replace(entry, said=tags(item, entry.said, None)) for entry in item.predictions)
        known = tuple(j for j in judgements if j.how == "cannot say" or any(tag is not None for tag in j.said))
        return replace(item, judgements=known, predictions=tuple(predictions))

    classes = tuple(f"{letter}-{name}" for name in export.classes for letter in "BI")
    items = tuple(map(converted, export.items))
    return replace(export, items=items, kind="tags", classes=("O", *classes) if classes else ())


def _tag(token: Stretch, spans: tuple[Span, ...], seen: list[Stretch] | None) -> str | None:
    for span in spans:
        if span.start <= token[0] < span.end:
            return f"{'B' if token[0] == span.start else 'I'}-{span.label}"
    return "O" if seen is None or any(start <= token[0] and token[1] <= end for start, end in seen) else None


def spans_of(export: Export) -> Export:
    """Spans for chunks of tags; a tag that is none of a chunk is a span over its token."""
    if export.kind == "spans":
        return export
    scheme = _scheme(export)

    def read(item: Item, tags: tuple[Any, ...]) -> tuple[tuple[Span, ...], tuple[Stretch, ...] | None]:
        tokens = item.tokens or ()
        known = [token for token, tag in zip(tokens, tags, strict=True) if isinstance(tag, str)]
        spans = tuple(_chunks(tokens, tags, scheme))
        return spans, None if len(known) == len(tags) else _seen(tokens, tags)

    def judged(item: Item, judgement: Judgement) -> Judgement:
        if judgement.how != "is":
            return judgement
        spans, seen = read(item, judgement.said)
        return replace(judgement, said=spans, judged=seen)

    def predicted(item: Item, prediction: Prediction) -> Prediction:
        return replace(prediction, said=read(item, prediction.said)[0])

    items = tuple(
        replace(
            item,
            judgements=tuple(judged(item, judgement) for judgement in item.judgements),
            predictions=tuple(predicted(item, prediction) for prediction in item.predictions),
        )
        for item in export.items
    )
    declared = [parse_tag(name) for name in export.classes]
    if scheme is TagScheme.PLAIN:
        classes = export.classes
    else:
        kinds = [tag.kind or _UNNAMED for tag in declared if tag is not None and tag != OUTSIDE]
        classes = tuple(dict.fromkeys(kinds))
    return replace(export, items=items, kind="spans", classes=classes)


def _scheme(export: Export) -> TagScheme:
    labels: list[Any] = []
    ends = [0]
    for item in export.items:
        for said in (*(j.said for j in item.judgements), *(p.said for p in item.predictions)):
            labels += [list(tag) if isinstance(tag, tuple) else tag for tag in said]
            if len(labels) > ends[-1]:
                ends.append(len(labels))
    if all(label == "O" for label in labels if isinstance(label, str)):
        return TagScheme.IOB2
    return find_scheme(labels, np.array(ends)).scheme


def _seen(tokens: tuple[Stretch, ...], tags: tuple[Any, ...]) -> tuple[Stretch, ...]:
    """The stretches of neighboring tokens whose tags are known."""
    stretches: list[Stretch] = []
    before = False
    for (start, end), tag in zip(tokens, tags, strict=True):
        is_known = isinstance(tag, str)
        if is_known and before:
            stretches[-1] = (stretches[-1][0], end)
        elif is_known:
            stretches.append((start, end))
        before = is_known
    return tuple(stretches)


def _chunks(tokens: tuple[Stretch, ...], tags: tuple[Any, ...], scheme: TagScheme) -> Iterator[Span]:
    if scheme is TagScheme.PLAIN:
        yield from (Span(*token, tag) for token, tag in zip(tokens, tags, strict=True) if isinstance(tag, str))
        return
    start = end = 0
    open_kind, letter = None, "O"
    for token, tag in zip(tokens, tags, strict=True):
        parsed = parse_tag(tag) if isinstance(tag, str) else None
        parsed = OUTSIDE if parsed is None else parsed
        goes_on = open_kind == parsed.kind and letter in "BI" and parsed.letter in "IEL"
        if not goes_on and open_kind is not None:
            yield Span(start, end, open_kind or _UNNAMED)
        if not goes_on:
            start = token[0]
        end, letter = token[1], parsed.letter
        open_kind = None if parsed == OUTSIDE else parsed.kind
    if open_kind is not None:
        yield Span(start, end, open_kind or _UNNAMED)


def each_span(change: Callable[[Item, tuple[Span, ...]], tuple[Span, ...]]) -> Callable[[Item], Item]:
    """Change the spans of an item, those of judgements and of predictions alike."""

    def changed(item: Item) -> Item:
        return replace(
            item,
            judgements=tuple(replace(entry, said=change(item, entry.said)) for entry in item.judgements),
            predictions=tuple(replace(entry, said=change(item, entry.said)) for entry in item.predictions),
        )

    return changed
