"""`labelworth bench`: speed as ratios against named peers, and what a person feels."""

from typing import TYPE_CHECKING, Annotated

import typer

from labelworth.cli.console import answer, working
from labelworth.cli.options import Json
from labelworth.cli.options.table import Between

if TYPE_CHECKING:
    from rich.console import Console

    from labelworth.report.values import Table
    from labelworth_studies.benchmarks.limits import Limit
    from labelworth_studies.benchmarks.race import RaceResult
    from labelworth_studies.benchmarks.races import Wait

_PATIENCE = 2.0  # seconds to wait, at every turn, for a quiet machine


def bench(
    names: Annotated[
        list[str] | None, typer.Argument(help="Which races and limits; all of them unless named.")
    ] = None,
    repeats: Annotated[int, typer.Option(help="Turns of every race."), Between(1)] = 7,
    quick: Annotated[bool, typer.Option("--quick", help="Small data: only to see that it runs.")] = False,
    as_json: Json = False,
) -> None:
    """Race against named peers in one run; the ratio of medians decides."""
    from labelworth.errors import DataUnavailableError
    from labelworth.report.record import Record, Stopwatch
    from labelworth_studies.benchmarks.limits import LIMITS
    from labelworth_studies.benchmarks.race import run_race
    from labelworth_studies.benchmarks.races import RACES, prepare, waits

    watch = Stopwatch()
    results, limits = [], []
    with working() as progress:
        felt = waits(progress) if not names else []
        for name in names or (*RACES, *LIMITS):
            progress.say(f"Preparing {name}")
            if name in LIMITS:
                with watch.timing(name):
                    limits.append(LIMITS[name](quick))
                continue
            try:
                race = prepare(name, quick=quick)
            except DataUnavailableError as error:
                if names:
                    raise
                progress.say(f"Left out {name}: {error}")
                continue
            with watch.timing(name):
                results.append(run_race(race, repeats, progress, patience=0.0 if quick else _PATIENCE))
            # The data of one race would crowd the next one out of memory.
            del race
    figures = {
        "races": [{**vars(result), "is_met": result.is_met} for result in results],
        "waits": [{**vars(wait), "is_met": wait.is_met} for wait in felt],
        "limits": [{**vars(limit), "is_met": limit.is_met} for limit in limits],
    }
    asked = {"names": names, "repeats": repeats, "quick": quick}
    record = Record("bench", asked, figures, None, None, watch.durations)
    answer(record, lambda console: _show(console, results, felt, limits), as_json=as_json)


def _show(console: "Console", results: "list[RaceResult]", felt: "list[Wait]", limits: "list[Limit]") -> None:
    from labelworth.report.tables import show_table
    from labelworth.report.values import Table

    if results:
        show_table(console, _race_table(results))
    if felt:
        waited = tuple((wait.name, wait.seconds, wait.limit, "yes" if wait.is_met else "NO") for wait in felt)
        show_table(console, Table("What a person feels", ("command", "seconds", "limit", "met"), waited))
    if limits:
        measured = tuple(
            (limit.name, limit.value, limit.limit, limit.detail, "yes" if limit.is_met else "NO") for limit in limits
        )
        show_table(console, Table("What must not grow", ("what", "measured", "limit", "detail", "met"), measured))


def _race_table(results: "list[RaceResult]") -> "Table":
    from labelworth.report.values import Table

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
    heard = [result.disturbance for result in results if result.disturbance is not None]
    if heard:
        details.append(
            f"Others kept {max(heard):.1f} processors busy at worst; above 0.2 the times are not to be trusted."
        )
    note = "\n".join(["Medians, with minima in brackets; the medians decide.", *details])
    return Table("Races", columns, rows, note)
