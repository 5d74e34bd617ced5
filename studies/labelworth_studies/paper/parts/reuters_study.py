"""The three panels on Reuters are one study of surfaces over (n, labeled fraction): same cells, other figures."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from labelworth.report.values import Outcome, Picture, Table
from labelworth_studies.corpora.panel_documents import reuters_digest
from labelworth_studies.paper.parts.panel_cells import VERSION, Part, cells_of, compute, reuters_designs, say_reuters
from labelworth_studies.paper.parts.panel_surfaces import Surfaces, collected, figures_of, grid_of
from labelworth_studies.runner.study import Cell, Result, Study


def reuters_study(
    name: str,
    title: str,
    *,
    parts: Sequence[Part],
    shown: Sequence[str],
    figures: Callable[[Surfaces], Mapping[str, Any]],
    words: Callable[[Sequence[Surfaces]], tuple[str, ...]],
    tables: Callable[[Sequence[Surfaces]], tuple[Table, ...]],
    pictures: Callable[[Sequence[Surfaces]], Mapping[str, Picture]],
) -> Study:
    """A panel: which parts are computed, which surfaces are shown, and what is said of them.

    `figures` adds to the record of one setting; `words`, `tables` and `pictures` take all settings.
    """

    def cells(quick: bool, seed: int) -> list[dict[str, Any]]:
        return cells_of(reuters_designs(quick), parts, seed)

    def summarize(pairs: Sequence[tuple[Cell, Result]]) -> Outcome:
        settings = collected(pairs)
        return Outcome(
            figures={"settings": [{**figures_of(surfaces, shown), **figures(surfaces)} for surfaces in settings]},
            words=words(settings),
            tables=tables(settings),
            pictures=pictures(settings),
            grid=grid_of(settings, shown),
        )

    return Study(
        name=name,
        title=title,
        cells=cells,
        compute=compute,
        summarize=summarize,
        version=VERSION,
        corpora=("rcv1", "r52"),
        data_digest=reuters_digest,
        prepare=say_reuters,
        cells_name="fig1",
    )
