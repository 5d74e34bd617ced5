"""Figures over (n, labeled fraction): brought together from cells, compared by rank, checked for falling steps."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import spearmanr

from labelworth.arrays import FloatArray
from labelworth.report.values import Picture, SurfacePanel, Table
from labelworth_studies.paper.parts.panel_cells import Setting, setting_of
from labelworth_studies.runner.study import Cell, Result

_MEASURED = ("error", "log_loss", "mse", "error_labels_only", "mse_labels_only")
LABELS: Mapping[str, str] = {
    "error": "held-out error",
    "excess_error": "held-out error beyond that of all labels",
    "log_loss": "held-out log-loss, nats",
    "mse": "squared error of all probabilities",
    "error_labels_only": "held-out error, labels alone",
    "mse_labels_only": "squared error, labels alone",
    "simulated_error": "simulated error",
    "simulated_mse": "simulated squared error",
    "paper_total_variance": "paper: total variance",
    "paper_excess_log_loss": "paper: excess log-loss, nats",
    "robust_mse": "robust: squared error",
    "robust_error": "robust: error",
}
"""Every figure there may be, in words."""


@dataclass(frozen=True, eq=False)
class Surfaces:
    """All figures of one setting."""

    setting: Setting
    sizes: list[int]  # The grid.
    fractions: list[float]
    # (n_fractions, n_sizes): Standard errors are over folds or random estimates; figures without chance have
    # none.
    values: dict[str, FloatArray]
    standard_errors: dict[str, FloatArray]
    # By how much, at most, the paper's total variance changes when it is computed from twice as many documents.
    formula_change: float | None

    def panel(self, name: str) -> SurfacePanel:
        """One figure as contours; what is not positive is left blank."""
        values = self.values[name]
        return SurfacePanel(
            self.setting.title,
            "documents n",
            "labeled fraction",
            LABELS[name],
            np.array(self.sizes, dtype=np.float64),
            np.array(self.fractions),
            np.where(values > 0, values, np.nan),
        )

    def rank_correlation(self, first: str, second: str) -> float:
        """Spearman's, over the whole grid."""
        return float(spearmanr(self.values[first].ravel(), self.values[second].ravel()).statistic)

    def falling_steps(self, name: str) -> tuple[float, float]:
        """The share of steps to the next larger n, and to the next larger fraction, at which a figure falls."""
        values = self.values[name]
        return float((np.diff(values, axis=1) < 0).mean()), float((np.diff(values, axis=0) < 0).mean())

    def worth_of_labels(self, name: str) -> float:
        """By what factor a figure falls from the least fraction to full labels; the geometric mean over n."""
        return float(np.exp(np.mean(np.log(self.values[name][0] / self.values[name][-1]))))


def collected(pairs: Sequence[tuple[Cell, Result]]) -> list[Surfaces]:
    """One set of surfaces per setting, in the order of the cells."""
    by_setting: dict[Setting, list[tuple[Cell, Result]]] = {}
    for cell, result in pairs:
        by_setting.setdefault(setting_of(cell), []).append((cell, result))
    return [_surfaces(setting, here) for setting, here in by_setting.items()]


def _surfaces(setting: Setting, pairs: Sequence[tuple[Cell, Result]]) -> Surfaces:
    parts: dict[str, list[tuple[Cell, Result]]] = {}
    for cell, result in pairs:
        parts.setdefault(cell["part"], []).append((cell, result))
    sizes = sorted({cell["n_samples"] for cell, _ in parts["experiment"]})
    fractions = pairs[0][0]["fractions"]
    values: dict[str, FloatArray] = {}
    errors: dict[str, FloatArray] = {}
    for name in _MEASURED:
        values[name], errors[name] = _over_folds(parts["experiment"], sizes, name)
    values["excess_error"], errors["excess_error"] = _over_folds(parts["experiment"], sizes, "excess_error")
    for name in ("error", "mse"):
        if "simulation" in parts:
            simulated = _over_folds(parts["simulation"], sizes, name)
            values[f"simulated_{name}"], errors[f"simulated_{name}"] = simulated
        if "robust" in parts:
            columns = [result for size in sizes for cell, result in parts["robust"] if cell["n_samples"] == size]
            values[f"robust_{name}"] = np.array([column[name] for column in columns]).T
            errors[f"robust_{name}"] = np.array([column[f"{name}_se"] for column in columns]).T
    change = _add_formula(parts.get("formula", []), sizes, values, errors)
    return Surfaces(setting, sizes, fractions, values, errors, change)


