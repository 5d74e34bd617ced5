"""Does unlabeled data help or hurt prediction? Asked of the labeled rows themselves."""

from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np
from scipy.stats import norm

from labelworth.arrays import FloatArray
from labelworth.robust.held_out import HeldOutPredictions
from labelworth.wording import percent

Answer = Literal["helps", "hurts", "cannot be told"]

FALSE_VERDICT_RATE = 0.05
"""How often "helps" or "hurts" is said when in truth there is no difference."""
ERROR = "error"
_N_MEASURES = 2
FEWEST_TESTED = 10
"""Below it the normal approximation says nothing."""
_MOST_TIMES = 10  # No more than so many times the labels there are is ever asked for.


@dataclass(frozen=True)
class PairedDifference:
    """A measure with and without unlabeled rows, compared row by row."""

    measure: str
    labels_only: float  # Its mean over the tested rows; less is better.
    with_unlabeled: float
    difference: float  # With minus without, and the standard error of this mean.
    standard_error: float

    @property
    def answer(self) -> Answer:
        """What this measure alone says, the rate of false verdicts shared by the measures."""
        return self.answer_among(1)

    def answer_among(self, n_questions: int) -> Answer:
        """The same where as many questions share the rate."""
        threshold = norm.isf(FALSE_VERDICT_RATE / (2 * _N_MEASURES * n_questions))
        if abs(self.difference) <= threshold * self.standard_error:
            return "cannot be told"
        return "helps" if self.difference < 0 else "hurts"

    def words(self) -> str:
        """Of shares in percent, their differences in points."""
        figures = [self.labels_only, self.with_unlabeled, self.standard_error]
        before, after, chance = (f"{figure:.3f}" for figure in figures)
        difference = f"{self.difference:+.3f}"
        if self.measure == ERROR:
            before, after = percent(self.labels_only, 1), percent(self.with_unlabeled, 1)
            difference, chance = f"{100 * self.difference:+.1f} points", f"{100 * self.standard_error:.1f}"
        return (
            f"{self.measure} {before} with labels only, {after} with unlabeled rows (difference {difference}, "
            f"standard error {chance})"
        )


