"""`labelworth reproduce NAME`: a figure or table of the paper, or one of ours, from one command."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from labelworth.cli.console import answer, tell, working
from labelworth.cli.options import Json, Seed
from labelworth.cli.options.table import Between

if TYPE_CHECKING:
    from rich.console import Console

    from labelworth.report.record import Record
    from labelworth.report.values import Outcome
    from labelworth_studies.runner.study import Study

ALL = "all"


def reproduce(
    name: Annotated[str | None, typer.Argument(help='Which study, or "all"; without it, they are listed.')] = None,
    quick: Annotated[bool, typer.Option("--quick", help="A smaller grid: the same story, rougher.")] = False,
    workers: Annotated[int | None, typer.Option(help="Processes; every core unless said."), Between(1)] = None,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FOLDER", help="Folder for records, pictures and cells.")
    ] = Path("results"),
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Reproduce a study; interrupted, it goes on where it stopped.

    Examples
    --------
    labelworth reproduce
    labelworth reproduce fig1-mse --quick -o records
    """
    from labelworth.data.files import make_folder
    from labelworth.report.tables import show_outcome
    from labelworth_studies.runner import registry

    if name is None:
        _list_studies(as_json=as_json)
        return
    names = _possible(quick) if name == ALL else (name,)
    if name != ALL:
        _require_corpora(registry.find(name), quick)
    make_folder(output)
    done = [_reproduced(one, output, quick=quick, workers=workers, seed=seed) for one in names]
    record = done[0][0] if len(done) == 1 else _together([record for record, _ in done], quick=quick, seed=seed)

    def show(console: "Console") -> None:
        for _, outcome in done:
            show_outcome(console, outcome)

    answer(record, show, as_json=as_json)


def _reproduced(name: str, output: Path, *, quick: bool, workers: int | None, seed: int) -> "tuple[Record, Outcome]":
    """Run one study, and write its record, pictures and grid."""
    from labelworth.report.figures import save_picture
    from labelworth.report.record import Record, Stopwatch
    from labelworth_studies.commands.grid_file import save_csv
    from labelworth_studies.runner import registry
    from labelworth_studies.runner.run import run

    watch = Stopwatch()
    with working() as progress, watch.timing("cells"):
        done = run(registry.find(name), output, quick=quick, seed=seed, workers=workers, progress=progress)
    stem = f"{name}-quick" if quick else name
    pictures = [
        save_picture(picture, output / f"{stem}{'-' + suffix if suffix else ''}.png")
        for suffix, picture in done.outcome.pictures.items()
    ]
    grids = [] if done.outcome.grid is None else [save_csv(done.outcome.grid, output / f"{stem}.csv")]
    figures = {
        "study": name,
        "n_cells": done.n_cells,
        "n_reused": done.n_reused,
        "pictures": [path.name for path in pictures],
        "figures": done.outcome.figures,
    }
    asked = {"study": name, "quick": quick}
    record = Record("reproduce", asked, figures, seed=seed, data_digest=done.data_digest, durations=watch.durations)
    record.write(output / f"{stem}.json")
    for path in [output / f"{stem}.json", *grids, *pictures]:
        tell(f"Wrote {path}")
    return record, done.outcome


def _possible(quick: bool) -> tuple[str, ...]:
    """All studies but those whose corpora are absent, which are told."""
    from labelworth.errors import DataUnavailableError
    from labelworth_studies.runner import registry

    names = []
    for name in registry.names():
        try:
            _require_corpora(registry.find(name), quick)
        except DataUnavailableError as error:
            tell(f"Left out: {error}")
        else:
            names.append(name)
    return tuple(names)


def _require_corpora(study: "Study", quick: bool) -> None:
    from labelworth.errors import DataUnavailableError
    from labelworth_studies.corpora.folder import corpora_folder
    from labelworth_studies.corpora.getting import absent, cure

    reads = study.corpora if study.quick_reads_corpora or not quick else ()
    lacking = absent(reads, corpora_folder())
    if lacking:
        titles = ", ".join(f"{corpus.name} ({corpus.title})" for corpus in lacking)
        raise DataUnavailableError(
            f"{study.name} needs {titles}: not found in {str(corpora_folder())!r}. {cure(lacking)}"
        )


def _together(records: "Sequence[Record]", *, quick: bool, seed: int) -> "Record":
    """One record of all studies; each has its own in a file."""
    from labelworth.report.record import Record

    parts: list[dict[str, Any]] = [dict(record.figures) for record in records]
    figures = {
        "study": ALL,
        "n_cells": sum(part["n_cells"] for part in parts),
        "n_reused": sum(part["n_reused"] for part in parts),
        "pictures": [picture for part in parts for picture in part["pictures"]],
        "figures": {part["study"]: part["figures"] for part in parts},
    }
    durations = {part["study"]: record.durations["total"] for part, record in zip(parts, records, strict=True)}
    return Record("reproduce", {"study": ALL, "quick": quick}, figures, seed=seed, durations=durations)


def _list_studies(*, as_json: bool) -> None:
    from labelworth.report.record import Record
    from labelworth.report.tables import show_table
    from labelworth.report.values import Table
    from labelworth_studies.runner import registry

    titles = {name: registry.find(name).title for name in registry.names()}
    record = Record("studies", {"study": None}, {"studies": titles})
    table = Table("Studies", ("name", "what it shows"), tuple(titles.items()))
    answer(record, lambda console: show_table(console, table), as_json=as_json)
