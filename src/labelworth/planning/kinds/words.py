"""A plan with kinds of labels in plain words: whom to ask how much, and what their answers are worth."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from labelworth.wording import count, money, number

if TYPE_CHECKING:
    from labelworth.planning.answer import KindWorth, Offer, Onto, Plan

_HELD: dict["Onto", str] = {"new": "", "answered": " that have answers", "labeled": " that have gold"}


def action(plan: "Plan") -> str:
    """What to buy, the money first."""
    design = plan.recommended
    return f"For {money(design.cost, plan.currency)}: {mix(plan, [arm.count for arm in design.arms], costs=True)}."


def mix(plan: "Plan", counts: Sequence[float], *, costs: bool = False) -> str:
    """How many documents go to whom.

    Parameters
    ----------
    costs : bool
        Whether every part says what it costs.
    """
    parts, rest = [], 0.0
    for offer, amount in zip(plan.menu, counts, strict=True):
        if offer.arm == "nothing":
            rest = amount
        elif amount > 0:
            paid = f" ({money(amount * offer.price, plan.currency)})" if costs else ""
            parts.append(f"{_given(plan, offer, amount)}{paid}")
    told = ", ".join(parts) or "nobody is asked"
    return f"{told}; {count(rest, plan.held.sample)} without any answer" if rest and costs else told


def _given(plan: "Plan", offer: "Offer", amount: float) -> str:
    documents = count(amount, plan.held.sample)
    if offer.part not in (None, "everything"):
        documents = f"{offer.part} of {documents}"
    documents += _HELD[offer.onto]
    if not offer.asks:
        return f"gold labels for {documents}"
    asked = " and ".join(_asked(plan, kind, votes) for kind, votes in offer.asks.items())
    return f"gold and {asked} on the same {documents}" if offer.gold else f"{asked} on {documents}"


def _asked(plan: "Plan", kind: str, votes: int) -> str:
    about = next((own.question for own in plan.kinds if own.kind == kind), None)
    name = kind if about is None else f"{kind} ({question_words(about)})"
    return name if votes == 1 else f"{votes} votes of {name}"


def question_words(about: str) -> str:
    return f"is it {about}?"


def worth_lines(plan: "Plan") -> list[str]:
    """What every kind's answers are worth, and which question is the best."""
    return [*(_worth(plan, own) for own in plan.kinds), *_best_question(plan)]


def _worth(plan: "Plan", own: "KindWorth") -> str:
    price, bought = money(own.price, plan.currency), count(round(own.answers), "answer")
    named = f"An answer of {own.kind}"
    if own.is_left and not own.is_new_left:
        named += f" about {plan.held.samples} that have gold, all that are left to ask about,"
    if own.worth is None:
        if own.is_needed:
            return f"{named} is worth any price: without {own.kind} nothing does what is asked. You pay {price}."
        told = f"{named} costs {price}: {bought} to buy; at what price others would do as well is not known."
        none = f"No {plan.held.sample} is left that {own.kind} could be asked about: none to buy."
        return told if own.is_left else none
    if not own.is_clear and own.of_answers:
        return f"{_untold(plan, own)} You pay {price}: {bought} to buy."
    if own.stands_for is not None and own.of_answers:
        does = f"{count(round(own.of_answers), 'answer')} of {own.kind} do as much as"
        gold = count(round(own.stands_for), "gold label") if own.stands_for >= 0.5 else "no gold label"
        named = f"{does} {gold}, so one"
    paid = f"you pay {price}" if own.price else "it is taken to cost nothing"
    worth = f"at most {money(f'{own.worth:.2g}', plan.currency)}" if own.worth > 0 else "nothing"
    opening = f"{named} is worth {worth}; {paid}"
    if not own.answers:
        return f"{opening}{_why_none(plan, own, own.worth)}"
    why = ""
    if own.worth < own.price:
        why = ". Alone that is too dear; beside the other labels they do more"
        if plan.certificate is not None and not plan.certificate.if_convex:
            why = ". That is too dear; it only fills up what whole numbers of the others leave"
    return f"{opening}{why}: {bought} to buy."


def _why_none(plan: "Plan", own: "KindWorth", worth: float) -> str:
    """Why none of a kind is bought, to stand behind what it is worth and costs."""
    if not own.price:
        return " (say its price, if it has one), and nothing with it is clearly better, none to buy."
    if worth <= own.price:
        return ": too dear, none to buy."
    least = math.inf if own.worth_ends is None else own.worth_ends[0]
    if least >= own.price:
        return ": others do more for the money, none to buy."
    told = money(f"{least:.2g}", plan.currency)
    return f". In simulated draws it may be worth as little as {told}, and a plan goes by what is sure: none to buy."


def _untold(plan: "Plan", own: "KindWorth") -> str:
    """That a simulation cannot tell answers from nothing, and what can; or that they do harm."""
    most, drawn = (own.worth_ends or (0.0, 0.0))[1], count(round(own.of_answers or 0), "answer")
    if most <= 0:
        return (
            f"An answer of {own.kind} is worth nothing: in simulated draws a model that learns from {drawn} errs "
            "more than one without them."
        )
    return (
        f"What an answer of {own.kind} is worth cannot be told from zero: in simulated draws what {drawn} do is "
        f"within chance, so one is worth {money(f'{most:.2g}', plan.currency)} at most. Answers to some "
        f"{plan.held.samples} with gold would tell: get them, then `labelworth check --answers`."
    )


def _best_question(plan: "Plan") -> list[str]:
    asked = [own for own in plan.kinds if own.question is not None and own.worth]
    if len(asked) < 2:
        return []
    best = max(asked, key=lambda own: (own.worth or 0.0) / own.price if own.price else math.inf)
    return [f"The best question for its price: {question_words(best.question or '')} ({best.kind})"]


def next_samples(plan: "Plan", arm: str, how_many: int) -> str:
    """The next samples of an arm."""
    offer = next(own for own in plan.menu if own.arm == arm)
    if offer.onto != "new":
        whom = "with answers given gold labels" if offer.gold else f"with gold answered by {' + '.join(offer.asks)}"
    elif offer.part is not None:
        whom = "labeled whole" if arm == "everything" else f"with {arm}"
    else:
        whom = "with gold labels" if arm == "gold" else f"answered by {arm}" if " + " not in arm else f"with {arm}"
    return f"{'' if how_many == 1 else number(how_many) + ' '}{plan.held.sample}{'' if how_many == 1 else 's'} {whom}"


def asks_held(plan: "Plan", arm: str) -> bool:
    """Whether an arm asks more about samples that are held, of which there are some left where it is listed alone."""
    onto = {offer.arm: offer.onto for offer in plan.menu}
    return all(onto[own.arm] != "new" for own in plan.worth if own.arm != "nothing") and onto[arm] != "new"


def all_asked(plan: "Plan", n_asked: float) -> str:
    """That no sample is left, and where more money would go if it does anything."""
    if not n_asked:
        return f"There is no {plan.held.sample} left to ask about."
    told = f"All {count(n_asked, plan.held.sample)} that were left are asked about"
    dearer = [own for own in plan.solutions.budgets if (own.cost_in_all or 0.0) > plan.recommended.cost_in_all]
    if any(own.error is not None and own.error < plan.recommended.error for own in dearer):
        return f"{told}: more money would buy dearer answers in place of these."
    return f"{told}."
