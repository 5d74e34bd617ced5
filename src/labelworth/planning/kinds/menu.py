"""Kinds of labels on the menu of a plan: what a row can be given to, what that costs, and what it is worth."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from labelworth.arrays import FloatArray
from labelworth.channels.arm import GOLD, NOTHING, Arm, Together, menu
from labelworth.channels.channel import Channel
from labelworth.channels.forms.form import Classes
from labelworth.channels.forms.question import IsItOneOf
from labelworth.errors import InfeasiblePlanError, NotIdentifiableError
from labelworth.fisher.documents.channels import ArmSet
from labelworth.planning.answer import KindWorth, Offer, Onto
from labelworth.planning.kinds.guesses import KindGuesses
from labelworth.policies.catalog import Nothing
from labelworth.policies.rule import Rule
from labelworth.tradeoff.accuracy import Accuracy, ConvexAccuracy, Source
from labelworth.tradeoff.break_even import switch_price
from labelworth.tradeoff.costs import ArmPrices
from labelworth.tradeoff.problem import Question
from labelworth.tradeoff.solve import solve


@dataclass(frozen=True)
class Part:
    """What can be asked about of a sample."""

    rule: Rule
    positions: float  # How many, in the mean.
    of_gold: float  # What their gold labels cost.


@dataclass(frozen=True, eq=False)
class KindMenu:
    """Arms on offer, nothing and gold first, and what a row of each costs."""

    channels: tuple[Channel, ...]
    classes: Classes
    arms: tuple[Arm, ...]
    rules: tuple[Rule, ...]  # One per arm: about which part of a sample it asks.
    positions: FloatArray  # (n_arms,): How many positions that are, in the mean.
    prices: ArmPrices
    onto: tuple[Onto, ...]  # One per arm: which documents it asks about.
    guesses: KindGuesses | None = None  # What a pilot's answers told of them, and what rests on faith.

    @classmethod
    def of(
        cls,
        channels: Sequence[Channel],
        classes: Classes,
        parts: Sequence[Part],
        of_unlabeled: float,
        *,
        uses_unlabeled: bool,
        together: Sequence[Together] = (),
    ) -> "KindMenu":
        """All that rows can be given to: each part of them to everybody.

        Parameters
        ----------
        parts : sequence of Part
            Of documents the one that is everything; the whole of sequences comes first. Answers come on top of what
            their gold labels cost, for an audited part.
        of_unlabeled : float
            What a row without any label costs; answers come on top of that too.
        together : sequence of Together
            Who else is asked about the same row.

        Raises
        ------
        InvalidInputError
            If a channel does not go with the classes, or nothing is known of its answers.
        """
        for channel in channels:
            channel.table(classes)
        nothing, *asking = menu(channels, together)
        pairs = [(part, arm) for part in parts for arm in asking]
        if uses_unlabeled:
            pairs.insert(0, (Part(Nothing(), 0.0, 0.0), nothing))
        each = [
            arm.has_gold * part.of_gold + part.positions * arm.price(0.0) + (0.0 if arm.has_gold else of_unlabeled)
            for part, arm in pairs
        ]
        is_named = len(parts) > 1 or parts[0].positions != 1
        names = tuple(arm.asked_about(part.rule.spec) if is_named else arm.name for part, arm in pairs)
        return cls(
            tuple(channels),
            classes,
            tuple(arm for _, arm in pairs),
            tuple(part.rule for part, _ in pairs),
            np.array([part.positions for part, _ in pairs]),
            ArmPrices(names, np.array(each)),
            tuple("new" for _ in pairs),
        )

    def with_held(self, guesses: KindGuesses, n_labeled: int, *, audits: bool) -> "KindMenu":
        """The same with what answers told, and with more to ask about documents that have answers or a label.

        Gold for what has answers and no gold, and an answer of each unknown kind to what has gold and none of it:
        either says how often that kind errs, and neither takes a new document.

        Parameters
        ----------
        audits : bool
            Whether the second is on offer.
        """
        told = replace(self, guesses=guesses)
        asked: list[tuple[Arm, Onto, float, int]] = []
        if told.n_done:
            asked.append((GOLD, "answered", float(self.prices.per_sample[self.gold]), told.n_done))
        for channel in guesses.channels if audits else ():
            n_left = n_labeled - sum(own.count for own in guesses.held if own.has_gold and own.asks_for(channel.name))
            if channel.is_unknown and n_left > 0:
                asked.append((Arm.of(channel, votes=1), "labeled", channel.price, n_left))
        if not asked:
            return told
        arms, onto, prices, stock = zip(*asked, strict=True)
        return replace(
            told,
            arms=(*self.arms, *arms),
            onto=(*self.onto, *onto),
            rules=(*self.rules, *(self.rules[self.gold] for _ in asked)),
            positions=np.append(self.positions, np.ones(len(asked))),
            prices=ArmPrices(
                (*self.names, *(f"{arm.name} for {which}" for arm, which in zip(arms, onto, strict=True))),
                np.append(self.prices.per_sample, prices),
                self.prices.fixed,
                np.append(np.full(len(self.arms), np.inf), stock),
            ),
        )

    @property
    def names(self) -> tuple[str, ...]:
        return self.prices.arms

    @property
    def is_of_parts(self) -> bool:
        """Whether samples have parts: sequences have."""
        return self.names[self.gold] != GOLD.name

    @property
    def n_answers(self) -> FloatArray:
        """Answers to one row of every arm, gold among them."""
        return self.positions * [float(arm.n_answers) for arm in self.arms]

    @property
    def asked_rules(self) -> tuple[Rule, ...]:
        """Of sequences: who is asked about which part of them."""
        from labelworth.fisher.sequences.asked import AskedRule

        pairs = zip(self.rules, self.arms, strict=True)
        return tuple(rule if arm is NOTHING else AskedRule(rule, arm) for rule, arm in pairs)

    @cached_property
    def arm_set(self) -> ArmSet:
        """With nothing and gold in any case: figures need them."""
        new = [arm for arm, onto in zip(self.arms, self.onto, strict=True) if arm.asked and onto == "new"]
        return ArmSet.of([*new, *(arm for arm, _ in (*self.held, *self.audited))], self.classes)

    @cached_property
    def audited(self) -> tuple[tuple[Arm, int], ...]:
        """What documents with answers and no gold would have been asked with gold, and how many of them there are."""
        return tuple(
            (replace(arm, name=f"{arm.name}, audited", has_gold=True), count)
            for arm, count in self.held
            if not arm.has_gold
        )

    @property
    def added(self) -> dict[str, dict[str, float]]:
        """By arm: documents that one of it adds, by what they have been asked in the end.

        More about a document that is held is one of another kind in its place; of those with answers it is drawn at
        random.
        """
        added = {}
        for name, arm, onto in zip(self.names, self.arms, self.onto, strict=True):
            if onto == "new":
                added[name] = {arm.name: 1.0}
            elif onto == "labeled":
                [(channel, votes)] = arm.asked
                added[name] = {Arm.of(channel, gold=True, votes=votes).name: 1.0, GOLD.name: -1.0}
            else:
                added[name] = {own.name: count / self.n_done for own, count in self.audited}
                added[name] |= {own.name: -count / self.n_done for own, count in self.held if not own.has_gold}
        return added

    @cached_property
    def held(self) -> tuple[tuple[Arm, int], ...]:
        """What documents were asked already, and how many of them."""
        known = () if self.guesses is None else self.guesses.held
        return tuple((own.arm(self.channels), own.count) for own in known)

    def held_before(self, n_labeled: int) -> dict[str, float]:
        """Documents that are labeled or answered already, by arm."""
        audited = sum(count for arm, count in self.held if arm.has_gold)
        return {GOLD.name: float(n_labeled - audited)} | {arm.name: float(count) for arm, count in self.held}

    @property
    def n_done(self) -> int:
        """Documents without gold that were answered already."""
        return sum(count for arm, count in self.held if not arm.has_gold)

    @property
    def n_settled(self) -> int:
        """Sequences with answers and no label: nobody is asked about them again."""
        return 0 if self.guesses is None else self.guesses.n_settled

    @property
    def gold(self) -> int:
        return self.arms.index(GOLD)

    @property
    def gives_gold(self) -> FloatArray:
        """Gold labels of one row of every arm."""
        return self.positions * [float(arm.has_gold) for arm in self.arms]

    @property
    def offers(self) -> tuple[Offer, ...]:
        offers = []
        each = self.prices.per_sample.tolist(), self.rules, self.positions.tolist(), self.onto
        for name, arm, price, rule, positions, onto in zip(self.names, self.arms, *each, strict=True):
            asks = {channel.name: count for channel, count in arm.asked}
            part = {"part": rule.spec, "positions": positions} if self.is_of_parts else {}
            offers.append(Offer(name, arm.has_gold, asks, price, onto=onto, **part))
        return tuple(offers)

    @property
    def described(self) -> list[Any]:
        """What makes this menu, as JSON knows it."""
        return [
            [
                channel.name,
                channel.is_unknown,
                list(channel.votes),
                channel.table(self.classes).probabilities.tolist(),
            ]
            for channel in self.channels
        ] + [
            list(names)
            for names in (self.names * self.is_of_parts, [f"{n} {arm.name}" for arm, n in self.held])
            if names
        ]

    def drawn(self, rng: np.random.Generator, rarest: float = 1e-9) -> "KindMenu":
        """The same with confusions as they may be as well, by how surely they are known; see `Guesses.drawn`."""
        if self.guesses is None or not self.guesses.audited:
            return self
        channels = self.guesses.drawn(self.classes, rng, rarest)
        other = {channel.name: channel for channel in channels}
        arms = tuple(
            replace(arm, asked=tuple((other[channel.name], votes) for channel, votes in arm.asked))
            if arm.asked
            else arm
            for arm in self.arms
        )
        return replace(self, channels=channels, arms=arms)

    def asking(self, channel: Channel) -> list[int]:
        """The arms that ask a channel."""
        return [index for index, arm in enumerate(self.arms) if any(one is channel for one, _ in arm.asked)]

    def worths(self, accuracy: Accuracy, question: Question, counts: FloatArray) -> tuple[KindWorth, ...]:
        """What every kind is worth: the price at which the best plan without it would begin to buy it.

        Where there is nothing left to ask about, nobody can say.

        Parameters
        ----------
        counts : array
            What is to be bought.
        """
        if self.prices.is_empty(question.pool):
            return self.counted(counts, question.pool)
        known = zip(self.counted(counts, question.pool), self.channels, strict=True)
        told = [(kind, self._break_even(accuracy, question, channel)) for kind, channel in known]
        return tuple(
            replace(kind, worth=None, is_needed=True) if worth == np.inf else replace(kind, worth=worth)
            for kind, worth in told
        )

    def counted(self, counts: FloatArray, pool: float) -> tuple[KindWorth, ...]:
        """What is to be bought of every kind; nothing of what it is worth."""
        return tuple(self._counted(counts, pool, channel) for channel in self.channels)

    def _left(self, channel: Channel, pool: float) -> list[int]:
        """The arms that ask a channel, and for which there is a sample."""
        units = np.eye(len(self.arms))
        return [arm for arm in self.asking(channel) if self.prices.longest(units[arm], pool) >= 1]

    def _votes(self, channel: Channel) -> FloatArray:
        """Answers of a channel to one sample of each of the arms that ask it."""
        return np.array([offer.asks[channel.name] * offer.positions for offer in self._offers_of(channel)])

    def _offers_of(self, channel: Channel) -> list[Offer]:
        return [self.offers[index] for index in self.asking(channel)]

    def _counted(self, counts: FloatArray, pool: float, channel: Channel) -> KindWorth:
        own = self.asking(channel)
        answers = float(counts[own] @ self._votes(channel))
        about = channel.form.about if isinstance(channel.form, IsItOneOf) else None
        return KindWorth(
            channel.name,
            channel.price,
            None,
            False,
            answers,
            float(counts[own].sum()),
            answers * channel.price,
            channel.is_unknown,
            n_held=0 if self.guesses is None else self.guesses.n_held(channel.name),
            n_audited=0 if self.guesses is None else self.guesses.n_audited(channel.name),
            faith=None if self.guesses is None else self.guesses.faith.get(channel.name),
            question=None if about is None else " or ".join(map(str, about)),
            is_left=bool(self._left(channel, pool)),
            is_new_left=any(self.onto[arm] == "new" for arm in self._left(channel, pool)),
        )

    def _break_even(self, accuracy: Accuracy, question: Question, channel: Channel) -> float | None:
        asking = self.asking(channel)
        own = np.array(self._left(channel, question.pool))
        if not isinstance(accuracy, ConvexAccuracy) or not own.size:
            return None
        votes = self._votes(channel)[np.isin(asking, own)]
        others = [index for index in range(len(self.arms)) if index not in asking]
        without = Subset(accuracy, tuple(others))
        try:
            best = solve(without, self.prices.some(others), question)
        except (InfeasiblePlanError, NotIdentifiableError):
            return np.inf
        if not best.shadow_price_of_money:
            # Not known, or there is more money than can be spent.
            return None
        counts = np.zeros(len(self.arms))
        counts[others] = best.counts
        beside = self.prices.per_sample[own] - votes * channel.price
        of_pool = np.isinf(self.prices.apart[own]).astype(np.float64)
        return switch_price(accuracy, replace(best, counts=counts), own.tolist(), votes, beside, of_pool)


@dataclass(frozen=True, eq=False)
class Subset:
    """An accuracy on some of its arms, none of the others."""

    whole: ConvexAccuracy
    chosen: tuple[int, ...]

    @property
    def arms(self) -> tuple[str, ...]:
        return tuple(self.whole.arms[index] for index in self.chosen)

    @property
    def labels_per_sample(self) -> FloatArray:
        return self.whole.labels_per_sample[list(self.chosen)]

    @property
    def criterion(self) -> str:
        return self.whole.criterion

    @property
    def source(self) -> Source:
        return self.whole.source

    @property
    def is_convex(self) -> bool:
        return self.whole.is_convex

    @property
    def has_kinks(self) -> bool:
        return self.whole.has_kinks

    def error(self, counts: FloatArray) -> float:
        return self.whole.error(self._all(counts))

    def standard_error(self, counts: FloatArray) -> float | None:
        return self.whole.standard_error(self._all(counts))

    def slope(self, counts: FloatArray) -> FloatArray:
        return self.whole.slope(self._all(counts))[list(self.chosen)]

    def open_directions(self, counts: FloatArray) -> tuple[str, ...]:
        return self.whole.open_directions(self._all(counts))

    def _all(self, counts: FloatArray) -> FloatArray:
        counted = np.zeros(len(self.whole.arms))
        counted[list(self.chosen)] = counts
        return counted
