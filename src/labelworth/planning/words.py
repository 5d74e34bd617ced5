"""A plan in plain words: what to label, what it buys, what it costs, what the next label is worth, and why."""

import math
from typing import TYPE_CHECKING

from labelworth.planning.answer import LEVEL, Interval
from labelworth.planning.units import apart, criterion_words, ends_in_units, in_a_sentence, in_units, target_words
from labelworth.simulation.metrics import is_metric
from labelworth.tradeoff.direction import direction_of
from labelworth.tradeoff.problem import LOGARITHMIC, SHARES, UNSEEN, in_percent
from labelworth.wording import count, money, number, odds_in_words, percent

if TYPE_CHECKING:
    from labelworth.planning.answer import ArmCount, Plan
    from labelworth.simulation.selection import ModelChoice


UNLABELED_DATA = "unlabeled data"
"""The check that has a line of its own."""
SIMULATED_LABELS = "simulated labels"
"""The check of whether simulated labels are as hard to learn as real ones."""
EXAMPLES = "examples of the class"
"""The check of whether there are enough of the class that a metric hangs on to stop, or to give a target up."""
LABELS_PER_CLASS = "labels per class"
"""The check that is said first where it is bad: what lacks classes is no forecast of all of them."""

_ROUNDING = 1e-13
CHOICE_NOISE = 0.02
"""By how much forecast differences of chosen and random rows were off, means over draws (docs/studies/chosen.md)."""


def lines(plan: "Plan") -> list[str]:
    """Seven lines, eight where a model was chosen, then a line per warning; what to do comes first.

    Where a target is refused, that comes before it. Where a larger pilot comes first, a line says why: classes that
    the pilot lacks are reason enough.
    Where there is nothing left to label, or no forecast, nothing is said of how far labels can go.
    """
    missing = [check.words for check in plan.checks if check.name == LABELS_PER_CLASS and check.state == "bad"]
    warned = [
        f"Warning: {check.words}"
        for check in plan.checks
        if check.state in ("warning", "bad") and check.name != UNLABELED_DATA and check.words not in missing
    ]
    return [
        *(() if plan.refusal is None else (plan.refusal,)),
        _action(plan) if plan.refusal is None else _nearest_action(plan),
        *(missing or _why_pilot(plan)),
        _expectation(plan),
        _money(plan),
        *_kinds(plan),
        _worth(plan),
        *_chosen(plan),
        *_limit(plan),
        _unlabeled(plan),
        *_model(plan),
        _source(plan),
        *warned,
    ]


def next_samples(plan: "Plan") -> int:
    """How many more samples their worth is told of."""
    return plan.worth[0].n_next if plan.worth else 1


def _carried_out(plan: "Plan") -> float:
    """Samples that are labeled when the next ones come: those of the plan, unless a larger pilot comes first."""
    if plan.advice == "larger pilot":
        return 0.0
    onto = {offer.arm: offer.onto for offer in plan.menu}
    return sum(
        arm.count
        for arm in plan.recommended.arms
        # What has gold is labeled before.
        if arm.arm != "nothing" and onto.get(arm.arm) != "labeled"
    )


def _kinds(plan: "Plan") -> list[str]:
    """What kinds of labels are worth."""
    if not plan.menu:
        return []
    from labelworth.planning.kinds import words as kind_words

    return kind_words.worth_lines(plan)


def _before_next(plan: "Plan") -> float:
    """The error when the next samples come."""
    today = plan.held.error
    return today if plan.advice == "larger pilot" and today is not None else plan.recommended.error


def _between(plan: "Plan") -> str:
    """Whole numbers of labels; where their upper end is all there are, a target may take more than that."""
    interval = plan.open_labels
    if interval is None or round(interval.low) == round(interval.high):
        return ""
    is_all = plan.held.kind == "documents" and round(interval.high) >= plan.held.n_pool
    or_more = ", or the target is out of reach" if is_all and plan.question.problem == "target" else ""
    return f" ({percent(interval.level)}: {number(round(interval.low))}-{number(round(interval.high))}{or_more})"


