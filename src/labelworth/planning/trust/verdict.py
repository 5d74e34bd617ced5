"""Whether unlabeled data helps: what was asked for, or came out, before a plan uses any."""

from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from labelworth.data.class_counts import ClassCounts
from labelworth.data.protocol import Data
from labelworth.planning.answer import Check, State
from labelworth.planning.units import in_units
from labelworth.planning.words import UNLABELED_DATA
from labelworth.progress import SILENT, Progress
from labelworth.robust.harm import PairedDifference, combined, verdict_of
from labelworth.simulation.basis import ForecastBasis
from labelworth.simulation.selection import ModelChoice
from labelworth.wording import count

if TYPE_CHECKING:
    from labelworth.estimators.pools.documents import DocumentPool

UnlabeledAnswer = Literal["helps", "hurts", "cannot be told", "not asked"]
_N_FOLDS = 5
_OPENINGS: dict[UnlabeledAnswer, str] = {
    "helps": "it helps",
    "hurts": "it hurts",
    "cannot be told": "whether it helps cannot be told yet",
}


@dataclass(frozen=True)
class Verdict:
    """Whether unlabeled data helps prediction."""

    answer: UnlabeledAnswer  # Data that is not to be used counts as hurting.
    words: str  # Why, as the rest of a sentence.
    error_labels_only: float | None = None  # Where both were measured.
    error_with_unlabeled: float | None = None
    # Whether nothing could be tested, for want of labels: then the safer choice is not to use any.
    is_blind: bool = False
    is_used: bool | None = None  # What the choice of a model decided; None: the answer does.

    @property
    def hurts(self) -> bool:
        return self.answer == "hurts"

    @property
    def allows_use(self) -> bool:
        """Whether a plan learns from unlabeled data."""
        if self.is_used is not None:
            return self.is_used
        return not self.hurts and not self.is_blind and not self.looks_worse and self != THERE_IS_NONE

    @property
    def looks_worse(self) -> bool:
        """Whether what cannot be told looks like harm: then the safer choice is not to use it."""
        if self.error_with_unlabeled is None or self.error_labels_only is None:
            return False
        return self.answer == "cannot be told" and self.error_with_unlabeled > self.error_labels_only

    @property
    def distrust(self) -> str | None:
        """Why formulas, which take the model for right, are not asked; None: nothing speaks against it."""
        if not self.hurts:
            return None
        return (
            "unlabeled data hurts, so the model is wrong"
            if self.is_measured
            else f"unlabeled data is left out, {self.words.removesuffix('.')}"
        )

    @property
    def is_measured(self) -> bool:
        return self.error_labels_only is not None

    def check(self) -> Check:
        states: dict[UnlabeledAnswer, State] = {"helps": "good", "hurts": "bad"} if self.is_measured else {}
        return Check(UNLABELED_DATA, states.get(self.answer, "unknown"), self.words)

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


THERE_IS_NONE = Verdict("not asked", "there is none.")
NOT_TESTED = Verdict("not asked", "the formulas take the model for right; source='simulated' tests it.")
CONDITIONAL = Verdict("hurts", "this model learns from labels alone.")
AS_ASKED = {"yes": Verdict("not asked", "as asked."), "no": Verdict("hurts", "as asked.")}


def verdict_without_classes(data: Data) -> Verdict | None:
    """Of a pilot that lacks classes; None: it has them.

    Unlabeled samples of a class without a label are learned as those of other classes, and cross-validation does not
    see it: of a class with one label nothing is left to learn from when that is held out.
    """
    pilot = ClassCounts.of(data)
    if not pilot.lacks_classes:
        return None
    return Verdict(
        "cannot be told",
        f"whether it helps cannot be told, since {pilot.alone_words}, and samples of classes without any would be "
        "taken for others.",
        is_blind=True,
    )


