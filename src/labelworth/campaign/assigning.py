"""Requests: which items, or tokens of them, are asked about next, by which rule and with which probability."""

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import sqlalchemy as sa

from labelworth.arrays import BoolArray, FloatArray, IntArray
from labelworth.campaign.held import sequences_of
from labelworth.campaign.schema import annotators, items, requests, standing
from labelworth.campaign.status import batches
from labelworth.campaign.values import GOLD, Assigned, PlanJob, Settings, is_of_plan, plan_of
from labelworth.data.sequences import Sequences
from labelworth.errors import InfeasiblePlanError, InvalidInputError, NotWantedError
from labelworth.planning.answer import Onto
from labelworth.planning.next import (
    EVERYTHING,
    Batch,
    by_pool,
    chosen_documents,
    counts_of_plan,
    counts_of_policy,
    held_offers,
    next_sequences,
)
from labelworth.policies.choosing import RANDOM, By, Choosing
from labelworth.wording import count as amount


@dataclass(frozen=True)
class Asked:
    """What the items of one arm are asked: one request of a kind of annotators."""

    channel: str
    votes: int
    question: tuple[str, ...] = ()


@dataclass(frozen=True)
class Draw:
    """What is to be drawn."""

    counts: Mapping[str, int]  # Items by rule, or by arm of a plan.
    asks: Mapping[str, Sequence[Asked]]  # By arm; of rules of sequences under `EVERYTHING`.
    why: str
    seed: int | None = None  # None: the number of the batch.
    choosing: Choosing = field(default_factory=Choosing)
    scores: Mapping[int, float] | None = None  # By item; items without one came later, and are not drawn.
    onto: Mapping[str, Onto] = field(default_factory=dict)  # By arm: about which held items; others are new.
    plan: int | None = None  # Whose counts these are.


def drawing(
    settings: Settings,
    asked: Asked,
    *,
    count: int | None,
    job: PlanJob | None,
    by: By,
    policy: str | None,
    audit: bool,
    why: str | None,
    seed: int | None,
    scores: Callable[[], Mapping[int, float]],
) -> Draw:
    """What is drawn for a count of items, or for a plan; `scores` are asked for where items are chosen by them."""
    if by != RANDOM and settings.kind == "sequences":
        raise InvalidInputError("Documents are chosen by a score; of sequences policy= says which tokens to ask.")
    onto: dict[str, Onto] = {}
    if job is not None and count is None:
        (counts, asks, onto), words = asked_by_plan(job, asked), f"plan {job.id}"
    elif count is not None and job is None:
        counts, asks = policy_counts(settings, count, policy), {EVERYTHING: [asked]}
        if audit:
            onto = dict.fromkeys(counts, "labeled")
        words = f"{count:,} drawn by {by}"
        if plan_of(why or "") is not None:
            raise InvalidInputError(
                f"{why!r} is how a batch of a plan is known. Ask for plan=, or say why otherwise."
            )
    else:
        raise InvalidInputError("Say how much is asked for, once: count= or plan=.")
    if job is not None:
        why = f"{words}: {why}" if why else words
    return Draw(
        counts=counts,
        asks=asks,
        why=why or ("audit of annotators" if audit else words),
        seed=seed,
        choosing=Choosing(by=by),
        scores=None if by == RANDOM else scores(),
        onto=onto,
        plan=None if job is None else job.id,
    )


def policy_counts(settings: Settings, count: int, policy: str | None) -> dict[str, int]:
    """How many items are asked about by which rule."""
    if settings.kind == "documents":
        if policy is not None:
            raise InvalidInputError("Documents are labeled whole; a policy is for sequences.")
        return {EVERYTHING: count}
    from labelworth.policies.spec import parse_policy

    return counts_of_policy(parse_policy(policy or EVERYTHING), count)


def asked_by_plan(job: PlanJob, usual: Asked) -> tuple[dict[str, int], dict[str, list[Asked]], dict[str, Onto]]:
    """How many items a plan gives to every arm, what each of these is asked, and which arms are of held ones.

    Arms of a plan without kinds of labels are rules, and all are asked alike.
    """
    if job.record is None:
        raise InfeasiblePlanError(f"Plan {job.id} is {job.state}: {job.error or job.doing}.")
    counts = counts_of_plan(job.record, f"Plan {job.id}", "assign, by count")
    menu = {offer["arm"]: offer for offer in job.record.get("menu", ())}
    if not menu:
        return counts, {EVERYTHING: [usual]}, {}
    about = {kind["kind"]: kind.get("question") for kind in job.record.get("kinds", ())}
    asks = {}
    for arm in counts:
        gold = [Asked(GOLD, 1)] if menu[arm]["gold"] else []
        others = [
            Asked(kind, votes, tuple(str(about[kind]).split(" or ")) if about.get(kind) else ())
            for kind, votes in menu[arm]["asks"].items()
        ]
        asks[arm] = [*gold, *others]
    return counts, asks, held_offers(job.record)


