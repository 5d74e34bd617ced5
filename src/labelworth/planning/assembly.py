"""From a situation and a question to a plan, the same for documents and sequences, formulas and simulation."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from labelworth.arrays import FloatArray
from labelworth.data.kept import Checkpoint
from labelworth.errors import InfeasiblePlanError
from labelworth.planning.answer import (
    LEVEL,
    NORMAL_95,
    Advice,
    Check,
    Design,
    Interval,
    KindWorth,
    Odds,
    Plan,
    PlanQuestion,
    open_labels,
)
from labelworth.planning.formulas.sampled import joined_error
from labelworth.planning.grids import grid_solutions
from labelworth.planning.kinds.rays import KindsAccuracy, simulated_worths
from labelworth.planning.landscape import ForecastCurve, Surface
from labelworth.planning.outcome import cloud, curve_counts, forecast_curve, labels_of, surface, with_gains, worth
from labelworth.planning.situation import Alternatives, Band, Situation
from labelworth.planning.solving import Solved, may_be_met, solved
from labelworth.planning.trust.checks import (
    Width,
    example_checks,
    examples_wanted,
    faith_checks,
    parameter_check,
    parameters_need,
    pilot_check,
    pilot_needed,
)
from labelworth.planning.trust.odds import even_round, is_settled, odds_of_examples, odds_of_settling
from labelworth.planning.trust.stop import buys_little, more_pilot, why_stop
from labelworth.planning.uncertainty import band_intervals, spread
from labelworth.planning.units import apart, criterion_words, flat_beyond, in_units
from labelworth.planning.words import LABELS_PER_CLASS
from labelworth.progress import SILENT, Progress
from labelworth.simulation.asking import MOST_TIMES
from labelworth.simulation.selection import ModelChoice
from labelworth.tradeoff.direction import direction_of
from labelworth.tradeoff.problem import Question
from labelworth.wording import money, number, percent


@dataclass(frozen=True, eq=False)
class Background:
    """What a plan tells beside the answer."""

    uses_unlabeled: bool
    reason: str  # Why that source.
    checks: Sequence[Check]
    notes: Sequence[str]
    pilot: dict[str, Any]
    model: str
    seed: int
    models: ModelChoice | None = None  # How the model was chosen.
    n_examples: int | None = None  # Labeled samples of the class that a metric hangs on, of macro-F1 of its rarest.

    def examples_still_wanted(self, criterion: str) -> int | None:
        """How many samples of that class it takes to stop, or to give a target up; None: there are as many."""
        wanted = examples_wanted(criterion)
        return wanted if wanted is not None and self.n_examples is not None and self.n_examples < wanted else None


def assemble(
    situation: Situation,
    asked: PlanQuestion,
    background: Background,
    *,
    checkpoint: Checkpoint,
    progress: Progress = SILENT,
    forecast: ForecastCurve | None = None,
    simulated_surface: Surface | None = None,
) -> Plan:
    """Solve, ask again at other parameters, and tell everything; where a target is out of reach, of the nearest one.

    A target that the forecast does not reach but its interval does is neither met nor refused: whoever asks is told
    to label more and plan again, with the design of the nearest target beside it. So it is with a metric of a class
    that has too few examples to be known, whatever the interval says.

    Parameters
    ----------
    forecast : ForecastCurve, optional
        That of a simulation; else it comes from the situation's accuracy and alternatives.
    simulated_surface : Surface, optional
        That of a simulation; else it comes from the situation's accuracy, where that knows one.

    Raises
    ------
    InfeasiblePlanError, NotIdentifiableError
        If nothing meets what was asked, and nothing is near it.
    """
    wanted = background.examples_still_wanted(asked.criterion)
    nearest = _solved_or_nearest(situation, asked, is_known=wanted is None)
    answer, asked, refusal, is_open = nearest.answer, nearest.question, nearest.refusal, nearest.is_open
    little = buys_little(situation, asked.problem, answer.counts)
    if little is not None:
        answer = Solved(situation.nothing_more, None)
    design = _with_noise(situation, answer.counts)
    designs = curve_counts(situation)
    labels_interval, error_interval, bands, gain_bands, bias = None, _probes_interval(design), None, None, None
    if isinstance(situation.doubt, Band):
        labels_interval, error_interval = band_intervals(
            situation, situation.doubt, asked.problem, asked.value, answer.counts
        )
        labels_interval = labels_interval if situation.kinds is None else None
    elif situation.doubt is not None and situation.doubt.builds:
        around = spread(
            situation,
            situation.doubt,
            asked.problem,
            asked.value,
            answer.counts,
            designs,
            checkpoint=checkpoint,
            progress=progress,
        )
        error_interval, bands = around.error_interval(), around.bands()
        labels_interval = around.labels_interval() if situation.kinds is None else None
        gain_bands, bias = around.gain_bands(labels_of(situation, designs)), around.biased_error()
    if little is not None:
        # Elsewhere the budget was solved again: those are labels that it pays for, not that are to be bought.
        labels_interval = None
    forecast = with_gains(situation, forecast or forecast_curve(situation, designs, bands), gain_bands)
    held = situation.held
    width = Width.of(design, open_labels(asked, design, labels_interval), error_interval, asked.criterion)
    known = (held.n_labels, held.n_parameters, situation.accuracy.source)
    stop = little or why_stop(situation, asked.problem, asked.value, answer.counts)
    # An interval that does not hold the target is narrow enough to stop on, however wide it is.
    is_met = stop is not None and asked.problem == "target" and is_settled(error_interval, asked.value)
    may_stop = is_met and wanted is None
    narrow = None if may_stop else pilot_needed(held.n_labels, width)
    lacks_classes = any(_lacks_classes(check) for check in background.checks)
    needs = (
        parameters_need(*known),
        narrow,
        2 * held.n_labels if lacks_classes else None,
        None if wanted is None else math.ceil(held.n_labels * wanted / max(background.n_examples or 0, 1)),
    )
    needed = max((labels for labels in needs if labels is not None), default=None)
    is_far = situation.gold_labels(answer.counts) > MOST_TIMES * held.n_labels
    first = None
    if is_open:
        first = more_pilot(situation, asked.problem, asked.value, max(needed or 0, 2 * held.n_labels))
    elif is_far or (
        needed is not None and (lacks_classes or stop is not None) and (stop is None or stop.is_forecast)
    ):
        first = more_pilot(situation, asked.problem, asked.value, needed)
    odds = None
    if first is not None and is_open:
        odds = _odds(situation, forecast, asked.value, first, background, at=design.labels_in_all)
    elif first is not None and (narrow or wanted) is not None and stop is not None and asked.problem == "target":
        odds = _odds(situation, forecast, asked.value, first, background)
    advice: Advice = "larger pilot" if first is not None else "label" if stop is None else "stop"
    amount = max(asked.value - held.cost, 0.0) if asked.problem == "budget" else asked.value
    left = Question(asked.problem, amount, situation.pool)
    kinds, frontier = _worths_of_kinds(situation, left, answer.counts), cloud(situation)
    trust = (
        *faith_checks(kinds, advice),
        parameter_check(*known),
        pilot_check(held, width, advice, design, first, is_open=is_open, may_stop=may_stop),
        *example_checks(asked.criterion, design.error, background.n_examples),
    )
    return Plan(
        question=asked,
        advice=advice,
        why_stop=None if stop is None or is_open else stop.words,
        held=held,
        uses_unlabeled=background.uses_unlabeled,
        source=situation.accuracy.source,
        reason=background.reason,
        criterion_words=criterion_words(asked.criterion),
        recommended=design,
        labels_interval=labels_interval,
        error_interval=error_interval,
        certificate=answer.certificate,
        # Where a larger pilot comes first, the next label is one of that pilot.
        worth=worth(situation, answer.counts if first is None else situation.nothing_more),
        frontier=frontier,
        surface=simulated_surface or surface(situation),
        forecast=forecast,
        solutions=grid_solutions(situation, [answer.counts, *(np.array(own.counts) for own in frontier)]),
        checks=tuple(sorted((*background.checks, *trust), key=lambda check: not _lacks_classes(check))),
        notes=(
            *background.notes,
            *_bias_notes(bias, asked),
            *(_limit_notes(situation, asked, answer.counts, advice, forecast) if little is None else ()),
            *(_lead_notes(situation, answer.counts) if advice == "label" else ()),
        ),
        pilot=background.pilot,
        model=background.model,
        seed=background.seed,
        prices=situation.price_list,
        more_pilot=first,
        models=background.models,
        odds=odds,
        currency=situation.currency,
        refusal=refusal,
        is_open=is_open,
        menu=() if situation.kinds is None else situation.kinds.offers,
        kinds=kinds,
    )


@dataclass(frozen=True, eq=False)
class _Nearest:
    """The answer to what was asked, or to the nearest target."""

    answer: Solved
    question: PlanQuestion  # What the plan is for.
    refusal: str | None = None  # Why what was asked is refused.
    is_open: bool = False  # Whether the target that was asked for, which the forecast does not reach, may be met.


def _solved_or_nearest(situation: Situation, asked: PlanQuestion, *, is_known: bool) -> _Nearest:
    """The answer, or that to the nearest target; `is_known`: whether a forecast may give a target up."""
    try:
        return _Nearest(solved(situation, asked.problem, asked.value), asked)
    except InfeasiblePlanError as refusal:
        if asked.problem != "target" or refusal.nearest is None:
            raise
        nearest = replace(asked, value=refusal.nearest)
        try:
            answer = solved(situation, nearest.problem, nearest.value)
        except InfeasiblePlanError:
            # Within the last digit of what a search finds.
            raise refusal from None
        if may_be_met(situation, asked.value) or not (is_known or situation.is_used_up):
            return _Nearest(answer, asked, is_open=True)
        return _Nearest(answer, nearest, str(refusal))


def _worths_of_kinds(situation: Situation, left: Question, counts: FloatArray) -> tuple[KindWorth, ...]:
    """What every kind of label is worth; none where there is gold alone."""
    if situation.kinds is None:
        return ()
    if isinstance(situation.accuracy, KindsAccuracy):
        return simulated_worths(situation.kinds, situation.accuracy, counts, left.pool)
    return situation.kinds.worths(situation.accuracy, left, counts)


def _lead_notes(situation: Situation, counts: FloatArray) -> list[str]:
    """Whether the best mix by simulation is clearly better than as much money for gold alone."""
    accuracy, kinds = situation.accuracy, situation.kinds
    if kinds is None or not isinstance(accuracy, KindsAccuracy) or not counts.any():
        return []
    gold = np.zeros(len(counts))
    gold[kinds.gold] = min(situation.prices.cost(counts) / kinds.prices.per_sample[kinds.gold], situation.pool)
    if np.argmax(counts) == kinds.gold and counts.sum() == counts[kinds.gold]:
        return []
    lead, alone = accuracy.lead(counts, gold), accuracy.gold_of(gold)
    low, high = accuracy.gold_ends(counts)
    told = f"{apart(abs(lead), accuracy.criterion)} {'less' if lead >= 0 else 'more'} error"
    ends = f"{percent(LEVEL)}: {number(round(low))}-{number(round(high))}"
    sure = ", which draws cannot tell apart" if low <= alone <= high else ""
    return [
        f"That is {told} than with gold alone for the same money: in simulated draws it does as much as "
        f"{number(round(accuracy.gold_of(counts)))} gold labels in all ({ends}), and gold alone would be "
        f"{number(round(alone))}{sure}."
    ]


def _odds(
    situation: Situation,
    curve: ForecastCurve,
    target: float,
    more: int,
    background: Background,
    at: float | None = None,
) -> Odds | None:
    """That so many more samples tell whether the target is met; None: not known.

    Of a class that has too few examples they tell nothing unless they bring enough.

    Parameters
    ----------
    at : float, optional
        By how many labels in all; when absent by those of that round, with those held.
    """
    held, per_sample = situation.held, situation.positions_per_sample
    criterion = situation.accuracy.criterion
    wanted = background.examples_still_wanted(criterion)

    def odds(n_more: int) -> float | None:
        known = curve.at(held.n_labels + n_more * per_sample if at is None else at)
        if known is None:
            return None
        error, low, high = known
        growth = 1 + n_more / held.n_labeled
        own = odds_of_settling(criterion, error, Interval(low, high), target, growth)
        if own is None or wanted is None:
            return own
        return own * odds_of_examples(background.n_examples or 0, wanted, growth)

    own = odds(more)
    return None if own is None else Odds(own, even_round(odds, int(min(situation.pool, MOST_TIMES * held.n_labeled))))


def _lacks_classes(check: Check) -> bool:
    return check.name == LABELS_PER_CLASS and check.state == "bad"


def _with_noise(situation: Situation, counts: FloatArray) -> Design:
    """The recommended design, with the noise of its draws where it was sampled."""
    design = situation.design(counts)
    at_fit = situation.doubt.at_fit if isinstance(situation.doubt, Alternatives) else None
    return design if at_fit is None else replace(design, error_se=joined_error(at_fit, counts))


def _probes_interval(design: Design) -> Interval | None:
    """Where nothing but the noise of random probes is known."""
    if design.error_se is None or not np.isfinite(design.error_se):
        return None
    reach = NORMAL_95 * design.error_se
    return Interval(design.error - reach, design.error + reach, method="probes")


def _bias_notes(bias: tuple[float, float] | None, asked: PlanQuestion) -> list[str]:
    if bias is None:
        return []
    own, middle = (in_units(error, asked.criterion) for error in bias)
    return [
        f"Fitted to other pilots of this kind, the model speaks rather for {middle} than for {own}: so few labels "
        "make classes look easier or harder to tell apart than they are. The interval holds both."
    ]


def _limit_notes(
    situation: Situation, asked: PlanQuestion, counts: FloatArray, advice: Advice, curve: ForecastCurve
) -> list[str]:
    if asked.problem != "budget" or situation.is_used_up or advice == "larger pilot":
        return []
    design, arms = situation.design(counts), situation.accuracy.arms
    left = asked.value - design.cost_in_all
    rest = money(left, situation.currency)
    if situation.n_asked(counts) >= np.floor(situation.pool) and not situation.has_answered_left(counts):
        return [_all_asked(situation, counts, rest)] if left > 0 else []
    if situation.kinds is not None:
        # Of a mix, what does not pay for one more of each is what rounding leaves.
        open_arms = [arm for arm in range(len(arms)) if counts[arm] and situation.n_left(counts, arm) >= 1]
        if left >= max((situation.prices.next_price(counts, arm) for arm in open_arms), default=np.inf) > 0:
            return [f"{_no_mix(situation)}, so {rest} of the budget are left."]
        return []
    prices = [situation.prices.next_price(counts, index) for index, arm in enumerate(arms) if arm != "nothing"]
    if left >= min(prices, default=np.inf) > 0:
        flat = flat_beyond(situation.accuracy.source, design.labels_in_all, asked.criterion)
        farther = curve.lower_from(design.labels_in_all, design.error)
        if farther is not None:
            way = direction_of(asked.criterion)
            flat = (
                f"Within the budget the forecast is {way.best} with {number(round(design.labels_in_all))} labels in "
                f"all ({way.better} only from about {number(round(farther))} on)"
            )
        return [f"{flat}, so {rest} of the budget are left."]
    return []


def _all_asked(situation: Situation, counts: FloatArray, rest: str) -> str:
    """That there is money left, and no sample to spend it on."""
    if situation.kinds is not None and any(counts[[not offer.gold for offer in situation.kinds.offers]]):
        return (
            f"All {situation.pool:,.0f} samples are asked about, and {rest} is left over: no dearer way is clearly "
            "better."
        )
    n_labeled = counts[[arm != "nothing" for arm in situation.accuracy.arms]].sum()
    if not n_labeled:
        return f"No sample is left that nobody was asked about, and {rest} is left over."
    return (
        f"The budget would pay for more than the pool holds: all {n_labeled:,.0f} samples are to be labeled, and "
        f"{rest} is left over."
    )


def _no_mix(situation: Situation) -> str:
    """Why money is left; labels in all tell no mixes apart, as gold is among them as answers are."""
    if situation.accuracy.source != "simulated":
        return "No dearer mix within the budget is visibly better"
    return (
        "Of the mixes that were simulated none within the budget is clearly better (what the next samples do is told "
        "of each way alone)"
    )