def _nearest_action(plan: "Plan") -> str:
    """What to do where the target is out of reach: as the refusal says what would tell more, not to stop."""
    if plan.advice == "stop":
        own = plan.question.criterion
        return f"The labels held are the best that can be had: more would not {direction_of(own).verb} {_what(own)}."
    action = _action(plan)
    return f"The best that can be had: {action[0].lower()}{action[1:]}"


def _action(plan: "Plan") -> str:
    if plan.advice == "stop":
        return f"Stop labeling: {plan.why_stop}"
    if plan.advice == "larger pilot":
        more = plan.more_pilot or 0
        some = count(more, "more " + plan.held.sample)
        target = target_words(plan.question.value, plan.question.criterion, article="the")
        first = f"Label {some} drawn at random (`labelworth next --count {more}`), then plan again"
        return f"{first}: whether {target} can be met cannot be told yet." if plan.is_open else f"{first}."
    if plan.menu:
        from labelworth.planning.kinds import words as kind_words

        return kind_words.action(plan)
    design, interval = plan.recommended, _between(plan)
    if plan.held.kind == "documents":
        return (
            f"Label {count(design.labels, 'more ' + plan.held.sample)}{interval}: "
            f"{number(design.labels_in_all)} labels in all."
        )
    chosen = [arm for arm in design.arms if arm.labels > 0 and arm.count > 0]
    parts = " and ".join(_arm(arm) for arm in chosen)
    return (
        f"Label {parts}: {count(round(design.labels), 'more label')}{interval}, "
        f"{number(round(design.labels_in_all))} in all."
    )


def _why_pilot(plan: "Plan") -> list[str]:
    """Why a larger pilot comes first: figures say to stop, or to go far, and cannot be trusted with it."""
    if plan.advice != "larger pilot":
        return []
    few = any(check.name == EXAMPLES and check.state == "warning" for check in plan.checks)
    if plan.is_open:
        but = f"the {percent(LEVEL)} interval does"
        if few:
            but = "the pilot has too few examples of one class to give it up"
        return [f"The forecast reaches it with no number of labels, but {but}.{_odds(plan)}"]
    more, pilot = plan.more_pilot or 0, f"the pilot of {count(plan.held.n_labels, 'label')} is too small to"
    but = "the pilot has too few examples of one class to" if few else pilot
    why = f"The forecast says to stop, as {plan.why_stop} But {but} stop on it.{_odds(plan)}"
    if plan.why_stop is None:
        far, is_small = number(round(plan.recommended.labels_in_all)), more <= plan.held.n_labeled
        but = f"{pilot} go that far on it" if is_small else "none is followed beyond ten times the labels held"
        why = f"The forecast says to go on to {far} labels in all. But {but}."
    return [why]


def _odds(plan: "Plan") -> str:
    """That the larger pilot tells whether the target is met, and what would make them even."""
    if plan.odds is None:
        return ""
    even = ""
    # Odds that are told as even need no more labels to become so.
    if plan.odds.even is not None and plan.odds.even > (plan.more_pilot or 0) and round(10 * plan.odds.odds) < 5:
        even = f"; {number(plan.odds.even)} more would make them even"
    is_met = "can be met" if plan.is_open else "is met"
    return f" The odds that this tells whether the target {is_met} are {odds_in_words(plan.odds.odds)}{even}."


def _arm(arm: "ArmCount") -> str:
    samples = count(arm.count, "sequence")
    return f"{samples} whole" if arm.arm == "everything" else f"{samples} by {arm.arm}"


def _expectation(plan: "Plan") -> str:
    own, interval = plan.question.criterion, plan.error_interval
    criterion = plan.criterion_words[:1].upper() + plan.criterion_words[1:]
    between = f" ({ends_in_units(interval, own)})" if interval is not None and interval.low != interval.high else ""
    is_same = plan.held.error is None or not plan.recommended.labels
    now = "" if is_same else f"; with the labels held, {in_units(plan.held.error, own)}"
    curve = plan.forecast
    if not plan.held.n_pool and curve is not None and curve.measured_error:
        # All there is was measured: who counts errors on held-out parts sees these.
        now = f"; learned from four fifths of them and tested on the rest, {in_units(curve.measured_error[-1], own)}"
    when = "then" if plan.recommended.labels else "with the labels held"
    if plan.advice == "larger pilot":
        # Of what the forecast is for, which is not what is to be done first.
        in_all = count(round(plan.recommended.labels_in_all), "label")
        when, now = (f"with {in_all} in all", now) if _is_far(plan) else (f"with the {in_all} held", "")
    return f"{criterion} to expect {when}: {in_units(plan.recommended.error, own)}{between}{now}."


