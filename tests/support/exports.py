"""Exports of any shape: texts with emoji, brackets, tabs and line ends, spans that overlap, several annotators."""

from dataclasses import replace
from datetime import UTC, datetime
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


@st.composite
def exports(draw: Any, kinds: tuple[Kind, ...] = ("classes", "spans", "tags"), is_plain: bool = False) -> Export:
    """An export; a plain one names its classes, with labels and people of letters and digits, and texts of words."""
    kind = draw(st.sampled_from(kinds))
    labels = draw(st.lists(st.sampled_from(LABELS[:2] if is_plain else LABELS), min_size=1, max_size=4, unique=True))
    count = draw(st.integers(1, 4))
    ids = [str(number) for number in range(1, 5)] if is_plain else draw(st.permutations(_IDS))
    items = tuple(draw(_items(kind, tuple(labels), ids[number], is_plain)) for number in range(count))
    classes = tuple(draw(st.permutations(labels))) if is_plain or draw(st.booleans()) else ()
    if classes and kind == "tags":
        classes = tuple(dict.fromkeys(("O", *(f"{letter}-{name}" for name in classes for letter in "BI"))))
    question = "label" if is_plain else draw(st.sampled_from(["label", "sentiment", "what is it?"]))
    return Export(items, kind, classes, question)


@st.composite
def _items(draw: Any, kind: Kind, labels: tuple[str, ...], name: str, is_plain: bool) -> Item:
    words = st.lists(st.sampled_from(["the", "cat", "Dr", "saw", "Rome"]), min_size=1, max_size=6).map(" ".join)
    text = draw(words if is_plain else TEXTS)
    item = Item(name, text)
    if kind == "tags" or draw(st.booleans()):
        item = tokenized(item, draw(st.sampled_from(["words", "whitespace"])))
    made = draw(st.lists(_judgements(kind, labels, item), max_size=1 if is_plain else 3))
    if is_plain:
        stated = [judgement for judgement in made if judgement.how == "is"]
        return replace(item, judgements=tuple(replace(own, judged=None, annotator="ann") for own in stated))
    predicted = draw(st.lists(_predictions(kind, labels, item), max_size=2))
    meta = draw(st.dictionaries(st.sampled_from(list(_META)), st.none(), max_size=2))
    return replace(
        item, judgements=tuple(made), predictions=tuple(predicted), meta={name: _META[name] for name in meta}
    )


@st.composite
def _judgements(draw: Any, kind: Kind, labels: tuple[str, ...], item: Item) -> Judgement:
    how = draw(st.sampled_from(["is", "is", "is", "is", "cannot say", "is not", "one of"]))
    how = "is" if (how == "one of" and kind != "classes") or (how == "is not" and kind == "tags") else how
    said: tuple[Any, ...] = () if how == "cannot say" else draw(_said(kind, labels, item))
    if (how != "cannot say" and not said and (how != "is" or kind == "tags")) or (
        kind == "tags" and said and all(tag is None for tag in said)
    ):
        how, said = "cannot say", ()
    judged = None
    if kind == "spans" and how == "is" and draw(st.integers(0, 3)) == 0:
        judged = tuple(merged_stretches([piece for span in said for piece in span.pieces]))
        if item.tokens and draw(st.booleans()):
            judged = tuple(merged_stretches([*judged, item.tokens[0]]))
    return Judgement(
        said,
        how,
        draw(st.sampled_from(_ANNOTATORS)),
        draw(st.none() | st.floats(0, 1e4, allow_nan=False)),
        draw(st.none() | _MOMENTS),
        how == "is" and draw(st.integers(0, 4)) == 0,
        judged,
    )


@st.composite
def _predictions(draw: Any, kind: Kind, labels: tuple[str, ...], item: Item) -> Prediction:
    said = draw(_said(kind, labels, item))
    if kind == "tags":
        said = tuple("O" if tag is None or isinstance(tag, tuple) else tag for tag in said)
    return Prediction(said, draw(st.none() | st.floats(0, 1)), draw(st.sampled_from(["", "lw-1"])))


def _said(kind: Kind, labels: tuple[str, ...], item: Item) -> st.SearchStrategy[tuple[Any, ...]]:
    names = st.sampled_from(labels)
    if kind == "classes":
        return st.lists(names, max_size=2, unique=True).map(tuple)
    if kind == "tags":
        tags = [f"{letter}-{name}" for name in labels for letter in "BI"]
        tag = st.sampled_from([*tags, "O", "O", "O", None, ("O", tags[0])])
        return st.lists(tag, min_size=len(item.tokens or ()), max_size=len(item.tokens or ())).map(tuple)
    if not item.text:
        return st.just(())
    edges = st.lists(st.integers(0, len(item.text)), min_size=2, max_size=4, unique=True)
    spans = st.builds(_span, edges if len(item.text) > 3 else st.just([0, len(item.text)]), names)
    return st.lists(spans, max_size=3).map(lambda found: tuple(sorted(set(found))))


def _span(edges: list[int], label: str) -> Span:
    cuts = sorted(edges)[: len(edges) // 2 * 2]
    return Span.of_pieces(list(zip(cuts[::2], cuts[1::2], strict=True)), label)
