"""What is looked at before a plan is trusted, in words."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from labelworth.data.class_counts import ClassCounts
from labelworth.data.copies import first_copies
from labelworth.data.protocol import Data
from labelworth.estimators.pools.documents import LABELS_ONLY
from labelworth.planning.answer import LEVEL, Advice, Check, Design, Held, Interval, KindWorth, State
from labelworth.planning.source import LABELS_PER_PARAMETER
from labelworth.planning.trust.randomness import Randomness
from labelworth.planning.units import apart, in_a_sentence, in_units
from labelworth.planning.words import EXAMPLES, LABELS_PER_CLASS, SIMULATED_LABELS
from labelworth.simulation.basis import ForecastBasis
from labelworth.simulation.forecast import simulation_warning
from labelworth.simulation.learner import Mode
from labelworth.simulation.metrics import RateAtLevel, metric_of
from labelworth.simulation.scales import Measure
from labelworth.simulation.selection import ModelChoice
from labelworth.tradeoff.accuracy import Source
from labelworth.tradeoff.problem import SHARES, in_percent
from labelworth.wording import count, percent

FEW_LABELS = 10
"""Of a class: below it, figures of that class are shaky."""
WIDEST = 0.25
"""How far the ends of an interval may lie from its middle, relative to the labels in all or to the error."""
WIDEST_POINTS = 0.02
"""As much is allowed of an error that is a share, however small: held-out data of some 600 labels tell an error of a
tenth no better (1.645 standard errors are two points), so nobody will ever see the difference."""
LITTLE_RECALL = 0.25
"""Below it intervals of a recall at a precision are too narrow (docs/derivations/forecast.md, section 5)."""
FEWEST_FALSE_ALARMS = 2
"""That a precision must allow among as many predictions as a class has labels, or the threshold hangs on one."""
FEWEST_TRIED = 50
"""Labeled samples of the smallest pilots that forecasts were held against the truth from."""
_SURE = 1.645
"""Standard errors: what is this far below chance is so with 95 %."""
_GUESSES = {
    "error": ("errs on", "naming the most frequent class always errs on"),
    "log_loss": ("has a log-loss of", "naming the shares of the classes always has one of"),
}
_MOST_NAMES = 8
_MANY_WRONG = 0.01
"""Share of errors by copies that disagree from which on they are spoken of."""


def randomness_check(randomness: Randomness) -> Check:
    """Whether the labels look drawn at random, as a check."""
    state: State = "warning" if randomness.suspicious else "good" if randomness.p_values else "unknown"
    return Check("random draw", state, randomness.words())


def drawn_check(data: Data, *, is_misled: bool) -> Check | None:
    """How labels count whose rows were chosen; None: none is logged to be.

    Parameters
    ----------
    is_misled : bool
        Whether a model of p(x, y) is to learn from labels alone.
    """
    judged, known = data.evidence.judged, data.evidence.is_gold
    if judged is None or not data.evidence.is_chosen:
        return None
    counted = judged[known]
    worth = round(float(counted.sum() ** 2 / np.square(counted).sum()))
    if is_misled:
        return Check("chosen rows", "bad", LABELS_ONLY)
    return Check(
        "chosen rows",
        "good",
        "Rows were chosen, with probabilities that the data says. Each label counts by its own where predictions "
        f"are judged, so that {len(counted):,} labels say as much there as about {worth:,} drawn at random.",
    )


def class_check(data: Data) -> Check:
    """Whether every class has labels; bad where the pilot lacks classes, which a forecast cannot know of."""
    evidence, pilot = data.evidence, ClassCounts.of(data)
    counts = pilot.labels
    named = (evidence.weights > 0).any(axis=0)
    missing = [str(evidence.classes[code]) for code in np.flatnonzero((counts == 0) & ~named)]
    if missing:
        return Check(
            LABELS_PER_CLASS,
            "bad",
            f"No label names {_listed(missing)}: no figure below knows of {count(len(missing), 'class', 'classes')} "
            f"of {len(counts):,}. With ten labels of each they would.",
        )
    if pilot.lacks_classes:
        return Check(
            LABELS_PER_CLASS,
            "bad",
            f"The pilot lacks classes: about {percent(pilot.unseen_share)} of the data belong to classes that no "
            f"label names yet, since {pilot.alone_words}. No figure below knows of those classes, and errors will be "
            "larger by as much, until most classes are labeled twice.",
        )
    scarce = [f"{name} ({int(n)})" for name, n in zip(evidence.classes, counts, strict=True) if n < FEW_LABELS]
    if not scarce:
        return Check(LABELS_PER_CLASS, "good", f"Every class has {int(counts.min()):,} labels or more.")
    rarest = int(counts.sum() / max(counts.min(), 1))
    return Check(
        LABELS_PER_CLASS,
        "warning",
        f"Fewer than {FEW_LABELS} labels: {_listed(scarce)}. Figures are shaky for these classes; about one label in "
        f"{rarest:,} drawn at random is of the rarest.",
    )


def copies_check(data: Data) -> tuple[Check, ...]:
    """Whether copies of a row have other labels, where that costs a share of errors that matters."""
    codes = data.evidence.codes
    rows = np.flatnonzero(codes >= 0)
    firsts = first_copies(data, rows)
    repeated = np.flatnonzero(np.bincount(firsts, minlength=len(rows)) > 1)
    n_rows, n_wrong, example = 0, 0, ""
    for first in repeated.tolist():
        own = rows[firsts == first]
        counts = np.bincount(codes[own])
        if (counts > 0).sum() < 2:
            continue
        n_rows, n_wrong = n_rows + int(counts.sum()), n_wrong + int(counts.sum() - counts.max())
        other = next(row for row in own if codes[row] != codes[own[0]])
        names = [data.evidence.classes[codes[row]] for row in (own[0], other)]
        example = example or f"rows {own[0]:,} and {other:,}, counted from 0: {names[0]!r} and {names[1]!r}"
    if n_wrong < _MANY_WRONG * len(rows) or not n_wrong:
        return ()
    words = (
        f"{n_rows:,} of {count(len(rows), 'labeled row')} have a copy, word for word as models read them, with "
        f"another label ({example}), so any model gets at least {percent(n_wrong / len(rows), 1)} of all labeled "
        "rows wrong, however many labels there are. Correct them, or name both classes where nobody can tell."
    )
    return (Check("copies", "warning", words),)


def _listed(names: Sequence[str]) -> str:
    more = len(names) - _MOST_NAMES
    return ", ".join(names[:_MOST_NAMES]) + (f" and {more:,} more" if more > 0 else "")


def simulation_check(basis: ForecastBasis, mode: Mode) -> Check:
    """Whether simulated labels are as hard to learn as the real ones."""
    warned = simulation_warning(basis, mode)
    if warned is not None:
        return Check(SIMULATED_LABELS, "warning", warned)
    return Check(SIMULATED_LABELS, "good", "Simulations of the pilot err about as much as the pilot itself.")


def guessing_check(
    basis: ForecastBasis, mode: Mode, measure: Measure, choice: ModelChoice | None = None
) -> tuple[Check, ...]:
    """Whether predictions of the pilot's labels are better than those of who knows how frequent the classes are.

    By the error or by the log-loss: where one class is rare, naming the other is hard to beat by errors, also for a
    model that knows well which samples are likely to be rare ones. Of a metric that is not asked: it says itself what
    guessing does not do.
    """
    if measure not in _GUESSES:
        return ()
    told = []
    for own in sorted(_GUESSES, key=lambda name: name != measure):
        is_better, words = _beside_guessing(basis, mode, own, choice)
        if is_better:
            return ()
        told.append(words)
    words = (
        f"Cross-validated on the labels held this model {'; it '.join(told)}: neither is clearly better than "
        "guessing. More labels help only where labels follow from the features at all. Look at some labels, try "
        "other features or another model, before you buy many."
    )
    return (Check("better than guessing", "warning", words),)


def _beside_guessing(
    basis: ForecastBasis, mode: Mode, measure: Measure, choice: ModelChoice | None
) -> tuple[bool, str]:
    """Whether a model is clearly better than guessing in one measure, and both figures."""
    points, chance = basis.points[mode, measure], basis.chance(measure)
    spread, added = math.sqrt(float(points.covariance[-1, -1])), ""
    error = judged = float(points.means[-1])
    if choice is not None:
        error, shift = float(getattr(choice.chosen, measure)), choice.optimism[measure].shift
        judged = error + shift
        added = f", and {apart(shift, measure)} more for having been chosen by them" if shift > 0 else ""
    own, guess = _GUESSES[measure]
    words = (
        f"{own} {in_units(error, measure)}{added} (standard error {apart(spread, measure)}), where {guess} "
        f"{in_units(chance, measure)}"
    )
    return judged + _SURE * spread < chance, words


def few_labels_check(n_labeled: int) -> tuple[Check, ...]:
    """Whether forecasts were ever held against the truth from so few labels."""
    if n_labeled >= FEWEST_TRIED:
        return ()
    words = (
        f"Forecasts were never tried from fewer than {FEWEST_TRIED} labeled samples, and here are {n_labeled:,}: "
        f"{percent(LEVEL)} intervals may be far too narrow or far too wide."
    )
    return (Check("tried sizes", "warning", words),)


def convergence_check(converged: bool) -> Check:
    """Whether the fit converged."""
    if converged:
        return Check("fit", "good", "The fit converged.")
    return Check("fit", "warning", "The fit did not converge: allow more steps, or a larger tolerance.")


@dataclass(frozen=True)
class Width:
    """Half of the intervals of a plan."""

    labels: float | None  # Of the labels to buy, relative to the labels in all; None: not known, or nothing is open.
    # Of the error to expect, relative to itself; of a metric, relative to what is reached where that is less.
    error: float | None
    points: float | None  # Of the error to expect, as it is, where that is a share.
    what: str = "the error"  # Of which that is.
    labels_words: str = ""  # Between how many the labels to buy lie.

    @classmethod
    def of(cls, design: Design, labels: Interval | None, error: Interval | None, criterion: str) -> "Width":
        of_labels, of_error, points, between = None, None, None, ""
        if labels is not None and labels.high > labels.low and design.labels_in_all > 0:
            of_labels = (labels.high - labels.low) / 2 / design.labels_in_all
            low, high = (f"{round(end):,}" for end in (labels.low, labels.high))
            between = low if low == high else f"between {low} and {high}"
        metric = metric_of(criterion)
        # A recall of 10 % that is known to within 20 points is not known, though that is little of the 90 missing.
        whole = design.error if metric is None else min(design.error, 1 - design.error)
        if error is not None and np.isfinite(error.high) and whole > 0:
            half = (error.high - error.low) / 2
            of_error, points = half / whole, half if in_percent(criterion) else None
        return cls(of_labels, of_error, points, in_a_sentence(criterion), between)

    @property
    def excess(self) -> float | None:
        """How many times as wide as allowed: labels relatively, a share relatively or in points; None: not known."""
        parts = [] if self.labels is None else [self.labels / WIDEST]
        if self.error is not None:
            points = np.inf if self.points is None else self.points / WIDEST_POINTS
            parts.append(min(self.error / WIDEST, points))
        return max(parts, default=None)

    @property
    def is_too_wide(self) -> bool:
        return self.excess is not None and self.excess > 1

    def words(self) -> str:
        """What is known to within what."""
        parts = []
        if self.error is not None:
            within = f"{percent(self.error)} of itself" if self.error <= 1 else f"{self.error:.2g} times itself"
            if self.points is not None:
                # Of a metric that would be a share of what is missing to one.
                share = f" ({within})" if self.what in map(in_a_sentence, SHARES) else ""
                within = f"{apart(self.points, SHARES[0])}{share}"
            parts.append(f"{self.what} to expect is known to within {within}")
        if self.labels is not None:
            parts.append(f"the labels to buy are {self.labels_words}")
        return " and ".join(parts)


def pilot_needed(n_held: int, width: Width) -> int | None:
    """Labels that would make the interval narrow enough: widths fall with the square root; None: it is already."""
    if width.excess is None or not width.is_too_wide:
        return None
    return int(np.ceil(n_held * width.excess**2))


def pilot_check(
    held: Held,
    width: Width,
    advice: Advice,
    design: Design,
    more: int | None = None,
    *,
    is_open: bool = False,
    may_stop: bool = False,
) -> Check:
    """How sure the plan is, and what would make it surer: never another plan than the one that was recommended.

    Parameters
    ----------
    more : int, optional
        Samples of the larger pilot that is asked for.
    is_open : bool
        Whether no number of labels may reach the target: then between how many they lie is nothing to judge by.
    may_stop : bool
        Whether the interval, however wide, says that the target is met.
    """
    if is_open:
        width = replace(width, labels=None)
    if width.excess is None:
        return Check("pilot size", "unknown", "How far the pilot can be trusted was not computed.")
    words = width.words()
    if not width.is_too_wide:
        return Check("pilot size", "good", f"{words[:1].upper()}{words[1:]}: well enough.")
    if may_stop:
        return Check("pilot size", "good", f"{words[:1].upper()}{words[1:]}: enough to tell that the target is met.")
    pilot = f"The pilot of {count(held.n_labels, 'label')} is too small to"
    if more is not None and width.points is not None:
        # Widths fall with the square root of the labels.
        later = width.points / np.sqrt(1 + more / held.n_labeled)
        words += (
            f"; with {count(more, 'more ' + held.sample)}, {width.what} to within about {apart(later, SHARES[0])}"
        )
    if advice == "larger pilot" and not design.labels:
        return Check("pilot size", "warning", f"{pilot} stop on it: {words}.")
    return Check("pilot size", "warning", f"{pilot} trust these figures far: {words}.{_surer(held, advice, design)}")


def _surer(held: Held, advice: Advice, design: Design) -> str:
    """When to plan again: a plan's own samples come in random order, so the first of them are a larger pilot."""
    if advice != "label":
        return ""
    chosen = sum(arm.count for arm in design.arms if arm.labels > 0)
    when = (
        f"after the first {count(held.n_labeled, held.sample)} of this plan"
        if chosen > held.n_labeled
        else "when this one is carried out"
    )
    return f" They become surer as labels come in: plan again {when}."


