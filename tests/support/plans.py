"""Plans made by hand, with every part filled in."""

import numpy as np

from labelworth.planning.answer import ArmCount, Certificate, Check, Design, Held, Interval, Plan, PlanQuestion, Worth
from labelworth.planning.landscape import ForecastCurve, FrontierDesign, GridAnswer, Solutions, Surface

POOL = 5000
HELD_LABELS = 100


def error_at(n_samples: float, labels: float) -> float:
    """A made-up error that falls with labels and, more slowly, with samples."""
    return 3.0 / labels + 10.0 / n_samples


def document_plan(budget: float = 512.0) -> Plan:
    """A plan for documents at one unit of money per label."""
    labels = budget - HELD_LABELS
    n_samples = POOL + HELD_LABELS
    return Plan(
        question=PlanQuestion("budget", budget, "excess_log_loss"),
        advice="label",
        why_stop=None,
        held=Held("documents", n_samples, HELD_LABELS, HELD_LABELS, POOL, 39, ("ham", "spam"), HELD_LABELS, 0.032),
        uses_unlabeled=True,
        source="asymptotic",
        reason="130 samples per parameter",
        criterion_words="excess log-loss (nats per sample)",
        recommended=Design(
            (ArmCount("everything", labels, labels, labels), ArmCount("nothing", POOL - labels, 0.0, 0.0)),
            labels,
            budget,
            n_samples,
            budget / n_samples,
            labels,
            budget,
            error_at(n_samples, budget),
        ),
        labels_interval=Interval(350.0, 510.0),
        error_interval=Interval(0.006, 0.0095),
        certificate=Certificate(1e-12, 1.1e-5, 4e-7),
        worth=(
            Worth("everything", 1.1e-5, 1.0, 1.1e-5, 27.0, None, 10, 1.1e-4),
            Worth("nothing", 4e-7, 0.0, None, 1.0, None, 10, 4e-6),
        ),
        frontier=_frontier(n_samples),
        surface=_surface(),
        forecast=_forecast(n_samples),
        solutions=_solutions(n_samples),
        checks=(
            Check("unlabeled data", "good", "It helps: the error falls from 0.21 to 0.17."),
            Check("pilot", "warning", "A class <rare> & odd has three labels </script>; 250 would do."),
        ),
        notes=("One unit of money is one label.",),
        model="multinomial",
    )


def _frontier(n_samples: float) -> tuple[FrontierDesign, ...]:
    labels = np.geomspace(10, 4000, 12)
    best = [
        FrontierDesign(f"{one:.0f} labels", (one, POOL - one), one, one, error_at(n_samples, HELD_LABELS + one))
        for one in labels
    ]
    worse = [
        FrontierDesign(f"{one:.0f} labels, half the pool", (one, 0.0), one, one, error_at(2500, HELD_LABELS + one), 0)
        for one in labels
    ]
    return (*best, *worse)


def _surface() -> Surface:
    n_samples, fractions = np.geomspace(200, 5100, 10), np.geomspace(0.02, 1.0, 8)
    error = tuple(tuple(error_at(n, fraction * n) for n in n_samples) for fraction in fractions)
    return Surface(tuple(n_samples.tolist()), tuple(fractions.tolist()), error)


def _forecast(n_samples: float) -> ForecastCurve:
    labels = np.geomspace(100, 3200, 9)
    error = np.array([error_at(n_samples, one) for one in labels])
    return ForecastCurve(
        tuple(labels.tolist()),
        tuple(error.tolist()),
        tuple((error * 0.8).tolist()),
        tuple((error * 1.3).tolist()),
        tuple((error * 0.9).tolist()),
        tuple((error * 1.1).tolist()),
        (12.0, 25.0, 50.0, 80.0),
        (0.35, 0.24, 0.17, 0.15),
        tuple((3.0 / labels**2).tolist()),
        tuple((2.0 / labels**2).tolist()),
        tuple((4.5 / labels**2).tolist()),
    )


def _solutions(n_samples: float) -> Solutions:
    def answer(value: float, labels: float) -> GridAnswer:
        error = error_at(n_samples, HELD_LABELS + labels)
        return GridAnswer(value, (labels, POOL - labels), labels, HELD_LABELS + labels, error)

    labels = [float(round(one)) for one in np.geomspace(10, 4000, 25)]
    budgets = tuple(answer(HELD_LABELS + one, one) for one in labels)
    targets = tuple(answer(error_at(n_samples, HELD_LABELS + one), one) for one in labels)
    alphas = tuple(answer((HELD_LABELS + one) ** 2 / 3.0, one) for one in labels)
    return Solutions((GridAnswer(50.0, None, None, None, None), *budgets), targets, alphas)
