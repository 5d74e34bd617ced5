"""Forecasts, plans and the choice of a model."""

from collections.abc import Iterator

from labelworth.simulation.calibration import METRIC_SPREADS, TAILS, TUNED
from labelworth_studies.forecasts.learning_curves import PILOTS, TIMES_ALL
from support.page_rows.records import figures


def forecast() -> Iterator[str]:
    for measure in ("error", "log_loss"):
        own = figures("forecast-quick")[measure]
        for part in ("all", "learners", "corpora", "factors", "pilots"):
            for group in own[part].values():
                yield (
                    f"| {group['n_forecasts']} | {group['mean_absolute_error']:.4f} | {group['power_law']:.4f} | "
                    f"{group['ratio']:.2f} | {group['bias']:+.3f} | {group['coverage']:.0%} |"
                )
    for cell in figures("forecast-quick")["error"]["cells"].values():
        yield f"| {cell['ratio']:.2f}, {cell['coverage']:.0%} of {cell['n_forecasts']} |"


def plan_calibration() -> Iterator[str]:
    (own,) = figures("plan-calibration")["truths"]
    met = round(own["met"] * own["n_seeds"])
    yield f"{100 * own['met']:.1f} % ({met} of {own['n_seeds']}; the worst {own['largest_ratio']:.3f})"
    yield f"| 86-94 % | {100 * own['covered']:.1f} % (standard error {100 * own['covered_se']:.1f} %) |"
    yield f"Plans ask for {own['labels_mean']:.0f} labels on average (standard error {own['labels_mean_se']:.1f})"
    yield f"standard deviation of {own['labels_sd']:.0f}; their intervals are {own['mean_width']:.0f} wide"


def model_choice() -> Iterator[str]:
    own = figures("model-choice")
    for size, part in own["by_size"].items():
        largest = f"{100 * part['largest']:.1f}"
        bold = f"**{largest}**" if part["largest"] == own["largest_regret"] else largest
        yield f"| {size} | {part['n_pilots']} | {100 * part['mean']:.2f} | {bold} |"
    mean, error = 100 * own["mean_regret"], 100 * own["mean_regret_se"]
    largest = 100 * own["largest_regret"]
    yield (
        f"| all | {own['n_pilots']} | **{mean:.2f}** (standard error {error:.2f}) | **{largest:.1f}**; above 3 on "
        f"{own['n_above_3_points']} pilots |"
    )
    yield f"tuned on the other corpora only: {100 * own['mean_regret_left_out']:.2f}"
    told = own["verdicts"]
    yield f"| verdict, {told['n_told']} pilots whose truth the test rows tell | right on {told['right']},"
    yield f"open on {told['open']},"


def metrics() -> Iterator[str]:
    for place, (name, own) in enumerate(figures("metrics-quick").items()):
        every, fitted, other = own["all"]["all sets"], own["fitted"]["fitted on"], own["fitted"]["took no part"]
        error = f"{100 * every['mean_absolute_error']:.1f}{' points' if place == 0 else ''}"
        ratio, holds = f"{every['ratio']:.2f}", f"{100 * every['coverage']:.1f} %"
        if every["ratio"] > 1:
            ratio, holds = f"**{ratio}**", f"**{holds}**"
        parts = [f"{100 * part['coverage']:.0f} % of {part['n_forecasts']}" for part in (fitted, other)]
        yield f"| {name} | {every['n_forecasts']} | {error} | {ratio} | {holds} | {parts[0]} | {parts[1]} |"


def planned() -> Iterator[str]:
    (own,) = figures("plan-calibration")["truths"]
    yield f"{own['n_seeds']} pilots, coverage {100 * own['covered']:.1f} %"


def priors() -> Iterator[str]:
    """What LCDB says of slopes and of what stays, and the constants that are in use."""
    curves = figures("learning-curves")
    start, missed, classes, both = curves["stays"]["fitted"]
    first, second, last = PILOTS
    yield (
        f"How much of it stays was measured on LCDB 1.1: {curves['stays']['n_sets']} data sets with curves that "
        f"reach {TIMES_ALL} times a pilot of {first}, {second} or {last}"
    )
    yield f"log-odds of the mean {start:.2f} + {missed:.2f} e / h - {-classes:.2f} log(1 / share of the largest"
    yield f"parameters that sum to {both:.2f}"
    slopes = {kind: f"{curves[kind]['before']:.2f} +- {curves[kind]['before_sd']:.2f}" for kind in TUNED}
    yield f"slope: {slopes['generative']} for models of p(x, y), {slopes['linear']} for linear classifiers,"
    yield f"{slopes['local']} for neighbors and trees"
    n_curves = sum(curves[kind]["n_curves"] for kind in TUNED if kind != "sequences")
    yield f"as measured on {n_curves:,} learning curves of LCDB 1.1"
    yield f"and {slopes['sequences']}, that of all its learners,"
    yield f"(from {curves['linear']['before']:.3f} to {curves['linear']['after']:.3f})"
    error = {kind: own["error"] for kind, own in TUNED.items()}
    usual, narrow = error["linear"], error["generative"]
    yield f"level a ~ N({usual.level_mean:g}, {usual.level_sd:g}^2)"
    tilts = {kind: f"{own.tilt_mean:.2f}" for kind, own in error.items()}
    yield f"tilt b with standard deviation {usual.tilt_sd:g} around {tilts['linear']} for linear classifiers,"
    yield f"{tilts['generative']} for models of p(x, y), {tilts['local']} for neighbors, trees and all else,"
    yield f"{tilts['sequences']} for sequences"
    yield f"{usual.drift_sd:g}^2 per unit"
    yield f"have {narrow.level_sd / usual.level_sd:g} times these spreads"
    yield f"share p of the law is {usual.law:g}, {error['local'].law:g} for neighbors and trees"
    (wider, widest), (often, seldom) = zip(*list(TAILS.items())[1:], strict=True)
    times = f"{wider:g} and {widest:g} times those"
    yield f"With probability {often:g} and {seldom:g} the spreads of level, tilt and drift are {times}"
    spreads = {kind: f"{times:g}" for kind, times in METRIC_SPREADS.items()}
    yield (
        f"level, tilt and drift are {spreads['macro_f1']} (macro-F1), {spreads['precision']} (precision at a recall) "
        f"and {spreads['recall']} (recall at a precision) times as wide"
    )
