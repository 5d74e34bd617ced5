"""Exports of any shape: texts with emoji, brackets, tabs and line ends, spans that overlap, several annotators."""

from dataclasses import replace
from datetime import UTC, datetime
from functools import cache
from typing import Any

from hypothesis import strategies as st

from labelworth.formats.export import Export, Item, Judgement, Kind, Prediction, Span, merged_stretches
from labelworth.formats.tokens import tokenized

_CHARACTERS = st.one_of(
    st.sampled_from("abcXYZ019 .,  \t\n[]{}|_-><;*\\\"'#=/%&+\r\u2028\x85\xa0éß漢\u0301😀👩🏽\U0001d518"),
    st.characters(codec="utf-8", exclude_categories=["Cs", "Cc"]),
)
TEXTS = st.text(_CHARACTERS, max_size=25)
LABELS = ("PER", "ORG", "a b", "x|y", "_", "*", "[1]", "-1", "O", "B-PER", "é🎈", "#", "0", "nil;\\", "a\tb", "=1")
_ANNOTATORS = ("", "ann", "10", "b/ob", "eve 😀", "..")
_IDS = ("1", "2", "3", "07", "a", "x/y", "..", "b c", "😀", "A" * 300, "-1", "CON", "train", "=1+1")
_META: dict[str, Any] = {
    "source": "web",
    "n": 3,
    "share": 0.25,
    "flag": True,
    "nested": {"a": [1, "two"]},
    "topic": "",
}
_MOMENTS = st.datetimes(datetime(1970, 1, 2), datetime(2100, 1, 1), timezones=st.just(UTC))


# Strategies are made once each: making and checking one takes longer than drawing from it.
_WORDS = st.lists(st.sampled_from(["the", "cat", "Dr", "saw", "Rome"]), min_size=1, max_size=6).map(" ".join)
_HOW = st.sampled_from(["is", "is", "is", "is", "cannot say", "is not", "one of"])
_QUARTER = st.integers(0, 3).map(lambda number: number == 0)
_MADE = st.tuples(
    st.sampled_from(_ANNOTATORS), st.none() | st.floats(0, 1e4, allow_nan=False), st.none() | _MOMENTS, _QUARTER
)
_COUNT, _YES_OR_NO = st.integers(1, 4), st.booleans()
_TOKENIZER = st.sampled_from([None, None, "words", "whitespace"])
_FIELDS = st.lists(st.sampled_from(list(_META)), max_size=2, unique=True)
_SCORED = st.tuples(st.none() | st.floats(0, 1), st.sampled_from(["", "lw-1"]))
_QUESTION = st.sampled_from(["label", "sentiment", "what is it?"])
_PERMUTED_IDS = st.permutations(_IDS)


@cache
def _label_sets(labels: tuple[str, ...]) -> st.SearchStrategy[list[str]]:
    return st.lists(st.sampled_from(labels), min_size=1, max_size=4, unique=True)


@cache
def exports(kinds: tuple[Kind, ...] = ("classes", "spans", "tags"), is_plain: bool = False) -> Any:
    """An export; a plain one names its classes, with labels and people of letters and digits, and texts of words."""
    return _exports(st.sampled_from(kinds), is_plain)


@st.composite
def _exports(draw: Any, kinds: st.SearchStrategy[Kind], is_plain: bool) -> Export:
    kind = draw(kinds)
    labels = draw(_label_sets(LABELS[:2] if is_plain else LABELS))
    ids = [str(number) for number in range(1, 5)] if is_plain else draw(_PERMUTED_IDS)
    items = tuple(_item(draw, kind, tuple(labels), ids[number], is_plain) for number in range(draw(_COUNT)))
    classes = tuple(labels) if is_plain or draw(_YES_OR_NO) else ()
    if classes and kind == "tags":
        classes = tuple(dict.fromkeys(("O", *(f"{letter}-{name}" for name in classes for letter in "BI"))))
    return Export(items, kind, classes, "label" if is_plain else draw(_QUESTION))


def _item(draw: Any, kind: Kind, labels: tuple[str, ...], name: str, is_plain: bool) -> Item:
    item = Item(name, draw(_WORDS if is_plain else TEXTS))
    tokenizer = draw(_TOKENIZER)
    if tokenizer or kind == "tags":
        item = tokenized(item, tokenizer or "words")
    if is_plain:
        stated = [_judgement(draw, kind, labels, item) for _ in range(draw(_YES_OR_NO))]
        plain = (replace(own, judged=None, annotator="ann") for own in stated if own.how == "is")
        return replace(item, judgements=tuple(plain))
    return replace(
        item,
        judgements=tuple(_judgement(draw, kind, labels, item) for _ in range(draw(_COUNT) - 1)),
        predictions=tuple(_prediction(draw, kind, labels, item) for _ in range(max(draw(_COUNT) - 2, 0))),
        meta={name: _META[name] for name in draw(_FIELDS)},
    )


def _judgement(draw: Any, kind: Kind, labels: tuple[str, ...], item: Item) -> Judgement:
    how = draw(_HOW)
    how = "is" if (how == "one of" and kind != "classes") or (how == "is not" and kind == "tags") else how
    said: tuple[Any, ...] = () if how == "cannot say" else draw(_said(kind, labels, _size(kind, item)))
    if (how != "cannot say" and not said and (how != "is" or kind == "tags")) or (
        kind == "tags" and said and all(tag is None for tag in said)
    ):
        how, said = "cannot say", ()
    annotator, seconds, when, is_gold = draw(_MADE)
    judged = None
    if kind == "spans" and how == "is" and draw(_QUARTER):
        judged = tuple(merged_stretches([piece for span in said for piece in span.pieces]))
        if item.tokens and draw(_YES_OR_NO):
            judged = tuple(merged_stretches([*judged, item.tokens[0]]))
    return Judgement(said, how, annotator, seconds, when, how == "is" and is_gold, judged)


def _prediction(draw: Any, kind: Kind, labels: tuple[str, ...], item: Item) -> Prediction:
    said = draw(_said(kind, labels, _size(kind, item)))
    if kind == "tags":
        said = tuple("O" if tag is None or isinstance(tag, tuple) else tag for tag in said)
    return Prediction(said, *draw(_SCORED))


def _size(kind: Kind, item: Item) -> int:
    """How many tokens have tags, or how many characters can be in spans."""
    return 0 if kind == "classes" else len(item.text) if kind == "spans" else len(item.tokens or ())


@cache
def _said(kind: Kind, labels: tuple[str, ...], size: int) -> st.SearchStrategy[tuple[Any, ...]]:
    names = st.sampled_from(labels)
    if kind == "classes":
        return st.lists(names, max_size=2, unique=True).map(tuple)
    if kind == "tags":
        tags = [f"{letter}-{name}" for name in labels for letter in "BI"]
        tag = st.sampled_from([*tags, "O", "O", "O", None, ("O", tags[0])])
        return st.lists(tag, min_size=size, max_size=size).map(tuple)
    if not size:
        return st.just(())
    edges = st.lists(st.integers(0, size), min_size=2, max_size=4, unique=True)
    spans = st.builds(_span, edges if size > 3 else st.just([0, size]), names)
    return st.lists(spans, max_size=3).map(lambda found: tuple(sorted(set(found))))


def _span(edges: list[int], label: str) -> Span:
    cuts = sorted(edges)[: len(edges) // 2 * 2]
    return Span.of_pieces(list(zip(cuts[::2], cuts[1::2], strict=True)), label)
