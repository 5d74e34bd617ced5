"""What the draws of the misspecification study say of the two formulas and of the specification test."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from labelworth.arrays import FloatArray
from labelworth.report.values import Curve, CurvesPanel, Measured, Outcome, Picture, Table
from labelworth_studies.runner.study import Cell, Result

ROBUST_WITHIN = 1.5
PAPER_OFF = 2.5
LEVEL = 0.05
NEAR_TRUTH = "draws, fitted from the truth"


@dataclass(frozen=True)
class Row:
    """One cut, size and fraction: n * mse as realized and predicted, and the share of tests that refuse the model."""

    cut: str
    n_samples: int
    fraction: float
    realized: float
    realized_se: float
    near_truth: float
    near_truth_se: float
    robust: float
    robust_bias: float
    endless: float
    paper: float
    refused: float | None
    refused_when_right: float | None

    @property
    def robust_off(self) -> float:
        """By which factor the robust formula is off, at least 1."""
        return _off(self.realized, self.robust)

    @property
    def robust_off_near_truth(self) -> float:
        """The same against the maximum of the likelihood that lies near the truth."""
        return _off(self.near_truth, self.robust)

    @property
    def paper_off(self) -> float:
        """By which factor the paper's formula is off, at least 1."""
        return _off(self.realized, self.paper)


def _off(realized: float, predicted: float) -> float:
    return max(realized / predicted, predicted / realized)


def summarize(pairs: Sequence[tuple[Cell, Result]]) -> Outcome:
    """One table, one picture, and whether each claim held."""
    rows = collected(pairs)
    return Outcome(
        figures={"rows": [_figures(row) for row in rows], **_claims(rows)},
        words=_words(rows),
        tables=(_table(rows),),
        pictures={"": _picture(rows)},
    )


def collected(pairs: Sequence[tuple[Cell, Result]]) -> list[Row]:
    """Bring the parts of each cut, size and fraction together."""
    parts: dict[tuple[Any, ...], Result] = {}
    for cell, result in pairs:
        parts[cell["part"], cell["cut"], cell["n_samples"], cell.get("fraction")] = result
    rows = []
    for cell, result in pairs:
        if cell["part"] != "formulas":
            continue
        for index, fraction in enumerate(cell["fractions"]):
            at = (cell["cut"], cell["n_samples"], fraction)
            draws, near = parts["draws", *at], parts[NEAR_TRUTH, *at]
            bias = result["robust_bias"][index]
            rows.append(
                Row(
                    *at,
                    draws["mse"],
                    draws["mse_se"],
                    near["mse"],
                    near["mse_se"],
                    bias + result["robust_variance"][index],
                    bias,
                    result["endless_bias"][index] + result["endless_variance"][index],
                    result["paper"][index],
                    _share_refused(parts.get(("tests", *at))),
                    _share_refused(parts.get(("tests of a right model", *at))),
                )
            )
    return sorted(rows, key=lambda row: (row.cut, row.n_samples, -row.fraction))


def _share_refused(result: Result | None) -> float | None:
    return None if result is None else float(np.mean(np.array(result["p_values"]) <= LEVEL))


def _claims(rows: Sequence[Row]) -> dict[str, Any]:
    misled = [row for row in rows if row.paper_off > PAPER_OFF]
    right = [row.refused_when_right for row in rows if row.refused_when_right is not None]
    return {
        "worst_factor_robust": max(row.robust_off for row in rows),
        "n_rows_robust_off": sum(row.robust_off > ROBUST_WITHIN for row in rows),
        "worst_factor_robust_near_truth": max(row.robust_off_near_truth for row in rows),
        "worst_factor_paper": max(row.paper_off for row in rows),
        "n_rows_paper_off": len(misled),
        "least_share_refused_where_paper_off": min((row.refused or 0.0 for row in misled), default=None),
        "share_refused_when_right": float(np.mean(right)) if right else None,
    }


def _words(rows: Sequence[Row]) -> tuple[str, ...]:
    claims = _claims(rows)
    words = [
        f"The robust formula is within a factor {claims['worst_factor_robust']:.2f} of the realized error "
        f"everywhere, and off by more than {ROBUST_WITHIN} at {claims['n_rows_robust_off']} of {len(rows)} places; "
        f"the paper's formula is off by up to {claims['worst_factor_paper']:.0f}.",
        "Fitted from the model of all labels, which leads to the maximum of the likelihood near the truth, of which "
        f"the formula speaks, it is within {claims['worst_factor_robust_near_truth']:.2f} everywhere.",
    ]
    if claims["n_rows_paper_off"]:
        words.append(
            f"Where the paper's formula is off by more than {PAPER_OFF} ({claims['n_rows_paper_off']} of {len(rows)} "
            f"places), the specification test refuses the model in at least "
            f"{claims['least_share_refused_where_paper_off']:.0%} of the draws."
        )
    if claims["share_refused_when_right"] is not None:
        words.append(
            f"On documents drawn from the model itself it refuses {claims['share_refused_when_right']:.1%} of them, "
            f"at a level of {LEVEL:.0%}."
        )
    return tuple(words)


def _figures(row: Row) -> dict[str, Any]:
    return {
        "cut": row.cut,
        "n_samples": row.n_samples,
        "fraction": row.fraction,
        "realized": row.realized,
        "realized_se": row.realized_se,
        "realized_near_truth": row.near_truth,
        "realized_near_truth_se": row.near_truth_se,
        "robust": row.robust,
        "robust_bias": row.robust_bias,
        "robust_endless_data": row.endless,
        "paper": row.paper,
        "share_refused": row.refused,
        "share_refused_when_right": row.refused_when_right,
    }


def _table(rows: Sequence[Row]) -> Table:
    return Table(
        "n * mse of the probability tables",
        ("cut", "n", "labeled", "realized", "near truth", "robust", "paper", "refused", "if right"),
        tuple(
            (
                row.cut,
                row.n_samples,
                row.fraction,
                Measured(row.realized, row.realized_se),
                Measured(row.near_truth, row.near_truth_se),
                row.robust,
                row.paper,
                "-" if row.refused is None else f"{row.refused:.0%}",
                "-" if row.refused_when_right is None else f"{row.refused_when_right:.0%}",
            )
            for row in rows
        ),
        note="Near truth: fitted from the model of all labels. Refused: share of draws in which the specification "
        "test refuses the model at 5 %; if right: the same on documents drawn from the model.",
    )


def _picture(rows: Sequence[Row]) -> Picture:
    panels = []
    for cut, size in sorted({(row.cut, row.n_samples) for row in rows}):
        here = [row for row in rows if (row.cut, row.n_samples) == (cut, size)]
        x = np.array([row.fraction for row in here])
        realized = np.array([row.realized for row in here])
        margin = 2 * np.array([row.realized_se for row in here])
        panels.append(
            CurvesPanel(
                f"{cut}, n = {size}",
                "labeled fraction",
                "n * mse",
                (
                    Curve("realized", x, realized, realized - margin, realized + margin, style="points"),
                    Curve("realized near the truth", x, _column(here, "near_truth"), style="points"),
                    Curve("robust", x, _column(here, "robust")),
                    Curve("paper", x, _column(here, "paper"), style="dashed"),
                ),
                x_scale="log",
                y_scale="log",
            )
        )
    return Picture("When the model is wrong", tuple(panels), n_columns=2)


def _column(rows: Sequence[Row], name: str) -> FloatArray:
    return np.array([getattr(row, name) for row in rows])
