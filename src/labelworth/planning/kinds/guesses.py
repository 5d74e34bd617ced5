"""What a pilot's answers tell of kinds of labels: how often each errs, how surely, and what rests on faith."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from labelworth.arrays import BoolArray, FloatArray
from labelworth.channels.arm import Arm
from labelworth.channels.channel import Channel
from labelworth.channels.forms.question import IsItOneOf
from labelworth.channels.forms.which_class import WhichClass
from labelworth.data.answers import Answers
from labelworth.data.evidence import Evidence
from labelworth.data.samples import Samples
from labelworth.data.sequences import Sequences
from labelworth.errors import InvalidInputError
from labelworth.estimation.annotators import PRIOR_ACCURACY, PRIOR_STRENGTH, Annotators
from labelworth.estimation.answered import AnsweredFamily
from labelworth.estimation.answered_fit import fit_together
from labelworth.robust.answers.audits import Audits, rests_on_faith
from labelworth.robust.answers.copies import copies_test
from labelworth.wording import count, percent

_MOST_VOTES = 5
"""Answers of one kind to a document that are counted: more of them add little, and their combinations are many."""


@dataclass(frozen=True)
class HeldAnswers:
    """Documents that were asked the same already."""

    has_gold: bool
    asks: tuple[tuple[str, int], ...]  # Kinds, and how many answers of each.
    count: int

    @classmethod
    def among(cls, answers: Answers, is_gold: BoolArray) -> "tuple[HeldAnswers, ...]":
        """Row by row who answered, as often as it occurs; of many answers of one kind `_MOST_VOTES` are counted."""
        votes = np.zeros((len(is_gold), len(answers.names)), dtype=np.int64)
        np.add.at(votes, (answers.rows, answers.annotators), 1)
        rows = np.flatnonzero(votes.any(axis=1))
        table = np.column_stack([is_gold[rows], np.minimum(votes[rows], _MOST_VOTES)])
        alike, counts = np.unique(table, axis=0, return_counts=True)
        return tuple(
            cls(
                bool(gold),
                tuple((name, int(n)) for name, n in zip(answers.names, asked, strict=True) if n),
                int(count),
            )
            for (gold, *asked), count in zip(alike.tolist(), counts.tolist(), strict=True)
        )

    def asks_for(self, kind: str) -> bool:
        """Whether there are answers of a kind among them."""
        return any(name == kind for name, _ in self.asks)

    def arm(self, channels: Sequence[Channel]) -> Arm:
        known = {channel.name: channel for channel in channels}
        words = " + ".join(f"{name} x {votes}" for name, votes in self.asks)
        asked = tuple((known[name], votes) for name, votes in self.asks)
        return Arm(f"{words}{', gold' if self.has_gold else ''} (held)", self.has_gold, asked)


@dataclass(frozen=True, eq=False)
class KindGuesses:
    """Channels with what is known of them, and how surely."""

    channels: tuple[Channel, ...]
    # By channel whose confusion is not given: answers to rows whose class is known, of each class, (K,).
    audited: dict[str, FloatArray] = field(default_factory=dict)
    faith: dict[str, str] = field(default_factory=dict)  # By channel that nobody has looked at: that in words.
    notes: tuple[str, ...] = ()  # What the answers told.
    warnings: tuple[str, ...] = ()  # What they say against what was given as known.
    held: tuple["HeldAnswers", ...] = ()  # What documents were asked already, as often as it occurs.
    n_settled: int = 0  # Sequences with answers and no label: nobody is asked about them again.

    @classmethod
    def of(cls, channels: Sequence[Channel], answers: Answers | None, pool: Any) -> "KindGuesses":
        """Estimate what is not known from the answers there are; without any, guesses stay as they were given.

        An annotator of the name of a kind is that kind. All annotators of other names are the one kind that has none
        of its own, a crowd.

        Raises
        ------
        InvalidInputError
            If answers cannot be said to be of a kind, or do not go with the data; if several votes are on offer of a
            kind that is one annotator.
        """
        if answers is None:
            untold = {channel.name: rests_on_faith(None, [channel]) for channel in channels}
            return cls(tuple(channels), faith={name: own[0] for name, own in untold.items() if own})
        data: Samples | Sequences = pool.data
        known = by_kind(answers.recoded(data.evidence.classes), [channel.name for channel in channels])
        _require_voters(answers, known, channels)
        # Of a kind, as of a crowd, there may be several annotators: each has a vote.
        audits = Audits.of(known, data.evidence, independent=known.names)
        tables = _fitted(known, channels, pool)
        told, notes, warnings = list[Channel](), list(_taken_for(answers, known, channels)), list[str]()
        audited, faith = dict[str, FloatArray](), dict[str, str]()
        for channel in channels:
            words = rests_on_faith(known, [channel], data.evidence)
            if words:
                faith[channel.name] = words[0]
            if channel.name not in known.names:
                told.append(channel)
                continue
            code = known.names.index(channel.name)
            accuracy, entries = audits.accuracies()[code], audits.of_annotator(code)
            n_answers = int((known.annotators == code).sum())
            # Answers are counted, not rows: of a crowd several may be of one row.
            in_words = accuracy.words("answer") if accuracy.n_audited else accuracy.words()
            notes.append(f"{channel.name}: {count(n_answers, 'answer')}, {in_words}.")
            if channel.is_unknown:
                told.append(_guessed(channel, tables.get(channel.name), accuracy.n_right, accuracy.n_audited))
                classes = np.bincount(audits.classes[entries], minlength=len(data.evidence.classes))
                audited[channel.name] = classes.astype(np.float64)
                continue
            told.append(channel)
            low, high = accuracy.interval
            claimed = _expected_accuracy(channel, audits.classes[entries], data.evidence.classes)
            if accuracy.n_audited and not low <= claimed <= high:
                warnings.append(
                    f"{channel.name} is taken to be right on {percent(claimed)} of such rows, and was "
                    f"{in_words}. Let its confusion be estimated (unknown), or correct it."
                )
        warnings += _err_together(answers.recoded(data.evidence.classes), known, channels, data.evidence)
        held = HeldAnswers.among(known, data.evidence.is_gold) if isinstance(data, Samples) else ()
        n_settled = 0 if isinstance(data, Samples) else _answered_alone(known, data)
        return cls(tuple(told), audited, faith, tuple(notes), tuple(warnings), held, n_settled)

    def note_of_held(self) -> list[str]:
        """What the answers there are count for."""
        if not self.audited and not self.held and not self.n_settled:
            return []
        if not self.held:
            # Of sequences: what was asked of which of their parts is not on record.
            settled = count(self.n_settled, "sequence")
            more = f" Nothing more is on offer for the {settled} with answers and no label." if self.n_settled else ""
            told = "Answers that are held tell how often their kinds err; they are not counted among what is held."
            return [f"{told}{more}"]
        open_rows = sum(own.count for own in self.held if not own.has_gold)
        documents = f"{count(open_rows, 'document')} with answers and no gold"
        offered = f" For the {documents}, gold is on offer, and no more answers." if open_rows else ""
        return [f"Answers that are held are counted among what is held.{offered}"]

    def n_held(self, channel: str) -> int:
        """Answers of a channel that documents have."""
        return sum(own.count * votes for own in self.held for name, votes in own.asks if name == channel)

    def n_audited(self, channel: str) -> int:
        return int(self.audited[channel].sum()) if channel in self.audited else 0

    def drawn(self, classes: Sequence[Any], rng: np.random.Generator, rarest: float = 1e-9) -> tuple[Channel, ...]:
        """Channels as they may be as well: rows of confusions drawn as surely as audited rows tell them.

        What rests on a guess alone stays at it: nobody said how sure that is. No answer that may be given is drawn
        as rarer than the `rarest`.
        """
        drawn = []
        for channel in self.channels:
            if channel.name not in self.audited:
                drawn.append(channel)
                continue
            table, strength = channel.table(classes).probabilities, self.audited[channel.name] + PRIOR_STRENGTH
            if isinstance(channel.form, WhichClass | IsItOneOf):
                total, right = float(strength.sum()), channel.form.accuracy
                accuracy = rng.beta(total * right, total * (1 - right))
                drawn.append(_with_accuracy(channel, float(np.clip(accuracy, rarest, 1 - rarest))))
                continue
            rows = [
                _possible(rng.dirichlet(np.maximum(own * row, 1e-3)), row, rarest)
                for own, row in zip(strength, table, strict=True)
            ]
            drawn.append(channel.guessed(np.array(rows)))
        return tuple(drawn)


def _answered_alone(answers: Answers, data: Sequences) -> int:
    """Sequences that somebody has answered about, and that have no label."""
    is_answered = np.zeros(data.n_samples, dtype=bool)
    is_answered[np.searchsorted(data.offsets, answers.rows, side="right") - 1] = True
    return int((is_answered & ~data.is_labeled).sum())


def by_kind(answers: Answers, names: Collection[str]) -> Answers:
    """The same answers with kinds of labels for annotators.

    Of the kind that an answer says; else of the kind that its annotator is called after; else of the one kind that
    no answer is of by either.

    Raises
    ------
    InvalidInputError
        If answers say to be of no kind there is, or could be of several.
    """
    callers = np.array([name if name in names else "" for name in answers.names])[answers.annotators]
    called = callers if answers.kinds is None else np.where(answers.kinds == "", callers, answers.kinds)
    absent = sorted(set(called.tolist()) - {"", *names})
    if absent:
        raise InvalidInputError(
            f"There are answers of the kind {', '.join(map(repr, absent[:5]))}, and kinds of labels are "
            f"{', '.join(map(repr, names))}. Offer those too, or call them alike."
        )
    others = [answers.names[code] for code in np.unique(answers.annotators[called == ""])]
    without = [name for name in names if name not in called]
    if others and len(without) != 1:
        which = " or ".join(repr(name) for name in without) or "none, as each has an annotator of its name"
        raise InvalidInputError(
            f"Answers of {', '.join(repr(name) for name in others[:5])}{' ...' if len(others) > 5 else ''} are of no "
            f"kind of that name, and could be of {which}. Call annotators as their kind, say it in a column 'kind', "
            "or leave out other kinds."
        )
    if others:
        called = np.where(called == "", without[0], called)
    kept = list(dict.fromkeys(called[np.argsort(answers.annotators, kind="stable")].tolist()))
    return replace(answers, annotators=np.array([kept.index(name) for name in called]), names=tuple(kept), kinds=None)


def _require_voters(answers: Answers, known: Answers, channels: Sequence[Channel]) -> None:
    """Refuse several votes of one annotator: they would be copies, and count as one answer once they are given."""
    for channel in channels:
        if max(channel.votes) == 1 or channel.is_independent or channel.name not in known.names:
            continue
        own = answers.annotators[known.annotators == known.names.index(channel.name)]
        if {answers.names[code] for code in np.unique(own)} == {channel.name}:
            raise InvalidInputError(
                f"All answers of {channel.name!r} are by one annotator of that name, and who is asked the same again "
                "says the same again: offer one vote (leave votes out). If they are by several, call these by their "
                "own names and say the kind in a column 'kind'; if each answer is really given anew, say independent."
            )


def _taken_for(answers: Answers, known: Answers, channels: Sequence[Channel]) -> Iterator[str]:
    """A sentence where annotators count as one of several kinds, and neither they nor their answers name it."""
    is_named = np.array([name in known.names for name in answers.names])[answers.annotators]
    if answers.kinds is not None:
        is_named |= answers.kinds != ""
    others = [answers.names[code] for code in np.unique(answers.annotators[~is_named])]
    if others and len(channels) > 1:
        kind = known.names[known.annotators[~is_named][0]]
        named = f"{', '.join(repr(name) for name in others[:5])}{' ...' if len(others) > 5 else ''}"
        yield (
            f"Answers of {named} count as those of {kind!r}, the one kind that no annotator is named after. If they "
            "are not, say in a column 'kind' whose they are."
        )


def _err_together(answers: Answers, known: Answers, channels: Sequence[Channel], gold: Evidence) -> Iterator[str]:
    """A sentence where several votes of a kind are on offer, and audited rows say that they are not independent."""
    for channel in channels:
        if max(channel.votes) == 1 or channel.name not in known.names:
            continue
        own = answers.at_entries(np.flatnonzero(known.annotators == known.names.index(channel.name)))
        found = copies_test(Audits.of(own, gold), np.random.default_rng(0))
        if found.answer == "err together":
            yield (
                f"Annotators of {channel.name} are wrong on the same rows (p = {found.least_p:.2g}): several votes "
                "of them say less than they are counted for here. `labelworth check --answers` names who."
            )


def paid_for(answers: Answers | None, channels: Sequence[Channel]) -> float:
    """What answers have cost: each what it says, else the price of its kind."""
    if answers is None:
        return 0.0
    price_of = {channel.name: channel.price for channel in channels}
    known = by_kind(answers, price_of)
    usual = np.array([price_of[name] for name in known.names])[known.annotators]
    return float(usual.sum() if known.prices is None else np.where(np.isnan(known.prices), usual, known.prices).sum())


def _fitted(answers: Answers, channels: Sequence[Channel], pool: Any) -> dict[str, FloatArray]:
    """Confusions of unknown kinds that answer with classes, fitted together with the model to all there is."""
    known = {channel.name: channel for channel in channels}
    own = [name for name in answers.names if known[name].is_unknown and not isinstance(known[name].form, IsItOneOf)]
    if not own:
        return {}
    given = answers.take(np.isin(answers.annotators, [answers.names.index(name) for name in own]))
    unknown = [
        Channel(name, "unknown", independent=True)
        if not isinstance(known[name].form, WhichClass)
        else Channel(name, accuracy=PRIOR_ACCURACY, unknown=True, independent=True)
        for name in given.names
    ]
    data = replace(pool.data, answers=given)
    inner, options = pool.search_answered(data)
    family: Any = AnsweredFamily(inner, Annotators.of(given.names, data.evidence.classes, channels=unknown))
    model = fit_together(family, data, options).model
    return dict(zip(given.names, model.confusions, strict=True))


def _guessed(channel: Channel, table: FloatArray | None, n_right: int, n_audited: int) -> Channel:
    if isinstance(channel.form, IsItOneOf) or table is None:
        accuracy = (n_right + PRIOR_ACCURACY * PRIOR_STRENGTH) / (n_audited + PRIOR_STRENGTH)
        return _with_accuracy(channel, accuracy)
    if isinstance(channel.form, WhichClass):
        return _with_accuracy(channel, float(table[0, 0]))
    return channel.guessed(table)


def _with_accuracy(channel: Channel, accuracy: float) -> Channel:
    """The same kind of channel, right so often; never quite always, which could not be estimated."""
    form: Any = channel.form
    inside = float(np.clip(accuracy, 1e-6, 1 - 1e-6))
    return Channel(
        channel.name,
        replace(form, accuracy=inside),
        price=channel.price,
        votes=channel.votes,
        unknown=channel.is_unknown,
        independent=channel.is_independent,
    )


def _possible(drawn: FloatArray, row: FloatArray, rarest: float) -> FloatArray:
    """What is impossible stays so, and all else happens now and then."""
    inside = np.where(row > 0, np.maximum(drawn, rarest), 0.0)
    return np.asarray(inside / inside.sum())


def _expected_accuracy(channel: Channel, truth: Any, classes: Sequence[Any]) -> float:
    """How often a channel should be right on rows of these classes."""
    table = channel.table(classes).probabilities
    if isinstance(channel.form, IsItOneOf):
        return channel.form.accuracy
    if table.shape[1] != len(classes) or not len(truth):
        return float("nan")
    return float(np.diag(table)[truth].mean())
