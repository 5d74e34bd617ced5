"""What is looked at before a plan is trusted, in words."""

import numpy as np

from labelworth.data.evidence import Evidence
from labelworth.planning.answer import Check, Design, Interval, State
from labelworth.planning.source import LABELS_PER_PARAMETER
from labelworth.planning.trust.randomness import Randomness
from labelworth.planning.words import count, number, percent
from labelworth.simulation.basis import ForecastBasis
from labelworth.simulation.forecast import simulation_warning
from labelworth.simulation.learner import Mode
from labelworth.tradeoff.accuracy import Source

FEW_LABELS = 10
"""Of a class: below it, figures of that class are shaky."""
WIDEST = 0.25
"""How far the ends of an interval may lie from its middle, relative to the labels in all or to the error."""


def randomness_check(randomness: Randomness) -> Check:
    """Whether the labels look drawn at random, as a check."""
    state: State = "warning" if randomness.suspicious else "good" if randomness.p_values else "unknown"
    return Check("random draw", state, randomness.words())


def class_check(evidence: Evidence) -> Check:
    """Whether every class has labels."""
    counts = evidence.label_counts()
    scarce = [f"{name} ({int(n)})" for name, n in zip(evidence.classes, counts, strict=True) if n < FEW_LABELS]
    if not scarce:
        return Check("labels per class", "good", f"Every class has {int(counts.min()):,} labels or more.")
    shown = ", ".join(scarce[:8]) + (f" and {len(scarce) - 8} more" if len(scarce) > 8 else "")
    share = max(float(counts.min()), 0.5) / counts.sum()
    return Check(
        "labels per class",
        "warning",
        f"Fewer than {FEW_LABELS} labels: {shown}. Figures are shaky for these classes; at random about "
        f"{number(np.ceil(FEW_LABELS / share))} labels in all would give them {FEW_LABELS}.",
    )


def simulation_check(basis: ForecastBasis, mode: Mode) -> Check:
    """Whether simulated labels are as hard to learn as the real ones."""
    warned = simulation_warning(basis, mode)
    if warned is not None:
        return Check("simulated labels", "warning", warned)
    return Check("simulated labels", "good", "Simulations of the pilot err about as much as the pilot itself.")


def convergence_check(converged: bool) -> Check:
    """Whether the fit converged."""
    if converged:
        return Check("fit", "good", "The fit converged.")
    return Check("fit", "warning", "The fit did not converge: allow more steps, or a larger tolerance.")


def widest_interval(design: Design, labels: Interval | None, error: Interval | None) -> float | None:
    """Half the wider of the two intervals, relative to the labels in all or to the error; None: not known."""
    widths = []
    if labels is not None and labels.high > labels.low and design.labels_in_all > 0:
        widths.append((labels.high - labels.low) / 2 / design.labels_in_all)
    if error is not None and np.isfinite(error.high) and design.error > 0:
        widths.append((error.high - error.low) / 2 / design.error)
    return max(widths, default=None)


def pilot_needed(n_held: int, widest: float | None) -> int | None:
    """Labels that would make the interval narrow enough: widths fall with the square root; None: it is already."""
    if widest is None or widest <= WIDEST:
        return None
    return int(np.ceil(n_held * (widest / WIDEST) ** 2))


def pilot_check(n_held: int, widest: float | None) -> Check:
    """Whether the pilot is large enough for the plan, and which size would do."""
    if widest is None:
        return Check("pilot size", "unknown", "How far the pilot can be trusted was not computed.")
    needed = pilot_needed(n_held, widest)
    if needed is None:
        return Check("pilot size", "good", f"The plan is known to within {percent(widest)} of itself.")
    return Check(
        "pilot size",
        "warning",
        f"The pilot of {count(n_held, 'label')} is too small to trust this plan: it is known to within "
        f"{percent(widest)} of itself. About {number(needed)} labels drawn at random would bring that to "
        f"{percent(WIDEST)}; label some, then plan again.",
    )


def parameters_need(n_labels: int, n_parameters: int, source: Source) -> int | None:
    """Labels with which the formulas would be trusted with levels; None: they are, or were not asked."""
    if source == "simulated" or n_labels / max(n_parameters, 1) >= LABELS_PER_PARAMETER:
        return None
    return int(np.ceil(LABELS_PER_PARAMETER * n_parameters))


def parameter_check(n_labels: int, n_parameters: int, source: Source) -> Check:
    """Whether there are labels enough for the formulas to speak of levels."""
    ratio = n_labels / max(n_parameters, 1)
    per_parameter = f"{ratio:.2g} labels per parameter"
    if source == "simulated":
        return Check("labels per parameter", "good", f"{per_parameter}; simulated forecasts do not need more.")
    needed = parameters_need(n_labels, n_parameters, source)
    if needed is None:
        return Check("labels per parameter", "good", f"{per_parameter}.")
    return Check(
        "labels per parameter",
        "warning",
        f"{per_parameter}: the pilot is too small for the formulas to do more than rank plans. About "
        f"{number(needed)} labels would do; or take source='simulated'.",
    )
