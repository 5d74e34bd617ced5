"""Metrics that are no means over units: macro-F1, and recall or precision of one class at a level of the other.

They are better the larger they are. Curves, intervals and plans speak of what is missing to one, the shortfall.
"""

import math
import re
from abc import ABC, abstractmethod
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.special import logsumexp

from labelworth.arrays import AnyArray, FloatArray, IntArray
from labelworth.errors import InvalidInputError
from labelworth.simulation.asking import label_at_random
from labelworth.simulation.learner import Prediction
from labelworth.wording import exact_percent

Rate = Literal["recall", "precision"]
MetricKind = Literal["macro_f1", "recall", "precision"]

N_RESAMPLES = 400
"""Standard errors from so many are known to 1 / sqrt(2 x 400), 3.5 %."""
FEWEST_OF_CLASS = 5
"""Units of a class in the pilot, below which nothing is said of its recall or precision."""
_ROUNDING = 1e-9
_MOST_ENTRIES = 4_000_000  # of an array over resamples and positions


class Metric(ABC):
    """A figure of all held-out predictions together, between 0 and 1."""

    @property
    @abstractmethod
    def spec(self) -> str:
        """Its name as a criterion; `metric_of` reads it."""

    @property
    @abstractmethod
    def kind(self) -> MetricKind:
        """Whose spreads its forecasts have."""

    @property
    @abstractmethod
    def words(self) -> str:
        """What it is, for people."""

    @abstractmethod
    def at_least(self, level: str) -> str:
        """That it is to be so much, for people."""

    @abstractmethod
    def seen(self, prediction: Prediction, classes: Sequence[Hashable], among: Prediction | None = None) -> AnyArray:
        """What it looks at of every prediction, (n_positions,).

        Parameters
        ----------
        among : prediction, optional
            By the same fit, of other positions: then what is seen can be compared with that of other fits.
        """

    @abstractmethod
    def shortfalls(
        self, seen: AnyArray, codes: IntArray, classes: Sequence[Hashable], times: FloatArray
    ) -> FloatArray:
        """One less the metric when position i is there ``times[b, i]`` times, (n_times,); NaN: it is not defined."""

    def n_units(self, codes: IntArray, owner: IntArray, classes: Sequence[Hashable]) -> int:
        """Of how many units, the owners of positions, it is a mean, about; `codes` are those of a pilot."""
        return len(np.unique(owner[codes >= 0]))

    @property
    def hangs_on(self) -> str:
        """The class whose examples say most of it, for people."""
        return "the rarest class"

    def n_examples(self, codes: IntArray, owner: IntArray, classes: Sequence[Hashable]) -> int:
        """How many units there are of the class that it hangs on; the rarest is one of those that have any."""
        of_class = [len(np.unique(owner[codes == code])) for code in range(len(classes))]
        return min((n for n in of_class if n), default=0)

    @property
    def needs_scores(self) -> bool:
        """Whether it looks at scores, and not at the predicted classes alone."""
        return False

    @property
    def fewest_units(self) -> int:
        """Of those units a pilot must have as many, or nothing is said."""
        return 1

    def shortfall(self, prediction: Prediction, codes: IntArray, classes: Sequence[Hashable]) -> float:
        """Of predictions of positions whose labels are known."""
        every = np.ones((1, len(codes)))
        return float(self.shortfalls(self.seen(prediction, classes), codes, classes, every)[0])


@dataclass(frozen=True)
class MacroF1(Metric):
    """The mean of F1 over the classes that there are: 2 tp / (predicted + actual)."""

    @property
    def spec(self) -> str:
        return "macro_f1"

    @property
    def kind(self) -> MetricKind:
        return "macro_f1"

    @property
    def words(self) -> str:
        return "macro-F1"

    def at_least(self, level: str) -> str:
        return f"macro-F1 of at least {level}"

    def seen(self, prediction: Prediction, classes: Sequence[Hashable], among: Prediction | None = None) -> AnyArray:
        return prediction.best

    def shortfalls(
        self, seen: AnyArray, codes: IntArray, classes: Sequence[Hashable], times: FloatArray
    ) -> FloatArray:
        actual, predicted = (own[:, None] == np.arange(len(classes)) for own in (codes, seen))
        n_actual, n_predicted, n_right = (
            times @ own.astype(np.float64) for own in (actual, predicted, actual & predicted)
        )
        is_there = n_actual > 0
        f1 = np.divide(2 * n_right, n_actual + n_predicted, out=np.zeros_like(n_right), where=is_there)
        return np.asarray(1 - f1.sum(axis=1) / is_there.sum(axis=1))