def _over_folds(
    pairs: Sequence[tuple[Cell, Result]], sizes: Sequence[int], name: str
) -> tuple[FloatArray, FloatArray]:
    """Mean and standard error over the folds, (n_fractions, n_sizes); a single fold has no standard error."""
    means, errors = [], []
    for size in sizes:
        folds = np.array([_figure(result, name) for cell, result in pairs if cell["n_samples"] == size])
        means.append(folds.mean(axis=0))
        spread = folds.std(axis=0, ddof=1) if len(folds) > 1 else np.full(folds.shape[1], np.nan)
        errors.append(spread / np.sqrt(len(folds)))
    return np.array(means).T, np.array(errors).T


def _figure(result: Result, name: str) -> FloatArray:
    if name == "excess_error":
        return np.array(result["error"]) - float(result["least_error"])
    return np.array(result[name])


def _add_formula(
    pairs: Sequence[tuple[Cell, Result]],
    sizes: Sequence[int],
    values: dict[str, FloatArray],
    errors: dict[str, FloatArray],
) -> float | None:
    """The paper's formula from the most documents, n times smaller for n samples."""
    ordered = sorted(pairs, key=lambda pair: int(pair[0]["n_documents"]))
    if not ordered:
        return None
    final = ordered[-1][1]
    per_size = 1 / np.array(sizes, dtype=np.float64)
    for name in ("total_variance", "excess_log_loss"):
        values[f"paper_{name}"] = np.outer(final[name], per_size)
        errors[f"paper_{name}"] = np.outer(final[f"{name}_se"], per_size)
    if len(ordered) < 2:
        return None
    before, after = (np.array(result["total_variance"]) for _, result in ordered[-2:])
    return float(np.abs(after / before - 1).max())


def figures_of(surfaces: Surfaces, names: Sequence[str]) -> dict[str, Any]:
    """For the record."""
    figures: dict[str, Any] = {
        "setting": surfaces.setting.name,
        "n_samples": surfaces.sizes,
        "fractions": surfaces.fractions,
    }
    for name in names:
        errors = surfaces.standard_errors[name]
        figures[name] = surfaces.values[name].tolist()
        figures[f"{name}_se"] = None if np.isnan(errors).any() else errors.tolist()
        in_size, in_fraction = surfaces.falling_steps(name)
        figures[f"{name}_falls_with_n"], figures[f"{name}_falls_with_fraction"] = in_size, in_fraction
    return figures


def grid_of(settings: Sequence[Surfaces], names: Sequence[str]) -> Table:
    """A row per point, for a CSV file."""
    columns = ["corpus", "n_words", "document_length", "n_samples", "fraction"]
    rows = []
    for surfaces in settings:
        setting = surfaces.setting
        length = "raw" if setting.document_length is None else setting.document_length
        for row, fraction in enumerate(surfaces.fractions):
            for column, size in enumerate(surfaces.sizes):
                figures: list[Any] = [setting.corpus, setting.n_words, length, size, fraction]
                for name in names:
                    error = float(surfaces.standard_errors[name][row, column])
                    figures += [float(surfaces.values[name][row, column]), "" if np.isnan(error) else error]
                rows.append(tuple(figures))
    columns += [column for name in names for column in (name, f"{name}_se")]
    return Table("grid", tuple(columns), tuple(rows))


def picture_of(settings: Sequence[Surfaces], name: str, title: str) -> Picture:
    """One figure of every setting, beside each other."""
    return Picture(title, tuple(surfaces.panel(name) for surfaces in settings), n_columns=2)


def steps_table(settings: Sequence[Surfaces], names: Sequence[str]) -> Table:
    """Shares of falling steps, and what labels are worth."""
    rows = []
    for surfaces in settings:
        for name in names:
            in_size, in_fraction = surfaces.falling_steps(name)
            worth = surfaces.worth_of_labels(name) if (surfaces.values[name] > 0).all() else "-"
            rows.append((surfaces.setting.title, LABELS[name], f"{in_size:.0%}", f"{in_fraction:.0%}", worth))
    least = settings[0].fractions[0]
    return Table(
        "Steps that fall",
        ("setting", "figure", "with n", "with the fraction", f"{least:.0%} : 100 % labeled"),
        tuple(rows),
        note="Share of steps between neighbors of the grid at which the figure falls; last, the factor between the "
        "least fraction and full labels, geometric mean over n.",
    )
