"""`labelworth reproduce NAME`: a figure or table of the paper, or one of ours, from one command."""

from pathlib import Path
from typing import Annotated

import typer

from labelworth.cli.console import answer, tell, working
from labelworth.cli.options import Json, Seed


def reproduce(
    name: Annotated[str | None, typer.Argument(help="Which study; without it, they are listed.")] = None,
    quick: Annotated[bool, typer.Option("--quick", help="A smaller grid: the same story, rougher.")] = False,
    workers: Annotated[int | None, typer.Option(min=1, help="Processes; every core unless said.")] = None,
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder for records, pictures and cells.")] = Path(
        "results"
    ),
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Reproduce a study; interrupted, it goes on where it stopped."""
    from labelworth.studies import registry

    if name is None:
        _list_studies(as_json=as_json)
        return
    from labelworth.data.files import make_folder
    from labelworth.report.figures import save_picture
    from labelworth.report.record import Record, Stopwatch
    from labelworth.report.tables import show_outcome
    from labelworth.studies.runner import run

    study = registry.find(name)
    make_folder(output)
    watch = Stopwatch()
    with working() as progress, watch.timing("cells"):
        done = run(study, output, quick=quick, seed=seed, workers=workers, progress=progress)
    stem = f"{name}-quick" if quick else name
    pictures = [
        save_picture(picture, output / f"{stem}{'-' + suffix if suffix else ''}.png")
        for suffix, picture in done.outcome.pictures.items()
    ]
    record = Record(
        command="reproduce",
        asked={"study": name, "quick": quick},
        figures={
            "study": name,
            "n_cells": done.n_cells,
            "n_reused": done.n_reused,
            "pictures": [path.name for path in pictures],
            "figures": done.outcome.figures,
        },
        seed=seed,
        data_digest=done.data_digest,
        durations=watch.durations,
    )
    record.write(output / f"{stem}.json")
    answer(record, lambda console: show_outcome(console, done.outcome), as_json=as_json)
    for path in [output / f"{stem}.json", *pictures]:
        tell(f"Wrote {path}")


def _list_studies(*, as_json: bool) -> None:
    from labelworth.report.record import Record
    from labelworth.report.tables import show_table
    from labelworth.studies import registry
    from labelworth.studies.outcome import Table

    titles = {name: registry.find(name).title for name in registry.names()}
    record = Record("studies", {"study": None}, {"studies": titles})
    table = Table("Studies", ("name", "what it shows"), tuple(titles.items()))
    answer(record, lambda console: show_table(console, table), as_json=as_json)