@dataclass(frozen=True)
class RateAtLevel(Metric):
    """Recall of a class at a precision, or precision at a recall, with the threshold on its scores that serves best.

    The class is predicted where its score is at or above a threshold, whatever the scores of others. Of all
    thresholds at which the one rate is at or above its level, the largest other one counts; zero where there is none.
    """

    asked: Rate
    class_name: str
    level: float  # Of the other rate.

    def __post_init__(self) -> None:
        if not 0 < self.level <= 1:
            raise InvalidInputError(
                f"The {self.held} that {self.asked} of {self.class_name} is held to must be a share above 0 %, 100 % "
                f"at most. Got {exact_percent(self.level)}."
            )

    @property
    def held(self) -> Rate:
        """The rate that is held at the level."""
        return "precision" if self.asked == "recall" else "recall"

    @property
    def spec(self) -> str:
        return f"{self.asked} of {self.class_name} at {self.held} {self.level:.12g}"

    @property
    def kind(self) -> MetricKind:
        return self.asked

    @property
    def words(self) -> str:
        return f"{self.asked} of {self.class_name} at {self.held} {exact_percent(self.level)}"

    def at_least(self, level: str) -> str:
        held = f"{self.held} {exact_percent(self.level)}"
        return f"{self.asked} of {self.class_name} of at least {level} at {held}"

    def code(self, classes: Sequence[Hashable]) -> int:
        """Of the class.

        Raises
        ------
        InvalidInputError
            If there is no such class.
        """
        names = [str(name) for name in classes]
        if self.class_name not in names:
            shown = ", ".join(names[:20]) + (f" and {len(names) - 20:,} more" if len(names) > 20 else "")
            raise InvalidInputError(
                f"The {self.asked} of {self.class_name!r} was asked for, which is none of the classes: {shown}."
            )
        return names.index(self.class_name)

    def seen(self, prediction: Prediction, classes: Sequence[Hashable], among: Prediction | None = None) -> AnyArray:
        """Scores; among others, the share of those that score less.

        Fits to few labels differ in how sure they are, and a threshold for all of them would suit none; the share of
        the data that a threshold lets pass is the same thing for each. The score itself decides between equal shares.
        """
        scores = self._scores(prediction, classes)
        if among is None:
            return scores
        others = np.sort(self._scores(among, classes))
        below = np.searchsorted(others, scores, "left") + np.searchsorted(others, scores, "right")
        return np.asarray((below / 2 + 0.4 * np.arctan(scores) / np.pi) / len(others))

    def _scores(self, prediction: Prediction, classes: Sequence[Hashable]) -> FloatArray:
        """Log-odds of the class: probabilities next to one would be ties."""
        code, logs = self.code(classes), prediction.log_posteriors(1.0)
        return np.asarray(logs[:, code] - logsumexp(np.delete(logs, code, axis=1), axis=1))

    def shortfalls(
        self, seen: AnyArray, codes: IntArray, classes: Sequence[Hashable], times: FloatArray
    ) -> FloatArray:
        order = np.argsort(-seen, kind="stable")
        # A threshold lies below all that have the same score.
        ends = np.flatnonzero(np.append(np.diff(seen[order]) != 0, True))
        is_class = codes[order] == self.code(classes)
        results = []
        step = max(1, _MOST_ENTRIES // max(len(seen), 1))
        for first in range(0, len(times), step):
            sorted_times = times[first : first + step][:, order]
            n_predicted = np.cumsum(sorted_times, axis=1)[:, ends]
            n_right = np.cumsum(sorted_times * is_class, axis=1)[:, ends]
            results.append(1 - self._best(n_right, n_predicted))
        return np.concatenate(results)

    def _best(self, n_right: FloatArray, n_predicted: FloatArray) -> FloatArray:
        """The best rate over thresholds, (n_times,); from counts (n_times, n_thresholds)."""
        n_actual = n_right[:, -1:]
        with np.errstate(invalid="ignore", divide="ignore"):
            recall, precision = n_right / n_actual, n_right / n_predicted
        rate, other = (recall, precision) if self.asked == "recall" else (precision, recall)
        holds = (other >= self.level * (1 - _ROUNDING)) & (n_predicted > 0)
        best = np.where(holds, rate, 0.0).max(axis=1)
        return np.where(n_actual[:, 0] > 0, best, np.nan)

    def n_units(self, codes: IntArray, owner: IntArray, classes: Sequence[Hashable]) -> int:
        """Those of the class."""
        return len(np.unique(owner[codes == self.code(classes)]))

    @property
    def hangs_on(self) -> str:
        return "the class"

    def n_examples(self, codes: IntArray, owner: IntArray, classes: Sequence[Hashable]) -> int:
        """Its own."""
        return self.n_units(codes, owner, classes)

    @property
    def needs_scores(self) -> bool:
        return True

    @property
    def fewest_units(self) -> int:
        return FEWEST_OF_CLASS


def pilot_units(metric: Metric, codes: IntArray, owner: IntArray, classes: Sequence[Hashable]) -> int:
    """Of how many units of a pilot a metric is a mean, about.

    Raises
    ------
    InvalidInputError
        If there are too few to say anything of it, or no such class.
    """
    n_units = metric.n_units(codes, owner, classes)
    if n_units < metric.fewest_units:
        n_labeled = len(np.unique(owner[codes >= 0]))
        # As many per example as it has taken so far; of none seen, as if the next were one.
        more = math.ceil((metric.fewest_units - n_units) * n_labeled / max(n_units, 1))
        _, step = label_at_random(
            more,
            n_labeled,
            len(np.unique(owner)) - n_labeled,
            about="about" if n_units else "at least about",
            instead=", or some of the class",
        )
        raise InvalidInputError(
            f"The {metric.words} cannot be forecast from {n_units} labeled "
            f"{'example' if n_units == 1 else 'examples'} of the class: it takes {metric.fewest_units} at least. "
            f"{step}."
        )
    return n_units


def resampled_times(n_units: int, seed: int) -> FloatArray:
    """How often every unit of a pilot is there, (1 + N_RESAMPLES, n_units): once each first, then as it is drawn."""
    rng = np.random.default_rng([seed, 13])
    drawn = rng.multinomial(n_units, np.full(n_units, 1 / n_units), size=N_RESAMPLES)
    return np.concatenate([np.ones((1, n_units)), drawn])


def resampled_covariance(shortfalls: FloatArray, n_units: int) -> FloatArray:
    """Of shortfalls at all sizes, (n_sizes, n_sizes), from rows over sizes and columns over resamples.

    The best threshold jumps from one score to the next, so that leaving single units out does not tell its spread
    (as with the median, the jackknife's variance does not settle with more units); resampled units do.
    """
    known = shortfalls[:, np.isfinite(shortfalls).all(axis=0)]
    return np.atleast_2d(np.cov(known)) * n_units / (n_units - 1)


PERCENT = "%|per ?cent"
FIGURE = rf"(?P<figure>[0-9.]+(?:e-?[0-9]+)?) ?(?P<percent>(?:{PERCENT})?)"
_MACRO = re.compile(r"macro[-_ ]?f(?:1|_1|-1)", re.IGNORECASE)
_RATE = re.compile(
    r"(?P<asked>recall|precision) +of +(?P<name>.+) +at +(?P<held>recall|precision)(?: +of)?"
    rf"(?: *(?:at least|>=|≥|>))? *{FIGURE}",
    re.IGNORECASE,
)
_HALF_A_RATE = re.compile(r"(?P<asked>recall|precision)\b.*", re.IGNORECASE)


def metric_of(text: str) -> Metric | None:
    """The metric that a criterion names; None: it names none.

    >>> metric_of("Macro-F1").spec, metric_of("recall of spam at precision 90%").spec, metric_of("error")
    ('macro_f1', 'recall of spam at precision 0.9', None)

    Raises
    ------
    InvalidInputError
        If it names half of one.
    """
    text = text.strip()
    if _MACRO.fullmatch(text):
        return MacroF1()
    match = _RATE.fullmatch(text)
    if match is not None and match["asked"].lower() != match["held"].lower():
        asked: Rate = "recall" if match["asked"].lower() == "recall" else "precision"
        return RateAtLevel(asked, unquoted(match["name"]), share_of(match["figure"], match["percent"], text))
    if _HALF_A_RATE.fullmatch(text):
        raise InvalidInputError(
            "Recall and precision are of one class, at a level of the other: 'recall of spam at precision 90%', or "
            f"'precision of spam at recall 80%'. Got {text!r}."
        )
    return None


def is_metric(criterion: str | None) -> bool:
    """Whether a criterion is a metric: larger is better, and the error of a plan is what is missing to one."""
    return criterion is not None and metric_of(criterion) is not None


def unquoted(name: str) -> str:
    """A name without the quotes around it."""
    is_quoted = len(name) > 2 and name[0] == name[-1] and name[0] in "'\""
    return name[1:-1] if is_quoted else name


def share_of(figure: str, percent: str, text: str) -> float:
    """A share as people write it, ``90%`` or ``0.9``.

    Raises
    ------
    InvalidInputError
        If it is above one, or no number.
    """
    try:
        value = float(figure)
    except ValueError:
        raise InvalidInputError(f"{figure!r} in {text!r} is not a number.") from None
    # Decimals as they were typed: 95 / 100 is 0.95.
    share = float(f"{value / 100:.12g}") if percent else value
    if share > 1:
        hint = f"{figure} % is written {figure}% or {value / 100:g}. " if not percent and value <= 100 else ""
        raise InvalidInputError(f"{hint}A share is at most 1, or 100 %. Got {figure}{percent} in {text!r}.")
    return share