def _is_far(plan: "Plan") -> bool:
    """Whether figures are of more labels than are to be had before planning again."""
    return plan.advice == "larger pilot" and plan.recommended.labels > 0


def _money(plan: "Plan") -> str:
    """What is to be paid for what the headline says; of what a forecast goes on to, the sum."""
    design, question, own, cost = plan.recommended, plan.question, plan.currency, plan.recommended.cost
    is_first = plan.advice == "larger pilot"
    if is_first:
        per_sample = plan.prices.get("per_sample", {})
        each = per_sample.get("gold", per_sample.get("everything"))
        if each is None:
            held = money(plan.held.cost, own)
            return f"What is held has cost {held}; no more than the larger pilot is to be paid now."
        cost = (plan.more_pilot or 0) * each
    in_all = plan.held.cost + cost
    paid = f"That costs {money(cost, own)}, {money(in_all, own)} with what is held"
    if is_first and _is_far(plan) and not plan.is_open:
        labels = count(round(design.labels_in_all), "label")
        return f"{paid}; the {labels} of the forecast would cost {money(design.cost_in_all, own)} in all."
    if is_first and question.problem != "budget":
        return f"{paid}."
    if question.problem == "budget":
        left = money(max(question.value - in_all, 0.0), own)
        return f"{paid}, of a budget of {money(question.value, own)} ({left} left over)."
    if question.problem == "target":
        return f"{paid}: the least for {target_words(question.value, question.criterion)}."
    return f"{paid}; {_price_of_error(plan)}."


def _price_of_error(plan: "Plan") -> str:
    criterion, own = plan.question.criterion, plan.currency
    if not in_percent(criterion):
        return f"one unit of error was taken to cost {money(plan.question.value, own)}"
    point = money(plan.question.value / 100, own)
    if is_metric(criterion):
        return f"one point (1 %) of {plan.criterion_words} was taken to be worth {point}"
    return f"one point (1 %) of error was taken to cost {point}"


def _worth(plan: "Plan") -> str:
    labeled = [worth for worth in plan.worth if worth.arm != "nothing"]
    if not labeled:
        return "What the next label is worth is not known."
    # By what is sure of it, as plans are made; what buys nothing is told where nothing buys anything.
    best = max(labeled, key=lambda worth: (worth.next_gain > 0, (worth.gain - worth.noise) / (worth.price or 1.0)))
    n_next = next_samples(plan)
    named, is_all = _next_samples(plan, best.arm, n_next), plan.held.n_left - _carried_out(plan) < 1
    opening = f"{'After that the' if _carried_out(plan) else 'The'} next {named}"
    if is_all and plan.menu:
        from labelworth.planning.kinds import words as kind_words

        everybody = kind_words.all_asked(plan, _carried_out(plan))
        if best.next_gain <= 0 or not kind_words.asks_held(plan, best.arm):
            return everybody
        opening = f"{everybody} The next {named}"
    elif is_all:
        opening = f"That is all there is; {named} more of the same kind"
    one, own = n_next == 1, plan.question.criterion
    way = direction_of(own)
    verb = way.verb
    if best.next_gain <= 0:
        flat = f"the forecast does not {way.goes} {'any further' if _farther(plan) is None else 'over so few'}"
        return f"{opening} {'is' if one else 'are'} forecast to buy nothing: {flat}."
    if own not in LOGARITHMIC and best.next_gain < UNSEEN * _before_next(plan):
        small = "by less than a thousandth of itself: nobody can tell that from nothing"
        return f"{opening} would {verb} {_what(own)} {small}."
    if not best.is_clear:
        gain, most = (apart(value, own) for value in (best.next_gain, best.next_gain + n_next * best.noise))
        by = f"{gain} ({percent(LEVEL)}: at most {most})"
        return f"{opening} would {verb} {_what(own)} by {by}, which the forecast cannot tell from nothing."
    fall = _fall(plan, best.next_gain)
    between = ""
    if best.gain_se:
        low, high = (apart(best.next_gain + sign * n_next * best.noise, own) for sign in (-1, 1))
        between = f"; {percent(LEVEL)}: {low.partition(' point')[0]}-{high}"
    # A function of costs says what one more costs, not several.
    has_price = best.gain_per_money is not None and "function" not in plan.prices
    price = f", for {money(n_next * best.price, plan.currency)}" if has_price else ""
    more = ""
    if best.unlabeled_samples is not None:
        more = f"; {count(math.ceil(n_next * best.unlabeled_samples), 'more unlabeled one')} would do as much"
    return f"{opening} {verb}{'s' if one else ''} {fall}{between}){price}{more}."


