"""What the calibration of plans found: how often the target was met, and how often intervals held the truth."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from labelworth.arrays import FloatArray
from labelworth.report.values import Curve, CurvesPanel, Measured, Outcome, Picture, Table
from labelworth_studies.runner.study import Cell, Result

N_OPTIMAL = 800
ALLOWANCE = 1.1
"""How far beyond its target a plan may end."""
MET_AT_LEAST = 0.9
COVERED = (0.86, 0.94)


def summarize(pairs: Sequence[tuple[Cell, Result]]) -> Outcome:
    """Shares per truth, with standard errors, beside what is asked of them."""
    names = list(dict.fromkeys(cell["truth"] for cell, _ in pairs))
    figures = [_figures(name, [result for cell, result in pairs if cell["truth"] == name]) for name in names]
    return Outcome(
        figures={"n_optimal": N_OPTIMAL, "truths": figures},
        words=tuple(_words(one) for one in figures),
        tables=(_table(figures),),
        pictures={"intervals": _picture(names, pairs)},
    )


def _figures(name: str, results: Sequence[Result]) -> dict[str, Any]:
    labels, realized = (np.array([one[field] for one in results]) for field in ("labels", "realized"))
    ratios = realized / np.array([one["target"] for one in results])
    lows, highs = (np.array([one[field] for one in results], dtype=np.float64) for field in ("low", "high"))
    covered = (lows <= N_OPTIMAL) & (highs >= N_OPTIMAL)
    error_held = [one["error_low"] <= one["realized"] <= one["error_high"] for one in results]
    return {
        "truth": name,
        "n_seeds": len(results),
        "target": results[0]["target"],
        "met": float((ratios <= ALLOWANCE).mean()),
        "met_se": _share_error(ratios <= ALLOWANCE),
        "largest_ratio": float(ratios.max()),
        "labels_mean": float(labels.mean()),
        "labels_mean_se": float(labels.std(ddof=1) / np.sqrt(len(labels))),
        "labels_sd": float(labels.std(ddof=1)),
        "covered": float(covered.mean()),
        "covered_se": _share_error(covered),
        "interval_below": float((highs < N_OPTIMAL).mean()),
        "interval_above": float((lows > N_OPTIMAL).mean()),
        "mean_width": float((highs - lows).mean()),
        "error_covered": float(np.mean(error_held)),
        "error_covered_se": _share_error(np.array(error_held)),
        "without_unlabeled": float(np.mean([not one["uses_unlabeled"] for one in results])),
        "by_bootstrap": float(np.mean([one["origin"] == "bootstrap" for one in results])),
    }


def _share_error(hits: Any) -> float:
    share = float(np.mean(hits))
    return float(np.sqrt(share * (1 - share) / len(hits)))


def _words(one: dict[str, Any]) -> str:
    met = "as asked" if one["met"] >= MET_AT_LEAST else "less than asked"
    inside = COVERED[0] <= one["covered"] <= COVERED[1]
    return (
        f"{one['truth']}: of {one['n_seeds']} plans, {one['met']:.1%} end within {ALLOWANCE:g} times their target at "
        f"the true parameters ({met}: {MET_AT_LEAST:.0%}), the worst at {one['largest_ratio']:.3f} times. The 90 % "
        f"interval of the number of labels holds the true optimum, {N_OPTIMAL}, in {one['covered']:.1%} (standard "
        f"error {one['covered_se']:.1%}; {'within' if inside else 'outside'} {COVERED[0]:.0%}-{COVERED[1]:.0%}); "
        f"plans ask for {one['labels_mean']:.0f} labels on average, with a standard deviation of "
        f"{one['labels_sd']:.0f}."
    )


def _table(figures: Sequence[dict[str, Any]]) -> Table:
    rows = tuple(
        (
            one["truth"],
            one["n_seeds"],
            Measured(one["labels_mean"], one["labels_mean_se"]),
            one["labels_sd"],
            one["mean_width"],
            Measured(one["met"], one["met_se"]),
            Measured(one["covered"], one["covered_se"]),
            Measured(one["error_covered"], one["error_covered_se"]),
        )
        for one in figures
    )
    return Table(
        f"Plans from pilots of 400; in truth {N_OPTIMAL} labels more are best",
        (
            "truth",
            "plans",
            "labels",
            "sd",
            "width",
            "target met",
            "labels held",
            "error held",
        ),
        rows,
        note=(
            "Width: of the 90 % interval of labels. Target met: share of plans within 1.1 times their target, asked "
            "0.90 or more. Labels held, error held: share of 90 % intervals that hold the truth, asked 0.86 to 0.94."
        ),
    )


def _picture(names: Sequence[str], pairs: Sequence[tuple[Cell, Result]]) -> Picture:
    panels = []
    for name in names:
        results = sorted((result for cell, result in pairs if cell["truth"] == name), key=lambda one: one["labels"])
        places: FloatArray = np.arange(1.0, len(results) + 1)
        planned, lows, highs = (
            np.array([one[field] for one in results], dtype=np.float64) for field in ("labels", "low", "high")
        )
        optimum = np.full(len(results), float(N_OPTIMAL))
        panels.append(
            CurvesPanel(
                name,
                "plans, by the number of labels they ask for",
                "labels to buy",
                (
                    Curve("planned, with 90 % intervals", places, planned, lows, highs),
                    Curve("best in truth", places, optimum, style="dashed"),
                ),
            )
        )
    return Picture("Plans and their intervals against the truth", tuple(panels))
