"""Which column of a table of answers is what: by the names that people give them, or as they are told."""

import difflib
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

from labelworth.errors import InvalidInputError

USUAL: Mapping[str, tuple[str, ...]] = {
    "item": ("item", "task", "row", "sample", "example", "instance", "sequence", "documentid", "docid"),
    "token": ("position", "token"),
    "annotator": ("annotator", "worker", "user", "rater", "coder", "labeler", "performer"),
    "question": ("question",),
    "answer": ("answer", "label", "response", "annotation", "judgment"),
    "seconds": ("seconds", "duration", "time"),
    "price": ("price", "cost"),
    "kind": ("kind",),
    "when": ("when", "timestamp", "date", "submitted", "submittedat", "createdat"),
}
"""The names of columns by what they hold, as letters and digits alone; each may end in "id"."""
OWN = ("row", "sequence")
"""Names under which `next` writes numbers of samples: these are counted from 0."""
_OF_PROBABILITIES = ("", "p", "prob", "probability")
_MAY_HAVE_SEVERAL = ("answer", "token")
"""Of these the first usual name wins: answers often stand beside the gold label, and positions beside the words."""


@dataclass(frozen=True)
class Columns:
    """What the columns of a table are; None where there is none."""

    item: str | None  # None: rows of the table are the samples, in their order.
    annotator: str | None  # None: a column per annotator.
    answer: str | None  # None: a column per annotator, or columns of probabilities.
    token: str | None = None
    question: str | None = None
    seconds: str | None = None
    price: str | None = None
    when: str | None = None
    kind: str | None = None
    annotators: tuple[str, ...] = ()  # Of a wide table: the columns of answers.
    probabilities: tuple[str, ...] = ()  # The column of every class, in their order.
    classes: tuple[Hashable, ...] | None = None  # Those that columns of probabilities are called after.

    @property
    def is_wide(self) -> bool:
        return self.annotator is None

    def words(self, source: str) -> str:
        """What was taken for what."""
        if self.is_wide:
            places = {"item": self.item, "token": self.token}
            named = [f"{role} is {name!r}" for role, name in places.items() if name is not None]
            listed = ", ".join(map(repr, self.annotators[:5])) + (", ..." if len(self.annotators) > 5 else "")
            named.append(f"a column for each of {len(self.annotators):,} annotators ({listed})")
        else:
            named = [f"{role} is {name!r}" for role in USUAL if (name := getattr(self, role)) is not None]
        if self.probabilities:
            named.append("a column of probabilities for every class")
        return f"Answers of {source}: {', '.join(named)}."


def find_columns(
    source: str,
    names: Sequence[str],
    given: Mapping[str, str],
    annotators: Sequence[str] | None,
    classes: Sequence[Hashable] | None,
    *,
    has_tokens: bool = False,
) -> Columns:
    """Say which column is what.

    Parameters
    ----------
    names : sequence of str
        All columns.
    given : mapping
        Columns by what they hold, as in `USUAL`, where somebody said so.
    annotators : sequence of str, optional
        The columns of a wide table that are answers.
    classes : sequence, optional
        All classes, after which columns of probabilities may be called.
    has_tokens : bool
        Whether answers are about tokens of sequences.

    Raises
    ------
    InvalidInputError
        If a column that is named is not there, or two may be meant.
    """
    for role in given:
        if role not in USUAL:
            raise InvalidInputError(f"Columns of answers are {', '.join(USUAL)}. Got columns= with {role!r}.")
    for name in (*given.values(), *(annotators or ())):
        if name not in names:
            near = difflib.get_close_matches(name, names, n=1)
            meant = f" Is {near[0]!r} meant?" if near else ""
            raise InvalidInputError(f"{source} has no column {name!r}. It has: {_listed(names)}.{meant}")
    roles = {role: given.get(role) or _usual(source, role, names, given) for role in USUAL}
    if annotators is not None or (roles["annotator"] is None and roles["answer"] is None):
        return _wide(source, names, roles["item"], roles["token"] if has_tokens else None, annotators)
    if roles["annotator"] is None:
        raise InvalidInputError(
            f"{source} has a column of answers, {roles['answer']!r}, and none that says who answered. It has: "
            f"{_listed(names)}. Name it with columns= (annotator=NAME), or, if every column is one annotator's, name "
            "these with annotator_columns=."
        )
    if roles["item"] is None:
        raise InvalidInputError(
            f"{source} has no column that says which sample an answer is about. It has: {_listed(names)}. Name it "
            "with columns= (item=NAME)."
        )
    probabilities, found = ((), None) if roles["answer"] else _probabilities(names, classes)
    if roles["answer"] is None and not probabilities:
        raise InvalidInputError(
            f"{source} has no column of answers. It has: {_listed(names)}. Name it with columns= (answer=NAME), or "
            "give probabilities in one column per class, called p_CLASS."
        )
    return Columns(
        roles["item"],
        roles["annotator"],
        roles["answer"],
        roles["token"],
        roles["question"],
        roles["seconds"],
        roles["price"],
        roles["when"],
        roles["kind"],
        probabilities=probabilities,
        classes=found,
    )


def may_be_items(name: str) -> bool:
    """Whether a column is called as one that says which sample is meant."""
    return any(_letters(name) in (usual, f"{usual}id") for usual in USUAL["item"]) or _letters(name) == "id"


def _wide(
    source: str, names: Sequence[str], item: str | None, token: str | None, annotators: Sequence[str] | None
) -> Columns:
    others = tuple(name for name in names if name not in (item, token))
    chosen = others if annotators is None else tuple(annotators)
    if not chosen:
        raise InvalidInputError(f"{source} has no column of answers. It has: {_listed(names)}.")
    return Columns(item, None, None, token, annotators=chosen)


def _usual(source: str, role: str, names: Sequence[str], given: Mapping[str, str]) -> str | None:
    """The column with a usual name for this, unless another meaning was given to it."""
    plain = {name: _letters(name) for name in names if name not in given.values()}
    hits = [name for usual in USUAL[role] for name, letters in plain.items() if letters in (usual, f"{usual}id")]
    if len(hits) > 1 and role not in _MAY_HAVE_SEVERAL:
        raise InvalidInputError(
            f"{source} has several columns that may be the {role}: {_listed(hits)}. Name one with columns= "
            f"({role}={hits[0]})."
        )
    if not hits and role == "item":
        # Often the number of the answer itself, where there is another column that could be meant.
        hits = [name for name, letters in plain.items() if letters == "id"]
    return hits[0] if hits else None


def _probabilities(
    names: Sequence[str], classes: Sequence[Hashable] | None
) -> tuple[tuple[str, ...], tuple[Hashable, ...] | None]:
    """The column of every class, and the classes where the columns tell them."""
    if classes is None:
        hits = [name for name in names if name.startswith("p_") and len(name) > len("p_")]
        return tuple(hits), tuple(name.removeprefix("p_") for name in hits)
    for prefix in _OF_PROBABILITIES:
        hits = [f"{prefix}_{name}" if prefix else str(name) for name in classes]
        if all(name in names for name in hits):
            return tuple(hits), None
    return (), None


def _letters(name: str) -> str:
    letters = "".join(character for character in name.casefold() if character.isalnum())
    return letters.removeprefix("labelworth")


def _listed(names: Sequence[str]) -> str:
    return (", ".join(repr(name)[:60] for name in names[:20]) + (", ..." if len(names) > 20 else "")) or "none"