def _chosen(plan: "Plan") -> list[str]:
    """What chosen rows buy beside rows at random, and what the next of them are worth; nothing where nobody asked."""
    told, own = plan.chosen, plan.question.criterion
    if told is None:
        return []
    error, at_random = (in_units(value, own) for value in (told.error, told.error_at_random))
    between = "" if told.interval is None else f" ({ends_in_units(told.interval, own)})"
    alike = "" if told.as_many is None else f", as {number(round(told.as_many))} at random would have"
    rows = f"{number(told.n_rows)} rows chosen by {told.by}"
    first = f"With {rows} {_what(own)} is {error}{between}{alike}; with as many at random {at_random}."
    if told.interval is not None and own == "error":
        lead = told.error_at_random - told.error
        pays = "choosing pays" if lead > CHOICE_NOISE else "rows at random are the safe choice"
        more = "more" if lead > CHOICE_NOISE else "no more"
        first += f" That is {more} than such differences were off on real texts ({apart(CHOICE_NOISE, own)}): {pays}."
    if told.gain <= 0:
        return [f"{first} The next {told.n_next} chosen rows are forecast to buy nothing."]
    today = told.today
    chosen, plain = (in_units(today - gain, own) for gain in (told.gain, told.gain_at_random))
    second = (
        f"From today's {in_units(today, own)} the next {told.n_next} chosen rows would {direction_of(own).verb} it "
        f"to {chosen} (at random to {plain})"
    )
    cost = f", for {money(f'{told.cost:.4g}', plan.currency)}"
    if plan.question.problem != "alpha":
        return [f"{first} {second}{cost}."]
    worth = plan.question.value * told.gain
    side = "more" if worth > told.cost else "less"
    return [f"{first} {second}{cost}; that is worth {money(f'{worth:.3g}', plan.currency)}, {side} than they cost."]


def _fall(plan: "Plan", gain: float) -> str:
    """From where to where, with the digits in which the two differ; a parenthesis is left open."""
    own, before = plan.question.criterion, _before_next(plan)
    is_share = in_percent(own)
    scale, unit = (100.0, " %") if is_share else (1.0, "")
    first, last = (scale * direction_of(own).reached(error) for error in (before, before - gain))
    decimals = max(1 if is_share else 0, math.ceil(-math.log10(scale * gain)))
    if not math.isclose(round(first, decimals) - round(last, decimals), round(first - last, decimals), rel_tol=1e-6):
        decimals += 1
    difference = f"{abs(first - last):.{decimals}f}{' points' if is_share else ''}"
    return f"{_what(own)} from {first:.{decimals}f}{unit} to {last:.{decimals}f}{unit} ({difference}"


def _farther(plan: "Plan") -> float | None:
    """From how many labels in all on the forecast is lower than when the next samples come; None: nowhere."""
    here = gold_in_all(plan) if _carried_out(plan) else plan.held.n_labels
    return None if plan.forecast is None else plan.forecast.lower_from(here, _before_next(plan))