def assigned(connection: sa.Connection, settings: Settings, draw: Draw, *, now: float) -> Assigned:
    """Draw items and write down what is asked of them, in the order of the draw."""
    known = _require_classes(draw, settings)
    if draw.plan is not None:
        _require_not_asked(connection, draw.plan)
    batch = _last_batch(connection) + 1
    seed, parts = batch if draw.seed is None else draw.seed, []
    notes: tuple[str, ...] = ()
    for onto, counts in by_pool(draw.counts, draw.onto, lambda arm: [own.channel for own in known(arm)]):
        own = replace(draw, counts=counts)
        channels = {one.channel for arm in counts for one in known(arm)}
        numbers, taken = _pool(connection, own, onto, channels)
        n_wanted, n_free = sum(counts.values()), int((~taken).sum())
        if n_free < n_wanted:
            words = f"Only {amount(n_free, settings.kind[:-1])} can still be asked about"
            if draw.plan is None or not n_free:
                raise InfeasiblePlanError(f"{words}. Got {n_wanted:,}; ask for fewer, or add some.")
            # A plan counts all items without a label: also those that somebody is asked about, or cannot tell.
            own = replace(own, counts=_so_many_of(counts, n_free, seed))
            notes += (f"{words}, of the {n_wanted:,} that plan {draw.plan} recommends: these are asked for.",)
        parts.append(_drawn(own, settings, numbers, taken, lambda: sequences_of(connection, settings), seed))
    drawn = Batch.joined(parts)
    probabilities = _probabilities(drawn)
    rows = []
    for index, row in enumerate(drawn.rows.tolist()):
        positions = None if drawn.positions is None else drawn.positions[index].tolist()
        if positions == []:
            continue
        for asked in known(drawn.arms[index]):
            rows.append(
                {
                    "item_id": int(numbers[row]),
                    "positions": None if positions is None else json.dumps(positions),
                    "question": json.dumps(list(asked.question), ensure_ascii=False),
                    "channel": asked.channel,
                    "votes": asked.votes,
                    "given": 0,
                    "held": 0,
                    "rule": drawn.arms[index],
                    "drawn_by": RANDOM if drawn.drawn_by is None else drawn.drawn_by[index],
                    "probability": float(probabilities[index]),
                    "batch": batch,
                    "why": draw.why,
                    "created_at": now,
                }
            )
    if rows:
        connection.execute(sa.insert(requests), rows)
    told = _told(connection, batch, rows)
    return replace(told, notes=notes + told.notes)


def _require_not_asked(connection: sa.Connection, plan: int) -> None:
    """Refuse to ask for the same plan twice: its labels would be bought twice."""
    asked = next((batch for batch in batches(connection) if is_of_plan(batch, plan)), None)
    if asked is not None:
        raise NotWantedError(
            f"What plan {plan} recommends was asked for already, as batch {asked.batch}. Plan again, or ask by count."
        )


def _so_many_of(counts: Mapping[str, int], n: int, seed: int) -> dict[str, int]:
    """How many of `n` items that are drawn of a plan's have which arm."""
    drawn = np.random.default_rng([seed, 5]).multivariate_hypergeometric(list(counts.values()), n)
    return dict(zip(counts, drawn.tolist(), strict=True))


def require_last(connection: sa.Connection, batch: int) -> None:
    """Refuse where somebody asked for another batch meanwhile."""
    last = _last_batch(connection)
    if last != batch:
        raise NotWantedError(f"Batch {last} was asked for meanwhile. Look at it before you ask for more.")


def _last_batch(connection: sa.Connection) -> int:
    return int(connection.execute(sa.select(sa.func.coalesce(sa.func.max(requests.c.batch), 0))).scalar_one())


def mean_prices(connection: sa.Connection) -> dict[str, float]:
    """What a label of every kind costs, on average over those who can be asked.

    Managers may label, but are there to manage: they count where a kind of label has nobody else.
    """
    kinds = (annotators.c.channel, annotators.c.role)
    query = sa.select(*kinds, sa.func.avg(annotators.c.price)).where(
        annotators.c.withdrawn_at.is_(None), annotators.c.token_hash.is_not(None)
    )
    rows = connection.execute(query.group_by(*kinds)).all()
    managers_first = sorted(rows, key=lambda row: row.role == "annotator")  # Whoever comes later is kept.
    return {channel: float(price) for channel, _, price in managers_first}


