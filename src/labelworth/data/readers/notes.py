"""What people should know of their labels and texts before anything is learned from them."""

import unicodedata
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from labelworth.data.readers.raw import RawFeatures, RawTexts

if TYPE_CHECKING:
    from labelworth.data.readers.raw_sequences import RawAttributes, RawTokens

_MOST_CLASSES = 2_000
_RARER_BY = 10
_SHORTEST_TYPO = 4
_MANY_REPEATED = 0.05
_MOST_NAMED = 5


def label_notes(labels: Iterable[Any], *, find_typos: bool = True) -> tuple[str, ...]:
    """Classes that are probably meant to be one: equal but for capitals or blanks, or a letter apart and rare.

    Parameters
    ----------
    labels : one entry per row or token
        Only texts are looked at; None and lists of candidates are passed over.
    find_typos : bool
        Whether a rare class that is a letter apart from a frequent one is named: not among tags of words, where NN
        and NNS are both meant.

    Examples
    --------
    >>> [note] = label_notes(["ham"] * 88 + ["hamm"])
    >>> print(note)
    'hamm' (1 label) looks like 'ham' (88). If they are one class, use rename='hamm=ham'.
    """
    counts = Counter(label for label in labels if isinstance(label, str))
    if len(counts) > _MOST_CLASSES:
        return ()
    spellings: dict[str, list[str]] = {}
    for name in sorted(counts):
        spellings.setdefault(_plain(name), []).append(name)
    notes, kept = [], Counter[str]()
    for names in spellings.values():
        usual = max(names, key=lambda name: (counts[name], name))  # of equals, the one in small letters
        kept[usual] = sum(counts[name] for name in names)
        others = [name for name in names if name != usual]
        if others:
            listed = " and ".join(_counted(name, counts[name]) for name in [*others, usual])
            notes.append(_near(f"{listed} differ in capitals or blanks only: one class?", others, usual))
    if find_typos:
        notes += _typos(kept)
    return tuple(notes)


def text_notes(texts: Sequence[str], labels: Sequence[Any]) -> tuple[str, ...]:
    """The same text with different labels, which bounds what any model can reach; repeated texts; and no texts."""
    if texts and all(map(_is_number, texts)):
        # How often a number comes says nothing of one that is nearly it.
        return (
            "All texts are numbers, and are read as words, of which none is near another. Numbers are learned from "
            "as vectors: lists in one column of Parquet, or an array X beside labels y in an .npz file.",
        )
    classes_of: dict[str, Counter[Hashable]] = {}
    n_repeated = 0
    for text, label in zip(texts, labels, strict=True):
        bare = text.strip()
        if not bare:
            continue
        n_repeated += bare in classes_of
        classes = classes_of.setdefault(bare, Counter())
        if label is not None and not isinstance(label, list):
            classes[label] += 1
    notes = []
    contradictory = {text: classes for text, classes in classes_of.items() if len(classes) > 1}
    n_labeled = sum(label is not None for label in labels)
    if contradictory:
        notes.append(_contradiction(contradictory, n_labeled))
    if n_repeated > 1 and n_repeated >= _MANY_REPEATED * len(texts):
        notes.append(
            f"{n_repeated:,} of {len(texts):,} rows ({_percent(n_repeated / len(texts))}) repeat the text of an "
            "earlier row: errors measured on rows whose double was learned from are too small. Leave repeated rows "
            "out, unless they recur as often in use."
        )
    return tuple(notes)


def data_notes(raw: "RawTexts | RawFeatures | RawTokens | RawAttributes") -> tuple[str, ...]:
    """All that is to be known of what a reader gave, the worst first."""
    if isinstance(raw, RawTexts):
        return (*label_notes(raw.labels), *text_notes(raw.texts, raw.labels))
    return label_notes(raw.labels, find_typos=isinstance(raw, RawFeatures))


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _plain(name: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", name).casefold().split())


def _counted(name: str, count: int) -> str:
    return f"{name!r} ({count:,} {'label' if count == 1 else 'labels'})"


def _percent(share: float) -> str:
    return f"{float(f'{100 * share:.2g}'):g} %"


def _near(text: str, others: Sequence[str], usual: str) -> str:
    rename = ",".join(f"{other}={usual}" for other in others)
    return f"{text} If they are one class, use rename={rename!r}."


def _typos(counts: Mapping[str, int]) -> list[str]:
    notes = []
    for rare, n_rare in counts.items():
        similar = [
            usual
            for usual, count in counts.items()
            if count >= _RARER_BY * n_rare and _is_a_letter_apart(_plain(rare), _plain(usual))
        ]
        if similar:
            usual = max(similar, key=lambda name: counts[name])
            notes.append(_near(f"{_counted(rare, n_rare)} looks like {usual!r} ({counts[usual]:,}).", [rare], usual))
    return notes


def _is_a_letter_apart(name: str, other: str) -> bool:
    """Whether a letter was added, dropped, changed or swapped with its neighbor; digits are meant."""
    short, long = sorted((name, other), key=len)
    if len(long) - len(short) > 1 or len(long) < _SHORTEST_TYPO:
        return False
    first = next((i for i, (a, b) in enumerate(zip(short, long, strict=False)) if a != b), len(short))
    rest_short, rest_long = short[first:], long[first:]
    if not (rest_short[:1] + rest_long[:1]).isalpha():
        return False
    if len(short) < len(long):
        return rest_short == rest_long[1:]
    is_swapped = rest_short[:2] == rest_long[1::-1] and rest_short[2:] == rest_long[2:]
    return rest_short[1:] == rest_long[1:] or (len(rest_short) > 1 and is_swapped)


def _contradiction(contradictory: Mapping[str, Counter[Hashable]], n_labeled: int) -> str:
    n_rows = sum(classes.total() for classes in contradictory.values())
    n_wrong = sum(classes.total() - max(classes.values()) for classes in contradictory.values())
    text, classes = next(iter(contradictory.items()))
    named = " and ".join(repr(name) for name in list(classes)[:_MOST_NAMED])
    return (
        f"{n_rows:,} of {n_labeled:,} labeled rows ({_percent(n_rows / n_labeled)}) have a text that also occurs "
        f"with another label, so any model gets at least {_percent(n_wrong / n_labeled)} of the labeled rows wrong. "
        f"The first is {text[:60]!r}: {named}. "
        "Correct the labels, or give both as a list (one of these) where nobody can tell."
    )