def _limit(plan: "Plan") -> list[str]:
    """How far the labels held are from what this model can ever reach."""
    limit, own, today = plan.limit, plan.question.criterion, plan.held.error
    if limit is None or limit.gain is None or today is None:
        return []
    between = "" if limit.interval is None else f" ({ends_in_units(limit.interval, own)})"
    everything = f"All {number(round(limit.labels_in_all))} labels"
    if plan.held.kind == "sequences":
        # How many labels those carry is known of the mean sequence alone.
        everything = "Labels of all sequences that can be had"
    reached = f"{everything} would bring {_what(own)} to "
    reached += f"{in_units(limit.error, own)}{between}"
    before = f"today's {in_units(today, own)}"
    if own in LOGARITHMIC:
        return [f"{reached}, from {before}."]
    if limit.gain <= UNSEEN * today or in_units(limit.error, own) == in_units(today, own):
        nothing = "nothing" if limit.gain <= 0 else "next to nothing"
        bound = direction_of(own).bound
        # Forecasts may dip before: who is told to label some is not told that labels buy nothing.
        so = "" if plan.advice == "label" else f": more labels buy {nothing} with this model"
        return [f"{reached}, no {bound} than {before}{so}.{_floor(plan)}"]
    left = f"about {apart(limit.gain, own)} can still be bought with this model"
    left = f"{'from' if direction_of(own).is_rising else 'of'} {before}, {left}"
    if gold_in_all(plan) >= limit.labels_in_all:
        return [f"That labels everything there is: {left}.{_floor(plan)}"]
    return [f"{reached}; {left}.{_floor(plan)}"]


def gold_in_all(plan: "Plan") -> float:
    """Labels once the plan is carried out; answers of kinds of labels are none."""
    if not plan.menu:
        return plan.recommended.labels_in_all
    arms = zip(plan.menu, plan.recommended.arms, strict=True)
    return plan.held.n_labels + sum(arm.count * offer.positions for offer, arm in arms if offer.gold)


def _floor(plan: "Plan") -> str:
    """What no number of labels takes away, where the pilot shows that there is something and how much."""
    limit, own = plan.limit, plan.question.criterion
    # A warning says what there is to say of it.
    is_warned = any(check.name == SIMULATED_LABELS and check.state == "warning" for check in plan.checks)
    if is_warned or limit is None or limit.floor is None or limit.floor.mean >= limit.error:
        return ""
    # A pilot that does not know it to a factor of two has not shown it.
    if limit.floor.low <= 0 or 2 * limit.floor.low < limit.floor.mean:
        return ""
    # What stays is no more than all labels leave.
    most = limit.floor.high if limit.interval is None else min(limit.floor.high, limit.interval.high)
    ends = ends_in_units(Interval(limit.floor.low, most), own)
    return f" About {in_units(limit.floor.mean, own)} ({ends}) stays with this model, however many labels there are."


def _what(criterion: str) -> str:
    return in_a_sentence(criterion) if in_percent(criterion) else "it"


def _next_samples(plan: "Plan", arm: str, n_next: int) -> str:
    if plan.menu:
        from labelworth.planning.kinds import words as kind_words

        return kind_words.next_samples(plan, arm, n_next)
    how_many = "" if n_next == 1 else f"{number(n_next)} "
    if plan.held.kind == "documents":
        return f"{how_many}label{'' if n_next == 1 else 's'}"
    how = "whole" if arm == "everything" else f"by {arm}"
    return f"{how_many}sequence{'' if n_next == 1 else 's'} labeled {how}"


def _unlabeled(plan: "Plan") -> str:
    if plan.held.kind == "documents" and not plan.held.n_pool:
        return f"There is no unlabeled data: every {plan.held.sample} has a label."
    verdict = next((check for check in plan.checks if check.name == UNLABELED_DATA), None)
    opening = "Use the unlabeled data" if plan.uses_unlabeled else "Do not use the unlabeled data"
    return f"{opening}." if verdict is None else f"{opening}: {verdict.words}"