def faith_checks(kinds: Sequence[KindWorth], advice: Advice) -> list[Check]:
    """Of kinds that are bought, or held, though nobody has looked how often they are right."""
    used = [kind for kind in kinds if kind.n_held or (kind.answers and advice == "label")]
    return [Check(f"answers of {kind.kind}", "warning", kind.faith) for kind in used if kind.faith]


def examples_wanted(criterion: str) -> int | None:
    """Labeled samples of its class, of macro-F1 of its rarest, below which a metric is not known; None: of no class.

    Of a precision of 100 % no number allows false alarms, so that none of them is waited for.
    """
    metric = metric_of(criterion)
    if metric is None:
        return None
    if not isinstance(metric, RateAtLevel) or metric.asked != "recall" or metric.level == 1:
        return FEW_LABELS
    return max(FEW_LABELS, math.ceil(FEWEST_FALSE_ALARMS / round(1 - metric.level, 12)))


def example_checks(criterion: str, error: float, n_examples: int | None) -> list[Check]:
    """Whether the pilot has enough examples of the class that a metric hangs on; nothing of all other criteria.

    Parameters
    ----------
    n_examples : int or None
        Labeled samples of the class, of macro-F1 of its rarest; None: not known.
    """
    metric, wanted = metric_of(criterion), examples_wanted(criterion)
    if metric is None or wanted is None or n_examples is None:
        return []
    named = metric.words[:1].upper() + metric.words[1:]
    is_recall = isinstance(metric, RateAtLevel) and metric.asked == "recall"
    is_never_enough = isinstance(metric, RateAtLevel) and is_recall and metric.level == 1
    if is_recall and 1 - error < LITTLE_RECALL:
        words = (
            f"{named} is forecast below {percent(LITTLE_RECALL)}, and the pilot cannot tell how far: with so little "
            f"the truth lay outside of {percent(LEVEL)} intervals in four trials of ten, nearly always with less. "
            "There may be no such threshold at all. Ask for a lower precision, or for precision at a recall."
        )
        return [Check("threshold", "warning", words)]
    rests = f"{named} rests on {count(n_examples, 'labeled example')} of {metric.hangs_on}"
    if n_examples >= wanted and not is_never_enough:
        return [Check(EXAMPLES, "good", f"{rests}.")]
    why = ""
    if is_recall:
        why = (
            ": a single false alarm more or less moves the threshold. With so few the truth lay outside of "
            f"{percent(LEVEL)} intervals in one trial of six on some corpora, and in every other one on another"
        )
    enough = "" if is_never_enough else f"; {wanted:,} of the class would be enough"
    return [Check(EXAMPLES, "warning", f"{rests}{why}{enough}.")]


def parameters_need(n_labels: int, n_parameters: int | None, source: Source) -> int | None:
    """Labels with which the formulas would be trusted with levels; None: they are, or were not asked."""
    if source == "simulated" or n_parameters is None or n_labels / max(n_parameters, 1) >= LABELS_PER_PARAMETER:
        return None
    return int(np.ceil(LABELS_PER_PARAMETER * n_parameters))


def parameter_check(n_labels: int, n_parameters: int | None, source: Source) -> Check:
    """Whether there are labels enough for the formulas to speak of levels."""
    if n_parameters is None:
        words = "not known of such a classifier; simulated forecasts do not need it."
        return Check("labels per parameter", "good", words)
    per_parameter = f"{n_labels / max(n_parameters, 1):.2g} labels per parameter"
    if source == "simulated":
        return Check("labels per parameter", "good", f"{per_parameter}; simulated forecasts do not need more.")
    if parameters_need(n_labels, n_parameters, source) is None:
        return Check("labels per parameter", "good", f"{per_parameter}.")
    return Check(
        "labels per parameter",
        "warning",
        f"{per_parameter}: the formulas rank plans with so few, and tell levels from {LABELS_PER_PARAMETER:g} "
        "on. source='simulated' needs fewer.",
    )