def verdict_by_folds(pool: "DocumentPool", seed: int, progress: Progress = SILENT) -> Verdict:
    """By cross-validation on the labeled samples of a pool whose predictions can be held out."""
    counts = pool.data.evidence.label_counts()
    testable = int(counts[counts > 1].sum())
    if pool.n_unlabeled == 0:
        return THERE_IS_NONE
    if testable < 2 * len(counts):
        return Verdict(
            "cannot be told",
            f"whether it helps cannot be told with {count(testable, 'label')} in classes of two or more.",
            is_blind=True,
        )
    if pool.unlabeled_weight == 0:
        return Verdict("hurts", "as unlabeled_weight is 0.")
    predictions = pool.held_out(
        (0.0, pool.unlabeled_weight),
        n_folds=min(_N_FOLDS, testable),
        rng=np.random.default_rng([seed, 5]),
        progress=progress,
    )
    judged = verdict_of(predictions, pool.unlabeled_weight)
    tested = f"only on {judged.n_tested:,} held-out labels"
    return _measured(judged.answer, judged.error, judged.log_loss, tested)


def verdict_by_choice(choice: ModelChoice) -> Verdict:
    """Of models that were compared, some with samples without a label and some without."""
    alone, together = (choice.best(uses_unlabeled=uses) for uses in (False, True))
    if alone is None or together is None:
        return replace(AS_ASKED["no" if together is None else "yes"], is_used=together is not None)
    is_used = choice.chosen.uses_unlabeled
    if choice.by_forecast:
        how = "learns from it" if is_used else "learns from labels alone"
        words = f"{choice.chosen.name}, which is forecast to be best with so many labels, {how}."
        return Verdict("cannot be told", words, is_used=is_used)
    other = alone if is_used else together
    gap = other.difference if not is_used else -other.difference
    error = PairedDifference("error", alone.error, together.error, gap, other.difference_se)
    shares = [in_units(model.error, "error") for model in (choice.chosen, other)]
    used, unused = ("with it", "with labels only") if is_used else ("with labels only", "with it")
    wary = ", and as the pilot lacks classes it had to be better by more than chance" if choice.lacks_classes else ""
    words = (
        f"{_OPENINGS[error.answer]} (error {shares[0]} of {choice.chosen.name}, the best {used}, {shares[1]} of "
        f"{other.name}, the best {unused}, cross-validated on {choice.n_labels:,} labels{wary})."
    )
    return Verdict(error.answer, words, alone.error, together.error, is_used=is_used)


def verdict_by_forecast(basis: ForecastBasis, samples: str) -> Verdict:
    """From the same cross-validation that a forecast rests on."""
    if len(basis.modes) < 2:
        how = "learns nothing from" if "labels-only" in basis.modes else "is not fitted without"
        return Verdict("not asked", f"this model {how} it.")
    error, log_loss = (_gap(basis, measure) for measure in ("error", "log_loss"))
    tested = f"only, cross-validated on {basis.n_labeled:,} labeled {samples}"
    return _measured(combined(error, log_loss), error, log_loss, tested)


def _measured(answer: UnlabeledAnswer, error: PairedDifference, log_loss: PairedDifference, tested: str) -> Verdict:
    """With the figures that decided: errors, or log-losses where errors alone tell nothing."""
    is_by_error = error.answer == answer
    figure, name, unit = (error, "error", "error") if is_by_error else (log_loss, "log-loss", "log_loss")
    both = [in_units(own, unit) for own in (figure.with_unlabeled, figure.labels_only)]
    figures = f"{name} {both[0]} with it and {both[1]} with labels {tested}"
    return Verdict(answer, f"{_OPENINGS[answer]} ({figures}).", error.labels_only, error.with_unlabeled)


def _gap(basis: ForecastBasis, measure: str) -> PairedDifference:
    levels = [float(basis.points[mode, measure].means[-1]) for mode in ("labels-only", "semi-supervised")]
    comparison = basis.comparisons[measure]
    return PairedDifference(measure, levels[0], levels[1], comparison.difference, comparison.standard_error)
