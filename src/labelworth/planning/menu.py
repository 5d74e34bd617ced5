"""The rules to choose from, what they cost, and which of them the labels held were bought by."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from labelworth.data.lengths import LengthDistribution
from labelworth.data.protocol import Data
from labelworth.errors import InvalidInputError, NotIdentifiableError
from labelworth.estimators.pools.pool import Pool
from labelworth.planning.answer import Held
from labelworth.policies.rule import Rule
from labelworth.policies.spec import read_rules
from labelworth.tradeoff.costs import ArmPrices, Prices

USUAL_MENU = ("everything", "nothing")


def read_menu(rules: Sequence[Any] | str | None, pool: Pool[Any], *, uses_unlabeled: bool) -> list[Rule]:
    """The rules to choose from; without "nothing" where unlabeled samples are not to be learned from.

    Raises
    ------
    NotIdentifiableError
        If no rule labels anything.
    """
    listed = rules.split(",") if isinstance(rules, str) else rules
    menu = read_rules([rule.strip() if isinstance(rule, str) else rule for rule in listed or USUAL_MENU])
    menu = list(dict.fromkeys(menu))
    if pool.is_conditional or not uses_unlabeled:
        menu = [rule for rule in menu if rule.spec != "nothing"]
    if not any(rule.expected_labels(length) > 0 for rule in menu for length in pool.lengths.lengths.tolist()):
        raise NotIdentifiableError(
            "No rule on the menu labels anything, so labels have no names. Add one, as everything or window:5."
        )
    return menu


def arm_prices(
    pool: Pool[Any], menu: Sequence[Rule], prices: Prices, lengths: LengthDistribution | None = None
) -> ArmPrices:
    """Of one more sample by every rule, of these lengths or of all there are; the fixed part was paid before."""
    each = _per_position(pool, prices).of_rules(list(menu), lengths or pool.lengths)
    if not any(price for arm, price in zip(each.arms, each.per_sample, strict=True) if arm != "nothing"):
        raise InvalidInputError("A label must have a price: without one there is nothing to trade off.")
    return ArmPrices(each.arms, each.per_sample)


def held_before(pool: Pool[Any], prices: Prices) -> Held:
    """What there is before the plan."""
    own, labeled = _per_position(pool, prices), pool.is_labeled
    read = int(pool.data.lengths[labeled].sum())
    cost = own.fixed + own.per_label * pool.n_labels + own.per_token * read + own.per_sequence * pool.n_labeled
    return Held(
        pool.kind,
        pool.n_samples,
        pool.n_labeled,
        pool.n_labels,
        pool.n_unlabeled,
        pool.n_parameters,
        tuple(str(name) for name in pool.data.evidence.classes),
        cost,
        None,
        named="" if pool.samples == pool.kind else pool.samples,
    )


def _per_position(pool: Pool[Any], prices: Prices) -> Prices:
    """The same prices where a position, not a token, is what is read."""
    tokens = pool.tokens_per_position
    if tokens is None:
        if prices.per_token:
            raise InvalidInputError("per_token needs the lengths of the documents, and vectors have none.")
        return prices
    return replace(prices, per_token=prices.per_token * tokens)


def held_by_rule(data: Data, menu: Sequence[Rule]) -> dict[str, float]:
    """How many samples with labels count to every rule of a menu.

    A sample counts to the rule that asks for the nearest number of labels at its length, of several such to the
    first: which rule it was labeled by is not on record.

    Examples
    --------
    >>> from labelworth.data.evidence import Evidence
    >>> from labelworth.data.sequences import Sequences
    >>> from labelworth.policies.spec import parse_rule
    >>> codes = np.array([0, 1, 0, 1, -1, 1, 0, -1, -1, -1, -1, -1])
    >>> three = Sequences(np.zeros(12, dtype=int), np.array([0, 4, 8, 12]), Evidence(codes, ("A", "B")), ("x",))
    >>> held_by_rule(three, [parse_rule("everything"), parse_rule("window:2"), parse_rule("nothing")])
    {'everything': 1.0, 'window:2': 1.0, 'nothing': 0.0}
    """
    seen = (~data.evidence.is_unlabeled).astype(np.int64)
    labels = np.add.reduceat(seen, np.cumsum(data.lengths) - data.lengths)
    held = {rule.spec: 0.0 for rule in menu} | {"nothing": 0.0}
    labeling = [rule for rule in menu if rule.spec != "nothing"]
    pairs, counts = np.unique(np.stack([data.lengths, labels])[:, labels > 0], axis=1, return_counts=True)
    for (length, number), count in zip(pairs.T.tolist(), counts.tolist(), strict=True):
        nearest = min(labeling, key=lambda rule: abs(rule.expected_labels(length) - number))
        held[nearest.spec] += count
    return held