def _model(plan: "Plan") -> list[str]:
    """Which model was chosen and what is beside it: the best of every other kind."""
    choice = plan.models
    if choice is None:
        return []
    others = [f"{other.name} {in_units(other.error, 'error')}" for other in choice.rivals]
    beside = f"; {', '.join(others)}" if others else ""
    how_many, error = count(1 + len(choice.others), "model"), in_units(choice.chosen.error, "error")
    rank = "one" if choice.by_forecast else "the best, by error and doubt together,"
    return [
        f"Model: {choice.chosen.name}, error {error}{beside} ({rank} of {how_many}, "
        f"cross-validated on {count(choice.n_labels, 'label')} in {number(choice.n_fits)} fits)."
        f"{_rival(plan)}{_optimism(choice)}"
    ]


def _optimism(choice: "ModelChoice") -> str:
    """What the forecast adds for having chosen the model, if that is anything to speak of."""
    shift = choice.optimism["error"].shift
    return f" The forecast adds {apart(shift, 'error')} for having chosen the model." if shift >= UNSEEN / 2 else ""


def _rival(plan: "Plan") -> str:
    """What the model and its rival are forecast to reach, from when on which is better, and why this one."""
    choice = plan.models
    rival = None if choice is None else choice.rival
    if choice is None or rival is None or rival.forecast is None or choice.chosen.forecast is None:
        return ""
    levels = [f"{model.name} {in_units(model.forecast, plan.question.criterion)}" for model in (choice.chosen, rival)]
    heading = forecast_heading(plan)
    told = f" {heading[0].upper()}{heading[1:]}: {', '.join(levels)}"
    crossing = crossing_words(plan)
    since = f" ({crossing})" if crossing else ""
    if choice.by_forecast:
        return f"{told}, so the plan is for {choice.chosen.name}, though {rival.name} is best on the pilot{since}."
    if choice.is_close:
        lead = apart(choice.chosen.forecast - rival.forecast, plan.question.criterion)
        less = f"{lead} {'is' if lead == '1 point' else 'are'} less than forecasts may be off"
        return f"{told}; {less}, so compare again after the next batch{since}."
    return f"{told}{f'; {crossing}, so compare again after the next batch' if crossing else ''}."


def forecast_heading(plan: "Plan") -> str:
    """What models are forecast to reach, and with how many labels; named where it is not the error told before."""
    own = "" if plan.question.criterion == SHARES[0] else f" {criterion_words(plan.question.criterion)}"
    return f"forecast{own} with {number(round(plan.recommended.labels_in_all))} labels"


def crossing_words(plan: "Plan") -> str:
    """From when on the best of the comparison is no longer the better one; empty: not as far as forecasts go."""
    choice = plan.models
    later = None if choice is None else choice.chosen if choice.by_forecast else choice.rival
    if choice is None or choice.crossing is None or later is None:
        return ""
    is_now = choice.crossing <= plan.held.n_labels
    since = "already with the next labels" if is_now else f"from about {number(choice.crossing)} labels on"
    return f"{since} {later.name} is forecast to be better"


def _source(plan: "Plan") -> str:
    proof = plan.certificate
    if proof is None:
        # Nothing is known of other designs.
        return f"Figures are {plan.source} ({plan.reason})."
    if proof.if_convex:
        bent = (
            "an error need not be convex"
            if plan.menu and plan.held.kind == "documents"
            else "sampling may have bent the curve"
        )
        proved = (
            f"found along the slope, no certificate: {bent}; were it convex, no other "
            f"design would be {_better(plan, proof.gap)}"
        )
    else:
        proved = f"no other design is {_better(plan, proof.gap)}"
    return f"Figures are {plan.source} ({plan.reason}); {proved}."


def _better(plan: "Plan", gap: float) -> str:
    """By more than a gap, or at all where the gap is rounding."""
    error, cost = abs(plan.recommended.error), plan.recommended.cost_in_all
    figure = {"budget": error, "target": cost, "alpha": cost + plan.question.value * error}[plan.question.problem]
    if gap <= _ROUNDING * figure:
        return "better"
    is_error = plan.question.problem == "budget"
    by = apart(gap, plan.question.criterion) if is_error else money(gap, plan.currency)
    return f"better by more than {by}"
