"""What one row is asked: nothing, its class, one channel or several, and so on; and what that shows."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import gammaln

from labelworth.arrays import FloatArray
from labelworth.channels.channel import RESERVED, Channel
from labelworth.channels.forms.form import Classes
from labelworth.data.counts import all_counts
from labelworth.errors import InvalidInputError

_MOST_ANSWERS = 20_000


@dataclass(frozen=True, eq=False)
class Arm:
    """A row's answers: gold or not, and so many votes of every channel.

    Answers are independent given the class, so the probability of all of them is a product. "Nothing" is the empty
    product, an audited row has gold and a channel.
    """

    name: str
    has_gold: bool = False  # Whether the class itself is told.
    asked: tuple[tuple[Channel, int], ...] = ()  # Channels, and how many different annotators of each answer.

    def __post_init__(self) -> None:
        if (self.name in RESERVED) != (not self.asked):
            raise InvalidInputError(
                f"What is called {', '.join(RESERVED)} asks no channel, and all else does. Got {self.name!r}, which "
                f"asks {', '.join(channel.name for channel, _ in self.asked) or 'none'}."
            )
        names = [channel.name for channel, _ in self.asked]
        for channel, _ in self.asked:
            if names.count(channel.name) > 1 and not channel.is_independent:
                raise InvalidInputError(
                    f"{self.name!r} asks channel {channel.name!r} more than once. Answers that copy each other are "
                    "one answer: ask once, say votes= for different annotators of one kind, or independent=True if "
                    "the same one really answers anew."
                )

    @classmethod
    def of(cls, *channels: Channel, gold: bool = False, votes: int | None = None, name: str | None = None) -> "Arm":
        """A row that all of these answer, by their first number of votes or by `votes`."""
        asked = tuple((channel, channel.votes[0] if votes is None else votes) for channel in channels)
        words = [f"{channel.name} x {count}" if count > 1 else channel.name for channel, count in asked]
        return cls(name or " + ".join([*(["gold"] if gold else []), *words]) or "nothing", gold, asked)

    @property
    def n_answers(self) -> int:
        """How many answers a row gets, gold among them."""
        return int(self.has_gold) + sum(count for _, count in self.asked)

    def asked_about(self, part: str) -> str:
        """What it is called where samples are asked about in part, as ``window:5 by crowd``; gold as the part."""
        return part if not self.asked else f"{part} by {self.name}"

    def price(self, of_gold: float) -> float:
        """Of one row."""
        return self.has_gold * of_gold + sum(count * channel.price for channel, count in self.asked)


NOTHING = Arm("nothing")
GOLD = Arm("gold", has_gold=True)


@dataclass(frozen=True)
class Together:
    """Several channels on one row, by their names: an offer of a menu."""

    name: str
    asks: tuple[tuple[str, int], ...]  # Names, and how many votes of each.

    def __post_init__(self) -> None:
        names = [name for name, _ in self.asks]
        if any(votes < 1 for _, votes in self.asks):
            asked = " + ".join(f"{name} x {votes}" for name, votes in self.asks)
            raise InvalidInputError(f"{self.name!r} asks each kind for one answer or more. Got {asked}.")
        if self.name in RESERVED or len(names) < 2 or len(set(names)) < len(names):
            raise InvalidInputError(
                f"Kinds of labels on the same row are two or more different ones under a name of their own, as "
                f"'both: model + crowd x 3'. Got {self.name!r} of {' + '.join(names)}."
            )

    def arm(self, channels: Iterable[Channel]) -> Arm:
        """Asking these channels.

        Raises
        ------
        InvalidInputError
            If one of them is not there.
        """
        known = {channel.name: channel for channel in channels}
        absent = [name for name, _ in self.asks if name not in known]
        if absent or self.name in known:
            others = f"kinds of labels are {', '.join(known)}" if known else "there are no other kinds of labels"
            raise InvalidInputError(
                f"{self.name!r} asks {' + '.join(name for name, _ in self.asks)} about the same row; {others}. "
                f"{'Name those' if absent else 'Give it a name of its own'}."
                f"{' Gold and an unknown kind on the same row are on offer anyway.' if GOLD.name in absent else ''}"
            )
        return Arm(self.name, False, tuple((known[name], votes) for name, votes in self.asks))


def menu(channels: Sequence[Channel], together: Iterable[Together] = (), *, audits: bool = True) -> tuple[Arm, ...]:
    """Nothing, gold, each channel by each of its numbers of votes, gold beside each unknown one, those together."""
    arms = [NOTHING, GOLD]
    for channel in channels:
        arms += [Arm.of(channel, votes=count) for count in channel.votes]
        if audits and channel.is_unknown:
            arms.append(Arm.of(channel, gold=True, votes=1))
    return (*arms, *(own.arm(channels) for own in together))


@dataclass(frozen=True, eq=False)
class Nuisance:
    """The parameters of all unknown channels, behind each other: shared by every arm that asks them."""

    parameters: tuple[str, ...]
    slices: dict[str, slice]  # By channel.

    @classmethod
    def of(cls, arms: Iterable[Arm], classes: Classes) -> "Nuisance":
        """Gather them, and refuse two channels of one name."""
        known: dict[str, Channel] = {}
        for arm in arms:
            for channel, _ in arm.asked:
                if known.setdefault(channel.name, channel) is not channel:
                    raise InvalidInputError(
                        f"There are two channels called {channel.name!r}: one name is one channel and one confusion."
                    )
        names: list[str] = []
        slices: dict[str, slice] = {}
        for channel in known.values():
            if channel.is_unknown:
                own = channel.table(classes).parameters
                slices[channel.name] = slice(len(names), len(names) + len(own))
                names += own
        return cls(tuple(names), slices)

    @property
    def size(self) -> int:
        return len(self.parameters)


@dataclass(frozen=True, eq=False)
class Outcomes:
    """All that the channels of one arm can say together, gold left aside."""

    has_gold: bool
    likelihood: FloatArray  # (A, K): The probability of every combination of answers, given the class.
    scores: FloatArray  # (A, K, p): The gradient of its logarithm in the parameters of the unknown channels.

    @classmethod
    def of(cls, arm: Arm, classes: Classes, nuisance: Nuisance) -> "Outcomes":
        """Multiply the channels; of equal votes only counts matter.

        Raises
        ------
        InvalidInputError
            If there are too many combinations, or a channel does not go with the classes.
        """
        tables = [(channel, count, channel.table(classes)) for channel, count in arm.asked]
        total = math.prod(math.comb(count + len(table.answers) - 1, count) for _, count, table in tables)
        if total > _MOST_ANSWERS:
            raise InvalidInputError(
                f"{arm.name!r} can be answered in {total:.3g} ways; up to {_MOST_ANSWERS} are gone through. Take "
                "fewer votes or fewer answers."
            )
        likelihood, scores = np.ones((1, len(classes))), np.zeros((1, len(classes), nuisance.size))
        for channel, count, table in tables:
            counts = all_counts(count, len(table.answers)).astype(np.float64)
            ways = np.exp(gammaln(count + 1) - gammaln(counts + 1).sum(axis=1))
            votes = ways[:, None] * np.prod(table.probabilities[None] ** counts[:, None, :], axis=2)
            moved = np.zeros((len(counts), len(classes), nuisance.size))
            if channel.is_unknown:
                q = table.probabilities
                slopes = np.divide(table.moves, q, out=np.zeros_like(table.moves), where=q > 0)
                moved[:, :, nuisance.slices[channel.name]] = np.einsum("av,pkv->akp", counts, slopes)
            likelihood = (likelihood[:, None] * votes[None]).reshape(-1, len(classes))
            scores = (scores[:, None] + moved[None]).reshape(len(likelihood), len(classes), nuisance.size)
        possible = likelihood.any(axis=1)
        return cls(arm.has_gold, likelihood[possible], scores[possible])

    def complete_information(self, class_probabilities: FloatArray) -> FloatArray:
        """Of the parameters of the channels where the class is seen too, (p, p)."""
        weights = self.likelihood * class_probabilities
        return np.asarray(np.einsum("ak,akp,akq->pq", weights, self.scores, self.scores))
