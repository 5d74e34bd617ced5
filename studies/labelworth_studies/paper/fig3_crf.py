"""The paper's CRF panel: conditional log-perplexity over numbers of sentences and the share labeled whole.

Paper: fig:lorem3.
"""

from collections.abc import Sequence
from functools import partial

import numpy as np

from labelworth.arrays import FloatArray
from labelworth.report.values import Measured, Outcome, Panel, Picture, SurfacePanel, Table
from labelworth_studies.corpora.chunking_data import conll2000_digest
from labelworth_studies.paper.parts.chunk_panel import CELLS_NAME, cells, prepare
from labelworth_studies.paper.parts.chunk_panel_fit import CELLS_VERSION, compute
from labelworth_studies.paper.parts.chunk_panel_grid import PanelGrid
from labelworth_studies.paper.parts.chunk_panel_summary import (
    FORMULAS,
    OTHERWISE,
    comparison,
    figures_of,
    measured,
    points_table,
    predicted,
    words_of,
)
from labelworth_studies.runner.study import Cell, Result, Study

RULES = ("window:5", "nothing")
_LOSS = "conditional"


def summarize(pairs: Sequence[tuple[Cell, Result]]) -> Outcome:
    """A column per rule: what was measured, what both formulas expected, and the one against the other."""
    grids = [PanelGrid.of(pairs, rule) for rule in RULES]
    return Outcome(
        figures={grid.rule: figures_of(grid, (_LOSS,)) for grid in grids},
        words=tuple(words_of(grid, _LOSS) for grid in grids),
        tables=tuple(_table(grid) for grid in grids),
        pictures={
            "": Picture(
                "CoNLL-2000, CRF: log-perplexity over sentences and the share labeled whole",
                tuple(panel for panels in zip(*map(_panels, grids), strict=True) for panel in panels),
                n_columns=2,
            )
        },
        grid=points_table(grids, (_LOSS,)),
    )


def _panels(grid: PanelGrid) -> tuple[Panel, ...]:
    otherwise = OTHERWISE[grid.rule].replace(" of five tokens", " of 5")
    x, y = np.array(grid.sizes, dtype=np.float64), np.array(grid.shares)

    def surface(title: str, values: FloatArray) -> SurfacePanel:
        nats = "nats per test sentence"
        return SurfacePanel(f"{title}, {otherwise}", "sentences n", "share labeled whole", nats, x, y, values)

    return (
        surface("Log-perplexity", grid.mean(_LOSS)),
        surface("Excess", grid.excess(_LOSS)),
        surface("Paper's excess", grid.formulas["paper"][_LOSS]),
        surface("Robust excess", grid.formulas["robust"][_LOSS]),
        comparison(grid, _LOSS),
    )


def _table(grid: PanelGrid) -> Table:
    rows = []
    for column, size in enumerate(grid.sizes):
        for index, share in enumerate(grid.shares):
            excess = float(grid.excess(_LOSS)[index, column])
            rows.append(
                (
                    size,
                    share,
                    round(float(grid.mean_labels[index, column])),
                    measured(grid, _LOSS, index, column),
                    Measured(excess, float(grid.standard_error(_LOSS)[index, column])),
                    *(predicted(grid, _LOSS, formula, index, column) for formula in FORMULAS),
                )
            )
    return Table(
        f"CRF: whole sentences with probability p, {OTHERWISE[grid.rule]}",
        ("sentences", "p", "labels", "conditional", "excess", "paper", "robust"),
        tuple(rows),
        note="Log-perplexity in nats per test sentence, means over draws with standard errors; excess is above a fit "
        "to all training sentences with all labels. Paper: the information at that fit. Robust: bias and noise on "
        "the real sentences.",
    )


STUDY = Study(
    name="fig3-crf",
    title="CoNLL-2000, CRF: log-perplexity over sentences and the share labeled whole, both formulas beside it",
    cells=partial(cells, kind="crf", rules=RULES),
    compute=compute,
    summarize=summarize,
    version=CELLS_VERSION,
    corpora=("conll2000",),
    data_digest=conll2000_digest,
    prepare=prepare,
    cells_name=CELLS_NAME,
)