def _told(connection: sa.Connection, batch: int, rows: Sequence[Mapping[str, Any]]) -> Assigned:
    prices = mean_prices(connection)
    labels = [
        int(row["votes"]) * (1 if row["positions"] is None else len(json.loads(row["positions"]))) for row in rows
    ]
    cost = sum(prices.get(row["channel"], 0.0) * n for row, n in zip(rows, labels, strict=True))
    nobody = sorted({row["channel"] for row in rows} - set(prices))
    notes = tuple(f"Nobody gives labels of the kind {channel!r} yet: invite somebody who does." for channel in nobody)
    active = sa.select(sa.func.count()).where(
        annotators.c.withdrawn_at.is_(None), annotators.c.token_hash.is_not(None)
    )
    for channel in sorted({row["channel"] for row in rows} & set(prices)):
        people = int(connection.execute(active.where(annotators.c.channel == channel)).scalar_one())
        votes = max(int(row["votes"]) for row in rows if row["channel"] == channel)
        if votes > people:
            notes += (f"{votes} different annotators of the kind {channel!r} are wanted, and there are {people}.",)
    return Assigned(batch, len({row["item_id"] for row in rows}), len(rows), sum(labels), cost, notes)


def _pool(connection: sa.Connection, draw: Draw, onto: Onto, channels: Collection[str]) -> tuple[IntArray, BoolArray]:
    """All items, and which of them are not to be drawn: to be asked about by these channels."""
    asked = sa.select(requests.c.id).where(requests.c.item_id == items.c.id)
    answered = (
        sa.select(standing.c.answer_id)
        .join(requests, requests.c.id == standing.c.request_id)
        .where(standing.c.item_id == items.c.id)
    )
    if onto == "labeled":
        others = asked.where(requests.c.channel.in_({*channels} - {GOLD}))
        is_taken = sa.or_(~answered.where(requests.c.channel == GOLD).exists(), others.exists())
    elif onto == "answered":
        gold = asked.where(requests.c.channel == GOLD)
        is_taken = sa.or_(~answered.where(requests.c.channel != GOLD).exists(), gold.exists())
    else:
        is_taken = asked.exists()
    rows = connection.execute(sa.select(items.c.id, is_taken.label("taken")).order_by(items.c.id)).all()
    numbers = np.array([row.id for row in rows], dtype=np.int64)
    taken = np.array([bool(row.taken) for row in rows], dtype=bool)
    if draw.scores is not None:
        taken |= np.array([number not in draw.scores for number in numbers.tolist()], dtype=bool)
    return numbers, taken


def _drawn(
    draw: Draw,
    settings: Settings,
    numbers: IntArray,
    taken: BoolArray,
    sequences: Callable[[], Sequences],
    seed: int,
) -> Batch:
    total = sum(draw.counts.values())
    if settings.kind == "sequences":
        return next_sequences(sequences(), draw.counts, seed, taken)
    known = draw.scores or {}
    scores: FloatArray = np.array([known.get(number, 1.0) for number in numbers.tolist()])
    batch = chosen_documents(taken, scores, total, draw.choosing, seed)
    if set(draw.counts) == {EVERYTHING}:
        return batch
    # Arms of a plan, in random order too.
    arms = np.repeat(np.arange(len(draw.counts)), list(draw.counts.values()))
    order = np.random.default_rng([seed, 1]).permutation(arms)
    names = list(draw.counts)
    return Batch(
        batch.rows,
        tuple(names[index] for index in order),
        None,
        seed,
        batch.n_pool,
        batch.probabilities,
        batch.drawn_by,
    )


def _probabilities(batch: Batch) -> FloatArray:
    """With which every item was drawn."""
    if batch.probabilities is not None:
        return batch.probabilities
    return np.full(len(batch.rows), len(batch.rows) / batch.n_pool)


def _require_classes(draw: Draw, settings: Settings) -> Callable[[str], Sequence[Asked]]:
    """What every arm asks; refuses what nobody could answer."""
    for own in (asked for arm in draw.asks.values() for asked in arm):
        if own.votes < 1:
            raise InvalidInputError(f"At least one vote is wanted of a request. Got {own.votes}.")
        unknown = next((name for name in own.question if name not in settings.classes), None)
        if unknown is not None or len(set(own.question)) >= len(settings.classes):
            raise InvalidInputError(
                f"A question is about some of the classes {', '.join(map(repr, settings.classes))}, not all. Got "
                f"{', '.join(map(repr, own.question))}."
            )
    usual = draw.asks.get(EVERYTHING, ())
    return lambda arm: draw.asks.get(arm, usual)
