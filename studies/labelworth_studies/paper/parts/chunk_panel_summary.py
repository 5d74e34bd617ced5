"""What a chunking panel shows: log-perplexity against labeled tokens, both formulas beside it, dominated designs."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from labelworth.arrays import FloatArray
from labelworth.report.values import (
    ComparisonPanel,
    Curve,
    CurvesPanel,
    FrontierPanel,
    Measured,
    Outcome,
    Picture,
    Table,
)
from labelworth_studies.paper.parts.chunk_panel_grid import LOSSES, PanelGrid
from labelworth_studies.runner.study import Cell, Result

OTHERWISE = {"window:5": "otherwise a window of five tokens", "nothing": "otherwise nothing"}
FORMULAS = {"paper": "paper's formula", "robust": "robust formula"}
_TOKENS = "labeled tokens"
_NATS = "nats per test sentence"


def summarize_chain(pairs: Sequence[tuple[Cell, Result]], *, rule: str) -> Outcome:
    """Figures, words, a table of designs and the picture of one panel."""
    grid = PanelGrid.of(pairs, rule)
    return Outcome(
        figures=figures_of(grid, LOSSES),
        words=tuple(words_of(grid, loss) for loss in LOSSES),
        tables=(_table(grid),),
        pictures={"": _picture(grid)},
        grid=points_table([grid], LOSSES),
    )


def figures_of(grid: PanelGrid, losses: Sequence[str]) -> dict[str, Any]:
    """The findings of one grid as JSON values."""
    figures: dict[str, Any] = {
        "otherwise": grid.rule,
        "n_draws": grid.labels.shape[2],
        "limit": dict(grid.limit),
        "shares_whole": list(grid.shares),
        "n_sentences": list(grid.sizes),
        "labels": grid.mean_labels.tolist(),
    }
    for name in grid.figures:
        figures[name] = grid.mean(name).tolist()
        figures[f"{name}_se"] = grid.standard_error(name).tolist()
    figures["token_error_findings"] = {
        "robust_excess": _plain(grid.formulas["robust"]["token_error"]),
        "robust_excess_se": _plain(grid.formula_errors["robust"]["token_error"]),
        "agreement": {"robust": grid.agreement("token_error", "robust")},
    }
    for loss in losses:
        figures[f"{loss}_findings"] = {
            "paper_excess": _plain(grid.formulas["paper"][loss]),
            "paper_excess_se": _plain(grid.formula_errors["paper"][loss]),
            "robust_excess": _plain(grid.formulas["robust"][loss]),
            "robust_bias": _plain(grid.bias[loss]),
            "agreement": {formula: grid.agreement(loss, formula) for formula in FORMULAS},
            "steps": grid.steps(loss),
            "undominated": [grid.design(index) for index in grid.boundary(loss)],
            "dominated": grid.dominated(loss),
            "whole_instead": grid.whole_instead(loss) if grid.rule == "nothing" else [],
        }
    return figures


def words_of(grid: PanelGrid, loss: str) -> str:
    """The findings of one loss in words."""
    steps, dominated = grid.steps(loss), grid.dominated(loss)
    n_designs = len(grid.shares) * len(grid.sizes)
    n_clear = sum(design["is_clear"] for design in dominated)
    n_by_whole = sum(design["by"]["share_whole"] == 1 for design in dominated)
    more, whole = steps["sentences"], steps["share_whole"]
    return (
        f"{loss.capitalize()} log-perplexity, {OTHERWISE[grid.rule]}. It falls in {more['falling']:.0%} of the "
        f"{more['n']} steps to more sentences ({more['n_clearly_rising']} rise by more than two standard errors) and "
        f"in {whole['falling']:.0%} of the {whole['n']} steps to more whole ones ({whole['n_clearly_rising']} rise). "
        f"Of {n_designs} designs {len(dominated)} are dominated, {n_clear} by more than two standard errors; "
        f"{n_by_whole} of them by fewer sentences that are all labeled whole. "
        + " ".join(_agreement_words(grid, loss, formula) for formula in FORMULAS)
    )


def _agreement_words(grid: PanelGrid, loss: str, formula: str) -> str:
    agreement = grid.agreement(loss, formula)
    partial = agreement["ratio_median_partial"]
    return (
        f"The {FORMULAS[formula]} ranks the {agreement['n_told']} of {agreement['n_designs']} designs that it tells "
        f"as the experiment does with a rank correlation of {agreement['spearman']:.2f}; "
        "the excess that was found is "
        + (
            ""
            if partial is None
            else f"{partial:.2g} times the predicted one where tokens are left unlabeled (median), "
        )
        + f"{_listed(agreement['ratio_all_labels'])} times with all labels, by rising n."
    )


def points_table(grids: Sequence[PanelGrid], losses: Sequence[str]) -> Table:
    """Every design of every grid in a row, for a CSV file."""
    columns = ["otherwise", "n_sentences", "share_whole", "labels"]
    columns += [*losses, "token_error", "f1"]
    columns += [f"{formula}_excess_{loss}" for loss in losses for formula in FORMULAS]
    columns.append("robust_excess_token_error")
    columns += [f"dominated_{loss}" for loss in losses]
    rows = []
    for grid in grids:
        dominated = {loss: _dominated_places(grid, loss) for loss in losses}
        for index, share in enumerate(grid.shares):
            for column, size in enumerate(grid.sizes):
                entries: list[Any] = [grid.rule, size, share, float(grid.mean_labels[index, column])]
                for name in (*losses, "token_error", "f1"):
                    entries.append(measured(grid, name, index, column))
                entries += [predicted(grid, loss, formula, index, column) for loss in losses for formula in FORMULAS]
                entries.append(predicted(grid, "token_error", "robust", index, column))
                entries += [(index, column) in dominated[loss] for loss in losses]
                rows.append(tuple(entries))
    return Table("Designs", tuple(columns), tuple(rows))


def measured(grid: PanelGrid, name: str, index: int, column: int) -> Measured:
    """One mean with its standard error."""
    return Measured(float(grid.mean(name)[index, column]), float(grid.standard_error(name)[index, column]))


def predicted(grid: PanelGrid, name: str, formula: str, index: int, column: int) -> Measured | None:
    """A formula's excess of one design; None where it is not told."""
    value = float(grid.formulas[formula][name][index, column])
    error = grid.formula_errors[formula].get(name)
    if not np.isfinite(value):
        return None
    return Measured(value, None if error is None else float(error[index, column]))


