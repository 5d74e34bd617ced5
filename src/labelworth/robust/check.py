"""One question, answered in plain words: does the unlabeled data help, hurt, or can it not be told?"""

import warnings
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from labelworth.data.samples import Samples
from labelworth.errors import LabelworthWarning
from labelworth.models.protocol import AnyFamily
from labelworth.progress import SILENT, Progress
from labelworth.robust.harm import HarmVerdict, verdict_of
from labelworth.robust.held_out import held_out_predictions
from labelworth.robust.specification import (
    LABELS_PER_PARAMETER,
    MOST_PARAMETERS,
    SpecificationTest,
    specification_test,
)
from labelworth.robust.support import LabelSupport, RowSupport
from labelworth.robust.unlabeled_weight import WEIGHTS, WeightChoice, choice_by_sandwich, choice_of

CheckVerdict = Literal["helps", "hurts", "cannot be told", "not used", "not identified"]
_ANSWERS = {
    "helps": "unlabeled data helps",
    "hurts": "unlabeled data hurts",
    "cannot be told": "whether unlabeled data helps cannot be told",
}


@dataclass(frozen=True)
class CheckReport:
    """Whether unlabeled data helps, with the evidence.

    Attributes
    ----------
    verdict : "helps", "hurts", "cannot be told", "not used" (nothing is learned from it) or "not identified"
    support : RowSupport
        What the labels pin down.
    harm : HarmVerdict or None
        Paired cross-validation; None where there are too few labels for it.
    specification : SpecificationTest or None
        Whether the model is right; None where the test cannot be run.
    weight : WeightChoice or None
        How much an unlabeled row should count.
    notes : tuple of str
        What could not be done, and why.
    """

    verdict: CheckVerdict
    support: RowSupport
    harm: HarmVerdict | None
    specification: SpecificationTest | None
    weight: WeightChoice | None
    notes: tuple[str, ...] = ()

    @property
    def headline(self) -> str:
        return f"Verdict: {_ANSWERS.get(self.verdict, self.verdict)}."

    @property
    def exit_code(self) -> int:
        """0: answered. 1: the labels leave the model unidentified."""
        return 1 if self.verdict == "not identified" else 0

    def lines(self) -> list[str]:
        """The report in plain words, a line each."""
        lines = list(self.support.lines())
        if self.harm is not None:
            lines += self.harm.lines(has_weight=self.weight is not None)
        if self.specification is not None:
            lines.append(self.specification.words())
        if self.weight is not None:
            lines.append(self.weight.words())
        return [*lines, *self.notes]

    def to_dict(self) -> dict[str, Any]:
        return {
            "verdict": self.verdict,
            "identified": self.support.identified,
            "support": self.support.to_dict(),
            "harm": None if self.harm is None else self.harm.to_dict(),
            "specification": None if self.specification is None else self.specification.to_dict(),
            "unlabeled_weight": None if self.weight is None else self.weight.to_dict(),
            "notes": list(self.notes),
            "lines": self.lines(),
        }


def check_samples(
    samples: Samples,
    family: AnyFamily,
    *,
    start_smoothing: float = 1.0,
    n_folds: int = 5,
    n_bootstrap: int = 99,
    specification: bool = True,
    seed: int = 0,
    progress: Progress = SILENT,
) -> CheckReport:
    """Say whether unlabeled data helps prediction, hurts it, or whether that cannot be told.

    Parameters
    ----------
    samples : Samples
        Rows with and without labels.
    family : Family
        The kind of model and its prior.
    start_smoothing : float
        How many times stronger the prior is in the model EM starts from.
    n_folds : int
        Of the cross-validation; fewer are used where labels are few.
    n_bootstrap : int
        Data sets simulated for the specification test.
    specification : bool
        Whether to run that test; it is the slowest part.
    seed : int
        Deals the folds and drives the simulations.
    """
    support = LabelSupport.of(family, samples)
    if not support.identified:
        return CheckReport("not identified", support, None, None, None)
    rng = np.random.default_rng(seed)
    fitting = {"start_smoothing": start_smoothing}
    notes: list[str] = []
    harm, weight = _predictive(family, samples, support, n_folds, fitting, rng, notes, progress)
    tested = None
    if specification:
        tested = _tested(family, samples, support, n_bootstrap, rng, notes, progress)
    verdict: CheckVerdict = "cannot be told" if harm is None else harm.answer
    return CheckReport(verdict, support, harm, tested, weight, tuple(notes))


def _predictive(
    family: AnyFamily,
    samples: Samples,
    support: LabelSupport,
    n_folds: int,
    fitting: dict[str, Any],
    rng: np.random.Generator,
    notes: list[str],
    progress: Progress,
) -> tuple[HarmVerdict | None, WeightChoice | None]:
    """Verdict and weight, from the same folds."""
    if support.n_testable < 2 * len(support.label_counts):
        notes.append(too_few(support))
        return None, None
    folds = min(n_folds, support.n_testable)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", LabelworthWarning)
        predictions = held_out_predictions(
            family, samples, WEIGHTS, n_folds=folds, rng=rng, fitting=fitting, progress=progress
        )
        weight = choice_of(predictions)
        if support.labels_per_parameter >= LABELS_PER_PARAMETER and support.n_parameters <= MOST_PARAMETERS:
            # No covariance is known of a parameter that labels leave open.
            with suppress(np.linalg.LinAlgError):
                weight = choice_by_sandwich(family, samples, fitting=fitting, progress=progress)
    notes += sorted({str(warning.message) for warning in caught if issubclass(warning.category, LabelworthWarning)})
    return verdict_of(predictions, 1.0), weight


def too_few(support: RowSupport) -> str:
    """Why predictions were not tried."""
    return (
        f"There are too few labels to try predictions on: {support.n_testable} in classes with two or more. Label "
        "at least two rows of each class."
    )


def _tested(
    family: AnyFamily,
    samples: Samples,
    support: LabelSupport,
    n_bootstrap: int,
    rng: np.random.Generator,
    notes: list[str],
    progress: Progress,
) -> SpecificationTest | None:
    if support.n_parameters > MOST_PARAMETERS:
        notes.append(
            f"The specification test was not run: {support.n_parameters:,} parameters are more than the "
            f"{MOST_PARAMETERS:,} it can take. Use a smaller vocabulary to run it."
        )
        return None
    if samples.weights is not None:
        notes.append("The specification test was not run: it is for rows that count one each.")
        return None
    try:
        return specification_test(family, samples, rng=rng, n_bootstrap=n_bootstrap, progress=progress)
    except np.linalg.LinAlgError:
        notes.append(
            "The specification test was not run: even complete labels leave a parameter of this model open, and "
            "`labelworth.information` says which."
        )
        return None
