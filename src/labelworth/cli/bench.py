"""`labelworth bench`: speed as ratios against named peers, and what a person feels."""

from typing import TYPE_CHECKING, Annotated

import typer

from labelworth.cli.console import answer, working
from labelworth.cli.options import Json

if TYPE_CHECKING:
    from rich.console import Console

    from labelworth.studies.benchmarks import Wait
    from labelworth.studies.race import RaceResult


def bench(
    names: Annotated[list[str] | None, typer.Argument(help="Which races; all of them unless named.")] = None,
    repeats: Annotated[int, typer.Option(min=1, help="Turns of every race.")] = 7,
    quick: Annotated[bool, typer.Option("--quick", help="Small data: only to see that it runs.")] = False,
    as_json: Json = False,
) -> None:
    """Race against named peers in one run; the ratio of medians decides."""
    from labelworth.report.record import Record, Stopwatch
    from labelworth.studies.benchmarks import RACES, prepare, waits
    from labelworth.studies.race import run_race

    watch = Stopwatch()
    results = []
    with working() as progress:
        felt = waits(progress) if not names else []
        for name in names or RACES:
            progress.say(f"Preparing {name}")
            race = prepare(name, quick=quick)
            with watch.timing(name):
                results.append(run_race(race, repeats, progress))
            # The data of one race would crowd the next one out of memory.
            del race
    figures = {
        "races": [{**vars(result), "is_met": result.is_met} for result in results],
        "waits": [{**vars(wait), "is_met": wait.is_met} for wait in felt],
    }
    asked = {"names": names, "repeats": repeats, "quick": quick}
    record = Record("bench", asked, figures, None, None, watch.durations)
    answer(record, lambda console: _show(console, results, felt), as_json=as_json)


def _show(console: "Console", results: "list[RaceResult]", felt: "list[Wait]") -> None:
    from labelworth.report.tables import show_table
    from labelworth.studies.outcome import Table

    rows = tuple(
        (
            result.name,
            f"{result.ours_median:.3g} ({result.ours_minimum:.3g})",
            f"{result.peer_median:.3g} ({result.peer_minimum:.3g})",
            f"{result.ratio_of_medians:.1f} ({result.ratio_of_minima:.1f})",
            f"{result.floor:g} / {result.goal:g}",
            "yes" if result.is_met else "NO",
        )
        for result in results
    )
    columns = ("race", "ours, s", "peer, s", "times faster", "floor / goal", "met")
    details = [
        f"{result.name}: {result.title}; against {result.peer}, results agree to {result.difference:.1g} "
        f"(allowed {result.tolerance:.0g})."
        for result in results
    ]
    note = "\n".join(["Medians, with minima in brackets; the medians decide.", *details])
    show_table(console, Table("Races", columns, rows, note))
    if felt:
        waited = tuple((wait.name, wait.seconds, wait.limit, "yes" if wait.is_met else "NO") for wait in felt)
        show_table(console, Table("What a person feels", ("command", "seconds", "limit", "met"), waited))