def by_size(grid: PanelGrid, x: FloatArray, y: FloatArray, error: FloatArray) -> tuple[Curve, ...]:
    """A cloud of designs per number of sentences, lighter for larger ones; bars of two standard errors."""
    shades = np.linspace(0, 1, len(grid.sizes))
    return tuple(
        Curve(
            f"{size} sentences",
            x[:, column],
            y[:, column],
            y[:, column] - 2 * error[:, column],
            y[:, column] + 2 * error[:, column],
            style="points",
            shade=float(shades[column]),
        )
        for column, size in enumerate(grid.sizes)
    )


def comparison(grid: PanelGrid, loss: str) -> ComparisonPanel:
    """What both formulas expected against what was found."""
    realized, error = grid.excess(loss).ravel(), grid.standard_error(loss).ravel()
    clouds = tuple(
        Curve(
            title,
            grid.formulas[formula][loss].ravel(),
            realized,
            realized - 2 * error,
            realized + 2 * error,
            style="points",
        )
        for formula, title in FORMULAS.items()
    )
    return ComparisonPanel(
        f"Excess {loss} log-loss", f"predicted, {_NATS}", f"measured, {_NATS}, two s.e.", clouds, scale="log"
    )


def _table(grid: PanelGrid) -> Table:
    dominated = _dominated_places(grid, "joint")
    rows = []
    for column, size in enumerate(grid.sizes):
        for index, share in enumerate(grid.shares):
            excess = Measured(
                float(grid.excess("joint")[index, column]), float(grid.standard_error("joint")[index, column])
            )
            beaten = "dominated" if (index, column) in dominated else ""
            labels = round(float(grid.mean_labels[index, column]))
            entries = [measured(grid, name, index, column) for name in LOSSES]
            expected = [_or_untold(predicted(grid, "joint", formula, index, column)) for formula in FORMULAS]
            rows.append((size, share, labels, *entries, excess, *expected, beaten))
    return Table(
        f"Whole sentences with probability p, {OTHERWISE[grid.rule]}",
        ("sentences", "p", "labels", "joint", "conditional", "joint excess", "paper", "robust", "at its cost"),
        tuple(rows),
        note="Log-perplexity in nats per test sentence, means over draws with standard errors; excess is above a fit "
        "to all training sentences with all labels. Paper: from one information matrix per rule at that fit. Robust: "
        "from the real sentences, bias and noise.",
    )


def _picture(grid: PanelGrid) -> Picture:
    joint, conditional = (
        CurvesPanel(
            f"{loss.capitalize()} log-perplexity",
            _TOKENS,
            f"{_NATS}, two s.e.",
            by_size(grid, grid.mean_labels, grid.mean(loss), grid.standard_error(loss)),
            x_scale="log",
        )
        for loss in LOSSES
    )
    boundary = grid.boundary("joint")
    cloud = by_size(grid, grid.mean_labels, grid.excess("joint"), grid.standard_error("joint"))
    region = FrontierPanel(
        "What labels buy: joint log-loss above the limit",
        _TOKENS,
        _NATS,
        cloud,
        grid.mean_labels.ravel()[boundary],
        grid.excess("joint").ravel()[boundary],
        x_scale="log",
    )
    token_error = CurvesPanel(
        "Token error above the limit",
        _TOKENS,
        "share of test tokens, two s.e.",
        by_size(grid, grid.mean_labels, grid.excess("token_error"), grid.standard_error("token_error")),
        x_scale="log",
    )
    return Picture(
        f"CoNLL-2000, Boltzmann chain: whole sentences with probability p, {OTHERWISE[grid.rule]}",
        (joint, conditional, region, token_error, *(comparison(grid, loss) for loss in LOSSES)),
        n_columns=2,
    )


def _dominated_places(grid: PanelGrid, loss: str) -> set[tuple[int, int]]:
    n_sizes = len(grid.sizes)
    return {(index // n_sizes, index % n_sizes) for index, by in enumerate(grid.dominated_by(loss)) if by is not None}


def _plain(values: FloatArray) -> list[Any]:
    """Nested lists with None for what is not told."""
    return [
        _plain(row) if isinstance(row, np.ndarray) else (float(row) if np.isfinite(row) else None) for row in values
    ]


def _or_untold(figure: Measured | None) -> Measured | str:
    return "not told" if figure is None else figure


def _listed(values: Sequence[float]) -> str:
    return ", ".join(f"{value:.2g}" for value in values)
