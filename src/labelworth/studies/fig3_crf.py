"""The paper's CRF panel: conditional log-perplexity over numbers of sentences and the share labeled whole.

Paper: fig:lorem3.
"""

from collections.abc import Sequence
from functools import partial

import numpy as np

from labelworth.studies.chunk_panel import CELLS_NAME, cells, prepare
from labelworth.studies.chunk_panel_fit import CELLS_VERSION, compute
from labelworth.studies.chunk_panel_grid import PanelGrid
from labelworth.studies.chunk_panel_summary import (
    OTHERWISE,
    comparison,
    figures_of,
    measured,
    points_table,
    predicted,
    words_of,
)
from labelworth.studies.chunking_data import conll2000_digest
from labelworth.studies.outcome import Measured, Outcome, Panel, Picture, SurfacePanel, Table
from labelworth.studies.runner import Study
from labelworth.studies.store import Cell, Result

RULES = ("window:5", "nothing")
_LOSS = "conditional"


def summarize(pairs: Sequence[tuple[Cell, Result]]) -> Outcome:
    """A surface per rule, the theory's beside it, and the one against the other."""
    grids = [PanelGrid.of(pairs, rule) for rule in RULES]
    return Outcome(
        figures={grid.rule: figures_of(grid, (_LOSS,)) for grid in grids},
        words=tuple(words_of(grid, _LOSS) for grid in grids),
        tables=tuple(_table(grid) for grid in grids),
        pictures={
            "": Picture(
                "CoNLL-2000, CRF: log-perplexity over sentences and the share labeled whole",
                tuple(panel for grid in grids for panel in _panels(grid)),
                n_columns=3,
            )
        },
        grid=points_table(grids, (_LOSS,)),
    )


def _panels(grid: PanelGrid) -> tuple[Panel, ...]:
    otherwise = OTHERWISE[grid.rule].replace(" of five tokens", " of 5")
    x, y = np.array(grid.sizes, dtype=np.float64), np.array(grid.shares)
    nats = "nats per test sentence"
    found = SurfacePanel(
        f"Log-perplexity, {otherwise}", "sentences", "share labeled whole", nats, x, y, grid.mean(_LOSS)
    )
    theory = SurfacePanel(
        f"Theory: excess, {otherwise}", "sentences", "share labeled whole", nats, x, y, grid.theory[_LOSS]["excess"]
    )
    return found, theory, comparison(grid, _LOSS)


def _table(grid: PanelGrid) -> Table:
    rows = []
    for column, size in enumerate(grid.sizes):
        for place, share in enumerate(grid.shares):
            excess = float(grid.excess(_LOSS)[place, column])
            rows.append(
                (
                    size,
                    share,
                    round(float(grid.mean_labels[place, column])),
                    measured(grid, _LOSS, place, column),
                    Measured(excess, float(grid.standard_error(_LOSS)[place, column])),
                    predicted(grid, _LOSS, place, column),
                )
            )
    return Table(
        f"CRF: whole sentences with probability p, {OTHERWISE[grid.rule]}",
        ("sentences", "p", "labels", "conditional", "excess", "theory"),
        tuple(rows),
        note="Log-perplexity in nats per test sentence, means over draws with standard errors; excess is above a fit "
        "to all training sentences with all labels; theory counts the penalty as information that is held.",
    )


STUDY = Study(
    name="fig3-crf",
    title="CoNLL-2000, CRF: log-perplexity over sentences and the share labeled whole, theory beside it",
    cells=partial(cells, kind="crf", rules=RULES),
    compute=compute,
    summarize=summarize,
    version=CELLS_VERSION,
    data_digest=conll2000_digest,
    prepare=prepare,
    cells_name=CELLS_NAME,
)
