"""Who is asked what: the annotators that were named, what a plan buys of them, and how it is shared out."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from labelworth.arrays import BoolArray
from labelworth.cli.batches.sheets import AnswerSheet, AskedKind, answered_samples
from labelworth.cli.console import name_of
from labelworth.cli.inputs.answered import AnswersBeside
from labelworth.cli.options.answers import AnswerFileOptions
from labelworth.errors import InfeasiblePlanError, InvalidInputError
from labelworth.planning.answer import Onto
from labelworth.planning.next import EVERYTHING, Batch, by_pool, held_offers, shared_out
from labelworth.wording import count

if TYPE_CHECKING:
    from labelworth.cli.batches.documents import DocumentBatches
    from labelworth.cli.batches.sequences import SequenceBatches

_SOMEBODY = ""
"""The kind of label where none has a name."""


@dataclass(frozen=True)
class AskedAnswers:
    """A sheet of answers that are to be given."""

    path: Path | None  # None: none are.
    text: str = ""
    loads: Mapping[str, int] = field(default_factory=dict)  # Answers by annotator; "": by whoever comes.
    left_out: tuple[str, ...] = ()  # Kinds of labels that a plan buys nothing of.
    is_added_to_wide: bool = False  # Whether the file of answers has a column per annotator, and new ones are rows.

    @property
    def figures(self) -> dict[str, Any]:
        """For records."""
        return {} if self.path is None else {"sheet": self.path, "n_answers": self.n_answers, "loads": self.loads}

    @property
    def n_answers(self) -> int:
        return sum(self.loads.values())

    def lines(self, data: Path, seed: int, held: Path | None) -> list[str]:
        """In words, with what to do next: merge them into the file of answers that is `held`, or a new one."""
        none = [f"The plan buys nothing of {kind}: none of its annotators is asked." for kind in self.left_out]
        if self.path is None:
            return none
        named = {name: load for name, load in self.loads.items() if name}
        least, most = min(named.values(), default=0), max(named.values(), default=0)
        each = f"{least:,}" if least == most else f"{least:,} to {most:,}"
        whom = f" by {count(len(named), 'annotator')}, {each} each" if named else ""
        if named and self.loads.get(_SOMEBODY):
            # Of some kinds somebody is named, of others whoever comes.
            whom = f", {sum(named.values()):,} of them{whom}"
        drawn, where = f"drawn with seed {seed}", f"written to {name_of(self.path)}"
        lines = [f"{count(self.n_answers, 'answer')} to give{whom}, {drawn}, {where}."]
        if self.loads.get(_SOMEBODY):
            lines.append(
                f"{count(self.loads[_SOMEBODY], 'answer')} of them are for anybody: who gives one fills in who they "
                "are, a different one for each answer about the same sample."
            )
        target = (
            f"-o {held.with_stem(f'{held.stem}-by-row')}"
            if held is not None and self.is_added_to_wide
            else "--in-place"
        )
        lines.append(
            "Fill in the column of answers ('cannot say' is one), then: labelworth merge "
            f"{data} {self.path} --answers {held or 'answers.csv'} {target}"
        )
        return [*lines, *none]


@dataclass(frozen=True)
class Asking:
    """What the samples of every arm are asked beside labels."""

    sheet: Path | None
    annotators: Mapping[str, Sequence[str]]  # By kind of label.
    kinds: Mapping[str, AskedKind]
    asks: Mapping[str, Mapping[str, int]]  # By arm, how many answers of every kind.
    gold: frozenset[str]  # Arms that get a label, whether or not a file was named for labels.
    has_kinds: bool = False  # Whether a plan said so.
    onto: Mapping[str, Onto] = field(default_factory=dict)  # By arm: about which held samples; others are new.
    offered: tuple[str, ...] = ()  # All kinds of labels that a plan knows, bought or not.
    left_out: tuple[str, ...] = ()  # Those whose annotators were named, and of which the plan buys nothing.

    @classmethod
    def of(
        cls, sheet: Path | None, names: Sequence[str], votes: int | None, *, audit: bool, has_output: bool = False
    ) -> "Asking":
        """Without kinds of labels: everybody is asked for the class."""
        if sheet is None:
            if names or votes is not None or (audit and not has_output):
                flag = "--annotators" if names else "--votes" if votes is not None else "--audit"
                raise InvalidInputError(f"{flag} goes with --sheet FILE: where to write who should answer what.")
            onto: dict[str, Onto] = {EVERYTHING: "answered"} if audit else {}
            return cls(None, {}, {}, {EVERYTHING: {}}, frozenset({EVERYTHING}), onto=onto)
        annotators = _annotators(names, [_SOMEBODY])
        if not annotators and votes in (None, 1):
            raise InvalidInputError(
                "Say who can be asked with --annotators 'ann,bob,eve'; or with --votes 2 and more how many answers "
                "each sample gets from whoever comes."
            )
        asks = {EVERYTHING: {_SOMEBODY: votes or 1}}
        return cls(
            sheet,
            annotators,
            {_SOMEBODY: AskedKind()},
            asks,
            frozenset(),
            onto={EVERYTHING: "labeled"} if audit else {},
        )

    def drawn(
        self,
        batches: "DocumentBatches | SequenceBatches",
        held: AnswerFileOptions,
        counts: Mapping[str, int],
        policy: str | None,
        seed: int,
    ) -> Batch:
        """Samples of every arm.

        Raises
        ------
        InfeasiblePlanError
            If there are fewer.
        """
        parts = [
            batches.draw(own, policy, seed, self._taken(batches, held, onto, own))
            for onto, own in by_pool(counts, self.onto, lambda arm: self.asks.get(arm, ()))
        ]
        return Batch.joined(parts)

    def _taken(
        self,
        batches: "DocumentBatches | SequenceBatches",
        held: AnswerFileOptions,
        onto: Onto,
        counts: Mapping[str, int],
    ) -> BoolArray | None:
        """Samples that are not to be drawn; None: those with a label.

        Of new ones those with a label or an answer; of those with a label the others, and what was answered by whom
        it is for; of those with answers the others, and what has a label.
        """
        size = sum(counts.values())
        if onto == "answered":
            return self._labeled_or_unanswered(batches, held, size)
        exported = batches.samples.exported
        is_answered = exported is not None and exported.is_answered
        if self.sheet is None and held.answers is None and not is_answered:
            return None
        is_audit = onto == "labeled"
        taken = ~batches.labeled if is_audit else batches.labeled
        asked = {kind for arm in counts for kind in self.asks.get(arm, ())} if is_audit and self.has_kinds else set()
        names = asked or {name for own in self.annotators.values() for name in own if is_audit}
        if held.answers is not None and held.answers.exists():
            beside = AnswersBeside(batches.samples, held)
            taken = np.asarray(taken | answered_samples(beside, names, self.offered if asked else ()))
        elif exported is not None and is_answered and not is_audit:
            taken = np.asarray(taken | exported.answered)
        what = "a label and no answer of these annotators" if is_audit else "neither a label nor an answer"
        return _enough(taken, batches, what, size)

    def _labeled_or_unanswered(
        self, batches: "DocumentBatches | SequenceBatches", held: AnswerFileOptions, size: int
    ) -> BoolArray:
        exported = batches.samples.exported
        if held.answers is not None:
            answered = answered_samples(AnswersBeside(batches.samples, held))
        elif exported is not None and exported.is_answered:
            answered = exported.answered
        else:
            raise InvalidInputError("--audit with --output labels what has answers: name these with --answers FILE.")
        return _enough(np.asarray(batches.labeled | ~answered), batches, "answers and no label", size)

    def text_of(
        self, batches: "DocumentBatches | SequenceBatches", batch: Batch, seed: int, held: AnswerFileOptions
    ) -> AskedAnswers:
        """Share the answers of a batch out."""
        if self.sheet is None:
            return AskedAnswers(None, left_out=self.left_out)
        is_held = held.answers is not None and held.answers.exists()
        is_wide = is_held and AnswersBeside(batches.samples, held).is_wide
        sheet = AnswerSheet(batches, self.sheet)
        sheet.require_form()
        # Sequences have labeling rules for arms, and all are asked alike.
        usual = self.asks.get(EVERYTHING, {})
        shared = shared_out([self.asks.get(arm, usual) for arm in batch.arms], self.annotators, seed)
        sizes = [1] * len(batch.rows) if batch.positions is None else [len(part) for part in batch.positions]
        loads: Counter[str] = Counter()
        for own, size in zip(shared, sizes, strict=True):
            for _, annotator in own:
                loads[annotator] += size
        text = sheet.text_of(batch, shared, self.kinds)
        return AskedAnswers(self.sheet, text, dict(sorted(loads.items())), self.left_out, is_wide)

    def with_gold(self, batch: Batch, *, also: bool) -> Batch:
        """The part of a batch that gets labels; without kinds of labels all of it, where `also` labels are wanted."""
        if not self.has_kinds:
            return batch if self.sheet is None or also else _part(batch, np.zeros(len(batch.rows), dtype=bool))
        return _part(batch, np.array([arm in self.gold for arm in batch.arms], dtype=bool))

    def asked(self, annotators: Sequence[str] | None, votes: int | None) -> dict[str, Any]:
        """For records: nothing where no answers are asked for, as they were before any could be."""
        if self.sheet is None:
            return {}
        audit = EVERYTHING in self.onto
        return {"sheet": self.sheet, "annotators": list(annotators or ()), "votes": votes, "audit": audit}


def _enough(taken: BoolArray, batches: "DocumentBatches | SequenceBatches", what: str, size: int) -> BoolArray:
    """The same, unless fewer than `size` are left."""
    n_left = int((~taken).sum())
    if n_left < size:
        raise InfeasiblePlanError(
            f"Only {count(n_left, batches.samples.sample)} with {what} can be drawn. Got {size:,} to ask about; "
            "ask for fewer, or add some."
        )
    return taken


def asked_of_plan(figures: Mapping[str, Any], sheet: Path | None, names: Sequence[str]) -> Asking:
    """What a plan buys beside labels; nothing where it has no kinds of labels."""
    if not figures.get("menu"):
        if sheet is not None:
            raise InvalidInputError(
                "The plan buys labels alone; --sheet is for a plan with kinds of labels, or --count."
            )
        return Asking.of(None, names, None, audit=False)
    offers = {offer["arm"]: offer for offer in figures["menu"]}
    chosen = [arm["arm"] for arm in figures["recommended"]["arms"] if arm["count"] > 0]
    asks = {arm: dict(offers[arm]["asks"]) for arm in chosen if arm in offers}
    bought = sorted({kind for own in asks.values() for kind in own})
    if bought and sheet is None:
        raise InvalidInputError(
            f"The plan buys answers of {', '.join(bought)}: say with --sheet FILE where to write who should answer "
            "what."
        )
    described = {kind["kind"]: kind for kind in figures.get("kinds", ())}
    annotators = _annotators(names, list(described), bought)
    kinds = {kind: _asked_kind(described.get(kind, {})) for kind in bought}
    gold = frozenset(arm for arm in asks if offers[arm]["gold"])
    return Asking(
        sheet if bought else None,
        {kind: own for kind, own in annotators.items() if kind in bought},
        kinds,
        asks,
        gold,
        has_kinds=True,
        onto=held_offers(figures),
        offered=tuple(described),
        left_out=tuple(kind for kind in annotators if kind not in bought),
    )


def _asked_kind(kind: Mapping[str, Any]) -> AskedKind:
    about = kind.get("question")
    return AskedKind(None if about is None else "|".join(str(about).split(" or ")), kind.get("price"))


def _annotators(texts: Sequence[str], kinds: Sequence[str], bought: Sequence[str] = ()) -> dict[str, list[str]]:
    """Names by kind of label: as said, or for the only kind that is bought, or there is."""
    annotators: dict[str, list[str]] = {}
    for text in texts:
        kind, colon, names = text.partition(":")
        kind, names = (kind.strip(), names) if colon else ("", text)
        if not colon and 1 in (len(bought), len(kinds)):
            kind = (bought if len(bought) == 1 else kinds)[0]
        if kind not in kinds:
            listed = ", ".join(repr(name) for name in kinds if name)
            what = f"The plan knows the kinds {listed}" if listed else "There are no kinds of labels here"
            raise InvalidInputError(f"{what}. Got --annotators {text!r}; write {_example(kinds)!r}.")
        annotators.setdefault(kind, []).extend(name.strip() for name in names.split(",") if name.strip())
    for kind, own in annotators.items():
        if len(set(own)) < len(own) or not own:
            raise InvalidInputError(f"Name every annotator once. Got {', '.join(own) or 'none'}{_of(kind)}.")
    return annotators


def _of(kind: str) -> str:
    return f" of the kind {kind!r}" if kind else ""


def _example(kinds: Sequence[str]) -> str:
    named = [kind for kind in kinds if kind]
    return f"{named[0]}: ann,bob,eve" if named else "ann,bob,eve"


def _part(batch: Batch, kept: BoolArray) -> Batch:
    chosen = np.flatnonzero(kept).tolist()
    return replace(
        batch,
        rows=batch.rows[kept],
        arms=tuple(batch.arms[index] for index in chosen),
        positions=None if batch.positions is None else tuple(batch.positions[index] for index in chosen),
        probabilities=None if batch.probabilities is None else batch.probabilities[kept],
        drawn_by=None if batch.drawn_by is None else tuple(batch.drawn_by[index] for index in chosen),
    )