@dataclass(frozen=True)
class HarmVerdict:
    """Whether unlabeled rows help prediction."""

    answer: Answer
    n_tested: int  # Labeled rows predicted by cross-validation.
    # Share of wrong predictions; log-loss with honest log-odds (one temperature per method); log-loss as it is.
    error: PairedDifference
    log_loss: PairedDifference
    raw_log_loss: PairedDifference
    unlabeled_weight: float  # How much an unlabeled row counted.

    def lines(self, *, has_weight: bool = True) -> list[str]:
        """The verdict and its evidence, a sentence each; `has_weight`: an unlabeled row can be made to count less."""
        less = ", or a smaller unlabeled_weight" if has_weight else ""
        opening = {
            "helps": "Unlabeled data helps prediction.",
            "hurts": f"Unlabeled data hurts prediction: use the labels only{less}.",
            "cannot be told": "Whether unlabeled data helps or hurts prediction cannot be told yet.",
        }[self.answer]
        lines = [
            f"{opening} Evidence: {self.n_tested} labeled rows, each predicted without its label.",
            f"  {self.error.words()}",
            f"  {self.log_loss.words()}",
            f"  {level_words(self.error.with_unlabeled, self.n_tested)}",
        ]
        if self.answer == "cannot be told":
            lines.append(f"  {self._why_open()}")
        if self.answer != "hurts" and "hurts" in (self.log_loss.answer, self.raw_log_loss.answer):
            lines.append(
                f"  The probabilities themselves are worse with unlabeled rows ({self.raw_log_loss.words()}): "
                "trust the predicted classes, not how sure they are."
            )
        return lines

    def _why_open(self) -> str:
        if self.n_tested < FEWEST_TESTED:
            return f"No verdict is given on fewer than {FEWEST_TESTED} labels."
        if self.log_loss.answer != "cannot be told" and self.error.difference == 0:
            return "The log-loss with honest log-odds and that of the probabilities as they are point opposite ways."
        if self.log_loss.answer != "cannot be told":
            return "The log-losses differ beyond chance, but the errors point the other way."
        return f"Either difference is within chance; {self._labels_needed()}"

    def _labels_needed(self) -> str:
        if not self.error.standard_error > 0:
            return "no prediction differs."
        ratio = abs(self.error.difference) / self.error.standard_error
        threshold = float(norm.isf(FALSE_VERDICT_RATE / (2 * _N_MEASURES)))
        needed = np.ceil(self.n_tested * (threshold / ratio) ** 2) if ratio > 0 else np.inf
        if needed > 100 * self.n_tested:
            return "the two are as good as equal."
        if needed > _MOST_TIMES * self.n_tested:
            return (
                f"if the errors stay as they are, it would take more than {_MOST_TIMES} times these labels to tell."
            )
        return f"if the errors stay as they are, about {int(needed):,} labels would tell."

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def verdict_of(predictions: HeldOutPredictions[float], unlabeled_weight: float) -> HarmVerdict:
    """Compare predictions made at weight 0, by the labels only, with those made at `unlabeled_weight`, row by row.

    The error decides if it differs beyond chance. If not, the log-loss with honest log-odds does, which is the more
    sensitive measure, provided that the errors do not point the other way; and where they point nowhere, that the
    log-loss as it is does not say the opposite beyond chance. When there is no difference in truth, "helps" or
    "hurts" is said with probability 0.05 at most, to the normal approximation.
    """
    used, counted = unlabeled_weight, predictions.judged
    error = paired(ERROR, predictions.errors(0.0), predictions.errors(used), counted)
    log_loss = paired("log-loss", predictions.tempered_losses(0.0), predictions.tempered_losses(used), counted)
    raw = paired("raw log-loss", predictions.losses(0.0), predictions.losses(used), counted)
    answer = combined(error, log_loss) if predictions.n_tested >= FEWEST_TESTED else "cannot be told"
    if error.difference == 0 and {answer, raw.answer} == {"helps", "hurts"}:
        answer = "cannot be told"
    return HarmVerdict(answer, predictions.n_tested, error, log_loss, raw, unlabeled_weight)


def level_words(error: float, n_tested: int) -> str:
    """Why plans cite another error of the same model: what is compared row by row is surer than either level."""
    spread = 100 * np.sqrt(max(error * (1 - error), 0.25 / n_tested) / n_tested)
    return (
        f"An error itself has a standard error of {spread:.1f} points: plans deal other folds, and may cite one as "
        "far from it."
    )


def combined(error: PairedDifference, log_loss: PairedDifference, n_questions: int = 1) -> Answer:
    """The error's answer, or else the log-loss's where the errors do not point the other way."""
    by_error = error.answer_among(n_questions)
    if by_error != "cannot be told":
        return by_error
    agree = error.difference * log_loss.difference >= 0
    return log_loss.answer_among(n_questions) if agree else "cannot be told"


def paired(
    measure: str, labels_only: FloatArray, with_unlabeled: FloatArray, counted: FloatArray | None = None
) -> PairedDifference:
    """Compare two measures of the same rows, each of which counts `counted`, one when absent."""
    gaps = with_unlabeled - labels_only
    if counted is None:
        standard_error = float(gaps.std(ddof=1) / np.sqrt(len(gaps))) if len(gaps) > 1 else float("nan")
        return PairedDifference(
            measure, float(labels_only.mean()), float(with_unlabeled.mean()), float(gaps.mean()), standard_error
        )
    shares = counted / counted.sum()
    gap = float(shares @ gaps)
    spread = float(np.sqrt(np.sum((shares * (gaps - gap)) ** 2) * len(gaps) / max(len(gaps) - 1, 1)))
    return PairedDifference(measure, float(shares @ labels_only), float(shares @ with_unlabeled), gap, spread)
