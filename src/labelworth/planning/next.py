"""What to label now: samples without a label, drawn at random as a plan or a policy demands, or chosen."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from labelworth.arrays import BoolArray, FloatArray, IntArray
from labelworth.data.samples import Samples
from labelworth.data.sequences import Sequences
from labelworth.errors import InfeasiblePlanError, InvalidInputError
from labelworth.estimators.pools.documents import LABELS_ONLY
from labelworth.estimators.pools.pool import Pool
from labelworth.planning.answer import Onto
from labelworth.policies.choosing import RANDOM, By, Choosing
from labelworth.policies.policy import Policy
from labelworth.policies.rule import Rule
from labelworth.policies.spec import parse_rule

EVERYTHING, NOTHING = "everything", "nothing"


@dataclass(frozen=True, eq=False)
class Batch:
    """Samples to label, in random order: whoever stops early has still labeled a random draw."""

    rows: IntArray  # (size,): Their rows in the data, counted from 0.
    arms: tuple[str, ...]  # By which rule each is to be labeled.
    # The tokens of each sequence to label, counted from 0; None for documents.
    positions: tuple[IntArray, ...] | None
    seed: int  # Of the draw.
    n_pool: int  # Samples without a label that were drawn from.
    # (size,): With what probability each was drawn, and by what: "random", or what it was chosen by; None: all alike.
    probabilities: FloatArray | None = None
    drawn_by: tuple[By, ...] | None = None

    @classmethod
    def joined(cls, parts: "Sequence[Batch]") -> "Batch":
        """Documents that were drawn from several pools, all in random order."""
        if len(parts) == 1:
            return parts[0]
        rows, seed = np.concatenate([part.rows for part in parts]), parts[0].seed
        order = np.random.default_rng([seed, 4]).permutation(len(rows))
        arms = [arm for part in parts for arm in part.arms]
        by = [own for part in parts for own in part.drawn_by or ()]
        chances = [part.probabilities for part in parts if part.probabilities is not None]
        return cls(
            rows[order],
            tuple(arms[index] for index in order),
            None,
            seed,
            sum(part.n_pool for part in parts),
            np.concatenate(chances)[order] if by else None,
            tuple(by[index] for index in order) if by else None,
        )

    @property
    def n_labels(self) -> int:
        """How many labels are asked for."""
        return len(self.rows) if self.positions is None else int(sum(len(part) for part in self.positions))

    def to_dict(self) -> dict[str, Any]:
        """As JSON knows it."""
        return {
            "n_samples": len(self.rows),
            "n_labels": self.n_labels,
            "n_pool": self.n_pool,
            "rows": self.rows.tolist(),
            "arms": list(self.arms),
            "positions": None if self.positions is None else [part.tolist() for part in self.positions],
            **(
                {}
                if self.probabilities is None
                else {"probabilities": self.probabilities.tolist(), "drawn_by": list(self.drawn_by or ())}
            ),
        }


def next_documents(data: Samples | BoolArray, counts: int | Mapping[str, int], seed: int) -> Batch:
    """Draw documents without a label; `data` may also say which documents carry one.

    Parameters
    ----------
    counts : int or mapping
        How many, or how many of every arm; those of "nothing" are not drawn.
    """
    labeled = data.is_labeled if isinstance(data, Samples) else data
    by_arm = {EVERYTHING: counts} if isinstance(counts, int) else dict(counts)
    arms = [arm for arm, count in by_arm.items() if count and arm != NOTHING]
    amounts = [by_arm[arm] for arm in arms]
    pool = _pool(labeled, sum(amounts), "document")
    rows = _random_order(pool, seed)[: sum(amounts)]
    chosen = _mixed(amounts, np.random.default_rng([seed, 1]))
    return Batch(rows, tuple(arms[index] for index in chosen), None, seed, len(pool))


def chosen_documents(labeled: BoolArray, scores: FloatArray, count: int, choosing: Choosing, seed: int) -> Batch:
    """Draw documents without a label by their scores, (n,), with probabilities that are told.

    Parameters
    ----------
    labeled : array of shape (n,)
        Which documents are not to be drawn.
    """
    pool = _pool(labeled, count, "document")
    drawn = choosing.draw(scores[pool], count, np.random.default_rng([seed, 3]))
    by = tuple(RANDOM if is_random else choosing.by for is_random in drawn.is_random)
    return Batch(pool[drawn.rows], (EVERYTHING,) * count, None, seed, len(pool), drawn.probabilities, by)


def row_scores(pool: Pool[Any], by: By, row_prices: FloatArray | None = None) -> FloatArray:
    """By what rows are chosen, (n,), per unit of money where rows have prices; see `Learner.scores`.

    Raises
    ------
    InvalidInputError
        If the model has no such score, or chosen rows would mislead it.
    """
    learner = pool.learner
    modes = learner.worth_modes if by == "worth" else learner.modes
    own = learner.in_mode(modes[-1]) if modes else learner
    if by != RANDOM and own.is_joint and own.mode == "labels-only":
        raise InvalidInputError(LABELS_ONLY)
    scores = own.scores(by, own.fit(pool.data), pool.data)
    if row_prices is None or by == RANDOM:
        return scores
    if not (row_prices > 0).all():
        raise InvalidInputError("Rows are chosen per unit of money: the label of every row must cost something.")
    return np.asarray(scores / row_prices)


def next_sequences(data: Sequences, counts: Mapping[str, int], seed: int, taken: BoolArray | None = None) -> Batch:
    """Draw sequences without any label, and the tokens to label in each.

    Parameters
    ----------
    data : Sequences
    counts : mapping
        How many sequences are labeled by which rule, or by which and by whom (``window:5 by crowd``); those of
        "nothing" are not drawn.
    seed : int
    taken : array of bool, optional
        Sequences that are not drawn; those with a label unless given.
    """
    arms = [spec for spec, count in counts.items() if count and spec != NOTHING]
    rules = [parse_rule(spec.partition(" by ")[0]) for spec in arms]
    amounts = [count for spec, count in counts.items() if count and spec != NOTHING]
    pool = _pool(data.is_labeled if taken is None else taken, sum(amounts), "sequence")
    rows = _random_order(pool, seed)[: sum(amounts)]
    rng = np.random.default_rng([seed, 1])
    chosen = _mixed(amounts, rng)
    return Batch(
        rows,
        tuple(arms[index] if " by " in arms[index] else rules[index].spec for index in chosen),
        _positions(data, rows, [rules[index] for index in chosen], rng),
        seed,
        len(pool),
    )


def shared_out(
    asks: Sequence[Mapping[str, int]], annotators: Mapping[str, Sequence[str]], seed: int
) -> list[list[tuple[str, str]]]:
    """Who answers for every sample: (kind of label, annotator), as many different ones as are asked for.

    Loads are equal up to one answer, and chance decides who meets whom. A kind without annotators is one itself where
    one answer is asked for; several are left open (""), for whoever comes to fill in.

    Parameters
    ----------
    asks : one mapping per sample
        How many answers of every kind it gets.
    annotators : mapping
        Of every kind, those who can be asked.

    Raises
    ------
    InvalidInputError
        If a sample needs more annotators than there are.

    Examples
    --------
    >>> shared_out([{"crowd": 2, "model": 1}, {"crowd": 1}], {"crowd": ["ann", "bob", "eve"]}, seed=0)
    [[('crowd', 'ann'), ('crowd', 'bob'), ('model', 'model')], [('crowd', 'eve')]]
    """
    rng = np.random.default_rng([seed, 2])
    loads = {kind: np.zeros(len(names), dtype=np.int64) for kind, names in annotators.items()}
    shared = []
    for kinds in asks:
        own: list[tuple[str, str]] = []
        for kind, count in kinds.items():
            names = annotators.get(kind, ())
            if not names:
                own += [(kind, kind if count == 1 else "")] * count
                continue
            if count > len(names):
                raise InvalidInputError(
                    f"{count} different annotators are to answer for a sample, and {len(names)} are named"
                    f"{f' of the kind {kind!r}' if kind else ''}: {', '.join(names)}. Name more."
                )
            chosen = np.lexsort((rng.random(len(names)), loads[kind]))[:count]
            loads[kind][chosen] += 1
            own += [(kind, names[index]) for index in chosen]
        shared.append(own)
    return shared


def counts_of_plan(figures: Mapping[str, Any], source: str, draw: str) -> dict[str, int]:
    """How many samples of every arm a plan recommends.

    Parameters
    ----------
    figures : mapping
        Of its record.
    source : str
        Where the plan comes from, and how more are drawn at random: for messages.

    Raises
    ------
    InvalidInputError
        If the plan contradicts itself.
    InfeasiblePlanError
        If it says to stop, or asks for a larger pilot first.
    """
    arms = figures["recommended"]["arms"]
    counts = {arm["arm"]: round(arm["count"]) for arm in arms if arm["arm"] != NOTHING and arm["count"] > 0}
    if bool(counts) and figures["advice"] == "stop":
        raise InvalidInputError(
            f"{source} contradicts itself: it says to stop, and to label {sum(counts.values()):,} more. Plan again "
            "(labelworth plan --again)."
        )
    if figures["advice"] == "larger pilot":
        more = figures["more_pilot"]
        raise InfeasiblePlanError(
            f"The plan asks for a larger pilot first: label {more:,} more drawn at random ({draw} {more}), then plan "
            "again."
        )
    if not counts:
        raise InfeasiblePlanError(f"The plan says to stop: {figures['why_stop'] or 'nothing is to be labeled.'}")
    return counts


def by_pool(
    counts: Mapping[str, int], onto: Mapping[str, Onto], asked: Callable[[str], Collection[str]]
) -> list[tuple[Onto, dict[str, int]]]:
    """Arms whose samples are drawn together: from new ones, from those with answers, from those with a label.

    Of the last, those who ask the same kinds: about what these have not answered.

    Parameters
    ----------
    onto : mapping
        What samples an arm asks about, where they are not new.
    asked : function
        Kinds of labels that an arm asks.
    """
    pools: dict[tuple[Onto, frozenset[str]], dict[str, int]] = {}
    for arm, count in counts.items():
        which = onto.get(arm, "new")
        pools.setdefault((which, frozenset(asked(arm) if which == "labeled" else ())), {})[arm] = count
    return [(which, own) for (which, _), own in pools.items()]


def held_offers(figures: Mapping[str, Any]) -> dict[str, Onto]:
    """Of the record of a plan: arms that ask more about held documents, and about which."""
    return {offer["arm"]: offer["onto"] for offer in figures.get("menu", ()) if "onto" in offer}


def counts_of_policy(policy: Policy, count: int) -> dict[str, int]:
    """How many of `count` sequences go to every rule: their shares, made whole so that they sum to it.

    Examples
    --------
    >>> from labelworth.policies.spec import parse_policy
    >>> counts_of_policy(parse_policy("0.25*everything + 0.75*window:5"), 10)
    {'everything': 2, 'window:5': 8}
    """
    exact = count * np.array(policy.weights)
    whole = np.floor(exact + 1e-9)
    # The largest remainders get what is left; of equal ones the later rule.
    order = np.lexsort((-np.arange(len(exact)), -_settled(exact - whole)))
    whole[order[: round(count - whole.sum())]] += 1
    return {rule.spec: int(amount) for rule, amount in zip(policy.rules, whole, strict=True)}


def _settled(remainders: FloatArray) -> FloatArray:
    """Equal remainders must look equal: rounding would decide between them."""
    return np.round(remainders, 9)


def _random_order(pool: IntArray, seed: int) -> IntArray:
    """All of the pool in random order: a batch of another size with the same seed begins alike."""
    return np.random.default_rng(seed).permutation(pool)


def _mixed(amounts: Sequence[int], rng: np.random.Generator) -> IntArray:
    """Arms in random order too: the first so many of a batch are a random draw of the whole of it."""
    return rng.permutation(np.repeat(np.arange(len(amounts)), amounts))


def _pool(labeled: BoolArray, count: int, sample: str) -> IntArray:
    if count < 1:
        raise InvalidInputError(f"There must be at least one {sample} to label. Got {count}.")
    pool = np.flatnonzero(~labeled)
    if count > len(pool):
        raise InfeasiblePlanError(
            f"Only {len(pool):,} {sample}s have no label yet. Got {count:,} to label; ask for fewer, or add some."
        )
    return pool


def _positions(
    data: Sequences, rows: IntArray, rules: Sequence[Rule], rng: np.random.Generator
) -> tuple[IntArray, ...]:
    return tuple(
        np.flatnonzero(rule.draw_for(data, np.array([row]), rng)) for row, rule in zip(rows, rules, strict=True)
    )
